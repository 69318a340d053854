"""Metrics that judge a text against a reference or its source, themselves under test: one a file."""

from unfazed.core.registry import Registry
from unfazed.score.metrics._metric import Item, Metric, Scores
from unfazed.score.metrics._opening import open_metric

metrics: Registry[Metric] = Registry("metric", Metric, "unfazed.score.metrics")

__all__ = ["Item", "Metric", "Scores", "metrics", "open_metric"]
