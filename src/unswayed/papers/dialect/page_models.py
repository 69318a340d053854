"""The parts of the dialect study that are about learned metrics: quality estimation, awareness, NANO, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unswayed.base import Json, option_name
from unswayed.papers.dialect.page import (
    SCORED,
    Found,
    Paper,
    cells,
    difference,
    differences,
    metrics_of,
    share,
    trainings,
)
from unswayed.report import NONE, Row, Section, SectionTable, number

Uses = Mapping[str, Sequence[str]]
_SIZES = ("XL", "XL + NANO", "XXL", "XXL + NANO")
_NOT_HERE = (
    "The paper's models have up to 13 billion weights and are not public. Your metrics are compared with them "
    "and do not replace them."
)
_WITH_BASE = (*SCORED, ("reference_vs_perturb", "#00795c"))


def _looking(uses: Uses, source: bool, reference: bool | None = None) -> list[str]:
    """The metrics that look at the source or not, and, where that is asked, at the reference or not."""
    return [
        name
        for name, used in uses.items()
        if ("source" in used) == source and (reference is None or ("reference" in used) == reference)
    ]


def table4(found: Found, paper: Paper, uses: Uses) -> Section:
    rows: list[Row] = []
    for way, title in (("without", "without references"), ("with", "with references")):
        names = _looking(uses, True, way == "with")
        rows += [{"metric": name, "estimation": title, **cells(found, name, _success)} for name in names]
        for name, values in paper["table4"][way].items():
            shown = dict(zip(("pt", "zh"), map(number, values), strict=False))
            rows.append({"metric": f"{name} (paper)", "estimation": title, **shown})
    told = ["Success rates of metrics that look at the English source.", *_none(_looking(uses, True))]
    return Section("Table 4: quality estimation", told, [SectionTable("Success rates", rows)])


def _success(entry: Mapping[str, Json]) -> str:
    return share(entry["success"])


def _none(names: Sequence[str], what: str = "does") -> list[str]:
    return [_NOT_HERE] if names else [f"None of the metrics given {what}."]


def awareness(title: str, found: Found, paper: Paper, language: str) -> Section:
    """Definition 2.3 under each tag, and beside it the paper's form: mean scores by candidate and tag."""
    languages = [lang for lang in found if lang == language or (language == "zh" and lang not in ("pt", "zh"))]
    defined: list[Row] = []
    form: list[Row] = []
    for lang in languages:
        for metric, entry in found[lang].items():
            one = entry.get("awareness")
            if one and "unmeasured" in one:
                defined.append({"metric": metric, "language": lang, "aware": one["unmeasured"]})
            elif one:
                whole = {"both": one["aware"], "letter": one["aware_to_the_letter"]}
                whole = {name: "yes" if holds else "no" for name, holds in whole.items()}
                tested = "yes" if one["aware_in_the_papers_test"] else "no"
                for tag, wins in one["by_tag"].items():
                    text, held = one["by_text"][tag], one["defined"][tag]["value"]
                    mark = "✓" if text["checked"] else "✗"
                    defined.append({
                        "metric": metric, "language": lang, "tag": tag, "ours: own dialect wins": _plain(wins),
                        "ours: aware": whole["both"], "Definition 2.3: held in": number(held),
                        "Definition 2.3: aware": whole["letter"],
                        "paper's test: own tag wins": f"{mark} {_plain(text['share'])}", "paper's test: aware": tested,
                    })  # fmt: skip
                form += _form(metric, one)
    printed: list[Row] = [
        {"candidate": name, **dict(zip(_SIZES, map(number, values), strict=True))}
        for name, values in paper["awareness"][language].items()
    ]
    told = [
        "Ours: given a tag, the text in its dialect scores above the same text in the other, under both tags more "
        "often than by chance. A metric that always prefers one dialect or one tag is not aware.",
        "Definition 2.3 asks that of every pair, and a tie is enough. A metric that ignores tags and has only ties is "
        "aware by it.",
        "The paper's test (Tables 5 and 15) compares two tags for one text: ✓ where the right tag has the higher mean.",
        *([] if defined else ["None of the metrics given has learnt the tags of this language."]),
    ]
    tables = [
        SectionTable("Three criteria", defined),
        SectionTable("The paper's form: mean scores by candidate and tag", form),
        SectionTable("The paper's", printed),
    ]
    return Section(f"{title}: dialect awareness, {language}", told, tables)


