"""What the requests behind a run's answers took: seconds and tokens, of clean inputs and of varied ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from unswayed.base.values import Estimate, Output
from unswayed.run.block import Answered
from unswayed.stats import Array, mean_interval, numbers_of

_VERSION = 1
Taken = tuple[list[int], list[float], list[int], list[int]]  # examples, seconds, tokens in, tokens out


class Requests(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of one kind of inputs: how many answers servers gave, the tokens of all, and how long one takes.

    `p50` and `p95` are the seconds within which half of the answers came, and 19 of 20.
    """

    answers: int
    tokens_in: int
    tokens_out: int
    p50: Estimate | None = None
    p95: Estimate | None = None


class Served(msgspec.Struct, frozen=True):
    """The requests of clean inputs, repeats included, and of varied ones. `slower` is how much longer varied ones take.

    It is the mean difference in seconds between an example's varied and its clean requests.
    """

    clean: Requests
    varied: Requests
    slower: Estimate | None = None

    def rows(self) -> list[dict[str, object]]:
        """A row for each kind of inputs."""
        kinds = {"clean": self.clean, "varied": self.varied}
        return [
            {
                "requests": name,
                "answers": one.answers,
                "p50, seconds": one.p50,
                "p95, seconds": one.p95,
                "tokens in": one.tokens_in,
                "tokens out": one.tokens_out,
            }
            for name, one in kinds.items()
        ]


class Serving:
    """Watches a run's items as they stream by; `report` says what their requests took."""

    def __init__(self, level: float) -> None:
        self._level = level
        self._clean: Taken = ([], [], [], [])
        self._varied: Taken = ([], [], [], [])

    def watch(self, items: Iterable[Answered], repeats: bool = False) -> Iterator[Answered]:
        """The same items. An example's equal variants are one request; those of `repeats` are clean inputs."""
        for item in items:
            example, clean, varied = item
            if repeats:
                for _, output in varied:
                    _note(self._clean, example.row, output)
            else:
                _note(self._clean, example.row, clean)
                texts = {tuple(variant.inputs.values()): output for variant, output in varied}
                texts.pop(tuple(example.inputs.values()), None)
                for output in texts.values():
                    _note(self._varied, example.row, output)
            yield item

    def report(self, signature: str) -> Served:
        sides = []
        for name, (rows, seconds, read, written) in (("clean", self._clean), ("varied", self._varied)):
            p50, p95 = (self._quantile(rows, seconds, p, f"{name} {p:g}", signature) for p in (0.5, 0.95))
            sides.append(Requests(len(rows), sum(read), sum(written), p50, p95))
        one, other = _means(self._clean), _means(self._varied)
        both = sorted(one.keys() & other.keys())
        slower = None
        if len(both) > 1:
            differences: Array = np.array([other[row] - one[row] for row in both])
            span = float("-inf"), float("inf")
            low, high = mean_interval(numbers_of(differences), span, self._level, "difference")
            mean, signed = float(differences.mean()), _signed("seconds slower", signature)
            slower = Estimate(mean, low, high, len(both), 0, signed)
        return Served(sides[0], sides[1], slower)

    def _quantile(self, rows: list[int], seconds: list[float], p: float, name: str, signature: str) -> Estimate | None:
        """Woodruff's interval: that of the share of answers within the quantile, by example, turned into seconds."""
        if not seconds:
            return None
        values, units = np.array(seconds), np.unique(np.array(rows), return_inverse=True)[1]
        value = float(np.quantile(values, p))
        within = numbers_of((values <= value).astype(np.float64), clusters=units)
        low, high = mean_interval(within, (0.0, 1.0), self._level)
        low, high = (
            None if end is None else float(np.quantile(values, min(max(end, 0.0), 1.0))) for end in (low, high)
        )
        return Estimate(value, low, high, int(units.max()) + 1, 0, _signed(f"seconds {name}", signature))


def _note(taken: Taken, row: int, output: Output) -> None:
    if output.error is not None and output.tokens_in is None:
        return  # nothing was answered
    rows, seconds, read, written = taken
    rows.append(row)
    seconds.append(output.seconds)
    read.append(output.tokens_in or 0)
    written.append(output.tokens_out or 0)


def _means(taken: Taken) -> dict[int, float]:
    if not taken[0]:
        return {}
    rows, code = np.unique(np.array(taken[0]), return_inverse=True)
    return dict(zip(rows.tolist(), (np.bincount(code, taken[1]) / np.bincount(code)).tolist(), strict=True))


def _signed(name: str, signature: str) -> str:
    return f"measure={name}:{_VERSION}|{signature.partition('|')[2]}"
