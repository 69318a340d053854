"""Another word for the same thing: which word is replaced, and by what.

Candidates come from a table, ranked by how well each fits the sentence, or from a masked language model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unswayed.base.edits import Edit, OneEach
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Streams, below
from unswayed.systems.device import beside
from unswayed.systems.model_folder import load_pretrained
from unswayed.vary.english import KIND_OF, STOPWORDS, kind_of, tagged, tagger
from unswayed.vary.fitting import MAX_FITTING, Asked, fitting
from unswayed.vary.operator import Change, Operator, SingleEdits, Texts
from unswayed.vary.thesaurus import STRICT, SURE, Spot, thesaurus
from unswayed.vary.word_table import Numbers, WordPlaces, WordTable, places_of, words_of

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
_TAGS = {kind: frozenset(tag for tag, of in KIND_OF.items() if of == kind) for kind in "varn"}
_TAGS["s"] = frozenset(tag for tag, _ in STOPWORDS)
_NOUNS = ("unfit", "absent", "never")
_SCALE = 2.0**-53
_MIN_GROUPS = 8  # groups that are shuffled together; fewer are quicker one by one
_ARTICLES = frozenset(("a", "an"))
_VOWELS = frozenset("aeiou")
_Stretch = tuple[int, int]


class SynonymOperator(Operator):
    """Replaces one word of a class by another that means about the same there; a noun where there is none.

    `model` is the path of a masked language model, whose likeliest words are taken; without it the table of synonyms
    that ships with the package. `slots` says whether words inside labelled values may be replaced, too. One of the
    `top` best candidates is taken, better ones more often; 1 takes the best. `nouns` says when a noun is replaced
    instead: `unfit`, where no word of the class has a synonym that fits; `absent`, only in a text that has no word of
    the class; `never`.
    """

    languages = ("en",)
    distinct = True
    rewords = True
    kinds: ClassVar[str]  # letters of KINDS
    strict: ClassVar[bool] = False  # rather leaves a text as it is than risk a word that does not fit

    def __init__(self, model: str | None = None, slots: bool = True, top: int = 3, nouns: str = "unfit") -> None:
        if top < 1:
            raise ValueError(f"top must be 1 or more, not {top}")
        if nouns not in _NOUNS:
            raise ValueError(f"nouns must be {', '.join(_NOUNS)}, not {nouns!r}")
        self.slots, self.top, self.nouns = slots, top, nouns
        self._model, self.quick, self.distinct = model, model is None, model is None

    @cached_property
    def source(self) -> MaskedModel:
        return MaskedModel(self._model or "")

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        """Goes through the words of each text that may be replaced in random order, until one has a candidate that
        fits. 2.8 times faster end to end for blocks than text by text."""
        table, last = words_of(texts), _TAGS["n"] if "n" not in self.kinds else frozenset()
        places, classes = places_of(table, [*(_TAGS[kind] for kind in self.kinds), last])
        if self.nouns != "unfit" and last:
            own = np.unique(table.texts[places[classes < len(self.kinds)]])
            kept = classes < len(self.kinds)
            if self.nouns == "absent":
                kept |= ~np.isin(table.texts[places], own)
            places, classes = places[kept], classes[kept]
        if not self.slots and texts.task is not None:
            each = zip(table.texts[places].tolist(), table.begins[places].tolist(), strict=True)
            free = np.array([not texts[n].labelled(at) for n, at in each], bool)
            places, classes = places[free], classes[free]
        tried = order_at_random(places, table.texts[places], classes, len(self.kinds), streams)
        if self._model is None:
            search = _Search(table, tried, texts, len(self.kinds), self.strict)
            answer = partial(_answers, table, strict=self.strict, most=min(self.top, MAX_FITTING))
            found = _ask_in_turn(len(texts), search.trials, answer)
        else:
            found = _ask_in_turn(len(texts), partial(self._trials, table, tried), self._ask_model)
        made = []
        totals = list(accumulate(1 / rank for rank in range(1, min(self.top, _MAX_TRIED) + 1)))  # best ones weigh most
        for n, place, best in found:
            count = min(len(best), self.top)
            at = bisect_right(totals, (tried.numbers[n] >> 11) * _SCALE * totals[count - 1], 0, count)
            made.append((n, place, best[min(at, count - 1)]))
        return _replace_words(table, *zip(*made, strict=True)) if made else [None] * len(texts)

    def _trials(self, table: WordTable, tried: TrialOrder, n: int) -> Iterator[_Trial]:
        """What to ask the model about the words of a text, one after another."""
        text, words = table.strings[n], tagged(table.strings[n])
        for place in tried.places[tried.texts == n].tolist():
            yield _Trial(n, place, Asked(text, words, place - int(table.first[n]), False, self.strict))

    def _ask_model(self, trials: Sequence[_Trial]) -> list[list[str]]:
        return self.source.ranked([trial.about for trial in trials])


class _Trial(NamedTuple):
    """A text's number, the place of a word of it, and its `Candidates`; or for a model what is asked."""

    text: int
    place: int
    about: Any


