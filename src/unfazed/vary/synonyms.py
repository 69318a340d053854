"""Another word for the same thing: which word is replaced, and by what.

Candidates come from a table, ranked by how well each fits the sentence, or from a masked language model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar, TypeVar

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.block import Texts
from unfazed.vary.collocations import in_name, in_title
from unfazed.vary.english import KIND_OF, Tagged, kind_of, tagged, tagger
from unfazed.vary.fitting import MOST_FITTING, Asked
from unfazed.vary.operator import BatchOperator, Change, Text
from unfazed.vary.thesaurus import Line, Question, thesaurus

if TYPE_CHECKING:
    from unfazed.vary.masked import MaskedModel

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
T = TypeVar("T")
_VOWELS = frozenset("aeiou")
_ARTICLES = frozenset(("a", "an"))

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
        self._kinds = frozenset(self.kinds + "n")

    @cached_property
    def source(self) -> MaskedModel:
        from unfazed.vary.masked import MaskedModel

        return MaskedModel(self._model or "")

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        """Goes through the words that may be replaced in random order, until one has a candidate that fits."""
        if self._model is not None:
            return self._by_model(texts, rngs)
        made: list[Change | None] = [None] * len(texts)
        table, kinds = thesaurus(), self._kinds
        waiting = []
        block = texts if isinstance(texts, Texts) else None  # which has no Text yet, and most need none
        tags_of = block.tags if block else [None] * len(texts)
        for n, string in enumerate(block.strings if block else [text.text for text in texts]):
            line = table.line(string)
            places = [i for i, word in enumerate(line.readings) if word.kind in kinds]
            if places:
                waiting.append((n, self._questions(line, partial(texts.__getitem__, n), tags_of[n], places, rngs[n])))
        while waiting:
            asked = [(n, more, question) for n, more in waiting if (question := next(more, None))]
            answers = table.answers([question for _, _, question in asked], min(self.top, MOST_FITTING))
            waiting = []
            for (n, more, question), found in zip(asked, answers, strict=True):
                if found:
                    made[n] = _replaced(question.line, question.i, self._one_of(found, rngs[n]))
                else:
                    waiting.append((n, more))
        return made

    def _questions(
        self, line: Line, text: Callable[[], Text], tags: Sequence[str] | None, places: list[int], rng: Stream
    ) -> Iterator[Question]:
        """What to ask about the words at these places, one after another until there is an answer.

        Words outside titles come first, with candidates that surely fit. Parts of names stay.
        """
        words, ask, strict = line.readings, thesaurus().question, self.strict
        tags = tags if line.words is None else None  # else tokens may be others than words
        for group in self._groups(line, text, places, rng):
            later = []
            for i in group:
                if in_name(words, i):
                    continue
                question = ask(line, i, True, strict)
                if question is None:
                    if not strict:
                        later.append(i)
                    continue
                if strict and (_doubtful(words, i) or in_title(words, i)):
                    continue
                if _in_title(text(), line.span(i)[0]) if tags is None else tags[i] != "O" and _of_several(tags, i):
                    later.append(i)
                    continue
                yield question
                if not strict:
                    later.append(i)
            for i in later:
                question = ask(line, i, strict, strict)
                if question is not None:
                    yield question

    def _groups(self, line: Line, text: Callable[[], Text], places: list[int], rng: Stream) -> Iterator[list[int]]:
        """The places in random order: one class at random, then the others; then nouns, if they are not among these.

        All numbers that decide it are drawn at once; the order of nouns is found out if it is asked for.
        """
        if not self.slots:
            places = [i for i in places if not text().labelled(line.span(i)[0])]
        words = line.readings
        numbers = rng.numbers(len(self.kinds) + 1 + len(places))
        at = 0
        for kinds in (self.kinds, "n" if "n" not in self.kinds else ""):
            group: list[int] = []
            order: Sequence[str] = _shuffled(list(kinds), numbers, at) if len(kinds) > 1 else kinds
            at += len(kinds)
            for kind in order:
                its = [i for i in places if words[i].kind == kind]
                group += _shuffled(its, numbers, at) if len(its) > 1 else its
                at += len(its)
            yield group

    def _one_of(self, found: list[str], rng: Stream) -> str:
        """One of the best, better ones more often."""
        last = min(len(found), self.top) - 1
        if last:
            totals = _totals(last + 1)
            point = rng.random() * totals[last]
            for n in range(last):
                if point < totals[n]:
                    return found[n]
        return found[last]

    def _by_model(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        made: list[Change | None] = [None] * len(texts)
        lines = [thesaurus().line(text.text) for text in texts]
        tries = []
        for n, line in enumerate(lines):
            places = [i for i, word in enumerate(line.readings) if word.kind in self._kinds]
            tries.append(chain.from_iterable(self._groups(line, partial(texts.__getitem__, n), places, rngs[n])))
        waiting: Sequence[int] = range(len(texts))
        while waiting:
            tried = [(n, i) for n in waiting if (i := next(tries[n], None)) is not None]
            asked = [Asked(texts[n].text, tagged(texts[n].text), i, False, self.strict) for n, i in tried]
            for (n, i), found in zip(tried, self.source.ranked(asked), strict=True):
                if found:
                    made[n] = _replaced(lines[n], i, self._one_of(found, rngs[n]))
            waiting = [n for n, _ in tried if made[n] is None]
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


def _of_several(tags: Sequence[str], i: int) -> bool:
    """The same for a token that has a tag: does its slot have more tokens?"""
    name = tags[i][2:]
    goes_on = i > 0 and tags[i][0] in "IE" and tags[i - 1][2:] == name
    return bool(name) and (goes_on or (i + 1 < len(tags) and tags[i + 1][0] in "IE" and tags[i + 1][2:] == name))


def replacement(asked: Asked, new: str) -> Change:
    """The change that puts the new word in place, with the article before it made to agree."""
    text, words, i = asked[:3]
    word, before = words[i], words[i - 1] if i else None
    article = (before.start, before.end) if before is not None and before.lower in _ARTICLES else None
    return _put(text, word.start, word.end, new, kind_of(word) or KIND_OF.get(word.tag, "s"), article)


def _replaced(line: Line, i: int, new: str) -> Change:
    """The same for a word that may be replaced."""
    article = line.span(i - 1) if i and line.readings[i - 1].lower in _ARTICLES else None
    return _put(line.text, *line.span(i), new, line.readings[i].kind, article)


def _put(text: str, start: int, end: int, new: str, kind: str, article: tuple[int, int] | None) -> Change:
    old = text[start:end]
    if not old.islower():
        new = _cased(new, old)
    edit = Edit(start, end, new)
    note = f"{old}→{new} ({KINDS[kind]})"
    if article is not None and text[article[1] : start] == " ":
        said = text[slice(*article)]
        before, after = (word[0].lower() in _VOWELS for word in (old, new))
        if before != after and before == (said.lower() == "an"):
            return Change((Edit(*article, _cased("an" if after else "a", said)), edit), note)
    return Change((edit,), note)


def _cased(new: str, old: str) -> str:
    """The new word in the old one's case."""
    if old.islower() or not old[0].isupper():
        return new
    return new.upper() if len(old) > 1 and old.isupper() else new[0].upper() + new[1:]
