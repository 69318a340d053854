"""Small models that train on the spot, so that there is always something to test; and what such models share.

A model is a card and numpy arrays; its folder holds `system.json`, the card, and `weights.npz`. The linear ones among
them read hashed features of a text.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Self
from zipfile import BadZipFile, ZipFile
from zlib import crc32

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.errors import DataError, StoredFileError, UsageError, option
from unswayed.base.ids import canonical, content_id, decode, file_hash
from unswayed.base.registry import VERSION
from unswayed.base.task import task_named
from unswayed.base.values import Example, Json
from unswayed.storage.files import clear_left, free, growing_folder, refuse_foreign, unwritable
from unswayed.storage.untrusted_files import open_hashed, read_bounded
from unswayed.systems.system import System

__all__ = [
    *("Arrays", "Floats", "Quiet", "Rows", "SavedCard", "SavedSystem", "Vocabulary", "best_labels", "hashed"),
    *("is_card", "learnable_examples", "numbered", "two_fields"),
]
Arrays = Mapping[str, Any]
Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int32]

_MOST_WEIGHT_BYTES = 4 << 30  # unpacked
_MOST_CARD_BYTES = 64 << 20


def learnable_examples(name: str, examples: Iterable[Example], task: str) -> list[Example]:
    """The examples, once it is known that the system of this name can learn from them, or be tested on them."""
    found, problem_of = list(examples), task_named(task).gold_problem
    if not found:
        raise UsageError(f"{name} was given no examples to learn from or to be tested on.")
    for example in found:
        if problem := problem_of(example):
            raise DataError(f"example {example.id!r} (row {example.row}) can't be learnt from: {problem}")
    return found


class _AnyCard(msgspec.Struct):
    """What every saved system's card has."""

    system: str
    version: int


def is_card(file: Path) -> bool:
    """Is this the card of a system that unswayed saved, rather than some other program's system.json?"""
    try:
        decode(file.read_bytes(), _AnyCard)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


class SavedCard(msgspec.Struct, frozen=True, kw_only=True):
    """`system.json`: what the model is, what it was trained on, and the hash of its weights' file."""

    system: str
    version: int
    unswayed: str = VERSION
    task: str
    seed: int
    examples: int
    data: str
    identity: str = ""
    weights: str = ""


class SavedSystem(System):
    """Extend with the name, the version, the kind of card, and how arrays become a system and a system arrays."""

    version: ClassVar[int] = 1
    card_type: ClassVar[type[SavedCard]] = SavedCard
    card: SavedCard
    deterministic = True

    def arrays(self) -> Arrays:
        """All that was learnt."""
        raise NotImplementedError

    def decides(self) -> Json:
        """What of the card decides the answers, besides the arrays."""
        raise NotImplementedError

    @classmethod
    def rebuilt(cls, card: Any, arrays: Arrays) -> Self:
        """The system that had this card and these arrays; KeyError or ValueError where they do not fit."""
        raise NotImplementedError

    @cached_property
    def identity(self) -> str:
        h = blake2b(canonical([self.name, self.version, *self.decides()]), digest_size=16)
        for name, array in sorted(self.arrays().items()):
            h.update(canonical([name, str(array.dtype), array.shape]))
            h.update(np.ascontiguousarray(array).tobytes())
        return f"{self.name} {h.hexdigest()}"

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Writes `system.json` and `weights.npz`; the folder appears only when both are whole."""
        folder = Path(folder)
        try:  # is this very system saved there already, whole?
            if type(self).load(folder).identity == self.identity:
                clear_left(folder)
                return folder
        except StoredFileError:
            pass

        def refuse() -> None:
            if free(folder):
                return
            if not is_card(folder / "system.json"):
                raise UsageError(
                    f"{folder} exists and is not a saved system. Choose another folder with {option('o', 'to')}."
                )
            if not overwrite:
                raise UsageError(f"{folder} holds another system. Use {option('overwrite')} or another folder.")
            refuse_foreign(folder, "a saved system", ("system.json", "weights.npz"))

        with growing_folder(folder, "the system", refuse) as new, unwritable(folder, "the system"):
            np.savez_compressed(new / "weights.npz", **self.arrays())
            card = msgspec.structs.replace(self.card, identity=self.identity, weights=file_hash(new / "weights.npz"))
            (new / "system.json").write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The model that `save` wrote; raises if a file is missing, changed or of another version."""
        card_file, file = Path(folder) / "system.json", Path(folder) / "weights.npz"
        try:
            card = decode(read_bounded(card_file, _MOST_CARD_BYTES), cls.card_type)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoredFileError(
                f"{card_file}: this can't be read as a saved {cls.name} ({error}). Train and save it again."
            ) from error
        if (card.system, card.version) != (cls.name, cls.version):
            raise StoredFileError(
                f"{card_file}: this is {card.system} version {card.version}, and {cls.name} version {cls.version} is "
                f"needed. Train and save it again."
            )
        try:
            with open_hashed(file, card.weights) as content:
                with ZipFile(content) as archive:  # small weights may unpack to more than a machine holds
                    size = sum(entry.file_size for entry in archive.infolist())
                if size > _MOST_WEIGHT_BYTES:
                    raise ValueError(f"they would take {size >> 30} GB")
                content.seek(0)
                with np.load(content, allow_pickle=False) as arrays:
                    return cls.rebuilt(card, arrays)
        except StoredFileError as error:
            raise StoredFileError(f"{error} It is not the file that was saved: train and save it again.") from error
        except (OSError, ValueError, KeyError, BadZipFile, MemoryError, zlib.error) as error:
            raise StoredFileError(
                f"{file}: the weights can't be read ({error}). Train and save the system again."
            ) from error

    @classmethod
    def new_card(cls, task: str, seed: int, examples: Sequence[Example], **more: Any) -> Any:
        """The card of a model of these examples; `more` are the fields that the system's own kind of card adds."""
        data = content_id([[e.inputs, e.gold] for e in examples], 16)
        facts: dict[str, Any] = {"task": task, "seed": seed, "examples": len(examples), "data": data}
        return cls.card_type(system=cls.name, version=cls.version, **facts, **more)

    @classmethod
    def checked_examples(cls, examples: Iterable[Example], task: str, *learns: str) -> list[Example]:
        """The examples, once it is known that they can be learnt from."""
        if task not in learns:
            plural = "s" if len(learns) > 1 else ""
            raise UsageError(f"{cls.name} learns the task{plural} {' and '.join(learns)}, not {task!r}.")
        return learnable_examples(cls.name, examples, task)


