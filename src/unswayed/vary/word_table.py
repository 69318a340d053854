"""The words of a block of texts as columns: their tags, as `line_of` finds them, and what stands beside them.

Words and sentences are found in an array of all texts' characters, and tags by numbers of words' classes, so that a
step costs little more for many texts than for one. That is done for ASCII; `line_of` reads texts with other characters.
With it, `spoken/synonym_any` varies 100,000 texts 2.8 times faster end to end than one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unswayed.vary.english import KIND_OF, SHORT, START, Tagger, line_of, replaceable_as, tagger, tags_of
from unswayed.vary.fitting import BEFORE_NO_NOUN, BEFORE_NOUNS, NAMING, NOUNS, PARTICLES
from unswayed.vary.operator import Texts
from unswayed.vary.thesaurus import coded, thesaurus

Numbers = NDArray[np.intp]
Flags = NDArray[np.bool_]
_Codes = NDArray[np.uint8]
_MAX_DISTANCE = 2  # words before a word that may decide about it
_MIN_ROUND = 12  # words that are decided about together; fewer are quicker one by one
_MAX_KNOWN_WORDS = 100_000


class ArrayTagger:
    """The tagger as arrays, which decides about words by the numbers of their classes.

    A tag's number is also that of the class of words that have no other tag, so that what is no tag is undecided. A
    word that has decisions of its own is a class by itself.
    """

    def __init__(self, known: Tagger) -> None:
        kinds = [kind for kind in known.views if "|" in kind]
        own = list(known.own)
        self.names, self.tag = known.names, known.number
        views = {view: n for n, view in enumerate(sorted(set(known.views.values())))}
        self._tagger = known
        self._numbers = {kind: n for n, kind in enumerate([*self.names, *kinds])}
        self._of_own = {word: n for n, word in enumerate(own, len(self._numbers))}
        self.classes = [*self.names, *kinds, *map(known.class_of, own)]
        self._views: Numbers = np.array([views[known.views.get(kind, START)] for kind in self.classes])
        # What is decided, by class, last tag, and view of the next word. A number that is no tag is that of a row in
        # `_by_before`, where the tag before the last decides.
        rows: list[list[int]] = []
        decided = np.zeros((len(kinds), len(self.names), len(views)), np.int16)
        for n, kind in enumerate(kinds):
            for last, by_view in sorted(known.decisions[kind].items()):  # what is said of the rest comes first
                cells = decided[n, self.tag[last]] if last else decided[n]
                for view, tag in sorted(by_view.items()):
                    if isinstance(tag, str):
                        number = self.tag[tag]
                    else:
                        rows.append([self.tag[tag.get(before) or tag[""]] for before in self.names])
                        number = len(self.names) + len(rows) - 1
                    cells[..., views[view] if view else slice(None)] = number
        of_own = decided[[self._numbers[known.class_of(word)] - len(self.names) for word in own]]
        decided = np.concatenate((decided, of_own))
        for n, word in enumerate(own, len(kinds)):
            for (last, view), tag_of_own in known.own[word].items():
                decided[n, self.tag[last], views[view]] = self.tag[tag_of_own]
        self._table, self._width = decided.ravel(), len(views)
        self._by_before: Numbers = np.array(rows)

    def class_of(self, word: str) -> int:
        """The number of a lower-case word's class."""
        found = self._of_own.get(word)
        return self._numbers[self._tagger.class_of(word)] if found is None else found

    def tags(self, classes: Numbers, sentences: Numbers) -> Numbers:
        """The tags of words, by their classes and the numbers of their sentences, which ascend."""
        places = np.arange(_MAX_DISTANCE, len(classes) + _MAX_DISTANCE) + _MAX_DISTANCE * sentences
        found = np.full(int(places[-1]) + _MAX_DISTANCE if len(places) else _MAX_DISTANCE, self.tag[START])
        found[places] = classes
        # Tags are put in place of classes. A word can be decided about when those before it are. So the first undecided
        # words of all chains, which are far enough away from each other, are first, then the second ones, and so on.
        count, table, width = len(self.names), self._table, self._width
        undecided = np.flatnonzero(found >= count)
        numbers = np.arange(len(undecided))
        begins = np.diff(undecided, prepend=-_MAX_DISTANCE - 1) > _MAX_DISTANCE
        nth = numbers - np.maximum.accumulate(np.where(begins, numbers, 0))
        chosen = undecided[np.argsort(nth, kind="stable")]
        cells = (found[chosen] - count) * (count * width) + self._views[found[chosen + 1]]
        start = 0
        for size in np.bincount(nth).tolist():
            if size < _MIN_ROUND:
                break
            now = chosen[start : start + size]
            said = table[cells[start : start + size] + found[now - 1] * width]
            by_before = np.flatnonzero(said >= count)
            if len(by_before):
                said[by_before] = self._by_before[said[by_before] - count, found[now[by_before] - 2]]
            found[now] = said
            start += size
        for place, cell in zip(chosen[start:].tolist(), cells[start:].tolist(), strict=True):
            tag = table[cell + found[place - 1] * width]
            found[place] = tag if tag < count else self._by_before[tag - count, found[place - 2]]
        tags: Numbers = found[places]
        return tags