def _plain(wins: Mapping[str, Json]) -> str:
    return NONE if wins["value"] is None else f"{wins['value']:.2f} [{wins['low']:.2f}, {wins['high']:.2f}]"


def _form(metric: str, one: Mapping[str, Json]) -> list[Row]:
    rows: list[Row] = [{"metric": metric, "candidate": "control", "mean": number(one["perturb"])}]
    for text, means in one["means"].items():
        for tag, mean in means.items():
            others = [other for name, other in means.items() if name != tag and other is not None]
            best = mean is not None and all(mean > other for other in others)
            mark = "" if tag != text else " ✓" if best else " ✗"
            rows.append({"metric": metric, "candidate": text, "tag": tag, "mean": f"{number(mean)}{mark}"})
    return rows


def table10(found: Found, paper: Paper, uses: Uses, level: float) -> Section:
    """Every metric that does not look at the source, against controls and against machine translation."""
    names = _looking(uses, False)
    tables = []
    for language, entries in found.items():
        rows: list[Row] = []
        for name in names:
            if name in entries:
                entry = entries[name]
                rows.append({"metric": name, **_ten(entry)})
        for name, values in paper["table10"].get(language, {}).items():
            shown = zip(_TEN, (NONE if value == "" else number(value) for value in values), strict=True)
            rows.append({"metric": f"{name} (paper)", **dict(shown)})
        tables.append(SectionTable(f"Language: {language}", rows))
    told = [
        "The other dialect against controls and against machine translation: coefficients and success rates.",
        "Variants of a training, such as other languages or another λ, are metrics of their own. Label each.",
        _NOT_HERE,
    ]
    return Section("Table 10: NANO and its variants", told, [*tables, *trainings(found, names, level)])


_TEN = ("minus control", "minus MT", "above control", "above MT")


def _ten(entry: Mapping[str, Json]) -> dict[str, str]:
    effect = entry["effect"]
    against = (effect["dialect_vs_perturb"], effect["dialect_vs_mt"])
    coefficients = [difference(one) for one in against]
    shares = [share(entry["success"]), share(entry.get("success_over_mt"))]
    return dict(zip(_TEN, [*coefficients, *shares], strict=True))


def table13(found: Found, paper: Paper, uses: Uses) -> Section:
    """Quality estimation with references: against controls and against machine translation."""
    names = _looking(uses, True, True)
    rows: list[Row] = []
    for language, printed in paper["table13"].items():
        for name in names:
            if entry := found.get(language, {}).get(name):
                shown = {"above control": share(entry["success"]), "above MT": share(entry.get("success_over_mt"))}
                rows.append({"language": language, "metric": name, **shown})
        for name, (control, mt) in printed.items():
            shown = {"above control": number(control), "above MT": number(mt)}
            rows.append({"language": language, "metric": f"{name} (paper)", **shown})
    told = [
        "How often the other dialect scores above a control, and above machine translation, by metrics that look at "
        "both source and reference.",
        *_none(names),
    ]
    return Section("Table 13: quality estimation with references", told, [SectionTable("Success rates", rows)])


def figure3(found: Found, uses: Uses) -> Section:
    names = _looking(uses, True)
    told = [
        "Differences from controls with 99% intervals, by metrics that look at the source. Without a reference, the "
        "base dialect is a candidate too: a robust metric rates both dialects alike.",
        *_none(names),
    ]
    title = "Figure 3: quality estimation, coefficients"
    return differences(title, told, {k: v for k, v in found.items() if k != "en"}, names, _WITH_BASE)


