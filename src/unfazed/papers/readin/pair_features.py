"""Two texts as hashed features: what they share, what only one has, and what stands in one for what in the other."""

from __future__ import annotations

from collections.abc import Iterable

from unfazed.systems.baselines import hashed

_LETTERS = 200  # as much of a text as is compared
_CROSSED = 64  # pieces of one side that are paired with pieces of the other
_STEPS = 10


def pair_features(a: str, b: str) -> list[int]:
    """The same for (a, b) and (b, a), with spaces at the ends and capitals left out of account."""
    a, b = (" ".join(text.lower().split())[:_LETTERS] for text in (a, b))
    found = ["always", f"lengths {min(abs(len(a) - len(b)), 10)}"]
    for n in (1, 2, 3):
        here, there = _pieces(a, n), _pieces(b, n)
        shared = here & there
        found += [f"= {piece}" for piece in sorted(shared)]
        found += [f"- {piece}" for piece in sorted(here ^ there)]
        for name, most in (("of all", len(here | there)), ("of the shorter", min(len(here), len(there)))):
            found.append(f"{n} {name} {_STEPS * len(shared) // max(most, 1)}")
    return [hashed(feature) for feature in [*found, *_instead(a, b)]]


def _instead(a: str, b: str) -> Iterable[str]:
    """Each piece that only one side has beside each that only the other has: 啥时候 for 什么时候."""
    here, there = _pieces(a, 1) | _pieces(a, 2), _pieces(b, 1) | _pieces(b, 2)
    left, right = sorted(here - there)[:_CROSSED], sorted(there - here)[:_CROSSED]
    return (f"{min(x, y)} / {max(x, y)}" for x in left for y in right)


def _pieces(text: str, n: int) -> set[str]:
    """Letters n at a time; pairs and longer also with the marks of beginning and end."""
    text = text if n == 1 else f"<{text}>"
    return {text[i : i + n] for i in range(len(text) - n + 1)}
