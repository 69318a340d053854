"""A system that is a card and numpy arrays, and the folder that it is saved in: `system.json` and `weights.npz`."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self
from zipfile import BadZipFile, ZipFile

import msgspec
import numpy as np

from unswayed.base.errors import StoredFileError, UsageError, option
from unswayed.base.ids import canonical, content_id, file_hash
from unswayed.base.json import decode
from unswayed.base.registry import VERSION
from unswayed.base.values import Example, Json
from unswayed.storage.files import clear_left, free, growing_folder, refuse_foreign, unwritable
from unswayed.storage.untrusted_files import open_hashed, read_bounded
from unswayed.systems.system import System
from unswayed.systems.training import is_card, learnable

Arrays = Mapping[str, Any]
_MOST_WEIGHTS = 4 << 30  # bytes, unpacked
_MOST_CARD = 64 << 20


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
    def _content(self) -> str:
        h = blake2b(canonical([self.name, self.version, *self.decides()]), digest_size=16)
        for name, array in sorted(self.arrays().items()):
            h.update(canonical([name, str(array.dtype), array.shape]))
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()

    @property
    def identity(self) -> str:
        return f"{self.name} {self._content}"

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Writes `system.json` and `weights.npz`; the folder appears only when both are whole."""
        folder = Path(folder)
        if self._is_in(folder):
            clear_left(folder)
            return folder
        refuse = partial(_refuse_existing, folder, overwrite)
        with growing_folder(folder, "the system", refuse) as new, unwritable(folder, "the system"):
            np.savez_compressed(new / "weights.npz", **self.arrays())
            card = msgspec.structs.replace(self.card, identity=self.identity, weights=file_hash(new / "weights.npz"))
            (new / "system.json").write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")
        return folder

    def _is_in(self, folder: Path) -> bool:
        """Is this very system saved there already, whole?"""
        try:
            return type(self).load(folder).identity == self.identity
        except StoredFileError:
            return False

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The model that `save` wrote; raises if a file is missing, changed or of another version."""
        card = cls._read_card(Path(folder) / "system.json")
        file = Path(folder) / "weights.npz"
        try:
            with open_hashed(file, card.weights) as content:
                _refuse_bomb(content)
                with np.load(content, allow_pickle=False) as arrays:
                    return cls.rebuilt(card, arrays)
        except StoredFileError as error:
            raise StoredFileError(f"{error} It is not the file that was saved: train and save it again.") from error
        except (OSError, ValueError, KeyError, BadZipFile, MemoryError, zlib.error) as error:
            raise StoredFileError(
                f"{file}: the weights can't be read ({error}). Train and save the system again."
            ) from error

    @classmethod
    def _read_card(cls, file: Path) -> SavedCard:
        try:
            card = decode(read_bounded(file, _MOST_CARD), cls.card_type)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoredFileError(
                f"{file}: this can't be read as a saved {cls.name} ({error}). Train and save it again."
            ) from error
        if (card.system, card.version) != (cls.name, cls.version):
            raise StoredFileError(
                f"{file}: this is {card.system} version {card.version}, and {cls.name} version {cls.version} is "
                f"needed. Train and save it again."
            )
        return card

    @classmethod
    def new_card(cls, task: str, seed: int, examples: Sequence[Example], **more: Any) -> Any:
        """The card of a model of these examples; `more` are the fields that the system's own kind of card adds."""
        data = content_id([[e.inputs, e.gold] for e in examples], 16)
        facts: dict[str, Any] = {"task": task, "seed": seed, "examples": len(examples), "data": data}
        return cls.card_type(system=cls.name, version=cls.version, **facts, **more)

    @classmethod
    def checked(cls, examples: Iterable[Example], task: str, *learns: str) -> list[Example]:
        """The examples, once it is known that they can be learnt from."""
        if task not in learns:
            plural = "s" if len(learns) > 1 else ""
            raise UsageError(f"{cls.name} learns the task{plural} {' and '.join(learns)}, not {task!r}.")
        return learnable(cls.name, examples, task)


def _refuse_bomb(file: BinaryIO) -> None:
    """Raises where small weights would unpack to more than a machine holds."""
    with ZipFile(file) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > _MOST_WEIGHTS:
        raise ValueError(f"they would take {size >> 30} GB")
    file.seek(0)


class Quiet:
    """Counts for nobody, where Progress would for those who watch."""

    def __enter__(self) -> Quiet:
        return self

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


def _refuse_existing(folder: Path, overwrite: bool) -> None:
    if free(folder):
        return
    if not is_card(folder / "system.json"):
        raise UsageError(f"{folder} exists and is not a saved system. Choose another folder with {option('o', 'to')}.")
    if not overwrite:
        raise UsageError(f"{folder} holds another system. Use {option('overwrite')} or another folder.")
    refuse_foreign(folder, "a saved system", ("system.json", "weights.npz"))