def figure4(found: Found, uses: Uses) -> Section:
    names = [name for name in metrics_of(found) if "tag" in uses[name] and "source" not in uses[name]]
    told = [
        "Differences from controls with 99% intervals, by metrics that read tags, as NANO's do.",
        *_none(names, "reads tags"),
    ]
    return differences("Figure 4: NANO, coefficients", told, found, names, SCORED)


_SETTINGS = {
    "table3": ("Table 3: agreement with people", "the reference alone", (False, True)),
    "table12": ("Table 12: agreement of quality estimation", "the source alone", (True, False)),
    "table14": ("Table 14: agreement of quality estimation with references", "source and reference", (True, True)),
}


def agreement(table: str, found: Mapping[str, Mapping[str, Json]], paper: Paper, uses: Uses, level: float) -> Section:
    """daRR or Kendall of the metrics that look at what the table is about."""
    title, what, (source, reference) = _SETTINGS[table]
    names = [name for name in _looking(uses, source, reference) if name in found]
    rows: list[Row] = []
    for name in names:
        for pair, one in found[name].items():
            if "unmeasured" in one:
                rows.append({"metric": name, "pair": pair, "measure": one["unmeasured"]})
                continue
            value = NONE if one["value"] is None else _three(one)
            pairwise = one["pairwise"]
            alike = NONE if pairwise["value"] is None else _three(pairwise)
            rows.append({"metric": name, "pair": pair, "measure": one["measure"], "agreement": value, "n": one["n"],
                         "pairwise accuracy": alike, "a tie below": number(pairwise["epsilon"]), "pairs": pairwise["n"],
                         **_beside(table, name, pair, one, paper)})  # fmt: skip
    printed: list[Row] = [
        {"metric": name, **dict(zip(paper["wmt20"]["pairs"], map(_hundredth, values), strict=True))}
        for name, values in paper["wmt20"][table].items()
    ]
    told = [
        f"Agreement with people's ratings of metrics that look at {what}: daRR where several systems translated a "
        f"segment, Kendall's tau-b over segments where one did. The paper's is daRR on WMT20.",
        "Pairwise accuracy, as WMT uses since 2023: the share of pairs that metric and people put in the same order or "
        "both call a tie. Scores that differ by less than the calibrated number are a tie.",
        *([] if found else [f"No ratings were given. Name them with {option_name('ratings')}."]),
        *([] if names or not found else [f"None of the metrics given looks at {what}."]),
    ]
    return Section(title, told, [SectionTable("Agreement", rows), SectionTable("The paper's, WMT20", printed)])


def _beside(table: str, name: str, pair: str, one: Mapping[str, Json], paper: Paper) -> dict[str, str]:
    """The paper's value for the same metric and language pair; only daRR can be compared with it."""
    ours = paper["ours"].get(name.partition(":")[0])
    theirs = paper["wmt20"][table].get(ours["name"]) if ours else None
    if theirs is None or pair not in paper["wmt20"]["pairs"]:
        return {"paper": NONE, "compared": "not in the paper"}
    value = theirs[paper["wmt20"]["pairs"].index(pair)]
    if value == "":
        return {"paper": NONE, "compared": "not in the paper"}
    if one["measure"] != "daRR":
        return {"paper": _hundredth(value), "compared": "another measure on other ratings"}
    inside = one["low"] is not None and one["low"] - 0.0005 <= value / 100 <= one["high"] + 0.0005
    return {
        "paper": _hundredth(value),
        "compared": "agrees" if inside else f"differs by {one['value'] - value / 100:+.3f}",
    }


def _three(one: Mapping[str, Json]) -> str:
    return f"{one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"


def _hundredth(value: float | str) -> str:
    return NONE if isinstance(value, str) else f"{value / 100:.3f}"