def _ask_in_turn(
    count: int, trials: Callable[[int], Iterator[_Trial]], answer: Callable[[list[_Trial]], Iterable[list[str]]]
) -> Iterator[tuple[int, int, list[str]]]:
    """For each of so many texts with an answer its number, the place of the word, and its candidates, best first.

    The next trial of each text is answered with those of all others, until there is a candidate.
    """
    searches = {n: trials(n) for n in range(count)}
    while searches:
        asked = [trial for search in searches.values() if (trial := next(search, None))]
        left = {}
        for trial, best in zip(asked, answer(asked), strict=True):
            if best:
                yield trial.text, trial.place, best
            else:
                left[trial.text] = searches[trial.text]
        searches = left


class TrialOrder(NamedTuple):
    """Places in the order in which they are tried, and their texts and classes; and a number of each text's stream that
    decided nothing yet."""

    places: Numbers
    texts: Numbers
    classes: Numbers
    numbers: list[int]


def order_at_random(places: Numbers, texts: Numbers, classes: Numbers, mixed: int, streams: Streams) -> TrialOrder:
    """Orders the places of each text, where texts ascend: one of the first `mixed` classes at random, then the others
    of these, each shuffled as `Stream.sample` does; the class behind these comes last."""
    count = mixed + 1
    sizes = np.bincount(texts * count + classes, minlength=len(streams) * count).reshape(-1, count)
    last = sizes.sum(1) + count
    numbers, starts = streams.first((last + 1).tolist())
    drawn, rows = np.tile(np.arange(count), (len(starts), 1)), np.arange(len(starts))  # classes as they are tried
    for n in range(mixed - 1):
        other = n + below(numbers[starts + n], np.full(len(starts), mixed - n, np.uint64)).astype(np.intp)
        drawn[rows, other], drawn[:, n] = drawn[:, n], drawn[rows, other]
    turns = np.argsort(drawn, 1)
    sizes = np.take_along_axis(sizes, drawn, 1)
    used = mixed + np.cumsum(sizes, 1) - sizes  # numbers, before it is a class's turn
    used[:, mixed] += 1
    order = np.argsort(texts * count + turns[texts, classes], kind="stable")
    # Shuffles groups of these sizes, one after the other, each with the numbers from its place on.
    used, lengths = (starts[:, None] + used).ravel(), sizes.ravel()
    begins = np.cumsum(lengths) - lengths
    groups, n = np.flatnonzero(lengths > 1), 0
    while len(groups) > _MIN_GROUPS:
        one = begins[groups] + n
        other = one + below(numbers[used[groups] + n], (lengths[groups] - n).astype(np.uint64)).astype(np.intp)
        order[one], order[other] = order[other], order[one]
        n += 1
        groups = groups[lengths[groups] > n + 1]
    for group in groups.tolist():
        start, end = int(begins[group]), int(begins[group] + lengths[group])
        its = order[start:end].tolist()
        for i, number in enumerate(numbers[used[group] + n : used[group] + len(its) - 1].tolist(), n):
            j = i + (number * (len(its) - i) >> 64)
            its[i], its[j] = its[j], its[i]
        order[start:end] = its
    return TrialOrder(places[order], texts[order], classes[order], numbers[starts + last].tolist())


