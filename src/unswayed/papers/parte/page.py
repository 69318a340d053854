"""The P̂aRTE study for people: Table 2, Figures 1 to 5 and the tests, set beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unswayed.base import Json
from unswayed.papers.parte.agreement import PaperNumber
from unswayed.papers.parte.changed import CONFUSION, ChangedPredictions, ModelContrast
from unswayed.papers.parte.confidence import Confidence
from unswayed.report import NONE, Figure, Picture, Row, Section, SectionTable, scaled
from unswayed.report.charts import grouped_bars

TITLE = "P̂aRTE: do entailment predictions survive paraphrase?"
FIGURES = {
    "figure2": ("side", "which text was paraphrased"),
    "figure3": ("gold", "gold label"),
    "figure4": ("original_correct", "whether the prediction on the original was right"),
    "figure5": ("task", "source task"),
}
_CELLS = {cell: " → ".join(cell.split("_")) for cell in CONFUSION}
_RIGHT = {"true": "right on the original", "false": "wrong on the original"}

Found = Mapping[str, ChangedPredictions]
Paper = Mapping[str, Mapping[str, Json]]


def table2(found: Found, paper: Paper, trainings: Mapping[str, int]) -> Section:
    rows: list[Row] = []
    for model, one in found.items():
        row: dict[str, object] = {"model": model}
        for measure in ("accuracy_original", "accuracy_paraphrased", "changed"):
            row[measure.replace("_", " ")] = scaled(getattr(one, measure))
            row[f"{measure.replace('_', ' ')}, paper"] = _plain(paper.get(model, {}).get(measure))
        rows.append(
            {**row, "pairs": one.changed.n, "missing": one.changed.missing, "trainings": trainings.get(model, 1)}
        )
    shares = [one.changed for one in found.values() if one.changed.value is not None]
    sentences = [
        "Per cent of pairs, ours with 95% intervals, then the paper's. Intervals resample original pairs. Those of a "
        "model with several trainings also include how much its trainings differ. The published predictions are of one "
        "training."
    ]
    if shares:
        low, high = (100 * end(s.value or 0.0 for s in shares) for end in (min, max))
        between = f"{low:.1f} to {high:.1f}" if len(shares) > 1 else f"{low:.1f}"
        sentences.insert(0, f"Predictions change on {between}% of the paraphrased pairs, right or wrong alike.")
    sentences += _differs(found, paper)
    chart = {model: {"changed": one.changed.estimate} for model, one in found.items()}
    svg = grouped_bars(chart, "Changed predictions", "The share of pairs whose prediction changes, with intervals.")
    return Section(
        "Table 2: accuracy and changed predictions",
        sentences,
        [SectionTable("Accuracy on original and on paraphrased pairs, and changed predictions", rows)],
        [Picture("Share of changed predictions", svg)],
    )


def with_failed(
    section: Section, by_training: Mapping[str, Sequence[Mapping[str, Json]]], again: Mapping[str, Sequence[int]]
) -> Section:
    """Names the trainings that learnt nothing, also those that were done again with another seed."""
    sentences = [
        f"{model}: training {n} of {len(trainings)} calls every pair {next(iter(one['answers']))}. It learnt nothing, "
        f"so that it changes nothing."
        for model, trainings in by_training.items()
        for n, one in enumerate(trainings, 1)
        if len(one["answers"]) == 1 and not one["changed"]
    ]
    sentences += [
        f"{model}: {len(seeds)} training{'s' * (len(seeds) > 1)} had called every pair the same and "
        f"{'were' if len(seeds) > 1 else 'was'} done again (seed {', '.join(map(str, seeds))})."
        for model, seeds in again.items()
        if seeds
    ]
    return section._replace(sentences=[*section.sentences, *sentences])


def _differs(found: Found, paper: Paper) -> list[str]:
    """Said where the paper's own files give another headline than the paper prints."""
    far = [
        f"{model} {100 * one.changed.value:.1f} against {paper[model]['changed']:.1f}"
        for model, one in found.items()
        if model in paper
        and one.changed.value is not None
        and abs(100 * one.changed.value - paper[model]["changed"]) >= 0.1
    ]
    if not far:
        return []
    return [f"The published predictions give other shares of changes than the paper prints: {', '.join(far)}."]


def agreement(rows: Mapping[str, Sequence[PaperNumber]], beside: Mapping[str, str], paper: Paper) -> Section:
    """Every number of the paper with ours, by column."""
    made: list[Row] = [
        {
            "column": "the set" if name == "set" else name,
            "paper's": paper[beside[name]]["name"] if name in beside else NONE,
            "where": one.where,
            "what": one.what,
            "paper": Figure(f"{one.paper:,}" if name == "set" else f"{one.paper:.2f}"),
            "ours": _with_ends(one, name == "set"),
            "verdict": one.verdict,
            "why": one.why,
        }
        for name, found in rows.items()
        for one in found
    ]
    verdicts = [row["verdict"] for row in made]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    told = (
        f"{len(made)} numbers of the paper: {counts}. A recount of the published predictions gives the same number or "
        "differs. A model of ours agrees if the paper's number is in its 95% interval, which includes its trainings."
    )
    return Section("Each number of the paper", [told], [SectionTable("The paper's numbers and ours", made)])


def _with_ends(one: PaperNumber, count: bool) -> Figure:
    if one.ours is None:
        return Figure(NONE)
    if count or one.low is None or one.high is None:
        return Figure(f"{one.ours:,.0f}" if count else f"{one.ours:.2f}")
    return Figure(f"{one.ours:.2f} [{one.low:.1f}, {one.high:.1f}]")


