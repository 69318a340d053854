from unswayed.measure.changes import flips
from unswayed.measure.comparison.outcome import Difference
from unswayed.measure.comparison.runs import compare
from unswayed.measure.files import ErrorRates, Group, check_lengths, error_rates, file_id, score_values
from unswayed.measure.measuring import Runlike, measure_run
from unswayed.measure.metric_check import darr
from unswayed.measure.paired import TIES, Coefficient, Ties, Wins, intervals_of, mixed_effects, pair_of, win_rate
from unswayed.measure.passages import passage_losses
from unswayed.measure.people import PeopleBlock
from unswayed.measure.preferences import Decisions, Preferences, judge_preferences, read_decisions
from unswayed.measure.results import Results

__all__ = [
    "TIES",
    "Coefficient",
    "Decisions",
    "Difference",
    "ErrorRates",
    "Group",
    "PeopleBlock",
    "Preferences",
    "Results",
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
    "judge_preferences",
    "measure_run",
    "mixed_effects",
    "pair_of",
    "passage_losses",
    "read_decisions",
    "score_values",
    "win_rate",
]
