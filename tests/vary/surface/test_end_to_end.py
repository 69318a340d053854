"""From a file to the last number, as a user runs it, with surface noise and presets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from unswayed import make_suite
from unswayed.base.errors import DataError

CONTEXT = "The Eiffel Tower, built in 1889 by Gustave Eiffel's company, stands in Paris. It's 330 metres tall."
READER = '''
KNOWN = {"who": "Gustave Eiffel", "where": "Paris", "how": "330 metres"}
def read(batch):
    """Knows a question by its first word, with a capital."""
    return [next((a for q, a in KNOWN.items() if item["question"].startswith(q.capitalize())), "") for item in batch]
'''
CONLL = "Angela B-PER\nMerkel I-PER\nbesuchte O\ndie O\nUniversität B-ORG\nKöln I-ORG\nam O\nMontag O\n. O\n\n"
CONLL += "Wir O\nmöchten O\nmorgen O\nnach O\nMünchen B-LOC\nfahren O\n, O\nsagte O\nJürgen B-PER\nKlopp I-PER\n. O\n\n"


def unswayed(*words: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "unswayed", *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    asked = [
        ("Who built the tower?", "Gustave Eiffel"),
        ("Where does it stand?", "Paris"),
        ("How tall is it?", "330 metres"),
    ]
    questions = [
        {"id": str(i), "question": q, "answers": [{"text": a, "answer_start": CONTEXT.index(a)}]}
        for i, (q, a) in enumerate(asked)
    ]
    data = {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": questions}]}]}
    (tmp_path / "squad.json").write_text(json.dumps(data))
    (tmp_path / "my.py").write_text(READER)
    return tmp_path


def test_questions_in_other_case_and_punctuation(squad: Path) -> None:
    names = ("--with", "surface/case", "--with", "surface/punctuation", "--param", "surface/case:kind=lower")
    unswayed("vary", "squad.json", "--lang", "en", *names, "-o", "q/", cwd=squad)
    done = unswayed("run", "q/", "--system", "my:read", "-o", "run/", "--format", "json", cwd=squad)
    results = json.loads(done.stdout)
    assert results["score"] == "exact_match"
    assert results["clean"]["value"] == 1
    # the system knows its questions by their first letter's case: all lose it in case, none in punctuation
    assert results["drop"]["value"] == pytest.approx(1 / 2)


def test_answers_in_a_varied_context_stay_answers(squad: Path) -> None:
    unswayed(
        "vary",
        "squad.json",
        "--lang",
        "en",
        "--with",
        "@surface",
        "--field",
        "context",
        "--draws",
        "3",
        "-o",
        "c/",
        cwd=squad,
    )
    lines = unswayed("suite", "export", "c/", "-o", "-", cwd=squad).stdout.splitlines()
    variants = [v for v in map(json.loads, lines) if "example_id" in v]
    assert len({v["source"] for v in variants}) >= 7
    for variant in variants:
        for answer in variant["gold"]["answers"]:
            assert variant["inputs"]["context"].startswith(answer["text"], answer["start"])


def test_entities_of_a_german_file(tmp_path: Path) -> None:
    (tmp_path / "ner.conll").write_text(CONLL)
    names = ("--with", "@typing", "--with", "@surface")
    done = unswayed(
        "vary", "ner.conll", "--lang", "de", *names, "--draws", "3", "--seed", "7", "-o", "suite/", cwd=tmp_path
    )
    assert "@typing (language de, task tag): keyboard/adjacent" in done.stderr
    lines = unswayed("suite", "export", "suite/", "-o", "-", cwd=tmp_path).stdout.splitlines()
    rows = list(map(json.loads, lines))
    golds = {row["id"]: row["gold"]["tags"] for row in rows if "id" in row and "gold" in row}
    variants = [row for row in rows if "example_id" in row]
    assert len(variants) > 30
    for variant in variants:
        tokens, tags = variant["inputs"]["text"].split(" "), variant["gold"]["tags"]
        assert len(tokens) == len(tags)
        assert [t for t in tags if t != "O"] == [t for t in golds[variant["example_id"]] if t != "O"]


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", True),
        (b"\xff\xfe\x00bad", True),
        ('{"text": "😀"}\n'.encode(), False),
        ('{"text": "مرحبا، كيف الحال؟"}\n'.encode(), False),
    ],
)
def test_odd_files(tmp_path: Path, content: bytes, wrong: bool) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    if wrong:
        with pytest.raises(DataError, match=r"x\.jsonl"):
            make_suite(tmp_path / "x.jsonl", "@surface", language="en")
    else:
        assert len(make_suite(tmp_path / "x.jsonl", "@surface", language="en"))