def confidence(found: Mapping[str, Sequence[Confidence]]) -> Section:
    rows: list[Row] = [
        {
            "model": model,
            "training": n,
            "sure of, where the answer changes": scaled(one.changed),
            "where it stays": scaled(one.kept),
            "AUC": Figure(NONE if one.auc is None else f"{one.auc:.2f}"),
        }
        for model, each in found.items()
        for n, one in enumerate(each, 1)
    ]
    told = (
        "The mean probability, in per cent, of a system's answer to the original, with intervals by original. AUC: how "
        "often a changed answer was less sure than a kept one; 0.5 if confidence says nothing."
    )
    none = "Systems that are given as labels, such as the published predictions, have no probabilities."
    return Section("Is a changed answer an unsure one?", [told, none], [SectionTable("Confidence", rows)])


def prompts(systems: Mapping[str, Mapping[str, Json]]) -> Section:
    rows: list[Row] = [
        {"system": name, "what": what, "text": text}
        for name, one in systems.items()
        for what, text in one["prompts"].items()
    ]
    return Section("Prompts", ["The prompts that the models got, word for word."], [SectionTable("Prompts", rows)])


def figure1(found: Found) -> Section:
    rows: list[Row] = []
    for model, one in found.items():
        counts = {_CELLS[cell]: round((share.value or 0.0) * share.n) for cell, share in one.confusion.items()}
        shares = {f"{_CELLS[cell]}, %": scaled(share.estimate) for cell, share in one.confusion.items()}
        rows.append({"model": model, **counts, **shares})
    told = "Why accuracy hides changes: predictions that become wrong and those that become right cancel out."
    chart = {m: {_CELLS[c]: s.estimate for c, s in one.confusion.items()} for m, one in found.items()}
    title = "Figure 1: right and wrong before and after"
    described = "For each model the share of pairs right or wrong before and after paraphrase, with intervals."
    return Section(
        title, [told], [SectionTable("Pairs", rows)], [Picture(title, grouped_bars(chart, title, described))]
    )


def figure(name: str, found: Found, paper: Paper) -> Section:
    key, words = FIGURES[name]
    section = slice_(key, found, f"Figure {name[-1]}: changed predictions by {words}")
    printed = {"side": _both_paper, "original_correct": _right_paper}.get(key)
    return section._replace(sentences=[*section.sentences, *printed(found, paper)]) if printed else section


def slice_(key: str, found: Found, title: str = "") -> Section:
    title = title or f"Changed predictions by {key}"
    names = _RIGHT if key == "original_correct" else {}
    rows: list[Row] = [
        {
            "model": model,
            key.replace("_", " "): names.get(value, value),
            "changed": scaled(share.estimate),
            "pairs": share.n,
        }
        for model, one in found.items()
        for value, share in one.by.get(key, {}).items()
    ]
    chart = {m: {names.get(v, v): s.estimate for v, s in one.by.get(key, {}).items()} for m, one in found.items()}
    told = f"For each model the share of changed predictions by {key.replace('_', ' ')}, with intervals."
    return Section(
        title, [], [SectionTable("Per cent of pairs", rows)], [Picture(title, grouped_bars(chart, title, told))]
    )


def _both_paper(found: Found, paper: Paper) -> list[str]:
    """How much more changes where both texts were paraphrased, against all pairs."""
    told = []
    for model, one in found.items():
        both = one.by.get("side", {}).get("both")
        if both is None or both.value is None or one.changed.value is None:
            continue
        printed = paper.get(model, {}).get("more_for_both")
        theirs = "" if printed is None else f" (paper: {printed:.1f} more)"
        more = 100 * (both.value - one.changed.value)
        told.append(f"{model}: {abs(more):.1f} points {'more' if more >= 0 else 'fewer'} than over all pairs{theirs}")
    return [f"Where both texts were paraphrased, {'; '.join(told)}."] if told else []


def _right_paper(found: Found, paper: Paper) -> list[str]:
    printed = {m: paper[m] for m in found if "changed_where_right" in paper.get(m, {})}
    told = [f"{m} {p['changed_where_right']} where right, {p['changed_where_wrong']} where wrong"
            for m, p in printed.items()]  # fmt: skip
    return [f"The paper prints, in per cent: {'; '.join(told)}."] if told else []


def others(found: Found) -> list[str]:
    known = {key for key, _ in FIGURES.values()}
    return [key for key in dict.fromkeys(key for one in found.values() for key in one.by) if key not in known]


def tests(contrasts: Sequence[ModelContrast]) -> Section:
    rows: list[Row] = [
        {
            "measure": c.measure.replace("_", " "),
            "A": f"{c.a}, original" if c.a == c.b else c.a,
            "B": f"{c.b}, paraphrased" if c.a == c.b else c.b,
            "B − A": Figure(f"{100 * c.difference:+.1f}"),
            "from": _end(c.low),
            "to": _end(c.high),
            "McNemar": _p(c.mcnemar_corrected),
            "randomisation": _p(c.randomisation_corrected),
            "pairs": c.n,
        }
        for c in contrasts
    ]
    told = (
        "Differences in points with 95% intervals. p-values are corrected by Holm's method over all rows. McNemar's "
        "exact test takes pairs for independent; the randomisation test swaps whole originals. A model with several "
        "trainings has an interval that includes them, and no p-value."
    )
    return Section("Tests", [told], [SectionTable("B less A", rows)])


def _plain(percent: float | None) -> Figure:
    return Figure(NONE if percent is None else f"{percent:.2f}")


def _end(value: float | None) -> Figure:
    return Figure(NONE if value is None else f"{100 * value:+.1f}")


def _p(value: float | None) -> Figure:
    if value is None:
        return Figure(NONE)
    return Figure("< 0.001" if value < 0.001 else f"{value:.3f}")
