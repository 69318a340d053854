"""Fitting speakers: what is counted, and that a fitted speaker is heard as the one it was fitted to."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from unswayed.base.edits import apply
from unswayed.base.errors import DataError
from unswayed.base.seeds import Seeds
from unswayed.cli.calibrate import command
from unswayed.lab.calibration.mandarin_speaker import count_speech, fit_speaker
from unswayed.lab.realism import read_people
from unswayed.vary.people import SPOKEN_CLASSES, Speakers, read_profiles, speakers, spoken_class
from unswayed.vary.speech.mandarin import Mandarin, MandarinSpeaker

WORDS = ["我们", "今天", "公司", "银行", "怎么", "可以", "还款", "提现", "账户", "支付", "使用", "因为", "问题", "时间"]
WORDS += ["工作", "发展", "国家", "经济", "社会", "学生", "农民", "记者", "振兴", "獬豸"]


def sentences(n: int) -> list[str]:
    rng = Seeds(1, "sentences", 1).stream("", 0)
    return ["".join(rng.sample(WORDS, 5)) + "，" + "".join(rng.sample(WORDS, 4)) + "。" for _ in range(n)]


def test_differences_are_counted_by_kind() -> None:
    seen = count_speech(["我们今天还款，“提现”要3000元。"], ["我们金天还款提现药3000元，。"])
    today = spoken_class("今天", False)
    assert seen.seen[f"misheard{today}"] == 1
    assert sum(seen.seen[f"lost{c}"] for c in range(SPOKEN_CLASSES)) == 0
    assert seen.share("lost/comma") == 1
    assert seen.share("lost/quote") == 1
    assert seen.seen["digits"] == 0
    assert seen.heard["j", "j"] == 1
    assert seen.heard["in", "in"] == 1


def test_a_lost_clause_is_one_event() -> None:
    seen = count_speech(["我们今天还款，银行账户支付，学生工作。"], ["我们今天还款，学生工作。"])
    assert (seen.seen["clause"], seen.places["clause"]) == (1, 2)
    assert sum(seen.seen[f"lost{c}"] for c in range(SPOKEN_CLASSES)) == 0


def test_a_fitted_speaker_is_heard_like_the_one_it_was_fitted_to() -> None:
    texts, seeds = sentences(150), Seeds(5, "t", 1)
    real = MandarinSpeaker(speakers().people[0])
    said = [apply(t, real.say(t, seeds.stream(str(i), i))) for i, t in enumerate(texts)]
    fitted = MandarinSpeaker(fit_speaker(texts, said, rounds=2))
    again = [apply(t, fitted.say(t, seeds.stream(f"again {i}", i))) for i, t in enumerate(texts)]
    one, two = count_speech(texts, said), count_speech(texts, again)

    def share(seen: object, name: str) -> float:
        return sum(seen.seen[f"{name}{c}"] for c in range(SPOKEN_CLASSES)) / len(texts)  # type: ignore[attr-defined]

    assert share(two, "misheard") == pytest.approx(share(one, "misheard"), rel=0.25)
    assert two.share("lost/comma") == pytest.approx(one.share("lost/comma"), abs=0.12)


def test_calibrate_writes_a_profile_that_can_be_used(tmp_path: Path) -> None:
    texts = sentences(20)
    rows = [{"id": str(i), "zh": text, "en": "x"} for i, text in enumerate(texts)]
    heard = [{**row, "zh": row["zh"].replace("今天", "金田").replace("，", "")} for row in rows if row["id"] != "3"]
    for name, some in (("c.json", rows), ("h.json", heard)):
        (tmp_path / name).write_bytes(b"\n".join(msgspec.json.encode(row) for row in some))
    files = ["--clean", str(tmp_path / "c.json"), "--real", str(tmp_path / "h.json")]
    made = CliRunner().invoke(command, ["speech", *files, "--rows", "even", "-o", str(tmp_path / "p.json")])
    assert made.exit_code == 0, made.output
    (person,) = read_profiles(tmp_path / "p.json", Speakers).people
    assert person.marks["comma"]["lost"] > 0.5
    Mandarin(profile=str(tmp_path / "p.json"))


def test_rows_join_on_their_ids(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"id": 1, "zh": "一"}\n{"id": 2, "zh": "二"}\n{"id": 3, "zh": "三"}\n')
    (tmp_path / "h.json").write_text('{"id": 3, "zh": "山"}\n{"id": 1, "zh": "衣"}\n')
    before, (after,) = read_people(str(tmp_path / "c.json"), [str(tmp_path / "h.json")])
    assert (before.texts(), after.texts()) == (["一", "三"], ["衣", "山"])
    (tmp_path / "h.json").write_text('{"id": 1, "zh": "衣"}\n{"id": 9, "zh": "酒"}\n')
    with pytest.raises(DataError, match="h.json:2: the id '9' is not in"):
        read_people(str(tmp_path / "c.json"), [str(tmp_path / "h.json")])
