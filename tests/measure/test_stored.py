"""Results are stored with their run and read again, until something that decides them changes."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

import unswayed
from unswayed.measure import stored
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.score.accuracy import Accuracy

TEXTS = [("turn off the lights", "lights"), ("play some jazz", "music"), ("dim the lights", "lights")] * 8


class Counting:
    """How many pairs of output and gold were scored."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pairs = 0
        plain = Accuracy.stats

        def stats(scorer, outputs, golds, task):
            self.pairs += len(outputs)
            return plain(scorer, outputs, golds, task)

        monkeypatch.setattr(Accuracy, "stats", stats)

    def since(self) -> int:
        pairs, self.pairs = self.pairs, 0
        return pairs


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


@pytest.fixture
def suite(tmp_path: Path) -> unswayed.Suite:
    rows = [{"id": str(i), "text": f"{text} {i}", "label": label} for i, (text, label) in enumerate(TEXTS)]
    return make_suite(rows, ["keyboard/adjacent"], draws=2, seed=1, language="en", to=tmp_path / "suite")


def system(batch: list[dict[str, str]]) -> list[str]:
    return ["lights" if "light" in item["text"] else "music" for item in batch]


def other(batch: list[dict[str, str]]) -> list[str]:
    return ["lights" if "ligh" in item["text"] else "music" for item in batch]


@pytest.fixture
def run(suite: unswayed.Suite, tmp_path: Path) -> unswayed.Run:
    return run_system(suite, system, tmp_path / "run")


def test_what_was_measured_is_not_measured_again(run, suite, tmp_path: Path, counting: Counting) -> None:
    first = unswayed.measure_run(run)
    assert counting.since() > 0
    second = run_system(suite, other, tmp_path / "other")
    unswayed.measure_run(second)
    counting.since()
    again = unswayed.measure_run(str(run.path))
    assert msgspec.json.encode(again) == msgspec.json.encode(first)
    assert again == first
    unswayed.write_report(run, again, tmp_path / "report.html")
    unswayed.compare(run, second, plan={"measure": {"bootstrap": 100}})
    again.flips()
    assert counting.since() == 0


def test_gates_and_the_report_command_read_what_was_measured(run, tmp_path: Path, counting: Counting) -> None:
    from click.testing import CliRunner

    from unswayed.cli import measure, report

    unswayed.measure_run(run)
    counting.since()
    for command, words in (
        (report, [str(run.path), "-o", str(tmp_path / "r.html")]),
        (measure, ["run", str(run.path)]),
    ):
        done = CliRunner().invoke(command.command, words)
        assert done.exit_code == 0, done.output
    assert counting.since() == 0


def test_another_score_or_level_is_measured(run, counting: Counting) -> None:
    first = unswayed.measure_run(run)
    counting.since()
    narrow = unswayed.measure_run(run, {"measure": {"level": 0.5}})
    assert narrow.worst.high - narrow.worst.low < first.worst.high - first.worst.low
    assert unswayed.measure_run(run, {"measure": {"scores": ["macro_f1"]}}).score == "macro_f1"
    assert unswayed.measure_run(run, {"measure": {"weigh": "variants"}}) != first
    assert unswayed.measure_run(run, {"measure": {"worst_of": 1}}) != first
    assert unswayed.measure_run(run, {"measure": {"groups": []}}) is not None
    assert counting.since() == 0, "scores of answers are kept, whatever is made of them"
    assert unswayed.measure_run(run) == first


def test_a_resumed_run_is_measured_again(suite, tmp_path: Path) -> None:
    broken = True

    def sometimes(batch):
        if broken and any(item["text"].startswith("play some jazz 1") for item in batch):
            raise RuntimeError("no jazz today")
        return system(batch)

    sometimes.unswayed_identity = "one system"  # type: ignore[attr-defined]
    before = unswayed.measure_run(run_system(suite, sometimes, tmp_path / "run"))
    assert before.validity["failed"] > 0
    broken = False
    after = unswayed.measure_run(run_system(suite, sometimes, tmp_path / "run"))
    assert after.validity["failed"] == 0
    assert after.clean.n > before.clean.n


