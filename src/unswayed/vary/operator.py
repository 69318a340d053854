"""The operator contract: given a text and a random stream, say which characters change, and how in words.

An operator sees one text at a time, or a block of texts as columns; each class has one of these two forms.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast, overload

from unswayed.base.edits import Edit, LabelsLost, OneEach, apply
from unswayed.base.errors import UsageError, option
from unswayed.base.protect import PROTECT, Protected, outside, protected_spans, texts_with_protected, touching
from unswayed.base.seeds import Stream, StreamIds, Streams
from unswayed.base.task import TAGGED, Task
from unswayed.base.values import Example, Inputs, Json, Meaning
from unswayed.vary.facts import touched_facts

if TYPE_CHECKING:
    from unswayed.systems.system import System

T = TypeVar("T")


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


class Texts(Sequence[Text]):
    """A block of texts as columns; a Text is made when it is asked for.

    `strings` are their characters. `language` is that of all, or empty where each has its own. `task` is None where
    labels do not point into texts.
    """

    def __init__(
        self, examples: Sequence[Example], fields: Sequence[str], task: Task | None, language: str | Sequence[str]
    ) -> None:
        """`examples` has the example of each text; `language` is that of all texts, or has one for each."""
        self.examples, self.fields, self.task = examples, fields, task
        self._languages = [language] * len(fields) if isinstance(language, str) else language
        self.language = self._languages[0] if len(set(self._languages)) == 1 else ""
        self.strings: Sequence[str] = [e.inputs[field] for e, field in zip(examples, fields, strict=True)]
        self._made: dict[int, Text] = {}
        self._found: dict[Any, Any] = {}

    @classmethod
    def plain(cls, examples: Sequence[Example], strings: Sequence[str], ids: Sequence[str], language: str) -> Texts:
        """Texts without labels, of examples that are not looked at."""
        block = cls((), (), None, language)
        block.examples, block.fields, block.strings = examples, ["text"] * len(strings), strings
        block.language, block._languages = language, [language] * len(strings)
        block.ids = StreamIds(ids)
        block.golds = [None] * len(strings)
        return block

    @classmethod
    def of(cls, texts: Sequence[Text]) -> Texts:
        """The block of texts that were made one by one, all of one task."""
        each = [({**text._inputs, text.field: text.text}, text._gold) for text in texts]
        examples = [Example(n, str(n), inputs, gold) for n, (inputs, gold) in enumerate(each)]
        fields, languages = [text.field for text in texts], [text.language for text in texts]
        block = cls(examples, fields, texts[0]._task if texts else None, languages)
        block._made.update(enumerate(texts))
        return block

    @cached_property
    def ids(self) -> StreamIds:
        return StreamIds([e.id for e in self.examples])

    @cached_property
    def golds(self) -> list[Json]:
        """The gold of each text's example."""
        return [e.gold for e in self.examples]

    def __len__(self) -> int:
        return len(self.strings)

    @overload
    def __getitem__(self, at: int) -> Text: ...
    @overload
    def __getitem__(self, at: slice) -> list[Text]: ...
    def __getitem__(self, at: int | slice) -> Text | list[Text]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        made = self._made.get(at)
        if made is None:
            e, field = self.examples[at], self.fields[at]
            made = Text(self.strings[at], self._languages[at], e.gold, field, self.task, e.inputs)
            self._made[at] = made
        return made

    def __iter__(self) -> Iterator[Text]:
        if not self._made:  # all at once, which takes half the time
            columns = self.strings, self._languages, self.golds, self.fields, repeat(self.task)
            self._made = dict(enumerate(map(Text, *columns, [e.inputs for e in self.examples])))
            return iter(self._made.values())
        return map(self.__getitem__, range(len(self)))

    def some(self, at: Sequence[int]) -> Texts:
        """Those at these places."""
        examples, fields = [self.examples[i] for i in at], [self.fields[i] for i in at]
        some = Texts(examples, fields, self.task, [self._languages[i] for i in at])
        some._made = {k: self._made[i] for k, i in enumerate(at) if i in self._made}
        return some

    def once(self, find: Callable[[Texts], T]) -> T:
        """What a function finds out about the texts. It is called in the first draw only, so give the same function."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    @cached_property
    def protected(self) -> dict[int, tuple[Protected, ...]]:
        """What must stay whole, by the place of the text; texts without any are left out."""
        return texts_with_protected(self.strings)

    @cached_property
    def tags(self) -> list[Sequence[str] | None]:
        """The tags of each text's tokens, which single spaces separate; None where it has none."""
        if self.task is None:
            return [None] * len(self)
        found = [self.task.tags(gold) for gold in self.golds]
        if set(self.fields) != {TAGGED}:
            found = [tags if field == TAGGED else None for tags, field in zip(found, self.fields, strict=True)]
        return found


