"""READIN (ACL 2023): what people's typing and speaking does to Chinese test data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from unswayed.base import DataError, Estimate, Json, guess_task
from unswayed.measure import ErrorRates, Group, error_rates
from unswayed.papers.readin import page, tables
from unswayed.papers.readin.agreement import agreements
from unswayed.papers.readin.layout import clean_file, corpus_folders, people_in
from unswayed.papers.readin.methods import INDEXED, METHODS, ReadinCorpus, check_systems
from unswayed.papers.readin.plausibility import PAPER, read_preferences
from unswayed.papers.readin.reader import read_rows
from unswayed.report import Option, Printed, Study, StudyContext, StudyTable

_CORPORA = {"classify": "afqmc", "qa": "cmrc2018", "sql": "cspider", "translate": "nmt"}

# The paper's Table 3, average and worst in per cent. Its WMT2021 (nmt) has 1,948 segments, its AFQMC 4,317 pairs.
_TABLE_3 = {
    "afqmc.keyboard": (18.8, 27.5),
    "afqmc.speech": (30.9, 44.1),
    "cmrc2018.keyboard": (17.4, 26.9),
    "cmrc2018.speech": (25.1, 38.1),
    "cspider.keyboard": (17.4, 25.7),
    "cspider.speech": (13.3, 21.8),
    "nmt.keyboard": (17.7, 25.1),
    "nmt.speech": (21.6, 30.8),
}


def error_rate_table(data: Path) -> Json:
    """Table 3: character error rates in per cent by corpus and way of entering, ours beside the paper's.

    The paper's figure for AFQMC counts the line break that the third annotator's file has after every second sentence
    as an error. `average` and `worst` do the same; `without_line_breaks` says what is left when it is taken off.
    """
    table: dict[str, Json] = {}
    for name, folder in corpora_in(data).items():
        for family in dict.fromkeys(person.family for person in people_in(folder)):
            key = f"{name}.{family}"
            table[key] = _percent(corpus_error_rates(folder, family, strip=False))
            stripped = corpus_error_rates(folder, family)
            table[key]["without_line_breaks"] = {
                "average": _scaled(stripped.average.value),
                "worst": _scaled(stripped.worst.value),
            }
            if key in _TABLE_3:
                table[key]["paper"] = dict(zip(("average", "worst"), _TABLE_3[key], strict=True))
    return table


class _ReadinContext(StudyContext):
    """The corpora and what is kept of them on disk."""

    @cached_property
    def corpora(self) -> dict[str, ReadinCorpus]:
        found = corpora_in(self.data)
        check_systems(self.given, found, list(_CORPORA.values()))
        return {name: ReadinCorpus(name, folder, self.to, self.given) for name, folder in found.items()}

    def deciding(self, table: str, option: str) -> Any:
        """Of the systems, those for the table's own corpora."""
        value = super().deciding(table, option)
        if option != "system":
            return value
        owners = {tables.COLUMNS[column][0] for column in tables.TABLES.get(table, ())}
        return [spec for spec in value or () if spec.partition("=")[0].partition("+")[0] in owners]

    def table2(self) -> Printed:
        table = tables.table2(self.corpora)
        return Printed(table, [page.sizes(table)])

    def error_rates(self) -> Printed:
        table = error_rate_table(self.data)
        return Printed(table, [page.rates(table)])

    def scores(self, name: str) -> Printed:
        table = tables.scores_table(name, self.corpora, raw=bool(self.given.get("raw_em")))
        return Printed(table, [page.scores(name, table)], list(agreements(name, table)))

    def plausibility(self) -> Printed:
        """Section 3.3, where people were asked; else the commands with which to ask them."""
        answers = self.given.get("plausible")
        found = read_preferences(answers) if answers else None
        return Printed({"ours": found, "paper": PAPER}, [page.plausibility(found)])

    def table10(self) -> Printed:
        table = tables.table10(self.corpora)
        return Printed(table, [page.slips(table)])


def _scores(name: str) -> StudyTable:
    return StudyTable(lambda stages: stages.scores(name))


