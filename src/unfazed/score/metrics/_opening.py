"""From what a user names to a metric: `bleu`, `yisi1:alpha=0.5`, `module:function`, `http://HOST/score`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from unfazed.core.errors import UnknownName, UsageError
from unfazed.core.registry import import_reference
from unfazed.score.metrics._metric import Item, Metric
from unfazed.score.metrics._server import Server


def open_metric(spec: str) -> Metric:
    """The metric of that name, with its parameters after a colon; or a Python function in a module."""
    from unfazed.score.metrics import metrics

    if spec.startswith(("http://", "https://")):
        return Server(spec)
    name, _, rest = spec.partition(":")
    if name not in metrics and rest and "=" not in rest:
        return _opened(spec)
    cls = metrics.get(name)
    told = dict(part.partition("=")[::2] for part in rest.split(",") if part)
    known = inspect.signature(cls).parameters
    for key in told:
        if key not in known:
            raise UnknownName(f"parameter of {name}", key, known)
    try:
        made = cls(**{key: type(known[key].default)(value) for key, value in told.items()})
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} can't be made with {rest}: {error}.") from error
    made.name = spec
    return made


def _opened(spec: str) -> Metric:
    found = import_reference(spec)
    if inspect.isclass(found) and issubclass(found, Metric):
        found = found()
    if isinstance(found, Metric):
        found.name = found.name or spec
        return found
    if not callable(found):
        raise UsageError(f"{spec} is no function and no metric.")
    return _Function(spec, found)


class _Function(Metric):
    """A function from a list of items, as dictionaries, to a list of scores.

    Its attribute `uses` says what of reference, source and tag it looks at, `tags` which tags it knows.
    """

    def __init__(self, name: str, function: Callable[[list[dict[str, Any]]], Sequence[float]]) -> None:
        self.name = name
        self.uses = tuple(getattr(function, "uses", ("reference",)))
        self.tags = getattr(function, "tags", None)
        self._function = function

    def scores(self, items: Sequence[Item]) -> Sequence[float]:
        return self._function([item._asdict() for item in items])
