"""Characters that a scanner takes for others of the same shape."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Stream, Streams, below
from unswayed.vary.operator import Change, Operator, SingleEdits, Text, Texts
from unswayed.vary.surface import CYRILLIC, LATIN, LONGEST, base, fixed_places, joined, noted
from unswayed.vary.words import checked_rate, some, word_ranks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Ints = NDArray[np.int64]

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


def _alike(listed: str) -> dict[str, str]:
    """For each character, those of its groups."""
    found: dict[str, str] = {}
    for group in listed.split():
        found |= {c: " ".join([*found.get(c, "").split(), *group.replace(c, "")]) for c in group}
    return found


_ZH = _alike(_HAN)
_JA = _ZH | _alike(_KANA)
_WORD = re.compile(r"\w+")
_MAX_WORD = 40  # letters
_MAX_TOKENS = 50_000  # of a language whose places are remembered between blocks


class _Misreading(NamedTuple):
    """A stretch of a token that can be misread, and what may be read."""

    start: int
    end: int
    news: tuple[str, ...]


_NONE = _Misreading(0, 0, ())


class _TokenNumbers(dict[str, int]):
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
        if self._words and len(token) <= _MAX_WORD:
            self[token] = number
        return number

    def numbers(self, tokens: Iterable[str]) -> Iterator[int]:
        """The number of each token, which holds until this is called again."""
        if len(self.places) > _MAX_TOKENS:
            self._forget()
        return map(self.__getitem__, tokens)

    def _forget(self) -> None:
        self.clear()
        self.places: list[tuple[_Misreading, ...]] = [(_NONE,)]
        self.counts = array("q", [1])


@lru_cache(64)
def _tokens_in(language: str) -> _TokenNumbers:
    return _TokenNumbers(language)


class Ocr(Operator):
    """Takes characters for others of the same shape, as a scanner does: *rn* for *m*, *0* for *O*, 末 for 未.

    No digit becomes another digit. In English, no other word results. With `rate` 0, the default, one place changes.
    Otherwise each place changes with that probability, and at least one.
    """

    languages = (*LATIN, *CYRILLIC, "el", "zh", "ja")
    quick = True
    presets = ("surface",)
    slips = True
    example = ("turn off the lights in the kitchen", "turn off the liglits in the kitchen")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def _change_one(self, text: Text, rng: Stream) -> Change | None:
        found, at = [], 0
        known = _tokens_in(text.language)
        tokens = _split(text.text)
        for token, number in zip(tokens, known.numbers(tokens), strict=True):
            found += [(at + start, at + end, news) for start, end, news in known.places[number]]
            at += len(token) + 1
        edits = [Edit(start, end, rng.choice(news)) for start, end, news in some(found, self.rate, rng)]
        edits = self.allowed(text, edits) if self.rate else edits
        return Change(tuple(edits), noted(text.text, edits)) if edits and text.keeps(edits) else None

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        if self.rate or not texts.language:
            return [self._change_one(text, rng) for text, rng in zip(texts, streams, strict=True)]
        # All texts at once: places in words are kept by token, so a block costs one look at each token and then arrays
        # only. Text by text, `unswayed vary` on 100,000 texts takes 1.4 to 1.6 times as much CPU time.
        places, tokens, begins, shifts, firsts, counts = texts.once(_find_places)
        # The place is drawn among all of the text's by its number in the block; the token that it is in is then the
        # last one that begins at or before that number.
        at = firsts + below(streams.numbers[:, 0], counts).astype(firsts.dtype)
        token = begins.searchsorted(at, "right") - 1
        both = zip(tokens[token].tolist(), (at - begins[token]).tolist(), strict=True)
        begin, end, readings = zip(*[places[k][n] for k, n in both], strict=True)
        kinds = streams.below(1, list(map(len, readings)))
        shifts = shifts[token]
        starts: list[int] = (shifts + begin).tolist()
        ends: list[int] = (shifts + end).tolist()
        news = [its[n] if its else None for its, n in zip(readings, kinds, strict=True)]
        # An edit inside a token of single-spaced text can break no label. The few others are tried on the labels.
        for i in texts.once(_doubtful):
            if (new := news[i]) is not None and not texts[i].keeps((Edit(starts[i], ends[i], new),)):
                news[i] = None
        return SingleEdits(
            OneEach(starts, ends, news),
            lambda: [
                "" if new is None else f"{text[start:end]}→{new} at {start}"
                for text, start, end, new in zip(texts.strings, starts, ends, news, strict=True)
            ],
        )


def _split(text: str) -> list[str]:
    """The tokens of a text, by single spaces; nothing that is misread or must stay goes beyond one."""
    return text[:LONGEST].split(" ")


def _find_places(texts: Texts) -> tuple[list[tuple[_Misreading, ...]], _Ints, _Ints, _Ints, _Ints, NDArray[np.uint64]]:
    """The places in the tokens of all texts of a block, and which numbers they have if all are counted.

    First the places by the number of a token. For each token, its number, the number of its first place, and where it
    begins in its text. For each text, the number of its first place, and how many it has. The last token is of none: it
    has a place where nothing is read, which is also that of a text without any.
    """
    import numpy as np

    joined, known = " ".join(texts.strings), _tokens_in(texts.language)
    # Very long texts are cut, so blocks with one are divided text by text.
    if max(map(len, texts.strings)) > LONGEST:
        apart = list(map(_split, texts.strings))
        tokens, sizes = list(chain.from_iterable(apart)), np.array(list(map(len, apart)))
    else:
        tokens, sizes = joined.split(" "), np.array([text.count(" ") for text in texts.strings]) + 1
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens)) + 1
    starts = np.cumsum(lengths) - lengths  # as if all texts were one
    first = np.cumsum(sizes) - sizes  # tokens of texts
    numbers = np.fromiter(chain(known.numbers(tokens), (0,)), np.int64, len(tokens) + 1)
    counts = np.array(known.counts)[numbers]
    begins = np.cumsum(counts) - counts
    ends = begins[np.append(first, len(tokens))]
    counts = np.diff(ends)
    shifts = np.append(starts - np.repeat(starts[first], sizes), 0)
    firsts = np.where(counts > 0, ends[:-1], begins[-1])
    return known.places, numbers, begins, shifts, firsts, counts.astype(np.uint64)


def _doubtful(texts: Texts) -> list[int]:
    """The texts whose labels an edit inside a token could lose: with spans, or with more than single spaces."""
    if texts.task is None:
        return []
    both = enumerate(zip(texts.strings, texts.tags, strict=True))
    return [i for i, (text, tags) in both if tags is None or "  " in f" {text} "]


@cache
def _shapes(main: str) -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """What may be misread in a language, the longer first, and what for."""
    shapes = {"zh": _ZH, "ja": _JA, "el": _GREEK}.get(main, _CYRILLIC if main in CYRILLIC else _LATIN)
    longest = sorted(shapes, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest))), {old: tuple(news.split()) for old, news in shapes.items()}


def _places(text: str, language: str) -> Iterator[_Misreading]:
    main, fixed, plain = base(language), fixed_places(text), text.isascii()
    pattern, shapes = _shapes(main)
    words = word_ranks() if main == "en" else {}
    for word in _WORD.finditer(text):
        first, last = word.span()
        for match in pattern.finditer(text, first, last):
            start, end = match.span()
            old, rest = match[0], last - first - end + start
            risky = old in _RISKY and (main != "en" or rest < 2)
            if risky or start in fixed or (not plain and joined(text, end)):
                continue
            news = shapes[old]
            if words and rest <= _MAX_WORD:
                head, tail = text[first:start], text[end:last]
                news = tuple([new for new in news if f"{head}{new}{tail}".lower() not in words])
            if news:
                yield _Misreading(start, end, news)
