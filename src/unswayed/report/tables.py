"""Results, comparisons and plain rows for terminals and files: an aligned table, JSON, JSON lines, or Markdown."""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, NamedTuple, Protocol

import msgspec

from unswayed.base.errors import UnknownName
from unswayed.base.text import NONE, figure, number, one_line
from unswayed.base.values import Estimate, Json
from unswayed.measure.comparison.outcome import Comparison, NotWorse
from unswayed.measure.gates import GateResult
from unswayed.measure.results import MEASURES, Block, Results
from unswayed.measure.sentences import plain, verdict
from unswayed.run.spending import money
from unswayed.storage.answers import Asked

FORMATS = ("table", "json", "jsonl", "md")

# Where a terminal is narrow, intervals are left out before anything is cut: which columns keep theirs.
_KEEP: tuple[frozenset[str], ...] = (frozenset({"average", "drop"}), frozenset({"drop"}), frozenset())
_NARROWEST = 8


def render(value: Any, format: str = "table", width: int | None = None, more: Mapping[str, Json] | None = None) -> str:
    """Results, a comparison, a mapping or rows as text. `width` is the terminal's unless given.

    `more` is what stands before all else in JSON.
    """
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    if not isinstance(value, (msgspec.Struct, Mapping)):
        value = list(value)
    if format == "json":
        whole = msgspec.to_builtins(value) if more else {}
        first = {"sanity": whole.pop("sanity")} if "sanity" in whole else {}  # said before all else
        return _pretty({**first, **more, **whole} if more else value)
    if format == "jsonl":
        return "\n".join(_compact(record) for record in records(value))
    sentences, tables = shown(value)
    if format == "md":
        return _joined([escaped(s) for s in sentences], [markdown(rows) for rows in tables])
    width = terminal_width() if width is None else width
    return _joined([_wrapped(one_line(s), width) for s in sentences], [table(rows, width) for rows in tables])


def gates_first(rendered: str, gates: Sequence[GateResult] | Sequence[NotWorse]) -> str:
    """Markdown with the gates before all else, as a pull request should show them."""
    said = [f"- {'✅' if gate.passed else '❌'} {escaped(gate.sentence)}" for gate in gates]
    return "\n".join([*said, "", rendered]) if said else rendered


def _joined(sentences: Sequence[str], tables: Sequence[str]) -> str:
    return "\n\n".join(part for part in ("\n".join(sentences), *tables) if part)


def _wrapped(text: str, width: int | None) -> str:
    return text if width is None else fill(text, max(width, 20), break_on_hyphens=False)


def _pretty(value: Json) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can spell
        return json.dumps(msgspec.to_builtins(value), indent=2)


def _compact(value: Json) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value))


def table(rows: Sequence[Row], width: int | None = None) -> str:
    """An aligned table. One that is too wide loses intervals first, then the ends of its longest texts."""
    if not rows:
        return ""
    columns = column_names(rows)
    heads = [one_line(column) for column in columns]
    for keep in (frozenset(columns), *_KEEP):
        cells = [[cell(row.get(column), column in keep) for column in columns] for row in rows]
        widths = [max(map(columns_of, column)) for column in zip(heads, *cells, strict=True)]
        if width is None or _total(widths) <= width:
            break
    if width is not None:
        widths = _shrunk(widths, width)
    numeric = [_numeric(rows, column) for column in columns]
    lines = [heads, ["─" * w for w in widths], *cells]
    return "\n".join(
        "  ".join(_aligned(c, w, right) for c, w, right in zip(line, widths, numeric, strict=True)).rstrip()
        for line in lines
    )


