"""What a suite is made of: the share of each operator among its variants, resampled by example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unfazed.core import VERSION as PACKAGE_VERSION
from unfazed.core import Estimate, Suite
from unfazed.measure import Column, Question, Ratio, Settings, estimates

VERSION = 1  # of this definition; part of every signature


def shares(suite: Suite, sources: Sequence[str], settings: Settings | None = None) -> dict[str, Estimate]:
    """For each of the sources the share of all variants that are its own."""
    settings = settings or Settings()
    made = [[variant.source for variant in variants] for _, variants in suite.groups()]
    made = [names for names in made if names]
    missing = np.zeros(len(made), dtype=np.int64)
    decided = f"suite={suite.signed}|level={settings.level}|bootstrap={settings.bootstrap}|seed={settings.seed}"
    asked = []
    for source in sources:
        rows = np.array([[names.count(source), len(names)] for names in made], dtype=float).reshape(-1, 2)
        column = Column(np.arange(len(made)), rows, Ratio(), missing)
        signature = f"measure=share:{VERSION}|set=operator={source}|{decided}|unfazed={PACKAGE_VERSION}"
        asked.append(Question(column, signature))
    return dict(zip(sources, estimates(asked, settings), strict=True))
