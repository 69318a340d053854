"""What was measured: the results of a run, as values, tables and text.

Their fields are also the shape of `--format json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from unswayed.base.errors import StoredFileError, UnknownName, UsageError
from unswayed.base.ids import decode
from unswayed.base.text import data_frame, figure, html_table, label, spelled
from unswayed.base.values import Estimate, Json
from unswayed.measure.judging import JudgeAgreement
from unswayed.measure.people import PeopleBlock
from unswayed.measure.repeats import Repeats, Served, Wavering
from unswayed.measure.spread import Spread
from unswayed.storage.files import as_path, write_atomically

if TYPE_CHECKING:
    from unswayed.measure.changes import Flip
    from unswayed.measure.measuring import Runlike
    from unswayed.measure.precision import Power

_MAX_ROWS = 20  # of a table in a console or a notebook
Cells = dict[str, Any]


class Tabular:
    """What has rows: a length, iteration, DataFrames, and a table for consoles and notebooks."""

    def _rows(self) -> list[Cells]:
        raise NotImplementedError

    def _shown(self) -> tuple[list[str], list[Cells]]:
        """What people see: sentences, then a table."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._rows())

    def __iter__(self) -> Iterator[Cells]:
        return iter(self._rows())

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return data_frame("pandas", _columns(self._rows()))

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        return data_frame("polars", _columns(self._rows()))

    def __repr__(self) -> str:
        sentences, rows = self._shown()
        lines = [*(label(sentence, 1000) for sentence in sentences), *([""] if sentences else [])]
        if rows:
            cells = [list(rows[0]), *([str(value) for value in row.values()] for row in rows[:_MAX_ROWS])]
            widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
            lines += ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells]
        return "\n".join([*lines, *([f"… {len(rows) - _MAX_ROWS:,} more rows"] if len(rows) > _MAX_ROWS else [])])

    def _repr_html_(self) -> str:
        sentences, rows = self._shown()
        return html_table(_columns(rows), " ".join(sentences), _MAX_ROWS)


def _columns(rows: list[Cells]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}


class _Saved(msgspec.Struct, frozen=True):
    """A file of results: what it holds, and the folder of the run."""

    kind: str
    format: int
    run: str | None
    content: msgspec.Raw


def save_to(path: str | Path, value: msgspec.Struct, run: object) -> Path:
    path, folder = as_path(path, "path"), getattr(run, "path", None)
    content = msgspec.Raw(msgspec.json.encode(value))
    saved = _Saved(type(value).__name__, 1, None if folder is None else str(Path(folder).resolve()), content)
    write_atomically(path, msgspec.json.encode(saved) + b"\n")
    return path


def load_from(path: str | Path, kind: type[Any]) -> tuple[Any, str | None]:
    path = as_path(path, "path")
    try:
        saved = decode(path.read_bytes(), _Saved)
        if (saved.kind, saved.format) != (kind.__name__, 1):
            raise msgspec.ValidationError(f"it holds {saved.kind} of format {saved.format}")
        return decode(bytes(saved.content), kind), saved.run
    except OSError as error:
        raise StoredFileError(f"{path}: the file can't be read ({error.strerror or error}).") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoredFileError(f"{path} is not a file that {kind.__name__}.save() wrote: {error}.") from error


MEASURES = (
    "clean",
    "average",
    "worst",
    "cvar",
    "drop",
    "flips",
    "consistency",
    "change",
    "gained",
    "noticed",
    "altered",
)
TO_100 = ("bleu", "chrf", "sentence_bleu")  # scores whose greatest value is 100
FOR_PROGRAMS = ("cvar", "altered")  # in JSON and DataFrames, and left out of what people read
_BY_ANSWER = ("flips", "consistency", "change", "gained", "noticed", "altered")  # they need no score


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The measures of one set of variants: all, one operator's, one family's or one slice's.

    `worst` is the expected lowest score of k of an example's variants, `cvar` the mean of its lowest k-th. `noticed` is
    for controls, whose meaning changed: the share of them after which the answer did differ. `altered` is the share of
    variants whose text differs from the example's, where people, or those who simulate them, left some as they were.
    `change` is the mean absolute change of outputs that are numbers, and `gained` the share of variants whose first
    K documents have a relevant one that those of the clean input have not.
    """

    clean: Estimate
    average: Estimate
    worst: Estimate
    cvar: Estimate | None = None
    drop: Estimate
    flips: Estimate
    consistency: Estimate
    change: Estimate | None = None
    gained: Estimate | None = None
    noticed: Estimate | None = None
    altered: Estimate | None = None

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Those that there are, by measure."""
        found = {measure: getattr(self, measure) for measure in MEASURES}
        return {measure: estimate for measure, estimate in found.items() if estimate is not None}


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