class SingleEdits(Sequence[Change | None]):
    """Changes as columns, where nearly all have one edit; the others, by their place, are in `others`.

    `notes` are the notes, or a function that makes them, which is called only if they are stored or shown.
    """

    __slots__ = ("_notes", "edits", "others")

    def __init__(
        self,
        edits: OneEach,
        notes: Sequence[str] | Callable[[], Sequence[str]],
        others: dict[int, Change] | None = None,
    ) -> None:
        self.edits, self._notes, self.others = edits, notes, others or {}

    @property
    def notes(self) -> Sequence[str]:
        if callable(self._notes):
            self._notes = self._notes()
        return self._notes

    @classmethod
    def of(cls, changes: Iterable[Change | None]) -> SingleEdits:
        """The same changes as columns."""
        if isinstance(changes, SingleEdits):
            return changes
        starts, ends, notes = [], [], []
        news: list[str | None] = []
        others = {}
        for i, change in enumerate(changes):
            edits, note = change or ((), "")
            start, end, new = edits[0] if len(edits) == 1 else (0, 0, None)
            if new is None and change is not None:
                others[i] = change
            starts.append(start)
            ends.append(end)
            news.append(new)
            notes.append(note)
        return cls(OneEach(starts, ends, news), notes, others)

    def __len__(self) -> int:
        return len(self.edits.news)

    @overload
    def __getitem__(self, at: int) -> Change | None: ...
    @overload
    def __getitem__(self, at: slice) -> list[Change | None]: ...
    def __getitem__(self, at: int | slice) -> Change | list[Change | None] | None:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        starts, ends, news = self.edits
        new = news[at]
        return self.others.get(at) if new is None else Change((Edit(starts[at], ends[at], new),), self.notes[at])