@lru_cache(1)
def array_tagger() -> ArrayTagger:
    return ArrayTagger(tagger())


class Vocabulary(dict[str, int]):
    """Numbers of words, and what follows from a word alone as columns. A word gets its number when it is looked up."""

    def __init__(self) -> None:
        self._columns: dict[Callable[[str], int], Numbers] = {}
        self._filled: dict[Callable[[str], int], int] = {}

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number

    def column(self, of: Callable[[str], int]) -> Numbers:
        """What the function says of each word, by the word's number. It is asked once about each."""
        column, filled = self._columns.get(of), self._filled.get(of, 0)
        if column is None or len(column) < len(self):
            larger = np.zeros(2 * len(self), np.intp)  # with room for words to come, so that few are copied often
            if column is not None:
                larger[:filled] = column[:filled]
            column = self._columns[of] = larger
        if filled < len(self):
            new = list(islice(reversed(self), len(self) - filled))
            column[filled : len(self)] = list(map(of, reversed(new)))
            self._filled[of] = len(self)
        return column


_local = threading.local()  # each thread numbers words in its own vocabulary, since two may not do so at once


class _Stretches(NamedTuple):
    """Stretches of characters, and the numbers of the texts and of the sentences that they are in."""

    starts: Numbers
    ends: Numbers
    texts: Numbers
    sentences: Numbers


