"""The comparison of runs as values and sentences: differences, tested together, and gates (non-inferiority).

The fields of the values are also the shape of `--format json`."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
import numpy as np

from unswayed.base.errors import GateFailed, NothingEvaluated, UnknownName, UnswayedError, UsageError, option
from unswayed.base.text import data_frame, figure, label, number, p_value, subject
from unswayed.base.values import Estimate
from unswayed.measure.comparison.contrasts import AnswerCounts, Contrast
from unswayed.measure.definitions import MEASURES
from unswayed.measure.gates import ALL, AT_LEAST, spelled, split_measure
from unswayed.measure.results import Cells, Tabular, load_from, save_to
from unswayed.run.plan import GateOn, MeasurePlan
from unswayed.stats import Array, Numbers, correct, mean_interval
from unswayed.stats.multiple_comparisons import draw_largest, max_t_level, max_t_p_values
from unswayed.stats.sign_flip import agreeing

if TYPE_CHECKING:
    from unswayed.measure.changes import Changed
    from unswayed.measure.measuring import Runlike

_BETTER = {"average": 1, "worst": 1, "clean": 1, "flips": -1}  # is more of it better?
_ON = {"average": "on average", "worst": "at worst", "clean": "on clean inputs", "flips": "in flips"}
_LOOKED = 20_000  # answers that are looked through for some of each kind
_COLUMNS = ("set", "measure", "a", "b", "difference", "low", "high", "p", "p_corrected", "n", "missing")


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of B minus that of A, over the examples that both answered.

    `p` is of this difference by itself and `p_corrected` for all that are tested together. `low` and `high` are an
    interval of the same kind as `p_corrected`: it excludes zero where that is at most 1 - level. `test` is how p was
    found, and `shown` says whether the difference is more than chance.
    """

    measure: str
    set: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    test: str
    n: int
    missing: int
    sentence: str
    signature: str
    primary: bool = False
    shown: bool = False

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.difference, self.low, self.high, self.n, self.missing, self.signature)


class NotWorse(msgspec.Struct, frozen=True, kw_only=True):
    """Whether B is at most `margin` worse than A on one measure.

    `status` is "passed"; "worse" if B is shown to be worse by more than the margin; or "unclear" if that can be neither
    shown nor excluded. `low` and `high` are the interval of B minus A by itself, and `bound` is what was held against
    the margin.
    """

    name: str
    measure: str
    set: str
    margin: float
    difference: float | None
    low: float | None
    high: float | None
    bound: float | None
    status: Literal["passed", "worse", "unclear"]
    passed: bool
    sentence: str


