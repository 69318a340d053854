"""Metrics that judge a text against a reference or its source, themselves under test: one a file.

A metric is a system: a candidate and what it is compared to go in, a number comes out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from unswayed.base.errors import SystemBroken, UnknownName, UsageError, import_extra
from unswayed.base.ids import content_id
from unswayed.base.registry import Registry
from unswayed.base.secrets import masked_url
from unswayed.base.values import Failed, Inputs, Json
from unswayed.storage.answers import AnswerStore
from unswayed.systems import systems
from unswayed.systems.asking import ask
from unswayed.systems.callable import CallableSystem, fingerprint
from unswayed.systems.http.client import Client, HttpSettings, HttpSystem, Malformed, Unanswered
from unswayed.systems.system import System, SystemAround

__all__ = ["Metric", "Scores", "Segment", "metrics", "sacrebleu_metrics"]
COMPARED = ("reference", "source", "tag")


class Segment(NamedTuple):
    """What is scored: a candidate, with what the metric may compare it to, and the tag of a language or dialect."""

    candidate: str
    reference: str | None = None
    source: str | None = None
    tag: str | None = None


class Metric(System):
    """Extend, and put in `systems/metrics/NAME.py`, or behind the entry point `unswayed.metrics`.

    `__init__`'s keyword arguments are the metric's parameters, as in `yisi1:alpha=0.5`. A score that is not a finite
    number is counted as missing.
    """

    batch_size = 1024
    retries = 0
    version: ClassVar[int] = 1
    uses: tuple[str, ...] = ("reference",)  # of reference, source and tag; the others make no difference
    tags: tuple[str, ...] | None = None  # the tags that it has learnt, where it uses them; None: any
    _learnt = ""

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        """A score for each segment, higher for better."""
        raise NotImplementedError

    def decides(self) -> Json:
        """What decides the scores besides the class and its version: parameters, hashes of weights."""
        return []

    def count(self, references: Sequence[str]) -> None:
        """Extend where the frequencies of words in all references of a language matter."""

    def learn(self, references: Sequence[str]) -> None:
        """Takes in all references of a language before any is scored."""
        if type(self).count is not Metric.count:
            self.count(references)
            self._learnt = content_id([list(references)])

    @property
    def identity(self) -> str:
        return f"metric {content_id([self._pinned, self._learnt], 16)}"

    @cached_property
    def _pinned(self) -> Json:
        """Taken once, as it may read weights. Our own metrics have a version; of others, the source counts."""
        cls = type(self)
        # Kinds that are defined here keep the name of the module they were in when their first scores were stored.
        module = f"{__name__}._metric" if cls.__module__ == __name__ else cls.__module__
        source = "" if cls.__module__.startswith("unswayed.") else fingerprint(self)  # type: ignore[arg-type]
        return [f"{module}:{cls.__qualname__}", self.version, list(self.uses), self.decides(), source]

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        segments = [Segment(**{name: inputs.get(name) for name in Segment._fields}) for inputs in batch]  # type: ignore[arg-type]
        for segment in segments:
            self.check(segment)
        found = list(self.scores(segments))
        if len(found) != len(batch):
            raise SystemBroken(f"{self.name} gave {len(found)} scores for {len(batch)} items.")
        return [_finite_score(score, self.name) for score in found]

    @classmethod
    def opened(cls, spec: str, options: Mapping[str, Any]) -> Metric | None:
        """A metric behind a URL; and the error for a name that is none."""
        if spec.startswith(("http://", "https://")):
            return MetricServer(spec, **options)
        if ":" not in spec and spec not in metrics and spec not in systems and not Path(spec).exists():
            raise UnknownName("metric", spec, metrics.names(), "unswayed list metrics")
        return None

    @classmethod
    def adapted(cls, system: System) -> Metric:
        return MetricOf(system)

    def check(self, segment: Segment) -> None:
        """Raises where a segment lacks what the metric looks at."""
        if segment.candidate is None:
            raise UsageError(f"{self.name} is a metric: it scores a candidate, and the inputs here have none.")
        for name in self.uses:
            if getattr(segment, name) is None:
                raise UsageError(f"The metric {self.name} needs a {name}; {segment.candidate!r:.60} has none.")


metrics: Registry[Metric] = Registry("metric", Metric, __name__)


class Scores:
    """Asks a metric through a store, so that nothing is scored twice; without a store, not twice by this object."""

    def __init__(self, metric: Metric, store: AnswerStore | None = None) -> None:
        self.metric = metric
        self._store = store or AnswerStore.in_memory()

    def learn(self, references: Sequence[str]) -> None:
        self.metric.learn(references)

    def score(self, segments: Iterable[Segment]) -> list[float]:
        """The scores, NaN where the metric gave no finite number."""
        segments = list(segments)
        seen = ("candidate", *self.metric.uses)
        for segment in segments:
            self.metric.check(segment)
        requests = [{name: getattr(segment, name) for name in seen} for segment in segments]
        outputs = ask(self.metric, requests, self._store)
        for segment, output in zip(segments, outputs, strict=True):
            if not output.ok:
                raise SystemBroken(f"{self.metric.name} gave no score for {segment.candidate!r:.60}: {output.error}")
        return [math.nan if output.value is None else float(output.value) for output in outputs]


class MetricOf(Metric, SystemAround):
    """Any system as a metric: it gets the candidate, reference, source and tag as inputs, and its output is the score.

    A function's attribute `uses` says what of reference, source and tag it looks at, `tags` which tags it knows.
    """

    def __init__(self, system: System) -> None:
        super().__init__(system)
        told: Any = system.function if isinstance(system, CallableSystem) else system
        self.uses = _checked_uses(tuple(getattr(told, "uses", None) or ("reference",)))
        self.tags = getattr(told, "tags", None)

    def decides(self) -> Json:
        return self.system.identity

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        asked: list[Any] = [{name: inputs.get(name) for name in Segment._fields} for inputs in batch]
        # A function's NaN is a missing score, not a failure.
        found = self.system.outputs(asked) if isinstance(self.system, CallableSystem) else self.system.predict(asked)
        return [score if isinstance(score, Failed) else _finite_score(score, self.name) for score in found]


class MetricServer(HttpSystem, Metric):
    """Posts `{"items": [{"candidate": …, "reference": …}, …]}` and reads `{"scores": […]}`; null is no score.

    What follows `#` says what the server looks at: `http://HOST/score#source+tag`. By default that is the reference.
    """

    batch_size = 64

    def __init__(self, url: str, **waits: float) -> None:
        address, _, uses = url.partition("#")
        self.name = masked_url(url)
        self.uses = _checked_uses(tuple(uses.split("+"))) if uses else ("reference",)
        self._client = Client(address, settings=HttpSettings(**waits))  # type: ignore[arg-type]

    def decides(self) -> Json:
        return self.name

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        def read(value: Json) -> list[float]:
            scores = value.get("scores") if isinstance(value, dict) else None
            if not isinstance(scores, list) or len(scores) != len(segments):
                raise Malformed(f'the answer is not {{"scores": […]}} with {len(segments)} numbers')
            if not all(score is None or isinstance(score, int | float) for score in scores):
                raise Malformed("a score is not a number")
            return [math.nan if score is None else float(score) for score in scores]

        shown = [{"candidate": s.candidate, **{name: getattr(s, name) for name in self.uses}} for s in segments]
        try:
            return self.post({"items": shown}, read)
        except Unanswered as problem:
            raise SystemBroken(f"The metric at {self._client.shown} gave no scores: {problem}") from problem


def _checked_uses(uses: tuple[str, ...]) -> tuple[str, ...]:
    wrong = next((name for name in uses if name not in COMPARED), None)
    if wrong is not None:
        raise UsageError(f"A metric looks at {', '.join(COMPARED)}, joined by + after #, not at {wrong!r}.")
    return uses


def _finite_score(score: object, name: str) -> float | None:
    try:
        value = None if score is None else float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise SystemBroken(f"{name} gave {score!r:.60} where a score was due.") from error
    return value if value is not None and math.isfinite(value) else None


def sacrebleu_metrics() -> Any:
    """The module `sacrebleu.metrics`, or the line that installs it."""
    return import_extra("sacrebleu", "BLEU and chrF", "metrics").metrics
