"""The README's figures, each with the row that proves it: what it says must be what was measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks._measure import Row, figure
from benchmarks._results import Results

NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
ABOUT = 0.15  # how far "about" may be off, as a share


class Claim(NamedTuple):
    """A phrase of the README, {} for its number; its `about`, `at least`, `at most` or `up to` says when it is true."""

    phrase: str
    benchmark: str
    row: str
    of: str = "ours"  # or "theirs", "ratio", or "inverse" of it

    def said(self, readme: str) -> float | None:
        pattern = re.escape(self.phrase).replace(r"\{\}", NUMBER).replace(r"\ ", r"\s+")
        found = re.search(pattern, readme)
        return float(found.group(1).replace(",", "")) if found else None

    def holds(self, said: float, measured: float) -> bool:
        if "at least" in self.phrase:
            return measured >= said
        if "at most" in self.phrase or "up to" in self.phrase:
            return measured <= said
        return abs(measured - said) <= ABOUT * said


CLAIMS: tuple[Claim, ...] = (
    Claim("at least {} variants per CPU second", "memory", "vary typos"),
    Claim("at least {} variants per CPU second", "memory", "vary fillers"),
    Claim("at least {} variants per CPU second", "memory", "speed: `unswayed measure` 1000000"),
    Claim("at least {} variants per CPU second", "memory", "speed: `unswayed report` 1000000"),
    Claim("adds at most {} µs per input", "overhead", "of its own"),
    Claim("The core weighs about {} MB", "footprint", "core install"),
)


def untrue(readme: str, results: Results, claims: Sequence[Claim] = CLAIMS) -> list[str]:
    """What is wrong with the README's figures, a line each."""
    found = []
    for claim in claims:
        said, row = claim.said(readme), results.row(claim.benchmark, claim.row)
        measured = None if row is None else value(row, claim)
        if said is None:
            found.append(f"it no longer says “{claim.phrase}”")
        elif measured is None:
            found.append(f"“{claim.phrase}” has not been measured: {claim.benchmark}, {claim.row}")
        elif not claim.holds(said, measured):
            told = claim.phrase.format(figure(said))
            found.append(f"“{told}”: measured {figure(measured)} ({claim.benchmark}, {claim.row})")
    return found


def value(row: Row, claim: Claim) -> float | None:
    if claim.of == "inverse":
        return 1 / row.ratio if row.ratio else None
    measured: float | None = getattr(row, claim.of)
    return measured


_UNIT = re.compile(NUMBER + r"\s?(?:[kMG]i?B|m?s|seconds?|minutes?|hours?|times|×|%|per cent)(?![\w])")


def uncovered(readme: str, claims: Sequence[Claim] = CLAIMS) -> list[str]:
    """Figures with a unit in the README's prose that no claim covers."""
    prose = re.sub(r"^```.*?^```", "", readme, flags=re.M | re.S)
    for claim in claims:
        pattern = re.escape(claim.phrase).replace(r"\{\}", NUMBER).replace(r"\ ", r"\s+")
        prose = re.sub(pattern, "", prose)
    return [found.group() for found in _UNIT.finditer(prose)]