class AgainstOne(msgspec.Struct, frozen=True, kw_only=True):
    """How much worse one person's, or one operator's, variants are answered than those of the reference.

    The interval of `drop` is its own; `low` and `high` hold for all that are compared together. `p_holm` is corrected
    for their number, and `verdict` is "worse" or "better" where it is small, and otherwise empty.
    """

    drop: Estimate
    low: float | None
    high: float | None
    p_holm: float | None
    verdict: str = ""


class Against(msgspec.Struct, frozen=True, kw_only=True):
    """All but the `reference`, the worst first."""

    reference: str
    sets: dict[str, AgainstOne]


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


class CombinedEffect(msgspec.Struct, frozen=True, kw_only=True):
    """A combination's drop, or share of flips, and those of its parts, of the examples that all of them vary.

    `beyond` is how much more that is than the sum of the parts; negative if it is less.
    """

    value: float
    parts: dict[str, float]
    beyond: Estimate


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
        found = ((name, block.estimates) for name, block in self._blocks.items())
        return [row for name, estimates in found for row in _rows_of(self.name, name, estimates, self.score)]

    def _shown(self) -> tuple[list[str], list[Cells]]:
        measures = [m for m in MEASURES if any(m in block.estimates for block in self._blocks.values())]
        return [], [
            {self.name: label(name), **{m: figure(getattr(block, m)) for m in measures}}
            for name, block in self._blocks.items()
        ]

    def _repr_html_(self) -> str:
        return html_table(_columns(self._shown()[1]), f"By {self.name}", _MAX_ROWS)


