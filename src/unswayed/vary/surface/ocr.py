"""Characters that a scanner takes for others of the same shape."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Stream, Streams, below
from unswayed.vary.operator import Change, Operator, SingleEdits, Text, Texts
from unswayed.vary.surface import CYRILLIC, LATIN, LONGEST, Fixed, another_word, base, joined, noted
from unswayed.vary.words import checked_rate, some

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# No digit for a digit and no common letter for a letter alone: the text must stay readable as what it was.
_LATIN = {
    "rn": "m", "m": "rn", "cl": "d", "d": "cl", "vv": "w", "w": "vv", "li": "h", "h": "li", "ri": "n",
    "l": "1 I |", "I": "l 1 |", "O": "0 Q", "o": "0", "0": "O", "1": "l I", "S": "5", "5": "S", "B": "8", "8": "B",
    "Z": "2", "G": "6", "g": "9 q", "b": "6", "i": "l 1", "e": "c", "c": "e", "t": "f", "f": "t", "fi": "ﬁ", "fl": "ﬂ",
    "ü": "ii",
}  # fmt: skip
_RISKY = set("ectfg")  # a letter for a letter: only where English says that no other word results
_CYRILLIC = {"ш": "щ", "щ": "ш", "ь": "ъ", "о": "0", "О": "0", "з": "3", "З": "3", "б": "6", "ы": "ьі", "ю": "іо",
    "0": "О", "3": "З"}  # fmt: skip
_GREEK = {"ν": "v", "ο": "0", "ρ": "p", "υ": "u", "ω": "w", "ι": "i", "τ": "r", "0": "Ο"}
_HAN = (
    "己已巳 未末 土士 日曰 人入 天夭 千干于 免兔 戊戌戍 拔拨 侯候 辨辩辫 折拆 治冶 贷货 晴睛 "
    "氏民 斤斥 今令 午牛 自白 师帅 历厉 住往 孤狐 壁璧 宫官 间问 享亨 徒徙 刺剌 管菅 茶荼 亳毫 祟崇 竞竟 拢扰 "
    "抄炒 梢稍 玲铃 贝见 侍待 微徵 末木 木本 田由甲 目且 力刀 几凡 乌鸟 王玉 万方 体休 "
    "貸貨 間問 侯候 師帥 見貝 烏鳥 東束 遺遣"
)
_KANA = (
    "カ力 ロ口 ニ二 ハ八 エ工 タ夕 ト卜 ー一 へヘ ソン シツ ノメ クワ コユ ウワ スヌ "
    "ばぱ ビピ ベペ ボポ バパ さき ねれわ るろ はほ めぬ"
)


def _groups(listed: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for group in listed.split():
        for c in group:
            found[c] = " ".join([*found.get(c, "").split(), *group.replace(c, "")])
    return found


_ZH = _groups(_HAN)
_JA = {**_groups(_KANA), **{c: other for c, other in _ZH.items() if c not in _groups(_KANA)}}
_WORD = re.compile(r"\w+")
_LONG = 40  # letters of what is no word
_MOST = 50_000  # tokens of a language whose places are remembered between blocks


class _Place(NamedTuple):
    """A stretch of a token that can be misread, what may be read, and the beginning of the note on each."""

    start: int
    end: int
    news: tuple[str, ...]
    notes: tuple[str, ...]


_NONE = _Place(0, 0, (), ())


class _Tokens(dict[str, int]):
    """Tokens of one language by number. Words come again and again, so they are kept.

    `places` has the places in each, in order and apart; `counts`, how many these are. The first is of no token, and
    has a place where nothing is read.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self._words = base(language) not in ("zh", "ja")  # else a token is a sentence
        self._forget()

    def __missing__(self, token: str) -> int:
        found = tuple(_places(token, self.language))
        number = len(self.places)
        self.places.append(found)
        self.counts.append(len(found))
        if self._words and len(token) <= _LONG:
            self[token] = number
        return number

    def numbers(self, tokens: Iterable[str]) -> Iterator[int]:
        """The number of each token, which holds until this is called again."""
        if len(self.places) > _MOST:
            self._forget()
        return map(self.__getitem__, tokens)

    def _forget(self) -> None:
        self.clear()
        self.places: list[tuple[_Place, ...]] = [(_NONE,)]
        self.counts = array("q", [1])


@lru_cache(64)
def _tokens_in(language: str) -> _Tokens:
    return _Tokens(language)


class _Block(NamedTuple):
    """The places in the tokens of all texts of a block, and which numbers they have if all are counted.

    For each token, its places, the number of its first place, and where it begins in its text. For each text, the
    number of its first place, and how many it has. The last token is of none: it has a place where nothing is read.
    """

    places: list[tuple[_Place, ...]]
    tokens: NDArray[np.int64]
    begins: NDArray[np.int64]
    shifts: NDArray[np.int64]
    firsts: NDArray[np.int64]
    counts: NDArray[np.uint64]


