"""Story 9, a metric: its author has a function and a table of references, another dialect and changed meanings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import unswayed

FRMT = Path(__file__).parents[3] / "shared/data/frmt/lexical_bucket"

pytestmark = pytest.mark.skipif(not FRMT.is_dir(), reason="FRMT's files are not here (../shared/data/frmt)")

BY_WORDS = """
def score(items):
    return [len(words(item["candidate"]) & words(item["reference"])) / len(words(item["reference"])) for item in items]


def words(text):
    return set(text.lower().split())
"""
BY_MARKS = """
def score(items):
    return [-float("not" in item["candidate"].split() or "não" in item["candidate"].split()) for item in items]
"""
SEEN = """
def score(items):
    with open("seen.txt", "a", encoding="utf-8") as file:
        file.writelines(item["candidate"] + "\\n" for item in items)
    return [1.0 for _ in items]
"""


def translations(name: str) -> list[str]:
    lines = (FRMT / f"pt_lexical_test_en_pt-{name}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t")[1] for line in lines]


def pairs(place: Path) -> int:
    """Portuguese of Brazil, the same sentence of Portugal, and the first with its meaning changed by an operator."""
    (place / "brazil.txt").write_text("\n".join(translations("BR")) + "\n", "utf-8")
    unswayed("vary", "brazil.txt", "--lang", "pt", "--with", "meaning/control", "-o", "controls", cwd=place, check=True)
    from unswayed import Suite

    suite = Suite(place / "controls")
    changed = {variant.row: variant.inputs["text"] for variant in suite.variants()}
    rows = [
        (brazil, portugal, changed[row])
        for row, (brazil, portugal) in enumerate(zip(translations("BR"), translations("PT"), strict=True))
        if row in changed and brazil != portugal
    ]
    text = "".join("\t".join(row) + "\n" for row in [("reference", "dialect", "changed"), *rows])
    (place / "mine.tsv").write_text(text, "utf-8")
    return len(rows)


def test_the_answer_comes_first_and_an_edited_metric_is_scored_again(tmp_path: Path) -> None:
    count = pairs(tmp_path)
    assert count > 300
    (tmp_path / "my.py").write_text(BY_WORDS)
    check = ("metrics", "check", "my:score", "--pairs", "mine.tsv", "--dialect", "Portuguese of Portugal", "-o", "kept")
    first = unswayed(*check, cwd=tmp_path, check=True).stdout
    assert first.startswith("Not robust: a change of meaning scores above Portuguese of Portugal in ")
    assert f"of {count:,} segments." in first.splitlines()[0]
    assert [line.split()[0] for line in first.splitlines()[4:]] == ["my:score", "bleu", "chrf", "yisi1"]

    again = json.loads(unswayed(*check, "--format", "json", cwd=tmp_path, check=True).stdout)
    failed = again["my:score"]["failure"]["share"]
    assert failed["value"] > failed["low"] > 0.5
    assert again["my:score"]["regression"]["coefficients"]["dialect"]["high"] < 0

    (tmp_path / "my.py").write_text(BY_MARKS)
    edited = json.loads(unswayed(*check, "--format", "json", cwd=tmp_path, check=True).stdout)
    assert edited["my:score"]["success"] != again["my:score"]["success"]
    assert edited["bleu"] == again["bleu"]

    gate = unswayed(*check, "--fail-under", 0.9, cwd=tmp_path)
    assert gate.returncode == 1
    assert "Gate failed" in gate.stderr


def test_a_metric_is_checked_without_the_packages_of_others(tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(BY_WORDS)
    (tmp_path / "mine.tsv").write_text("a b c\ta b d\ta x y\n" * 12)
    (tmp_path / "sacrebleu.py").write_text("raise ImportError")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "unswayed", "metrics", "check", "my:score", "--pairs", "mine.tsv"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Robust: ")
    assert "Not compared with bleu. " in done.stderr
    named = subprocess.run(
        [*command, "--beside", "bleu"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert named.returncode == 4


def test_pairs_in_another_encoding(tmp_path: Path) -> None:
    rows = [
        "reference\tdialect\tchanged",
        "o ônibus é rápido\to autocarro é rápido\to ônibus não é rápido",
        "o trem está cheio\to comboio está cheio\to trem não está cheio",
    ]
    (tmp_path / "mine.tsv").write_bytes("\n".join(rows).encode("cp850"))
    (tmp_path / "my.py").write_text(SEEN)
    unswayed("metrics", "check", "my:score", "--pairs", "mine.tsv", "--encoding", "cp850", "--beside", "my:score",
            cwd=tmp_path, check=True)  # fmt: skip
    assert "o autocarro é rápido" in (tmp_path / "seen.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there are no rows"),
        ("reference\tdialect\nx\ty\n", "bad.tsv:1: the header lacks changed"),
        ("a\tb\tc\nd\te\n", "bad.tsv:2: this row has 2 columns; 3 are expected"),
        ("a\tb\tc\nd\t\tf\n", "bad.tsv:2: the dialect is empty"),
        ("a b c\n", "must be separated by tabs or commas"),
    ],
)
def test_bad_pairs_are_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.tsv").write_text(text)
    done = unswayed("metrics", "check", "chrf", "--pairs", "bad.tsv", cwd=tmp_path)
    assert done.returncode == 4
    assert said in done.stderr
