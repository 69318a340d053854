"""People and operators against a reference, in suites of rows whose texts nobody published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unswayed.base.errors import DataError, UnknownName, UsageError
from unswayed.data import import_rows
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Results
from unswayed.measure.sentences import plain, verdict
from unswayed.report.html import tables
from unswayed.report.tables import render
from unswayed.run.engine import run_system


def right(question: int, missed: int) -> str:
    """A speaker of whom every so many questions are missed; none for 0."""
    return "wrong" if missed and question % missed == 0 else f"answer {question}"


def measured(place: Path, speakers: dict[str, tuple[int, int]], reference: str | None = None, n: int = 60) -> Results:
    """Each speaker misses every so many of the first so many questions. The examples are read by `us`."""
    rows = [{"id": str(q), "person": "us", "gold": [f"Answer {q}", "nothing"]} for q in range(n)]
    log = [{"id": str(q), "output": right(q, 20)} for q in range(n)]
    for name, (missed, questions) in speakers.items():
        rows += [{"example_id": str(q), "person": name, "role": "speaker"} for q in range(questions)]
        log += [{"id": str(q), "person": name, "output": right(q, missed)} for q in range(questions)]
    for file, lines in (("rows.jsonl", rows), ("log.jsonl", log)):
        (place / file).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    suite = import_rows(place / "rows.jsonl", place / "suite", "qa", "en", overwrite=True)
    run = run_system(suite, f"logged:{place / 'log.jsonl'}")
    return measure_run(run, {"measure": {"scores": ["f1"], "reference": reference}})


SPEAKERS = {"ke": (3, 60), "nz": (0, 60), "za": (19, 60), "five <b>": (2, 5)}


def test_each_is_tested_against_the_reference_and_only_sure_ones_are_named(tmp_path: Path) -> None:
    results = measured(tmp_path, SPEAKERS)
    against = results.against
    assert against
    assert against.reference == "us"
    assert {name: one.verdict for name, one in against.sets.items()} == {
        "ke": "worse",
        "five <b>": "",
        "za": "",
        "nz": "",
    }
    worst = against.sets["ke"]
    assert worst.drop.value == pytest.approx((20 - 3) / 60)
    assert worst.low is not None
    assert worst.high is not None
    assert worst.drop.low is not None
    assert worst.low < worst.drop.low < 17 / 60 < worst.high  # all together is wider than each alone
    assert worst.p_holm == pytest.approx(4 * (worst.drop.p or 0))
    assert against.sets["five <b>"].drop.n == 5


def test_words_are_those_of_people(tmp_path: Path) -> None:
    results = measured(tmp_path, SPEAKERS)
    said = plain(verdict(results))
    assert "against us, tested for 4 speakers together (Holm): worse for ke" in said
    printed = render(results)
    assert "speaker  ke" in printed
    page = " ".join(f"{table.caption} {table.rows}" for table in tables(results))
    assert "Each speaker against" in page
    for text in (said, printed, page):
        assert "operator" not in text
    assert "five <b>" not in page


def test_a_person_may_be_the_reference(tmp_path: Path) -> None:
    results = measured(tmp_path, SPEAKERS, "za")
    assert results.against
    assert "za" not in results.against.sets
    assert results.against.sets["ke"].drop.value == pytest.approx((20 - 4) / 60)
    assert results.against.sets["ke"].verdict == "worse"
    assert results.against.sets["nz"].drop.value == pytest.approx(-4 / 60)
    clean = measured(tmp_path, SPEAKERS, "clean")
    assert clean.against
    assert clean.against.sets["ke"].drop.value == pytest.approx(17 / 60)
    with pytest.raises(UnknownName, match="reference"):
        measured(tmp_path, SPEAKERS, "kenia")


def test_rows_without_inputs_need_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    for row, message in (
        ({"id": "1", "question": "who?", "answer": "me"}, "no inputs, but 'answer', 'question'"),
        ({"id": "1", "person": 3}, "person must be a text"),
    ):
        file.write_text(json.dumps(row) + "\n")
        with pytest.raises(DataError, match=message):
            import_rows(file, tmp_path / "suite", "qa", "en")


def test_golds_in_lists_are_kept(tmp_path: Path) -> None:
    """Texts that hardly repeat are free answers, alone and in a list, and no labels."""
    file = tmp_path / "rows.jsonl"
    for golds in ([[f"the {n}th", "x"] for n in range(30)], [f"the {n}th" for n in range(30)]):
        lines = [{"id": str(n), "inputs": {"text": f"which is {n}"}, "gold": gold} for n, gold in enumerate(golds)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        suite = import_rows(file, tmp_path / "suite", language="en", overwrite=True)
        assert suite.manifest.task == "generate"
        assert [example.gold for example in suite.examples()] == golds


def test_one_text_with_two_logged_answers_is_refused(tmp_path: Path) -> None:
    lines = [
        {"id": "1", "inputs": {"text": "hi"}, "gold": "a"},
        {"example_id": "1", "person": "x", "inputs": {"text": "hi"}},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    suite = import_rows(tmp_path / "rows.jsonl", tmp_path / "suite", "generate", "en")
    log = tmp_path / "log.jsonl"
    log.write_text('{"id": "1", "output": "a"}\n{"id": "1", "person": "x", "output": "b"}\n')
    with pytest.raises(UsageError, match="different answers"):
        run_system(suite, f"logged:{log}")
    log.write_text('{"id": "1", "output": "a"}\n{"id": "1", "output": "b"}\n')
    with pytest.raises(DataError, match="two answers to '1'"):
        run_system(suite, f"logged:{log}")
