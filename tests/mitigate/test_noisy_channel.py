"""The embedded corrector mends words that sound like others, leaves everything else, and learns from texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.mitigate.noisy_channel import HAN, NoisyChannel, character_readings, count_words, similar_syllables
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed
from unswayed.vary.chinese import lexicon

PLAIN = NoisyChannel()
SAID = ["花呗怎么还款", "我的花呗不能用", "花呗额度太低了", "花呗可以分期吗", "怎么关闭花呗", "花呗逾期怎么办"]
LEARNT = NoisyChannel.train(SAID * 5)


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("对不气，最近我很忙", "对不起，最近我很忙"),
        ("我找到了新的工坐", "我找到了新的工作"),
        ("我们一起去电影园", "我们一起去电影院"),  # yuan for yuan, two tones
        ("他在银航工作", "他在银行工作"),  # hang, one of the readings of 行
    ],
)
def test_words_that_sound_the_same(written: str, right: str) -> None:
    assert PLAIN.correct(written) == right


def test_words_of_the_field_are_learnt() -> None:
    assert PLAIN.correct("华北怎么还款") == "华北怎么还款"
    assert LEARNT.correct("华北怎么还款") == "花呗怎么还款"
    made_up = [line.replace("花呗", "芝呗") for line in SAID]
    texts = made_up + ["今天天气很好我们去公园"] * 40
    assert "芝呗" in count_words(texts).new
    assert NoisyChannel.train(texts).correct("只被怎么还款") == "芝呗怎么还款"


@given(st.text())
@settings(max_examples=50, deadline=None)
def test_only_chinese_characters_change_and_each_into_one(text: str) -> None:
    for corrector in (PLAIN, LEARNT):
        mended = corrector.correct(text)
        assert len(mended) == len(text)
        assert HAN.sub("", mended) == HAN.sub("", text)


@given(st.text(alphabet=sorted(character_readings())[::7], max_size=30))
@settings(max_examples=50, deadline=None)
def test_what_takes_a_characters_place_sounds_like_it(text: str) -> None:
    for old, new in zip(text, LEARNT.correct(text), strict=True):
        alike = {
            other for syllable in character_readings()[old] for other in (syllable, *similar_syllables()[syllable])
        }
        assert old == new or any(new == c for s in alike for c, _ in lexicon().characters[s])


def test_accents_go_both_ways() -> None:
    assert "na" in similar_syllables()["la"]
    assert "zan" in similar_syllables()["zhan"]
    assert "zhang" in similar_syllables()["zhan"]
    assert all(s in similar_syllables()[other] for s, others in similar_syllables().items() for other in others)


def test_boundless_caution_changes_nothing() -> None:
    assert NoisyChannel(caution=1000).correct("对不气") == "对不气"
    with pytest.raises(UsageError, match="caution must not be negative"):
        open_system("mitigate/noisy_channel", caution=-1)


def test_it_is_saved_and_opened(tmp_path: Path) -> None:
    LEARNT.save(tmp_path / "corrector")
    opened = open_system(str(tmp_path / "corrector"))
    assert opened.identity == LEARNT.identity != PLAIN.identity
    assert opened.predict([{"text": "华北怎么还款"}]) == ["花呗怎么还款"]
    assert isinstance(opened.predict([{"question": "?"}])[0], Failed)
    with pytest.raises(UsageError, match="not empty"):
        LEARNT.save(tmp_path / "corrector")
    (tmp_path / "corrector" / "counts.json.xz").write_bytes(b"x")
    with pytest.raises(StoredFileError, match="is not the file that was saved"):
        open_system(str(tmp_path / "corrector"))


def test_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="no Chinese text"):
        NoisyChannel.train(["hello", ""])
