"""Side by side: how often, how long and of what kind the slips of people and of a simulation are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from unfazed.measure.error_rate import distances
from unfazed.vary.chinese import KINDS, Slip, slips

_LENGTHS = ("1→1", "2→2", "0→1", "1→0", "3→3", "1→2", "2→3", "0→2")


def looks(clean: Sequence[str], noisy: Sequence[str]) -> dict[str, float]:
    """Rates per hundred characters, and shares, of what differs between aligned texts."""
    found = [(text, slip) for text, other in zip(clean, noisy, strict=True) for slip in slips(text, other)]
    size = sum(map(len, clean)) / 100
    kinds = Counter(slip.kind for _, slip in found)
    lengths = Counter(f"{slip.end - slip.start}→{len(slip.new)}" for _, slip in found)
    words = sum(kinds[kind] for kind in ("select_full", "select_abbr", "input_full", "input_abbr"))
    return {
        "error_rate": error_rate(clean, noisy),
        "unchanged": sum(a == b for a, b in zip(clean, noisy, strict=True)) / len(clean),
        **{f"kind.{kind}": kinds[kind] / size for kind in KINDS},
        **{f"length.{length}": lengths[length] / size for length in _LENGTHS},
        "same_sound": kinds["select_full"] / words if words else 0.0,
        **_table([slip for _, slip in found]),
    }


def _table(found: list[Slip]) -> dict[str, float]:
    """READIN's Table 10, inferred from the texts: typed out or abbreviated, wrong keys or wrong choice."""
    kinds = Counter(slip.kind for slip in found)
    cells = {
        "full.wrong_input": kinds["input_full"] + kinds["letters"],
        "full.wrong_selection": kinds["select_full"],
        "abbr.wrong_input": kinds["input_abbr"],
        "abbr.wrong_selection": kinds["select_abbr"],
    }
    total = sum(cells.values())
    return {name: count / total if total else 0.0 for name, count in cells.items()}


def error_rate(clean: Sequence[str], noisy: Sequence[str]) -> float:
    """Mean over texts of the characters to change, by Levenshtein, over the length of the clean text."""
    sizes = np.array([max(1, len(text)) for text in clean])
    return float((distances(clean, noisy) / sizes).mean())