class Comparison(Tabular, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Two runs on one suite, pair by pair. `a` and `b` are the systems' names. Iteration gives a row a difference.

    Example: `unswayed.compare(before, after).to_pandas()`.

    `primary` is the measure that is tested by itself. `changes` are the sentences of the differences that are more than
    chance, the primary one first. `answers` counts lost and gained answers: of "clean" inputs, of all "variants", and
    by operator. `sanity` has a sentence for each sign that a set-up is broken, and `failed` counts failed items.
    `others` are the comparisons of further runs with A. `identical` says that both runs gave the same answers.
    """

    score: str
    task: str
    suite: str
    a: str
    b: str
    correction: str
    level: float
    differences: list[Difference]
    primary: str = ""
    changes: list[str] = []
    answers: dict[str, AnswerCounts] = {}
    gates: list[NotWorse] = []
    sanity: list[str] = []
    failed: dict[str, int] = {}
    incomplete: bool = False
    warnings: list[str] = []
    others: list[Comparison] = []
    identical: bool = False

    unvaried: ClassVar[str] = "clean input"  # what has no operator
    whole: ClassVar[str] = "Over all variants"

    @property
    def passed(self) -> bool:
        """Did all gates pass, in a set-up that is not broken?"""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """That of `unswayed compare`: 5 if a set-up looks broken, 3 if too many items failed, 1 if a gate failed."""
        every = [self, *self.others]
        if any(one.sanity for one in every):
            return NothingEvaluated.exit_code
        if any(one.incomplete for one in every):
            return UnswayedError.exit_code
        return 0 if all(gate.passed for one in every for gate in one.gates) else GateFailed.exit_code

    @property
    def sentences(self) -> list[str]:
        """What users of B get, how many differences are more than chance, and what was compared how."""
        runs, said = self.lettered(), []
        for run, one in runs:
            own = [one.outcome(run), *one.lost_and_gained(run)]
            rest = [d for d in one.differences if not d.primary]
            shown = sum(d.shown for d in rest)
            if rest and not one.identical:
                own.append(f"Of {len(rest):,} other differences, {shown or 'none'} {_is(shown or 1)} more than chance.")
            said += own if len(runs) == 1 else [f"{run}: {sentence}" for sentence in own]
        return [*said, self.about]

    @property
    def about(self) -> str:
        """Which systems are compared, by which score, and how the differences are tested."""
        runs = self.lettered()
        which = ", ".join([f"A is {label(self.a)}", *(f"{run} is {label(one.b)}" for run, one in runs)])
        others = sum(not d.primary for _, one in runs for d in one.differences)
        how = "p-values are not corrected."
        if self.correction != "none":
            how = f"-values of all other differences ({others:,}) are corrected together ({self.correction})."
            first = f"{self.primary[:1].upper()}{self.primary[1:]} is tested by itself; p" if self.primary else "P"
            how = first + how
        return f"{which}; {label(subject(self.score))}. {how}"

    def outcome(self, run: str = "B") -> str:
        """What users of B get: `Better by …`, `Worse by …`, `Mixed: …`, or `No difference that … could show`."""
        if self.identical:
            return f"Identical: A and {run} gave the same answers."
        overall = {d.measure: d for d in self.differences if d.set in ("", "all")}
        shown = [overall[measure] for measure in _BETTER if measure in overall and overall[measure].shown]
        better = [(d.difference or 0.0) * _BETTER[d.measure] > 0 for d in shown]
        told = []
        for d, is_better in zip(shown, better, strict=True):
            # its own sentence is `Average rises by 7.4 points [3.9, 10.8], from 0.605 to 0.679 (p < 0.001).`
            size, _, ends = d.sentence.partition(" by ")[2].removesuffix(".").partition(", from ")
            told.append(f"{'better' if is_better else 'worse'} by {size} {_ON[d.measure]}, from {ends}")
        if not told:
            main = next((d for d in self.differences if d.primary), overall.get("average") or overall.get("flips"))
            if main is None:
                return "No difference was found."
            rest = main.sentence.replace(", but that may be chance", "")
            return f"No difference that these {main.n:,} examples could show: {rest[:1].lower()}{rest[1:]}"
        moved, fragile = {d.measure: d.difference or 0.0 for d in shown}, overall.get("drop")
        more = ""
        if {"clean", "average"} <= moved.keys() and fragile is not None and not fragile.shown:
            if max(moved["clean"], moved["average"]) < 0:
                more = "; lower everywhere, not shown to be more fragile"
            elif min(moved["clean"], moved["average"]) > 0:
                more = "; higher everywhere, not shown to be less fragile"
        if len(set(better)) == 2:
            return f"Mixed: {'; '.join(told)}."
        return f"{told[0][:1].upper()}{told[0][1:]}{more}."

    def lost_and_gained(self, run: str = "B") -> list[str]:
        """How many answers to variants are right in one run and wrong in the other, in a sentence."""
        if self.identical or (found := self.answers.get("variants")) is None:
            return []
        return [
            f"Of the answers to variants, {found.lost:,} {_is(found.lost)} lost (right in A, wrong in {run}) and "
            f"{found.gained:,} {_is(found.gained)} gained."
        ]

    @property
    def remarks(self) -> list[str]:
        """What a reader should know besides: broken set-ups and missing items, and what each gate says."""
        said: dict[str, None] = {}
        for run, one in self.lettered():
            lead = f"{run}: " if self.others else ""
            gates = [f"{lead}{gate.sentence}" for gate in one.gates]
            said |= dict.fromkeys([*one.sanity, *gates, *one.warnings])
        if any(one.sanity for _, one in self.lettered()):
            accept = option("no-sanity", value="False")
            return [f"Nothing was concluded, as a set-up looks broken. {accept} accepts it as it is.", *said]
        return list(said)

    def lettered(self) -> list[tuple[str, Comparison]]:
        """The comparisons with A, each with the letter of its run: B, C, …"""
        return [(letter(place), one) for place, one in enumerate([self, *self.others], 1)]

    @property
    def has_answers(self) -> bool:
        """Does it know what it compares, so that lost and gained answers can be read?"""
        return self.runs is not None

    @property
    def runs(self) -> tuple[Runlike, Runlike] | None:
        """A and B, where they are known: a comparison that was loaded from a file does not know them."""
        known = self.__dict__.get("_runs")
        return None if known is None else known[:2]

    @property
    def kinds_of_change(self) -> dict[str, str]:
        """What it means that an answer is lost, or gained."""
        return {"lost": "right in A, wrong in B", "gained": "wrong in A, right in B"}

    @property
    def trend(self) -> str:
        """`better` or `worse`, if that is what the outcome says."""
        first = self.outcome().partition(" ")[0].lower()
        return first if first in ("better", "worse") else ""

    def in_a_word(self, difference: Difference) -> str:
        """`better` or `worse`, of a difference that is more than chance."""
        gain = (difference.difference or 0.0) * (-1 if difference.measure == "flips" else 1)
        return "better" if gain > 0 else "worse"

    def iter_flips(self, most: int | None = None) -> Iterator[Changed]:
        """Every answer that is right in one of the runs and not in the other, read from the runs; with `most`, so many
        of each kind, of the first ones."""
        from unswayed.measure.changes import changed_answers

        if (runs := self.__dict__.get("_runs")) is None:
            raise UsageError("This comparison does not know its runs. Compare them again with unswayed.compare(a, b).")
        a, b, plan = runs
        count = Counter[str]()
        for changed in islice(changed_answers(a, b, self.score, plan), None if most is None else _LOOKED):
            count[changed.change] += 1
            if most is None or count[changed.change] <= most:
                yield changed

    def flips(self) -> Any:
        """Every lost and gained answer as a pandas DataFrame: the text, both answers, the gold, and which it is."""
        rows = list(self.iter_flips())
        names = ("change", "example", "operator", "draw", "text", "answer_a", "answer_b", "gold")
        return data_frame("pandas", {name: [getattr(row, name) for row in rows] for name in names})

    def of_runs(self, a: Runlike, b: Runlike, plan: MeasurePlan) -> Self:
        """The same comparison, which knows the runs that it is of, and how they were measured."""
        msgspec.structs.force_setattr(self, "_runs", (a, b, plan))
        return self

    def save(self, path: str | Path) -> Path:
        """Writes the comparison to a file, from which `Comparison.load` reads it."""
        return save_to(path, self, None)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A comparison that `save` wrote."""
        found: Self = load_from(path, cls)[0]
        return found

    def _differences(self) -> Iterator[tuple[Cells, Difference]]:
        """All differences, each after what names its run if there are several."""
        for run, one in self.lettered():
            for difference in one.differences:
                yield {"run": run} if self.others else {}, difference

    def _rows(self) -> list[Cells]:
        return [run | {name: getattr(d, name) for name in _COLUMNS} for run, d in self._differences()]

    def _shown(self) -> tuple[list[str], list[Cells]]:
        what = "difference" if self.others else "B - A"
        return self.sentences, [
            run | {"set": label(d.set), "measure": d.measure, what: figure(d.estimate)}
            for run, d in self._differences()
        ]


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def letter(place: int) -> str:
    """A for the first run, then B, C, …; after Z come numbers."""
    return chr(ord("A") + place) if place < 26 else f"R{place + 1}"


@dataclass(frozen=True)
class Tested:
    """A difference's corrected p-value, and the level of its interval."""

    p: float | None
    level: float
    primary: bool


def tested_together(
    contrasts: Sequence[Contrast], correlation: Callable[[Sequence[Contrast]], Array], plan: MeasurePlan,
    correction: str, primary: bool,
) -> dict[Contrast, Tested]:  # fmt: skip
    """One family of tests. A difference that is not known is in it, but not tested."""
    known = [contrast for contrast in contrasts if contrast.p is not None]
    p_values = [contrast.p for contrast in known if contrast.p is not None]
    level, width = plan.level, len(known)
    if correction == "max-t":
        drawn = draw_largest(correlation(known), plan.bootstrap, plan.seed) if width > 1 else None
        corrected = p_values if drawn is None else max_t_p_values(p_values, drawn)
        level = level if drawn is None else max_t_level(level, drawn, width)
    else:
        corrected = [p for p in correct(p_values, correction) if p is not None]
        level = level if correction == "none" else 1 - (1 - level) / max(width, 1)
    p_of = dict(zip(known, corrected, strict=True))
    return {contrast: Tested(p_of.get(contrast), level, primary) for contrast in contrasts}


def difference_of(contrast: Contrast, tested: Tested, level: float, signature: str) -> Difference:
    """A difference with its sentence; `level` is the one that was asked for.

    `Worst falls by 4.1 points [2.6, 5.6] on keyboard/adjacent, from 0.853 to 0.812 (p < 0.001).`
    """
    a, b = contrast.values
    p, difference = tested.p, contrast.difference
    ends = contrast.interval(tested.level)
    if difference is not None and p is not None:  # corrections that go step by step have no level of their own
        ends = agreeing(ends, difference, p, level)
    low, high = ends
    shown = p is not None and p < 1 - level
    where = "" if contrast.set == ALL else f" on {spelled(contrast.set)}"
    what = contrast.measure.capitalize()
    test = "none" if p is None else "sign flip" if contrast.exchangeable else "paired t"
    if difference is None or p is None or a is None or b is None:
        sentence = f"{what} can't be compared{where}: there is no example that both runs answered."
    else:
        # measures from 0 to 1 change by points of a hundred; 4 is the span of a drop's difference on that scale
        scale, unit, digits = (100.0, " points", 1) if contrast.span[1] - contrast.span[0] <= 4 else (1.0, "", 3)
        digits = 2 if unit and 0 < abs(difference) < 0.001 else digits
        turn = -scale if difference < 0 else scale
        near, far = sorted(turn * end if end is not None else float("nan") for end in ends)
        least, most, by = (f"{value:z.{digits}f}" for value in (near, far, turn * difference))
        span = f" [{least}, {most}]" if isfinite(near + far) else ""
        chance = p_value(p)
        if difference == 0:
            sentence = f"{what} stays at {number(a)}{where}."
        else:
            moves = "rises" if difference > 0 else "falls"
            sentence = f"{what} {moves} by {by}{unit}{span}{where}, from {number(a)} to {number(b)}"
            sentence += f" ({chance})." if shown else f", but that may be chance ({chance})."
    return Difference(
        measure=contrast.measure, set=contrast.label, a=a, b=b, difference=contrast.difference, low=low, high=high,
        p=contrast.p, p_corrected=tested.p, test=test, n=contrast.n,
        missing=contrast.missing, sentence=sentence,
        signature=signature, primary=tested.primary, shown=shown,
    )  # fmt: skip


_USAGE = "[SET:]MEASURE:MARGIN, such as worst:0.02 or keyboard/adjacent:worst:0.02"
_MARGIN_ROUNDING = 1e-12
_MAX_EXAMPLES = 1 << 24


class Margin(msgspec.Struct, frozen=True):
    """How much worse a measure may be, over all variants or over the sets that `set` names."""

    measure: str
    margin: float
    set: str = "all"


def margins_of(given: Mapping[str, float]) -> list[Margin]:
    """The margins in a mapping from `[SET:]MEASURE` to margin."""
    found = []
    for name, margin in given.items():
        set_, measure = split_measure(name)
        if measure not in MEASURES:
            raise UnknownName("measure to compare", measure, MEASURES)
        if margin < 0:
            raise UsageError(f"The margin of {name!r} must not be negative, as {margin:g} is. Write {_USAGE}.")
        found.append(Margin(measure, margin, set_ or "all"))
    return found


def check_margin(margin: float, contrast: Contrast, level: float, on: GateOn, higher: bool | None = None) -> NotWorse:
    """Holds a difference against its margin. `higher` says whether more is better, if the measure's name does not.

    `on` says which figure: "at-worst", the end of the interval where B is worst, passes only what is shown to be not
    worse; "at-best", the other end, fails only what is shown to be worse; "value" is the difference itself.
    """
    sign = 1 if (contrast.measure in AT_LEAST if higher is None else higher) else -1
    low, high = contrast.interval(level)
    value = contrast.difference
    ends = {"value": value, "at-worst": low if sign > 0 else high, "at-best": high if sign > 0 else low}
    bound = ends[on]

    def worse(end: float | None) -> bool:
        """Is it worse by more than the margin? What is not known may be."""
        return end is None or -sign * end > margin + _MARGIN_ROUNDING

    passed = not worse(bound)
    status: Literal["passed", "worse", "unclear"] = "passed"
    if not passed:
        status = "worse" if ends["at-best"] is not None and worse(ends["at-best"]) else "unclear"
    name, what = contrast.measure, contrast.measure
    if contrast.set != ALL:
        name, what = f"{spelled(contrast.set)}:{name}", f"{what} on {spelled(contrast.set)}"
    said, chance, more = "B is not worse" if passed else "B is worse", "", ""
    if status == "unclear" and on == "value":
        chance = ", but that may be chance"
    elif status == "unclear":
        said, laxer = "it is unclear whether B is worse", option("gate-on", "compare.on", "at-best")
        more = f"{_needed(margin, contrast, level)} {laxer} fails only what is shown to be worse."
    sentence = f"{what}: there is nothing to compare, so the margin of {margin:g} does not hold: failed."
    if value is not None:
        span = "" if low is None or high is None else f", {low:.3f} to {high:.3f}"
        said += f" than A by more than {margin:g}{chance} (difference {value:.3f}{span})"
        sentence = f"{what}: {said}: {'passed' if passed else 'failed'}.{more}"
    return NotWorse(
        name=name, measure=contrast.measure, set=contrast.label, margin=margin, difference=value, low=low, high=high,
        bound=bound, status=status, passed=passed, sentence=sentence,
    )  # fmt: skip


def _needed(margin: float, contrast: Contrast, level: float) -> str:
    """How many examples it takes at least, if these are too few even for equal answers."""

    def shows(n: int) -> bool:
        same = Numbers(np.zeros(1), np.ones(1), np.full(1, float(n)))
        low, _ = mean_interval(same, contrast.span, level, contrast.kind)
        return low is not None and -low <= margin

    enough = 1 + bisect_left(range(1, _MAX_EXAMPLES), True, key=shows)
    if enough <= contrast.numbers.units or enough >= _MAX_EXAMPLES:
        return ""
    units = "clusters" if contrast.clustered else "examples"
    return f" At least {enough:,} {units} are needed to show it, even with equal answers."
