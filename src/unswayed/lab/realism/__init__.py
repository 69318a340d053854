"""Is simulated noise like people's? A judge that tries to tell them apart, the drop they cause, and how they look.

Here are the files that this is asked of: aligned ones, whose lines hold a clean text and what people made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError, option
from unswayed.base.ids import decode
from unswayed.base.values import Inputs, Variant
from unswayed.data import read_lines, without_break

_NOT_TEXT = ("id", "label", "gold", "en")


class Aligned(msgspec.Struct, frozen=True):
    """Rows of named texts, with their labels and ids where there are any."""

    rows: list[Inputs]
    gold: list[Any]
    ids: list[str] = []

    def texts(self) -> list[str]:
        """All texts, row by row."""
        return [text for row in self.rows for text in row.values()]

    def chosen(self, ids: Sequence[str]) -> Aligned:
        """The rows with these ids, in this order."""
        places = {name: k for k, name in enumerate(self.ids)}
        order = [places[name] for name in ids]
        return Aligned([self.rows[k] for k in order], [self.gold[k] for k in order], list(ids))


def read_aligned(path: str | Path, fields: Sequence[str] = ()) -> Aligned:
    """A text a line, or a JSON object a line, whose string fields are the texts unless `fields` names them."""
    path = Path(path)
    lines = [without_break(line) for line in read_lines(path)]
    if not lines:
        raise DataError("the file is empty.", path)
    if not lines[0].startswith("{"):
        return Aligned([{"text": line} for line in lines], [None] * len(lines))
    rows, gold, ids = [], [], []
    for number, line in enumerate(lines, 1):
        try:
            found = decode(line, dict[str, Any])
        except msgspec.DecodeError as error:
            raise DataError(str(error), path, number) from error
        named = fields or [k for k, v in found.items() if isinstance(v, str) and k not in _NOT_TEXT]
        missing = next((name for name in named if not isinstance(found.get(name), str)), None)
        if missing or not named:
            named_text = f" {missing!r}" if missing else ""
            raise DataError(f"this row has no text{named_text}. It has: {', '.join(found) or 'nothing'}.", path, number)
        rows.append({name: found[name].strip("\n") for name in named})
        gold.append(found.get("label", found.get("gold")))
        ids += [str(found["id"])] if "id" in found else []
    return Aligned(rows, gold, ids if len(ids) == len(rows) == len(set(ids)) else [])


def read_column(path: str, name: str, rows: Aligned) -> list[str]:
    """A field of a file's JSON lines, such as who typed each, for the rows that were read from it."""
    whole = read_aligned(path, [name])
    chosen = whole if len(whole.rows) == len(rows.rows) else whole.chosen(rows.ids)
    return [row[name] for row in chosen.rows]


def read_tsv(path: Path, *needed: str) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a file with these columns; raises where a row has more or fewer cells."""
    rows = [without_break(line).split("\t") for line in read_lines(path)]
    header = rows[0] if rows else []
    absent = next((name for name in needed if name not in header), None)
    if absent is not None:
        raise DataError(f"there is no column {absent!r}. Columns needed: {', '.join(needed)}.", path, 1)
    wrong = next((number for number, cells in enumerate(rows, 1) if len(cells) != len(header)), None)
    if wrong:
        cells = len(rows[wrong - 1])
        raise DataError(f"this row has {cells} cells, but the header has {len(header)}.", path, wrong)
    return header, rows[1:]


def read_people(clean: str | None, real: Sequence[str], fields: Sequence[str] = ()) -> tuple[Aligned, list[Aligned]]:
    """The clean texts and each person's. READIN's TSV holds both: columns clean_… and noisy1_…, noisy2_…"""
    if clean is None:
        path = Path(real[0])
        header, rows = read_tsv(path)
        table = [dict(zip(header, cells, strict=True)) for cells in rows]
        names = [name.removeprefix("clean_") for name in (header if table else ()) if name.startswith("clean_")]
        whose = sorted({name.split("_")[0] for name in (header if table else ()) if name.startswith("noisy")})
        if not names or not whose:
            wanted = f"Name the clean texts with {option('clean')}."
            raise DataError(f"this is not a TSV with the columns clean_… and noisy1_…. {wanted}", path)
        absent = next((f"{who}_{name}" for who in whose for name in names if f"{who}_{name}" not in header), None)
        if absent:
            raise DataError(f"there is no column {absent!r}.", path, 1)
        gold = [row.get("label") for row in table]
        versions = [[{name: row[f"{who}_{name}"] for name in names} for row in table] for who in ("clean", *whose)]
        before, *typed = (Aligned(version, gold) for version in versions)
        return before, typed
    first = read_aligned(clean, fields)
    people = [read_aligned(path, fields) for path in real]
    if first.ids and all(person.ids for person in people):
        # The rows that are in all of the files, by id, in the first one's order: not everybody did every row.
        known = set(first.ids)
        for file_of_person, person in zip(real, people, strict=True):
            unknown = next((k for k, name in enumerate(person.ids) if name not in known), None)
            if unknown is not None:
                raise DataError(f"the id {person.ids[unknown]!r} is not in {clean}.", file_of_person, unknown + 1)
        shared = known.intersection(*(person.ids for person in people))
        order = [name for name in first.ids if name in shared]
        first, *people = (file.chosen(order) for file in (first, *people))
    for file_of_person, person in zip(real, people, strict=True):
        if [list(row) for row in person.rows] != [list(row) for row in first.rows]:
            sizes = f"{len(person.rows)} and {len(first.rows)} rows"
            raise DataError(f"its lines do not align with those of {clean}: {sizes}.", file_of_person)
    return first, people


def read_versions(
    clean: str, real: Sequence[str], simulated: Sequence[str], fields: Sequence[str] = ()
) -> tuple[Aligned, list[Aligned], list[Aligned]]:
    """The clean texts, what people made of them, and what a simulation did, all of the same rows.

    A file is aligned, or has the variants that `vary -o -` prints: each of its draws is a version then.
    """
    paths = [*real, *simulated]
    printed = {path for path in paths if next(iter(read_lines(Path(path))), "").startswith('{"row":')}
    aligned = [path for path in paths if path not in printed]
    whole = read_aligned(clean, fields)
    before, versions = read_people(clean, aligned, fields) if aligned else (whole, [])
    found = {path: [version] for path, version in zip(aligned, versions, strict=True)}
    places = {id: k for k, id in enumerate(whole.ids)}
    kept = range(len(whole.rows)) if len(before.rows) == len(whole.rows) else [places[id] for id in before.ids]
    for path in printed:
        # Each draw of each operator; where it made no variant of a row, the row stays as it was.
        draws: dict[tuple[str, int], list[Inputs]] = {}
        for number, line in enumerate(read_lines(Path(path)), 1):
            try:
                variant = decode(without_break(line), Variant)
                rows = draws.setdefault((variant.source, variant.draw), [dict(row) for row in whole.rows])
                rows[variant.row] = {name: variant.inputs[name] for name in rows[variant.row]}
            except (msgspec.MsgspecError, LookupError) as error:
                raise DataError(f"this is not a variant of a row of {clean} ({error}).", path, number) from error
        each = [rows for _, rows in sorted(draws.items())]
        found[path] = [Aligned([rows[k] for k in kept], before.gold, before.ids) for rows in each]
    people, simulations = ([version for path in group for version in found[path]] for group in (real, simulated))
    return before, people, simulations
