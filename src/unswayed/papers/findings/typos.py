"""DL-Typo: search queries as people mistyped them, one slip each, by the kind of slip; beside slips of operators."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from unswayed.base import DataError, Example
from unswayed.papers.findings.published import lines_of
from unswayed.report import Figure, Printed, Row, Section, SectionTable
from unswayed.run import make_suite

FOLDER = "dl_typo"
_OPERATORS = ("keyboard/typist", "keyboard/adjacent", "keyboard/misspell")  # what @typing has for English
_DRAWS = 5
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
KINDS = (
    "omission",
    "near key",
    "other substitution",
    "transposition",
    "doubling",
    "other insertion",
    "space",
    "case or mark",
)
NOT_SHOWN = (
    "What this does not show: rates. The publisher chose fifteen typos of each of four kinds (omission, substitution, "
    "transposition, insertion), so only the kinds within these say something. Passages have no text here, so that "
    "nothing is retrieved; for that, see the table simulated."
)


def near(one: str, other: str) -> bool:
    """Are two letters neighbours on a QWERTY keyboard?"""
    places = {letter: (column + row / 2, row) for row, keys in enumerate(_ROWS) for column, letter in enumerate(keys)}
    if one not in places or other not in places:
        return False
    (x, y), (u, v) = places[one], places[other]
    return one != other and abs(y - v) <= 1 and abs(x - u) <= 1


def kind_of(clean: str, typed: str) -> str:
    """The kind of the one slip that makes `typed` of `clean`; empty if there is none, `several` if there are more."""
    if clean == typed:
        return ""
    if clean.lower() == typed.lower():
        return "case or mark"
    a = 0
    while a < min(len(clean), len(typed)) and clean[a] == typed[a]:
        a += 1
    b = 0
    while b < min(len(clean), len(typed)) - a and clean[-1 - b] == typed[-1 - b]:
        b += 1
    old, new = clean[a : len(clean) - b], typed[a : len(typed) - b]
    if len(old) == len(new) == 2 and old == new[::-1]:
        return "transposition"
    if len(old) > 1 or len(new) > 1:
        return "several"
    if " " in (old, new):
        return "space"
    letters = old + new
    if not letters.isalnum():
        return "case or mark"
    if old and new:
        return "near key" if near(old.lower(), new.lower()) else "other substitution"
    if old:
        return "omission"
    doubled = new.lower() in (typed[a - 1 : a].lower(), typed[a + 1 : a + 2].lower())
    return "doubling" if doubled else "other insertion"


def read_queries(file: Path) -> dict[str, str]:
    """The texts of a table of id and text, separated by a tab."""
    found: dict[str, str] = {}
    for number, line in enumerate(lines_of(file), 1):
        id, tab, text = line.partition("\t")
        if not tab or id in found:
            raise DataError("this line must be an id of its own and a text, separated by a tab.", file, number)
        found[id] = " ".join(text.split())
    return found


def findings(folder: Path) -> Printed:
    """How people's slips and those of operators share out over the kinds."""
    clean, typed = (read_queries(folder / name) for name in ("query.tsv", "query.typo.tsv"))
    ids = [id for id in clean if id in typed]
    if not ids:
        raise DataError("no query of query.tsv is in query.typo.tsv.", folder)
    examples = [Example(n, id, {"text": clean[id]}) for n, id in enumerate(ids)]
    suite = make_suite(examples, list(_OPERATORS), task="text", language="en", draws=_DRAWS, seed=0)
    counts = {"people": Counter(kind_of(clean[id], typed[id]) for id in ids)}
    for variant in suite.variants():
        own = counts.setdefault(variant.source, Counter())
        own[kind_of(clean[variant.example_id], variant.inputs["text"])] += 1
    rows: list[Row] = [{"slips of": name, **_shares(own)} for name, own in counts.items()]
    people = counts["people"]
    substituted = people["near key"] + people["other substitution"]
    inserted = people["doubling"] + people["other insertion"]
    said = [
        f"Of {len(ids)} mistyped queries that were chosen by kind, {people['near key']} of {substituted} substitutions "
        f"are of a neighbouring key, and {people['doubling']} of {inserted} insertions double a letter."
    ]
    command = f"unswayed study findings --data FOLDER --only typos (DL-Typo, Apache-2.0: FOLDER/{FOLDER})"
    tables = [SectionTable("Kinds of slips, in per cent of texts with exactly one", rows)]
    value = {name: dict(own) for name, own in counts.items()}
    return Printed(value, [Section("Mistyped queries, by kind of slip", [*said, NOT_SHOWN, command], tables)])


def _shares(counts: Counter[str]) -> dict[str, Figure | int]:
    one = sum(counts[kind] for kind in KINDS)
    shares: dict[str, Figure | int] = {kind: Figure(f"{100 * counts[kind] / max(one, 1):.0f}") for kind in KINDS}
    return {"with one slip": one, "with several": counts["several"], **shares}
