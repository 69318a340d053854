"""Agreement of metrics with people: daRR where several systems translated a segment, Kendall where one did."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base import DataError, Json, UsageError, content_id
from unswayed.data import read_lines
from unswayed.measure import darr
from unswayed.stats import Resampling, t_quantile
from unswayed.storage import read_json_lines, write_atomically
from unswayed.systems import Scores, Segment

Array = npt.NDArray[np.float64]
_MLQE = "train.enzh.df.short.tsv"
_GAP = re.compile(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])")  # between tokens of Chinese
_FAR = 25.0  # points between two ratings that daRR compares


class Rated(msgspec.Struct, frozen=True):
    """A translation by a system, and people's rating of it from 0 to 100. `pair` is such as `en-zh`."""

    pair: str
    system: str
    segment: str
    candidate: str
    score: float
    reference: str | None = None
    source: str | None = None


def read_rated(path: Path) -> list[Rated]:
    """MLQE-PE's folder, or JSON lines of pair, system, segment, candidate, score, reference and source."""
    if (path / _MLQE).is_file():
        return list(_mlqe(path))
    if path.is_dir():
        raise UsageError(f"{path} is not MLQE-PE's folder: it has no {_MLQE}. Name a file of JSON lines instead.")
    found = [row for _, row in read_json_lines(path, Rated)]
    if not found:
        raise DataError("there is no rating.", path)
    return found


def _mlqe(folder: Path) -> Iterator[Rated]:
    """MLQE-PE from English to Chinese: one system; the post-edit of its translation is the reference."""
    file = folder / _MLQE
    try:
        rows = list(csv.DictReader(read_lines(file), delimiter="\t", quoting=csv.QUOTE_NONE))
    except csv.Error as error:
        raise DataError(f"a row can't be read ({error}).", file) from error
    edited = [_GAP.sub("", line.strip()) for line in read_lines(folder / "train.pe")]
    if len(edited) != len(rows):
        raise DataError(f"this file has {len(rows)} ratings, but train.pe has {len(edited)} lines.", file)
    for row, reference in zip(rows, edited, strict=True):
        candidate = _GAP.sub("", row["translation"].strip())
        yield Rated("en-zh", "mt", row["index"], candidate, float(row["mean"]), reference, row["original"])


def agreement(rated: Sequence[Rated], scores: Scores, to: Path, level: float = 0.95) -> dict[str, Json]:
    """By language pair: daRR or Kendall's tau-b of the metric with people, with its interval."""
    found: dict[str, Json] = {}
    for pair in dict.fromkeys(row.pair for row in rated):
        rows = [row for row in rated if row.pair == pair]
        lacking = next((u for u in ("reference", "source") if u in scores.metric.uses and not _have(rows, u)), None)
        if lacking:
            found[pair] = {"unmeasured": f"the ratings of {pair} have no {lacking}"}
            continue
        scores.learn([row.reference or "" for row in rows])
        tag = pair.rpartition("-")[2]
        given = np.array(scores.score(Segment(row.candidate, row.reference, row.source, tag) for row in rows))
        found[pair] = _relative(rows, given, to, level) if _several(rows) else _tau(rows, given, level)
    return found


def _have(rows: Sequence[Rated], name: str) -> bool:
    return all(getattr(row, name) for row in rows)


def _several(rows: Sequence[Rated]) -> bool:
    """Did two systems translate a segment, rated so far apart that daRR compares them?"""
    by_segment: dict[str, list[float]] = {}
    for row in rows:
        by_segment.setdefault(row.segment, []).append(row.score)
    return any(abs(a - b) >= _FAR for group in by_segment.values() for a, b in combinations(group, 2))


def _relative(rows: Sequence[Rated], given: Array, to: Path, level: float) -> dict[str, Json]:
    """daRR by the files that `unswayed measure darr` reads; they stay beside the study.

    Systems and segments have numbers there, so that no name can be a formula to a spreadsheet.
    """
    name = content_id([msgspec.to_builtins(rows), given.tolist()], 8)
    human, metric = (to / "ratings" / f"{name}.{side}.csv" for side in ("human", "metric"))
    numbers = {
        name: i for i, name in enumerate(dict.fromkeys(name for row in rows for name in (row.system, row.segment)))
    }
    people = [row.score for row in rows]
    for file, head, values in ((human, "RAW.SCR", people), (metric, "SCORE", given.tolist())):
        lines = [
            f"{numbers[row.system]},{numbers[row.segment]},{value}"
            for row, value in zip(rows, values, strict=True)
            if not row.system.upper().startswith("HUMAN")  # people's translations are not judged
        ]
        write_atomically(file, "\n".join([f"SYS,SID,{head}", *lines, ""]).encode())
    found = darr(human, metric, Resampling(level=level))
    return {"measure": "daRR", "value": found.tau, "low": found.low, "high": found.high, "n": found.pairs}


def _tau(rows: Sequence[Rated], given: Array, level: float) -> dict[str, Json]:
    """Kendall's tau-b over segments; its interval by the variance of each segment's share of concordant pairs."""
    known = np.isfinite(given)
    x, y = given[known], np.array([row.score for row in rows])[known]
    n = len(x)
    whole: dict[str, Json] = {"measure": "Kendall", "value": None, "low": None, "high": None, "n": n}
    if n < 3:
        return whole
    own, tied_x, tied_y = (np.zeros(n) for _ in range(3))
    for at in range(0, n, 500):
        dx, dy = (np.sign(v[at : at + 500, None] - v[None, :]) for v in (x, y))
        own[at : at + 500] = (dx * dy).sum(axis=1)
        tied_x[at : at + 500] = (dx == 0).sum(axis=1) - 1
        tied_y[at : at + 500] = (dy == 0).sum(axis=1) - 1
    room = math.sqrt((n - 1 - tied_x.mean()) * (n - 1 - tied_y.mean()))
    if not room:
        return whole
    value = float(own.mean() / room)
    wide = t_quantile(0.5 + level / 2, n - 1) * 2 * float(own.std(ddof=1)) / room / math.sqrt(n)
    return whole | {"value": value, "low": max(-1.0, value - wide), "high": min(1.0, value + wide)}
