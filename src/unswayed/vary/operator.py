"""The operator contract: given a text and a random stream, say which characters change, and how in words."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from unswayed.base.edits import Edit, LabelsLost, apply
from unswayed.base.errors import option
from unswayed.base.secrets import masked_data
from unswayed.base.seeds import Stream
from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json, Meaning

if TYPE_CHECKING:
    from unswayed.systems.system import System


class Change(NamedTuple):
    """What an operator did: edits in order, and a note for people, such as `"please" at the end`.

    Example: `Change((Edit(0, 4, "Turn"),), "a capital")`.
    """

    edits: tuple[Edit, ...]
    note: str


UNALTERED = Change((), "unaltered")  # what an operator returns whose person left the text as it was


class Text:
    """The text that an operator sees, and where its labels are.

    Example: `text.text.split()`.
    """

    __slots__ = ("_gold", "_inputs", "_marked", "_task", "_tokens", "field", "language", "text")

    def __init__(
        self,
        text: str,
        language: str = "en",
        gold: Json = None,
        field: str = "text",
        task: Task | None = None,
        inputs: Inputs | None = None,
    ) -> None:
        self.text, self.language, self.field = text, language, field
        self._gold, self._task, self._inputs = gold, task, inputs or {}
        self._marked: list[tuple[int, int]] | None = None
        self._tokens: list[tuple[int, int]] | None = None

    @property
    def marked(self) -> list[tuple[int, int]]:
        """Character spans that carry labels, in order. Whole words may be put at their borders, never inside."""
        if self._marked is None:
            self._marked = sorted(self._task.marked(self._gold, self.field, self.text)) if self._task else []
        return self._marked

    @property
    def gold(self) -> Json:
        """The labels of the example, where they stand for parts of its text."""
        return self._gold if self._task is not None else None

    @property
    def others(self) -> list[str]:
        """The other texts of the example, such as the paragraph that a question is about."""
        return [text for name, text in self._inputs.items() if name != self.field and isinstance(text, str)]

    @property
    def tokens(self) -> list[tuple[int, int]]:
        """Where the tokens stand that white space separates."""
        if self._tokens is None:
            self._tokens, at = [], 0
            for token in self.text.split():
                at = self.text.index(token, at)
                self._tokens.append((at, at + len(token)))
                at += len(token)
        return self._tokens

    @property
    def tokenised(self) -> bool:
        """Does the text have a label for each token, so that punctuation is a token of its own?"""
        return self._task is not None and self._task.tags(self._gold) is not None

    def labelled(self, at: int) -> bool:
        """Is the character at this place part of a labelled span?"""
        return self._task is not None and self._task.labelled(self._gold, self.field, self.text, at)

    def keeps(self, edits: Sequence[Edit]) -> bool:
        """Can these edits be made as they are, with all labels true? A text that is stored as tokens has no two spaces
        together."""
        if self._task is None or self._gold is None:
            return True
        try:
            return self._task.move(self._gold, self.field, self.text, edits)[0] == apply(self.text, edits)
        except LabelsLost:
            return False

    def inside(self, at: int) -> bool:
        """Would a word put at this character break a labelled span?"""
        return any(start < at < end for start, end in self.marked)


class Operator:
    """Extend, and put in `vary/FAMILY/NAME.py` or behind the entry point `unswayed.operators`.

    Example: `class Shout(Operator)` with a method `change(self, text, rng)` that returns a `Change`, or None.

    `__init__`'s keyword arguments are the operator's parameters; each must have a default. Raise `version`
    whenever the same stream would give another result.
    """

    needed: ClassVar[tuple[tuple[str, ...], ...]] = (("change", "changes"),)  # to extend: one of these
    version: ClassVar[int] = 1
    languages: ClassVar[tuple[str, ...]] = ("*",)
    meaning: ClassVar[Meaning] = "same"
    people: ClassVar[bool] = False  # each draw is one person for the whole suite
    quick: bool = False  # varies hundreds of texts in a moment, in which Python's garbage collector may wait
    rewords: ClassVar[bool] = False  # replaces words by others of the same meaning, as synonyms do
    unaltered: ClassVar[bool] = False  # may a person leave a text as it is? UNALTERED is then a variant that counts
    aligned: ClassVar[bool] = True  # False: rewrites whole texts, so token and span labels can't be kept
    presets: ClassVar[tuple[str, ...]] = ()  # presets that it belongs to: "typing" puts it in `@typing`
    needs: ClassVar[str] = ""  # what an example must have beyond a text, for messages
    pool: ClassVar[int] = 0  # how many of the data's first examples it is given, by `take_pool`
    example: ClassVar[tuple[str, str]]  # a text, and what draw 0 of seed 0 makes of it

    name: str = ""  # these two are set from the registry, before first use
    family: str = ""
    file: str = ""  # where the pool comes from, if not from the data

    def take_pool(self, examples: Sequence[Example]) -> None:
        """Extend in operators that have a `pool`: the examples that are in it."""

    def change(self, text: Text, rng: Stream) -> Change | None:
        """The change to this text, or None where there is nothing to change.

        It never changes nothing, unless the operator simulates people and has `unaltered`: no edits then mean that the
        person left the text as it was.
        """
        raise NotImplementedError

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> Sequence[Change | None]:
        """The same for many texts."""
        change = self.change
        return [change(text, rng) for text, rng in zip(texts, rngs, strict=True)]

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        """The operator's parameters by name."""
        if cls.__init__ is object.__init__:
            return {}
        found = dict(inspect.signature(cls.__init__).parameters)
        found.pop("self", None)
        return found

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        """What else decides the variants, such as an id of what is in a file that a parameter names."""
        return {}

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return inspect.cleandoc(cls.__doc__ or "").split("\n", 1)[0]


