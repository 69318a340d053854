"""Another word for the same thing: which word is replaced, and by what.

Candidates come from a table, ranked by how well each fits the sentence, or from a masked language model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar, TypeVar

from unfazed.core.edits import Edit, OneEach
from unfazed.core.seeds import AT_ONCE, Stream, Streams
from unfazed.vary.block import SingleEdits, Texts
from unfazed.vary.collocations import in_title, named
from unfazed.vary.english import KIND_OF, SHORT, STOPWORDS, Line, kind_of, line_of, lines_of, tagged, tagger
from unfazed.vary.fitting import MOST_FITTING, Asked
from unfazed.vary.operator import BatchOperator, Change, Text
from unfazed.vary.thesaurus import Question, thesaurus

if TYPE_CHECKING:
    from unfazed.vary.masked import MaskedModel

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
_TAGS = {kind: frozenset(tag for tag, of in KIND_OF.items() if of == kind) for kind in "varn"}
_TAGS["s"] = frozenset(tag for tag, _ in STOPWORDS)
T = TypeVar("T")
_VOWELS = frozenset("aeiou")
_ARTICLES = frozenset(("a", "an"))
_SCALE = 2.0**-53

# A text's number, the random number that decides which candidate is taken, and what is still to be asked.
Search = tuple[int, int, Iterator[Question]]


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
        self._tags = frozenset().union(*(_TAGS[kind] for kind in self.kinds + "n"))

    @cached_property
    def source(self) -> MaskedModel:
        from unfazed.vary.masked import MaskedModel

        return MaskedModel(self._model or "")

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> Sequence[Change | None]:
        """Goes through the words that may be replaced in random order, until one has a candidate that fits."""
        if self._model is not None:
            return self._by_model(texts, rngs)
        made, labels, table, most = Made(len(texts)), Labels(texts), thesaurus(), min(self.top, MOST_FITTING)
        first: list[list[int]] = rngs.numbers.tolist() if isinstance(rngs, Streams) else []
        searches: list[Search] = []
        for n, line in enumerate(_lines(texts)):
            if places := self._places(line, texts, n):
                count = len(self.kinds) + 1 + len(places)  # for the order of classes and of places
                numbers = first[n] if first and count < AT_ONCE else rngs[n].numbers(count + 1)
                searches.append((n, numbers[count], self._questions(line, labels, n, places, numbers)))
        while searches:
            asked, questions = [], []
            for search in searches:
                if question := next(search[2], None):
                    asked.append(search)
                    questions.append(question)
            searches = []
            for search, question, found in zip(asked, questions, table.answers(questions, most), strict=True):
                n, number, _ = search
                if found:
                    made.put(n, question.line, question.i, self._one_of(found, number))
                else:
                    searches.append(search)
        return made.changes()

    def _places(self, line: Line, texts: Sequence[Text], n: int) -> list[int]:
        """Where a line has words that may be replaced."""
        places = line.replaceable(self._tags)
        return places if self.slots else [i for i in places if not texts[n].labelled(line.span(i)[0])]

    def _questions(
        self, line: Line, labels: Labels, n: int, places: list[int], numbers: Sequence[int]
    ) -> Iterator[Question]:
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
                if labels.titled(n, line, i):
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
        last = min(len(found), self.top) - 1
        if last:
            totals = _totals(last + 1)
            point = (number >> 11) * _SCALE * totals[last]
            for n in range(last):
                if point < totals[n]:
                    return found[n]
        return found[last]

    def _by_model(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> Sequence[Change | None]:
        made = Made(len(texts))
        tries = []
        for n, line in enumerate(_lines(texts)):
            places = self._places(line, texts, n)
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
                    made.put(n, line, i, self._one_of(found, number))
                else:
                    tries.append(one)
        return made.changes()


class Labels:
    """What the labels of texts say of their words."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = texts
        block = texts if isinstance(texts, Texts) else None  # which has no Text yet, and most need none
        self._tags = block.tags if block else [None] * len(texts)
        self._none = block is not None and block.task is None

    def titled(self, n: int, line: Line, i: int) -> bool:
        """Does a word stand in a labelled value of several words, which may be a name or a title?"""
        if self._none:
            return False
        tags = self._tags[n]
        if tags is not None and line.plain:  # else tokens may be others than words
            return tags[i] != "O" and _of_several(tags, i)
        text, (at, _) = self._texts[n], line.span(i)
        return text.labelled(at) and any(
            start <= at < end and " " in line.text[start:end] for start, end in text.marked
        )


class Made:
    """The changes that were made, as columns: most replace one word, few an article with it."""

    def __init__(self, count: int) -> None:
        self._starts, self._ends, self._notes = [0] * count, [0] * count, [""] * count
        self._news: list[str | None] = [None] * count
        self._others: dict[int, Change] = {}

    def put(self, n: int, line: Line, i: int, new: str) -> None:
        """Puts a new word in place of a line's word."""
        start, end = line.span(i)
        article = line.span(i - 1) if i and line.lowers[i - 1] in _ARTICLES else None
        kind = KIND_OF.get(line.tags[i], "s")
        if article is None and line.plain:  # small letters only
            self._starts[n], self._ends[n], self._news[n] = start, end, new
            self._notes[n] = f"{line.lowers[i]}→{new} ({KINDS[kind]})"
            return
        change = _put(line.text, start, end, new, kind, article)
        if len(change.edits) > 1:
            self._others[n] = change
        else:
            self._starts[n], self._ends[n], self._news[n] = change.edits[0]
            self._notes[n] = change.note

    def changes(self) -> SingleEdits:
        return SingleEdits(OneEach(self._starts, self._ends, self._news), self._notes, self._others)


def _lines(texts: Sequence[Text]) -> list[Line]:
    """The words of texts, which are found out once for all operators and draws if the texts are short."""
    if not isinstance(texts, Texts):
        return [line_of(text.text) for text in texts]
    return texts.once(_read) if max(map(len, texts.strings), default=0) <= SHORT else _read(texts)


def _read(texts: Texts) -> list[Line]:
    return lines_of(texts.strings)


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


def _of_several(tags: Sequence[str], i: int) -> bool:
    """Does the slot of a token that has a tag have more tokens?"""
    name = tags[i][2:]
    goes_on = i > 0 and tags[i][0] in "IE" and tags[i - 1][2:] == name
    return bool(name) and (goes_on or (i + 1 < len(tags) and tags[i + 1][0] in "IE" and tags[i + 1][2:] == name))


def replacement(asked: Asked, new: str) -> Change:
    """The change that puts the new word in place, with the article before it made to agree."""
    text, words, i = asked[:3]
    word, before = words[i], words[i - 1] if i else None
    article = (before.start, before.end) if before is not None and before.lower in _ARTICLES else None
    return _put(text, word.start, word.end, new, kind_of(word) or KIND_OF.get(word.tag, "s"), article)


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
