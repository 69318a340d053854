"""A control that replaces a word or phrase, so that the sentence says something else."""

from __future__ import annotations

from unswayed.vary.meaning import ControlOperator


class Replace(ControlOperator):
    """Replaces a word or phrase so that the meaning changes: opposites, numbers, dates, names, quantities."""

    ways = ("replace",)
    example = ("we have two tailors who can make them for us", "we have ten tailors who can make them for us")
