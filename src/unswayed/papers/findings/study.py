"""Findings: published answers of real systems to real people's words, measured again from the publishers' own files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from unswayed.base import DataError, UsageError, option_name
from unswayed.papers.findings import judge, norsid, rocs, sdqa, simulated, typos
from unswayed.report import Option, Printed, Section, Study, StudyContext, StudyTable, studies


class _FindingsContext(StudyContext):
    """The folder of each data set, in the folder that was named."""

    @property
    def alone(self) -> Sequence[str]:
        """The tables that were asked for by name; none if all are made."""
        return () if len(self.chosen) == len(Findings.tables) else self.chosen

    def folder(self, name: str) -> Path | None:
        """Where a data set is; None if it is not there and was not asked for by itself."""
        place = self.data / name
        if place.is_dir():
            return place
        if self.alone:
            raise DataError("the data set is not here. docs/findings.md says where it is from.", place)
        if not any((self.data / folder).is_dir() for folder in _FOLDERS.values()):
            known = ", ".join(_FOLDERS.values())
            raise UsageError(f"{option_name('data')}: {self.data} has none of the folders {known}.")
        print(f"unswayed: {place} is not there, so its table is left out.", file=sys.stderr)
        return None

    def simulated(self) -> Printed:
        """People's losses beside simulated ones, on the sets that are there."""
        if not any((self.data / name).is_dir() for name in simulated.SETS) and "simulated" not in self.alone:
            return Printed({})
        return simulated.findings(self.data, self.given.get("texts") or ())


def _table(name: str, make: Callable[[_FindingsContext, Path], Printed], options: tuple[str, ...] = ()) -> StudyTable:
    def made(context: _FindingsContext) -> Printed:
        place = context.folder(_FOLDERS[name])
        return Printed({}) if place is None else make(context, place)

    return StudyTable(made, options)


def _of_study(
    study: str, table: str, title: str, not_shown: str, **chosen: object
) -> Callable[[_FindingsContext, Path], Printed]:
    """A table of another registered study, on the same data, with other values of its options where they are chosen."""

    def make(context: _FindingsContext, place: Path) -> Printed:
        other = studies.get(study)
        given = {option.key: option.default for option in other.options} | chosen
        inner = other.context(place, given, context.to / study, [table])
        printed = other.tables[table].make(inner)
        words = [
            f" --{key} {one}"
            for key, values in chosen.items()
            for one in (values if isinstance(values, tuple) else (values,))
        ]
        command = f"unswayed study {study} --data {place} --only {table}{''.join(words)}"
        told = Section(title, [not_shown, command])
        return Printed(printed.value, [told, *printed.sections], printed.findings)

    return make


_FOLDERS = {"sdqa": sdqa.FOLDER, "norsid": norsid.FOLDER, "rocs": rocs.FOLDER, "judge": judge.FOLDER, "parte": "parte",
            "readin": "readin", "frmt": "frmt", "typos": typos.FOLDER}  # fmt: skip


class Findings(Study):
    """Findings: what real systems do when real people vary.

    DIR holds the publishers' own files, a folder for each data set; those that are not there are left out. Each table
    measures published answers again: spoken questions by the speaker's variety of a language (sdqa), Norwegian
    dialects (norsid), raw Reddit posts in translation (rocs), a judge's verdicts in both orders (judge), paraphrases
    (parte). For readin and frmt nobody published predictions: what people typed and said, and how metrics rate regions.
    Mistyped queries are sorted by kind (typos), and simulated compares what two retrievers lose under people's texts
    with what they lose under simulated ones. Files of the same form with other systems, varieties or languages are
    read in the same way. Writes study.json, study.md and study.html, and the rows and logs behind them, for
    `unswayed suite import` and `run`.

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
        "readin": _table("readin", _of_study(
            "readin", "error-rates", "How far typed and spoken Chinese is from what was meant",
            "What this does not show: how systems fare, since nobody published predictions. Three people typed, and "
            "three others read aloud. READIN's own terms hold for the data.",
        )),
        "typos": _table("typos", lambda context, place: typos.findings(place)),
        "simulated": StudyTable(_FindingsContext.simulated, ("texts",)),
        "frmt": _table("frmt", _of_study(
            "dialect", "table1", "Do BLEU and chrF prefer another region's Portuguese or Chinese to a changed meaning?",
            "What this does not show: how people judge these texts; controls change a word of the reference itself. "
            "Data: CC BY-SA 3.0.", metric=("bleu", "chrf"),
        )),
    }  # fmt: skip
    options = (
        Option("texts", "NAME=FILE: another simulator's texts of NoiseQA's questions (JSON lines with id and text), to "
               "compare it with people in simulated. Repeatable.", multiple=True),
        Option("to", "Folder of the pages, rows and logs.", "findings", short="-o"),
        Option("reference", "LANGUAGE=VARIETY that the other varieties of sdqa are compared with. Repeatable. Default: "
               "english=usa; of two varieties, the first by name.", multiple=True),
    )  # fmt: skip
