"""How a metric fares on a language's examples: success rates and the regression."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base import Json, content_id
from unswayed.measure import Coefficient, Ties, Wins, mixed_effects, win_rate
from unswayed.papers.dialect.material import Trial, Trials, groups_of
from unswayed.stats import Estimate, correct, over_trainings, share_of
from unswayed.systems import Metric, Scores, Segment

Array = npt.NDArray[np.float64]
_EQUAL = 1e-9  # scores that differ by less are the same
_ITSELF = "reference"  # the reference as a candidate: what a dialect would score under a metric that is blind to it


# Which condition is to score above which.
COMPARED = {
    "success": ("dialect", "perturb"),
    "success_over_mt": ("dialect", "mt"),
    "mt_over_perturb": ("mt", "perturb"),
}
EFFECTS = ("dialect_vs_perturb", "mt_vs_perturb", "dialect_vs_mt", "reference_vs_perturb")


class WinSettings(msgspec.Struct, frozen=True):
    """How wins are counted, how wide intervals are, and by how many comparisons p is multiplied."""

    ties: Ties = "loss"
    level: float = 0.95
    comparisons: int = 5  # the paper's, for each metric


def unknown_tags(metric: Metric, tags: Sequence[str]) -> list[str]:
    """Those of the tags that a metric has never seen; a language is known by any of its dialects."""
    if "tag" not in metric.uses or metric.tags is None:
        return []
    known = {*metric.tags, *(tag.split("-")[0] for tag in metric.tags)}
    return [tag for tag in tags if tag not in known]


def measured(trials: Trials, scores: Scores, settings: WinSettings) -> dict[str, Json]:
    """One metric on one language."""
    entry: dict[str, Json] = {"success": None, "effect": dict.fromkeys(EFFECTS)}
    excluded = dict(trials.excluded)
    unfit = _unfit(trials, scores.metric)
    if unfit:
        entry["unmeasured"] = unfit
        excluded["the metric can't score it"] = len(trials.used)
    elif trials.used:
        scores.learn([trial.reference for trial in trials.used])
        table = _scored(trials, scores)
        signed = {"metric": scores.metric.name, "trials": content_id([scores.metric.identity, trials.used], size=8)}
        for name, (better, worse) in COMPARED.items():
            if better in table and worse in table:
                wins = win_rate(table[better], table[worse], settings.ties, settings.level, **signed)
                entry[name] = shown_wins(wins, settings)
        entry["effect"] = _effects(trials.used, table, settings, "reference" not in scores.metric.uses)
        entry["robust"] = _robust(table, settings)
        entry["by"] = _by(trials, table, settings)
        if entry["success"]["missing"]:
            excluded["no finite score"] = entry["success"]["missing"]
    return entry | {"excluded": sum(excluded.values()), "excluded_by": excluded, "examples": trials.counts}


def _unfit(trials: Trials, metric: Metric) -> str:
    unseen = unknown_tags(metric, [trials.language])
    if unseen:
        return f"{metric.name} never saw the tag {unseen[0]!r}; it knows {', '.join(metric.tags or ())}"
    if "source" in metric.uses and any(trial.source is None for trial in trials.used):
        return f"{metric.name} needs sources, and {trials.language} has none"
    return ""


def _scored(trials: Trials, scores: Scores) -> dict[str, Array]:
    """Scores by condition, one for each example; NaN where there is none."""
    candidates: dict[str, list[str | None]] = {
        _ITSELF: [trial.reference for trial in trials.used],
        "dialect": [trial.dialect for trial in trials.used],
        "perturb": [trial.perturbed for trial in trials.used],
    }
    if any(trial.mt for trial in trials.used):
        candidates["mt"] = [trial.mt for trial in trials.used]
    items = [
        (condition, i, Segment(text, trials.used[i].reference, trials.used[i].source, trials.language))
        for condition, texts in candidates.items()
        for i, text in enumerate(texts)
        if text is not None
    ]
    table = {condition: np.full(len(trials.used), math.nan) for condition in candidates}
    for (condition, i, _), score in zip(items, scores.score(item for _, _, item in items), strict=True):
        table[condition][i] = score
    return table


def _effects(used: Sequence[Trial], table: dict[str, Array], settings: WinSettings, free: bool) -> dict[str, Json]:
    """The regression's differences from the control, and from machine translation; None for what can't be estimated.

    Where the metric is free of references, the reference itself is one more candidate.
    """
    found: dict[str, Json] = dict.fromkeys(EFFECTS)
    known = np.isfinite(table["dialect"]) & np.isfinite(table["perturb"])
    if known.sum() < 2:
        return found
    compared = {condition: scores for condition, scores in table.items() if free or condition != _ITSELF}
    ids = [str(i) for _ in compared for i in range(len(used))]
    conditions = [condition for condition in compared for _ in used]
    values = np.concatenate(list(compared.values())).tolist()
    for base in [name for name in ("perturb", "mt") if name in compared]:
        fit = mixed_effects(ids, conditions, values, base, settings.level)
        for condition, coefficient in fit.coefficients.items():
            if f"{condition}_vs_{base}" in found:
                found[f"{condition}_vs_{base}"] = _coefficient(coefficient)
    return found


def _robust(table: dict[str, Array], settings: WinSettings) -> dict[str, Json]:
    """Strictly: how often a dialect scores what the reference itself does, and how much less in the mean."""
    gaps = table[_ITSELF] - table["dialect"]
    gaps = gaps[np.isfinite(gaps)]
    if not len(gaps):
        return {"value": None, "low": None, "high": None, "n": 0, "gap": None}
    same = int((np.abs(gaps) < _EQUAL).sum())
    share = share_of(same, len(gaps), 0, "", settings.level)
    return {"value": share.value, "low": share.low, "high": share.high, "n": share.n, "gap": float(gaps.mean())}


def _coefficient(one: Coefficient) -> dict[str, Json]:
    return {name: getattr(one, name) for name in ("value", "se", "low", "high", "p", "p_holm", "df", "pooled_se")}


def shown_wins(wins: Wins, settings: WinSettings) -> dict[str, Json]:
    share = wins.share
    bonferroni = None if wins.p is None else min(1.0, wins.p * settings.comparisons)
    return {
        "value": share.value, "low": share.low, "high": share.high, "n": share.n, "p": wins.p,
        "p_bonferroni": bonferroni, "p_holm": None, "wins": wins.wins, "ties": wins.ties, "losses": wins.losses,
        "missing": share.missing, "signature": share.signature,
    }  # fmt: skip


def _by(trials: Trials, table: dict[str, Array], settings: WinSettings) -> dict[str, Json]:
    """Success by bucket or by feature."""
    found = {}
    for group in groups_of(trials):
        inside = np.array([trial.group == group for trial in trials.used])
        wins = win_rate(
            table["dialect"][inside], table["perturb"][inside], settings.ties, settings.level, set=group
        ).share
        found[group] = {"value": wins.value, "low": wins.low, "high": wins.high, "n": wins.n}
    return found


def hold_together(found: dict[str, dict[str, dict[str, Json]]]) -> None:
    """Adds Holm's p, each metric's comparisons over all languages taken together."""
    for metric in {name: None for entries in found.values() for name in entries}:
        tests = [
            entry[key]
            for entries in found.values()
            if (entry := entries.get(metric))
            for key in COMPARED
            if entry.get(key)
        ]
        for test, p in zip(tests, correct([test["p"] for test in tests]), strict=True):
            test["p_holm"] = p


def over_seeds(entries: Sequence[Mapping[str, Json]], name: str, level: float) -> Estimate:
    """A win rate of several trainings of a metric together; its interval includes training."""
    shares = [one for entry in entries if (one := entry.get(name))]
    found = [Estimate(s["value"], s["low"], s["high"], s["n"], s["missing"], s["signature"]) for s in shares]
    return over_trainings(found, level, (0.0, 1.0))
