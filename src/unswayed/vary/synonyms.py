"""Another word for the same thing: which word is replaced, and by what.

Candidates come from a table, ranked by how well each fits the sentence, or from a masked language model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Streams
from unswayed.vary.english import KIND_OF, STOPWORDS, kind_of, tagged, tagger
from unswayed.vary.fitting import MAX_FITTING, Asked
from unswayed.vary.operator import Change, Operator, SingleEdits, Texts
from unswayed.vary.synonym_places import ContextVectors, TrialOrder, WordClasses, WordPlaces, order_at_random
from unswayed.vary.thesaurus import STRICT, SURE, Options, Spot, thesaurus
from unswayed.vary.word_table import Flags, Numbers, WordTable, words_of

if TYPE_CHECKING:
    from unswayed.vary.masked import MaskedModel

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
_TAGS = {kind: frozenset(tag for tag, of in KIND_OF.items() if of == kind) for kind in "varn"}
_TAGS["s"] = frozenset(tag for tag, _ in STOPWORDS)
_SCALE = 2.0**-53
_ARTICLES = frozenset(("a", "an"))
_VOWELS = frozenset("aeiou")
_Stretch = tuple[int, int]


class SynonymOperator(Operator):
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

    @cached_property
    def source(self) -> MaskedModel:
        from unswayed.vary.masked import MaskedModel

        return MaskedModel(self._model or "")

    @cached_property
    def _classes(self) -> WordClasses:
        return WordClasses(
            [*(_TAGS[kind] for kind in self.kinds), _TAGS["n"] if "n" not in self.kinds else frozenset()]
        )

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        """Goes through the words of each text that may be replaced in random order, until one has a candidate that
        fits. 2.8 times faster end to end for blocks than text by text."""
        table, labels = words_of(texts), _Labels(texts)
        places, classes = self._classes.places(table)
        if not self.slots:
            free = labels.unlabelled(table.texts[places], table.begins[places])
            places, classes = places[free], classes[free]
        tried = order_at_random(places, table.texts[places], classes, len(self.kinds), streams)
        if self._model is None:
            found = _Search(table, tried, labels, len(self.kinds), self.strict).answers(min(self.top, MAX_FITTING))
        else:
            found = self._ask_model(table, tried)
        made = [(n, place, self._pick_one(best, tried.numbers[n])) for n, place, best in found]
        return _replace_words(table, *zip(*made, strict=True)) if made else [None] * len(texts)

    def _pick_one(self, found: list[str], number: int) -> str:
        """One of the best, better ones more often."""
        count = min(len(found), self.top)
        totals = _summed_weights(count)
        return found[min(bisect_right(totals, (number >> 11) * _SCALE * totals[-1]), count - 1)]

    def _ask_model(self, table: WordTable, tried: TrialOrder) -> Iterator[tuple[int, int, list[str]]]:
        """Words are asked about in turn, all texts' together, until there is an answer."""
        places: dict[int, list[int]] = {}
        for n, place in zip(tried.texts.tolist(), tried.places.tolist(), strict=True):
            places.setdefault(n, []).append(place)
        left = {n: iter(its) for n, its in places.items()}
        while left:
            turn = [(n, place) for n, its in left.items() if (place := next(its, None)) is not None]
            left = {n: left[n] for n, _ in turn}
            asked = []
            for n, place in turn:
                text = table.strings[n]
                asked.append(Asked(text, tagged(text), place - int(table.first[n]), False, self.strict))
            for (n, place), best in zip(turn, self.source.ranked(asked), strict=True):
                if best:
                    yield n, place, best
                    del left[n]


@cache
def _summed_weights(count: int) -> list[float]:
    """The sums of the weights of candidates, best first."""
    return list(accumulate(1 / rank for rank in range(1, count + 1)))


class _Labels:
    """What the labels of texts say of their words."""

    def __init__(self, texts: Texts) -> None:
        self._texts, self._tags, self.none = texts, texts.tags, texts.task is None

    def unlabelled(self, texts: Numbers, begins: Numbers) -> Flags:
        """Which words, that begin there in these texts, are in no labelled value?"""
        if self.none:
            return np.ones(len(texts), bool)
        each = zip(texts.tolist(), begins.tolist(), strict=True)
        return np.array([not self._texts[n].labelled(at) for n, at in each], bool)

    def titled(self, n: int, i: int, at: int, plain: bool) -> bool:
        """Does a word, which begins here, stand in a labelled value of several words, which may be a name or a title?

        `plain` says whether the text's tokens are its words.
        """
        if self.none:
            return False
        tags = self._tags[n]
        if tags is not None and plain:
            name = tags[i][2:]
            goes_on = i > 0 and tags[i][0] in "IE" and tags[i - 1][2:] == name
            comes = i + 1 < len(tags) and tags[i + 1][0] in "IE" and tags[i + 1][2:] == name
            return tags[i] != "O" and bool(name) and (goes_on or comes)
        text = self._texts[n]
        return text.labelled(at) and any(
            start <= at < end and " " in text.text[start:end] for start, end in text.marked
        )


