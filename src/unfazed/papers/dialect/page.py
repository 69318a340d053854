"""The dialect study for people: Tables 1, 2, 4, 5 and 8 and Figure 2, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from unfazed.core import Json
from unfazed.core.estimate import t_quantile
from unfazed.report import NONE, Picture, Row, Section, SectionTable, number, typeset
from unfazed.report.charts import axis, svg

TITLE = "Are metrics robust to dialect?"
_SCORED = (("dialect_vs_perturb", "#0072b2"), ("mt_vs_perturb", "#b36b00"))

Found = Mapping[str, Mapping[str, Mapping[str, Json]]]  # by language and metric
Paper = Mapping[str, Any]


def table1(found: Found, paper: Paper, uses: Mapping[str, Sequence[str]], own: bool) -> Section:
    """`own` says that the controls are made by rule on the references."""
    names = [name for name in _metrics(found) if "source" not in uses.get(name, ())]
    rows: list[Row] = [{"metric": name, **_cells(found, name, _success)} for name in names]
    rows += [{"metric": f"{name} (paper)", **_printed(paper, values)} for name, values in paper["table1"].items()]
    sentences = [
        "How often the other dialect scores strictly higher than a control, with exact intervals. A star: more often "
        "than by chance, with the paper's Bonferroni correction for five comparisons a metric.",
        *_why(found, paper, own),
    ]
    strict: list[Row] = [
        {
            "language": language,
            "metric": metric,
            "as the reference": number(one["value"]),
            "less by": number(one["gap"]),
        }
        for language, entries in found.items()
        for metric, entry in entries.items()
        if (one := entry.get("robust"))
    ]
    by: list[Row] = [
        {"language": language, "metric": metric, "group": group, "success": number(one["value"]), "n": one["n"]}
        for language, entries in found.items()
        for metric, entry in entries.items()
        for group, one in (entry.get("by") or {}).items()
    ]
    return Section(
        "Table 1: success rates",
        sentences,
        [
            SectionTable("Success rates", rows),
            SectionTable(
                "Strictly: how often a dialect scores what the reference itself does, and how much less in the mean",
                strict,
            ),
            SectionTable("By bucket or feature", by),
        ],
    )


def _why(found: Found, paper: Paper, own: bool) -> Iterable[str]:
    """Where ours differs from the paper's, and why."""
    far = []
    for language, entries in found.items():
        for metric, entry in entries.items():
            theirs = (entry.get("paper") or {}).get("success")
            ours = (entry["success"] or {}).get("value")
            if theirs is not None and ours is not None and abs(ours - theirs) >= 0.05:
                far.append(f"{metric} on {language} {ours:.2f} against {theirs:.2f}")
    if not far:
        return
    yield f"Ours differ from the paper's: {', '.join(far)}."
    if own:
        yield (
            "The paper's controls for Portuguese and Chinese are machine translations of English that was changed, so "
            "they are as far from the reference as any translation is. Ours change a word of the reference itself, and "
            "everything else in them matches it: whatever counts matches prefers them even more. In English, too, ours "
            "change one word, where a language model may change several. With --mt and --perturbed the paper's way is "
            "followed; the English to be translated is written beside this page."
        )


def table2(found: Found, paper: Paper) -> Section:
    rows: list[Row] = [{"metric": name, **_cells(found, name, _effect)} for name in _metrics(found)]
    rows += [
        {"metric": f"{name} (paper)", **_printed(paper, [f"{value:.2f} ± {se:.2f}" for value, se in values])}
        for name, values in paper["table2"].items()
    ]
    told = "The other dialect's score minus a control's, by the mixed-effects regression, ± its pooled standard error."
    scale = "Coefficients can be compared within a metric only. The paper's chrF goes to 1, ours to 100."
    return Section("Table 2: coefficients", [told, scale], [SectionTable("Dialect against control", rows)])


def table4(found: Found, paper: Paper, uses: Mapping[str, Sequence[str]]) -> Section:
    rows: list[Row] = []
    for way, title in (("without", "without references"), ("with", "with references")):
        names = [name for name in _metrics(found) if "source" in uses.get(name, ())]
        names = [name for name in names if ("reference" in uses[name]) == (way == "with")]
        rows += [{"metric": name, "estimation": title, **_cells(found, name, _success)} for name in names]
        for name, values in paper["table4"][way].items():
            shown = dict(zip(("pt", "zh"), map(number, values), strict=False))
            rows.append({"metric": f"{name} (paper)", "estimation": title, **shown})
    told = "Success rates of metrics that look at the English source."
    none = [] if any("source" in used for used in uses.values()) else ["None of the metrics given does."]
    return Section("Table 4: quality estimation", [told, *none], [SectionTable("Success rates", rows)])


