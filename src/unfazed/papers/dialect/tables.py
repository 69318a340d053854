"""How a metric fares on a language's examples: success rates, the regression, dialect awareness."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from unfazed.core import Json, content_id
from unfazed.core.estimate import correct, share_of
from unfazed.measure import Coefficient, Ties, Wins, mixed_effects, win_rate
from unfazed.papers.dialect.material import Trial, Trials, groups_of
from unfazed.systems import Metric, Scores, Segment

Array = npt.NDArray[np.float64]
_EQUAL = 1e-9  # scores that differ by less are the same
_ITSELF = "reference"  # the reference as a candidate: what a dialect would score under a metric that is blind to it


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
    entry: dict[str, Json] = {"success": None, "effect": {"dialect_vs_perturb": None, "mt_vs_perturb": None}}
    excluded = dict(trials.excluded)
    unfit = _unfit(trials, scores.metric)
    if unfit:
        entry["unmeasured"] = unfit
        excluded["the metric can't score it"] = len(trials.used)
    elif trials.used:
        scores.learn([trial.reference for trial in trials.used])
        table = _scored(trials, scores)
        signed = {"metric": scores.metric.name, "trials": content_id([scores.metric.identity, trials.used], size=8)}
        wins = win_rate(table["dialect"], table["perturb"], settings.ties, settings.level, **signed)
        entry["success"] = _shown(wins, settings)
        entry["effect"] = _effects(trials.used, table, settings)
        if "mt" in table:
            over = win_rate(table["dialect"], table["mt"], settings.ties, settings.level, **signed)
            entry["success_over_mt"] = _shown(over, settings)
        entry["robust"] = _robust(table, settings)
        entry["by"] = _by(trials, table, settings)
        entry["awareness"] = awareness(trials, scores, settings)
        if wins.share.missing:
            excluded["no finite score"] = wins.share.missing
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


def _effects(used: Sequence[Trial], table: dict[str, Array], settings: WinSettings) -> dict[str, Json]:
    """The regression's differences from the control; None for what can't be estimated."""
    found: dict[str, Json] = {"dialect_vs_perturb": None, "mt_vs_perturb": None}
    known = np.isfinite(table["dialect"]) & np.isfinite(table["perturb"])
    if known.sum() < 2:
        return found
    compared = {condition: scores for condition, scores in table.items() if condition != _ITSELF}
    ids = [str(i) for _ in compared for i in range(len(used))]
    conditions = [condition for condition in compared for _ in used]
    fit = mixed_effects(ids, conditions, np.concatenate(list(compared.values())).tolist(), "perturb", settings.level)
    for condition, coefficient in fit.coefficients.items():
        found[f"{condition}_vs_perturb"] = _coefficient(coefficient)
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


def _shown(wins: Wins, settings: WinSettings) -> dict[str, Json]:
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


def awareness(trials: Trials, scores: Scores, settings: WinSettings) -> dict[str, Json] | None:
    """For each dialect the mean score under each tag, and how often the right tag scores higher than the wrong one.

    References are machine translations where there are any, else the text in the other dialect.
    """
    if "tag" not in scores.metric.uses:
        return None
    unseen = unknown_tags(scores.metric, trials.tags)
    if unseen:
        return {"unmeasured": f"{scores.metric.name} never saw the tag {', '.join(unseen)}"}
    found: dict[str, Json] = {}
    texts = {trials.tags[0]: [t.reference for t in trials.used], trials.tags[1]: [t.dialect for t in trials.used]}
    for own, other in (trials.tags, trials.tags[::-1]):
        references = [t.mt or text for t, text in zip(trials.used, texts[other], strict=True)]
        by_tag = {
            tag: np.array(scores.score(
                Segment(text, reference, t.source, tag)
                for text, reference, t in zip(texts[own], references, trials.used, strict=True)
            ))
            for tag in trials.tags
        }  # fmt: skip
        wins = win_rate(by_tag[own], by_tag[other], settings.ties, settings.level, metric=scores.metric.name)
        means = {
            tag: float(np.nanmean(values)) if np.isfinite(values).any() else None for tag, values in by_tag.items()
        }
        found[own] = {"means": means, "right_tag_wins": _shown(wins, settings)}
    return found


def hold_together(found: dict[str, dict[str, dict[str, Json]]]) -> None:
    """Adds Holm's p, each metric's comparisons over all languages taken together."""
    for metric in {name: None for entries in found.values() for name in entries}:
        tests = [
            entry[key]
            for entries in found.values()
            if (entry := entries.get(metric))
            for key in ("success", "success_over_mt")
            if entry.get(key)
        ]
        for test, p in zip(tests, correct([test["p"] for test in tests]), strict=True):
            test["p_holm"] = p
