"""What a system changes by itself: clean inputs asked again, and how far flips, consistency and drop go beyond that."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, isfinite, sqrt

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.values import Estimate
from unswayed.measure.run_table import Part, RunTable
from unswayed.run.block import AS_IT_WAS
from unswayed.score import Scorer
from unswayed.stats import Array, Ints, mean_interval, numbers_of


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """The system's own disagreement, from clean inputs that were asked `repeats` more times.

    `disagreement` is the share of repeats whose answer differs from the first clean answer; `flips` are flips beyond
    it, example by example, where a variant that equals its example can't flip by chance. `agreement` is the share of
    examples of whose repeats, at most `of` of them and as many as variants are altered, none differs; `consistency` is
    the consistency of as many variants, less that. `clean_sd` is how much the clean score changes
    from one asking to the next, and `drop` the drop from the mean of all clean answers.
    """

    repeats: int
    of: int
    disagreement: Estimate
    flips: Estimate
    agreement: Estimate
    consistency: Estimate
    clean_sd: float | None = None
    drop: Estimate | None = None

    def rows(self, flips: Estimate) -> list[dict[str, object]]:
        """Flips and consistency of the variants, of the repeats, and the one less the other."""
        kept, beyond = self.agreement.value, self.consistency.value
        varied = None if kept is None or beyond is None else kept + beyond
        heads = ("against chance", "variants", "asked again", "beyond chance")
        found = [
            ("flips", flips, self.disagreement, self.flips),
            (f"consistency of up to {self.of}", varied, self.agreement, self.consistency),
        ]
        return [dict(zip(heads, row, strict=True)) for row in found]

    @property
    def steady(self) -> bool:
        """Did every repeat have the same answer?"""
        return self.disagreement.value == 0

    def sentences(self, varied: Estimate) -> list[str]:
        """What the repeats show, for people; `varied` are the flips of all variants."""
        own, flips = self.disagreement, self.flips
        if own.value is None:
            return []
        if self.steady:
            return ["The system gave the same answers when it ran again on the same texts."]
        said = f"{own.value:.1%} of answers change when the same text is asked again"
        if flips.value is None or flips.low is None or flips.high is None or varied.value is None:
            return [f"{said}."]
        points = f"{100 * flips.value:.1f} points [{100 * flips.low:.1f}, {100 * flips.high:.1f}]"
        beyond = "which may be chance" if flips.low <= 0 <= flips.high else "beyond chance"
        return [f"{said}, {varied.value:.1%} when it is varied: {points} {beyond}."]


@dataclass(frozen=True)
class Again:
    """For each example: repeats compared and changed, and the mean and the variance of all its clean scores."""

    repeats: int
    compared: Array
    changed: Array
    mean: Array
    variance: Array


def summed_up(table: RunTable, repeats: int, scorer: Scorer | None) -> Again:
    """The repeats of each example. A score that is no mean of items has no mean and no variance here."""
    name = scorer.name if scorer is not None and scorer.linear else None
    parts = [_again(part, name) for part in table.parts()]
    columns = [np.concatenate([part[i] for part in parts]) if parts else np.zeros(0) for i in range(4)]
    return Again(repeats, *columns)


def _again(part: Part, score: str | None) -> tuple[Array, Array, Array, Array]:
    n = part.size
    compared, changed = _flips(part, part.flip >= 0)
    mean, variance = np.full(n, np.nan), np.full(n, np.nan)
    if score is not None:
        scored = part.scored[score]
        known = ~np.isnan(scored.varied) & ~np.isnan(scored.clean[part.example])
        at, values = part.example[known], scored.varied[known]
        many = np.bincount(at, minlength=n) + 1
        first = np.nan_to_num(scored.clean)
        total = np.bincount(at, weights=values, minlength=n) + first
        middle = total / many
        squares = np.bincount(at, weights=(values - middle[at]) ** 2, minlength=n) + (first - middle) ** 2
        mean = np.where(np.isnan(scored.clean), np.nan, middle)
        variance = np.where((many > 1) & ~np.isnan(scored.clean), squares / np.maximum(many - 1, 1), np.nan)
    return compared, changed, mean, variance


def _flips(part: Part, known: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Of each example how many answers were compared, and how many of them differ."""
    compared = np.bincount(part.example[known], minlength=part.size).astype(np.float64)
    changed = np.bincount(part.example[known & (part.flip == 1)], minlength=part.size).astype(np.float64)
    return compared, changed