class Readin(Study):
    """READIN (ACL 2023): do systems survive Chinese as people type and say it, and does robust training help?

    Takes what three people each made of the test data by keyboard and by voice. `error-rates` (Table 3) needs the data
    alone. Systems are given by corpus: --system afqmc=SYSTEM, also cmrc2018, cspider and nmt; for AFQMC and CMRC2018
    the study trains small ones where train.json is there, plain and with every mitigation. Writes study.json, study.md
    and study.html. Given again, it goes on where it was stopped.

    \b
      unswayed study readin --data readin/ --only error-rates --format json
      unswayed study readin --data readin/ --system nmt=my_module:translate -o out/ --format md
    """

    title = page.TITLE
    corpora = ("readin",)
    context = _ReadinContext
    tables: ClassVar[Mapping[str, StudyTable]] = {
        "table2": StudyTable(_ReadinContext.table2, ()),
        "error-rates": StudyTable(_ReadinContext.error_rates, (), quick=True),
        **{name: _scores(name) for name in tables.TABLES},
        "table10": StudyTable(_ReadinContext.table10, ()),
        "plausibility": StudyTable(_ReadinContext.plausibility, ("plausible",)),
    }
    options = (
        Option("to", "Folder of models, runs and pages.", "readin", short="-o"),
        Option("system", "NAME=SYSTEM to test; NAME is a corpus, or a corpus+MITIGATION. Repeatable.", multiple=True),
        Option("corrector", "The corrector. Default: the built-in one, trained on the corpus if possible."),
        Option(
            "without",
            f"Leave out {', '.join(METHODS[1:5])} or {INDEXED[0]}. Repeatable.",
            multiple=True,
        ),
        Option("plausible", "ANSWERS of `unswayed collect export` to pairs of `unswayed survey pairs` (section 3.3)."),
        Option("raw-em", "Compare CMRC2018's answers as they are written, as READIN's script does.", flag=True),
        Option("model", "Model to train for AFQMC: linear, or transformer (small, over characters).", "linear"),
        Option("epochs", "Epochs of the transformer; half as many with noisy copies, so as many steps. Default: 5."),
        Option("seed", "Seed of the noisy copies, and of the first training.", 0),
        Option("seeds", "Trainings with noisy copies. Intervals include how much they differ.", 3),
    )


def corpora_in(data: Path) -> dict[str, Path]:
    """The folders of READIN's corpora in a folder, or the folder itself, by the corpus's name."""
    folders = corpus_folders(data)
    if not folders:
        raise DataError("there is no READIN corpus here: a folder with test_clean.json and test_noisy_….json.", data)
    found: dict[str, Path] = {}
    for folder in folders:
        first, _ = next(read_rows(clean_file(folder), strip=True))
        found.setdefault(_CORPORA.get(guess_task(first).name, folder.name), folder)
    return found


def corpus_error_rates(folder: Path, family: str, strip: bool = True) -> ErrorRates:
    """The error rates of one corpus by keyboard or speech; without `strip`, line breaks that end versions count."""
    return error_rates(_groups(folder, family, strip))


def _groups(folder: Path, family: str, strip: bool) -> Iterator[Group]:
    clean = {example.id: example for example, _ in read_rows(clean_file(folder), strip=True)}
    fields = guess_task(next(iter(clean.values()))).varied
    versions: dict[str, list[tuple[str, ...]]] = {id: [] for id in clean}
    for person in people_in(folder):
        if person.family == family:
            for version, line in read_rows(person.file, strip):
                if version.id not in versions:
                    raise DataError(f"row {version.id} is not in the clean test set.", person.file, line)
                versions[version.id].append(tuple(version.inputs[name] for name in fields or version.inputs))
    for id, texts in versions.items():
        if texts:
            yield tuple(clean[id].inputs[name] for name in fields or clean[id].inputs), texts


def _percent(rates: ErrorRates) -> dict[str, Json]:
    found: dict[str, Json] = {name: _scaled(estimate.value) for name, estimate in rates._asdict().items()}
    found |= {f"{name}_interval": _interval(estimate) for name, estimate in rates._asdict().items()}
    return found | {"n": rates.average.n, "signature": rates.average.signature}


def _interval(estimate: Estimate) -> list[float | None]:
    return [_scaled(estimate.low), _scaled(estimate.high)]


def _scaled(value: float | None) -> float | None:
    return None if value is None else 100 * value