class _Trial(NamedTuple):
    """A text's number, the place of a word of it, and what may stand there."""

    text: int
    place: int
    options: Options


class _Search:
    """Asks about words in the order in which they are tried, all texts' together, until there is an answer."""

    def __init__(self, table: WordTable, tried: TrialOrder, labels: _Labels, last: int, strict: bool) -> None:
        """`last` is the class of words that is tried where no other word will do."""
        self._table, self._labels, self._strict = table, labels, strict
        places = WordPlaces(table, tried.places, tried.texts)
        kept = np.flatnonzero(~(places.unfit(strict) | places.spared(strict)))
        self._places, self._before, self._after, self._codes = places.columns(kept)
        texts, every = tried.texts[kept], np.arange(len(table))
        starts, ends = np.searchsorted(texts, every), np.searchsorted(texts, every, "right")
        middles = ends - np.bincount(texts[tried.classes[kept] == last], minlength=len(table))
        each = zip(starts.tolist(), middles.tolist(), ends.tolist(), strict=True)
        # For each text, which of its words are tried first, and which last.
        self._groups = [(range(start, middle), range(middle, end)) for start, middle, end in each]
        self._words, self._options = [*table.words, ""], thesaurus().options
        self._first, self._stop, self._plain = table.first.tolist(), table.stop.tolist(), table.plain.tolist()
        self._searches: dict[int, Iterator[_Trial]] = {}  # of texts for which the first word was not enough

    def answers(self, most: int) -> Iterator[tuple[int, int, list[str]]]:
        """For each text with an answer its number, the place of the word, and its candidates, best first."""
        asked = self._first_trials()
        while asked:
            left = []
            for (n, place, options), order in zip(asked, _orders(self._table, asked, self._strict), strict=True):
                said = self._words[self._first[n] : self._stop[n]] if self._strict else ()
                if best := options.best(order, most, said):
                    yield n, place, best
                else:
                    left.append(n)
            asked = [found for n in left if (found := self._next_trial(n, 1))]

    def _first_trials(self) -> list[_Trial]:
        """What is asked first in each text: mostly about the first word that is tried."""
        firsts = [(n, (first or last)[0]) for n, (first, last) in enumerate(self._groups) if first or last]
        asked = []
        for n, k in firsts:
            options = self._options(self._spot(k, SURE))
            if options is not None and not self._titled(n, k):
                asked.append(_Trial(n, self._places[k], options))
            elif found := self._next_trial(n, 0):
                asked.append(found)
        return asked

    def _next_trial(self, n: int, before: int) -> _Trial | None:
        """What is asked next in a text, in which so many words were asked about before it is searched."""
        search = self._searches.get(n)
        if search is None:
            search = self._searches[n] = islice(self._trials(n), before, None)
        return next(search, None)

    def _trials(self, n: int) -> Iterator[_Trial]:
        """What to ask about the words of a text, one after another until there is an answer.

        Words outside titles come first, with candidates that surely fit.
        """
        for group in self._groups[n]:
            later = []
            for k in group:
                options = self._options(self._spot(k, SURE))
                if options is None:
                    continue
                if self._titled(n, k):
                    later.append(k)
                else:
                    yield _Trial(n, self._places[k], options)
            for k in later if self._strict else group:
                options = self._options(self._spot(k, SURE if self._strict else 0))
                if options is not None:
                    yield _Trial(n, self._places[k], options)

    def _titled(self, n: int, k: int) -> bool:
        if self._labels.none:
            return False
        place = self._places[k]
        return self._labels.titled(n, place - self._first[n], int(self._table.begins[place]), self._plain[n])

    def _spot(self, k: int, sure: int) -> Spot:
        words, code = self._words, self._codes[k] | sure | (STRICT if self._strict else 0)
        return words[self._places[k]], words[self._before[k]], words[self._after[k]], code


def _orders(table: WordTable, asked: Sequence[_Trial], strict: bool) -> Iterable[list[int] | None]:
    """What `Thesaurus.orders` says of each word for which the other words of its text decide."""
    open_ = [one for one in asked if one.options.alone is None]
    if not open_:
        return [None] * len(asked)
    texts, places, options = zip(*open_, strict=True)
    around = table.once(ContextVectors).around(list(texts), list(places))
    orders = iter(thesaurus().orders(options, around, [strict] * len(open_)))
    return [next(orders) if options.alone is None else None for _, _, options in asked]