class Operator:
    """Extend, and put in `vary/FAMILY/NAME.py` or behind the entry point `unswayed.operators`.

    Example: `class Shout(Operator)` with a method `change(self, text, rng)` that returns a `Change`, or None.

    A class has exactly one of two forms, and is called by either:

    - `change(text, rng)` gives the change to one text. For a block of texts it is called in a loop.
    - `change_many(texts, streams)` gives the changes to a block of texts. For a single text it is called with a block
      of one. It is for operators that ask a model or a server, which answer batches; and for those that are at least
      1.3 times faster with it end to end, in CPU time of `unswayed vary` on 100,000 texts. Note the ratio beside it.

    `__init__`'s keyword arguments are the operator's parameters; each must have a default. Raise `version`
    whenever the same stream would give another result.
    """

    needed: ClassVar[tuple[tuple[str, ...], ...]] = (("change", "change_many"),)  # to extend: one of these
    version: ClassVar[int] = 1
    languages: ClassVar[tuple[str, ...]] = ("*",)
    meaning: ClassVar[Meaning] = "same"
    people: ClassVar[bool] = False  # each draw is one person for the whole suite
    quick: bool = False  # varies hundreds of texts in a moment, in which Python's garbage collector may wait
    distinct: bool = False  # few texts can come out, so that each draw gives another one, as long as there is one
    rewords: ClassVar[bool] = False  # replaces words by others of the same meaning, as synonyms do
    unaltered: ClassVar[bool] = False  # may a person leave a text as it is? UNALTERED is then a variant that counts
    aligned: ClassVar[bool] = True  # False: rewrites whole texts, so token and span labels can't be kept
    presets: ClassVar[tuple[str, ...]] = ()  # presets that it belongs to: "typing" puts it in `@typing`
    needs: ClassVar[str] = ""  # what an example must have beyond a text, for messages
    slips: ClassVar[bool] = False  # takes words or letters for others by mistake, as typists and recognisers do
    alters: ClassVar[tuple[str, ...]] = ()  # kinds of protected things that it is there to change, as `emoji`
    pool: ClassVar[int] = 0  # how many of the data's first examples it is given, by `take_pool`
    example: ClassVar[tuple[str, str]]  # a text, and what draw 0 of seed 0 makes of it

    name: str = ""  # these two are set from the registry, before first use
    family: str = ""
    file: str = ""  # where the pool comes from, if not from the data
    protect: str = "all"  # what stays whole: see `spares`. Also a parameter of every operator
    keep_facts: bool = False  # are slips left out that turn a number, date, unit, negation or name into another?

    def take_pool(self, examples: Sequence[Example]) -> None:
        """Extend in operators that have a `pool`: the examples that are in it."""

    def __init_subclass__(cls) -> None:
        if cls.change is not Operator.change and cls.change_many is not Operator.change_many:
            raise UsageError(
                f"The operator {cls.__module__}:{cls.__qualname__} has both `change` and `change_many`. Keep one of "
                f"them; each is made from the other. See docs/extending.md."
            )

    def spares(self, spans: tuple[Protected, ...]) -> tuple[Protected, ...]:
        """Those of a text's protected things that this operator must leave whole."""
        if not spans or self.protect == "none" or (self.protect == "typed" and "typing" in self.presets):
            return ()
        return outside(spans, self.alters)

    def allowed(self, text: Text, edits: Sequence[Edit]) -> list[Edit]:
        """The edits that may be made, for operators each of whose edits can be left out alone.

        Others may leave this to unswayed, which draws again where a change may not be made.
        """
        kept = list(edits)
        if spans := self.spares(protected_spans(text.text)):
            kept = [edit for edit, bad in zip(kept, touching(text.text, spans, kept), strict=True) if not bad]
        if self.keep_facts and kept:
            kinds = touched_facts(text.text, kept, text.language)
            self.left_out.update(filter(None, kinds))
            kept = [edit for edit, kind in zip(kept, kinds, strict=True) if not kind]
        return kept

    @cached_property
    def left_out(self) -> Counter[str]:
        """How many slips were left out since this was last emptied, by what they would have touched."""
        return Counter()

    def change(self, text: Text, rng: Stream) -> Change | None:
        """The change to this text, or None where there is nothing to change.

        It never changes nothing, unless the operator simulates people and has `unaltered`: no edits then mean that the
        person left the text as it was.
        """
        return self.change_many(Texts.of([text]), Streams.of([rng]))[0]

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        """The change to each text of a block, each drawn from its own stream and independent of the other texts."""
        change = self.change
        return [change(text, rng) for text, rng in zip(texts, streams, strict=True)]

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        """The operator's parameters by name, with `protect`, which every operator that edits texts has."""
        own = _own_parameters(cast(Any, cls)).copy()
        if issubclass(cls, PromptOperator):
            return own
        return {**own, "protect": inspect.Parameter("protect", inspect.Parameter.KEYWORD_ONLY, default=PROTECT[0])}

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        """What else decides the variants, such as an id of what is in a file that a parameter names."""
        return {}

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return inspect.cleandoc(cls.__doc__ or "").split("\n", 1)[0]


@cache
def _own_parameters(cls: Any) -> dict[str, inspect.Parameter]:
    """A class's own parameters, which take longer to find than a quick operator needs for fifty texts."""
    return dict(inspect.signature(cls).parameters)


class Rewritten(NamedTuple):
    """An example's inputs and gold after a change that is not one of words, and a note for people."""

    inputs: Inputs
    gold: Json
    note: str


class PromptOperator(Operator):
    """Extend with `rewrite` where the prompt or the choices of an example are varied, not its words.

    A draw is one prompt for the whole suite. `share` is the share of its prompts that each example is asked with.
    """

    needed = (("rewrite",),)
    share: float = 1.0

    @property
    def prompts(self) -> int:
        """Of how many prompts each example is asked with one."""
        return max(1, round(1 / self.share))

    def rewrite(self, example: Example, language: str, rng: Stream) -> Rewritten | None:
        """The example under the draw's prompt, or None where it has nothing to vary."""
        raise NotImplementedError


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


def plain(value: object) -> Json:
    """A parameter's value as JSON has it."""
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
