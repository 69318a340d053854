"""The comparison of two runs, as values, tables and text. Its fields are also the shape of `--format json`."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import msgspec

from unfazed.core.files import as_path
from unfazed.core.text import figure, label
from unfazed.core.values import Estimate
from unfazed.measure.tabular import Cells, Tabular, aligned, html, load_from, save_to


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of B less that of A over the examples that both answered; `p_corrected` is for all comparisons made.

    `test` is how p was found: `mcnemar` (exact) or `randomisation`.
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

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.difference, self.low, self.high, self.n, self.missing, self.signature)


class Comparison(Tabular, msgspec.Struct, frozen=True, kw_only=True):
    """Two runs on one suite, pair by pair. `a` and `b` are the systems' names. Iteration gives a row a difference.

    Example: `unfazed.compare(before, after).to_pandas()`.
    """

    score: str
    task: str
    suite: str
    a: str
    b: str
    correction: str
    level: float
    differences: list[Difference]

    @property
    def sentences(self) -> list[str]:
        """Which system is A and which is B, and what each difference over all variants means."""
        how = "not corrected" if self.correction == "none" else f"corrected ({self.correction})"
        which = f"A is {label(self.a)}, B is {label(self.b)}; {label(self.score)}, p-values {how}."
        overall = [d for d in self.differences if d.set in ("", "all")]
        return [which, *(d.sentence for d in overall or self.differences)]

    def save(self, path: str | Path) -> Path:
        """Writes the comparison to a file, from which `Comparison.load` reads it."""
        return save_to(as_path(path, "path"), self, None)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A comparison that `save` wrote."""
        found: Self = load_from(as_path(path, "path"), cls)[0]
        return found

    def _rows(self) -> list[Cells]:
        shown = ("set", "measure", "a", "b", "difference", "low", "high", "p", "p_corrected", "test", "n", "missing")
        return [{name: getattr(d, name) for name in shown} for d in self.differences]

    def _figures(self) -> list[Cells]:
        return [{"set": label(d.set), "measure": d.measure, "B - A": figure(d.estimate)} for d in self.differences]

    def __repr__(self) -> str:
        return "\n".join([*(label(sentence, 1000) for sentence in self.sentences), "", *aligned(self._figures())])

    def _repr_html_(self) -> str:
        return html(self._figures(), " ".join(self.sentences))
