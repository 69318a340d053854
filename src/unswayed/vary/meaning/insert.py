"""A control that inserts a word, so that the sentence says something else."""

from __future__ import annotations

from unswayed.vary.meaning import ControlOperator


class Insert(ControlOperator):
    """Inserts a word that changes the meaning, such as *not*, *never*, *almost*, *other* or *former*."""

    ways = ("insert",)
    example = ("my father is the owner of this shop", "my friend's father is the owner of this shop")
