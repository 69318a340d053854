"""Metrics that judge a text against a reference or its source, themselves under test: one a file."""

from unfazed.core.registry import Registry
from unfazed.systems.metrics._metric import Metric, Scores, Segment, sacrebleu_metrics

metrics: Registry[Metric] = Registry("metric", Metric, "unfazed.systems.metrics")

__all__ = ["Metric", "Scores", "Segment", "metrics", "sacrebleu_metrics"]
