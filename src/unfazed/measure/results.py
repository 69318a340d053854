"""What was measured: the results of a run and the comparison of two, as values, tables and text.

Their fields are also the shape of `--format json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from unfazed.core.errors import StoredFileError, UnknownName, UsageError
from unfazed.core.files import as_path, write_atomically
from unfazed.core.json import decode
from unfazed.core.text import figure, html_table, label, pandas_frame, polars_frame, spelled
from unfazed.core.values import Estimate, Json

if TYPE_CHECKING:
    from unfazed.measure.measuring import Flip, Runlike

MEASURES = ("clean", "average", "worst", "drop", "flips", "consistency", "noticed")
_BY_ANSWER = ("flips", "consistency", "noticed")  # they compare answers and need no score
_SHOWN = 20  # rows of a table in a notebook

Cells = dict[str, Any]


class _Tabular:
    """What has rows: a length, iteration, DataFrames and a table for notebooks."""

    def _rows(self) -> list[Cells]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._rows())

    def __iter__(self) -> Iterator[Cells]:
        return iter(self._rows())

    def _columns(self) -> dict[str, list[Any]]:
        rows = self._rows()
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return pandas_frame(self._columns())

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        return polars_frame(self._columns())


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The measures of one set of variants: all, one operator's, one family's or one slice's.

    `noticed` is for controls, whose meaning changed: the share of them after which the answer did differ.
    """

    clean: Estimate
    average: Estimate
    worst: Estimate
    drop: Estimate
    flips: Estimate
    consistency: Estimate
    noticed: Estimate | None = None


class Breakdown(_Tabular, Mapping[str, Block]):
    """The measures of each operator, family or value of a slice, by name."""

    def __init__(self, by: str, score: str, blocks: Mapping[str, Block]) -> None:
        self.name, self.score, self._blocks = by, score, blocks

    def __getitem__(self, name: str) -> Block:
        return self._blocks[name]

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def _rows(self) -> list[Cells]:
        return [row for name, block in self._blocks.items() for row in _rows_of(self.name, name, block, self.score)]

    def _figures(self) -> list[Cells]:
        shown = [m for m in MEASURES if any(getattr(block, m) is not None for block in self._blocks.values())]
        return [
            {self.name: label(name), **{m: figure(getattr(block, m)) for m in shown}}
            for name, block in self._blocks.items()
        ]

    def __repr__(self) -> str:
        return "\n".join(_aligned(self._figures()))

    def _repr_html_(self) -> str:
        return _html(self._figures(), f"By {self.name}")