def test_another_system_in_the_same_folder_is_measured_again(suite, tmp_path: Path) -> None:
    first = unswayed.measure_run(run_system(suite, lambda batch: ["music"] * len(batch), tmp_path / "run"))
    second = unswayed.measure_run(run_system(suite, system, tmp_path / "run"))
    assert second.clean.value == 1 > first.clean.value


@pytest.fixture
def scorer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    import sys

    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "my_scorer.py"
    sys.modules.pop("my_scorer", None)


def write_scorer(file: Path, score: float) -> None:
    file.write_text(
        "from unswayed.score import MeanScorer\n"
        "class Same(MeanScorer):\n    name = 'same'\n"
        f"    def item(self, output, gold, task):\n        return {score}\n"
    )


def test_an_edited_scorer_is_another_scorer(run, scorer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from unswayed.score import scorers

    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # both edits may fall into one second
    found = []
    for score in (0.25, 0.75):
        write_scorer(scorer, score)
        sys.modules.pop("my_scorer", None)
        scorers._loaded.pop("my_scorer:Same", None)
        found.append(unswayed.measure_run(run, {"measure": {"scores": ["my_scorer:Same"]}}).clean.value)
    assert found == [0.25, 0.75]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 1, "kept": 3}', '{"format": 9, "kept": []}', "\xff"])
def test_a_damaged_file_is_measured_anew(run, damage: str) -> None:
    first = unswayed.measure_run(run)
    file = run.path / stored.RESULTS
    whole = file.read_bytes()
    file.write_bytes(damage.encode("latin-1"))
    assert unswayed.measure_run(run) == first
    assert file.read_bytes() == whole


def test_numbers_that_were_changed_by_hand_are_not_believed(run) -> None:
    first = unswayed.measure_run(run)
    file = run.path / stored.RESULTS
    found = msgspec.json.decode(file.read_bytes())
    found["kept"][0]["results"]["worst"]["value"] = 1.0
    file.write_bytes(msgspec.json.encode(found))
    assert unswayed.measure_run(run) == first


def test_results_of_another_run_are_not_believed(run, suite, tmp_path: Path) -> None:
    second = run_system(suite, lambda batch: ["music"] * len(batch), tmp_path / "second")
    wrong = unswayed.measure_run(second)
    right = unswayed.measure_run(run)
    shutil.copy(second.path / stored.RESULTS, run.path / stored.RESULTS)
    assert unswayed.measure_run(run) == right != wrong


@pytest.mark.parametrize("damage", [b"not a store", b""])
def test_damaged_scores_are_made_anew(run, damage: bytes) -> None:
    first = unswayed.measure_run(run)
    (run.path / stored.RESULTS).unlink()
    (run.path / stored.SCORES).write_bytes(damage)
    assert unswayed.measure_run(run) == first


def test_a_copy_of_a_run_has_its_results(run, tmp_path: Path, counting: Counting) -> None:
    first = unswayed.measure_run(run)
    counting.since()
    shutil.copytree(run.path, tmp_path / "copy")
    assert unswayed.measure_run(tmp_path / "copy") == first
    assert counting.since() == 0


def test_nothing_is_stored_where_it_is_not_wanted(run) -> None:
    unswayed.measure_run(run, {"measure": {"stored": False}})
    assert not (run.path / stored.RESULTS).exists()
    assert not (run.path / stored.SCORES).exists()


def test_kept_scores_are_the_scorers_own(run) -> None:
    scorer, task = Accuracy(), run.suite.task
    pairs = [("a", "a"), ("b", "a"), ("a", "a"), ("\ud800", "a")]
    plain = scorer.stats([o for o, _ in pairs], [g for _, g in pairs], task)
    for _ in range(2):
        with stored.KeptScores([run]) as kept:
            assert np.array_equal(kept(scorer, pairs, task), plain)


def test_a_score_that_was_changed_by_hand_is_not_believed(run, counting: Counting) -> None:
    first = unswayed.measure_run(run)
    (run.path / stored.RESULTS).unlink()
    with closing(sqlite3.connect(run.path / stored.SCORES)) as db, db:
        assert db.execute("UPDATE batches SET answers = CAST(replace(answers, '1.0]', '0.0]') AS BLOB)").rowcount > 0
    counting.since()
    assert unswayed.measure_run(run) == first
    assert counting.since() > 0
