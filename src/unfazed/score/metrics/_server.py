"""A metric behind a URL: items are posted as JSON, scores come back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from unfazed.core.errors import SystemBroken, UsageError
from unfazed.core.http.client import Client, Malformed, Unanswered
from unfazed.core.values import Json
from unfazed.score.metrics._metric import Item, Metric

_USABLE = ("reference", "source", "tag")
_AT_ONCE = 64


class Server(Metric):
    """Posts `{"items": [{"candidate": …, "reference": …}, …]}` and reads `{"scores": […]}`; null is no score.

    What follows `#` says what the server looks at: `http://HOST/score#source+tag`. By default that is the reference.
    """

    def __init__(self, spec: str) -> None:
        url, _, uses = spec.partition("#")
        self.name = spec
        self.uses = tuple(uses.split("+")) if uses else ("reference",)
        wrong = next((name for name in self.uses if name not in _USABLE), None)
        if wrong is not None:
            raise UsageError(f"After # stand {', '.join(_USABLE)}, joined by +; {wrong!r} is none of them.")
        self._client = Client(url)

    def identity(self) -> object:
        return [self.name, self.version]

    def scores(self, items: Sequence[Item]) -> Sequence[float]:
        found: list[float] = []
        for at in range(0, len(items), _AT_ONCE):
            part = items[at : at + _AT_ONCE]
            shown = [{"candidate": i.candidate, **{name: getattr(i, name) for name in self.uses}} for i in part]
            try:
                found += self._client.post({"items": shown}, partial(_read, asked=len(part)))
            except Unanswered as problem:
                raise SystemBroken(f"The metric at {self._client.shown} gave no scores: {problem}") from problem
        return found


def _read(value: Json, asked: int) -> list[float]:
    scores = value.get("scores") if isinstance(value, dict) else None
    if not isinstance(scores, list) or len(scores) != asked:
        raise Malformed(f'the answer is not {{"scores": […]}} with {asked} numbers')
    if not all(score is None or isinstance(score, int | float) for score in scores):
        raise Malformed("a score is no number")
    return [math.nan if score is None else float(score) for score in scores]
