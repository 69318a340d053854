"""The simulated recogniser writes what a search writes that looks at every word and every way."""

from __future__ import annotations

from hashlib import blake2b
from math import log

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.seeds import Seeds, Stream
from unswayed.vary.chinese import lexicon
from unswayed.vary.operator import Text
from unswayed.vary.people import GROUPS, add_accent, speakers
from unswayed.vary.speech._mandarin_recogniser import (
    _BEAM_WIDTH,
    _MAX_NEAR,
    _MAX_SOUND_COST,
    _MAX_STRETCH_WORDS,
    MAX_SYLLABLES,
    NEUTRAL,
    Ear,
    SimulatedRecogniser,
    Syllable,
    all_syllables,
    pronounce_word,
    tone_table,
    words_after,
)
from unswayed.vary.speech.mandarin import Mandarin

_WORDS = [
    "记者",
    "王斌",
    "四川省",
    "乡村",
    "振兴",
    "局",
    "获悉",
    "优秀",
    "农民工",
    "生力军",
    "新华",
    "时评",
    "把",
    "返乡",
    "打造",
    "成",
    "的",
    "主席",
    "中华人民共和国",
]
_EARS = [Ear(add_accent(person.heard, GROUPS[group])) for person in speakers().people for group in GROUPS]


def slow_words(ear: Ear, heard: tuple[Syllable, ...]) -> list[tuple[str, float]]:
    """Every combination of near sounds looked up."""
    ways = [("", 0.0)]
    for syllable in heard:
        near = [(all_syllables()[k], cost) for k, cost in ear.near(syllable.plain, _MAX_NEAR[len(heard)]).items()]
        ways = [
            (f"{r}'{p}" if r else p, cost + more)
            for r, cost in ways
            for p, more in near
            if cost + more < _MAX_SOUND_COST
        ]
    rated: dict[str, float] = {}
    for reading, cost in ways:
        for word, frequency in lexicon().words(reading)[:12]:
            its = [s.tone for s in spoken(word, reading.split("'"))]
            tone = sum([ear.tones[a.tone][b] for a, b in zip(heard, its, strict=True)])
            rated[word] = max(rated.get(word, -1e9), 0.72 * frequency - 15.0 - cost - tone)
    return sorted(rated.items(), key=lambda pair: (-pair[1], pair[0]))[: _MAX_STRETCH_WORDS[len(heard)]]


def spoken(word: str, plain: list[str]) -> list[Syllable]:
    return [Syllable(p, tone_table().get(c + p, NEUTRAL)) for c, p in zip(word, plain, strict=True)]


def slow_misheard(ear: Ear, said: str, heard: tuple[Syllable, ...], before: str, after: str, rng: Stream) -> str:
    n = len(heard)
    beams: list[list[tuple[float, str, str]]] = [[(0.0, "", before)], *([] for _ in heard)]
    for at in range(n):
        here = sorted(beams[at], reverse=True)[:_BEAM_WIDTH]
        for size in range(1, min(MAX_SYLLABLES, n - at) + 1):
            end = at + size
            for word, score in slow_words(ear, heard[at:end]):
                drawn = score - 0.5 * log(-log(rng.random() + 1e-12) + 1e-12)
                if n == len(said):
                    drawn -= 1.3 * sum([a == b for a, b in zip(word, said[at:end], strict=True)])
                beams[end] += [(s + drawn + 0.72 * words_after(w).get(word, 0.0), t + word, word) for s, t, w in here]
    ends = [(score + 0.72 * words_after(word).get(after, 0.0), text) for score, text, word in beams[n] if text != said]
    return max(ends)[1] if ends else ""


@given(
    words=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3),
    around=st.tuples(st.sampled_from(["", *_WORDS]), st.sampled_from(["", *_WORDS])),
    ear=st.sampled_from(_EARS),
    fewer=st.booleans(),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=40, deadline=None)
def test_nothing_that_could_win_is_left_out(
    words: list[str], around: tuple[str, str], ear: Ear, fewer: bool, seed: int
) -> None:
    said = "".join(words)[:6]
    heard = pronounce_word(said)
    assert heard
    heard = heard[:-1] if fewer else heard
    quick, slow = Seeds(seed, "r", 1).stream("a", 0), Seeds(seed, "r", 1).stream("a", 0)
    made = SimulatedRecogniser(ear).misheard(said, heard, *around, quick)
    assert made == slow_misheard(ear, said, heard, *around, slow)
    assert quick.bits() == slow.bits()  # as many numbers were drawn


TEXTS = [
    "记者王斌从四川省乡村振兴局获悉，“优秀农民工”、企业家等30000人下午7点到《新闻》总部OECD开会",
    "新华时评：把优秀返乡农民工打造成乡村振兴生力军",
    "请问花呗怎么还款，逾期了会影响征信吗？",
]


@pytest.mark.parametrize(("seed", "digest"), [(0, "a82d42304d7ad951"), (7, "da4c721a65b2a75e")])
def test_what_is_written_is_what_was_always_written(seed: int, digest: str) -> None:
    """A change of this digest is another version of the operator."""
    operator, seeds, written = Mandarin(), Seeds(seed, "speech/mandarin", 1), blake2b(digest_size=8)
    for draw in range(4):
        for i, text in enumerate(TEXTS * 10):
            change = operator.change(Text(text, "zh"), seeds.stream(str(i), draw))
            written.update(repr(change and (tuple(map(tuple, change.edits)), change.note)).encode())
    assert written.hexdigest() == digest
