"""Numbers with their proof: resampling, intervals, exact tests and signatures, for everything that prints a number."""

from unswayed.core.estimate.intervals import (
    Question,
    Resampling,
    Wanted,
    certain_interval,
    digest,
    estimates,
    interval,
    mean_of,
    over_trainings,
    sign,
)
from unswayed.core.estimate.means import (
    Numbers,
    heavy_tails,
    mean_interval,
    numbers_of,
    pseudo_of,
    summed,
)
from unswayed.core.estimate.resample import Sample, bootstrap, count_rows, merge_rows, sample_of, swap
from unswayed.core.estimate.significance import (
    CORRECTIONS,
    binomial_tail,
    bonferroni,
    clopper_pearson,
    correct,
    holm,
    mcnemar,
    share_of,
)
from unswayed.core.estimate.statistics import Array, Ints, Mean, MeanKind, Observations, Paired, Ratio, Statistic, ratio
from unswayed.core.estimate.student import t_p_value, t_quantile
from unswayed.core.values import Estimate

__all__ = ["CORRECTIONS", "Array", "Estimate", "Ints", "Mean", "MeanKind", "Numbers", "Observations",
    "Paired", "Question", "Ratio", "Resampling", "Sample", "Statistic", "Wanted", "binomial_tail",
    "bonferroni", "bootstrap", "certain_interval", "clopper_pearson", "correct", "count_rows",
    "digest", "estimates", "heavy_tails", "holm", "interval", "mcnemar", "mean_interval", "mean_of", "merge_rows",
    "numbers_of", "over_trainings", "pseudo_of", "ratio", "sample_of", "share_of", "sign", "summed",
    "swap", "t_p_value", "t_quantile"]  # fmt: skip
