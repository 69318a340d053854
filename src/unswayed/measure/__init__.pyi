from unswayed.measure.changes import flips
from unswayed.measure.compared import Difference
from unswayed.measure.comparison import compare
from unswayed.measure.error_rate import ErrorRates, Group, error_rates
from unswayed.measure.files import check_lengths, darr, file_id, score_values
from unswayed.measure.measuring import Runlike, measure_run
from unswayed.measure.mixed import Coefficient, mixed_effects
from unswayed.measure.pairs import intervals_of, pair_of
from unswayed.measure.sampling import PeopleBlock
from unswayed.measure.wins import TIES, Ties, Wins, win_rate

__all__ = [
    "TIES",
    "Coefficient",
    "Difference",
    "ErrorRates",
    "Group",
    "PeopleBlock",
    "Runlike",
    "Ties",
    "Wins",
    "check_lengths",
    "compare",
    "darr",
    "error_rates",
    "file_id",
    "flips",
    "intervals_of",
    "measure_run",
    "mixed_effects",
    "pair_of",
    "score_values",
    "win_rate",
]
