"""One control a sentence: replaced if it can be, else inserted into, else shortened."""

from __future__ import annotations

from unfazed.vary.meaning._control import ControlOperator


class Control(ControlOperator):
    """Changes the meaning by the first of replace, insert and delete that is possible."""

    ways = ("replace", "insert", "delete")
    example = ("I think she is a teacher.", "I think she is a farmer.")