class Results(_Tabular, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """All measures of a run under its main score, then the score measures under its other scores.

    Example: `results.by("operator").to_pandas()`.

    `sets` goes from "operator", "family" or a slice's name to its values to their blocks; `by` gives one of these as a
    table. `grid` goes from operator to "slice=value" to the drop there. `validity` says what was in the data: counts,
    failures, warnings. Iteration gives a row for each measure of each set.
    """

    score: str
    task: str
    suite: str
    system: str
    clean: Estimate
    average: Estimate
    worst: Estimate
    drop: Estimate
    flip_rate: Estimate = msgspec.field(name="flips")
    consistency: Estimate
    noticed: Estimate | None
    sets: dict[str, dict[str, Block]] = msgspec.field(name="by")
    grid: dict[str, dict[str, Estimate]]
    scores: dict[str, dict[str, Estimate]]
    validity: dict[str, Json]

    @property
    def whole(self) -> Block:
        """The measures of all variants together."""
        return Block(**{m: self.flip_rate if m == "flips" else getattr(self, m) for m in MEASURES})

    @property
    def run(self) -> Runlike:
        """The run that was measured."""
        if (run := self.__dict__.get("_run")) is None:
            raise UsageError("These results do not know their run. Measure it again with unfazed.measure_run(run).")
        return run  # type: ignore[no-any-return]

    def of_run(self, run: Runlike) -> Self:
        """The same results, which know the run that they are of."""
        msgspec.structs.force_setattr(self, "_run", run)
        return self

    def by(self, name: str) -> Breakdown:
        """The measures by "operator", by "family" or by a slice of the data."""
        if name not in self.sets:
            raise UnknownName("slice", name, self.sets)
        return Breakdown(name, self.score, self.sets[name])

    def iter_flips(self) -> Iterator[Flip]:
        """Every changed answer, read from the run."""
        from unfazed.measure.measuring import flips
        from unfazed.score import scorers

        return flips(self.run, self.score if self.score in scorers else None)

    def flips(self) -> Any:
        """Every changed answer as a pandas DataFrame: the texts and the answers before and after, and what changed."""
        rows = [_flip_row(flip) for flip in self.iter_flips()]
        names = ("example", "operator", "draw", "before", "after", "change", "answer_before", "answer_after",
                 "right_before", "right_after", "gold")  # fmt: skip
        return pandas_frame({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def save(self, path: str | Path) -> Path:
        """Writes the results to a file, from which `Results.load` reads them."""
        return _save(as_path(path, "path"), self, self.__dict__.get("_run"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Results that `save` wrote. If their run is still there, `flips` works too."""
        found: Self
        found, run = _load(as_path(path, "path"), cls)
        if run is not None and (Path(run) / "run.json").is_file():
            from unfazed.run.record import Run

            found.of_run(Run(run))
        return found

    def _rows(self) -> list[Cells]:
        rows = _rows_of("all", "", self.whole, self.score)
        for by, blocks in self.sets.items():
            rows += [row for name, block in blocks.items() for row in _rows_of(by, name, block, self.score)]
        for score, estimates in self.scores.items():
            rows += [_row("all", "", score, measure, estimate) for measure, estimate in estimates.items()]
        return rows

    def _sentence(self) -> str:
        from unfazed.measure.sentences import plain, verdict

        return plain(verdict(self))

    def _figures(self) -> list[Cells]:
        found = ((m, getattr(self.whole, m)) for m in MEASURES)
        return [{"measure": m, label(self.score): figure(e), "examples": f"{e.n:,}"} for m, e in found if e is not None]

    def __repr__(self) -> str:
        return "\n".join([label(self._sentence(), 1000), "", *_aligned(self._figures())])

    def _repr_html_(self) -> str:
        return _html(self._figures(), self._sentence())


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


class Comparison(_Tabular, msgspec.Struct, frozen=True, kw_only=True):
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
        return _save(as_path(path, "path"), self, None)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A comparison that `save` wrote."""
        found: Self = _load(as_path(path, "path"), cls)[0]
        return found

    def _rows(self) -> list[Cells]:
        shown = ("set", "measure", "a", "b", "difference", "low", "high", "p", "p_corrected", "test", "n", "missing")
        return [{name: getattr(d, name) for name in shown} for d in self.differences]

    def _figures(self) -> list[Cells]:
        return [{"set": label(d.set), "measure": d.measure, "B - A": figure(d.estimate)} for d in self.differences]

    def __repr__(self) -> str:
        return "\n".join([*(label(sentence, 1000) for sentence in self.sentences), "", *_aligned(self._figures())])

    def _repr_html_(self) -> str:
        return _html(self._figures(), " ".join(self.sentences))


def _rows_of(by: str, name: str, block: Block, score: str) -> list[Cells]:
    found = ((measure, getattr(block, measure)) for measure in MEASURES)
    return [_row(by, name, None if m in _BY_ANSWER else score, m, e) for m, e in found if e is not None]


def _row(by: str, name: str, score: str | None, measure: str, e: Estimate) -> Cells:
    figures = {"value": e.value, "low": e.low, "high": e.high, "n": e.n, "missing": e.missing}
    return {"by": by, "name": name, "score": score, "measure": measure, **figures}


def _aligned(rows: list[Cells]) -> list[str]:
    """Rows as lines of text with a heading, as many as a screen shows."""
    if not rows:
        return []
    cells = [list(rows[0]), *([str(value) for value in row.values()] for row in rows[:_SHOWN])]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells]
    return [*lines, *([f"… {len(rows) - _SHOWN:,} more rows"] if len(rows) > _SHOWN else [])]


def _html(rows: list[Cells], caption: str) -> str:
    return html_table({name: [row[name] for row in rows] for name in (rows[0] if rows else {})}, caption, _SHOWN)


def _flip_row(flip: Flip) -> tuple[Any, ...]:
    example, variant, clean, varied, right_before, right_after = flip
    changed = [name for name, text in variant.inputs.items() if example.inputs.get(name) != text]
    before, after = ({name: inputs.get(name, "") for name in changed} for inputs in (example.inputs, variant.inputs))
    if len(changed) < 2:
        before_text, after_text = "".join(before.values()), "".join(after.values())
    else:
        before_text, after_text = spelled(before), spelled(after)
    answers = spelled(clean.value, example.inputs), spelled(varied.value, variant.inputs)
    gold = None if variant.gold is None else spelled(variant.gold, variant.inputs)
    return (
        example.id, variant.source, variant.draw, before_text, after_text, variant.note, *answers,
        right_before, right_after, gold,
    )  # fmt: skip


class _Saved(msgspec.Struct, frozen=True):
    """A file of results: what it holds, and the folder of the run."""

    kind: str
    format: int
    run: str | None
    content: msgspec.Raw


def _save(path: Path, value: Results | Comparison, run: object) -> Path:
    folder = getattr(run, "path", None)
    content = msgspec.Raw(msgspec.json.encode(value))
    saved = _Saved(type(value).__name__, 1, None if folder is None else str(Path(folder).resolve()), content)
    write_atomically(path, msgspec.json.encode(saved) + b"\n")
    return path


def _load(path: Path, kind: type[Any]) -> tuple[Any, str | None]:
    try:
        saved = decode(path.read_bytes(), _Saved)
        if (saved.kind, saved.format) != (kind.__name__, 1):
            raise msgspec.ValidationError(f"it holds {saved.kind} of format {saved.format}")
        return decode(bytes(saved.content), kind), saved.run
    except OSError as error:
        raise StoredFileError(f"{path}: the file can't be read ({error.strerror or error}).") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoredFileError(f"{path} is not a file that {kind.__name__}.save() wrote: {error}.") from error
