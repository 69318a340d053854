"""What changed and how sure that is: averages, worst cases, flips, intervals, comparisons."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "measure.changes": "flips",
        "measure.compared": "Difference",
        "measure.comparison": "compare",
        "measure.error_rate": "ErrorRates Group error_rates",
        "measure.files": "check_lengths darr file_id score_values",
        "measure.measuring": "Runlike measure_run",
        "measure.mixed": "Coefficient mixed_effects",
        "measure.pairs": "intervals_of pair_of",
        "measure.sampling": "PeopleBlock",
        "measure.wins": "TIES Ties Wins win_rate",
    },
)
