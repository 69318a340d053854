"""What changed and how sure that is: averages, worst cases, flips, intervals, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.measure.changes import flips
    from unfazed.measure.compared import Difference
    from unfazed.measure.comparison import compare
    from unfazed.measure.error_rate import ErrorRates, Group, error_rates
    from unfazed.measure.files import check_lengths, darr, file_id, score_values
    from unfazed.measure.measuring import Runlike, measure_run
    from unfazed.measure.mixed import Coefficient, mixed_effects
    from unfazed.measure.pairs import intervals_of, pair_of
    from unfazed.measure.realism.compare import looks as typing_errors
    from unfazed.measure.sampling import PeopleBlock
    from unfazed.measure.wins import TIES, Ties, Wins, win_rate

__all__ = ["TIES", "Coefficient", "Difference", "ErrorRates", "Group", "PeopleBlock", "Runlike", "Ties", "Wins",
    "check_lengths",
    "compare", "darr", "error_rates", "file_id", "flips", "intervals_of", "measure_run", "mixed_effects", "pair_of",
    "score_values", "typing_errors", "win_rate"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
