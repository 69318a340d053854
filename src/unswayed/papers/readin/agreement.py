"""Where our numbers agree with READIN's, where they differ, and why: in sentences, from a table of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unswayed.base import Estimate, Json
from unswayed.papers.readin.methods import CORRECTION, PLAIN
from unswayed.papers.readin.tables import COLUMNS, OVER_NOISE, TABLES

_WHY = {
    CORRECTION: "our corrector has read the training texts, and we correct the clean texts too",
    "subchar": "ours folds homophones and is small; the paper's is a BERT pretrained on sub-characters",
    "subchar+ada": "copies with homophones are the same text again once homophones are folded, so ours learns nothing "
    "from them; the paper's tokens keep more than the sound",
}
_OTHER = "our system is small and was not pretrained; the paper's is a BERT"


def agreements(name: str, table: Json) -> Iterator[str]:
    """A sentence for each number of the paper that we have too."""
    for family, columns in table["paper"].items():
        for column in TABLES[name]:
            ours = table["ours"].get(family, {}).get(column, {})
            if PLAIN in ours:
                model, printed = next(iter(columns.items()))
                scale = 1.0 if COLUMNS[column][0] == "nmt" else 100.0
                where = f"{column.replace('_', ', ')}, {family}"
                yield from _noise(where, ours[PLAIN], model, printed.get(PLAIN, {}).get(column), scale)
                yield from _gains(where, ours, model, printed, column, scale)


def _noise(where: str, ours: Mapping[str, Estimate], model: str, paper: Json, scale: float) -> Iterator[str]:
    """What noise does to the plain system."""
    clean, average = ours["clean"].value, ours["average"].value
    if paper is None or len(paper) < 2 or clean is None or average is None:
        return
    found, theirs = scale * (average - clean), paper[1] - paper[0]
    yield (
        f"{where}: noise moves the plain system by {found:+.1f} on average, in the paper ({model}) by {theirs:+.1f}: "
        + _verdict(found * theirs > 0, _OTHER)
    )


def _gains(
    where: str, ours: Mapping[str, Json], model: str, printed: Mapping[str, Json], column: str, scale: float
) -> Iterator[str]:
    """What each mitigation adds to the average, and what SubChar adds to noisy copies."""
    for method, cells in ours.items():
        paper = printed.get(method.replace("-index", ""), {}).get(column)
        for key, base in (("gain", PLAIN), (OVER_NOISE, method.partition("+")[2])):
            before = printed.get(base, {}).get(column)
            gain = cells.get(key, {}).get("average", {}).get("difference")
            if not before or not paper or gain is None or gain.value is None or gain.low is None:
                continue
            low, value, high, theirs = scale * gain.low, scale * gain.value, scale * gain.high, paper[1] - before[1]
            same = low <= theirs <= high or value * theirs > 0
            over = "" if base == PLAIN else f" over {base}"
            yield (
                f"{where}, {method}{over}: the average moves by {value:+.1f} [{low:+.1f}, {high:+.1f}], in the paper "
                f"({model}) by {theirs:+.1f}: {_verdict(same, _WHY.get(method, _OTHER))}"
            )


def _verdict(same: bool, why: str) -> str:
    return "agrees in direction." if same else f"differs. A likely reason: {why}."