def table5(found: Found, paper: Paper) -> Section:
    rows: list[Row] = []
    for entries in found.values():
        for metric, entry in entries.items():
            for own, one in (entry.get("awareness") or {}).items():
                if isinstance(one, str):
                    rows.append({"metric": metric, "candidate": one})
                    continue
                wins = one["right_tag_wins"]
                means = {f"as {tag}": number(mean) for tag, mean in one["means"].items()}
                rows.append({"metric": metric, "candidate": own, **means, "right tag wins": _share(wins)})
    none = [] if rows else ["None of the metrics given reads tags."]
    printed: list[Row] = [
        {"candidate": name, **dict(zip(("XL", "XL + NANO", "XXL", "XXL + NANO"), map(number, values), strict=True))}
        for name, values in paper["table5"].items()
    ]
    told = "Mean scores under each dialect's tag; a metric that is aware of dialect scores the right tag higher."
    tables = [SectionTable("Scores by tag", rows), SectionTable("The paper's, for Mandarin", printed)]
    return Section("Table 5: dialect awareness", [told, *none], tables)


def table8(found: Found, paper: Paper) -> Section:
    rows: list[Row] = []
    for name, printed in paper["table8"].items():
        row: dict[str, object] = {"": name}
        for language, theirs in zip(paper["languages"], printed, strict=True):
            first = next(iter(found.get(language, {}).values()), None)
            row[language] = NONE if first is None else first["examples"].get(name, 0)
            row[f"{language}, paper"] = theirs
        rows.append(row)
    why: list[Row] = [
        {"language": language, "metric": metric, "why": reason, "examples": count}
        for language, entries in found.items()
        for metric, entry in entries.items()
        for reason, count in entry["excluded_by"].items()
    ]
    told = "Examples, those that each kind of control is possible for, and those used: one control each."
    return Section("Table 8: examples", [told], [SectionTable("Examples", rows), SectionTable("Left out", why)])


def figure2(found: Found) -> Section:
    rows: list[Row] = []
    pictures = []
    for metric in _metrics(found):
        bars: list[tuple[str, str, float, float, float]] = []
        for language, entries in found.items():
            for what, colour in _SCORED:
                one = entries[metric]["effect"][what] if metric in entries else None
                if one and one["se"] is not None:
                    wide = one["se"] * t_quantile(0.995, one["df"])
                    low, high = one["value"] - wide, one["value"] + wide
                    named = what.replace("_", " ")
                    bars.append((f"{language}: {named}", colour, one["value"], low, high))
                    shown = {"difference": number(one["value"]), "99 %": f"{number(low)} to {number(high)}"}
                    rows.append({"metric": metric, "language": language, "comparison": named, **shown})
        if bars:
            pictures.append(Picture(f"{metric}: differences from controls", _chart(metric, bars)))
    told = (
        "Differences from controls with 99 % intervals. Below zero, the metric prefers a changed meaning to a dialect."
    )
    return Section(
        "Figure 2: dialect and machine translation against controls",
        [told],
        [SectionTable("Differences", rows)],
        pictures,
    )


def _chart(metric: str, bars: Sequence[tuple[str, str, float, float, float]]) -> Markup:
    ticks = axis(min(0.0, *(low for *_, low, _ in bars)), max(0.0, *(high for *_, high in bars)))

    def at(value: float) -> float:
        return round(5 + 90 * (value - ticks[0]) / (ticks[-1] - ticks[0]), 3)

    height = 26 + 44 * len(bars)
    parts = [_line(at(tick), at(tick), 18, height, "#888" if tick == 0 else "#ddd", 1) for tick in ticks]
    parts += [_words(at(tick), 12, "middle", "tick", typeset(f"{tick:g}")) for tick in ticks]
    for i, (name, colour, value, low, high) in enumerate(bars):
        y = 26 + 44 * i
        parts.append(_words(0, y + 16, "start", "name", name))
        parts.append(_words(100, y + 16, "end", "value", typeset(number(value))))
        parts.append(_line(at(low), at(high), y + 30, y + 30, colour, 2.5))
        parts.append(Markup('<circle cx="{}%" cy="{}" r="5" fill="{}"/>').format(at(value), y + 30, colour))
    return svg(f"Figure 2, {metric}", "Differences from controls with 99 % intervals.", height, parts)


def _line(x1: float, x2: float, y1: int, y2: int, colour: str, width: float) -> Markup:
    return Markup('<line x1="{}%" x2="{}%" y1="{}" y2="{}" stroke="{}" stroke-width="{}"/>').format(
        x1, x2, y1, y2, colour, width
    )


def _words(x: float, y: int, anchor: str, kind: str, text: str) -> Markup:
    return Markup('<text x="{}%" y="{}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, text)


def _metrics(found: Found) -> list[str]:
    return list(dict.fromkeys(name for entries in found.values() for name in entries))


def _cells(found: Found, metric: str, shown: Any) -> dict[str, str]:
    return {language: shown(entries[metric]) for language, entries in found.items() if metric in entries}


def _success(entry: Mapping[str, Json]) -> str:
    return _share(entry["success"])


def _share(one: Mapping[str, Json] | None) -> str:
    if not one or one["value"] is None:
        return NONE
    star = " *" if one["p_bonferroni"] is not None and one["p_bonferroni"] < 0.05 else ""
    return f"{one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}]{star}"


def _effect(entry: Mapping[str, Json]) -> str:
    one = entry["effect"]["dialect_vs_perturb"]
    return NONE if one is None else f"{number(one['value'])} ± {number(one['pooled_se'])}"


def _printed(paper: Paper, values: Sequence[float | str]) -> dict[str, str]:
    shown = (value if isinstance(value, str) else f"{value:.2f}" for value in values)
    return dict(zip(paper["languages"], shown, strict=True))
