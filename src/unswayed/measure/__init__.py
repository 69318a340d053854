"""What changed and how sure that is: averages, worst cases, flips, intervals, comparisons."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "measure.changes": "flips",
        "measure.comparison.outcome": "Difference",
        "measure.comparison.runs": "compare",
        "measure.files": "ErrorRates Group error_rates check_lengths file_id score_values",
        "measure.measuring": "Runlike measure_run",
        "measure.metric_check": "darr",
        "measure.paired": "Coefficient intervals_of mixed_effects pair_of TIES Ties Wins win_rate",
        "measure.passages": "passage_losses",
        "measure.people": "PeopleBlock",
        "measure.preferences": "Decisions Preferences judge_preferences read_decisions",
        "measure.results": "Results",
    },
)
