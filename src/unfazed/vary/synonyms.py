"""Another word for the same thing: which word is replaced, and by what.

Candidates come from a table, ranked by how well each fits the sentence, or from a masked language model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar, TypeVar

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.collocations import NAMING, in_name, in_title
from unfazed.vary.english import KIND_OF, Tagged, tagged, tagger
from unfazed.vary.fitting import MOST_FITTING, Asked, kind_of
from unfazed.vary.operator import BatchOperator, Change, Text
from unfazed.vary.stopwords import stopword_candidates
from unfazed.vary.thesaurus import Line, Question, thesaurus

if TYPE_CHECKING:
    from unfazed.vary.masked import MaskedModel

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
T = TypeVar("T")
_VOWELS = frozenset("aeiou")

Tries = Iterator[tuple[int, bool]]  # places of words, and whether only candidates that surely fit are wanted


class SynonymOperator(BatchOperator):
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
        self._model = model

    @cached_property
    def source(self) -> MaskedModel:
        from unfazed.vary.masked import MaskedModel

        return MaskedModel(self._model or "")

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        """Goes through the words that may be replaced in random order, until one has a candidate that fits."""
        if self._model is not None:
            return self._by_model(texts, rngs)
        made: list[Change | None] = [None] * len(texts)
        line_of = thesaurus().line
        waiting: list[tuple[int, Line, Tries]] = []
        for n, text in enumerate(texts):
            line = line_of(text.text)
            places = self._places(line, text)
            if any([line.targets[i].hope for its in places.values() for i in its]):
                waiting.append((n, line, self._tries(self._groups(places, rngs[n]), line, text)))
        while waiting:
            waiting = self._next(waiting, rngs, made)
        return made

    def _next(
        self, waiting: list[tuple[int, Line, Tries]], rngs: Sequence[Stream], made: list[Change | None]
    ) -> list[tuple[int, Line, Tries]]:
        """Tries one word of each line that the table has something for; gives back the lines for which it did not do."""
        question_of = thesaurus().question
        asked: list[tuple[tuple[int, Line, Tries], Question]] = []
        for one in waiting:
            n, line, tries = one
            for i, sure in tries:
                if line.targets[i].kind == "s":
                    if found := stopword_candidates(line.readings, i):
                        made[n] = _replaced(line, i, self._one_of(found, rngs[n]))
                        break
                elif question := question_of(line, i, sure, self.strict):
                    asked.append((one, question))
                    break
        answers = thesaurus().answers([question for _, question in asked], min(self.top, MOST_FITTING))
        for ((n, line, _), question), found in zip(asked, answers, strict=True):
            if found:
                made[n] = _replaced(line, question.i, self._one_of(found, rngs[n]))
        return [one for one, _ in asked if made[one[0]] is None]

    def _places(self, line: Line, text: Text) -> dict[str, list[int]]:
        """The places of words that may be replaced, by their class."""
        places: dict[str, list[int]] = {kind: [] for kind in self.kinds}
        places.setdefault("n", [])
        for i, target in enumerate(line.targets):
            if target.kind in places and (self.slots or not text.labelled(line.span(i)[0])):
                places[target.kind].append(i)
        return places

    def _groups(self, places: dict[str, list[int]], rng: Stream) -> Iterator[list[int]]:
        """The words in random order: one class at random, then the others; then nouns, if they are not among these.

        All numbers that decide it are drawn at once; each class is put in order when it is asked for.
        """
        numbers = rng.numbers(len(self.kinds) + 1 + sum(map(len, places.values())))
        return self._in_order(places, iter(numbers))

    def _in_order(self, places: dict[str, list[int]], numbers: Iterator[int]) -> Iterator[list[int]]:
        for kinds in (self.kinds, "n"):
            group: list[int] = []
            for kind in _shuffled([*kinds], numbers):
                group += _shuffled(places.pop(kind, []), numbers)
            yield group

    def _tries(self, groups: Iterator[list[int]], line: Line, text: Text) -> Tries:
        """Words outside titles come first, with candidates that surely fit. Parts of names stay."""
        targets, strict = line.targets, self.strict
        for group in groups:
            later = []
            for i in group:
                target = targets[i]
                if (
                    not target.hope
                    or in_name(line.readings, i, target.kind)
                    or (strict and (_doubtful(line.readings, i) or (not line.said.isdisjoint(NAMING) and in_title(line.readings, i))))
                ):
                    continue
                titled = _in_title(text, line.span(i)[0])
                if titled or not strict:
                    later.append(i)
                if not titled:
                    yield i, True
            for i in later:
                yield i, strict

    def _one_of(self, found: list[str], rng: Stream) -> str:
        """One of the best, better ones more often."""
        last = min(len(found), self.top) - 1
        if not last:
            return found[0]
        totals = _totals(last + 1)
        point = rng.random() * totals[last]
        return next((found[n] for n in range(last) if point < totals[n]), found[last])

    def _by_model(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        made: list[Change | None] = [None] * len(texts)
        lines = [thesaurus().line(text.text) for text in texts]
        tries = [
            chain.from_iterable(self._groups(self._places(line, text), rng))
            for line, text, rng in zip(lines, texts, rngs, strict=True)
        ]
        waiting: Sequence[int] = range(len(texts))
        while waiting:
            tried = [(n, i) for n in waiting if (i := next(tries[n], None)) is not None]
            asked = [Asked(texts[n].text, tagged(texts[n].text), i, False, self.strict) for n, i in tried]
            for (n, i), found in zip(tried, self.source.ranked(asked), strict=True):
                if found:
                    made[n] = _replaced(lines[n], i, self._one_of(found, rngs[n]))
            waiting = [n for n, _ in tried if made[n] is None]
        return made


def _shuffled(items: list[T], numbers: Iterator[int]) -> list[T]:
    """What `Stream.sample` makes of all items, from its numbers."""
    for i in range(len(items)):
        j = i + (next(numbers) * (len(items) - i) >> 64)
        items[i], items[j] = items[j], items[i]
    return items


@cache
def _totals(count: int) -> list[float]:
    """The sums of the weights of candidates, best first."""
    return list(accumulate(1 / rank for rank in range(1, count + 1)))


def _doubtful(words: Sequence[Tagged], i: int) -> bool:
    """May the tag be wrong: an adjective that could be a noun or verb, a verb at the start that could be a noun?"""
    word, could = words[i], tagger().could_be
    if word.tag == "JJ":
        return could(word.lower, "NN") or could(word.lower, "VB")
    noun = word.tag == "VB" and i == 0 and i + 1 < len(words) and words[i + 1].tag in ("IN", "TO")
    return noun and could(word.lower, "NN")


def _in_title(text: Text, at: int) -> bool:
    """Does a word stand in a labelled value of several words, which may be a name or a title?"""
    return text.labelled(at) and any(start <= at < end and " " in text.text[start:end] for start, end in text.marked)


def replacement(asked: Asked, new: str) -> Change:
    """The change that puts the new word in place, with the article before it made to agree."""
    return _put(asked.text, asked.words, asked.i, new, lambda i: (asked.words[i].start, asked.words[i].end))


def _replaced(line: Line, i: int, new: str) -> Change:
    return _put(line.text, line.readings, i, new, line.span)


def _put(text: str, words: Sequence[Tagged], i: int, new: str, span: Callable[[int], tuple[int, int]]) -> Change:
    word, (start, end) = words[i], span(i)
    old = text[start:end]
    kind = kind_of(word) or KIND_OF.get(word.tag, "s")
    edit = Edit(start, end, _cased(new, old))
    edits: tuple[Edit, ...] = (edit,)
    if i and words[i - 1].lower in ("a", "an"):
        first, last = span(i - 1)
        before, article = words[i - 1].lower, "an" if new[0] in _VOWELS else "a"
        agrees = (old[0].lower() in _VOWELS) == (before == "an")
        if text[last:start] == " " and agrees and article != before:
            edits = Edit(first, last, _cased(article, text[first:last])), edit
    return Change(edits, f"{old}→{edit.new} ({KINDS[kind]})")


def _cased(new: str, old: str) -> str:
    """The new word in the old one's case."""
    if old.islower() or not old[0].isupper():
        return new
    return new.upper() if len(old) > 1 and old.isupper() else new[0].upper() + new[1:]