class _Varied:
    """For each example the variants compared, changed and altered, and their mean score."""

    def __init__(self, table: RunTable, score: str | None) -> None:
        parts = [_varied(part, score) for part in table.parts()]
        self.compared, self.changed, self.altered, self.average = (
            np.concatenate([part[i] for part in parts]) if parts else np.zeros(0) for i in range(4)
        )


def _varied(part: Part, score: str | None) -> tuple[Array, Array, Array, Array]:
    n = part.size
    known = ~part.changed & (part.flip >= 0)
    compared, changed = _flips(part, known)
    altered = np.bincount(part.example[known & (part.text != AS_IT_WAS)], minlength=n).astype(np.float64)
    average = np.full(n, np.nan)
    if score is not None and part.scored[score].scorer.linear:
        scored = ~part.changed & ~np.isnan(part.scored[score].varied)
        many = np.bincount(part.example[scored], minlength=n)
        total = np.bincount(part.example[scored], weights=part.scored[score].varied[scored], minlength=n)
        average = np.where(many > 0, total / np.maximum(many, 1), np.nan)
    return compared, changed, altered, average


def measure_repeats(
    again: Again, table: RunTable, scorer: Scorer | None, level: float, signed: str, clusters: Ints | None = None
) -> Repeats:
    """All numbers of the repeats; `signed` is the signature of the run's flips, on which they rest too.

    A variant that equals its example has the clean answer and can't waver, so chance is that of the altered ones.
    """
    varied = _Varied(table, scorer.name if scorer else None)
    both = (again.compared > 0) & (varied.compared > 0)
    own = again.changed[both] / again.compared[both] * varied.altered[both] / varied.compared[both]
    flips = varied.changed[both] / varied.compared[both]
    size = np.minimum(again.compared[both], varied.compared[both])
    # the same for `size` of an example's variants, of which only those that are altered were asked anew
    of = again.compared[both]
    changed = again.changed[both]
    made = varied.compared[both]
    altered = varied.altered[both]
    chances = []
    for m, c, k, n, a in zip(
        *(column.astype(int).tolist() for column in (of, changed, size, made, altered)), strict=True
    ):
        ways = ((comb(a, j) * comb(n - a, k - j), comb(m - c, j) / comb(m, j)) for j in range(min(a, k) + 1))
        chances.append(sum(many * none for many, none in ways) / comb(n, k))
    kept = np.array(chances, dtype=np.float64)
    kept_varied = _none_changed(varied.compared[both], varied.changed[both], size)

    def estimate(name: str, values: Array, span: tuple[float, float], inside: npt.NDArray[np.bool_]) -> Estimate:
        signature = f"measure=repeats.{name}:1|repeats={again.repeats}|{signed.partition('|')[2]}"
        if not len(values):
            return Estimate(None, None, None, 0, 0, signature)
        numbers = numbers_of(values, clusters=None if clusters is None else clusters[inside])
        low, high = mean_interval(numbers, span, level, "share" if span[0] == 0 else "difference")
        return Estimate(float(values.mean()), low, high, len(values), 0, signature)

    answered = again.compared > 0
    asked = again.changed[answered] / again.compared[answered]
    known = ~np.isnan(again.mean) & ~np.isnan(varied.average)
    drop = None
    if scorer is not None and known.any():
        low, high = scorer.bounds
        reach = high - low if isfinite(high - low) else float("inf")
        drop = estimate("drop", (again.mean - varied.average)[known], (-reach, reach), known)
    noise = again.variance[~np.isnan(again.variance)]
    return Repeats(
        repeats=again.repeats,
        of=int(size.max(initial=0)),
        disagreement=estimate("disagreement", asked, (0.0, 1.0), answered),
        flips=estimate("flips", flips - own, (-1.0, 1.0), both),
        agreement=estimate("agreement", kept, (0.0, 1.0), both),
        consistency=estimate("consistency", kept_varied - kept, (-1.0, 1.0), both),
        clean_sd=sqrt(float(noise.sum())) / len(noise) if len(noise) else None,
        drop=drop,
    )


def _none_changed(of: Array, changed: Array, size: Array) -> Array:
    """The chance that none of `size` answers, chosen at random from each example's, is one of the changed."""
    chances = [comb(int(m - c), int(k)) / comb(int(m), int(k)) for m, c, k in zip(of, changed, size, strict=True)]
    return np.array(chances, dtype=np.float64)
