"""The dialect study for people: success rates, coefficients and examples, ours compared with the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from unswayed.base import Json
from unswayed.papers.dialect.tables import over_seeds
from unswayed.report import NONE, Picture, Row, Section, SectionTable, number, typeset
from unswayed.report.charts import axis, svg
from unswayed.stats import t_quantile

TITLE = "Are metrics robust to dialect?"
SCORED = (("dialect_vs_perturb", "#0072b2"), ("mt_vs_perturb", "#b36b00"))
LOWER = "a lower bound: no translator"
_TRAINING = " #"  # between a label and the number of a training

Found = Mapping[str, Mapping[str, Mapping[str, Json]]]  # by language and metric
Paper = Mapping[str, Any]


def label_of(given: str) -> tuple[str, str]:
    """`LABEL=METRIC` as both; without a label that is empty."""
    label, equals, metric = given.partition("=")
    return (label, metric) if equals and ":" not in label else ("", given)


def training_of(name: str) -> str:
    """What several trainings of a metric are called together."""
    return name.partition(_TRAINING)[0]


def table1(found: Found, paper: Paper, uses: Mapping[str, Sequence[str]], level: float) -> Section:
    names = [name for name in metrics_of(found) if "source" not in uses.get(name, ())]
    rows: list[Row] = [_compared(language, name, found, paper) for language in found for name in names]
    others: list[Row] = [{"metric": name, **_printed(paper, values)} for name, values in paper["table1"].items()]
    sentences = [
        "How often the other dialect scores strictly higher than a control, with exact intervals. A star: more often "
        "than by chance, with the paper's Bonferroni correction for five comparisons a metric.",
        "MT above control: how often the machine translation of the original scores above that of the control. A "
        "metric that notices the change of meaning does that.",
        "Compared: 'agrees' if the difference from the paper's share could be chance, given both numbers of examples.",
        *_why(found),
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
            *trainings(found, names, level),
            SectionTable("The paper's", others),
            SectionTable(
                "Strictly: how often a dialect scores what the reference itself does, and how much less in the mean",
                strict,
            ),
            SectionTable("By bucket or feature", by),
        ],
    )


def _compared(language: str, name: str, found: Found, paper: Paper) -> Row:
    entry = found[language].get(name, {"success": None})
    printed = entry.get("paper") or {}
    theirs = printed.get("success")
    used = paper["table8"]["used"][paper["languages"].index(language)] if language in paper["languages"] else 0
    mt = entry.get("mt_over_perturb")
    return {
        "language": language,
        "metric": name,
        "success": share(entry["success"]),
        "MT above control": share(mt) if mt else "not translated",
        "dialect above MT": share(entry.get("success_over_mt")),
        "paper": NONE if theirs is None else f"{printed['name']} {theirs:.2f}",
        "compared": LOWER if _lower(language, entry, theirs) else verdict(entry["success"], theirs, used),
    }


def _lower(language: str, entry: Mapping[str, Json], theirs: object) -> bool:
    """Is our share a lower bound of what the paper measures, since no control was translated?"""
    return bool(theirs is not None and language != "en" and entry["success"] and not entry.get("translated"))


def verdict(ours: Mapping[str, Json] | None, theirs: float | None, n: int) -> str:
    """Does a share agree with the paper's, on n examples? Theirs is rounded to hundredths."""
    if not ours or ours["value"] is None:
        return "not measured"
    if theirs is None or not n:
        return "not in the paper"
    gap = ours["value"] - theirs
    wide = max(abs(ours["value"] - ours["low"]), abs(ours["high"] - ours["value"]))
    theirs_wide = 1.96 * math.sqrt(theirs * (1 - theirs) / n) + 0.005
    return "agrees" if abs(gap) <= math.hypot(wide, theirs_wide) else f"differs by {gap:+.2f}"


def trainings(found: Found, names: Sequence[str], level: float) -> list[SectionTable]:
    """The means of metrics that were trained several times, with intervals that include training."""
    labels = [label for label in dict.fromkeys(map(training_of, names)) if f"{label}{_TRAINING}2" in names]
    rows: list[Row] = []
    for language, entries in found.items():
        for label in labels:
            own = [entry for name, entry in entries.items() if training_of(name) == label]
            whole = over_seeds(own, "success", level)
            if whole.value is not None:
                shown = f"{whole.value:.2f} [{whole.low:.2f}, {whole.high:.2f}]"
                rows.append({"language": language, "metric": label, "trainings": len(own), "success": shown})
    return [SectionTable("Several trainings together; intervals include training", rows)] if rows else []


def _why(found: Found) -> Iterable[str]:
    """Why ours may differ from the paper's, by how controls were made."""
    made = {language: next(iter(entries.values()), {}).get("translated") for language, entries in found.items()}
    if own := [language for language, translated in made.items() if not translated and language != "en"]:
        yield (
            f"The controls of {' and '.join(own)} change a word of the reference itself, and everything else in them "
            f"matches it: whatever counts matches prefers them. The paper's are machine translations of English that "
            f"was changed, as far from the reference as any translation. These shares are therefore a lower bound. "
            f"With --translator, or with --mt and --perturbed, the study follows the paper."
        )
    if theirs := [language for language, translated in made.items() if translated]:
        yield (
            f"The controls of {' and '.join(theirs)} are machine translations of changed English, as in the paper. "
            f"What still differs: the translation system (theirs is Google Translate), rules that change the English "
            f"(theirs is a language model, LaMDA), and FRMT's random bucket, which not every copy has."
        )
    if "en" in found:
        yield "English pairs were matched by likeness, and the rules change one word where LaMDA may change several."