class _Search:
    """Asks the thesaurus about words in the order in which they are tried."""

    def __init__(self, table: WordTable, tried: TrialOrder, texts: Texts, last: int, strict: bool) -> None:
        """`last` is the class of words that is tried where no other word will do."""
        self._table, self._texts, self._strict = table, texts, strict
        places = WordPlaces(table, tried.places, tried.texts)
        kept = np.flatnonzero(~(places.unfit(strict) | places.spared(strict)))
        self._places, self._before, self._after, self._codes = places.columns(kept)
        numbers, every = tried.texts[kept], np.arange(len(table))
        starts, ends = np.searchsorted(numbers, every), np.searchsorted(numbers, every, "right")
        middles = ends - np.bincount(numbers[tried.classes[kept] == last], minlength=len(table))
        each = zip(starts.tolist(), middles.tolist(), ends.tolist(), strict=True)
        # For each text, which of its words are tried first, and which last.
        self._groups = [(range(start, middle), range(middle, end)) for start, middle, end in each]
        self._words, self._candidates = [*table.words, ""], thesaurus().candidates
        self._first, self._plain = table.first.tolist(), table.plain.tolist()

    def trials(self, n: int) -> Iterator[_Trial]:
        """What to ask about the words of a text: first words outside titles, with candidates that surely fit."""
        for group in self._groups[n]:
            later = []
            for k in group:
                candidates = self._candidates(self._spot(k, SURE))
                if candidates is None:
                    continue
                if self._titled(n, k):
                    later.append(k)
                else:
                    yield _Trial(n, self._places[k], candidates)
            for k in later if self._strict else group:
                candidates = self._candidates(self._spot(k, SURE if self._strict else 0))
                if candidates is not None:
                    yield _Trial(n, self._places[k], candidates)

    def _titled(self, n: int, k: int) -> bool:
        """Does a word stand in a labelled value of several words, which may be a name or a title?"""
        if self._texts.task is None:
            return False
        tags, place = self._texts.tags[n], self._places[k]
        if tags is not None and self._plain[n]:  # the text's tokens are its words
            i = place - self._first[n]
            name = tags[i][2:]
            goes_on = i > 0 and tags[i][0] in "IE" and tags[i - 1][2:] == name
            comes = i + 1 < len(tags) and tags[i + 1][0] in "IE" and tags[i + 1][2:] == name
            return tags[i] != "O" and bool(name) and (goes_on or comes)
        text, at = self._texts[n], int(self._table.begins[place])
        return text.labelled(at) and any(a <= at < b and " " in text.text[a:b] for a, b in text.marked)

    def _spot(self, k: int, sure: int) -> Spot:
        words, code = self._words, self._codes[k] | sure | (STRICT if self._strict else 0)
        return words[self._places[k]], words[self._before[k]], words[self._after[k]], code


def _answers(table: WordTable, trials: Sequence[_Trial], strict: bool, most: int) -> list[list[str]]:
    """For each trial the best candidates; their order is asked for where the other words of the text decide."""
    open_ = [trial for trial in trials if trial.about.alone is None]
    orders: Iterator[list[int]] = iter(())
    if open_:
        around = table.directions_around([trial.text for trial in open_], [trial.place for trial in open_])
        orders = iter(thesaurus().orders([trial.about.synonyms for trial in open_], around, strict))
    found = []
    for n, _, candidates in trials:
        said = table.words[table.first[n] : table.stop[n]] if strict else ()
        found.append(candidates.best(next(orders) if candidates.alone is None else None, most, said))
    return found


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
        if candidates := thesaurus().candidates(spot):
            trials.append(_Trial(int(texts[k]), place, candidates))
            numbers.append(k)
    for k, best in zip(numbers, _answers(table, trials, strict, most), strict=True):
        found[k] = best
    return found


