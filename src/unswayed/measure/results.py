"""What was measured: the results of a run, as values, tables and text.

Their fields are also the shape of `--format json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from unswayed.base.errors import StoredFileError, UnknownName, UsageError
from unswayed.base.json import decode
from unswayed.base.text import figure, html_table, label, pandas_frame, polars_frame, spelled
from unswayed.base.values import Estimate, Json
from unswayed.measure.judging import JudgeAgreement
from unswayed.measure.people import PeopleBlock
from unswayed.measure.repeats import Repeats
from unswayed.measure.requests import Served
from unswayed.measure.spread import Spread
from unswayed.storage.files import as_path, write_atomically

if TYPE_CHECKING:
    from unswayed.measure.changes import Flip
    from unswayed.measure.measuring import Runlike
    from unswayed.measure.precision import Power

_SHOWN = 20  # rows of a table in a notebook
Cells = dict[str, Any]


class Tabular:
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


def aligned(rows: list[Cells]) -> list[str]:
    """Rows as lines of text with a heading, as many as a screen shows."""
    if not rows:
        return []
    cells = [list(rows[0]), *([str(value) for value in row.values()] for row in rows[:_SHOWN])]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells]
    return [*lines, *([f"… {len(rows) - _SHOWN:,} more rows"] if len(rows) > _SHOWN else [])]


def html(rows: list[Cells], caption: str) -> str:
    return html_table({name: [row[name] for row in rows] for name in (rows[0] if rows else {})}, caption, _SHOWN)


class _Saved(msgspec.Struct, frozen=True):
    """A file of results: what it holds, and the folder of the run."""

    kind: str
    format: int
    run: str | None
    content: msgspec.Raw


def save_to(path: Path, value: msgspec.Struct, run: object) -> Path:
    folder = getattr(run, "path", None)
    content = msgspec.Raw(msgspec.json.encode(value))
    saved = _Saved(type(value).__name__, 1, None if folder is None else str(Path(folder).resolve()), content)
    write_atomically(path, msgspec.json.encode(saved) + b"\n")
    return path


def load_from(path: Path, kind: type[Any]) -> tuple[Any, str | None]:
    try:
        saved = decode(path.read_bytes(), _Saved)
        if (saved.kind, saved.format) != (kind.__name__, 1):
            raise msgspec.ValidationError(f"it holds {saved.kind} of format {saved.format}")
        return decode(bytes(saved.content), kind), saved.run
    except OSError as error:
        raise StoredFileError(f"{path}: the file can't be read ({error.strerror or error}).") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoredFileError(f"{path} is not a file that {kind.__name__}.save() wrote: {error}.") from error


MEASURES = ("clean", "average", "worst", "cvar", "drop", "flips", "consistency", "noticed", "altered")
_BY_ANSWER = ("flips", "consistency", "noticed", "altered")  # they need no score


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The measures of one set of variants: all, one operator's, one family's or one slice's.

    `worst` is the expected lowest score of k of an example's variants, `cvar` the mean of its lowest k-th. `noticed` is
    for controls, whose meaning changed: the share of them after which the answer did differ. `altered` is the share of
    variants whose text differs from the example's, where people, or those who simulate them, left some as they were.
    """

    clean: Estimate
    average: Estimate
    worst: Estimate
    cvar: Estimate | None = None
    drop: Estimate
    flips: Estimate
    consistency: Estimate
    noticed: Estimate | None = None
    altered: Estimate | None = None


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """The drop of one operator, family or slice beside the others of its kind.

    `low` and `high` hold for all of the kind together. `shrunk` is the drop drawn towards the common one, `rest` the
    mean drop of the others, and `p` the corrected p-value of the difference from it. `hurt` is "most" where the drop is
    surely above the rest's and each other's, "more" where it is above the rest's, and otherwise empty.
    """

    drop: float | None
    low: float | None
    high: float | None
    shrunk: float | None
    rest: float | None
    p: float
    hurt: str = ""


class Naming(msgspec.Struct, frozen=True, kw_only=True):
    """`sets` goes from kind to name; `grid` has, by operator, the slices with a drop that is surely not zero."""

    sets: dict[str, dict[str, Named]]
    grid: dict[str, list[str]]


class Equivalence(msgspec.Struct, frozen=True, kw_only=True):
    """Is a drop `shown` to lie within a margin, or `outside` it? `needed` is about how many examples would show it."""

    low: float | None
    high: float | None
    shown: bool
    outside: bool
    needed: int | None


class Within(msgspec.Struct, frozen=True, kw_only=True):
    """Whether drops are shown to lie within `margin`, of all variants and of each operator."""

    margin: float
    whole: Equivalence
    operators: dict[str, Equivalence]


class Breakdown(Tabular, Mapping[str, Block]):
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
        return "\n".join(aligned(self._figures()))

    def _repr_html_(self) -> str:
        return html(self._figures(), f"By {self.name}")


