"""The unweighted mean of the same measure over several data sets, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from unfazed.core import Estimate, content_id

VERSION = 1  # of this definition; part of every signature


def mean_of(found: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates. One that could not be measured leaves it without a value.

    The interval recovers each estimate's variance from its own limits, on either side by itself (MOVER; Zou and
    Donner, 2008), so that it needs no symmetry and no new draws.
    """
    k, n, missing = len(found), sum(e.n for e in found), sum(e.missing for e in found)
    signature = f"measure=mean:{VERSION}|of={content_id([e.signature for e in found])}"
    values = [e.value for e in found if e.value is not None]
    if not k or len(values) < k:
        return Estimate(None, None, None, n, missing, signature)
    below = [e.value - e.low for e in found if e.value is not None and e.low is not None]
    above = [e.high - e.value for e in found if e.value is not None and e.high is not None]
    mean = sum(values) / k
    low = mean - sqrt(sum(d * d for d in below)) / k if len(below) == k else None
    high = mean + sqrt(sum(d * d for d in above)) / k if len(above) == k else None
    return Estimate(mean, low, high, n, missing, signature)
