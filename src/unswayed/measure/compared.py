"""The comparison of runs, as values, tables and text. Its fields are also the shape of `--format json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from unswayed.base.errors import GateFailed, NothingEvaluated, UnswayedError, UsageError, option
from unswayed.base.text import figure, label, pandas_frame, subject
from unswayed.base.values import Estimate
from unswayed.measure.tabular import Cells, Tabular, aligned, html, load_from, save_to
from unswayed.storage.files import as_path

if TYPE_CHECKING:
    from unswayed.measure.answers import Changed
    from unswayed.measure.measuring import Runlike
    from unswayed.run.plan import MeasurePlan

_BETTER = {"clean": 1, "average": 1, "worst": 1, "flips": -1}  # is more of it better?
_SHOWN = ("set", "measure", "a", "b", "difference", "low", "high", "p", "p_corrected", "n", "missing")


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


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """How many answers of two runs are right or wrong: `lost` were right in A and are wrong in B."""

    lost: int
    gained: int
    right: int
    wrong: int


class Comparison(Tabular, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Two runs on one suite, pair by pair. `a` and `b` are the systems' names. Iteration gives a row a difference.

    Example: `unswayed.compare(before, after).to_pandas()`.

    `primary` is the measure that is tested by itself. `changes` are the sentences of the differences that are more than
    chance, the primary one first. `answers` counts lost and gained answers: of "clean" inputs, of all "variants", and
    by operator. `sanity` has a sentence for each sign that a set-up is broken, and `failed` counts failed items.
    `others` are the comparisons of further runs with A.
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
    answers: dict[str, Answers] = {}
    gates: list[NotWorse] = []
    sanity: list[str] = []
    failed: dict[str, int] = {}
    incomplete: bool = False
    warnings: list[str] = []
    others: list[Comparison] = []

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
        """Which systems are compared, what was tested how, and what the differences mean."""
        runs = self.lettered()
        which = ", ".join([f"A is {label(self.a)}", *(f"{run} is {label(one.b)}" for run, one in runs)])
        said = [f"{which}; {label(subject(self.score))}. {_how(self)}"]
        for run, one in runs:
            overall = [d for d in one.differences if d.set in ("", "all")] or one.differences
            elsewhere = [d for d in one.differences if d.shown and d not in overall]
            own = [one.outcome(run), *(d.sentence for d in [*overall, *elsewhere])]
            said += own if len(runs) == 1 else [f"{run}: {sentence}" for sentence in own]
        return said

    def outcome(self, run: str = "B") -> str:
        """What users of B get, first of all: `Worse`, `Better`, `Mixed` or `No clear difference`, and lost answers."""
        shown = [d for d in self.differences if d.shown and d.set in ("", "all") and d.measure in _BETTER]
        turns = {(d.difference or 0.0) * _BETTER[d.measure] > 0 for d in shown}
        grade = (
            "Mixed" if len(turns) == 2 else "Better" if True in turns else "Worse" if turns else "No clear difference"
        )
        if (found := self.answers.get("variants")) is None:
            return f"{grade}."
        return (
            f"{grade}: of the answers to variants, {found.lost:,} are lost (right in A, wrong in {run}) and "
            f"{found.gained:,} are gained."
        )

    @property
    def remarks(self) -> list[str]:
        """What a reader should know besides: broken set-ups and missing items, and what each gate says."""
        said: dict[str, None] = {}
        for run, one in self.lettered():
            lead = f"{run}: " if self.others else ""
            gates = [f"{lead}{gate.sentence}" for gate in one.gates]
            said |= dict.fromkeys([*one.sanity, *gates, *one.warnings])
        if any(one.sanity for _, one in self.lettered()):
            accept = option("no-sanity", "sanity")
            accept += "False" if accept.endswith("=") else ""
            return [f"Nothing was concluded, as a set-up looks broken. {accept} accepts it as it is.", *said]
        return list(said)

    def lettered(self) -> list[tuple[str, Comparison]]:
        """The comparisons with A, each with the letter of its run: B, C, …"""
        return [(letter(place), one) for place, one in enumerate([self, *self.others], 1)]

    @property
    def runs(self) -> tuple[Runlike, Runlike] | None:
        """A and B, where they are known: a comparison that was loaded from a file does not know them."""
        known = self.__dict__.get("_runs")
        return None if known is None else known[:2]

    def iter_flips(self) -> Iterator[Changed]:
        """Every answer that is right in one of the runs and not in the other, read from the runs."""
        from unswayed.measure.answers import changed_answers

        if (runs := self.__dict__.get("_runs")) is None:
            raise UsageError("This comparison does not know its runs. Compare them again with unswayed.compare(a, b).")
        a, b, plan = runs
        return changed_answers(a, b, self.score, plan)

    def flips(self) -> Any:
        """Every lost and gained answer as a pandas DataFrame: the text, both answers, the gold, and which it is."""
        rows = list(self.iter_flips())
        names = ("change", "example", "operator", "draw", "text", "answer_a", "answer_b", "gold")
        return pandas_frame({name: [getattr(row, name) for row in rows] for name in names})

    def of_runs(self, a: Runlike, b: Runlike, plan: MeasurePlan) -> Self:
        """The same comparison, which knows the runs that it is of, and how they were measured."""
        msgspec.structs.force_setattr(self, "_runs", (a, b, plan))
        return self

    def save(self, path: str | Path) -> Path:
        """Writes the comparison to a file, from which `Comparison.load` reads it."""
        return save_to(as_path(path, "path"), self, None)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A comparison that `save` wrote."""
        found: Self = load_from(as_path(path, "path"), cls)[0]
        return found

    def _rows(self) -> list[Cells]:
        return [
            {**({"run": run} if self.others else {}), **{name: getattr(d, name) for name in _SHOWN}}
            for run, one in self.lettered()
            for d in one.differences
        ]

    def _figures(self) -> list[Cells]:
        what = "difference" if self.others else "B - A"
        return [
            {
                **({"run": run} if self.others else {}),
                "set": label(d.set),
                "measure": d.measure,
                what: figure(d.estimate),
            }
            for run, one in self.lettered()
            for d in one.differences
        ]

    def __repr__(self) -> str:
        return "\n".join([*(label(sentence, 1000) for sentence in self.sentences), "", *aligned(self._figures())])

    def _repr_html_(self) -> str:
        return html(self._figures(), " ".join(self.sentences))


def letter(place: int) -> str:
    """A for the first run, then B, C, …; after Z come numbers."""
    return chr(ord("A") + place) if place < 26 else f"R{place + 1}"


def _how(comparison: Comparison) -> str:
    others = sum(not d.primary for one in (comparison, *comparison.others) for d in one.differences)
    if comparison.correction == "none":
        return "p-values are not corrected."
    rest = f"p-values of all other differences ({others:,}) are corrected together ({comparison.correction})."
    return f"{title(comparison.primary)} is tested by itself; {rest}" if comparison.primary else title(rest)


def title(text: str) -> str:
    return text[:1].upper() + text[1:]
