"""Story 7, a benchmark with people: from a suite to versions by a crowd, each by one person, and a run on them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crowd import Participant, served
from unswayed.storage.suite import Suite

READIN = Path(__file__).parents[3] / "shared/data/readin/afqmc_keyboard"
PAIRS = 8
METHODS = ("sogou", "baidu", "gboard")
PEOPLE = {f"5f{n:022d}": METHODS[n % 3] for n in range(6)}  # as Prolific names them
STUDY = """
[arrive]
open = true
parameters = ["PROLIFIC_PID", "STUDY_ID"]

[[questions]]
name = "age"
text = {en = "How old are you?", zh = "您的年龄？"}
number = [18, 99]

[[questions]]
name = "ime"
text = {en = "Which input method do you use?", zh = "您使用哪种输入法？"}
answers = {sogou = {en = "Sogou", zh = "搜狗"}, baidu = {en = "Baidu", zh = "百度"}, gboard = "Gboard", other = "…"}

[training]
path = "training.jsonl"

[completion]
code = "C1A2B3"
return = "https://app.prolific.com/submissions/complete?cc={code}&pid={PROLIFIC_PID}"
text = {en = "Thank you very much.", zh = "非常感谢。"}
"""
TRAINING = {
    "id": "t1", "text": "花呗怎么还款", "gold": {"text": "花呗怎么还款"},
    "feedback": {"en": "Type on, whatever comes out.", "zh": "请一直输入下去。"},
}  # fmt: skip

pytestmark = pytest.mark.skipif(not READIN.is_dir(), reason="READIN's files are not here (../shared/data/readin)")


def rows(name: str) -> list[dict[str, str]]:
    lines = (READIN / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:PAIRS]]


def typed_by_people() -> dict[str, dict[str, str]]:
    """What READIN's three people made of each sentence, by input method."""
    found: dict[str, dict[str, str]] = {}
    for method, number in zip(METHODS, (1, 2, 3), strict=True):
        for clean, noisy in zip(rows("test_clean.json"), rows(f"test_noisy_{number}.json"), strict=True):
            for field in ("sentence1", "sentence2"):
                found.setdefault(clean[field], {})[method] = noisy[field].strip()
    return found


def test_from_a_suite_to_what_holds_for_people_like_these(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unswayed: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(row) + "\n" for row in rows("test_clean.json")]
    Path("pairs.jsonl").write_text("".join(lines))
    Path("my_system.py").write_text(
        "def predict(batch):\n    return [str(int(len(set(b['sentence1']) & set(b['sentence2'])) > 6)) for b in batch]"
    )
    unswayed("vary", "pairs.jsonl", "--with", "keyboard/pinyin", "-o", "suite")
    Path("training.jsonl").write_text(json.dumps(TRAINING) + "\n")
    unswayed("collect", "new", "draft.toml", "--kind", "retype", "--suite", "suite")
    assert Path("draft.sqlite").exists(), "ready to serve"
    plan = Path("draft.toml").read_text(encoding="utf-8")
    plan = plan.replace('consent = """', 'instructions = {en = "Type fast.", zh = "请快速输入。"}\nconsent = """')
    plan = plan.replace("k = 3", 'k = 3\nper_person = 8\nstrata = ["sogou", "baidu", "gboard"]\nby = "ime"')
    Path("study.toml").write_text(plan + STUDY, encoding="utf-8")
    unswayed("collect", "new", "study.toml")

    texts = typed_by_people()
    with served("study.toml") as url:
        with Participant(url, "join?PROLIFIC_PID=6a") as nobody:
            nobody.begin(age="30", ime="other")
            assert nobody.says("您不符合本研究的参与条件")
        for pid, method in PEOPLE.items():
            take_part(url, pid, method, texts)
    status = json.loads(unswayed("collect", "status", "study.toml", "--format", "json"))
    progress = status["progress"][0]
    assert progress["versions"] == 3 * PAIRS
    assert progress["items complete"] == progress["items"] == 2 * PAIRS
    assert progress["asked again"] == 2

    unswayed("collect", "export", "study.toml", "--as", "suite", "-o", "people")
    suite = Suite("people")
    assert suite.manifest.variants == 3 * PAIRS, "every version is there"
    for example, variants in suite.groups():
        assert {v.source for v in variants} == {f"people/{method}" for method in METHODS}
        assert len({v.draw for v in variants}) == len({v.note for v in variants}) == 3
        for variant in variants:
            method = variant.source.partition("/")[2]
            assert variant.inputs == {field: texts[text][method] for field, text in example.inputs.items()}
    assert not any(pid in str(list(suite.variants())) for pid in PEOPLE), "pseudonyms"
    makers = Counter((v.draw, v.source, v.note) for v in suite.variants())
    assert len({draw for draw, _, _ in makers}) == len(makers), "a draw is a person"

    told = unswayed("run", "people", "--system", "my_system:predict", "-o", "run")
    assert "6 people: average" in told
    assert "for these people" in told
    assert "for people like these" in told


def take_part(url: str, pid: str, method: str, texts: dict[str, dict[str, str]]) -> None:
    """One person, from Prolific's link to the completion code; they type as READIN's person with that method did."""
    with Participant(url, f"join?PROLIFIC_PID={pid}&STUDY_ID=s1&SESSION_ID=x") as person:
        assert person.at == "consent"
        assert "PROLIFIC_PID" not in str(person.page.url), "the name leaves the address"
        person.submit("consent", agree="yes")
        assert person.at == "questions"
        assert person.says("您使用哪种输入法？")
        person.submit("questions", age="7", ime=method)
        assert person.at == "questions", "nobody is seven"
        person.submit("questions", age="27", ime=method)
        assert person.says("请快速输入。")
        person.submit("instructions")
        assert person.text == TRAINING["text"]
        person.type("花呗怎么还款")
        assert person.says("回答正确。")
        assert person.says("请一直输入下去。")
        person.submit("feedback", item="t1")
        if pid == next(iter(PEOPLE)):  # first too slow, then careless, then as asked
            text = person.text
            assert person.type(text, seconds=len(text) * 3)["again"]
            assert person.says("输入速度太慢")
            assert person.type("啊" * len(text))["flags"] == ["another text"]
            assert person.text == text, "the same text, of the same person"
        while person.text:
            assert person.type(texts[person.text][method])["counted"]
        assert person.says("C1A2B3")
        assert person.says(f"https://app.prolific.com/submissions/complete?cc=C1A2B3&pid={pid}")
        assert person.says("非常感谢。")