class Quiet(AbstractContextManager["Quiet"]):
    """Counts for nobody, where Progress would for those who watch."""

    def __exit__(self, *_: object) -> None:
        pass

    def add(self, count: int = 1) -> None:
        pass


def numbered(golds: list[Json]) -> tuple[list[Json], list[int]]:
    """The labels in a fixed order, and the number of each gold's. Told apart as JSON, in which 1 is not true."""
    keys = [canonical(gold) for gold in golds]
    label_of = dict(zip(keys, golds, strict=True))
    number = {key: i for i, key in enumerate(sorted(label_of))}
    return [label_of[key] for key in number], [number[key] for key in keys]


def two_fields(examples: Sequence[Example], system: str) -> tuple[str, str]:
    """The names of the two texts, the same in every example."""
    names = list(examples[0].inputs)
    if len(names) != 2:
        raise UsageError(f"{system} needs two texts; these examples have {len(names)}: {', '.join(names)}.")
    odd = next((e for e in examples if set(e.inputs) != set(names)), None)
    if odd is not None:
        raise UsageError(
            f"Example {odd.id!r} (row {odd.row}) has other inputs than the first: {', '.join(odd.inputs)}."
        )
    return names[0], names[1]


_GATHERED_CELLS = 1 << 21  # weights gathered at once


def hashed(feature: str) -> int:
    """The feature's 32-bit number, the same in every process."""
    return crc32(feature.encode("utf-8", "surrogatepass"))


class Vocabulary:
    """Hashed features → rows of a weight matrix. Row 0 stands for every feature that training did not see."""

    def __init__(self, hashes: Iterable[int] = ()) -> None:
        self.rows = {h: row for row, h in enumerate(hashes, 1)}

    def __len__(self) -> int:
        return len(self.rows) + 1

    def hashes(self) -> npt.NDArray[np.uint32]:
        return np.fromiter(self.rows, dtype=np.uint32, count=len(self.rows))


def best_labels(weights: Floats, features: Sequence[Rows]) -> list[int]:
    """The label with the highest score for each example. `features` are the rows that are set in each."""
    best: list[int] = []
    most, start = _GATHERED_CELLS // weights.shape[1], 0
    while start < len(features):  # together as long as their weights fit, but at least one
        end, size = start + 1, len(features[start])
        while end < len(features) and size + len(features[end]) <= most:
            size += len(features[end])
            end += 1
        block = features[start:end]
        firsts = first_places(np.array([len(f) for f in block]))
        scores = np.add.reduceat(weights[np.concatenate(block)], firsts, axis=0, dtype=np.float64)
        best += scores.argmax(axis=1).tolist()
        start = end
    return best


def first_places(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each of several stretches of these lengths begins, where one follows the other."""
    return np.concatenate(([0], np.cumsum(lengths)[:-1]))