def rank_synonyms(asked: Sequence[Asked], most: int = MAX_FITTING) -> list[list[str]]:
    """For each word asked about, candidates in the same inflected form, best first; all are `strict` or none."""
    if not asked:
        return []
    strings = {text: n for n, text in enumerate(dict.fromkeys(one.text for one in asked))}
    table, strict = WordTable(list(strings)), asked[0].strict
    texts = np.array([strings[one.text] for one in asked])
    places = WordPlaces(table, table.first[texts] + [one.i for one in asked], texts)
    words, codes = [*table.words, ""], STRICT if strict else 0
    found: list[list[str]] = [[] for _ in asked]
    trials, numbers = [], []
    fit = np.flatnonzero(~places.unfit(strict))
    for k, place, before, after, code in zip(fit.tolist(), *places.columns(fit), strict=True):
        spot = words[place], words[before], words[after], code | codes | (SURE if asked[k].sure else 0)
        if options := thesaurus().options(spot):
            trials.append(_Trial(int(texts[k]), place, options))
            numbers.append(k)
    for k, trial, order in zip(numbers, trials, _orders(table, trials, strict), strict=True):
        said = words[table.first[trial.text] : table.stop[trial.text]] if strict else ()
        found[k] = trial.options.best(order, most, said)
    return found


# A word put in another's place: in its case, and with the article before it made to agree


def _replace_words(table: WordTable, texts: Sequence[int], places: Sequence[int], news: Sequence[str]) -> SingleEdits:
    """New words for words of texts as columns: most replace one word, few an article with it."""
    count, at = len(table), np.array(places, np.intp)
    starts, ends, tags = [0] * count, [0] * count, [0] * count
    made: list[str | None] = [None] * count
    others: dict[int, Change] = {}
    begins, stops, kinds = (column[at].tolist() for column in (table.begins, table.ends, table.tags))
    for n, new, start, end, kind in zip(texts, news, begins, stops, kinds, strict=True):
        starts[n], ends[n], made[n], tags[n] = start, end, new, kind
    # These may need more than the word put in place: an article before it, or other letters than small ones.
    articles = table.vocabulary.column(_ARTICLES.__contains__)[table.numbers[at - 1]] > 0
    for k in np.flatnonzero(articles | ~table.plain[list(texts)]).tolist():
        n, place = texts[k], places[k]
        article = None
        if place > table.first[n] and table.words[place - 1] in _ARTICLES:
            article = int(table.begins[place - 1]), int(table.ends[place - 1])
        change = _replace_word(table.strings[n], (begins[k], stops[k]), news[k], _kinds_by_tag()[kinds[k]], article)
        made[n] = change.edits[0].new if len(change.edits) == 1 else None
        if len(change.edits) > 1:
            others[n] = change

    def notes() -> list[str]:
        each = zip(table.strings, starts, ends, made, tags, strict=True)
        return ["" if new is None else _note(text[a:b], new, _kinds_by_tag()[tag]) for text, a, b, new, tag in each]

    return SingleEdits(OneEach(starts, ends, made), notes, others)


@lru_cache(1)
def _kinds_by_tag() -> list[str]:
    """By the number of a tag."""
    return [KIND_OF.get(tag, "s") for tag in tagger().names]


def replacement(asked: Asked, new: str) -> Change:
    """The change that puts a new word in place of one that was asked about."""
    text, words, i = asked[:3]
    word, before = words[i], words[i - 1] if i else None
    article = (before.start, before.end) if before is not None and before.lower in _ARTICLES else None
    return _replace_word(text, (word.start, word.end), new, kind_of(word) or KIND_OF.get(word.tag, "s"), article)


def _replace_word(text: str, stretch: _Stretch, new: str, kind: str, article: _Stretch | None) -> Change:
    start, end = stretch
    old = text[start:end]
    if not old.islower():
        new = _in_case_of(old, new)
    edit = Edit(start, end, new)
    note = _note(old, new, kind)
    if article is not None and text[article[1] : start] == " ":
        said = text[slice(*article)]
        before, after = (word[0].lower() in _VOWELS for word in (old, new))
        if before != after and before == (said.lower() == "an"):
            return Change((Edit(*article, _in_case_of(said, "an" if after else "a")), edit), note)
    return Change((edit,), note)


def _note(old: str, new: str, kind: str) -> str:
    return f"{old}→{new} ({KINDS[kind]})"


def _in_case_of(old: str, new: str) -> str:
    """The new word in the old one's case, as `cased` has it, but for *3RD*: it begins with no capital."""
    if old.islower() or not old[0].isupper():
        return new
    return new.upper() if len(old) > 1 and old.isupper() else new[0].upper() + new[1:]