class WordTable:
    """Columns with an entry for each word, text after text.

    `words` are in small letters, `numbers` are theirs in the vocabulary, `classes` and `tags` are the tagger's numbers,
    `texts` the numbers of words' texts. Words begin and end in these at `begins` and `ends`. Those of a text stand from
    its `first` up to its `stop`; `plain` says whether it is nothing but words in small letters and single spaces.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        self.strings = strings
        odd = {n: line_of(text) for n, text in enumerate(strings) if not text.isascii()}
        ascii = ["" if n in odd else text for n, text in enumerate(strings)] if odd else strings
        joined = _SEPARATOR.join(("", *ascii, ""))
        codes: _Codes = np.frombuffer(joined.encode(), np.uint8)
        sizes = np.array(list(map(len, ascii)), np.intp)
        starts = np.cumsum(sizes + len(_SEPARATOR)) - sizes
        self.plain = _plain_texts(codes, starts, sizes)
        found, whole = _find_words(codes, _find_tokens(codes, starts))
        lowers = joined.lower()
        if not whole:
            # What is outside words becomes spaces: +1 where a word begins and -1 where one ends sum up to 1 inside
            # words.
            steps = np.zeros(len(codes), np.int8)
            steps[found.starts], steps[found.ends] = 1, -1
            lowers = np.where(np.cumsum(steps, dtype=np.int8), _SMALL[codes], np.uint8(ord(" "))).tobytes().decode()
        self.words: Sequence[str] = lowers.split()
        self.texts, self._sentences = found.texts, found.sentences
        self.begins, self.ends = found.starts - starts[found.texts], found.ends - starts[found.texts]
        self._look_up()
        self._small_tags = array_tagger().tags(self.classes, self._sentences)
        self.tags = _with_names(self._small_tags, codes, found)
        self._has_odd = bool(odd)
        if odd:  # the words of texts that are not ASCII are put between the others'
            number, words = array_tagger().tag, [(n, *word) for n, line in odd.items() for word in line.words()]
            more = np.array([(n, start, end, number[tag]) for n, start, end, _, tag in words], np.intp)
            columns = zip((self.texts, self.begins, self.ends, self.tags), more.reshape(-1, 4).T, strict=True)
            both = [np.append(*two) for two in columns]
            order = np.argsort(both[0], kind="stable")
            self.texts, self.begins, self.ends, self.tags = (column[order] for column in both)
            said = [*self.words, *(word for _, _, _, word, _ in words)]
            self.words = [said[i] for i in order.tolist()]
            self._look_up()
        every = np.arange(len(strings))
        self.first, self.stop = np.searchsorted(self.texts, every), np.searchsorted(self.texts, every, "right")

    def __len__(self) -> int:
        return len(self.strings)

    def _look_up(self) -> None:
        # Numbers of words are looked up in a dict of Python once for each word; all that follows from a word alone is
        # then a column of the vocabulary, so that a word which comes again costs an index.
        vocabulary: Vocabulary | None = getattr(_local, "vocabulary", None)
        if vocabulary is None or len(vocabulary) > _MAX_KNOWN_WORDS:  # a full one is given up, not what was read
            vocabulary = _local.vocabulary = Vocabulary()
        self.vocabulary = vocabulary
        self.numbers: Numbers = np.fromiter(map(self.vocabulary.__getitem__, self.words), np.intp, len(self.words))
        self.classes = self.vocabulary.column(array_tagger().class_of)[self.numbers]

    @cached_property
    def context(self) -> Numbers:
        """The tags of each text's words as one sentence in small letters, which is how other words are tried."""
        texts, sentences = self.texts, self._sentences
        if self._has_odd or np.any((sentences[1:] != sentences[:-1]) & (texts[1:] == texts[:-1])):
            return array_tagger().tags(self.classes, texts)
        return self._small_tags

    @cached_property
    def _vector_rows(self) -> Numbers:
        """The row of each word's vector in the thesaurus; 0 for words without one."""
        rows = np.zeros(len(self.words), np.intp)
        for tags, row_of in _rows_by_tags():
            at = np.flatnonzero(tags[self.tags])
            rows[at] = self.vocabulary.column(row_of)[self.numbers[at]]
        return rows

    def directions_around(self, texts: list[int], places: list[int]) -> Any:
        """For the word at each place of a text, the mean direction in which the text's other words point."""
        # A word beside others of its text that have a vector: all sums of a block are one `reduceat` over its words.
        asked = np.zeros(len(self), bool)
        asked[texts] = True
        at = np.flatnonzero(asked[self.texts] & (self._vector_rows > 0))
        counts = np.bincount(self.texts[at], minlength=len(asked))
        some = np.flatnonzero(counts)
        sums = np.zeros((len(counts), thesaurus().vectors.shape[1]), np.float32)
        if len(some):
            vectors = thesaurus().vectors[self._vector_rows[at]]
            sums[some] = np.add.reduceat(vectors, np.cumsum(counts[some]) - counts[some])
        return thesaurus().directions(sums[texts], counts[texts], self._vector_rows[places])