class Rewritten(NamedTuple):
    """An example's inputs and gold after a change that is not one of words, and a note for people."""

    inputs: Inputs
    gold: Json
    note: str


class PromptOperator(Operator):
    """Extend with `rewrite` where the prompt or the choices of an example are varied, not its words.

    A draw is one prompt for the whole suite. `share` is the share of its prompts that each example is asked with.
    """

    share: float = 1.0

    def rewrite(self, example: Example, language: str, rng: Stream) -> Rewritten | None:
        """The example under the draw's prompt, or None where it has nothing to vary."""
        raise NotImplementedError


class BatchOperator(Operator):
    """Extend with `changes` where a batch is cheaper than its items."""

    def change(self, text: Text, rng: Stream) -> Change | None:
        return self.changes([text], [rng])[0]


def in_params(**values: str) -> str:
    """How the caller writes parameters in a message: `--param url=URL`, or `params={"url": "URL"}` in Python."""
    if option("param").startswith("-"):
        return " ".join(f"--param {name}={value}" for name, value in values.items())
    return f"params={json.dumps(values, ensure_ascii=False)}"


def pinned_system(spec: str, kind: type[System]) -> dict[str, Json]:
    """An id of the system that a parameter names, which changes when the system is edited; a server has none."""
    from unswayed.systems.opening import open_system

    return {"system_id": open_system(spec, kind).identity} if spec and "://" not in spec else {}


def whole_text(text: str, new: str, note: str) -> Change | None:
    """The change of an operator that rewrites everything, or None if it gave the same text back."""
    return Change((Edit(0, len(text), new),), note) if new.strip() and new != text else None


def describe(name: str, operator: type[Operator], params: dict[str, Any]) -> dict[str, Json]:
    """An operator as a suite's manifest names it."""
    kept = {name: masked_data({name: value})[name] for name, value in params.items()}
    return {
        "name": name,
        "version": operator.version,
        "languages": list(operator.languages),
        "meaning": operator.meaning,
        "params": {k: v if isinstance(v, (str, int, float, bool, type(None))) else str(v) for k, v in kept.items()},
    }
