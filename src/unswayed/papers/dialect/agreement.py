"""Agreement of metrics with people: daRR where several systems translated a segment, Kendall where one did.

Beside it, pairwise accuracy with ties (Deutsch, Foster and Freitag, 2023), which WMT uses since 2023.
"""

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
        several = _several(rows)
        found[pair] = _relative(rows, given, to, level) if several else _tau(rows, given, level)
        judged = np.array([not row.system.upper().startswith("HUMAN") for row in rows]) & np.isfinite(given)
        people = np.array([row.score for row in rows])[judged]
        names = {name: i for i, name in enumerate(dict.fromkeys(row.segment for row in rows))}
        groups = np.array([names[row.segment] if several else 0 for row in rows])[judged]
        found[pair]["pairwise"] = pairwise_accuracy(given[judged], people, groups, level)
    return found


def pairwise_accuracy(given: Array, people: Array, groups: npt.NDArray[np.int64], level: float = 0.95) -> Json:
    """The share of pairs within a group that metric and people order alike, or both call a tie.

    Metric scores that differ by at most `epsilon` are a tie; it is the number that makes the share largest. With one
    group, each translation's own share gives the interval; with several, each group's.
    """
    first, second = _pairs_within(groups)
    whole: dict[str, Json] = {"value": None, "low": None, "high": None, "epsilon": None, "n": len(first)}
    if not len(first):
        return whole
    apart = np.abs(given[first] - given[second])
    ordered = np.sign(given[first] - given[second]) * np.sign(people[first] - people[second]) > 0
    tied = people[first] == people[second]
    order = np.argsort(apart, kind="stable")
    # with the k closest pairs called ties: those of them that people tied, and those of the others in people's order
    right = np.append(0, np.cumsum(tied[order])) + ordered.sum() - np.append(0, np.cumsum(ordered[order]))
    gaps = apart[order]
    possible = np.append(True, np.append(gaps[1:] > gaps[:-1], True))  # a tie ends where the next gap is larger
    possible[0] = gaps[0] > 0  # equal scores are always a tie
    k = int(np.flatnonzero(possible)[np.argmax(right[possible])])
    agreed = np.where(apart <= gaps[k - 1], tied, ordered) if k else ordered
    several = groups.max() > groups.min()
    units = groups[first] if several else np.concatenate([first, second])
    parts = agreed if several else np.concatenate([agreed, agreed])
    count = np.bincount(units).astype(float)
    sums = np.bincount(units, weights=parts)[count > 0]
    count = count[count > 0]
    value, n = float(agreed.mean()), len(count)
    # a pair belongs to two translations, so the share of one of them says half of what it seems to
    spread = float(np.std(sums - value * count, ddof=1) / count.mean()) * (1 if several else 2) if n > 1 else math.inf
    wide = t_quantile(0.5 + level / 2, n - 1) * spread / math.sqrt(n) if n > 1 else 1.0
    epsilon = float(gaps[k - 1]) if k else 0.0
    return whole | {"value": value, "low": max(0.0, value - wide), "high": min(1.0, value + wide), "epsilon": epsilon}


_MOST_PAIRS = 4_000_000


def _pairs_within(groups: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Every two places of one group; of a huge group each place with the next ones around a circle, as many as fit."""
    firsts, seconds = [], []
    by_group = np.argsort(groups, kind="stable")
    for places in np.split(by_group, np.flatnonzero(np.diff(groups[by_group])) + 1):
        n = len(places)
        if n * (n - 1) // 2 <= _MOST_PAIRS:
            a, b = np.triu_indices(n, 1)
        else:
            places = np.random.default_rng(0).permutation(places)
            steps = np.arange(1, _MOST_PAIRS // n + 1)
            a = np.repeat(np.arange(n), len(steps))
            b = (a + np.tile(steps, n)) % n
        firsts.append(places[a])
        seconds.append(places[b])
    return np.concatenate(firsts), np.concatenate(seconds)


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