_SEPARATOR = "\n\n"  # of texts; two, so that none sees the next one's first letter behind its last mark
_ASCII = [chr(n) for n in range(128)]
_SPACE = np.array([c.isspace() for c in _ASCII])
_UPPER = np.array([c.isupper() for c in _ASCII])
_LOWER = np.array([c.islower() for c in _ASCII])
_OF_WORDS = np.array([c.isalnum() or c == "&" for c in _ASCII])  # what words begin and end with
_PLAIN = np.array([c.islower() or c.isdigit() for c in _ASCII])  # what they do in texts as recognisers write
_JOINING = np.array([c in " '-" for c in _ASCII])  # what may stand between two such
_ENDING = np.array([c in ".?!" for c in _ASCII])
_SMALL = np.array([ord(c.lower()) for c in _ASCII], np.uint8)


def _plain_texts(codes: _Codes, starts: Numbers, sizes: Numbers) -> Flags:
    """Which texts are nothing but words in small letters and single spaces?"""
    plain = _PLAIN[codes]
    joining = _JOINING[codes]
    ends = starts + sizes
    joining[ends] = joining[ends + 1] = joining[:2] = True  # what separates texts is no fault of theirs
    faults = ~(plain | joining)
    faults[1:] |= ~(plain[1:] | plain[:-1])
    faults[ends + 1] = faults[1] = False
    found = np.ones(len(starts), bool)
    at = np.searchsorted(ends, np.flatnonzero(faults))
    found[at[at < len(found)]] = False
    return found


def _find_tokens(codes: _Codes, starts: Numbers) -> _Stretches:
    """What white space separates, and the sentences: a dot ends one only before a capital."""
    space = _SPACE[codes]
    # Edges of white space come in turns: where a token begins, and where it ends.
    edges = np.flatnonzero(space[1:] != space[:-1]) + 1
    begins, ends = edges[::2], edges[1::2]
    firsts = np.searchsorted(begins, starts)
    texts = np.repeat(np.arange(len(starts)), np.diff(firsts, append=len(begins)))
    new = np.zeros(len(begins) + 1, bool)
    new[firsts] = True
    last = codes[ends - 1]
    stops = np.flatnonzero(_ENDING[last])
    new[stops[(last[stops] != ord(".")) | _UPPER[codes[ends[stops] + 1]]] + 1] = True
    return _Stretches(begins, ends, texts, np.cumsum(new[:-1]))


def _find_words(codes: _Codes, tokens: _Stretches) -> tuple[_Stretches, bool]:
    """The words in tokens, without the marks around them; and whether there were none."""
    outer = np.flatnonzero(~(_OF_WORDS[codes[tokens.starts]] & _OF_WORDS[codes[tokens.ends - 1]]))
    if not len(outer):
        return tokens, True
    inside = np.concatenate(([-1], np.flatnonzero(_OF_WORDS[codes]), [len(codes)]))
    starts, ends = tokens.starts.copy(), tokens.ends.copy()
    starts[outer] = inside[np.searchsorted(inside, starts[outer])]
    ends[outer] = inside[np.searchsorted(inside, ends[outer]) - 1] + 1
    kept = ends > starts
    return _Stretches(starts[kept], ends[kept], tokens.texts[kept], tokens.sentences[kept]), False


def _with_names(tags: Numbers, codes: _Codes, words: _Stretches) -> Numbers:
    """The tags, where a capital inside a sentence tells a name, unless all of the sentence's words have some."""
    starts, ends, _, sentences = words
    capital = np.flatnonzero(_UPPER[codes[starts]])
    at = starts[capital]
    i_am = (codes[at] == ord("I")) & ((ends[capital] == at + 1) | (codes[at + 1] == ord("'")))
    capital = capital[~i_am & (capital > 0)]
    capital = capital[sentences[capital] == sentences[capital - 1]]
    if not len(capital):
        return tags
    # Sums of capitals and of small letters up to each character: their differences say in constant time whether a word
    # has a capital and whether it has a small letter.
    upper, lower = (np.append(0, np.cumsum(those[codes])) for those in (_UPPER, _LOWER))
    small = (upper[ends] == upper[starts]) & (lower[ends] > lower[starts])
    has_small = np.zeros(sentences[-1] + 1, bool)
    has_small[sentences[small]] = True
    tags = tags.copy()
    tags[capital[has_small[sentences[capital]]]] = array_tagger().tag["NNP"]
    return tags


