"""Where the keys of a keyboard are, by their ISO 9995 positions (D03 is the third key of the upper row of letters), and
which finger of which hand is taught to press them."""

from __future__ import annotations

from math import hypot

SPACE = "A03"
_ROWS = {"E": 0, "D": 1, "C": 2, "B": 3, "A": 4}  # from the digits down
_SET_IN = (0.0, 0.5, 0.75, 1.25, 3.5)  # how far each row is set in, in keys
_SPACE_REACH = 3.0  # half of the space bar's width
_FINGERS = ("little", "ring", "middle", "index", "index", "index", "index", "middle", "ring", "little")


def row(key: str) -> int:
    """0 is the row of the digits, 3 the lowest with letters, 4 that of the space bar."""
    return _ROWS[key[0]]


def position(key: str) -> tuple[float, int]:
    """The middle of a key, in keys from the left and rows from the top."""
    return int(key[1:]) + _SET_IN[row(key)], row(key)


def distance(a: str, b: str) -> float:
    """How far two keys are apart; the space bar is as near as its nearest part."""
    (x, y), (x2, y2) = position(a), position(b)
    across = abs(x - x2)
    return hypot(max(0.0, across - _SPACE_REACH) if SPACE in (a, b) else across, y - y2)


def hand(key: str) -> str:
    """`left` or `right`, as taught for touch typing; the space bar is for `either` thumb."""
    return "either" if key == SPACE else "left" if int(key[1:]) <= 5 else "right"


def finger(key: str) -> str:
    """`little`, `ring`, `middle`, `index` or `thumb`."""
    return "thumb" if key == SPACE else _FINGERS[min(max(int(key[1:]), 1), 10) - 1]


def beside(a: str, b: str) -> bool:
    """Do two keys touch, or nearly?"""
    (x, y), (x2, y2) = position(a), position(b)
    reach = 1 + _SPACE_REACH if SPACE in (a, b) else 1
    return a != b and abs(x - x2) <= reach and abs(y - y2) <= 1
