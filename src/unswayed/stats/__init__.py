"""Numbers with their proof: resampling, intervals, exact tests and signatures, for everything that prints a number."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base.values": "Estimate",
        "stats.intervals": (
            "Question Resampling certain_interval digest estimates interval mean_of over_trainings sign"
        ),
        "stats.means": "Numbers heavy_tails mean_interval mean_p numbers_of pass_power pseudo_of summed",
        "stats.prediction": "LabelPlan PredictionPowered labels_worth_asking prediction_powered",
        "stats.resample": (
            "Array Ints Mean MeanKind Observations Paired Ratio Sample Statistic bootstrap count_rows merge_rows ratio "
            "sample_of swap"
        ),
        "stats.significance": (
            "CORRECTIONS binomial_tail bonferroni clopper_pearson correct holm incomplete_beta mcnemar share_of "
            "t_p_value t_quantile"
        ),
        "stats.sign_flip": "sign_flip_interval sign_flip_p",
    },
)