def words_of(texts: Texts) -> WordTable:
    """The words of a block, which are found once for all operators and draws if the texts are short."""
    return texts.once(_read_words) if max(map(len, texts.strings), default=0) <= SHORT else _read_words(texts)


def _read_words(texts: Texts) -> WordTable:
    return WordTable(texts.strings)


# What stands beside words


@lru_cache(1)
def _rows_by_tags() -> list[tuple[Flags, Callable[[str], int]]]:
    """Tags under which a word has the same vector, and what finds its row."""
    alike = ("VB", "NN", "JJ", "RB"), ("VBD", "VBN", "VBG", "VBZ"), ("NNS",), ("JJR", "JJS")
    return [(_among(*tags), partial(thesaurus().row_of, tag=tags[0])) for tags in alike]


@cache
def _among(*tags: str) -> Flags:
    """Is it one of these tags? By a tag's number."""
    return np.isin(array_tagger().names, tags)


@cache
def _may_be(tag: str) -> Flags:
    """May words of a class have the tag? By a class's number."""
    return np.array([tag in tags_of(kind) for kind in array_tagger().classes])


_RIGHT, _BETWEEN = frozenset(("right",)), frozenset(("between",))
_PARTED = frozenset(("up", "down", "out", "back", "away", "over"))
_MAX_PARTED = 5  # words by which a particle comes after its verb


def _tag_bits(word: str) -> int:
    """The tags with which a word may be replaced, as bits."""
    return sum(1 << array_tagger().tag[tag] for tag in replaceable_as(word))


def places_of(table: WordTable, classes: Sequence[frozenset[str]]) -> tuple[Numbers, Numbers]:
    """The places of words that may be replaced and are of one of these classes, given by their tags; and of which."""
    known, bits = array_tagger(), 0
    class_of_tag = np.zeros(len(known.names), np.intp)
    for n, tags in enumerate(classes):
        for tag in tags:
            bits |= 1 << known.tag[tag]
            class_of_tag[known.tag[tag]] = n
    places = np.flatnonzero((table.vocabulary.column(_tag_bits)[table.numbers] & bits) >> table.tags & 1)
    return places, class_of_tag[table.tags[places]]


