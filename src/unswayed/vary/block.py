"""Many texts at once: what an operator is given with a block of examples, and the cheapest form of what it gives back.

The usual operator has `change` and needs none of this. One that does little to a text spends most of its time on making
streams, edits and notes one by one; `BlockOperator` does that for whole blocks, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from unswayed.base.edits import Edit, OneEach
from unswayed.base.identify import UNSURE
from unswayed.base.seeds import Stream, StreamIds, Streams
from unswayed.base.task import TAGGED, Task
from unswayed.base.values import Example, Json
from unswayed.storage.suite import LANGUAGE
from unswayed.vary.operator import Change, Operator, Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
BLOCK = 512  # examples handled at once: enough for operators that batch, little enough to stream
_MOST_CHARACTERS = 1 << 20  # of examples handled at once: words of texts may take a hundred times their letters
_FEW = 8  # texts, up to which arrays cost more than they save; numpy alone takes longer to import
_LONG = 10_000  # characters of few texts, from which arrays save more


class Letters(NamedTuple):
    """The code points of texts, one text after the other; where each begins, and how many each has.

    They are bytes where all texts are ASCII.
    """

    codes: NDArray[Any]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


class Texts(Sequence[Text]):
    """The texts of a block as columns; a Text is made when it is asked for.

    `strings` are their characters. `language` is that of all, or empty where each has its own. `task` is None where
    labels do not point into texts.
    """

    def __init__(self, examples: Sequence[Example], fields: Sequence[str], task: Task | None, language: str) -> None:
        """`examples` has the example of each text."""
        self.examples, self.fields, self.task, self.language = examples, fields, task, language
        self.strings = [e.inputs[field] for e, field in zip(examples, fields, strict=True)]
        self._made: dict[int, Text] = {}
        self._found: dict[Any, Any] = {}

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
            example, field = self.examples[at], self.fields[at]
            language = self.language or example.groups.get(LANGUAGE, UNSURE)
            made = Text(example.inputs[field], language, example.gold, field, self.task, example.inputs)
            self._made[at] = made
        return made

    def __iter__(self) -> Iterator[Text]:
        return map(self.__getitem__, range(len(self)))

    def some(self, at: Sequence[int]) -> Texts:
        """Those at these places."""
        some = Texts([self.examples[i] for i in at], [self.fields[i] for i in at], self.task, self.language)
        some._made = {k: self._made[i] for k, i in enumerate(at) if i in self._made}
        return some

    def once(self, find: Callable[[Texts], T]) -> T:
        """What a function finds out about the texts. It is called in the first draw only, so give the same function."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    @property
    def letters(self) -> Letters:
        return self.once(_letters)

    @property
    def tags(self) -> list[Sequence[str] | None]:
        """The tags of each text's tokens, which single spaces separate; None where it has none."""
        return self.once(_tags)


def _tags(texts: Texts) -> list[Sequence[str] | None]:
    if texts.task is None:
        return [None] * len(texts)
    found = list(texts.task.tags_each(texts.golds))
    if set(texts.fields) != {TAGGED}:
        found = [tags if field == TAGGED else None for tags, field in zip(found, texts.fields, strict=True)]
    return found


def _letters(texts: Texts) -> Letters:
    import numpy as np

    joined = "".join(texts.strings)
    ascii = joined.isascii()
    coded = joined.encode("ascii" if ascii else "utf-32-le", "surrogatepass")
    codes = np.frombuffer(coded, np.uint8 if ascii else "<u4")
    sizes = np.array(list(map(len, texts.strings)), np.int64)
    return Letters(codes, np.cumsum(sizes) - sizes, sizes)


def _long(texts: Texts) -> bool:
    return sum(map(len, texts.strings)) >= _LONG


def blocks_of(examples: Iterable[Example], size: int = BLOCK) -> Iterator[list[Example]]:
    """The examples, so many at a time, or fewer where their texts are long."""
    block: list[Example] = []
    characters = 0
    for example in examples:
        block.append(example)
        characters += sum(map(len, example.inputs.values()))
        if len(block) == size or characters >= _MOST_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block


class Block(NamedTuple):
    """Examples that are varied together, the texts of theirs that are varied, and where each example's texts end."""

    examples: Sequence[Example]
    texts: Texts
    ends: Sequence[int]

    @property
    def one_each(self) -> bool:
        """Has each example one text?"""
        return self.texts.examples is self.examples

    def some(self, at: Sequence[int]) -> Block:
        """The examples at these places, in ascending order."""
        if len(at) == len(self.examples):
            return self
        spans = [range(self.ends[i - 1] if i else 0, self.ends[i]) for i in at]
        texts = self.texts.some([k for span in spans for k in span])
        examples = texts.examples if self.one_each else [self.examples[i] for i in at]
        return Block(examples, texts, list(accumulate(map(len, spans))))


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
        starts, ends, news, _ = self.edits
        new = news[at]
        return self.others.get(at) if new is None else Change((Edit(starts[at], ends[at], new),), self.notes[at])


class BlockOperator(Operator):
    """Extend with `change`, and with `block`, which gives the same for many texts in less time."""

    needed = (("change",), ("block",))
    quick = True

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        """What `change` gives for each text. For those that are unlike the others, call it with their own stream."""
        raise NotImplementedError

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> Sequence[Change | None]:
        if isinstance(texts, Texts) and isinstance(rngs, Streams) and (len(texts) > _FEW or _long(texts)):
            return self.block(texts, rngs)
        return super().changes(texts, rngs)
