"""A judge and people compare the answers of one run: from questions to a report that states how far they agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from unswayed.storage.judgements import read_judgements

MODEL = """
def answer(batch):
    return [("Yes, within 30 days" if len(b["question"]) % 3 else "Sure, for a month") +
            (" or so." if "refund" in b["question"] else ".") for b in batch]
def judge(batch):
    return ["yes" if b["answer"][0] == b["reference"][0] else "no" for b in batch]
"""


def test_from_answers_to_a_report_that_cites_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unswayed: Callable[..., str], answer_online: Callable[..., None]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("shop.py").write_text(MODEL)
    questions = [
        "can I return these shoes",
        "can I get a refund for them",
        "may I send them back <today>",
        "is it late",
    ]
    rows = [{"question": q, "answer": "You can return them & more within thirty days."} for q in questions]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    unswayed("vary", "rows.jsonl", "--with", "spoken/filler_end", "--draws", 3, "--lang", "en", "-o", "suite")
    judged = ("--equivalent", "judge:shop:judge", "--no-sanity")
    unswayed("run", "suite", "--system", "shop:answer", *judged, "-o", "run")

    unswayed("collect", "items", "same_meaning", "--run", "run", "-o", "items.jsonl")
    items = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert all(item["question"] in questions and item["a"] != item["b"] for item in items)
    assert {item["a"] for item in items} > {rows[0]["answer"]}, "gold and the clean answer are both compared with"
    keys = [json.loads(line) for line in Path("items.key.jsonl").read_text().splitlines()]
    assert {key["source"] for key in keys} == {"clean", "spoken/filler_end"}
    assert {key["against"] for key in keys} == {"clean", "gold"}
    assert not any("source" in item for item in items), "people do not see what made an answer"
    few = []
    for seed in (0, 1):
        unswayed("collect", "items", "same_meaning", "--run", "run", "--limit", 4, "--seed", seed, "-o", "few.jsonl")
        few.append(Path("few.jsonl").read_text().splitlines())
    assert len(few[0]) == len(few[1]) == 4
    assert few[0] != few[1]

    unswayed("collect", "new", "study.toml", "--kind", "same_meaning", "--items", "items.jsonl")
    unswayed("collect", "new", "study.toml")

    def answer(name: str, texts: list[str]) -> dict[str, object]:
        assert len(texts) == 2, "the question stands apart"
        month = ["month" in text for text in texts]
        return {"similarity": 90 if month[0] == month[1] or name == "ben" else 30, "grammatical": True}

    answer_online("study.toml", {"anna": "", "ben": ""}, answer)
    unswayed("collect", "export", "study.toml", "-o", "people.jsonl")
    assert {j.asked["question"] for j in read_judgements("people.jsonl", "same_meaning")} <= set(questions)

    told = unswayed("measure", "judge", "people.jsonl", *judged[:2], "-o", "agreement.json", "--format", "json")
    found = json.loads(told)
    verdicts = [(i["a"][0] == i["b"][0], ("month" in i["a"]) == ("month" in i["b"])) for i in items]
    whole = found["by"]["all"]
    assert found["persons"] == 2
    assert whole["share"]["value"] == pytest.approx(sum(j == p for j, p in verdicts) / len(verdicts))
    assert whole["people"]["value"] == pytest.approx(sum(p for _, p in verdicts) / len(verdicts))
    assert set(found["by"]) == {"all", "clean", "spoken/filler_end"}
    unswayed("report", "run", *judged, "--agreement", "agreement.json", "-o", "report.html")
    assert f"of {len(items)} pairs" in Path("report.html").read_text()
