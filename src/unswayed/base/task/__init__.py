"""What a task is: which texts it has, what its gold and outputs look like, and how its gold moves with the words.

Each task is a file of this folder, whose name is the task's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar, Generic, TypeVar

from unswayed.base.chat import CHOICES, UNVARIED, choices_in
from unswayed.base.edits import Edit, LabelsLost, OneEach, apply, apply_each, marked_tags, move_tags, move_tags_each
from unswayed.base.registry import Registry
from unswayed.base.values import Example, Inputs, Json

Read = TypeVar("Read")
TAGGED = "text"  # the input whose tokens have tags, where a task has them
_MAX_CHARS, _MAX_TEXTS = 64, 4096  # of a text that is remembered, and how many are


class Task:
    """Extend and put in `base/task/NAME.py`. Messages that checks return say what is wrong, without the place.

    Example: `class Rank(Task)` with `scores = ("accuracy",)` and a method `gold_problem(self, example)`.
    """

    name: ClassVar[str]
    fields: ClassVar[tuple[str, ...]] = ()  # inputs that must be there; none: any
    varied: ClassVar[tuple[str, ...]] = ()  # inputs that operators vary by default; none: all
    scores: ClassVar[tuple[str, ...]] = ()  # scorers, the main one first
    aligned: ClassVar[bool] = False  # does gold point into the text?
    tag_field: ClassVar[str] = ""  # of a gold that is an object: where the BIO tags of the tokens of `text` are
    compared: ClassVar[tuple[str, str]] = ("", "")  # extract and equivalent by default; none: equal `answer`s
    has_wrong: ClassVar[bool] = True  # can an output that is missing or unreadable be scored as wrong?
    own_rule: ClassVar[bool] = False  # outputs are no texts, so that no other rule, and no part, can be compared

    def fits(self, example: Example) -> bool:
        """Does this example look like one of this task? Used to guess the task."""
        return False

    def tags(self, gold: Json) -> Sequence[str] | None:
        """The BIO tags in a gold, one for each token that a single space separates; None where it has none."""
        return gold.get(self.tag_field) if gold and self.tag_field else None

    def texts(self, inputs: Inputs) -> tuple[str, ...]:
        """The inputs that operators vary by default."""
        if self.varied:
            return self.varied
        written = tuple(name for name in inputs if name not in UNVARIED) or tuple(inputs)
        return tuple(name for name in written if name != CHOICES or not choices_in(inputs))

    def own_gold(self, gold: Json) -> Json:
        """A gold in the task's own form, where data have other forms; what can't be read as it is."""
        return gold

    def gold_problem(self, example: Example) -> str | None:
        """What is wrong with an example's gold, if anything."""
        return None

    def read(self, output: Json, inputs: Inputs) -> Json:
        """A system's output in the task's own form, where systems may answer in others; what can't be read as it is."""
        return output

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        """What is wrong with a system's output, if anything."""
        return None

    def answer(self, output: Json) -> Hashable:
        """The output as compared between a variant and its original: equal answers are no flip."""
        return str(output)

    def nothing(self, gold: Json) -> Json:
        """An output that says nothing: what one that can't be read is scored as."""
        return ""

    def right(self, gold: Json) -> Json:
        """An output with the full score: what a missing one could have been at best."""
        return gold[0] if isinstance(gold, list) and gold else gold

    def label(self, value: Json) -> str | None:
        """The class label in a gold or an output, where the task has one."""
        return None

    def marked(self, gold: Json, field: str, text: str) -> list[tuple[int, int]]:
        """The character spans of `text` that gold points to; operators keep whole words out of them."""
        tags = self.tags(gold) if self.tag_field and field == TAGGED else None
        return [] if tags is None else marked_tags(text, tags)

    def labelled(self, gold: Json, field: str, text: str, at: int) -> bool:
        """Is the character at this place part of a labelled span? Extend where that is quicker than all spans."""
        return any(start <= at < end for start, end in self.marked(gold, field, text))

    def move(self, gold: Json, field: str, text: str, edits: Sequence[Edit]) -> tuple[str, Json]:
        """The edited text and the gold that goes with it."""
        tags = self.tags(gold) if self.tag_field and field == TAGGED else None
        if tags is None:
            return apply(text, edits), gold
        text, tags = move_tags(text, list(tags), edits)
        return text, {**gold, self.tag_field: tags}

    def move_each(
        self, golds: Sequence[Json], fields: Sequence[str], texts: Sequence[str], edits: OneEach
    ) -> tuple[list[str | None], list[Json]]:
        """The same for texts with one edit each; a text is None where it has none, or a label would be lost.

        Extend where that is quicker.
        """
        moved = list(golds)
        if self.tag_field and set(fields) == {TAGGED} and all(gold and self.tag_field in gold for gold in golds):
            tags = [gold[self.tag_field] for gold in golds]
            afters, new_tags = move_tags_each(texts, tags, edits)
            for i, (old, new) in enumerate(zip(tags, new_tags, strict=True)):
                if new is not old:
                    moved[i] = golds[i].copy()  # quicker than to write it anew
                    moved[i][self.tag_field] = new
            return afters, moved
        afters = apply_each(texts, edits)
        for i, (gold, field, text, start, end, new) in enumerate(zip(golds, fields, texts, *edits[:3], strict=True)):
            if gold is not None and new is not None:
                try:
                    afters[i], moved[i] = self.move(gold, field, text, (Edit(start, end, new),))
                except LabelsLost:
                    afters[i] = None
        return afters, moved


tasks: Registry[Task] = Registry("task", Task, "unswayed.base.task")


def task_named(name: str) -> Task:
    """The task of that name, or of `module:Class`."""
    return tasks.get(name)()


def guess_task(example: Example) -> Task:
    """The most special task that the example fits; `text` fits everything."""
    fitting = [task_named(name) for name in tasks.names()]
    fitting = [task for task in fitting if task.fits(example)]
    return max(fitting, key=lambda task: (task.aligned, bool(task.scores), task.name))


class Known(Generic[Read]):
    """A function that reads values, called once for each short text or whole number, as labels come again and again."""

    def __init__(self, read: Callable[[Json], Read]) -> None:
        self._read = read
        self._known: dict[Json, Read] = {}

    def __call__(self, value: Json) -> Read:
        kind = type(value)
        if kind is not int and (kind is not str or len(value) > _MAX_CHARS):
            return self._read(value)
        try:
            return self._known[value]
        except KeyError:
            found = self._read(value)
            if len(self._known) < _MAX_TEXTS:
                self._known[value] = found
            return found
