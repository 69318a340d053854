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
    """Three criteria side by side. References are machine translations where there are any, else the other dialect.

    `by_tag`, ours: for each tag, how often the text in its dialect scores higher under it. A metric is `aware` if that
    holds under both tags, each more often than by chance: one that always prefers one dialect, or one tag, is not.
    `defined` is Definition 2.3 to the letter: under a tag, its dialect scores at least as high in every pair.
    `by_text` is what the paper's Tables 5 and 15 test: does a text score higher under its own tag than under the other,
    in the mean (`checked`), and in how many texts (`share`)? `means` are by candidate and tag.
    """
    if "tag" not in scores.metric.uses:
        return None
    unseen = unknown_tags(scores.metric, trials.tags)
    if unseen:
        return {"unmeasured": f"{scores.metric.name} never saw the tag {', '.join(unseen)}"}
    table = {(text, tag): _scored(trials, scores, text, tag) for text in trials.tags for tag in trials.tags}
    means = {text: {tag: _mean(table[text, tag]) for tag in trials.tags} for text in trials.tags}
    by_tag: dict[str, Json] = {}
    defined: dict[str, Json] = {}
    by_text: dict[str, Json] = {}
    for tag, other in (trials.tags, trials.tags[::-1]):
        wins = win_rate(table[tag, tag], table[other, tag], settings.ties, settings.level, metric=scores.metric.name)
        by_tag[tag] = shown_wins(wins, settings)
        both = np.isfinite(table[tag, tag]) & np.isfinite(table[other, tag])
        held = table[tag, tag][both] >= table[other, tag][both]
        defined[tag] = {"value": float(held.mean()) if len(held) else None, "n": len(held)}
        own = win_rate(table[tag, tag], table[tag, other], settings.ties, settings.level, metric=scores.metric.name)
        right, wrong = means[tag][tag], means[tag][other]
        checked = right is not None and wrong is not None and right > wrong
        by_text[tag] = {"share": shown_wins(own, settings), "checked": checked}
    sure = [one["p_bonferroni"] is not None and one["p_bonferroni"] < 1 - settings.level for one in by_tag.values()]
    return {
        "by_tag": by_tag, "aware": all(sure), "defined": defined, "by_text": by_text, "means": means,
        "aware_to_the_letter": all(one["value"] == 1.0 for one in defined.values()),
        "aware_in_the_papers_test": all(one["checked"] for one in by_text.values()),
        "perturb": _control(trials, scores),
    }  # fmt: skip


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
