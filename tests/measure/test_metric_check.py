"""What is said of a metric, by simulation with a known truth."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.base.errors import NothingEvaluated, UsageError
from unswayed.data import MeaningPair
from unswayed.measure.metric_check import check_metric
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
