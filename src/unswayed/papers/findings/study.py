"""Findings: published answers of real systems to real people's words, measured again from the publishers' own files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from unswayed.base import DataError, UsageError, option_name
from unswayed.papers.findings import judge, norsid, rocs, sdqa
from unswayed.report import Option, Printed, Section, Study, StudyContext, StudyTable, studies


class _FindingsContext(StudyContext):
    """The folder of each data set, in the folder that was named."""

    def folder(self, name: str) -> Path | None:
        """Where a data set is; None if it is not there and was not asked for by itself."""
        place = self.data / name
        if place.is_dir():
            return place
        if list(self.chosen) == [t for t in _FOLDERS if t in self.chosen] and len(self.chosen) < len(_FOLDERS):
            raise DataError("the data set is not here. docs/findings.md says where it is from.", place)
        if not any((self.data / folder).is_dir() for folder in _FOLDERS.values()):
            known = ", ".join(_FOLDERS.values())
            raise UsageError(f"{option_name('data')}: {self.data} has none of the folders {known}.")
        print(f"unswayed: {place} is not there, so its table is left out.", file=sys.stderr)
        return None


def _table(name: str, make: Callable[[_FindingsContext, Path], Printed], options: tuple[str, ...] = ()) -> StudyTable:
    def made(context: _FindingsContext) -> Printed:
        place = context.folder(_FOLDERS[name])
        return Printed({}) if place is None else make(context, place)

    return StudyTable(made, options)


def _of_study(study: str, table: str, title: str, not_shown: str) -> Callable[[_FindingsContext, Path], Printed]:
    """A table of another registered study, on the same data."""

    def make(context: _FindingsContext, place: Path) -> Printed:
        other = studies.get(study)
        given = {option.key: option.default for option in other.options}
        inner = other.context(place, given, context.to / study, [table])
        printed = other.tables[table].make(inner)
        command = f"unswayed study {study} --data {place} --only {table}"
        told = Section(title, [not_shown, command])
        return Printed(printed.value, [told, *printed.sections], printed.findings)

    return make


_FOLDERS = {"sdqa": sdqa.FOLDER, "norsid": norsid.FOLDER, "rocs": rocs.FOLDER, "judge": judge.FOLDER, "parte": "parte"}


class Findings(Study):
    """Findings: what real systems do when real people vary.

    DIR holds the publishers' own files, a folder for each data set; those that are not there are left out. Each table
    measures published answers again: spoken questions by the speaker's variety of a language (sdqa), Norwegian
    dialects (norsid), raw Reddit posts in translation (rocs), a judge's verdicts in both orders (judge), paraphrases
    (parte). Files of the same form with other systems, varieties or languages are read in the same way. Writes
    study.json, study.md and study.html, and the rows and logs behind them, for `unswayed suite import` and `run`.

    \b
      unswayed study findings --data data/
      unswayed study findings --data data/ --only sdqa --reference swahili=kenya --format json
    """

    title = "What real systems do when real people vary"
    context = _FindingsContext
    tables: ClassVar[Mapping[str, StudyTable]] = {
        "sdqa": _table(
            "sdqa",
            lambda context, place: sdqa.findings(place, context.to, context.given.get("reference") or ()),
            ("reference",),
        ),
        "norsid": _table("norsid", lambda context, place: norsid.findings(place, context.to)),
        "rocs": _table("rocs", lambda context, place: rocs.findings(place, context.to)),
        "judge": _table("judge", lambda context, place: judge.findings(place)),
        "parte": _table("parte", _of_study(
            "parte", "table2", "Paraphrases of entailment pairs: five published models",
            "What this does not show: paraphrases were chosen by filters and raters, so that they are neither people's "
            "own words nor a random sample of rewordings. No licence is stated for the data.",
        )),
    }  # fmt: skip
    options = (
        Option("to", "Folder of the pages, rows and logs.", "findings", short="-o"),
        Option("reference", "LANGUAGE=VARIETY that the other varieties of sdqa are compared with. Repeatable. Default: "
               "english=usa; of two varieties, the first by name.", multiple=True),
    )  # fmt: skip
