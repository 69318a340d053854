"""The judge tells what can be told and nothing else; the harm and the looks are counted right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unswayed.base.edits import apply
from unswayed.base.errors import DataError, MissingExtra, UsageError
from unswayed.base.seeds import Seeds
from unswayed.lab.realism import Aligned, read_people
from unswayed.lab.realism.compare import drops, error_rate, looks
from unswayed.lab.realism.features import chinese_features
from unswayed.lab.realism.judge import RealismJudge
from unswayed.systems.opening import open_system
from unswayed.vary.keyboard.homophone import Homophone
from unswayed.vary.keyboard.pinyin import Pinyin
from unswayed.vary.operator import Operator, Text

READIN = Path(__file__).parents[3] / "../shared/data/readin"
WORDS = ["我们", "今天", "公司", "银行", "怎么", "可以", "还款", "提现", "账户", "支付", "使用", "因为", "问题", "时间"]
WORDS += ["工作", "发展", "国家", "经济", "社会", "学生"]


def sentences(n: int) -> list[str]:
    rng = Seeds(1, "sentences", 1).stream("", 0)
    return ["".join(rng.sample(WORDS, 7)) for _ in range(n)]


def varied(operator: Operator, texts: list[str], seed: int, draw: int = 0) -> list[str]:
    seeds = Seeds(seed, "t", 1)
    made = [operator.change(Text(t, "zh"), seeds.stream(str(i), draw)) for i, t in enumerate(texts)]
    return [apply(t, c.edits) if c else t for t, c in zip(texts, made, strict=True)]


def test_every_feature_has_a_name_of_its_own() -> None:
    found = chinese_features("怎么提现。", "怎么体现")
    assert found.keys() == chinese_features("", "").keys()
    assert found["slip.select_full.rate"] == 1 / 5
    assert found["shape.replaced.same_sound"] == 1
    assert found["shape.deleted.marks"] == 1
    assert found["shape.other_end"] == 1
    assert found["shape.more.latin"] == 0


def test_texts_without_differences_and_empty_ones_have_features() -> None:
    for pair in (("", ""), ("好的", "好的"), ("abc", ""), ("", "好的")):
        assert np.isfinite(list(chinese_features(*pair).values())).all()


def test_without_scikit_learn_the_line_that_installs_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unswayed.lab.realism.judge.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'scikit-learn"):
        RealismJudge(["好"] * 50, [["坏"] * 50])


def test_the_same_noise_is_not_told_apart_and_other_noise_is() -> None:
    texts = sentences(160)
    people = [varied(Homophone(), texts, 1, d) for d in range(2)]
    judge = RealismJudge(texts, people)
    alike = judge.against_people([varied(Homophone(), texts, 2)])
    assert alike.value is not None
    assert alike.value < 0.6
    assert alike.low is not None
    assert alike.low < alike.value < (alike.high or 0)
    assert alike.low < 0.5 < (alike.high or 0), "of other trees and sentences"
    other = judge.against_people([varied(Pinyin(), texts, 3)])
    assert other.value is not None
    assert other.value > 0.85
    assert other.signature != alike.signature
    assert judge.against_people([varied(Homophone(), texts, 2)]) == alike, "nothing in it is left to chance"


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 20 different sentences"):
        RealismJudge(["好"] * 50, [["坏"] * 50])


def test_looks_are_counted() -> None:
    found = looks(["怎么提现", "好的。"], ["怎么体现", "好的"])
    assert found["kind.select_full"] == pytest.approx(100 / 7)
    assert found["kind.mark_lost"] == pytest.approx(100 / 7)
    assert found["same_sound"] == 1
    assert found["full.wrong_selection"] == 1
    assert found["error_rate"] == pytest.approx((1 / 4 + 1 / 3) / 2)


def test_harm_is_compared_by_label() -> None:
    def predict(batch: list[dict[str, str]]) -> list[str]:
        return ["1" if item["a"] == item["b"] else "0" for item in batch]

    clean = Aligned([{"a": "x", "b": "x"}, {"a": "x", "b": "y"}] * 2, ["1", "0"] * 2)
    human = Aligned([{"a": "x", "b": "z"}, *clean.rows[1:]], clean.gold)
    whole, no, yes = drops(open_system(predict), clean, [human, clean], [clean])
    assert (whole["n"], no["n"], yes["n"]) == (4, 2, 2)
    assert (yes["accuracy.clean"], yes["accuracy.human"], yes["accuracy.difference"]) == (100, 75, 25)
    assert (no["flips.human"], yes["flips.human"], yes["flips.difference"]) == (0, 25, -25)


def test_lines_that_do_not_align_are_refused(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("一\n二\n")
    (tmp_path / "r.txt").write_text("一\n")
    with pytest.raises(DataError, match="do not align"):
        read_people(str(tmp_path / "c.txt"), [str(tmp_path / "r.txt")])


def test_the_commands_work_together(tmp_path: Path) -> None:
    from unswayed.cli import unswayed

    texts = sentences(60)
    files = {
        "c": texts,
        "h": varied(Pinyin(), texts, 1),
        "h2": varied(Pinyin(), texts, 2),
        "s": varied(Homophone(), texts, 3),
    }
    for name, lines in files.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    at = {name: str(tmp_path / f"{name}.txt") for name in files}
    given = ["--clean", at["c"], "--real", at["h"], "--real", at["h2"]]
    done = CliRunner().invoke(
        unswayed, ["realism", *given, "--simulated", at["s"], "--format", "json"], catch_exceptions=False
    )
    found = json.loads(done.stdout)
    assert 0.5 < found["auc"]["low"] <= found["auc"]["value"] <= found["auc"]["high"] <= 1
    assert len(found["person"]) == 2
    assert found["baselines"]["nothing"]["value"] > 0.8, "nearly everybody slips somewhere in a sentence of pinyin"
    assert found["language"] == "zh"
    [whole] = found["harm"]["retriever"]
    assert whole["flips"]["human"]["low"] <= whole["flips"]["human"]["value"] <= whole["flips"]["human"]["high"]
    assert (
        "baseline: keyboard/homophone"
        in CliRunner().invoke(unswayed, ["realism", *given, "--simulated", at["s"]]).stdout
    )
    out = tmp_path / "typists.json"
    CliRunner().invoke(
        unswayed, ["calibrate", "keyboard", *given, "--rows", "even", "-o", str(out)], catch_exceptions=False
    )
    assert Pinyin(profile=str(out)).change(Text("怎么提现到银行卡" * 9, "zh"), Seeds(0, "p", 1).stream("a", 0))


@pytest.mark.slow
@pytest.mark.skipif(not READIN.exists(), reason="READIN's files are not beside the project")
def test_people_are_simulated_better_than_homophones_do() -> None:
    """A part of what `benchmarks/pinyin.py` measures on rows held out: here a sixth of WMT2021, which was fitted."""

    def lines(name: str) -> list[str]:
        rows = (READIN / "nmt" / name).read_text(encoding="utf-8").splitlines()
        return [json.loads(row)["zh"].strip("\n") for row in rows][1::6]

    clean, people = lines("test_clean.json"), [lines(f"test_noisy_keyboard_{k}.json") for k in (1, 2, 3)]
    draws = [varied(Pinyin(), clean, 7, d) for d in range(3)]
    judge = RealismJudge(clean, people)
    told, plain = judge.against_people(draws).value, judge.against_people([varied(Homophone(), clean, 7)]).value
    assert told is not None
    assert plain is not None
    assert told < 0.78  # few sentences
    assert plain > 0.97
    human, made = ([error_rate(clean, texts) for texts in group] for group in (people, draws))
    assert np.mean(made) == pytest.approx(np.mean(human), rel=0.25)
