"""A log of a judge's single verdicts, some of them also given by people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.errors import DataError
from unswayed.measure.verdicts import has_verdicts, read_verdicts


def log(place: Path, rows: list[dict[str, Any]]) -> Path:
    file = place / "log.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_lenient_judge_is_corrected(tmp_path: Path) -> None:
    """Every fifth answer is wrong, and the judge finds half of these right."""
    rows = [{"verdict": n % 5 > 0 or n % 2 == 0, **({"label": n % 5 > 0} if n < 300 else {})} for n in range(3000)]
    file = log(tmp_path, rows)
    assert has_verdicts(file)
    found = read_verdicts(file)
    assert found.corrected is not None
    assert found.corrected.low is not None
    assert found.corrected.high is not None
    assert (found.judge.value, found.corrected.value) == (pytest.approx(0.9), pytest.approx(0.8, abs=0.005))
    assert found.corrected.low < 0.8 < found.corrected.high < 0.9
    assert (found.too_good, found.too_bad, found.labels) == (30, 0, 300)
    assert "corrected for the judge's errors" in found.sentences()[0]


@pytest.mark.parametrize("words", [("yes", "no"), (1, 0), ("correct", "incorrect"), ("PASS", "fail")])
def test_words_for_right_and_wrong(tmp_path: Path, words: tuple[Any, Any]) -> None:
    found = read_verdicts(
        log(tmp_path, [{"verdict": words[n % 4 == 0], "label": words[n % 4 == 0]} for n in range(40)])
    )
    assert found.judge.value == pytest.approx(0.75)
    assert found.agreement.value == 1


def test_what_is_no_verdict(tmp_path: Path) -> None:
    alone = read_verdicts(log(tmp_path, [{"verdict": True}] * 20))
    assert alone.corrected is None
    assert "not corrected" in alone.sentences()[0]
    for rows, message in (
        ([{"verdict": True}, {"verdict": "maybe"}], "not 'maybe'"),
        ([{"verdict": True}, {}], "verdict must be true or false"),
        ([{"verdict": True, "label": "so so"}], "label must be true or false"),
    ):
        with pytest.raises(DataError, match=message):
            read_verdicts(log(tmp_path, rows))
    assert not has_verdicts(log(tmp_path, [{"text": "x"}]))
