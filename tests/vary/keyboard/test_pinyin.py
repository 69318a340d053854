"""The typist: same person, same habits; people differ; what is typed is what READIN's people typed."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import DataError, UnknownName
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration.pinyin_typist import count_slips, fit_pinyin_typist
from unswayed.vary.chinese import lexicon
from unswayed.vary.chinese_slips import slips
from unswayed.vary.keyboard.homophone import Homophone, homophones
from unswayed.vary.keyboard.ime import missing_file, open_engine
from unswayed.vary.keyboard.pinyin import Pinyin, PinyinTypist, on_device, slip_keys
from unswayed.vary.operator import UNALTERED, Text
from unswayed.vary.people import TYPED_MARKS, WORD_KINDS, Sitting, typists

TEXTS = [
    "请问花呗怎么还款，逾期了会影响征信吗？",
    "我的支付宝账户为什么不能提现到银行卡",
    "新华社北京7月26日电，近年来随着首都自然生态环境的持续向好，野生动物的种类和数量也随之增加。",
    "他说：“先把贵重的物品收拾好，冰箱、电视机这些大件可以暂时放到邻居家。”",
    "数据显示，这场时长2.5小时的歌会，直播人气峰值超过3500万。",
]


def typed(texts: list[str], seed: int = 0, draw: int = 0, operator: Pinyin | None = None) -> list[str]:
    operator, seeds = operator or Pinyin(), Seeds(seed, "keyboard/pinyin", 1)
    changes = [operator.change(Text(t, "zh"), seeds.stream(f"{i}", draw)) for i, t in enumerate(texts)]
    return [apply(t, c.edits) if c else t for t, c in zip(texts, changes, strict=True)]


def test_words_are_found_and_read() -> None:
    assert lexicon().segment("我的支付宝账户") == ["我", "的", "支付宝", "账户"]
    assert lexicon().reading("银行") == ("yin", "hang")
    assert lexicon().reading("𠮷") is None


@pytest.mark.parametrize(
    ("clean", "noisy", "kind"),
    [
        ("怎么提现呢", "怎么体现呢", "select_full"),
        ("我要申请贷款", "我要社区贷款", "select_abbr"),
        ("能转账吗", "能装账吗", "input_full"),
        ("怎么冻结", "怎么杰冻结", "false_start"),
        ("我要还钱", "我要的还钱", "stray"),
        ("可以用吗", "可以用", "omitted"),
        ("收到了吗", "收到iu了吗", "letters"),
        ("好的。", "好的", "mark_lost"),
        ("好,吗", "好，吗", "mark_changed"),
        ("7月6日", "7月5日", "other_text"),
    ],
)
def test_slips_are_explained(clean: str, noisy: str, kind: str) -> None:
    assert [s.kind for s in slips(clean, noisy)] == [kind]


@given(clean=st.text("花呗怎么还款abc1，。 的", max_size=12), noisy=st.text("花呗怎么还款abc1，。 的", max_size=12))
@settings(max_examples=150, deadline=None)
def test_slips_turn_one_text_into_the_other(clean: str, noisy: str) -> None:
    out, at = "", 0
    for s in slips(clean, noisy):
        assert s.start >= at
        out += clean[at : s.start] + s.new
        at = s.end
    assert out + clean[at:] == noisy


@given(keys=st.sampled_from(["shenqing", "zhang", "a", "hb", "zhuanzhang"]), n=st.integers(0, 500))
@settings(max_examples=80, deadline=None)
def test_a_slip_changes_the_keys(keys: str, n: int) -> None:
    made = slip_keys(keys, Seeds(n, "x", 1).stream("a", 0))
    assert made != keys
    assert made.isalpha()


def test_errors_repeat_within_an_example_and_hardly_across() -> None:
    operator, seeds = Pinyin(), Seeds(0, "keyboard/pinyin", 1)

    def wrong(example: int, field: str, draw: int) -> bool:
        change = operator.change(Text("戒备森严", "zh"), seeds.stream(str(example), draw, field))
        return change is not None and any(e.start < 2 for e in change.edits)

    pairs = [(wrong(i, "one", d), wrong(i, "two", d), wrong(-i, "two", d)) for i in range(1, 500) for d in range(3)]
    rate = sum(one for one, _, _ in pairs) / len(pairs)
    same = sum(one and two for one, two, _ in pairs) / len(pairs)
    other = sum(one and far for one, _, far in pairs) / len(pairs)
    assert same > 1.5 * rate**2
    assert same > 1.3 * other


def test_people_differ() -> None:
    """One of the people loses the ends of texts more often than the others."""
    texts = TEXTS[2:] * 30
    lost = [sum(a[-1] != b[-1:] for a, b in zip(texts, typed(texts, draw=d), strict=True)) for d in range(3)]
    assert max(lost) > 1.5 * min(lost)


def test_a_phone_and_ones_own_speed_change_how_much_goes_wrong() -> None:
    def slips_of(**how: object) -> int:
        operator = Pinyin(**how)  # type: ignore[arg-type]
        return sum(a != b for draw in range(12) for a, b in zip(TEXTS, typed(TEXTS, 3, draw, operator), strict=True))

    def edits_of(**how: object) -> float:
        operator = Pinyin(**how)  # type: ignore[arg-type]
        made = [typed(TEXTS, 3, draw, operator) for draw in range(12)]
        return sum(len(slips(clean, noisy)) for texts in made for clean, noisy in zip(TEXTS, texts, strict=True))

    assert edits_of(device="phone") > edits_of() > edits_of(hurried=False)
    assert slips_of(hurried=False) < slips_of()
    assert typed(TEXTS, operator=Pinyin(device="desk", hurried=True)) == typed(TEXTS)
    for profile in typists().people:
        calm = on_device(profile, "tablet", hurried=False)
        assert {(sitting.cut, sitting.hasty) for sitting in calm.sittings} == {(0.0, 0.0)}
    with pytest.raises(ValueError, match="device must be desk, phone, tablet, not 'watch'"):
        Pinyin(device="watch")


def test_engines_give_other_words() -> None:
    if missing_file("google"):
        pytest.skip("libgooglepinyin0 is not installed")
    assert typed(TEXTS * 5, operator=Pinyin(engine="google")) != typed(TEXTS * 5)
    both = Pinyin(engine="google+embedded")
    for d in range(2):
        typed(TEXTS, operator=both, draw=d)
    assert {t.engine.name for typists in both._typists.values() for t in typists} == {"google", "embedded"}
    assert "embedded" not in [e.name for e in Pinyin(engine="installed")._engines]


def test_three_draws_are_three_people() -> None:
    for seed in range(4):
        operator = Pinyin()
        for d in range(3):
            typed(TEXTS, seed=seed, operator=operator, draw=d)
        for register in range(len(operator._registers)):
            people = [typists[register].profile for typists in operator._typists.values()]
            assert len({(p.whole, p.first) for p in people}) == 3


def sitting(**chances: float) -> Sitting:
    """A sitting in which nothing goes wrong but what is said."""
    zero = dict.fromkeys(TYPED_MARKS, 0.0)
    plain = Sitting(1, dict.fromkeys(WORD_KINDS, 0.0), zero, zero, added=0.0, cut=0.0, hasty=0.0)
    return msgspec.structs.replace(plain, **chances)


def test_the_texts_of_an_example_are_typed_in_one_sitting() -> None:
    """One of two sittings leaves out the end of every text, the other does nothing."""
    profile = msgspec.structs.replace(
        typists().people[-1], other=0.0, missing=3.0, sittings=[sitting(cut=1.0), sitting()]
    )
    typist, seeds = PinyinTypist(profile, open_engine("embedded")), Seeds(0, "keyboard/pinyin", 2)
    text, cut = TEXTS[2], []
    for i in range(60):
        one, two = (apply(text, typist.type(text, seeds.stream(str(i), 0, field))) for field in "ab")
        assert text.startswith(one)
        assert (one == text) == (two == text)
        cut.append(len(text) - len(one))
    assert 15 < cut.count(0) < 45
    assert all(missing == 0 or 2 <= missing <= len(text) // 2 for missing in cut)


def test_fitting_tells_sittings_apart() -> None:
    """Someone who types a hundred rows without their ends and a hundred without closing marks."""
    clean = [t.rstrip("。？”") + f"{i}号楼的邻居。" for i in range(40) for t in TEXTS]
    rows = [[t[:-3] if i < 100 else t[:-1]] for i, t in enumerate(clean)]
    first, second = fit_pinyin_typist([[t] for t in clean], rows, open_engine("embedded"), rounds=2).sittings
    assert first.cut > 0.8 > 0.1 > second.cut
    assert second.lost["close"] > 0.8


def test_phrases_of_input_methods_are_offered() -> None:
    assert [c.text for c in open_engine("embedded").candidates("jizhe", 2)] == ["记者", "急着"]
    assert "急着" not in lexicon().frequency  # texts are not cut into words by them


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(UnknownName, match="embedded"):
        Pinyin(engine="embeded")
    with pytest.raises(DataError, match="calibrate"):
        Pinyin(profile=__file__)


@pytest.mark.slow
def test_fitting_finds_the_rates_that_made_the_texts() -> None:
    clean = [t + str(i) for i in range(40) for t in TEXTS]
    one, other = typists().people[0], typists().people[4]

    def made(profile: object) -> list[str]:
        seeds = Seeds(5, "t", 1)
        selves = [PinyinTypist(profile, open_engine("embedded")) for _ in range(100)]  # type: ignore[arg-type]
        return [apply(t, selves[i % 100].type(t, seeds.stream(str(i), i % 100))) for i, t in enumerate(clean)]

    for profile in (one, other):
        texts = made(profile)
        rows = [[t] for t in clean]
        again = made(fit_pinyin_typist(rows, [[t] for t in texts], open_engine("embedded"), rounds=3))
        wanted, got = (count_slips(rows, [[t] for t in made_of], open_engine("embedded")) for made_of in (texts, again))
        for kind in ("select_full", "input_full", "omitted"):
            assert got.total(kind) == pytest.approx(wanted.total(kind), rel=0.5, abs=15), kind


def test_homophones_sound_alike_and_are_common() -> None:
    table = homophones()
    assert "体" in table["提"] or "题" in table["提"]
    assert len(table) > 3000
    assert all(c not in others and len(set(others)) == len(others) for c, others in table.items())
    operator, seeds = Homophone(rate=0.3), Seeds(0, "h", 1)
    text = "今天天气很好我们去公园散步吧" * 30
    change = operator.change(Text(text, "zh"), seeds.stream("a", 0))
    assert change is not None
    assert len(change.edits) / len(text) == pytest.approx(0.3, abs=0.06)
    assert all(e.new in table[text[e.start]] for e in change.edits)


def test_slips_that_undo_each_other_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PinyinTypist, "type", lambda *_: [Edit(0, 1, ""), Edit(2, 2, "花")])
    rng = Seeds(0, "keyboard/pinyin", 1).stream("a", 0)
    assert Pinyin().change(Text("花花", "zh"), rng) is UNALTERED
