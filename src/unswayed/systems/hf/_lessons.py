"""What a system must know to be trained: its lessons, their targets, and how it is marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from unswayed.base.errors import UsageError
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Json
from unswayed.systems.hf._model import Folder, HfSystem, options_of
from unswayed.systems.training import TrainingSettings, changed, held_out, learnable, need, seeded, threads

if TYPE_CHECKING:
    from unswayed.systems.hf._tuning import TunedCard

DEFAULTS = TrainingSettings(epochs=5, patience=2, batch_size=32, lr=5e-5, weight_decay=0.01, average=0.0)
IGNORED = -100  # as transformers marks what no loss is taken of


class Lesson(NamedTuple):
    """An encoded text, or a window of it, and what is to be learnt from it."""

    row: dict[str, list[int]]
    gold: Any


class Teachable(HfSystem):
    """Extend with lessons, their targets as the model takes them, and a mark between 0 and 1."""

    outputs: ClassVar[int | None] = None  # of a new head, where that is not the number of labels

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        raise NotImplementedError

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        """The golds as tensors, for inputs that are padded to this width."""
        raise NotImplementedError

    def mark(self, dev: Sequence[Example]) -> float:
        """How well the model does, from 0 to 1."""
        raise NotImplementedError

    @classmethod
    def labels_in(cls, examples: Sequence[Example]) -> list[str] | None:
        """The labels to learn, for models that have some."""
        return None

    @classmethod
    def train(
        cls, path: str | Path, examples: Iterable[Example], dev: Iterable[Example] | None = None, *, task: str,
        to: str | Path, settings: dict[str, Any] | None = None, overwrite: bool = False, progress: bool = False,
        **options: Any,
    ) -> TunedCard:  # fmt: skip
        """Trains the model in a folder, with a new head where it has none, and saves it in the folder `to`.

        `settings` are fields of TrainingSettings, `options` those of the system. The same call goes on after a kill.
        """
        need(cls.name, "transformers", "tokenizers")
        from unswayed.systems.hf._tuning import tuned

        chosen = changed(DEFAULTS, settings or {})
        learnt = checked(cls, examples, task)
        learnt, tested = held_out(learnt, None if dev is None else checked(cls, dev, task), lambda e: e.inputs)
        with threads(chosen.threads):
            system = cls._fresh(path, learnt, chosen, options)
            return tuned(system, task, chosen, learnt, tested, to, overwrite, progress)

    @classmethod
    def _fresh(
        cls, path: str | Path, learnt: Sequence[Example], settings: TrainingSettings, options: dict[str, Any]
    ) -> Self:
        self = cls.__new__(cls)
        self.folder, self.threads = Folder(path), settings.threads
        labels = cls.labels_in(learnt)
        self.options = options_of({**options, **({"labels": labels} if labels else {})})
        head: dict[str, Any] = {"num_labels": cls.outputs} if cls.outputs else {}
        if labels:
            head = {"id2label": dict(enumerate(labels)), "label2id": {name: i for i, name in enumerate(labels)}}
        with seeded(Seeds(settings.seed, cls.name, 0).stream("head", 0).bits() >> 1):
            self.__dict__["model"] = self.folder.model(cls.auto, True, True, ignore_mismatched_sizes=True, **head)
        return self


def checked(cls: type[Teachable], examples: Iterable[Example], task: str) -> list[Example]:
    """The examples, once it is known that they can be learnt from."""
    if task not in cls.tasks or task == "text":
        raise UsageError(f"{cls.name} learns {' or '.join(t for t in cls.tasks if t != 'text')}, not {task!r}.")
    return learnable(cls.name, examples, task)


def padded_labels(rows: Sequence[Sequence[int]], width: int) -> Any:
    """Rows of labels as one tensor; what is beyond a row's end is not looked at."""
    import torch

    return torch.tensor([[*row, *[IGNORED] * (width - len(row))] for row in rows])


def share(right: Sequence[bool]) -> float:
    return sum(right) / len(right)


def gold_text(task_gold: Json) -> str:
    """What a writing model is to write: a reference, or the query."""
    if isinstance(task_gold, dict):
        if "answers" in task_gold:
            return str(task_gold["answers"][0]["text"])
        return str(task_gold["sql"])
    return str(task_gold[0] if isinstance(task_gold, list) else task_gold)
