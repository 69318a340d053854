"""Another word for the same thing: which word is replaced, and by what.

Candidates come from a table, ranked by how well each fits the sentence, or from a masked language model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar, TypeVar

from unswayed.base.seeds import Stream, Streams
from unswayed.vary.block import BlockOperator, Texts
from unswayed.vary.collocations import in_title, named
from unswayed.vary.english import KIND_OF, STOPWORDS, Line, line_of, tagged, tagger
from unswayed.vary.fitting import MOST_FITTING, Asked
from unswayed.vary.lines import read
from unswayed.vary.operator import Change, Text
from unswayed.vary.synonym_edits import Made, replaced
from unswayed.vary.synonym_search import Labels, Search
from unswayed.vary.synonym_spots import Kinds
from unswayed.vary.thesaurus import Question, thesaurus
from unswayed.vary.word_order import in_random_order

if TYPE_CHECKING:
    from unswayed.vary.masked import MaskedModel

_TAGS = {kind: frozenset(tag for tag, of in KIND_OF.items() if of == kind) for kind in "varn"}
_TAGS["s"] = frozenset(tag for tag, _ in STOPWORDS)
T = TypeVar("T")
_SCALE = 2.0**-53


class SynonymOperator(BlockOperator):
    """Replaces one word of a class by another that means about the same there; a noun where there is none.

    `model` is the path of a masked language model, whose likeliest words are taken; without it the table of synonyms
    that ships with the package. `slots` says whether words inside labelled values may be replaced, too. One of the
    `top` best candidates is taken, better ones more often; 1 takes the best.
    """

    languages = ("en",)
    rewords = True
    kinds: ClassVar[str]  # letters of KINDS
    strict: ClassVar[bool] = False  # rather leaves a text as it is than risk a word that does not fit

    def __init__(self, model: str | None = None, slots: bool = True, top: int = 3) -> None:
        if top < 1:
            raise ValueError(f"top must be 1 or more, not {top}")
        self.slots, self.top = slots, top
        self._model, self.quick = model, model is None
        self._tags = frozenset().union(*(_TAGS[kind] for kind in self.kinds + "n"))

    @cached_property
    def source(self) -> MaskedModel:
        from unswayed.vary.masked import MaskedModel

        return MaskedModel(self._model or "")

    @cached_property
    def _kinds(self) -> Kinds:
        return Kinds([*(_TAGS[kind] for kind in self.kinds), _TAGS["n"] if "n" not in self.kinds else frozenset()])

    def change(self, text: Text, rng: Stream) -> Change | None:
        """Goes through the words that may be replaced in random order, until one has a candidate that fits."""
        if self._model is not None:
            return self._by_model([text], [rng])[0]
        line, most = line_of(text.text), min(self.top, MOST_FITTING)
        places = self._places(line, text)
        numbers = rng.numbers(len(self.kinds) + 1 + len(places) + 1)  # for the order of classes and of places
        for question in self._questions(line, Labels([text]), places, numbers):
            [found] = thesaurus().answers([question], most)
            if found:
                return replaced(line, question.i, self._one_of(found, numbers[-1]))
        return None

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> Sequence[Change | None]:
        return super().changes(texts, rngs) if self._model is None else self._by_model(texts, rngs)

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        lines, labels = read(texts), Labels(texts)
        places, kinds = self._kinds.places(lines)
        if not self.slots:
            free = labels.free(lines.texts[places], lines.begins[places])
            places, kinds = places[free], kinds[free]
        tried = in_random_order(places, lines.texts[places], kinds, len(self.kinds), streams)
        search = Search(lines, tried, labels, len(self.kinds), self.strict)
        made = Made([], [], [])
        for n, place, found in search.answers(min(self.top, MOST_FITTING)):
            made.texts.append(n)
            made.places.append(place)
            made.news.append(self._one_of(found, tried.numbers[n]))
        return made.changes(lines)

    def _places(self, line: Line, text: Text) -> list[int]:
        """Where a line has words that may be replaced."""
        places = line.replaceable(self._tags)
        return places if self.slots else [i for i in places if not text.labelled(line.span(i)[0])]

    def _questions(self, line: Line, labels: Labels, places: list[int], numbers: Sequence[int]) -> Iterator[Question]:
        """What to ask about the words at these places, one after another until there is an answer.

        Words outside titles come first, with candidates that surely fit. Parts of names stay.
        """
        words, tags, ask, strict = line.lowers, line.tags, thesaurus().question, self.strict
        for group in self._groups(tags, places, numbers):
            later = []
            for i in group:
                if named(words, tags, i):
                    continue
                question = ask(line, i, True, strict)
                if question is None:
                    if not strict:
                        later.append(i)
                    continue
                if strict and (_doubtful(line, i) or in_title(words, i)):
                    continue
                if labels.titled(0, i, line.span(i)[0], line.plain):
                    later.append(i)
                    continue
                yield question
                if not strict:
                    later.append(i)
            for i in later:
                question = ask(line, i, strict, strict)
                if question is not None:
                    yield question

    def _groups(self, tags: Sequence[str], places: list[int], numbers: Sequence[int]) -> Iterator[list[int]]:
        """The places in random order: one class at random, then the others; then nouns, if they are not among these."""
        at = 0
        for kinds in (self.kinds, "n" if "n" not in self.kinds else ""):
            group: list[int] = []
            order: Sequence[str] = _shuffled(list(kinds), numbers, at) if len(kinds) > 1 else kinds
            at += len(kinds)
            for kind in order:
                its = [i for i in places if tags[i] in _TAGS[kind]]
                group += _shuffled(its, numbers, at) if len(its) > 1 else its
                at += len(its)
            yield group

    def _one_of(self, found: list[str], number: int) -> str:
        """One of the best, better ones more often."""
        count = min(len(found), self.top)
        totals = _totals(count)
        return found[min(bisect_right(totals, (number >> 11) * _SCALE * totals[-1]), count - 1)]

    def _by_model(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> Sequence[Change | None]:
        made: list[Change | None] = [None] * len(texts)
        tries = []
        for n, text in enumerate(texts):
            line = line_of(text.text)
            places = self._places(line, text)
            numbers = rngs[n].numbers(len(self.kinds) + 1 + len(places) + 1)
            order = chain.from_iterable(self._groups(line.tags, places, numbers))
            tries.append((n, line, numbers[-1], order))
        while tries:
            tried = [(one, i) for one in tries if (i := next(one[3], None)) is not None]
            asked = [Asked(line.text, tagged(line.text), i, False, self.strict) for (_, line, _, _), i in tried]
            tries = []
            for (one, i), found in zip(tried, self.source.ranked(asked), strict=True):
                n, line, number, _ = one
                if found:
                    made[n] = replaced(line, i, self._one_of(found, number))
                else:
                    tries.append(one)
        return made


def _shuffled(items: list[T], numbers: Sequence[int], at: int) -> list[T]:
    """What `Stream.sample` makes of all items, with the numbers from this place on."""
    for i in range(len(items) - 1):
        j = i + (numbers[at + i] * (len(items) - i) >> 64)
        items[i], items[j] = items[j], items[i]
    return items


@cache
def _totals(count: int) -> list[float]:
    """The sums of the weights of candidates, best first."""
    return list(accumulate(1 / rank for rank in range(1, count + 1)))


def _doubtful(line: Line, i: int) -> bool:
    """May the tag be wrong: an adjective that could be a noun or verb, a verb at the start that could be a noun?"""
    word, tag, could = line.lowers[i], line.tags[i], tagger().could_be
    if tag == "JJ":
        return could(word, "NN") or could(word, "VB")
    noun = tag == "VB" and i == 0 and len(line.tags) > 1 and line.tags[1] in ("IN", "TO")
    return noun and could(word, "NN")
