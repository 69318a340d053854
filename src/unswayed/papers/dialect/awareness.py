"""Dialect awareness: given a tag, does a metric score the text in that dialect above the same in the other dialect?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unswayed.base import Json
from unswayed.measure import win_rate
from unswayed.papers.dialect.material import Trials
from unswayed.papers.dialect.tables import WinSettings, shown_wins, unknown_tags
from unswayed.systems import Scores, Segment

Array = npt.NDArray[np.float64]


def awareness(trials: Trials, scores: Scores, settings: WinSettings) -> dict[str, Json] | None:
    """Definition 2.3 of the paper: for each tag, how often the text in its dialect scores higher under it.

    A metric is aware if that holds under both tags, each more often than by chance. A metric that always prefers one
    dialect, or one tag, is not. `means` are the paper's form: by candidate and tag. References are machine
    translations where there are any, else the text in the other dialect.
    """
    if "tag" not in scores.metric.uses:
        return None
    unseen = unknown_tags(scores.metric, trials.tags)
    if unseen:
        return {"unmeasured": f"{scores.metric.name} never saw the tag {', '.join(unseen)}"}
    table = {(text, tag): _scored(trials, scores, text, tag) for text in trials.tags for tag in trials.tags}
    by_tag: dict[str, Json] = {}
    for tag, other in (trials.tags, trials.tags[::-1]):
        wins = win_rate(table[tag, tag], table[other, tag], settings.ties, settings.level, metric=scores.metric.name)
        by_tag[tag] = shown_wins(wins, settings)
    means = {text: {tag: _mean(table[text, tag]) for tag in trials.tags} for text in trials.tags}
    sure = [one["p_bonferroni"] is not None and one["p_bonferroni"] < 1 - settings.level for one in by_tag.values()]
    return {"by_tag": by_tag, "means": means, "aware": all(sure), "perturb": _control(trials, scores)}


def _scored(trials: Trials, scores: Scores, text: str, tag: str) -> Array:
    """The scores of the texts in one dialect under one tag."""
    base = text == trials.tags[0]
    return np.array(scores.score(
        Segment(t.reference if base else t.dialect, t.mt or (t.dialect if base else t.reference), t.source, tag)
        for t in trials.used
    ))  # fmt: skip


def _control(trials: Trials, scores: Scores) -> Json:
    """The mean of controls under the language's tag, which the paper prints beside the others."""
    found = scores.score(Segment(t.perturbed, t.mt or t.reference, t.source, trials.language) for t in trials.used)
    return _mean(np.array(found))


def _mean(values: Array) -> float | None:
    return float(np.nanmean(values)) if np.isfinite(values).any() else None
