"""What a suite is made of: the share of each operator among its variants, resampled by example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unfazed.core import Estimate, Suite
from unfazed.core.estimate import Observations, Question, Ratio, Resampling, estimates, sign

VERSION = 1  # of this definition; part of every signature


def shares(suite: Suite, sources: Sequence[str], settings: Resampling | None = None) -> dict[str, Estimate]:
    """For each of the sources the share of all variants that are its own."""
    settings = settings or Resampling()
    made = [[variant.source for variant in variants] for _, variants in suite.groups()]
    made = [names for names in made if names]
    missing = np.zeros(len(made), dtype=np.int64)
    asked = []
    for source in sources:
        rows = np.array([[names.count(source), len(names)] for names in made], dtype=float).reshape(-1, 2)
        column = Observations(np.arange(len(made)), rows, Ratio(), missing)
        signed = {"measure": f"share:{VERSION}", "set": f"operator={source}", "suite": suite.signed}
        asked.append(Question(column, sign(signed, settings)))
    return dict(zip(sources, estimates(asked, settings), strict=True))
