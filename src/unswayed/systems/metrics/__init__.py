"""Metrics that judge a text against a reference or its source, themselves under test: one a file."""

from unswayed.base.registry import Registry
from unswayed.systems.metrics._metric import Metric, Scores, Segment, sacrebleu_metrics

metrics: Registry[Metric] = Registry("metric", Metric, "unswayed.systems.metrics")

__all__ = ["Metric", "Scores", "Segment", "metrics", "sacrebleu_metrics"]
