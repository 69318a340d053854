"""Clusters, the worst of k and weights, from the data file to the last number; and what is said where they can't be."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pytest

import unswayed
from unswayed.base.errors import UsageError

ROWS = [
    {"text": f"turn on the light {i}" if i % 3 else f"play jazz number {i}", "paragraph": f"p{i // 5}",
     "label": "lights" if i % 3 else "music"}
    for i in range(40)
]  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    Path("keen.py").write_text(
        "def predict(batch):\n    return ['lights' if 'light' in b['text'] else 'music' for b in batch]\n"
    )
    return tmp_path


def said(*words: str) -> tuple[int, str]:
    done = commands.unswayed(*words)
    return done.returncode, done.stdout + done.stderr


def test_clusters_from_the_data_to_the_numbers(place: Path) -> None:
    assert said("vary", "mine.jsonl", "--cluster", "paragraph", "--with", "keyboard/adjacent", "--draws", "3",
                "-o", "suite")[0] == 0  # fmt: skip
    code, text = said("run", "suite", "--system", "keen:predict", "-o", "run", "--format", "json")
    assert code == 0, text
    found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert found["cluster"] == "paragraph"
    assert found["average"]["over"] == "paragraph (clusters)"
    assert "paragraph" not in found["by"], "the clusters are not slices too"
    assert found["worst_of"] == 3
    run = unswayed.Run("run")
    alone = unswayed.measure_run(run)
    assert alone.cluster == "paragraph", "the suite says so"
    assert unswayed.measure_run(run, {"measure": {"cluster": "paragraph"}}) == alone
    checked = unswayed.check(
        "keen:predict", "mine.jsonl", "keyboard/adjacent", draws=3, to="other", plan={"data": {"cluster": "paragraph"}}
    )
    assert (checked.average.low, checked.average.high) == (alone.average.low, alone.average.high)
    compare = ("compare", "run", "run", "--format", "json")
    code, text = said(*compare)
    assert code == 0, text
    assert json.loads(text) == json.loads(said(*compare, "--cluster", "paragraph")[1])
    assert "paragraph=" not in text, "the suite's clusters are used, and are not slices too"


def test_a_cluster_among_the_groups_of_a_row(place: Path) -> None:
    rows = [{"inputs": {"text": r["text"]}, "gold": r["label"], "groups": {"paragraph": r["paragraph"]}} for r in ROWS]
    Path("native.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, text = said("vary", "native.jsonl", "--cluster", "paragraph", "--with", "keyboard/adjacent", "-o", "suite")
    assert code == 0, text
    assert unswayed.Suite("suite").manifest.cluster == "paragraph"
    assert next(iter(unswayed.Suite("suite").examples())).groups == {"paragraph": "p0"}


def test_a_plan_says_the_same(place: Path) -> None:
    Path("plan.toml").write_text(
        '[data]\npath = "mine.jsonl"\ngroups = ["paragraph"]\n[vary]\noperators = ["keyboard/adjacent"]\ndraws = 3\n'
        '[run]\nsystem = "keen:predict"\n[measure]\ncluster = "paragraph"\nworst_of = 2\nweigh = "variants"\n'
    )
    code, text = said("run", "--plan", "plan.toml", "-o", "run", "--format", "json")
    assert code == 0, text
    found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert (found["cluster"], found["worst_of"], found["weigh"]) == ("paragraph", 2, "variants")
    code, text = said("measure", "run", "run")
    assert code == 0
    assert "worst of 3" in text
    assert "tries" in text


def test_what_can_not_be_is_said(place: Path) -> None:
    said("vary", "mine.jsonl", "--group", "paragraph", "--with", "keyboard/adjacent", "--draws", "3", "-o", "suite")
    code, text = said("run", "suite", "--system", "keen:predict", "-o", "run", "--cluster", "page")
    assert code == UsageError.exit_code
    assert not Path("run").exists(), "nothing is asked for what can't be measured"
    assert "no field 'page' to cluster by. It has 'paragraph'" in text
    assert "--cluster page" in text
    assert said("run", "suite", "--system", "keen:predict", "-o", "run")[0] == 0
    code, text = said("measure", "run", "run", "--worst-of", "9")
    assert code == UsageError.exit_code
    assert "no example has more than 3 distinct variants" in text
    code, text = said("vary", "mine.jsonl", "--cluster", "page", "--with", "keyboard/adjacent", "-o", "other")
    assert code != 0
    assert "page" in text