class Ocr(Operator):
    """Takes characters for others of the same shape, as a scanner does: *rn* for *m*, *0* for *O*, 末 for 未.

    No digit becomes another digit. In English, no other word results. With `rate` 0, the default, one place changes.
    Otherwise each place changes with that probability, and at least one.
    """

    languages = (*LATIN, *CYRILLIC, "el", "zh", "ja")
    quick = True
    presets = ("surface",)
    example = ("turn off the lights in the kitchen", "turn off the liglits in the kitchen")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def _change_one(self, text: Text, rng: Stream) -> Change | None:
        written = text.text[:LONGEST]
        found, at = [], 0
        known = _tokens_in(text.language)
        tokens = _apart(written)
        for token, number in zip(tokens, known.numbers(tokens), strict=True):
            found += [(at + start, at + end, news) for start, end, news, _ in known.places[number]]
            at += len(token) + 1
        edits = tuple(Edit(start, end, rng.choice(news)) for start, end, news in some(found, self.rate, rng))
        return Change(edits, noted(written, edits)) if edits and text.keeps(edits) else None

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        if self.rate or not texts.language:
            return [self._change_one(text, rng) for text, rng in zip(texts, streams, strict=True)]
        places, tokens, begins, shifts, firsts, counts = texts.once(_of_each)
        at = firsts + below(streams.numbers[:, 0], counts).astype(firsts.dtype)
        token = begins.searchsorted(at, "right") - 1
        both = zip(tokens[token].tolist(), (at - begins[token]).tolist(), strict=True)
        begin, end, readings, said = zip(*[places[k][n] for k, n in both], strict=True)
        kinds = streams.below(1, list(map(len, readings)))
        shifts = shifts[token]
        starts: list[int] = (shifts + begin).tolist()
        ends: list[int] = (shifts + end).tolist()
        news = [its[n] if its else None for its, n in zip(readings, kinds, strict=True)]
        for i in texts.once(_doubtful):
            if (new := news[i]) is not None and not texts[i].keeps((Edit(starts[i], ends[i], new),)):
                news[i] = None
        return SingleEdits(
            OneEach(starts, ends, news),
            lambda: [f"{its[n]}{at}" if its else "" for its, n, at in zip(said, kinds, starts, strict=True)],
        )


def _apart(text: str) -> list[str]:
    """The tokens of a text, by single spaces; nothing that is misread or must stay goes beyond one, but tags do."""
    return [text] if "<" in text else text.split(" ")


def _of_each(texts: Texts) -> _Block:
    """The places of each text. One without any has a place where nothing can be read."""
    import numpy as np

    tokens, starts, first = _all_apart(texts.strings, texts.once(_joined))
    known = _tokens_in(texts.language)
    numbers = np.fromiter(chain(known.numbers(tokens), (0,)), np.int64, len(tokens) + 1)
    counts = np.array(known.counts)[numbers]
    begins = np.cumsum(counts) - counts
    ends = begins[first]
    counts = np.diff(ends)
    shifts = np.append(starts - np.repeat(starts[first[:-1]], np.diff(first)), 0)
    firsts = np.where(counts > 0, ends[:-1], begins[-1])
    return _Block(known.places, numbers, begins, shifts, firsts, counts.astype(np.uint64))


def _joined(texts: Texts) -> str:
    return " ".join(texts.strings)


def _all_apart(texts: Sequence[str], joined: str) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of all texts; where each would begin if they were one text, with spaces between; and the number of
    each text's first token, and how many tokens there are."""
    import numpy as np

    if "<" in joined or max(map(len, texts)) > LONGEST:
        apart = [_apart(text[:LONGEST]) for text in texts]
        tokens = list(chain.from_iterable(apart))
        sizes = np.array(list(map(len, tokens))) + 1
        return tokens, np.cumsum(sizes) - sizes, np.cumsum([0, *map(len, apart)])
    tokens = joined.split(" ")
    ascii = joined.isascii()
    coded = joined.encode("ascii" if ascii else "utf-32-le", "surrogatepass")
    spaces = np.flatnonzero(np.frombuffer(coded, np.uint8 if ascii else "<u4") == ord(" "))
    starts = np.append(0, spaces + 1)
    begins = np.cumsum([0, *map(len, texts)]) + np.arange(len(texts) + 1)  # of texts; the last is of none
    return tokens, starts, starts.searchsorted(begins)


def _doubtful(texts: Texts) -> list[int]:
    """The texts whose labels an edit inside a token could lose: with spans, or with more than single spaces."""
    if texts.task is None or ("  " not in f" {texts.once(_joined)} " and None not in texts.tags):
        return []
    both = enumerate(zip(texts.strings, texts.tags, strict=True))
    return [i for i, (text, tags) in both if tags is None or "  " in text or text.strip(" ") != text]


def _places(text: str, language: str) -> Iterator[_Place]:
    shapes, fixed = _shapes(base(language)), Fixed(text)
    for word in _WORD.finditer(text):
        at = word.start()
        while at < word.end():
            size = 2 if text[at : at + 2] in shapes and at + 2 <= word.end() else 1
            old = text[at : at + size]
            if old in shapes and at not in fixed and not joined(text, at + size):
                head, tail = text[word.start() : at], text[at + size : word.end()]
                news = _readings(old, shapes[old], head, tail, language)
                if news:
                    yield _Place(at, at + size, tuple(news), tuple(f"{old}→{new} at " for new in news))
            at += size


def _shapes(language: str) -> dict[str, str]:
    if language in ("zh", "ja"):
        return _ZH if language == "zh" else _JA
    return _CYRILLIC if language in CYRILLIC else _GREEK if language == "el" else _LATIN


def _readings(old: str, shape: str, head: str, tail: str, language: str) -> list[str]:
    if old in _RISKY and (base(language) != "en" or len(head + tail) < 2):
        return []
    if len(head) + len(tail) > _LONG:
        return shape.split()
    return [new for new in shape.split() if not another_word(head + new + tail, language)]
