"""The words of many texts and their tags as columns: what `line_of` finds in each, sooner than one by one.

Words and sentences are found in an array of all texts' characters, so that a step costs little more for many texts than
for one. That is done for ASCII; `line_of` reads texts with other characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from unswayed.vary.block import Texts
from unswayed.vary.block_tagger import Numbers, block_tagger, vocabulary
from unswayed.vary.english import SHORT, Line, line_of

T = TypeVar("T")
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]
_BETWEEN = "\n\n"  # texts; two, so that none sees the next one's first letter behind its last mark
_ASCII = [chr(n) for n in range(128)]
_SPACE = np.array([c.isspace() for c in _ASCII])
_UPPER = np.array([c.isupper() for c in _ASCII])
_LOWER = np.array([c.islower() for c in _ASCII])
_OF_WORDS = np.array([c.isalnum() or c == "&" for c in _ASCII])  # what words begin and end with
_PLAIN = np.array([c.islower() or c.isdigit() for c in _ASCII])  # what they do in texts as recognisers write
_JOINING = np.array([c in " '-" for c in _ASCII])  # what may stand between two such
_ENDING = np.array([c in ".?!" for c in _ASCII])
_SMALL = np.array([ord(c.lower()) for c in _ASCII], np.uint8)


class Tokens(NamedTuple):
    """Stretches of characters, and the numbers of the texts and of the sentences that they are in."""

    starts: Numbers
    ends: Numbers
    texts: Numbers
    sentences: Numbers

    def some(self, those: Flags) -> Tokens:
        return Tokens(*(column[those] for column in self))


class Lines(Sequence[Line]):
    """Columns with an entry for each word, text after text; a Line is made when it is asked for.

    `words` are in small letters, `numbers` are theirs in the vocabulary, `classes` and `tags` are the tagger's numbers,
    `texts` the numbers of words' texts. Words begin and end in these at `begins` and `ends`; those of a text stand from
    its `first` up to its `stop`.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        self.strings = strings
        self._made: dict[int, Line] = {}
        joined = _BETWEEN.join(("", *strings, ""))
        if not joined.isascii():
            self._made = {n: line_of(text) for n, text in enumerate(strings) if not text.isascii()}
            strings = ["" if n in self._made else text for n, text in enumerate(strings)]
            joined = _BETWEEN.join(("", *strings, ""))
        codes: Codes = np.frombuffer(joined.encode(), np.uint8)
        sizes = np.array(list(map(len, strings)), np.intp)
        starts = np.cumsum(sizes + len(_BETWEEN)) - sizes
        self.plain = _plain(codes, starts, sizes)
        found, whole = _words(codes, _tokens(codes, starts))
        self.words: Sequence[str] = (joined.lower() if whole else _blanked(codes, found)).split()
        self.texts, self._sentences = found.texts, found.sentences
        self.begins, self.ends = found.starts - starts[found.texts], found.ends - starts[found.texts]
        self._look_up()
        self._as_small = block_tagger().tags(self.classes, self._sentences)
        self.tags = _with_names(self._as_small, codes, found)
        self._as_one = not self._made  # may the tags of sentences be those of whole texts?
        if self._made:
            self._put_in()
        self._found: dict[Any, Any] = {}
        every = np.arange(len(strings))
        self.first, self.stop = np.searchsorted(self.texts, every), np.searchsorted(self.texts, every, "right")

    def _look_up(self) -> None:
        self.vocabulary = vocabulary()
        self.numbers: Numbers = np.fromiter(map(self.vocabulary.__getitem__, self.words), np.intp, len(self.words))
        self.classes = self.vocabulary.column(block_tagger().class_of)[self.numbers]

    def _put_in(self) -> None:
        """Puts the words of texts that are not ASCII between the others'."""
        number, odd = block_tagger().tag, [(n, *word) for n, line in self._made.items() for word in line.words()]
        more = np.array([(n, start, end, number[tag]) for n, start, end, _, tag in odd], np.intp).reshape(-1, 4).T
        both = [np.append(*two) for two in zip((self.texts, self.begins, self.ends, self.tags), more, strict=True)]
        order = np.argsort(both[0], kind="stable")
        self.texts, self.begins, self.ends, self.tags = (column[order] for column in both)
        words = [*self.words, *(word for _, _, _, word, _ in odd)]
        self.words = [words[i] for i in order.tolist()]
        self._look_up()

    @cached_property
    def context(self) -> Numbers:
        """The tags of each text's words as one sentence in small letters."""
        texts, sentences = self.texts, self._sentences
        if not self._as_one or np.any((sentences[1:] != sentences[:-1]) & (texts[1:] == texts[:-1])):
            return block_tagger().tags(self.classes, texts)
        return self._as_small

    def once(self, find: Callable[[Lines], T]) -> T:
        """What a function finds out about the lines. It is called once, so give the same function."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    def __len__(self) -> int:
        return len(self.strings)

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> list[Line]: ...
    def __getitem__(self, at: int | slice) -> Line | list[Line]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        if at not in self._made:
            self._made[at] = self._line(at)
        return self._made[at]

    def _line(self, n: int) -> Line:
        its = slice(self.first[n], self.stop[n])
        tags = [block_tagger().names[tag] for tag in self.tags[its].tolist()]
        places = ((), ()) if self.plain[n] else (self.begins[its].tolist(), self.ends[its].tolist())
        return Line(self.strings[n], self.words[its], tags, *places)


def _plain(codes: Codes, starts: Numbers, sizes: Numbers) -> Flags:
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


def _tokens(codes: Codes, starts: Numbers) -> Tokens:
    """What white space separates, and the sentences: a dot ends one only before a capital."""
    space = _SPACE[codes]
    edges = np.flatnonzero(space[1:] != space[:-1]) + 1
    begins, ends = edges[::2], edges[1::2]
    firsts = np.searchsorted(begins, starts)
    texts = np.repeat(np.arange(len(starts)), np.diff(firsts, append=len(begins)))
    new = np.zeros(len(begins) + 1, bool)
    new[firsts] = True
    last = codes[ends - 1]
    stops = np.flatnonzero(_ENDING[last])
    new[stops[(last[stops] != ord(".")) | _UPPER[codes[ends[stops] + 1]]] + 1] = True
    return Tokens(begins, ends, texts, np.cumsum(new[:-1]))


def _words(codes: Codes, tokens: Tokens) -> tuple[Tokens, bool]:
    """The words in tokens, without the marks around them; and whether there were none."""
    outer = np.flatnonzero(~(_OF_WORDS[codes[tokens.starts]] & _OF_WORDS[codes[tokens.ends - 1]]))
    if not len(outer):
        return tokens, True
    inside = np.concatenate(([-1], np.flatnonzero(_OF_WORDS[codes]), [len(codes)]))
    starts, ends = tokens.starts.copy(), tokens.ends.copy()
    starts[outer] = inside[np.searchsorted(inside, starts[outer])]
    ends[outer] = inside[np.searchsorted(inside, ends[outer]) - 1] + 1
    return tokens._replace(starts=starts, ends=ends).some(ends > starts), False


def _blanked(codes: Codes, words: Tokens) -> str:
    """The characters in small letters, with spaces for those outside words."""
    steps = np.zeros(len(codes), np.int8)
    steps[words.starts], steps[words.ends] = 1, -1
    return np.where(np.cumsum(steps, dtype=np.int8), _SMALL[codes], np.uint8(ord(" "))).tobytes().decode()


def _with_names(tags: Numbers, codes: Codes, words: Tokens) -> Numbers:
    """The tags, where a capital inside a sentence tells a name, unless all of the sentence's words have some."""
    starts, ends, _, sentences = words
    capital = np.flatnonzero(_UPPER[codes[starts]])
    at = starts[capital]
    i_am = (codes[at] == ord("I")) & ((ends[capital] == at + 1) | (codes[at + 1] == ord("'")))
    capital = capital[~i_am & (capital > 0)]
    capital = capital[sentences[capital] == sentences[capital - 1]]
    if not len(capital):
        return tags
    upper, lower = (np.append(0, np.cumsum(those[codes])) for those in (_UPPER, _LOWER))
    small = (upper[ends] == upper[starts]) & (lower[ends] > lower[starts])
    has_small = np.zeros(sentences[-1] + 1, bool)
    has_small[sentences[small]] = True
    tags = tags.copy()
    tags[capital[has_small[sentences[capital]]]] = block_tagger().tag["NNP"]
    return tags


def read(texts: Texts) -> Lines:
    """The lines of texts, which are found out once for all operators and draws if the texts are short."""
    return texts.once(_read) if max(map(len, texts.strings), default=0) <= SHORT else _read(texts)


def _read(texts: Texts) -> Lines:
    return Lines(texts.strings)
