"""The embedded engine finds what a search that drops nothing finds, and the typist types what it always did."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.seeds import Seeds
from unswayed.vary.chinese import _TOTAL, _UNKNOWN, lexicon
from unswayed.vary.keyboard.ime import open_engine
from unswayed.vary.keyboard.ime.embedded import _BEAM, _LONGEST, _WORD_COST, Embedded
from unswayed.vary.keyboard.pinyin import Pinyin
from unswayed.vary.operator import Text

_SOUNDS = [
    "hua",
    "bei",
    "ti",
    "xian",
    "xi",
    "an",
    "zhang",
    "zh",
    "h",
    "b",
    "t",
    "shen",
    "q",
    "fang",
    "gan",
    "i",
    "n",
    "'",
]
_KEYS = st.lists(st.sampled_from(_SOUNDS), min_size=1, max_size=5).map("".join)
_RUNS = st.text("请问花呗怎么提前还款支付宝账户余额乡村振兴人民共和国𠮷龘的了", max_size=14)


def embedded() -> Embedded:
    found = open_engine("embedded")
    assert isinstance(found, Embedded)
    return found


def slow_best(method: Embedded, keys: str) -> str | None:
    """The likeliest text, by a beam that keeps what falls behind."""
    found: dict[str, float] = {}
    for penalty, units, _ in method._readings(keys):
        beams: list[list[tuple[float, str]]] = [[(0.0, "")], *([] for _ in units)]
        for at in range(len(units)):
            here = sorted(beams[at], reverse=True)[:_BEAM]
            for end in range(at + 1, min(len(units), at + _LONGEST) + 1):
                for word, score in method._stretch_words(units[at:end])[1][:_BEAM]:
                    beams[end] += [(before + score - _WORD_COST, text + word) for before, text in here]
        for score, text in sorted(beams[-1], reverse=True)[:_BEAM]:
            found[text] = max(found.get(text, -1e9), score - penalty)
    return max(found, key=found.__getitem__, default=None)


@given(keys=_KEYS)
@settings(max_examples=150, deadline=None)
def test_the_likeliest_text_is_that_of_a_search_that_drops_nothing(keys: str) -> None:
    method = embedded()
    assert method._best(method._readings(keys)) == slow_best(method, keys)


@given(keys=_KEYS, n=st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_the_first_offer_heads_the_list(keys: str, n: int) -> None:
    method = embedded()
    assert method.first(keys) == next(iter(method.candidates(keys, n)), None)


def slow_segment(text: str) -> list[str]:
    """All ways to cut a text into words, each word looked up."""
    frequency, n = lexicon().frequency, len(text)
    best: list[tuple[float, list[str]]] = [(0.0, []) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        ways = [(frequency.get(text[i], _UNKNOWN) - _TOTAL + best[i + 1][0], [text[i], *best[i + 1][1]])]
        for j in range(i + 2, n + 1):
            if text[i:j] in frequency:
                ways.append((frequency[text[i:j]] - _TOTAL + best[j][0], [text[i:j], *best[j][1]]))
        best[i] = max(ways, key=lambda way: way[0])
    return best[0][1]


@given(text=_RUNS)
@settings(max_examples=150, deadline=None)
def test_texts_are_cut_into_their_likeliest_words(text: str) -> None:
    assert lexicon().segment(text) == slow_segment(text)


def test_abbreviations_stand_for_the_words_that_begin_so() -> None:
    words = [word for _, word in lexicon().abbreviated(("hua", "b"), (False, True))]
    assert "花呗" in words
    assert "华北" in words
    assert "海报" not in words
    assert "海报" in [word for _, word in lexicon().abbreviated(("h", "bao"), (True, False))]
    cut = [lexicon().reading(word) or ("",) for _, word in lexicon().abbreviated(("zh", "bao"), (True, False))]
    assert cut
    assert all(first.startswith("zh") for first, *_ in cut)


TEXTS = [
    "请问花呗怎么还款，逾期了会影响征信吗？",
    "我的支付宝账户为什么不能提现到银行卡",
    "新华社北京7月26日电，近年来随着首都自然生态环境的持续向好，野生动物的种类和数量也随之增加。",
    "他说：“先把贵重的物品收拾好，冰箱、电视机这些大件可以暂时放到邻居家。”",
    "数据显示，这场时长2.5小时的歌会，直播人气峰值超过3500万。",
]


@pytest.mark.parametrize(("seed", "digest"), [(0, "fe9884198d415d33"), (7, "0956d5c4e2139c00")])
def test_what_is_typed_is_what_was_always_typed(seed: int, digest: str) -> None:
    """A change of this digest is another version of the operator."""
    operator, seeds, typed = Pinyin(), Seeds(seed, "keyboard/pinyin", 2), blake2b(digest_size=8)
    for draw in range(4):
        for i, text in enumerate(TEXTS * 10):
            change = operator.change(Text(text, "zh"), seeds.stream(str(i), draw))
            typed.update(repr(change and (tuple(map(tuple, change.edits)), change.note)).encode())
    assert typed.hexdigest() == digest
