"""Mandarin speech: what the ear confuses, what the recogniser writes, and a speaker's habits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import apply
from unswayed.base.errors import DataError, UsageError
from unswayed.base.seeds import Seeds
from unswayed.vary.operator import Text
from unswayed.vary.people import GROUPS, add_accent, speakers, spoken_class
from unswayed.vary.speech import HardWords, mishearing_chance, word_hardness
from unswayed.vary.speech._mandarin_recogniser import (
    Ear,
    SimulatedRecogniser,
    Syllable,
    all_syllables,
    pronounce_word,
    split_syllable,
    words_after,
)
from unswayed.vary.speech.mandarin import (
    Mandarin,
    MandarinSpeaker,
    closing_mark,
    numeral_value,
    other_writings,
    split_text,
)

SEEDS = Seeds(3, "speech/mandarin", 1)
TEXT = "记者王斌从四川省乡村振兴局获悉，“优秀农民工”、企业家等30000人下午7点到《新闻》总部OECD开会"


def said(operator: Mandarin, text: str, example: str = "e", draw: int = 0) -> str:
    change = operator.change(Text(text, "zh"), SEEDS.stream(example, draw))
    return apply(text, change.edits) if change else text


@pytest.mark.parametrize(
    ("plain", "parts"),
    [
        ("zhuang", ("zh", "uang")),
        ("xue", ("x", "ve")),
        ("yi", ("", "i")),
        ("yuan", ("", "van")),
        ("wei", ("", "ui")),
        ("wo", ("", "uo")),
        ("you", ("", "iou")),
        ("shi", ("sh", "-i")),
        ("an", ("", "an")),
    ],
)
def test_syllables_have_an_initial_and_a_final(plain: str, parts: tuple[str, str]) -> None:
    assert split_syllable(plain) == parts


def test_words_are_pronounced_with_tones() -> None:
    assert pronounce_word("花呗") == (Syllable("hua", 1), Syllable("bei", 5))
    assert pronounce_word("银行") == (Syllable("yin", 2), Syllable("hang", 2))
    assert pronounce_word("們") is None


def test_the_ear_hears_likely_sounds_first() -> None:
    ear = Ear({"n>l": 0.3, "n>n": 0.6, "an>an": 0.7, "an>ang": 0.2})
    near = [all_syllables()[number] for number in ear.near("nan", 4)]
    assert near[0] == "nan"
    assert set(near[1:3]) == {"lan", "nang"}
    assert list(ear.near("nan", 4).values()) == sorted(ear.near("nan", 4).values())


def test_accents_merge_what_their_region_merges() -> None:
    heard = {"n>l": 0.1, "an>ang": 0.1, "1>4": 0.1, "1>1": 0.6, "b>p": 0.1}
    assert add_accent(heard, GROUPS["southwestern"])["n>l"] > 0.1 > add_accent(heard, GROUPS["jilu"])["n>l"]
    assert add_accent(heard, GROUPS["jin"])["an>ang"] > 0.1
    assert add_accent(heard, GROUPS["xiang"])["1>4"] > 0.1
    for group in GROUPS.values():
        accented = add_accent(heard, group)
        assert accented["b>p"] == 0.1
        assert accented["1>1"] == 0.6
    assert sum(group.share for group in GROUPS.values()) == pytest.approx(1)


def test_the_recogniser_writes_words_that_sound_alike() -> None:
    """生力军 is not a word that is often said: what comes out is, and in nearly the same sounds."""
    recogniser = SimulatedRecogniser(Ear(speakers().people[1].heard))
    heard = pronounce_word("生力军")
    assert heard
    made = {recogniser.misheard("生力军", heard, "振兴", "", SEEDS.stream(str(i), 0)) for i in range(20)}
    assert "生力军" not in made
    assert all(len(text) == 3 for text in made)
    alike = [p for text in made for p in zip(pronounce_word(text) or (), heard, strict=False)]
    assert sum(split_syllable(a.plain)[0] == split_syllable(b.plain)[0] for a, b in alike) > len(alike) / 2


def test_words_that_follow_each_other_are_likelier() -> None:
    assert words_after("中华人民共和国").get("主席", 0.0) > 2
    assert words_after("主席").get("中华人民共和国", 0.0) == 0
    assert words_after("").get("的", 0.0) == words_after("的").get("", 0.0) == 0


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("下午7点开会", "下午7:00开会"),
        ("下午7点半开会", "下午7:30开会"),
        ("四点半到", "4:30到"),
        ("12时25分", "12:25"),
        ("共30000亩", "共3万亩"),
        ("安装14500块", "安装14,500块"),
        ("五分之一", "1/5"),
        ("百分之五", "5%"),
        ("二十三岁", "23岁"),
        ("第五份", "第5份"),
        ("2个人", "两个人"),
        ("4点多", "4点多"),
        ("一些观点", "一些观点"),
        ("2021年3月", "2021年3月"),
    ],
)
def test_numerals_and_times_as_a_recogniser_writes_them(text: str, new: str) -> None:
    assert apply(text, [(start, end, way) for start, end, _, way in other_writings(text)]) == new  # type: ignore[misc]


@given(st.integers(1, 99))
def test_numerals_have_their_value(number: int) -> None:
    digits = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    written = ("" if tens < 2 else digits[tens]) + ("十" if tens else "") + (digits[ones] if ones else "")
    assert numeral_value(written) == number


def test_texts_end_as_a_recogniser_ends_them() -> None:
    assert closing_mark("花呗怎么不能提额了") == "？"
    assert closing_mark("今天下雨") == "。"


def test_marks_that_are_not_spoken_go() -> None:
    operator = Mandarin()
    made = [said(operator, TEXT, str(i), i % 4) for i in range(80)]
    for mark in "“”《》、":
        assert sum(mark in text for text in made) < 12
    assert sum(text.endswith(("。", "？")) for text in made) > 70
    assert sum("OECD" in text for text in made) == 0
    assert any("3万" in text for text in made)
    assert any("7:00" in text for text in made)


def test_common_words_are_misheard_least() -> None:
    for person in speakers().people:
        common, rare = spoken_class("我们", False), spoken_class("獬豸", False)
        assert person.misheard[common] < person.misheard[rare]


def test_a_speaker_is_misheard_in_the_same_way_again() -> None:
    """Hard words go wrong again and again, mostly in one way; without habits every mishearing would be another."""
    operator = Mandarin()
    name = "傅昆宝"
    repeated = []
    for draw in range(12):
        made = [said(operator, f"今天{name}", f"{draw}/{i}", draw)[2:] for i in range(12)]
        wrong = [text for text in made if name not in text]
        if len(wrong) > 3:
            repeated.append(max(wrong.count(text) for text in wrong) / len(wrong))
    assert len(repeated) > 3
    assert sum(repeated) / len(repeated) > 0.35


def test_nothing_to_say_is_left_alone() -> None:
    operator = Mandarin()
    for text in ("", "play some jazz", "🙂", "123", "，。"):
        assert operator.change(Text(text, "zh"), SEEDS.stream("e", 0)) is None


@given(
    st.text(st.sampled_from("我们的银行花呗傅昆宝第五十2点半时0.,%ab é，。、“”《》 \n🙂們ש"), max_size=40),
    st.integers(0, 9),
)
@settings(deadline=None, max_examples=150)
def test_any_text_can_be_said(text: str, draw: int) -> None:
    speaker = MandarinSpeaker(speakers().people[draw % len(speakers().people)])
    edits = speaker.say(text, SEEDS.stream("e", draw))
    made = apply(text, edits)
    assert edits == speaker.say(text, SEEDS.stream("e", draw))
    assert (made != text and made) or not edits
    assert "".join(piece.text for piece in split_text(text)) == text


def test_accent_and_profile_can_be_given(tmp_path: Path) -> None:
    texts = [said(Mandarin(accent=group), TEXT * 3) for group in GROUPS]
    assert len(set(texts)) > 1
    with pytest.raises(UsageError, match="Did you mean 'jilu'"):
        Mandarin(accent="jilv")
    (tmp_path / "p.json").write_text(json.dumps({"people": [{}]}))
    with pytest.raises(DataError, match="`unswayed calibrate`"):
        Mandarin(profile=str(tmp_path / "p.json"))
    with pytest.raises(DataError, match="No such file"):
        Mandarin(profile=str(tmp_path / "none.json"))


def test_speakers_share_words_that_the_recogniser_does_not_know() -> None:
    """Of 150 rare words, those that are hard for one speaker are more often hard for another than chance has it."""
    words = [a + b for a in "獬饕逶旖踯彳龃龉婆鳜" for b in "豸餮迤旎躅亍龋齿婆鱼鲈鲫鳄鲸鲟"]
    hardness = [{w: word_hardness(w, SEEDS.stream(w, draw)) for w in words} for draw in range(2)]
    hard = [
        {w for w, h in its.items() if mishearing_chance(h, 0.3, 1.0, HardWords(0.7, 0.85)) > 0.5} for its in hardness
    ]
    expected = len(hard[0]) * len(hard[1]) / len(words)
    assert 0.1 * len(words) < len(hard[0]) < 0.4 * len(words)
    assert len(hard[0] & hard[1]) > 1.4 * expected
