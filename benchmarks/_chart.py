"""Charts of what was measured, as SVG files for the docs: ratios to peers, and what becomes of speed as inputs grow."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from benchmarks._measure import Row, figure
from unfazed.report.charts import svg

WIDTH, NAMES, RIGHT, LINE, TOP = 820, 330, 70, 22, 34
BETTER, WORSE = "#0072b2", "#b36b00"  # Okabe and Ito's; the side and the number say the same
STYLE = Markup("<style>text{{fill:#222}}.tick{{fill:#555;font-size:11px}}.head{{font-weight:600}}</style>").format()


def ratios_chart(rows: Sequence[tuple[str, Row]]) -> str:
    """A bar for each row with a peer: to the right where ours is better, to the left where it is not."""
    groups: dict[str, list[Row]] = {}
    for benchmark, row in rows:
        if row.ratio:
            groups.setdefault(benchmark, []).append(row)
    ratios = [row.ratio for some in groups.values() for row in some if row.ratio]
    low = math.floor(math.log10(min([*ratios, 0.9])))
    high = math.ceil(math.log10(max([*ratios, 11.0])))
    height = TOP + sum(LINE * (len(some) + 1) + 6 for some in groups.values()) + 6
    parts = [_paper(WIDTH, height), _grid(low, high, height)]
    top = TOP
    for benchmark, some in groups.items():
        parts.append(_text(8, top + 15, benchmark, "head"))
        top += LINE
        for row in some:
            parts.append(_bar(row, low, high, top))
            top += LINE
        top += 6
    told = f"How many times as good as {len(ratios)} others unfazed is, on a logarithmic scale; 1 is as good."
    return str(svg("unfazed beside its peers", told, height, parts, str(WIDTH)))


def _bar(row: Row, low: int, high: int, top: int) -> Markup:
    assert row.ratio is not None
    one, end = _at(0, low, high), _at(math.log10(row.ratio), low, high)
    better = row.ratio >= 1
    name = row.name if len(row.name) <= 48 else row.name[:47] + "…"
    x = max(one, end) + 5
    return (
        _text(NAMES - 8, top + 15, name, "name", "end")
        + Markup('<rect x="{:.1f}" y="{}" width="{:.1f}" height="14" rx="2" fill="{}"/>').format(
            min(one, end), top + 4, max(1.0, abs(end - one)), BETTER if better else WORSE
        )
        + _text(x, top + 15, f"{figure(row.ratio)}×", "tick")
    )


def _at(power: float, low: float, high: float) -> float:
    return NAMES + (WIDTH - NAMES - RIGHT) * (power - low) / (high - low)


def _grid(low: int, high: int, height: int) -> Markup:
    parts = []
    for power in range(low, high + 1):
        x = _at(power, low, high)
        colour = "#666" if power == 0 else "#ddd"
        parts.append(
            Markup('<line x1="{0:.1f}" x2="{0:.1f}" y1="24" y2="{1}" stroke="{2}"/>').format(x, height, colour)
        )
        parts.append(_text(x, 16, f"{10.0**power:,g}×", "tick", "middle"))
    return Markup("").join(parts)


def _paper(width: int, height: int) -> Markup:
    """White, so that it reads on a dark page too."""
    return STYLE + Markup('<rect width="{}" height="{}" fill="#fff"/>').format(width, height)


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> Markup:
    return Markup('<text x="{:.1f}" y="{}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, text)
