"""What systems of Hugging Face models share: a folder that is opened safely, identity, options and batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.ids import content_id
from unswayed.base.values import Inputs, Json
from unswayed.systems.device import Halving, beside, torch_threads
from unswayed.systems.model_folder import ModelFolder
from unswayed.systems.system import Failed, System
from unswayed.systems.template import Template

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

_POSITIONS = 512
_LETTERS = 24  # a piece: more of a text than would fill the model is not even cut into pieces
_TOGETHER = 8192  # pieces that are asked at once, with their padding


class HfOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What, besides the model, decides the answers; kept in `system.json` where a model was trained here."""

    max_length: int | None = None  # pieces; the model's own if not given
    labels: list[str] | None = None  # in the order of the model's outputs; the model's own if not given
    fields: list[str] | None = None  # the texts that are read, in this order
    prompt: str | None = None  # what a generating model is given, with {names} of texts in it
    source_language: str | None = None  # codes of the tokenizer, such as zh_CN and en_XX
    target_language: str | None = None
    max_new_tokens: int = 256
    beams: int = 1

    @classmethod
    def read(cls, given: dict[str, Any]) -> HfOptions:
        """The options of these names; lists may be given as texts with commas, a prompt as its file."""
        given = dict(given)
        for name in ("labels", "fields"):
            if isinstance(given.get(name), str):
                given[name] = given[name].split(",")
        prompt = given.get("prompt")
        if isinstance(prompt, str) and "{" not in prompt:  # without a name in it, it is a file's
            given["prompt"] = Template.read(prompt).text
        unknown = next((name for name in given if name not in cls.__struct_fields__), None)
        if unknown:
            known = ", ".join(cls.__struct_fields__)
            raise UsageError(f"A Hugging Face model has no option {unknown!r}. It has: {known}.")
        try:
            return msgspec.convert(given, cls, strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(f"A Hugging Face model can't have these options: {error}.") from None


class HfSystem(System):
    """Extend with the class of transformers' that opens it, the tasks that it fits, and the answers."""

    auto: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    batch_size = 64
    deterministic = True  # the likeliest label or words, never drawn at random

    def __init__(self, path: str | Path | ModelFolder, threads: int = 1, **options: Any) -> None:
        self.folder = path if isinstance(path, ModelFolder) else ModelFolder(path)
        if self.folder.kind != self.name:
            raise UsageError(
                f"{self.folder.path} holds a {self.folder.architecture}, which can't be opened as {self.name}."
            )
        self.options = HfOptions.read(options)
        self.threads = int(threads)

    @property
    def identity(self) -> str:
        return f"{self.name} {self.folder.content} {content_id(self.options)}{self.folder.suffix}"

    def prepare(self, suite: Suite) -> None:
        task = suite.manifest.task
        if task not in self.tasks:
            raise UsageError(
                f"{self.folder.path} holds a {self.folder.architecture}, which answers the task "
                f"{' or '.join(self.tasks)}; the suite's task is {task}."
            )
        self.open()

    def open(self) -> None:
        """Opens all that answering needs, so that what is wrong is said before anything is asked."""
        _ = self.tokenizer
        outputs, labels = self.model.config.num_labels, self.labels
        if labels is not None and len(labels) != outputs:
            raise UsageError(f"{self.folder.path}: there are {len(labels)} labels for the model's {outputs} outputs.")

    @property
    def labels(self) -> list[str] | None:
        """The labels in the order of the model's outputs, for models that have some."""
        return None

    @cached_property
    def tokenizer(self) -> Any:
        return self.folder.tokenizer()

    @cached_property
    def model(self) -> Any:
        return self.folder.model(self.auto)

    def close(self) -> None:
        for part in ("model", "tokenizer"):
            self.__dict__.pop(part, None)

    @cached_property
    def room(self) -> int:
        """Pieces that fit into the model at once, with the marks around them."""
        config = self.model.config
        own = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or _POSITIONS
        if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
            own -= 2  # they begin to count positions at 2
        return int(min(own, self.options.max_length or own, max(_POSITIONS, self.options.max_length or 0)))

    def cut_text(self, text: str) -> str:
        """As much of a text as can matter, without halves of surrogate pairs."""
        return text[: self.room * _LETTERS].encode("utf-8", "replace").decode()

    @contextmanager
    def inference(self) -> Iterator[None]:
        """What holds while the model is asked."""
        import torch

        with torch_threads(self.threads), torch.inference_mode():
            yield

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        problems = [self.input_problem(inputs) for inputs in batch]
        readable = [inputs for inputs, problem in zip(batch, problems, strict=True) if not problem]
        answers = iter(())
        if readable:
            with self.inference():
                answers = iter(self.halving.over(self.answers, readable))
        return [Failed(problem, final=True) if problem else next(answers) for problem in problems]

    def input_problem(self, inputs: Inputs) -> str | None:
        """What the inputs lack, if anything."""
        absent = next((field for field in self.options.fields or () if field not in inputs), None)
        return f"the input has no {absent!r}" if absent else None

    @cached_property
    def halving(self) -> Halving:
        return Halving(f"{self.name} {self.folder.path}")

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        raise NotImplementedError

    def padded(self, rows: Sequence[dict[str, list[int]]], side: str = "right") -> dict[str, Any]:
        """Encoded texts side by side in tensors."""
        tokenizer = self.tokenizer
        tokenizer.padding_side = side
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in rows[0]]
        padded = tokenizer.pad([{name: row[name] for name in names} for row in rows], return_tensors="pt")
        return dict(beside(self.model, dict(padded)))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A model that was trained here, with the options that it was trained with."""
        file = Path(folder) / "system.json"
        try:
            options = msgspec.json.decode(file.read_bytes())["options"]
        except (OSError, msgspec.MsgspecError, KeyError, TypeError) as error:
            raise StoredFileError(f"{file}: this can't be read ({error}). Train again.") from error
        return cls(folder, **options)


def length_groups(lengths: Sequence[int], most: int = _TOGETHER) -> Iterator[list[int]]:
    """Numbers of texts, those of like length together, as many as stay within `most` pieces with their padding."""
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if group and (len(group) + 1) * max(lengths[i], 1) > most:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def fitting_windows(widths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Where to cut a row of tokens of these widths, so that each stretch fits into the room."""
    cuts, used = [0], 0
    for at, width in enumerate(widths):
        if used and used + width > room:
            cuts.append(at)
            used = 0
        used += width
    return list(zip(cuts, [*cuts[1:], len(widths)], strict=True))
