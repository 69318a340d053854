"""Charts of what was measured, as SVG files for the docs: ratios to peers, and what becomes of speed as inputs grow."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from benchmarks._measure import Row, figure
from unswayed.report.charts import svg

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
    told = f"How many times as good as {len(ratios)} others unswayed is, on a logarithmic scale; 1 is as good."
    return str(svg("unswayed beside its peers", told, height, parts, str(WIDTH)))


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


MARKS = ("#0072b2", "#b36b00", "#5a3d8a", "#2e6b3a", "#a3243b", "#444444")
PANEL, LEFT, LABELS = 210, 60, 230
Lines = dict[str, dict[int, float]]  # by name: a ratio for each size


def growth_chart(panels: Mapping[str, Sequence[Row]]) -> str:
    """For each panel, figures of rows named `NAME SIZE`, divided by those of the smallest size: a line a name."""
    drawn = {title: lines for title, rows in panels.items() if (lines := growth(rows))}
    parts = [_paper(WIDTH, PANEL * len(drawn))]
    for i, (title, lines) in enumerate(drawn.items()):
        parts.append(Markup('<g transform="translate(0 {})">{}</g>').format(PANEL * i, _panel(title, lines)))
    told = f"{'; '.join(drawn)}: as multiples of what was measured for the smallest input."
    return str(svg("What becomes of speed and memory as inputs grow", told, PANEL * len(drawn), parts, str(WIDTH)))


def growth(rows: Sequence[Row]) -> Lines:
    found: Lines = {}
    for row in rows:
        if (named := re.fullmatch(r"(.+) (\d+)", row.name)) and row.ours:
            found.setdefault(named[1], {})[int(named[2])] = row.ours
    return {name: {n: v / of[min(of)] for n, v in sorted(of.items())} for name, of in found.items() if len(of) > 1}


def _panel(title: str, lines: Lines) -> Markup:
    sizes = sorted({size for of in lines.values() for size in of})
    highest = max([1.25, *(value for of in lines.values() for value in of.values())])
    bottom, height = PANEL - 34, PANEL - 74

    def x(size: int) -> float:
        share = (math.log10(size) - math.log10(sizes[0])) / (math.log10(sizes[-1]) - math.log10(sizes[0]))
        return LEFT + (WIDTH - LEFT - LABELS) * share

    def y(value: float) -> float:
        return bottom - height * value / highest

    parts = [_text(8, 18, title, "head")]
    for value in (0, 1, *([round(highest)] if highest >= 1.5 else [])):
        line = Markup('<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" stroke="#ddd"/>')
        parts.append(line.format(LEFT, WIDTH - LABELS, y(value), y(value)))
        parts.append(_text(LEFT - 8, y(value) + 4, f"{value}×", "tick", "end"))
    parts += [_text(x(size), bottom + 18, f"{size:,}", "tick", "middle") for size in sizes]
    ends = _apart([y(list(of.values())[-1]) for of in lines.values()])
    for (name, of), colour, end in zip(lines.items(), MARKS, ends, strict=False):
        points = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in of.items())
        parts.append(Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>').format(points, colour))
        size, value = list(of.items())[-1]
        label = Markup('<text x="{:.1f}" y="{:.1f}" style="fill:{}">{}</text>')
        parts.append(label.format(x(size) + 8, end + 4, colour, f"{name.strip('`')} {figure(value)}×"))
    return Markup("").join(parts)


def _apart(heights: Sequence[float], least: float = 16) -> list[float]:
    """Where labels go so that none covers another."""
    placed: dict[int, float] = {}
    last = -math.inf
    for i in sorted(range(len(heights)), key=lambda i: heights[i]):
        last = placed[i] = max(heights[i], last + least)
    return [placed[i] for i in range(len(heights))]
