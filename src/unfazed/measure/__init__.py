"""What changed and how sure that is: averages, worst cases, flips, intervals, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.measure.compare import compare_runs
    from unfazed.measure.corrections import correct as correct_p_values
    from unfazed.measure.error_rate import ErrorRates, Group, error_rates
    from unfazed.measure.files import check_lengths, file_id, score_values
    from unfazed.measure.intervals import Question, Settings, estimates
    from unfazed.measure.measures import Column
    from unfazed.measure.measuring import Runlike, flips, measure_run
    from unfazed.measure.mixed import Coefficient, mixed_effects
    from unfazed.measure.pairing import intervals_of, mcnemar, pair_of
    from unfazed.measure.realism.looks import looks as typing_errors
    from unfazed.measure.results import Difference
    from unfazed.measure.statistics import Ratio
    from unfazed.measure.wins import TIES, Ties, Wins, clopper_pearson, win_rate

__all__ = ["TIES", "Coefficient", "Column", "Difference", "ErrorRates", "Group", "Question", "Ratio", "Runlike",
    "Settings", "Ties", "Wins", "check_lengths", "clopper_pearson", "compare_runs", "correct_p_values", "error_rates",
    "estimates", "file_id", "flips", "intervals_of", "mcnemar", "measure_run", "mixed_effects", "pair_of",
    "score_values", "typing_errors", "win_rate"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.measure.compare": "compare_runs",
            "unfazed.measure.corrections": "correct:correct_p_values",
            "unfazed.measure.error_rate": "ErrorRates Group error_rates",
            "unfazed.measure.files": "check_lengths file_id score_values",
            "unfazed.measure.intervals": "Question Settings estimates",
            "unfazed.measure.measures": "Column",
            "unfazed.measure.measuring": "Runlike flips measure_run",
            "unfazed.measure.mixed": "Coefficient mixed_effects",
            "unfazed.measure.pairing": "intervals_of mcnemar pair_of",
            "unfazed.measure.realism.looks": "looks:typing_errors",
            "unfazed.measure.results": "Difference",
            "unfazed.measure.statistics": "Ratio",
            "unfazed.measure.wins": "TIES Ties Wins clopper_pearson win_rate",
        },
    )
