"""Win rates: how often one score beats another, tested against a coin by the exact binomial, one-tailed."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from unfazed.core.errors import UsageError
from unfazed.core.estimate import Array, Estimate, binomial_tail, digest, share_of, sign

Ties = Literal["loss", "half", "drop"]
TIES: tuple[Ties, ...] = ("loss", "half", "drop")
VERSION = 1  # of this definition; part of every signature


class Wins(msgspec.Struct, frozen=True):
    """Wins, ties and losses, the share of wins with its interval, and the chance of as many by a coin."""

    share: Estimate
    wins: int
    ties: int
    losses: int
    p: float | None


def win_rate(better: Array, worse: Array, ties: Ties = "loss", level: float = 0.95, **decided: object) -> Wins:
    """How often `better` is above `worse`; where either is not finite, the pair is missing.

    `decided` adds to the signature what made the scores.

    A tie is a loss, as where robustness asks for a strictly higher score; or half a win; or dropped.
    """
    if ties not in TIES:
        raise UsageError(f"Ties are a loss, half or dropped (drop), not {ties!r}.")
    known = np.isfinite(better) & np.isfinite(worse)
    gap = better[known] - worse[known]
    won, tied = int((gap > 0).sum()), int((gap == 0).sum())
    lost = len(gap) - won - tied
    n = len(gap) - tied if ties == "drop" else len(gap)
    counted = won + tied / 2 if ties == "half" else float(won)
    fields = {"measure": f"wins:{VERSION}", "ties": ties, "level": level, "scores": digest(better, worse), **decided}
    share = share_of(counted, n, int((~known).sum()), sign(fields), level)
    p = binomial_tail(int(counted), n) if n else None  # half a win is rounded down: the safe side
    return Wins(share, won, tied, lost, p)
