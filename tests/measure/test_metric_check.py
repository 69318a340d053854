"""What is said of a metric: by simulation with a known truth, and daRR on WMT20's own judgements, against scipy."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import commands
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from unswayed.base.errors import DataError, NothingEvaluated, UsageError
from unswayed.data import MeaningPair
from unswayed.measure.metric_check import check_metric, darr
from unswayed.score import kendall, pearson
from unswayed.stats import Resampling
from unswayed.systems import Metric

PAIRS = [MeaningPair(f"reference {i}", f"dialect {i}", f"changed {i}") for i in range(80)]


class Known(Metric):
    """Prefers the dialect with a chance that is known."""

    def __init__(self, scores):
        self._scores = scores

    def decides(self):
        return [float(score) for score in self._scores.values()]

    def scores(self, segments):
        return [self._scores.get(segment.candidate, 0.0) for segment in segments]


def known(chance, rng):
    better = rng.random(len(PAIRS)) < chance
    return Known({pair.dialect: 1.0 if won else -1.0 for pair, won in zip(PAIRS, better, strict=True)})


@pytest.mark.parametrize(
    ("chance", "wrong"), [(0.5, {"robust", "not robust"}), (0.4, {"robust"}), (0.6, {"not robust"})]
)
def test_a_wrong_answer_is_rare(chance, wrong):
    rng = np.random.default_rng(7)
    answers = [check_metric("m", known(chance, rng), PAIRS).answer for _ in range(120)]
    assert sum(answer in wrong for answer in answers) <= 12  # 5% are due; more than 10% are not chance


def test_a_clear_case_is_named():
    rng = np.random.default_rng(7)
    assert check_metric("m", known(0.9, rng), PAIRS).answer == "robust"
    found = check_metric("m", known(0.1, rng), PAIRS, "Portuguese of Portugal")
    assert found.sentence.startswith("Not robust: a change of meaning scores above Portuguese of Portugal in ")


def test_ties_are_no_win():
    found = check_metric("m", Known({}), PAIRS)
    assert (found.answer, found.success.ties) == ("unclear", 80)


def test_no_score_and_no_source_are_said():
    with pytest.raises(NothingEvaluated, match="no pair two finite scores"):
        check_metric("m", Known({pair.dialect: float("nan") for pair in PAIRS}), PAIRS)
    metric = Known({})
    metric.uses = ("source",)
    with pytest.raises(UsageError, match="Add a column named source"):
        check_metric("m", metric, PAIRS)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.unswayed(*arguments)


WMT = Path(__file__).parents[2] / "../shared/data/wmt20_da"
QUICK = Resampling(bootstrap=200)


def judgements(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()[1:]]


def metric_file(to: Path, rows: list[list[str]]) -> Path:
    """A metric that follows people with noise, reproducibly, and ties now and then."""
    noise = np.random.default_rng(0).normal(0, 20, len(rows))
    lines = [f"{row[0]}\t{row[1]}\t{round(float(row[2]) + e, -1)}" for row, e in zip(rows, noise, strict=True)]
    to.write_text("\n".join(["system\tsegment\tscore", *lines]) + "\n")
    return to


@pytest.mark.skipif(not WMT.exists(), reason="needs WMT20's judgements in ../shared/data/wmt20_da")
@pytest.mark.parametrize(("pair", "pairs"), [("cs-en", 14_018), ("de-en", 16_584), ("en-zh", 12_652)])
def test_wmt20_pairs(tmp_path: Path, pair: str, pairs: int) -> None:
    human = WMT / f"ad-seg-scores-{pair}.csv"
    rows = judgements(human)
    metric = metric_file(tmp_path / "metric.tsv", rows)
    found = darr(human, metric, QUICK)
    assert (found.pairs, found.missing) == (pairs, 0)
    scores = {tuple(line.split("\t")[:2]): float(line.split("\t")[2]) for line in metric.read_text().splitlines()[1:]}
    kept = [(s, g, float(raw)) for s, g, raw, *_ in rows if not s.upper().startswith("HUMAN")]
    segments: dict[str, list[tuple[float, float]]] = {}
    for system, segment, raw in kept:
        segments.setdefault(segment, []).append((raw, scores[system, segment]))
    signs = [
        1 if (a[0] - b[0]) * (a[1] - b[1]) > 0 else -1
        for judged in segments.values()
        for i, a in enumerate(judged)
        for b in judged[i + 1 :]
        if abs(a[0] - b[0]) >= 25
    ]
    assert found.tau == pytest.approx(sum(signs) / len(signs))
    assert found.low is not None
    assert found.low < sum(signs) / len(signs) < (found.high or 0)
    assert found.segment.pearson == pytest.approx(
        stats.pearsonr([k[2] for k in kept], [scores[k[0], k[1]] for k in kept]).statistic
    )


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=60))
@settings(max_examples=100, deadline=None)
def test_correlations_equal_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
        assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    else:
        assert kendall(x, y) is None
        assert pearson(x, y) is None


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_ties_are_discordant_and_gaps_are_counted(tmp_path: Path) -> None:
    human = write(tmp_path / "human.csv", "SYS,SID,RAW.SCR\na,1,90\nb,1,50\nc,1,20\nHuman-A,1,0\na,2,80\nb,2,10\n")
    metric = write(tmp_path / "metric.csv", "SYS,SID,SCORE\na,1,0.9\nb,1,0.9\nc,1,0.1\na,2,nan\nb,2,0.2\n")
    done = command("measure", "darr", str(human), str(metric), "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["pairs"], found["concordant"], found["discordant"], found["missing"]) == (3, 2, 1, 1)
    assert found["tau"] == pytest.approx(1 / 3)
    assert "1 pairs have no score" in done.stderr


@pytest.mark.parametrize(
    ("human", "message"),
    [
        ("", "empty"),
        ("SYS,SID,RAW.SCR\n", "no score"),
        ("SYS,RAW.SCR\na,1\n", "none of the columns"),
        ("SYS,SID,RAW.SCR\na,1,high\n", "not a number"),
        ("SYS,SID,RAW.SCR\na,1,nan\n", "finite"),
        ("SYS,SID,RAW.SCR\na,1,2\na,1,3\n", "two scores"),
        ("SYS,SID,RAW.SCR\na,1\n", "2 cells"),
    ],
)
def test_bad_tables(tmp_path: Path, human: str, message: str) -> None:
    metric = write(tmp_path / "metric.csv", "SYS,SID,SCORE\na,1,0.9\n")
    with pytest.raises(DataError, match=message):
        darr(write(tmp_path / "human.csv", human), metric, QUICK)
