"""The READIN study for people: its tables beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unswayed.base import Json
from unswayed.papers.readin.methods import METHODS
from unswayed.papers.readin.plausibility import Preference
from unswayed.papers.readin.tables import BY_SENTENCE, COLUMNS, MEASURES, TABLES
from unswayed.report import NONE, Figure, Row, Section, SectionTable, scaled, typeset

TITLE = "READIN: Chinese as people type and say it"
_NAMES = {"afqmc": "AFQMC", "cmrc2018": "CMRC2018", "cspider": "CSpider", "nmt": "WMT2021"}
_HEADS = {**_NAMES, "afqmc_positive": "AFQMC, positive pairs", "afqmc_negative": "AFQMC, negative pairs"}
_METHODS = {
    "plain": "plain",
    "ada": "ADA, homophones",
    "ada-simulated": "ADA, simulated typing",
    "correction": "correction before it",
    "subchar": "SubChar, pinyin",
    "subchar+ada": "SubChar, ADA with homophones",
    "subchar+ada-simulated": "SubChar, ADA with simulated typing",
    "subchar-index": "SubChar with an index",
    "subchar-index+ada": "SubChar with an index, ADA with homophones",
}
_TITLES = {
    "table5": "Table 5: understanding, with and without mitigation",
    "table6": "Table 6: queries and translations, with and without correction",
    "table7": "Table 7: characters against SubChar tokens",
    "table9": "Table 9: macro-F1 on AFQMC",
}
_TOLD = {
    "table5": "Accuracy on positive and on negative pairs, exact match on CMRC2018, in per cent.",
    "table6": "Exact set match on CSpider in per cent; BLEU on WMT2021. Its worst is the mean lowest sentence BLEU: "
    "compare it with the average by sentence.",
    "table7": "Accuracy on AFQMC's positive pairs in per cent. Our linear classifier folds homophones instead.",
    "table9": "Macro-F1 in per cent.",
}
_HEAD = {"worst": "worst-average"}
_CELLS = {
    "full.wrong_input": "typed out, wrong keys",
    "full.wrong_selection": "typed out, wrong choice",
    "abbr.wrong_input": "abbreviated, wrong keys",
    "abbr.wrong_selection": "abbreviated, wrong choice",
}


def sizes(table: Json) -> Section:
    rows: list[Row] = []
    for name in dict.fromkeys([*table["ours"], *table["paper"]]):
        ours, paper = table["ours"].get(name, {}), table["paper"].get(name, {})
        row: dict[str, object] = {"corpus": _NAMES.get(name, name)}
        for part in ("train", "dev", "test"):
            row |= {part: ours.get(part), f"{part}, paper": paper.get(part)}
        people = sorted({size for part, size in ours.items() if part not in ("train", "dev", "test")})
        rows.append({**row, "rows of a person": " to ".join(map(str, dict.fromkeys([*people[:1], *people[-1:]])))})
    return Section("Table 2: sizes", tables=[SectionTable("Rows", rows)])


def rates(table: Json) -> Section:
    rows: list[Row] = []
    for key, found in table.items():
        row: dict[str, object] = {"corpus": key}
        for measure in ("average", "worst"):
            low, high = found[f"{measure}_interval"]
            row[measure] = Figure(f"{found[measure]:.1f} [{low:.1f}, {high:.1f}]")
            row[f"paper: {measure}"] = _plain(found.get("paper", {}).get(measure))
            row[f"{measure} without line breaks"] = _plain(found["without_line_breaks"][measure])
        rows.append({**row, "n": found["n"]})
    return Section("Table 3: error rates", tables=[SectionTable("Characters to change, in per cent", rows)])


def scores(name: str, table: Json) -> Section:
    tables = [
        SectionTable(f"{_HEADS[column]}, {family}", list(_rows(name, column, family, table)))
        for family in sorted({*table["ours"], *table["paper"]})
        for column in TABLES[name]
        if column in table["ours"].get(family, {})
    ]
    told = [
        _TOLD[name],
        "In brackets 95% intervals by example; gains are over the plain system, on the same examples. Where a system "
        "was trained several times, they include how much its trainings differ.",
        "These intervals are for these three people. The other interval of the average is for people like these.",
    ]
    if name in ("table5", "table6"):
        told.append("We correct the clean test set too; the paper does not.")
    return Section(_TITLES[name], [*told, *table["needs"]], tables)


def _rows(name: str, column: str, family: str, table: Json) -> Iterator[Row]:
    scale = 1.0 if COLUMNS[column][0] == "nmt" else 100.0
    ours = table["ours"][family][column]
    for method in METHODS:
        if method not in ours:
            continue
        cells = ours[method]
        row: dict[str, object] = {"system": "ours", "with": _METHODS[method]}
        for measure in MEASURES:
            row[_HEAD.get(measure, measure)] = scaled(cells.get(measure), scale)
        if BY_SENTENCE in cells:
            row["average by sentence"] = scaled(cells[BY_SENTENCE], scale)
        if "average_like_these" in cells:
            row["average, people like these"] = scaled(cells["average_like_these"], scale)
        for measure in MEASURES:
            row[f"{_HEAD.get(measure, measure)} gained"] = _gain(cells, measure, scale)
        yield {**row, "n": cells["average"].n}
    for model, methods in table["paper"].get(family, {}).items():
        for method, columns in methods.items():
            if column in columns:
                printed = dict(zip(MEASURES, columns[column], strict=False))
                shown = {_HEAD.get(measure, measure): _plain(printed.get(measure), 2) for measure in MEASURES}
                yield {"system": f"paper: {model}", "with": _METHODS[method], **shown}


def slips(table: Json) -> Section:
    rows: list[Row] = []
    for cell, words in _CELLS.items():
        row: dict[str, object] = {"slip": words}
        row |= {_NAMES.get(name, name): _plain(100 * found[cell]) for name, found in table["ours"].items()}
        rows.append({**row, "paper": _plain(100 * table["paper"][cell])})
    told = "Ours is inferred from the texts; the authors of the paper watched recordings of 240 sentences."
    return Section(
        "Table 10: how people slip at the keyboard", [told], [SectionTable("Per cent of slips in words", rows)]
    )


def plausibility(found: Sequence[Preference] | None) -> Section:
    title = "Section 3.3: which is more plausible, the human or the simulated version?"
    if found is None:
        told = [
            "Ours needs people. Pair versions with `unswayed survey pairs HUMAN SIMULATED -o pairs.jsonl`. Collect "
            "answers with `unswayed collect`, and pass its export with --plausible ANSWERS.",
            "In the paper, people preferred the human version in 87.5% of pairs by keyboard, 86.3% by speech.",
        ]
        return Section(title, told)
    rows: list[Row] = []
    for one in found:
        row: dict[str, object] = {
            "family": one.family,
            "simulated by": one.operator,
            "human preferred": scaled(one.human),
        }
        row |= {"paper": _plain(None if one.paper is None else 100 * one.paper), "p": Figure(f"{one.p:.2g}")}
        rows.append({**row, "pairs": one.pairs, "judges": one.judges})
    told = ["A simulation as plausible as people would be at 50. The paper's simulation is not ours."]
    return Section(title, told, [SectionTable("Per cent of answers", rows)])


def _gain(cells: Mapping[str, Json], measure: str, scale: float) -> Figure:
    found = (cells.get("gain") or {}).get(measure)
    if found is None or found["difference"].value is None or found["difference"].low is None:
        return Figure(NONE)
    d = found["difference"]
    return Figure(typeset(f"{scale * d.value:+.1f} [{scale * d.low:+.1f}, {scale * d.high:+.1f}]"))


def _plain(value: float | None, digits: int = 1) -> Figure:
    return Figure(NONE if value is None else f"{value:.{digits}f}")