# A word put in another's place: in its case, and with the article before it made to agree


def _replace_words(table: WordTable, texts: Sequence[int], places: Sequence[int], news: Sequence[str]) -> SingleEdits:
    """New words for words of texts as columns: most replace one word, few an article with it."""
    count, at = len(table), np.array(places, np.intp)
    kind_by_tag = [KIND_OF.get(tag, "s") for tag in tagger().names]
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
        change = _replace_word(table.strings[n], (begins[k], stops[k]), news[k], kind_by_tag[kinds[k]], article)
        made[n] = change.edits[0].new if len(change.edits) == 1 else None
        if len(change.edits) > 1:
            others[n] = change

    def notes() -> list[str]:
        each = zip(table.strings, starts, ends, made, tags, strict=True)
        return ["" if new is None else _note(text[a:b], new, kind_by_tag[tag]) for text, a, b, new, tag in each]

    return SingleEdits(OneEach(starts, ends, made), notes, others)


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


# A masked language model, for operators that have one

_MAX_TRIED = 100  # likeliest words looked at
_BATCH = 32


class MaskedModel:
    """A Hugging Face model with a masked-language-model head, loaded from a directory."""

    def __init__(self, path: str) -> None:
        self.tokenizer, self.model = load_pretrained("AutoModelForMaskedLM", path, "masked language model")
        if self.tokenizer.mask_token is None:
            raise UsageError(f"The model in {path!r} has no mask token, so it can't fill in a word.")
        longest = getattr(self.model.config, "max_position_embeddings", 512) - 2  # RoBERTa's count begins at 2
        self._longest = min(self.tokenizer.model_max_length, longest)

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        """For each word asked about, those that fit in its place, likeliest first."""
        import torch

        found: list[list[str]] = []
        for at in range(0, len(asked), _BATCH):
            batch = asked[at : at + _BATCH]
            places = [one.words[one.i] for one in batch]
            mask = self.tokenizer.mask_token
            hidden = [f"{one.text[: w.start]}{mask}{one.text[w.end :]}" for one, w in zip(batch, places, strict=True)]
            padded = {"return_tensors": "pt", "padding": True, "truncation": True, "max_length": self._longest}
            encoded = beside(self.model, dict(self.tokenizer(hidden, **padded)))
            with torch.inference_mode():
                scores = self.model(**encoded).logits
            masks = encoded["input_ids"] == self.tokenizer.mask_token_id
            for one, row, masked in zip(batch, scores, masks, strict=True):
                at_mask = masked.nonzero()
                best = row[at_mask[0, 0]].topk(min(_MAX_TRIED, row.shape[-1])).indices.tolist() if len(at_mask) else []
                pieces = self.tokenizer.convert_ids_to_tokens(best)  # none where the model does not read so far
                whole = [piece.lstrip("Ġ▁") for piece in pieces if not piece.startswith("##")]
                found.append(_fitting_the_mask(one, [word.lower() for word in whole if word.isalpha()]))
        return found


def _fitting_the_mask(asked: Asked, words: list[str]) -> list[str]:
    """A closed-class word's candidates are of its class; another's have its part of speech in context."""
    word = asked.words[asked.i]
    if (word.tag, word.lower) in STOPWORDS:
        return [other for other in words if other != word.lower and (word.tag, other) in STOPWORDS]
    known = [other for other in words if not any((tag, other) in STOPWORDS for tag in ("DT", "IN", "PRP", "MD"))]
    return fitting(asked, known) if word.tag in KIND_OF else []