def table2(found: Found, paper: Paper) -> Section:
    rows: list[Row] = []
    for language, entries in found.items():
        for name, entry in entries.items():
            one, theirs = entry["effect"]["dialect_vs_perturb"], (entry.get("paper") or {}).get("effect")
            rows.append({
                "language": language,
                "metric": name,
                "dialect minus control": difference(one),
                "MT minus control": difference(entry["effect"]["mt_vs_perturb"], "not translated"),
                "paper": NONE if theirs is None else f"{number(theirs['value'])} ± {number(theirs['se'])}",
                "compared": LOWER if _lower(language, entry, theirs) else _coefficients(one, theirs),
            })  # fmt: skip
    others: list[Row] = [
        {"metric": name, **_printed(paper, [f"{value:.2f} ± {se:.2f}" for value, se in values])}
        for name, values in paper["table2"].items()
    ]
    told = "The other dialect's score minus a control's, by the mixed-effects regression, ± its pooled standard error."
    scale = "Coefficients can be compared within a metric only. The paper's chrF goes to 1, ours to 100."
    tables = [SectionTable("Dialect against control", rows), SectionTable("The paper's", others)]
    return Section("Table 2: coefficients", [told, scale], tables)


def difference(one: Mapping[str, Json] | None, none: str = NONE) -> str:
    return none if one is None else f"{number(one['value'])} ± {number(one['pooled_se'])}"


def _coefficients(ours: Mapping[str, Json] | None, theirs: Mapping[str, Json] | None) -> str:
    if ours is None:
        return "not measured"
    if theirs is None:
        return "not in the paper"
    gap = ours["value"] - theirs["value"]
    wide = 1.96 * math.hypot(ours["pooled_se"], theirs["se"]) + theirs["rounded"]
    same = "" if ours["value"] * theirs["value"] > 0 else ", another sign"
    return "agrees" if abs(gap) <= wide else f"differs by {number(gap)}{same}"


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
    translated = [lang for lang, es in found.items() if next(iter(es.values()), {}).get("translated")]
    told = "Examples, those that each kind of control is possible for, and those used: one control each."
    if translated:
        told += f" For {' and '.join(translated)} the controls change the English, which is then translated."
    return Section("Table 8: examples", [told], [SectionTable("Examples", rows), SectionTable("Left out", why)])


def figure2(found: Found, names: Sequence[str]) -> Section:
    told = (
        "Differences from controls with 99% intervals. Below zero, the metric prefers a changed meaning to a dialect. "
        "MT minus control shows whether the metric notices the change of meaning at all."
    )
    return differences("Figure 2: dialect and machine translation against controls", [told], found, names, SCORED)


def differences(
    title: str, sentences: Sequence[str], found: Found, names: Sequence[str], scored: Sequence[tuple[str, str]]
) -> Section:
    """A table of coefficients and a chart of them for each metric."""
    rows: list[Row] = []
    pictures = []
    for metric in names:
        bars: list[tuple[str, str, float, float, float]] = []
        for language, entries in found.items():
            for what, colour in scored:
                one = entries[metric]["effect"][what] if metric in entries else None
                if one and one["se"] is not None:
                    wide = one["se"] * t_quantile(0.995, one["df"])
                    low, high = one["value"] - wide, one["value"] + wide
                    named = what.replace("_", " ")
                    bars.append((f"{language}: {named}", colour, one["value"], low, high))
                    shown = {"difference": number(one["value"]), "99%": f"{number(low)} to {number(high)}"}
                    rows.append({"metric": metric, "language": language, "comparison": named, **shown})
        if bars:
            pictures.append(Picture(f"{metric}: differences from controls", _chart(title, metric, bars)))
    return Section(title, sentences, [SectionTable("Differences", rows)], pictures)


def _chart(title: str, metric: str, bars: Sequence[tuple[str, str, float, float, float]]) -> Markup:
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
    named = f"{title.partition(':')[0]}, {metric}"
    return svg(named, "Differences from controls with 99% intervals.", height, parts)


def _line(x1: float, x2: float, y1: int, y2: int, colour: str, width: float) -> Markup:
    return Markup('<line x1="{}%" x2="{}%" y1="{}" y2="{}" stroke="{}" stroke-width="{}"/>').format(
        x1, x2, y1, y2, colour, width
    )


def _words(x: float, y: int, anchor: str, kind: str, text: str) -> Markup:
    return Markup('<text x="{}%" y="{}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, text)


def metrics_of(found: Found) -> list[str]:
    return list(dict.fromkeys(name for entries in found.values() for name in entries))


def cells(found: Found, metric: str, shown: Any) -> dict[str, str]:
    return {language: shown(entries[metric]) for language, entries in found.items() if metric in entries}


def share(one: Mapping[str, Json] | None) -> str:
    """A win rate with its interval; a star where it is more than chance."""
    if not one or one["value"] is None:
        return NONE
    star = " *" if one["p_bonferroni"] is not None and one["p_bonferroni"] < 0.05 else ""
    return f"{one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}]{star}"


def _printed(paper: Paper, values: Sequence[float | str]) -> dict[str, str]:
    shown = (value if isinstance(value, str) else f"{value:.2f}" for value in values)
    return dict(zip(paper["languages"], shown, strict=True))