class Results(Tabular, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """All measures of a run under its main score, then the score measures under its other scores.

    Example: `results.by("operator").to_pandas()`.

    `sets` goes from "operator", "family" or a slice's name to its values to their blocks; `by` gives one of these as a
    table. `grid` goes from operator to "slice=value" to the drop there. `worst` is of `worst_of` variants; `tries` has
    how many distinct variants each operator made of an example. `altered` is None if all variants differ from their
    examples. `weigh` is what weighs the same, "examples" or
    "variants"; `cluster` is the field by which intervals are made. `validity` says what was in the data: counts,
    failures, warnings. `sanity` has a sentence for each sign that the set-up is broken, so that the numbers mean
    nothing. `naming` tests which operators and slices are hurt more than the rest, and `within` whether the drop lies
    within a margin. `spread` has, by operator, how scores differ between prompts. Iteration gives a row for each
    measure of each set.
    """

    sanity: list[str] = []
    score: str
    task: str
    suite: str
    system: str
    clean: Estimate
    average: Estimate
    worst: Estimate
    cvar: Estimate | None = None
    drop: Estimate
    flip_rate: Estimate = msgspec.field(name="flips")
    consistency: Estimate
    noticed: Estimate | None
    altered: Estimate | None = None
    sets: dict[str, dict[str, Block]] = msgspec.field(name="by")
    grid: dict[str, dict[str, Estimate]]
    scores: dict[str, dict[str, Estimate]]
    worst_of: int = 3
    tries: dict[str, float] = {}
    weigh: str = "examples"
    cluster: str | None = None
    validity: dict[str, Json]
    naming: Naming | None = None
    within: Within | None = None
    repeats: Repeats | None = None
    spread: dict[str, Spread] = {}
    people: PeopleBlock | None = None
    requests: Served | None = None  # what a server's answers took: seconds and tokens
    agreement: JudgeAgreement | None = None  # how far the judge agrees with people
    compared: dict[str, str] = {}  # the score that was named, extract, equivalent and a judge's rubric

    def head(self, measure: str) -> str:
        """How a measure is called where people read it: the worst says of how many variants it is."""
        return f"worst of {self.worst_of}" if measure == "worst" and self.worst_of > 1 else measure

    @property
    def severity(self) -> str | None:
        """`minor`, `moderate` or `serious`; `minor to serious` if there are too few examples; None if broken."""
        from unswayed.measure.sentences import severity

        found = severity(self)
        return None if found is None else str(found)

    @property
    def whole(self) -> Block:
        """The measures of all variants together."""
        return Block(**{m: self.flip_rate if m == "flips" else getattr(self, m) for m in MEASURES})

    @property
    def run(self) -> Runlike:
        """The run that was measured."""
        if (run := self.__dict__.get("_run")) is None:
            raise UsageError("These results do not know their run. Measure it again with unswayed.measure_run(run).")
        return run  # type: ignore[no-any-return]

    @property
    def asked(self) -> int:
        """How many requests were asked when the run was made or continued; 0 for one that was opened."""
        session = getattr(self.__dict__.get("_run"), "session", None)
        return session.asked if session else 0

    @property
    def reused(self) -> int:
        """How many stored answers were used then."""
        session = getattr(self.__dict__.get("_run"), "session", None)
        return session.reused if session else 0

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
        from unswayed.measure.changes import flips_of

        return flips_of(self, self.run)

    def flips(self) -> Any:
        """Every changed answer as a pandas DataFrame: the texts and the answers before and after, and what changed."""
        rows = [_flip_row(flip) for flip in self.iter_flips()]
        names = ("example", "operator", "draw", "before", "after", "change", "answer_before", "answer_after",
                 "right_before", "right_after", "gold")  # fmt: skip
        return pandas_frame({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def save(self, path: str | Path) -> Path:
        """Writes the results to a file, from which `Results.load` reads them."""
        return save_to(as_path(path, "path"), self, self.__dict__.get("_run"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Results that `save` wrote. If their run is still there, `flips` works too."""
        found: Self
        found, run = load_from(as_path(path, "path"), cls)
        if run is not None and (Path(run) / "run.json").is_file():
            from unswayed.run.record import Run

            found.of_run(Run(run))
        return found

    def power(self, level: float = 0.95, power: float = 0.8, correlation: float = 0.5) -> Power:
        """What a run like this one could have detected, and whether more examples, draws or people would help most."""
        from unswayed.measure.precision import power_of

        return power_of(self, level, power, correlation)

    def _rows(self) -> list[Cells]:
        rows = _rows_of("all", "", self.whole, self.score)
        for by, blocks in self.sets.items():
            rows += [row for name, block in blocks.items() for row in _rows_of(by, name, block, self.score)]
        for score, estimates in self.scores.items():
            rows += [_row("all", "", score, measure, estimate) for measure, estimate in estimates.items()]
        return rows

    def _sentence(self) -> str:
        from unswayed.measure.sentences import plain, verdict

        return plain(verdict(self))

    def _figures(self) -> list[Cells]:
        found = ((m, getattr(self.whole, m)) for m in MEASURES)
        return [
            {"measure": self.head(m), label(self.score): figure(e), "examples": f"{e.n:,}"}
            for m, e in found
            if e is not None
        ]

    def __repr__(self) -> str:
        return "\n".join([label(self._sentence(), 1000), "", *aligned(self._figures())])

    def _repr_html_(self) -> str:
        return html(self._figures(), self._sentence())


def _rows_of(by: str, name: str, block: Block, score: str) -> list[Cells]:
    found = ((measure, getattr(block, measure)) for measure in MEASURES)
    return [_row(by, name, None if m in _BY_ANSWER else score, m, e) for m, e in found if e is not None]


def _row(by: str, name: str, score: str | None, measure: str, e: Estimate) -> Cells:
    figures = {"value": e.value, "low": e.low, "high": e.high, "n": e.n, "missing": e.missing}
    return {"by": by, "name": name, "score": score, "measure": measure, **figures}


def _flip_row(flip: Flip) -> tuple[Any, ...]:
    example, variant, clean, varied, right_before, right_after, _ = flip
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
