"""Each number that the paper prints, ours beside it: whether they are the same, agree or differ, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from unswayed.base import Json
from unswayed.papers.parte.candidates import by_original
from unswayed.papers.parte.changed import ChangedPredictions, Share
from unswayed.papers.parte.corpora import PredictedPair

PARAPHRASED = "RTE_test_paraphrased.jsonl"
SAME, AGREES, DIFFERS, UNKNOWN = "same", "agrees", "differs", "not measured"
_MEASURES = {
    "accuracy_original": ("Table 2", "accuracy on RTE"),
    "accuracy_paraphrased": ("Table 2", "accuracy on P̂aRTE"),
    "changed": ("Table 2", "changed predictions"),
}
_DIGIT = 0.0101  # of printed per cents, which are rounded or cut off


class PaperNumber(msgspec.Struct, frozen=True):
    """A number of the paper and ours. Shares are in per cent."""

    where: str
    what: str
    paper: float
    ours: float | None
    low: float | None
    high: float | None
    verdict: str
    why: str


def of_model(found: ChangedPredictions, printed: Mapping[str, Json], why: str, published: bool) -> list[PaperNumber]:
    """A model's numbers. `published` are recounts of the paper's own predictions; others stand beside its model."""
    rows = []
    if "mnli" in printed:
        rows.append(PaperNumber("Table 2", "accuracy on MNLI", printed["mnli"], None, None, None, UNKNOWN,
                              "neither MNLI nor predictions on it are in the published files"))  # fmt: skip
    for measure, (where, what) in _MEASURES.items():
        rows.append(_row(where, what, printed[measure], getattr(found, measure), why, published))
    sides = found.by.get("side", {})
    if "more_for_both" in printed and "both" in sides:
        rows.append(_more(found.changed, sides["both"], printed["more_for_both"], why, published))
    right = found.by.get("original_correct", {})
    for key, name in (("changed_where_right", "true"), ("changed_where_wrong", "false")):
        if key in printed and name in right:
            what = f"changed predictions, {'right' if name == 'true' else 'wrong'} on the original"
            rows.append(_row("Figure 4", what, printed[key], right[name], why, published))
    return rows


def _row(where: str, what: str, printed: float, share: Share, why: str, published: bool) -> PaperNumber:
    value, low, high = (None if end is None else 100 * end for end in (share.value, share.low, share.high))
    if published and value is not None:
        theirs, ours = round(printed * share.n / 100), round(value * share.n / 100)
        why = f"{theirs} of {share.n:,} pairs in the paper, {ours} in the published predictions, which are other ones"
    verdict = _verdict(printed, value, low, high, published)
    return PaperNumber(where, what, printed, value, low, high, verdict, _said(verdict, why))


def _more(all_: Share, both: Share, printed: float, why: str, published: bool) -> PaperNumber:
    """The interval is that of the pairs with both texts paraphrased, which are the few: a little too wide."""
    where, what = "Figure 2", "points more if both texts are paraphrased"
    if all_.value is None or both.value is None:
        return PaperNumber(where, what, printed, None, None, None, UNKNOWN, "there are no such pairs")
    value = 100 * (both.value - all_.value)
    low = None if both.low is None else value - 100 * (both.value - both.low)
    high = None if both.high is None else value + 100 * (both.high - both.value)
    verdict = _verdict(printed, value, low, high, published)
    if published:
        why = f"{both.n} pairs, so one prediction moves it by {100 / both.n:.1f} points"
    return PaperNumber(where, what, printed, value, low, high, verdict, _said(verdict, why))


def _verdict(printed: float, value: float | None, low: float | None, high: float | None, published: bool) -> str:
    """The paper's own predictions give its number or don't; a model of ours agrees if its interval has the number."""
    if value is None:
        return UNKNOWN
    if published:
        return SAME if abs(value - printed) < _DIGIT else DIFFERS
    return AGREES if low is not None and high is not None and low <= printed <= high else DIFFERS


def _said(verdict: str, why: str) -> str:
    """The reason goes with what differs; a model of ours that agrees is another model all the same."""
    if verdict == SAME:
        return "to the last printed digit"
    return f"inside our interval, although {why}" if verdict == AGREES else why


def of_set(rows: list[PredictedPair], folder: Path, printed: Mapping[str, int]) -> Iterator[PaperNumber]:
    """The sizes of the published set, and of the file of paraphrases that it was chosen from, if that is there."""
    sides = {side: sum(row.side == side for row in rows) for side in ("premise", "hypothesis", "both")}
    yield _count("pairs", printed["pairs"], len(rows))
    for side, count in sides.items():
        yield _count(f"pairs, {side} paraphrased", printed[side], count)
    file = folder / PARAPHRASED
    if file.is_file():
        yield from _of_candidates(file, len(rows), printed)
    absent = "the paraphraser's sentences before people judged them are not published"
    for key, what in (
        ("generated", "sentences generated"),
        ("overlap_premise", "premises with an overlap of at most 0.75"),
        ("overlap_hypothesis", "hypotheses with an overlap of at most 0.75"),
    ):
        yield PaperNumber("Section 3", what, printed[key], None, None, None, UNKNOWN, absent)


def _of_candidates(file: Path, kept: int, printed: Mapping[str, int]) -> Iterator[PaperNumber]:
    made = [(original, [pair for _, pair in pairs]) for original, pairs in by_original(file) if pairs]
    texts = {
        side: sum(len({p.inputs[side] for p in pairs if p.side in (side, "both")}) for _, pairs in made)
        for side in ("premise", "hypothesis")
    }
    for side, count in texts.items():
        yield _count(f"good paraphrases, {side}", printed[f"good_{side}"], count, "the paper's number looks rounded")
    yield _count("pairs of RTE with a good paraphrase", printed["originals"], len(made))
    built = sum(len({pair.side for pair in pairs}) for _, pairs in made)
    yield _count("pairs built of them", printed["built"], built)
    yield _count("pairs excluded, as the label no longer holds", printed["excluded"], built - kept)


def _count(what: str, printed: int, ours: int, why: str = "the published files have another number") -> PaperNumber:
    same = printed == ours
    return PaperNumber(
        "Section 3", what, printed, ours, None, None, SAME if same else DIFFERS, "counted" if same else why
    )