class Results(Tabular, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """All measures of a run under its main score, then the score measures under its other scores.

    Example: `results.by("operator").to_pandas()`.

    `sets` goes from "operator", "family" or a slice's name to its values to their blocks; `by` gives one of these as a
    table. `grid` goes from operator to "slice=value" to the drop there. `worst` is of `worst_of` variants; `tries` has
    how many distinct variants each operator made of an example. `altered` is None if all variants differ from their
    examples. `weigh` is what weighs the same, "examples" or
    "variants"; `cluster` is the field by which intervals are made. `validity` says what was in the data: counts,
    failures, warnings. `sanity` has a sentence for each sign that the set-up is broken, so that the numbers mean
    nothing. `naming` tests which operators and slices are hurt more than the rest, `against` which are worse than a
    reference, and `within` whether the drop lies
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
    change: Estimate | None = None
    gained: Estimate | None = None
    sets: dict[str, dict[str, Block]] = msgspec.field(name="by")
    grid: dict[str, dict[str, Estimate]]
    scores: dict[str, dict[str, Estimate]]
    scores_by: dict[str, dict[str, Estimate]] | msgspec.UnsetType = msgspec.UNSET  # of rankings: by operator
    worst_of: int = 3
    tries: dict[str, float] = {}
    weigh: str = "examples"
    cluster: str | None = None
    validity: dict[str, Json]
    naming: Naming | None = None
    against: Against | msgspec.UnsetType = msgspec.UNSET
    roles: dict[str, str] | msgspec.UnsetType = msgspec.UNSET  # of sources that are people, what these are called
    within: Within | None = None
    repeats: Repeats | None = None
    wavering: Wavering | None = None  # without repeats: of a few clean inputs that were asked twice
    spread: dict[str, Spread] = {}
    combined: dict[str, dict[str, CombinedEffect]] = {}  # by combination of operators and measure
    people: PeopleBlock | None = None
    requests: Served | None = None  # what a server's answers took: seconds and tokens
    agreement: JudgeAgreement | None = None  # how far the judge agrees with people
    compared: dict[str, str] = {}  # the score that was named, extract, equivalent and a judge's rubric

    def head(self, measure: str) -> str:
        """How a measure is called where people read it: the worst says of how many variants it is."""
        return f"worst of {self.worst_of}" if measure == "worst" and self.worst_of > 1 else measure

    @property
    def makers(self) -> str:
        """What those who made variants are called: operator; speaker, if all are that; or source, if they differ."""
        words = {self.maker(name) for name in self.sets.get("operator", {})}
        return words.pop() if len(words) == 1 else "source" if words else "operator"

    def maker(self, name: str) -> str:
        """What one of them is called."""
        return self.roles.get(name, "operator") if self.roles else "operator"

    @property
    def level(self) -> float:
        """The level of the intervals, which every signature states."""
        stated = self.flip_rate.signature.partition("|level=")[2].partition("|")[0]
        return float(stated) if stated else 0.95

    @property
    def severity(self) -> str | None:
        """`minor`, `moderate` or `serious`, and what is not excluded: `moderate; serious is not excluded`.

        None if the set-up is broken.
        """
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
        from unswayed.measure.changes import as_measured, flips

        return flips(self.run, *as_measured(self))

    def plot(self, kind: str = "forest") -> Any:
        """A chart for a notebook, which `save` writes as SVG.

        - `forest`: clean, average and worst by operator, with intervals.
        - `heat`: the drop by operator and slice.
        - `worst`: the lowest score to expect of k tries, by k.
        - `people`: the drop with people beside that with operators.
        """
        return import_module("unswayed.report.plots").plot(self, kind)  # by name: report/ is above this layer

    def flips(self) -> Any:
        """Every changed answer as a pandas DataFrame: the texts and the answers before and after, and what changed.

        If the data was a pandas DataFrame, the rows have its index, and its other columns stand behind.
        """
        names = ("example", "operator", "draw", "before", "after", "change", "answer_before", "answer_after",
                 "right_before", "right_after", "gold")  # fmt: skip
        columns: dict[str, list[Any]] = {name: [] for name in names}
        rows: list[int] = []
        for example, variant, clean, varied, *right, _ in self.iter_flips():
            changed = [name for name, text in variant.inputs.items() if example.inputs.get(name) != text]
            texts = ({name: inputs.get(name, "") for name in changed} for inputs in (example.inputs, variant.inputs))
            before, after = ("".join(own.values()) if len(changed) < 2 else spelled(own) for own in texts)
            answers = spelled(clean.value, example.inputs), spelled(varied.value, variant.inputs)
            gold = None if variant.gold is None else spelled(variant.gold, variant.inputs)
            rows.append(example.row)
            row = (example.id, variant.source, variant.draw, before, after, variant.note, *answers, *right, gold)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        found, frame = data_frame("pandas", columns), self.__dict__.get("_frame")
        if frame is not None:
            found.index = frame.index[rows]
            for at, name in enumerate(frame.columns):
                if name not in columns:
                    found[name] = frame.iloc[rows, at].to_numpy()
        return found

    def of_frame(self, frame: Any) -> Self:
        """The same results, which know the pandas DataFrame whose rows are their examples."""
        msgspec.structs.force_setattr(self, "_frame", frame)
        return self

    def save(self, path: str | Path) -> Path:
        """Writes the results to a file, from which `Results.load` reads them."""
        return save_to(path, self, self.__dict__.get("_run"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Results that `save` wrote. If their run is still there, `flips` works too."""
        found: Self
        found, run = load_from(path, cls)
        if run is not None and (Path(run) / "run.json").is_file():
            from unswayed.run.record import Run

            found.of_run(Run(run))
        return found

    def power(
        self, level: float = 0.95, power: float = 0.8, correlation: float = 0.5, limit: float | None = None
    ) -> Power:
        """What a run like this one could have detected, and whether more examples, draws or people would help most."""
        from unswayed.measure.precision import power_of

        more = {} if limit is None else {"limit": limit}
        return power_of(self, level, power, correlation, **more)

    def _rows(self) -> list[Cells]:
        sets = [("all", "", self.whole.estimates, self.score)]
        sets += [(by, name, one.estimates, self.score) for by, own in self.sets.items() for name, one in own.items()]
        sets += [("all", "", estimates, score) for score, estimates in self.scores.items()]
        return [row for one in sets for row in _rows_of(*one)]

    def _shown(self) -> tuple[list[str], list[Cells]]:
        from unswayed.measure.sentences import plain, verdict

        found, score = self.whole.estimates.items(), label(self.score)
        rows = [
            {"measure": self.head(m), score: figure(e), "examples": f"{e.n:,}"}
            for m, e in found
            if m not in FOR_PROGRAMS
        ]
        return [plain(verdict(self))], rows


def _rows_of(by: str, name: str, estimates: Mapping[str, Estimate], score: str) -> list[Cells]:
    rows = []
    for measure, e in estimates.items():
        figures: Cells = {"value": e.value, "low": e.low, "high": e.high, "n": e.n, "missing": e.missing}
        what = {"by": by, "name": name, "score": None if measure in _BY_ANSWER else score, "measure": measure}
        rows.append(what | figures)
    return rows
