"""Story 10, a sturdier model: augment, train, compare paired, then check on text typed by people it never saw.

The task is to tell what a question asks for (who, when, how many, …). Typos for training and for the suite are
simulated from the typists of Aalto's sample, whose profile is fitted here. The check is on NoiseQA's questions, which
other people retyped.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import unswayed

DATA = Path(__file__).parents[3] / "shared/data"
QUESTIONS, PEOPLE = DATA / "disfl_qa/train.json", DATA / "noiseqa/people.jsonl"
TYPISTS = DATA / "typing_en/people.tsv.gz"
KINDS = ("how many", "how much", "how long", "how", "who", "when", "where", "why", "which", "what")
TYPIST = ["--lang", "en", "--with", "keyboard/typist", "--param", "profile=typists.json", "--param", "mode=uncorrected"]
MODULE = """
import json

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline


def trained(file):
    rows = [json.loads(line) for line in open(file, encoding="utf-8")]
    texts = [row["text"] if "text" in row else row["inputs"]["text"] for row in rows]
    labels = [row["label"] if "label" in row else row["gold"] for row in rows]
    words = TfidfVectorizer(ngram_range=(1, 2))
    return make_pipeline(words, SGDClassifier(random_state=0, max_iter=20, tol=None)).fit(texts, labels)


def plain(batch, model=trained("train.jsonl")):
    return list(model.predict([item["text"] for item in batch]))


def sturdy(batch, model=trained("more.jsonl")):
    return list(model.predict([item["text"] for item in batch]))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (QUESTIONS.exists() and PEOPLE.exists() and TYPISTS.exists()),
        reason="needs ../shared/data: disfl_qa, noiseqa, typing_en",
    ),
]


def kind(question: str) -> str:
    words = " ".join(["", *re.findall("[a-z]+", question.lower()), ""])
    return next((name for name in KINDS if f" {name} " in words), "other")


def write_rows(file: Path, rows: list[dict[str, str]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_data(place: Path) -> None:
    typed = [json.loads(line) for line in PEOPLE.read_text("utf-8").splitlines()]
    asked = {pair["original"] for pair in json.loads(QUESTIONS.read_text("utf-8")).values()}
    known = sorted(asked - {row["question"] for row in typed})[:2500]
    write_rows(place / "train.jsonl", [{"text": text, "label": kind(text)} for text in known])
    test = [{"id": row["id"], "text": row["question"], "label": kind(row["question"])} for row in typed]
    write_rows(place / "test.jsonl", test)
    people = [{**row, "typed": person["keyboard"]} for row, person in zip(test, typed, strict=True)]
    write_rows(place / "people.jsonl", people)
    (place / "models.py").write_text(MODULE, encoding="utf-8")


def compared(place: Path, suite: str) -> dict[str, dict[str, float]]:
    """Both models on a suite: the differences over all variants, by measure."""
    for name in ("plain", "sturdy"):
        unswayed("run", suite, "--system", f"models:{name}", "-o", f"{suite}-{name}", cwd=place, check=True)
    words = ["compare", f"{suite}-plain", f"{suite}-sturdy"]
    shown = unswayed(*words, cwd=place, check=True).stdout
    assert re.search(
        r"^(Better by |Mixed: |No difference that ).*\nOf the answers to variants, [\d,]+ (is|are) lost", shown, re.M
    )
    assert re.search(r"clean .* -?\d\.\d+ \[-?\d\.\d+, -?\d\.\d+\]", shown), "the clean score has a row of the table"
    rows = json.loads(unswayed(*words, "--format", "json", cwd=place, check=True).stdout)["differences"]
    return {row["measure"]: row for row in rows if row["set"] in ("", "all")}


def test_the_story(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    write_data(tmp_path)
    unswayed("calibrate", "typist", "--people", TYPISTS, "-o", "typists.json", cwd=tmp_path, check=True)
    made = unswayed("augment", "train.jsonl", *TYPIST, "--copies", 2, "-o", "more.jsonl", cwd=tmp_path, check=True)
    assert "by keyboard/typist" in made.stderr
    unswayed("vary", "test.jsonl", *TYPIST, "--draws", 5, "--seed", 3, "-o", "suite", cwd=tmp_path, check=True)

    found = compared(tmp_path, "suite")
    assert found["clean"]["difference"] > -0.01, "what is gained on typos is not paid for on clean text"
    assert found["clean"]["low"] < found["clean"]["difference"] < found["clean"]["high"]
    assert found["worst"]["difference"] > 0.01
    assert found["worst"]["shown"], "more than chance"

    imported = ["people.jsonl", "--input", "text", "--gold", "label", "--variant", "typed", "--lang", "en"]
    unswayed("suite", "import", *imported, "-o", "people", cwd=tmp_path, check=True)
    people = compared(tmp_path, "people")
    assert people["average"]["n"] == 612
    assert people["average"]["low"] <= people["average"]["difference"] <= people["average"]["high"]
    assert people["average"]["difference"] > -0.005, "the gain does not turn into a loss where people type"
