"""What asking shows of the system itself: what it changes when it is asked again, and what its requests took.

Clean inputs that are asked again say how far flips, consistency and drop go beyond chance. Of requests there are
seconds and tokens, of clean inputs and of varied ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, hypot, sqrt

import msgspec
import numpy as np

from unswayed.base.errors import option
from unswayed.base.text import p_value
from unswayed.base.values import Estimate, Output
from unswayed.measure.definitions import single_unit
from unswayed.measure.run_table import Bools, Part, RunTable
from unswayed.run.block import AS_IT_WAS, Answered
from unswayed.score import Scorer
from unswayed.stats import Array, Ints, mean_interval, numbers_of, sign_flip_interval


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
        chance = "" if flips.p is None else f" ({p_value(flips.p)})"
        return [f"{said}, {varied.value:.1%} when it is varied: {points} {beyond}{chance}."]


class Wavering(msgspec.Struct, frozen=True, kw_only=True):
    """What the system changes by itself, from a few clean inputs that were asked twice because it may not be
    deterministic.

    `asked` of them had two answers, of which `changed` differ: `own` is that share. `flips` is the share of variants
    whose answer changes, minus what the system would change of them by itself.
    """

    asked: int
    changed: int
    own: Estimate
    flips: Estimate

    def sentences(self, varied: Estimate) -> list[str]:
        """What this means for the flips of all variants; nothing if the system repeated itself."""
        own, beyond = self.own, self.flips
        if not self.changed or own.value is None or beyond.value is None or varied.value is None:
            return []
        ends = "" if own.low is None or own.high is None else f"; {own.low:.0%} to {own.high:.0%}"
        said = [
            f"But the system changes answers by itself: {self.changed} of {self.asked} clean inputs "
            f"({own.value:.0%}{ends}) had another answer when they were asked twice."
        ]
        if beyond.low is not None and beyond.high is not None:
            chance = ", which may be chance" if beyond.low <= 0 <= beyond.high else ""
            points = f"{100 * beyond.value:z.0f} points ({100 * beyond.low:z.0f} to {100 * beyond.high:z.0f})"
            said.append(f"Beyond that, the variants change {points}{chance}.")
        return [*said, f"Use {option('repeats', value='3')} to tell the two apart."]


def measure_wavering(flips: Sequence[int], varied: Estimate, table: RunTable, level: float) -> Wavering:
    """`flips` has 1 for an input asked twice whose answers differ, and 0 for the others; `varied` is of all variants.

    The interval of the difference is Newcombe's, from those of both shares (MOVER): it takes them to be independent,
    which is the careful side, as inputs on which a system wavers change more often among the variants, too.
    """
    values, signed = np.array(flips, dtype=np.float64), varied.signature.partition("|")[2]
    n = len(values)

    def estimate(name: str, value: float | None, low: float | None, high: float | None) -> Estimate:
        return Estimate(value, low, high, n, 0, f"measure=wavering.{name}:1|asked_twice={n}|{signed}")

    share, (least, most) = float(values.mean()), mean_interval(values, (0.0, 1.0), level)
    own = estimate("own", share, least, most)
    # a variant that equals its example has the clean answer, so that it can't waver
    compared, _, altered, _ = _varied(table, None)
    there = compared > 0
    can = float((altered[there] / compared[there]).mean()) if there.any() else 0.0
    if varied.value is None:
        beyond, low, high = None, None, None
    else:
        beyond = varied.value - can * share
        least, most = (0.0, 1.0) if least is None or most is None else (least, most)
        low = None if varied.low is None else beyond - hypot(varied.value - varied.low, can * (most - share))
        high = None if varied.high is None else beyond + hypot(varied.high - varied.value, can * (share - least))
    return Wavering(asked=n, changed=int(values.sum()), own=own, flips=estimate("flips", beyond, low, high))


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
    columns: list[tuple[Array, ...]] = []
    for part in table.parts():
        mean, variance = np.full(part.size, np.nan), np.full(part.size, np.nan)
        if scorer is not None and scorer.linear:
            scored = part.scored[scorer.name]
            answered = ~np.isnan(scored.clean)
            known = ~np.isnan(scored.varied) & answered[part.example]
            at, values, first = part.example[known], scored.varied[known], np.nan_to_num(scored.clean)
            many = np.bincount(at, minlength=part.size) + 1
            middle = (np.bincount(at, weights=values, minlength=part.size) + first) / many
            squares = np.bincount(at, weights=(values - middle[at]) ** 2, minlength=part.size) + (first - middle) ** 2
            mean = np.where(answered, middle, np.nan)
            variance = np.where((many > 1) & answered, squares / np.maximum(many - 1, 1), np.nan)
        columns.append((*_flips(part, part.flip >= 0), mean, variance))
    return Again(repeats, *map(np.concatenate, zip(*columns, strict=True)))


def _flips(part: Part, known: Bools) -> tuple[Array, Array]:
    """Of each example how many answers were compared, and how many of them differ."""
    compared = np.bincount(part.example[known], minlength=part.size).astype(np.float64)
    changed = np.bincount(part.example[known & (part.flip == 1)], minlength=part.size).astype(np.float64)
    return compared, changed


def _varied(table: RunTable, scorer: Scorer | None) -> Iterator[Array]:
    """For each example the variants compared, changed and altered, and their mean score."""
    columns: list[tuple[Array, ...]] = []
    for part in table.parts():
        known, average = ~part.changed & (part.flip >= 0), np.full(part.size, np.nan)
        altered = np.bincount(part.example[known & (part.text != AS_IT_WAS)], minlength=part.size).astype(np.float64)
        if scorer is not None and scorer.linear:
            scores = part.scored[scorer.name].varied
            scored = ~part.changed & ~np.isnan(scores)
            many = np.bincount(part.example[scored], minlength=part.size)
            total = np.bincount(part.example[scored], weights=scores[scored], minlength=part.size)
            average = np.where(many > 0, total / np.maximum(many, 1), np.nan)
        columns.append((*_flips(part, known), altered, average))
    return map(np.concatenate, zip(*columns, strict=True))


def measure_repeats(
    again: Again, table: RunTable, scorer: Scorer | None, level: float, signed: str, clusters: Ints | None = None
) -> Repeats:
    """All numbers of the repeats; `signed` is the signature of the run's flips, on which they rest too.

    A variant that equals its example has the clean answer and can't waver, so chance is that of the altered ones.
    """
    compared, changed, altered, average = _varied(table, scorer)
    both = (again.compared > 0) & (compared > 0)
    of, made = again.compared[both], compared[both]
    own = again.changed[both] / of * altered[both] / made
    flips = changed[both] / made
    size = np.minimum(of, made)
    # the chance that none of `size` of an example's variants flips by itself; only those that are altered were asked
    columns = (of, again.changed[both], size, made, altered[both])
    chances = []
    for m, c, k, n, a in zip(*(column.astype(int).tolist() for column in columns), strict=True):
        ways = ((comb(a, j) * comb(n - a, k - j), comb(m - c, j) / comb(m, j)) for j in range(min(a, k) + 1))
        chances.append(sum(many * none for many, none in ways) / comb(n, k))
    kept = np.array(chances, dtype=np.float64)
    kept_varied = _none_changed(made, changed[both], size)

    def estimate(
        name: str, values: Array, span: tuple[float, float], inside: Bools, unit: float | None = None
    ) -> Estimate:
        signature = f"measure=repeats.{name}:2|repeats={again.repeats}|{signed.partition('|')[2]}"
        if not len(values):
            return Estimate(None, None, None, 0, 0, signature)
        numbers = numbers_of(values, clusters=None if clusters is None else clusters[inside])
        low, high = mean_interval(numbers, span, level, "share" if span[0] == 0 else "difference")
        p = None
        if span[0] < 0:
            low, high, p = sign_flip_interval(numbers, (low, high), level, unit)
        return Estimate(float(values.mean()), low, high, len(values), 0, signature, p=p)

    answered = again.compared > 0
    asked = again.changed[answered] / again.compared[answered]
    known = ~np.isnan(again.mean) & ~np.isnan(average)
    drop = None
    if scorer is not None and known.any():
        low, high = scorer.bounds
        single = [single_unit(part.scored[scorer.name]) for part in table.parts()]
        unit = None if None in single else (high - low) / (again.repeats + 1)
        drop = estimate("drop", (again.mean - average)[known], (low - high, high - low), known, unit)
    noise = again.variance[~np.isnan(again.variance)]
    return Repeats(
        repeats=again.repeats,
        of=int(size.max(initial=0)),
        disagreement=estimate("disagreement", asked, (0.0, 1.0), answered),
        flips=estimate("flips", flips - own, (-1.0, 1.0), both, 1 / again.repeats),
        agreement=estimate("agreement", kept, (0.0, 1.0), both),
        consistency=estimate("consistency", kept_varied - kept, (-1.0, 1.0), both),
        clean_sd=sqrt(float(noise.sum())) / len(noise) if len(noise) else None,
        drop=drop,
    )


def _none_changed(of: Array, changed: Array, size: Array) -> Array:
    """The chance that none of `size` answers, chosen at random from each example's, is one of the changed."""
    chances = [comb(int(m - c), int(k)) / comb(int(m), int(k)) for m, c, k in zip(of, changed, size, strict=True)]
    return np.array(chances, dtype=np.float64)


_REQUESTS_VERSION = 1
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
        for kind, (rows, seconds, read, written) in (("clean", self._clean), ("varied", self._varied)):
            quantiles: list[Estimate | None] = []
            for p in (0.5, 0.95) if seconds else ():
                # Woodruff's interval: that of the share of answers within the quantile, by example, turned into seconds
                values, units = np.array(seconds), np.unique(np.array(rows), return_inverse=True)[1]
                value = float(np.quantile(values, p))
                within = numbers_of((values <= value).astype(np.float64), clusters=units)
                low, high = (
                    None if end is None else float(np.quantile(values, min(max(end, 0.0), 1.0)))
                    for end in mean_interval(within, (0.0, 1.0), self._level)
                )
                signed = _signed(f"seconds {kind} {p:g}", signature)
                quantiles.append(Estimate(value, low, high, int(units.max()) + 1, 0, signed))
            sides.append(Requests(len(rows), sum(read), sum(written), *quantiles))
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
    return f"measure={name}:{_REQUESTS_VERSION}|{signature.partition('|')[2]}"