def markdown(rows: Sequence[Row]) -> str:
    """A GitHub table."""
    if not rows:
        return ""
    columns = column_names(rows)
    rule = ["---:" if _numeric(rows, column) else ":---" for column in columns]
    body = [[_markdown_cell(row.get(column)) for column in columns] for row in rows]
    lines = [[escaped(c) for c in columns], rule, *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# An underscore inside a name is no markup on GitHub, and a figure's brackets are no link.
_MARKS = str.maketrans({**{mark: "\\" + mark for mark in "\\|`*[]"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"})


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return one_line(text).translate(_MARKS)


def _markdown_cell(value: object) -> str:
    text = cell(value, True)
    return text if isinstance(value, (Estimate, Figure)) else text.translate(_MARKS)


def column_names(rows: Sequence[Row]) -> list[str]:
    """The columns of a table, in the order in which its rows name them."""
    return list(dict.fromkeys(str(key) for row in rows for key in row))


def _numeric(rows: Sequence[Row], column: str) -> bool:
    values = [row[column] for row in rows if row.get(column) is not None]
    return bool(values) and all(
        isinstance(v, (int, float, Estimate, Figure)) and not isinstance(v, bool) for v in values
    )


def cell(value: object, with_interval: bool = True) -> str:
    """A value as it stands in a table."""
    if value is None:
        return NONE
    if isinstance(value, Estimate):
        return figure(value) if with_interval else number(value.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, (list, tuple)):
        return one_line(", ".join(str(part) for part in value))
    if isinstance(value, Mapping):
        return one_line(", ".join(f"{k}: {v}" for k, v in value.items()))
    return one_line(str(value))


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide characters, none for what is set on another."""
    return len(text) if text.isascii() else sum(map(_columns_of_character, text))


def _columns_of_character(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _shrunk(widths: list[int], width: int) -> list[int]:
    widths = list(widths)
    while _total(widths) > width and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _aligned(text: str, width: int, right: bool) -> str:
    text = _fitted(text, width)
    space = " " * (width - columns_of(text))
    return space + text if right else text + space


def _fitted(text: str, width: int) -> str:
    if columns_of(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _columns_of_character(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def terminal_width() -> int | None:
    """The terminal's columns; none where standard output is a file or a pipe, which have no edge."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


Row = Mapping[str, Any]


class Figure(str):
    """A number that is spelled already; set flush right, as numbers are."""


class _Measured(Protocol):
    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def scaled(found: _Measured | None, scale: float = 100.0) -> Figure:
    """An estimate with its interval times `scale`, so in per cent by default: `86.2 [84.0, 88.3]`."""
    if found is None or found.value is None:
        return Figure(NONE)
    if found.low is None or found.high is None:
        return Figure(f"{scale * found.value:.1f}")
    return Figure(f"{scale * found.value:.1f} [{scale * found.low:.1f}, {scale * found.high:.1f}]")


class Shown(NamedTuple):
    """What is to be set: sentences, then tables."""

    sentences: list[str]
    tables: list[list[Row]]


def shown(value: Any) -> Shown:
    """Results, a comparison, a mapping or rows, for people."""
    if isinstance(value, Results):
        tables = [overall_rows(value), *sampled_rows(value), _for_people(value), naming_rows(value)]
        return Shown([plain(verdict(value))], tables)
    if isinstance(value, Comparison):
        rows = comparison_rows(value)
        hidden = len(value) - len(rows)
        rest = (
            [f"Differences that may be chance are left out here: {hidden:,}. Formats json and jsonl have them."]
            if hidden
            else []
        )
        return Shown([*value.sentences, *rest], [rows])
    if isinstance(value, Mapping):
        return Shown([], [[{"name": key, "value": entry} for key, entry in value.items()]])
    return Shown([], [list(value)])


def records(value: Any) -> list[Any]:
    """The same for programs: one record a line of JSON lines."""
    if isinstance(value, Results):
        return [*([{"sanity": value.sanity}] if value.sanity else []), *result_rows(value)]
    if isinstance(value, Comparison):
        return list(value) if value.others else list(value.differences)
    return [value] if isinstance(value, (Mapping, msgspec.Struct)) else list(value)


def overall_rows(results: Results) -> list[Row]:
    """One row for each measure of all variants."""
    found = [(measure, getattr(results.whole, measure)) for measure in MEASURES]
    return [
        {"measure": results.head(measure), results.score: estimate, "examples": estimate.n, "missing": estimate.missing}
        for measure, estimate in found
        if estimate is not None
    ]


def naming_rows(results: Results) -> list[Row]:
    """Operators, families and slices beside the rest of their kind: intervals hold for all of a kind together."""
    kinds = results.naming.sets if results.naming else {}
    return [
        {
            "by": kind,
            "name": name,
            "drop (all together)": Estimate(one.drop, one.low, one.high, 0, 0, ""),
            "shrunk": one.shrunk,
            "rest": one.rest,
            "p": Figure(chance(one.p)),
            "hurt": one.hurt,
        }
        for kind, named in kinds.items()
        for name, one in named.items()
    ]


def sampled_rows(results: Results) -> list[list[Row]]:
    """Numbers against the system's own disagreement, over prompts, and for people like these, where there are any."""
    made: list[list[Row]] = []
    if results.repeats:
        made.append(list(results.repeats.rows(results.flip_rate)))
    if results.spread:
        made.append([spread.row(operator) for operator, spread in results.spread.items()])
    if results.people and (rows := results.people.rows()):
        made.append(list(rows))
    if results.requests:
        made.append(list(results.requests.rows()))
    return made


def result_rows(results: Results) -> list[Row]:
    """One row for all variants, then one for each operator, family, slice value and other score."""
    rows = [_measures("all", "", results.whole)]
    for by, blocks in results.sets.items():
        rows += [_measures(by, name, block) for name, block in blocks.items()]
    rows += [{"by": "score", "name": score, **estimates} for score, estimates in results.scores.items()]
    return rows


_REFUSED = {"429": "429 (too many requests)", "5xx": "5xx", "time-outs": "time-outs", "refusals": "answers refused",
            "cut off": "answers cut off by the token limit"}  # fmt: skip


def used_sentences(used: Mapping[str, float], session: Asked | None = None) -> list[str]:
    """What a run used, in sentences: the system, its judge, and what servers refused."""
    if not used:
        return []
    own = {name: value for name, value in used.items() if not name.startswith("judge ") and name not in _REFUSED}
    judge = {name.removeprefix("judge "): value for name, value in used.items() if name.startswith("judge ")}
    said = [f"Used: {_amounts(own)}."] if own else []
    judge_said = {name: value for name, value in judge.items() if name not in _REFUSED}
    said += [f"The judge used: {_amounts(judge_said)}."] if judge_said else []
    refused = [f"{shown_amount(used[name])} × {text}" for name, text in _REFUSED.items() if used.get(name)]
    refused += [f"{shown_amount(judge[name])} × {text} (judge)" for name, text in _REFUSED.items() if judge.get(name)]
    said += [f"Refused: {', '.join(refused)}."] if refused else []
    if session is not None and "cost" in used:
        now = session.used.get("cost", 0.0)
        whole = used["cost"] + used.get("judge cost", 0.0)
        said.append(f"Cost: {money(whole)} in all, of which {money(now)} for answers asked this time.")
    return said


def _amounts(used: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {shown_amount(value)}" for name, value in used.items())


def shown_amount(value: float) -> str:
    """A count with its thousands, or a cost."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _for_people(results: Results) -> list[Row]:
    """The rows of sets, without the measures that only the whole is shown with; operators with their distinct tries."""
    rows: list[Row] = []
    for row in result_rows(results)[1:]:
        shown = {results.head(name): value for name, value in row.items() if name != "cvar"}
        if results.tries:
            tries = results.tries.get(row["name"]) if row["by"] == "operator" else None
            shown["tries"] = Figure(NONE if tries is None else f"{tries:.1f}")
        rows.append(shown)
    return rows


def _measures(by: str, name: str, block: Block) -> Row:
    found = {measure: getattr(block, measure) for measure in MEASURES}
    return {"by": by, "name": name, **{k: v for k, v in found.items() if v is not None}}


def comparison_rows(comparison: Comparison) -> list[Row]:
    """A row for each difference over all variants, of the primary measure, or that is more than chance."""
    return [
        {
            **({"run": run} if comparison.others else {}),
            "set": d.set,
            "measure": d.measure,
            "A": d.a,
            "value" if comparison.others else run: d.b,
            "difference" if comparison.others else f"{run} - A": Figure(figure(d.estimate)),
            "p": Figure(chance(d.p_corrected)),
            "n": d.n,
        }
        for run, one in comparison.lettered()
        for d in one.differences
        if d.set == "all" or d.shown or d.primary or d.measure == comparison.primary
    ]


def chance(p: float | None) -> str:
    """A p-value; one too small for three decimals is said to be below them, since none is zero."""
    if p is None:
        return NONE
    return "<0.001" if p < 0.001 else number(p)
