"""A judge that says which of two answers is better: its table read, its position bias found, its errors corrected."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unswayed.base.errors import DataError, NothingEvaluated
from unswayed.measure.preferences import has_preferences, judge_preferences

JUDGEBENCH = Path(__file__).parents[3] / "shared/data/judgebench/o1-mini.jsonl"
Rows = list[dict[str, Any]]


def table(rows: Rows, to: Path) -> Path:
    to.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return to


def rows_of(n: int, biased: float, seed: int = 0) -> Rows:
    """A judge that is right, but prefers the first answer in this share of the pairs."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(n):
        label = "A>B" if rng.random() < 0.6 else "B>A"
        turned = {"A>B": "B>A", "B>A": "A>B"}[label]
        stays = rng.random() < biased
        rows.append({"decision": "A>B" if stays else label, "decision_swapped": "A>B" if stays else turned,
                     "label": label})  # fmt: skip
    return rows


def test_position_bias_is_found_and_none_is_made_up(tmp_path: Path) -> None:
    biased = judge_preferences(table(rows_of(200, 0.3), tmp_path / "biased.jsonl"))
    assert biased.prefers_a_place
    assert (biased.second, biased.changed and biased.changed.value) == (0, biased.first / 200)
    assert any("the judge prefers the first answer it reads" in said for said in biased.sentences())
    fair = judge_preferences(table(rows_of(200, 0.0), tmp_path / "fair.jsonl"))
    assert (fair.first, fair.second, fair.prefers_a_place, fair.right.value) == (0, 0, False, 1.0)
    assert any("may be chance" in said for said in fair.sentences())


def test_the_bias_is_corrected(tmp_path: Path) -> None:
    rows = rows_of(1000, 0.4, seed=1)
    true = sum(row["label"] == "A>B" for row in rows) / 1000
    known = [row if n % 5 == 0 else {k: v for k, v in row.items() if k != "label"} for n, row in enumerate(rows)]
    found = judge_preferences(table(known, tmp_path / "rows.jsonl"))
    assert found.labels == 200
    assert found.judge.low > true  # type: ignore[operator]
    assert found.a_better is not None
    assert found.a_better.low < true < found.a_better.high  # type: ignore[operator]
    assert found.helps


def test_one_order_and_few_labels_are_said(tmp_path: Path) -> None:
    rows: Rows = [{"decision": "A>B", "label": "A>B" if n < 3 else None} for n in range(30)]
    found = judge_preferences(table(rows, tmp_path / "rows.jsonl"))
    assert (found.changed, found.a_better, found.labels) == (None, None, 3)
    said = " ".join(found.sentences())
    assert "no 'decision_swapped'" in said
    assert "at least 10 are needed" in said


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"decision": "A>B"}, {"label": "A>B"}], r"rows\.jsonl:2: there is no 'decision'"),
        ([{"decision": "C"}], "must be A>B, B>A or A=B .*not 'C'"),
        ([{"decision": "A>B", "label": "A=B"}], "a tie is no answer"),
        ([{"decision": "A>B", "decision_swapped": "A>B"}, {"decision": "A>B"}], "Give it in all rows, or in none"),
    ],
)
def test_bad_rows_are_named(rows: Rows, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        judge_preferences(table(rows, tmp_path / "rows.jsonl"))
    (tmp_path / "rows.jsonl").write_text("")
    with pytest.raises(NothingEvaluated):
        judge_preferences(tmp_path / "rows.jsonl")


def test_the_command_reads_a_table(tmp_path: Path, unswayed: Callable[..., str]) -> None:
    path = table(rows_of(100, 0.3), tmp_path / "rows.jsonl")
    found = json.loads(unswayed("measure", "judge", path, "--format", "json"))
    assert found["first"] == judge_preferences(path).first > 10
    unswayed("measure", "judge", path, "--swap", fails="no judge is asked")
    unswayed("measure", "judge", fails="--equivalent")


@pytest.mark.skipif(not JUDGEBENCH.is_file(), reason="JudgeBench's file is not here (../shared/data/judgebench)")
def test_judgebench(tmp_path: Path) -> None:
    """o1-mini on JudgeBench: right in 65.71% of 350 pairs, swayed by the order in 31.4%, first 58 to 18."""
    found = judge_preferences(JUDGEBENCH)
    assert (found.pairs, found.first, found.second) == (350, 58, 18)
    assert 100 * found.right.value == pytest.approx(65.71, abs=0.005)  # type: ignore[operator]
    assert found.changed is not None
    assert 100 * found.changed.value == pytest.approx(31.4, abs=0.05)  # type: ignore[operator]
    assert found.prefers_a_place

    rows = [json.loads(line) for line in JUDGEBENCH.read_text(encoding="utf-8").splitlines()]
    true = sum(row["label"] == "A>B" for row in rows) / 350
    rng, inside, widths = np.random.default_rng(0), 0, []
    for _ in range(60):
        labelled = set(rng.choice(350, 100, replace=False).tolist())
        some = [
            {"decision": row["decision"], "decision_swapped": row["decision_swapped"],
             **({"label": row["label"]} if n in labelled else {})}
            for n, row in enumerate(rows)
        ]  # fmt: skip
        made = judge_preferences(table(some, tmp_path / "some.jsonl"))
        assert made.a_better is not None
        assert made.people is not None
        inside += made.a_better.low <= true <= made.a_better.high  # type: ignore[operator]
        widths.append([e.high - e.low for e in (made.a_better, made.people)])  # type: ignore[operator]
    width, alone = np.mean(widths, axis=0)
    assert inside >= 54
    assert (width, alone) == pytest.approx((0.166, 0.194), abs=0.006)


def test_other_words_and_a_row_for_each_order(tmp_path: Path) -> None:
    """The same decisions under other names, in a list, and in two rows of a pair."""
    said = [("A", "B"), ("A", "A"), ("tie", "B"), ("B", "A")]
    nested = [{"judgments": [{"decision": a}, {"decision": b}]} for a, b in said]
    flat = [{"winner": a, "winner_swapped": b} for a, b in said]
    apart = [{"pair_id": n, "swapped": bool(k), "verdict": pair[k]} for k in (0, 1) for n, pair in enumerate(said)]
    found = []
    for rows in (nested, flat, apart):
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert has_preferences(file)
        found.append(judge_preferences(file))
    assert {(one.pairs, one.first, one.second) for one in found} == {(4, 1, 0)}
    assert {one.changed.value for one in found if one.changed} == {0.5}
    file.write_text("".join(json.dumps(row) + "\n" for row in apart[:-1]))
    with pytest.raises(DataError, match="no row in the other order"):
        judge_preferences(file)
