"""Texts that people typed again, by person, and the profiles of typists that are fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec
from rapidfuzz.distance import OSA

from unswayed.base.edits import apply
from unswayed.base.errors import DataError, UsageError, option
from unswayed.base.seeds import Seeds
from unswayed.base.values import Estimate
from unswayed.data import read_lines, without_break
from unswayed.lab.calibration.typist import fit_typist
from unswayed.lab.realism.aligned import read_aligned, read_people
from unswayed.vary.frequency import ranks
from unswayed.vary.hands import Hands
from unswayed.vary.keyboard.layouts import Layout
from unswayed.vary.slip_profile import Profiles, SlipProfile
from unswayed.vary.slips import first_attempt

_COLUMNS = ("person", "sentence", "typed")
_UNWRITTEN = frozenset("⌃⌦⌥⇲⇱\ufffd")  # keys after which nobody knows where the next letter goes
_LOST = 2  # keys that a log may lack before it is left out


class Typed(NamedTuple):
    """One text: who typed it, what was meant, what stands there, and the log of keys, if there is one."""

    person: str
    sentence: str
    typed: str
    keys: str = ""


def read_typed(path: str | Path) -> list[Typed]:
    """Rows of a TSV file, or a gzipped one, with the columns person, sentence, typed and perhaps keys."""
    path = Path(path)
    rows = [without_break(line).split("\t") for line in read_lines(path)]
    header = rows[0] if rows else []
    absent = [name for name in _COLUMNS if name not in header]
    if absent:
        raise DataError(f"there is no column {absent[0]!r}. Columns needed: {', '.join(_COLUMNS)}.", path, 1)
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != len(header)), None)
    if wrong:
        raise DataError(f"this row has {len(rows[wrong - 1])} cells, but the header has {len(header)}.", path, wrong)
    names = [*_COLUMNS, *(["keys"] if "keys" in header else [])]
    places = [header.index(name) for name in names]
    return [Typed(*(row[k] for k in places)) for row in rows[1:]]


def typed_pairs(clean: str, real: Sequence[str], fields: Sequence[str] = (), by: str = "") -> list[Typed]:
    """Rows of aligned files. Each REAL file is one person's; with `by`, that field of its rows names the person."""
    before, people = read_people(clean, real, fields)
    found: list[Typed] = []
    for path, person in zip(real, people, strict=True):
        names = _named(path, by) if by else [path] * len(person.rows)
        if len(names) != len(person.rows):
            raise DataError(f"{option('by')} needs as many rows in {path} as in {clean}.", path)
        for name, one, other in zip(names, before.rows, person.rows, strict=True):
            found += [Typed(name, one[field], other[field]) for field in one]
    return found


def _named(path: str, by: str) -> list[str]:
    return [row[by] for row in read_aligned(path, [by]).rows]


def uncorrected(rows: Sequence[Typed]) -> list[Typed]:
    """What stood there at first, of rows whose log of keys gives what stands there, but for a key or two."""
    found = []
    for row in rows:
        if row.keys and not _UNWRITTEN & set(row.keys):
            first, stands = first_attempt(row.keys)
            if OSA.distance(stands.strip(), row.typed.strip(), score_cutoff=_LOST) <= _LOST:
                found.append(row._replace(typed=first))
    return found


def fit_typed(rows: Sequence[Typed], board: Layout, language: str, source: str) -> SlipProfile:
    """One profile of all these people."""
    known = {row.person for row in rows}
    return fit_typist(
        [row.sentence for row in rows],
        [row.typed for row in rows],
        [row.person for row in rows] if len(known) > 1 else [],
        board,
        ranks() if language.split("-")[0] == "en" else {},
        source,
    )


def fit_typists(rows: Sequence[Typed], board: Layout, language: str, source: str) -> Profiles:
    """The profiles of a file: `corrected`, and `uncorrected` if keys were logged."""
    modes = {"corrected": fit_typed(rows, board, language, source)}
    first = uncorrected(rows)
    if first:
        modes["uncorrected"] = fit_typed(first, board, language, source)
    return Profiles(modes, language)


def encoded(made: Profiles) -> bytes:
    return msgspec.json.encode(made) + b"\n"


def halves(rows: Sequence[Typed]) -> tuple[list[Typed], list[Typed]]:
    """The rows of one half of the people, and those of the other."""
    first = [row for row in rows if _first_half(row.person)]
    return first, [row for row in rows if not _first_half(row.person)]


def _first_half(person: str) -> bool:
    return blake2b(person.encode("utf-8", "surrogatepass")).digest()[0] < 128


def retyped(profile: SlipProfile, board: Layout, language: str, texts: Sequence[str], seed: int = 0) -> list[str]:
    """The texts as someone would type them who slips as the profile says."""
    hands = Hands(profile, board, ranks() if language.split("-")[0] == "en" else {})
    seeds = Seeds(seed, "keyboard/typist", 2)
    return [apply(text, hands.type(text, seeds.stream(str(i), 0))) for i, text in enumerate(texts)]


def tested(rows: Sequence[Typed], board: Layout, language: str) -> Estimate:
    """How well a profile of one half of the people is told from the texts of the other half."""
    from unswayed.lab.realism.judge import FOLDS, Judge

    fitted, others = halves(rows)
    if not fitted or not others:
        raise UsageError(f"A test on other people needs texts of several people. See {option('by')}.")
    profile = fit_typed(fitted, board, language, "")
    texts = [row.sentence.strip() for row in others]
    people = [row.person for row in others]
    by = people if len(set(people)) >= FOLDS else None
    judge = Judge(texts, [[row.typed.strip() for row in others]], language=language, by=by)
    return judge.against_people([retyped(profile, board, language, texts)])
