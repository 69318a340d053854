"""A control that leaves a word out, so that the sentence says something else."""

from __future__ import annotations

from unswayed.vary.meaning import ControlOperator


class Delete(ControlOperator):
    """Leaves a word or phrase out so that the meaning changes: *not*, *first*, *in 1998*, one of two things."""

    ways = ("delete",)
    example = ("he didn't give it to me", "he did give it to me")