class WordPlaces:
    """Places of words in their texts, with what stands beside them."""

    def __init__(self, table: WordTable, places: Numbers, texts: Numbers) -> None:
        self._table, self._places = table, places
        self._first, self._stop = table.first[texts], table.stop[texts]
        self._begins, self._ends = places == self._first, places + 1 == self._stop
        start = array_tagger().tag[START]
        self._tags = table.tags[places]
        self._before = np.where(self._begins, start, table.tags[places - 1])
        self._after = np.where(self._ends, start, np.append(table.tags, start)[places + 1])

    def columns(self, those: Numbers) -> tuple[list[int], list[int], list[int], list[int]]:
        """Of those among the places: the places, those of the words before and after, and what is `coded` of each, for
        candidates that need not be sure nor strictly fit. A word that is not there is the one behind all words."""
        nothing, places = len(self._table.words), self._places[those]
        before = np.where(self._begins[those], nothing, places - 1)
        after = np.where(self._ends[those], nothing, places + 1)
        start, context = array_tagger().tag[START], self._table.context
        last = np.where(self._places - 2 >= self._first, context[np.maximum(self._places - 2, 0)], start)
        earlier = np.where(self._places - 3 >= self._first, context[np.maximum(self._places - 3, 0)], start)
        closed = self._closed
        flag = self._of("v") & _among("RP")[self._after]
        if closed.any():
            last = np.where(closed, self._after, last)
            earlier = np.where(closed, 0, earlier)
            between = self._between(self._words(_BETWEEN), self._first, self._places)
            # Is the noun behind a determiner in the plural: *these movie schedules*, but *this flight*?
            tags = self._table.tags
            nouns = _among(*NOUNS)[tags]
            no_more = _among(*(name for name in array_tagger().names if name[:2] in BEFORE_NO_NOUN))[tags]
            ends = np.append(np.flatnonzero(nouns | no_more), len(tags))
            noun = ends[np.searchsorted(ends, self._places + 1)]
            others = np.append(np.flatnonzero(~nouns), len(tags))
            head = np.minimum(others[np.searchsorted(others, noun)], self._stop) - 1
            plural = (head >= noun) & (tags[head] == array_tagger().tag["NNS"])
            flag |= closed & np.where(_among("DT")[self._tags], plural, between)
        codes = coded(self._tags, last, earlier, flag.astype(np.intp))
        return places.tolist(), before.tolist(), after.tolist(), codes[those].tolist()

    def unfit(self, strict: bool) -> Flags:
        """Which words have nothing that may stand for them, whatever the thesaurus says? Those of expressions such as
        *from now* and *right now*, closed-class words at the end, and for strict operators verbs parted from their
        particle."""
        found = self._of("r") & (_among("IN")[self._before] | self._word_beside(_RIGHT, -1))
        found |= self._closed & self._ends
        if strict:
            stop = np.minimum(self._places + 1 + _MAX_PARTED, self._stop)
            particles = self._between(self._words(_PARTED), self._places + 1, stop)
            particles |= self._between(_among("RP")[self._table.tags], self._places + 2, stop)
            found |= self._of("v") & particles
        return found

    def spared(self, strict: bool) -> Flags:
        """Which words are parts of names and compounds, as `in_name` says; and for strict operators those whose tag may
        be wrong, or which follow a word that says what something is called?"""
        nouns, name = _among(*NOUNS), _among("NNP")
        verbs = (
            _among(*BEFORE_NOUNS)[self._before]
            | (self._ends & nouns[self._before])
            | (self._word_beside(PARTICLES, 1) & ~_among("RP")[self._after])
        )
        found = self._of("n") & (nouns[self._before] | nouns[self._after])
        found |= self._of("a") & (name[self._before] | name[self._after])
        found |= self._of("v") & verbs
        if strict:
            noun, verb = (_may_be(tag)[self._table.classes[self._places]] for tag in ("NN", "VB"))
            found |= _among("JJ")[self._tags] & (noun | verb)
            found |= _among("VB")[self._tags] & self._begins & _among("IN", "TO")[self._after] & noun
            found |= self._between(self._words(NAMING), self._first, self._places)
        return found

    @cached_property
    def _closed(self) -> Flags:
        return ~_among(*KIND_OF)[self._tags]

    def _of(self, kind: str) -> Flags:
        return _among(*(tag for tag, its in KIND_OF.items() if its == kind))[self._tags]

    def _words(self, words: frozenset[str]) -> Flags:
        return self._table.vocabulary.column(words.__contains__)[self._table.numbers] > 0

    def _word_beside(self, words: frozenset[str], step: int) -> Flags:
        """Is the word before or after one of these? Not for those at a border."""
        beside = self._words(words)[np.minimum(self._places + step, len(self._table.numbers) - 1)]
        found: Flags = beside & ~(self._begins if step < 0 else self._ends)
        return found

    def _between(self, found: Flags, start: Numbers, stop: Numbers) -> Flags:
        """Is there something that was found between these places?"""
        # Two searches instead of a loop: the number of finds before the start is less than that before the stop.
        places = np.flatnonzero(found)
        return np.searchsorted(places, start) < np.searchsorted(places, np.maximum(start, stop))
