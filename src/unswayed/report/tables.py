"""Results, comparisons and plain rows for terminals and files: an aligned table, JSON, JSON lines, or Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from textwrap import fill
from typing import Any

import msgspec

from unswayed.base.errors import UnknownName
from unswayed.base.text import NONE, figure, number, one_line, shorten
from unswayed.base.values import Estimate, Json
from unswayed.measure.comparison.logs import LogComparison
from unswayed.measure.comparison.outcome import Comparison, NotWorse
from unswayed.measure.gates import GateResult
from unswayed.measure.results import FOR_PROGRAMS, Results
from unswayed.measure.sentences import next_step, notes, plain, summary
from unswayed.report.terminal import columns_of, columns_of_character, terminal_width
from unswayed.run.spending import money
from unswayed.storage.answers import Asked

FORMATS = ("table", "json", "jsonl", "md")

# Where a terminal is narrow, intervals are left out before anything is cut: which columns keep theirs.
_KEEP: tuple[frozenset[str], ...] = (frozenset({"average", "drop"}), frozenset({"drop"}), frozenset())
_NARROWEST = 8
_MOVED, _WIDE = 5, 120  # lost and gained answers of logs that are shown, and characters of each text


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
        return _json_text({**first, **more, **whole} if more else value, 2)
    if format == "jsonl":
        records: Iterable[Any] = [value] if isinstance(value, (Mapping, msgspec.Struct)) else value
        if isinstance(value, Results):
            records = [*([{"sanity": value.sanity}] if value.sanity else []), *result_rows(value)]
        elif isinstance(value, Comparison):
            records = value if value.others else value.differences
        return "\n".join(map(_json_text, records))
    sentences, tables = shown(value)
    if format == "md":
        lines, texts = [escaped(s) for s in sentences], [markdown(rows) for rows in tables]
    else:
        width = terminal_width() if width is None else width
        lines, texts = [one_line(s) for s in sentences], [table(rows, width) for rows in tables]
        if width is not None:
            lines = [fill(line, max(width, 20), break_on_hyphens=False) for line in lines]
    return "\n\n".join(part for part in ("\n".join(lines), *texts) if part)


def gates_first(rendered: str, gates: Sequence[GateResult] | Sequence[NotWorse]) -> str:
    """Markdown with the gates before all else, as a pull request should show them."""
    said = [f"- {'✅' if gate.passed else '❌'} {escaped(gate.sentence)}" for gate in gates]
    return "\n".join([*said, "", rendered]) if said else rendered


def _json_text(value: Json, indent: int | None = None) -> str:
    try:
        text = msgspec.json.encode(value)
        return (text if indent is None else msgspec.json.format(text, indent=indent)).decode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can spell
        return json.dumps(msgspec.to_builtins(value), indent=indent)


def table(rows: Sequence[Row], width: int | None = None) -> str:
    """An aligned table. One that is too wide loses intervals first, then the ends of its longest texts."""
    if not rows:
        return ""
    columns = column_names(rows)
    heads, gaps = [one_line(column) for column in columns], 2 * (len(columns) - 1)
    for keep in (frozenset(columns), *_KEEP):
        cells = [[cell(row.get(column), column in keep) for column in columns] for row in rows]
        widths = [max(map(columns_of, column)) for column in zip(heads, *cells, strict=True)]
        if width is None or sum(widths) + gaps <= width:
            break
    while width is not None and sum(widths) + gaps > width and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    numeric = [_is_numeric(rows, column) for column in columns]
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
    lines = [[escaped(c) for c in columns], ["---:" if _is_numeric(rows, c) else ":---" for c in columns]]
    for row in rows:
        values = [row.get(column) for column in columns]
        # an underscore inside a name is no markup on GitHub, and a figure's brackets are no link
        lines.append([cell(v) if isinstance(v, (Estimate, Figure)) else _neutral(cell(v)) for v in values])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


_ZERO_WIDTH = "\u200b"
# What GitHub and GitLab turn into links and messages: @name, #1, !1, ~label, GH-1, addresses.
_REFERENCE = re.compile(r"[@#!~%$](?=\w)|\bGH-(?=\d)|\b(?:https?|ftp|mailto|xmpp):(?=\S)|\bwww(?=\.)", re.I)
_MARKS = str.maketrans({**{mark: "\\" + mark for mark in "\\|`*[]"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"})


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _neutral(one_line(text))


def _neutral(text: str) -> str:
    """The text without what would be markup, or would call people: a zero-width space breaks it, and is not seen."""
    return _REFERENCE.sub(rf"\g<0>{_ZERO_WIDTH}", text).translate(_MARKS)


def column_names(rows: Sequence[Row]) -> list[str]:
    """The columns of a table, in the order in which its rows name them."""
    return list(dict.fromkeys(str(key) for row in rows for key in row))


def _is_numeric(rows: Sequence[Row], column: str) -> bool:
    values = [row[column] for row in rows if row.get(column) is not None]
    kinds = (int, float, Estimate, Figure)
    return bool(values) and all(isinstance(v, kinds) and not isinstance(v, bool) for v in values)


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
        value = ", ".join(map(str, value))
    elif isinstance(value, Mapping):
        value = ", ".join(f"{k}: {v}" for k, v in value.items())
    return one_line(str(value))


def _aligned(text: str, width: int, right: bool) -> str:
    """The text in so many columns; of one that is too wide, its start."""
    if columns_of(text) > width:
        ends = accumulate(map(columns_of_character, text))
        text = "".join(c for c, end in zip(text, ends, strict=True) if end <= width - 1) + "…"
    space = " " * (width - columns_of(text))
    return space + text if right else text + space


Row = Mapping[str, Any]


class Figure(str):
    """A number that is spelled already; set flush right, as numbers are."""


def scaled(found: Estimate | None, scale: float = 100.0) -> Figure:
    """An estimate with its interval times `scale`, so in per cent by default: `86.2 [84.0, 88.3]`."""
    if found is None or found.value is None:
        return Figure(NONE)
    if found.low is None or found.high is None:
        return Figure(f"{scale * found.value:.1f}")
    return Figure(f"{scale * found.value:.1f} [{scale * found.low:.1f}, {scale * found.high:.1f}]")


def shown(value: Any) -> tuple[list[str], list[list[Row]]]:
    """Results, a comparison, a mapping or rows, for people: sentences, then tables."""
    if isinstance(value, Results):
        overall: list[Row] = [
            {"measure": value.head(measure), value.score: e, "examples": e.n, "missing": e.missing}
            for measure, e in value.whole.estimates.items()
            if measure not in FOR_PROGRAMS
        ]
        sets: list[Row] = []  # operators with their tries
        for row in result_rows(value)[1:]:
            sets.append({value.head(name): entry for name, entry in row.items() if name not in FOR_PROGRAMS})
            if value.tries:
                tries = value.tries.get(row["name"]) if row["by"] == value.makers else None
                sets[-1] = {**sets[-1], "tries": Figure(NONE if tries is None else f"{tries:.1f}")}
        # operators, families and slices beside the rest of their kind: intervals hold for all of a kind together
        named: list[Row] = []
        for kind, own in (value.naming.sets if value.naming else {}).items():
            for name, one in own.items():
                drop = {"drop (all together)": Estimate(one.drop, one.low, one.high, 0, 0, "")}
                kind = value.makers if kind == "operator" else kind
                tested = {"shrunk": one.shrunk, "rest": one.rest, "p": Figure(chance(one.p)), "hurt": one.hurt}
                named.append({"by": kind, "name": name, **drop, **tested})
        next_ = next_step(value)
        said = [plain(summary(value)), *map(plain, [[next_]] if next_ else []), *(plain([one]) for one in notes(value))]
        return said, [overall, *sampled_rows(value).values(), sets, named, against_rows(value)]
    if isinstance(value, Comparison):
        several = bool(value.others)
        rows: list[Row] = [
            {
                **({"run": run} if several else {}),
                "set": d.set,
                "measure": d.measure,
                "A": d.a,
                "value" if several else run: d.b,
                "difference" if several else f"{run} - A": Figure(figure(d.estimate)),
                "p": Figure(chance(d.p_corrected)),
                "n": d.n,
            }
            for run, one in value.lettered()
            for d in one.differences
            if d.set == "all" or d.shown or d.primary or d.measure == value.primary
        ]
        said = list(value.sentences)
        if hidden := len(value) - len(rows):
            said.append(
                f"Differences that may be chance are left out here: {hidden:,}. Formats json and jsonl have them."
            )
        some: list[Row] = []  # of the answers that moved between two logs, whose texts are nowhere else
        for c in value.iter_flips(_MOVED) if isinstance(value, LogComparison) and value.has_answers else ():
            texts = {"example": c.example, "text": c.text, "A": c.answer_a, "B": c.answer_b, "gold": c.gold}
            some.append({"change": c.change, **{name: shorten(text, _WIDE) for name, text in texts.items()}})
        return said, [rows, some] if some else [rows]
    if isinstance(value, Mapping):
        return [], [[{"name": key, "value": entry} for key, entry in value.items()]]
    return [], [list(value)]


def result_rows(results: Results) -> list[Row]:
    """One row for all variants, then one for each operator, family, slice value and other score."""
    rows: list[Row] = [{"by": "all", "name": "", **results.whole.estimates}]
    for by, blocks in results.sets.items():
        kind = results.makers if by == "operator" else by
        rows += [{"by": kind, "name": name, **block.estimates} for name, block in blocks.items()]
    rows += [{"by": "score", "name": score, **estimates} for score, estimates in results.scores.items()]
    return rows


def against_rows(results: Results) -> list[Row]:
    """A row for each person or operator that was compared with the reference; none without one."""
    if not results.against:
        return []
    head = f"drop against {results.against.reference}"
    return [
        {
            results.makers: name,
            f"{results.score}, {head}": one.drop,
            "all together": Figure(f"{number(one.low)} to {number(one.high)}" if one.low is not None else NONE),
            "p (Holm)": Figure(chance(one.p_holm)),
            "verdict": one.verdict or "may be chance",
            "examples": one.drop.n,
        }
        for name, one in results.against.sets.items()
    ]


def sampled_rows(results: Results) -> dict[str, list[Row]]:
    """Numbers against the system's own disagreement, over prompts, for people like these, and of what requests took,
    where there are any."""
    rows = {
        "repeats": results.repeats.rows(results.flip_rate) if results.repeats else [],
        "spread": [spread.row(operator) for operator, spread in results.spread.items()],
        "people": results.people.rows() if results.people else [],
        "requests": results.requests.rows() if results.requests else [],
    }
    return {what: list(found) for what, found in rows.items() if found}


_REFUSED = {"429": "429 (too many requests)", "5xx": "5xx", "time-outs": "time-outs", "refusals": "answers refused",
            "cut off": "answers cut off by the token limit"}  # fmt: skip


def used_sentences(used: Mapping[str, float], session: Asked | None = None) -> list[str]:
    """What a run used, in sentences: the system, its judge, and what servers refused."""
    said, refused = [], []
    own = {name: value for name, value in used.items() if not name.startswith("judge ")}
    judge = {name.removeprefix("judge "): value for name, value in used.items() if name.startswith("judge ")}
    for what, amounts, mark in (("Used", own, ""), ("The judge used", judge, " (judge)")):
        shown = [f"{name} {shown_amount(value)}" for name, value in amounts.items() if name not in _REFUSED]
        said += [f"{what}: {', '.join(shown)}."] if shown else []
        found = ((amounts.get(name), text) for name, text in _REFUSED.items())
        refused += [f"{shown_amount(count)} × {text}{mark}" for count, text in found if count]
    said += [f"Refused: {', '.join(refused)}."] if refused else []
    if session is not None and "cost" in used:
        now = session.used.get("cost", 0.0)
        whole = used["cost"] + used.get("judge cost", 0.0)
        said.append(f"Cost: {money(whole)} in all, of which {money(now)} for answers asked this time.")
    return said


def shown_amount(value: float) -> str:
    """A count with its thousands, or a cost."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def chance(p: float | None) -> str:
    """A p-value; one too small for three decimals is said to be below them, since none is zero."""
    if p is None:
        return NONE
    return "<0.001" if p < 0.001 else number(p)
