"""Two logs, sample by sample: what is counted by hand, what the formulas say, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unswayed
from unswayed.base.errors import DataError, NothingEvaluated, UnknownName, UsageError
from unswayed.measure.comparison.logs import LogComparison
from unswayed.stats import mean_interval, numbers_of, sign_flip_interval

PASS = {True: 1.0, False: 0.0}


def log(file: Path, scores: Mapping[str, Sequence[float | bool]], score: str = "pass", **more: Any) -> Path:
    """One's own lines: of each id the scores of its repeats."""
    rows = []
    for id_, values in scores.items():
        for repeat, value in enumerate(values):
            row = {
                "id": id_,
                "inputs": {"q": f"question {id_}"},
                "output": f"{file.stem} {repeat} {value}",
                "gold": "g",
            }
            rows.append({**row, "scores": {score: float(value)}, **{k: v[id_] for k, v in more.items()}})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def compared(a: Path, b: Path, **plan: Any) -> LogComparison:
    found = unswayed.compare(a, b, plan=plan)
    assert isinstance(found, LogComparison)
    return found


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Of 40 samples 4 are lost and 12 gained."""
    before = {f"s{n}": [n < 20] for n in range(40)}
    after = {f"s{n}": [4 <= n < 32] for n in range(40)}
    return log(tmp_path / "base.jsonl", before), log(tmp_path / "new.jsonl", after)


def test_the_sentence_the_interval_and_the_texts(two: tuple[Path, Path]) -> None:
    found = compared(*two)
    differences = np.array([-1.0] * 4 + [0.0] * 16 + [1.0] * 12 + [0.0] * 8)
    numbers = numbers_of(differences)
    low, high, p = sign_flip_interval(numbers, mean_interval(numbers, (-1.0, 1.0), 0.95, "difference"), 0.95)
    first = found.differences[0]
    assert (first.difference, first.low, first.high, first.p) == pytest.approx((0.2, low, high, p))
    assert first.p == pytest.approx(2 * sum(comb(16, k) for k in range(5)) / 2**16)  # McNemar, exactly
    assert low is not None
    assert high is not None
    # more of a score of one's own may be better or worse
    span = f"[{100 * low:.1f}, {100 * high:.1f}]"
    assert found.sentences[0] == (
        f"new is higher by 20.0 points {span}; 4 answers lost, 12 gained."
        if p < 0.05
        else f"No clear difference: new is 20.0 points higher {span}, which may be chance; 4 answers lost, 12 gained."
    )
    flips = list(found.iter_flips())
    assert [flip.example for flip in flips if flip.change == "lost"] == ["s0", "s1", "s2", "s3"]
    assert flips[0][4:] == ("question s0", "base 0 True", "new 0 False", "g")
    assert len(list(found.iter_flips(2))) == 4
    assert len(found.flips()) == 16
    assert (found.answers["samples"].right, found.answers["samples"].wrong) == (16, 8)
    assert found.exit_code == 0
    back = unswayed.compare(two[1], two[0])
    assert back.differences[0].difference == pytest.approx(-0.2)


def test_repeats_are_draws_of_one_sample_and_pass_k_is_a_hand_count(tmp_path: Path) -> None:
    before = {"a": [1, 1, 1, 1], "b": [1, 1, 1, 0], "c": [1, 0, 0, 0], "d": [0, 0, 0, 0]}
    after = {"a": [1, 1, 1, 1], "b": [1, 1, 1, 1], "c": [1, 1, 1, 1], "d": [0, 0, 0, 1]}
    found = compared(log(tmp_path / "base.jsonl", before), log(tmp_path / "new.jsonl", after))
    by_name = {d.measure: d for d in found.differences}
    assert by_name["pass"].n == 4  # not 16
    assert (by_name["pass"].a, by_name["pass"].b) == pytest.approx((0.5, 13 / 16))
    assert (by_name["pass^4"].a, by_name["pass^4"].b) == pytest.approx((1 / 4, 3 / 4))
    assert found.repeats == (4, 4)
    assert "1 sample" not in found.outcome()
    assert "0 samples lost, 1 gained (right in more than half of their repeats)" in found.outcome()
    [flip] = found.iter_flips()
    assert (flip.example, flip.answer_a, flip.answer_b) == ("c", "base 1 0", "new 0 1")


def test_pass_k_of_fewer_repeats_is_the_mean_over_all_choices_of_them(tmp_path: Path) -> None:
    before = {f"s{n}": [n % 2, 1, 0, 1] for n in range(6)}
    after = {f"s{n}": [1, 1] for n in range(6)}
    found = compared(log(tmp_path / "base.jsonl", before), log(tmp_path / "new.jsonl", after))
    [power] = [d for d in found.differences if d.measure.startswith("pass^")]
    assert power.measure == "pass^2"
    assert power.a == pytest.approx((comb(2, 2) + comb(3, 2)) / 2 / comb(4, 2))


def test_samples_of_a_cluster_count_together(tmp_path: Path) -> None:
    topics = {f"s{n}": f"t{n // 10}" for n in range(40)}
    before, after = {f"s{n}": [n < 10] for n in range(40)}, {f"s{n}": [n < 30] for n in range(40)}
    a, b = log(tmp_path / "base.jsonl", before, topic=topics), log(tmp_path / "new.jsonl", after, topic=topics)
    alone, together = compared(a, b), compared(a, b, measure={"cluster": "topic"})
    assert alone.differences[0].shown
    assert not together.differences[0].shown  # two of four topics changed
    assert together.cluster == "topic"
    with pytest.raises(UsageError, match="no field 'theme' to cluster by"):
        compared(a, b, measure={"cluster": "theme"})


def test_graded_and_unbounded_scores(tmp_path: Path) -> None:
    before, after = {f"s{n}": [0.5] for n in range(30)}, {f"s{n}": [0.5 + n / 100] for n in range(30)}
    found = compared(log(tmp_path / "base.jsonl", before, "f1"), log(tmp_path / "new.jsonl", after, "f1"))
    assert found.outcome().startswith("new is higher by 14.5 points [")
    assert found.outcome().endswith("; 0 answers scored lower, 29 higher.")
    before, after = {f"s{n}": [40 + n] for n in range(30)}, {f"s{n}": [42 + n] for n in range(30)}
    found = compared(log(tmp_path / "base.jsonl", before, "bleu"), log(tmp_path / "new.jsonl", after, "bleu"))
    assert found.outcome().startswith("new is higher by 2.000 [")
    assert "points" not in found.outcome()


def test_a_single_score_needs_no_name(tmp_path: Path) -> None:
    for name, right in (("a", [1, 0, 1, 1]), ("b", [1, 1, 1, 0])):
        rows = ({"id": str(i), "output": name, "score": value} for i, value in enumerate(right))
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = compared(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert sorted(found.flips()["change"]) == ["gained", "lost"]


def test_identical_logs(two: tuple[Path, Path]) -> None:
    found = compared(two[0], two[0])
    assert found.identical
    assert found.outcome().startswith("Identical: ")


def test_what_is_only_in_one_log_or_has_no_score_is_said(two: tuple[Path, Path]) -> None:
    base, new = two
    lines = new.read_text().splitlines()
    more = {"id": "extra", "inputs": {"q": "x"}, "output": "y", "scores": {"pass": 1}}
    failed = {"id": "s39", "inputs": {"q": "question s39"}, "error": "out of tea"}
    other = {**json.loads(lines[38]), "inputs": {"q": "another question"}}
    new.write_text("\n".join([*lines[:38], *map(json.dumps, (other, failed, more))]) + "\n")
    found = compared(base, new)
    assert found.differences[0].n == 38
    assert found.warnings == [
        "Left out: 1 sample with another input in each log.",
        "Left out: 1 sample only in new.",
        "new: 1 answer failed or without a score: left out of both logs.",
    ]
    wrong = compared(base, new, measure={"missing": "wrong"})
    assert wrong.differences[0].n == 39
    gated = compared(base, new, compare={"fail_if_worse": {"pass": 0.5}})
    assert gated.incomplete
    assert gated.exit_code == 3
    assert compared(base, new, compare={"fail_if_worse": {"pass": 0.5}, "allow_missing": 0.1}).exit_code == 0


def test_gates(two: tuple[Path, Path], tmp_path: Path) -> None:
    base, new = two
    assert compared(base, new, compare={"fail_if_worse": {"score": 0.1}}).exit_code == 0
    assert compared(new, base, compare={"fail_if_worse": {"pass": 0.1}}).exit_code == 1
    with pytest.raises(UnknownName, match="score to compare named 'worst'"):
        compared(base, new, compare={"fail_if_worse": {"worst": 0.1}})
    before = {f"s{n}": [1] * 10 for n in range(5)}
    after = {f"s{n}": [1] * (10 - n) + [0] * n for n in range(5)}
    a, b = log(tmp_path / "many.jsonl", before), log(tmp_path / "fewer.jsonl", after)
    found = compared(a, b, compare={"each_at_least": 0.8})
    assert found.exit_code == 1
    [gate] = found.gates
    assert gate.sentence.startswith(
        "2 of 5 samples of fewer pass less than 80% of their repeats (s3: 7 of 10, s4: 6 of 10): failed."
    )
    # of 10 repeats at 90%, fewer than 8 pass in 7% of runs: 1 - sum over 8, 9, 10
    assert "passes 90% of the time falls below in 7% of runs" in gate.sentence
    assert compared(a, b, compare={"each_at_least": 0.6}).exit_code == 0
    assert compared(a, b, compare={"fail_if_worse": {"pass^k": 0.05}}).exit_code == 1


def test_what_can_not_be_compared_is_refused_with_the_reason(two: tuple[Path, Path], tmp_path: Path) -> None:
    base, new = two
    numbered = log(tmp_path / "numbered.jsonl", {str(n): [1] for n in range(40)})
    with pytest.raises(UsageError, match="no sample id in common: one has 's0', the other '0'"):
        compared(base, numbered)
    other = log(tmp_path / "other.jsonl", {f"s{n}": [1] for n in range(40)}, "rouge")
    with pytest.raises(UsageError, match="base has pass; other has rouge"):
        compared(base, other)
    unlike = log(tmp_path / "unlike.jsonl", {f"s{n}": [1] for n in range(40)})
    unlike.write_text(unlike.read_text().replace("question", "statement"))
    with pytest.raises(UsageError, match="40 of 40 samples with the same id have another input"):
        compared(base, unlike)
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"inputs": {"q": "x"}, "output": "y"}\n')
    with pytest.raises(UsageError, match="no scores of single samples"):
        compared(bare, new)
    with pytest.raises(UnknownName, match="score in both logs named 'f1'"):
        compared(base, new, measure={"scores": ["f1"]})
    with pytest.raises(UsageError, match="one other log"):
        unswayed.compare(base, new, base)
    with pytest.raises(UsageError, match="not cut into slices"):
        compared(base, new, measure={"groups": ["q"]})
    half = log(tmp_path / "half.jsonl", {"s0": [float("nan")]})
    with pytest.raises((UsageError, NothingEvaluated, DataError)):
        compared(base, half)


def test_texts_from_outside_are_shown_as_texts(two: tuple[Path, Path], tmp_path: Path) -> None:
    base, new = two
    for file in two:
        file.write_text(file.read_text().replace("question s1", "<script>alert(1)</script>\\u202e"))
    found = compared(base, new)
    page = unswayed.write_comparison(found, tmp_path / "compare.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩" in page
    assert found.outcome() in page.replace("<bdi>", "").replace("</bdi>", "")
