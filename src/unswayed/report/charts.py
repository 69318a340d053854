"""Charts as small SVG texts. Each has a title and a description, and says by shape or number what it says by colour.

Widths are in per cent and heights in pixels, so that a chart fills any screen and its letters stay legible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from unswayed.base.text import label, number, typeset
from unswayed.base.values import Estimate

Shapes = Mapping[str, Estimate]

# Okabe and Ito's colours, which people with any colour vision tell apart; the shapes tell the same.
SERIES = {
    "clean": ("#0072b2", Markup('<circle r="5"/>')),
    "average": ("#b36b00", Markup('<rect x="-4.5" y="-4.5" width="9" height="9"/>')),
    "worst": ("#c04a00", Markup('<path d="M0-6.5 6.5 0 0 6.5-6.5 0Z"/>')),
}
_LANE = {"clean": -11, "average": 0, "worst": 11}
_ROW, _LINE = 72, 44  # pixels from one row of a plot to the next
_TOP = 26
_EDGE = 5.0  # per cent left free at both sides, so that marks and end labels are whole


def forest(rows: Sequence[tuple[str, Shapes]], title: str, unit: str) -> Markup:
    """Intervals of clean, average and worst, a row a name."""
    values = [v for _, shapes in rows for e in shapes.values() for v in (e.low, e.value, e.high) if v is not None]
    ticks = axis(min(values, default=0.0), max(values, default=1.0))
    height = _TOP + _ROW * len(rows) + 4
    parts = [_grid(ticks, height)]
    for i, (name, shapes) in enumerate(rows):
        parts.append(_forest_row(name, shapes, ticks, _TOP + i * _ROW))
    told = f"{unit} on clean inputs, on average and at worst, with intervals, for {len(rows)} rows."
    return svg(title, told, height, parts)


def _forest_row(name: str, shapes: Shapes, ticks: Sequence[float], top: int) -> Markup:
    row = _rule(top) + _text(0, top + 18, label(name), "name")
    for kind, (colour, shape) in SERIES.items():
        estimate = shapes.get(kind)
        if estimate is None or estimate.value is None:
            continue
        y = top + 44 + _LANE[kind]
        if estimate.low is not None and estimate.high is not None:
            line = Markup('<line x1="{}%" x2="{}%" y1="{}" y2="{}" stroke="{}" stroke-width="2.5" class="s-{}"/>')
            row += line.format(_at(estimate.low, ticks), _at(estimate.high, ticks), y, y, colour, kind)
        mark = Markup('<svg x="{}%" y="{}" overflow="visible" fill="{}" class="m-{}">{}</svg>')
        row += mark.format(_at(estimate.value, ticks), y, colour, kind, shape)
    return row


def bars(rows: Sequence[tuple[str, Estimate]], title: str) -> Markup:
    """Shares from zero as bars with their intervals as whiskers, and the number at the end of the line."""
    ticks, height = _shares_axis(e for _, e in rows), _TOP + _LINE * len(rows) + 4
    parts = [_grid(ticks, height)]
    for i, (name, estimate) in enumerate(rows):
        top = _TOP + i * _LINE
        parts += [_figure(top, name, estimate), _bar(estimate, ticks, top + 22)]
    return svg(title, f"The share of answers that change, with intervals, for {len(rows)} operators.", height, parts)


def differences(rows: Sequence[tuple[str, Estimate]], title: str) -> Markup:
    """Differences as marks with their intervals as lines, on a scale that holds zero."""
    values = [v for _, e in rows for v in (e.low, e.value, e.high) if v is not None]
    ticks = axis(min([0.0, *values]), max([0.0, *values]))
    height = _TOP + _LINE * len(rows) + 4
    line = Markup('<line x1="{}%" x2="{}%" y1="18" y2="{}" stroke="#111" class="whisker"/>')
    parts = [_grid(ticks, height), line.format(_at(0, ticks), _at(0, ticks), height)]
    for i, (name, estimate) in enumerate(rows):
        top = _TOP + i * _LINE
        parts += [_figure(top, name, estimate), _forest_row("", {"average": estimate}, ticks, top - 14)]
    return svg(title, f"Differences with intervals, for {len(rows)} measures.", height, parts)


def grouped_bars(groups: Mapping[str, Shapes], title: str, told: str) -> Markup:
    """Bars as in `bars`, together under the names of their groups and on one scale; names stand before their bars."""
    ticks = _shares_axis(e for bars_of in groups.values() for e in bars_of.values())
    height = _TOP + sum(34 + 34 * len(bars_of) for bars_of in groups.values())
    parts, top = [_grid(ticks, height)], _TOP
    for group, bars_of in groups.items():
        parts += [_rule(top), _text(0, top + 20, label(group), "name")]
        top += 30
        for name, estimate in bars_of.items():
            parts.append(_text(0, top + 10, label(name, 30), "tick"))
            parts.append(_text(100, top + 10, typeset(number(estimate.value)), "value", "end"))
            parts.append(_bar(estimate, ticks, top + 14))
            top += 34
        top += 4
    return svg(title, told, height, parts)


def _shares_axis(shares: Iterable[Estimate]) -> list[float]:
    """The ticks of an axis from zero to the highest end of an interval."""
    return axis(0.0, max([0.05, *(v for e in shares for v in (e.value, e.high) if v is not None)]))


def _figure(top: int, name: str, estimate: Estimate) -> Markup:
    number_ = _text(100, top + 15, typeset(number(estimate.value)), "value", "end")
    return _text(0, top + 15, label(name), "name") + number_


def _bar(estimate: Estimate, ticks: Sequence[float], top: int) -> Markup:
    if estimate.value is None:
        return Markup("")
    zero = _at(0, ticks)
    bar = Markup('<rect x="{}%" y="{}" width="{}%" height="12" rx="2" fill="#0072b2" class="bar"/>').format(
        zero, top, round(_at(estimate.value, ticks) - zero, 3)
    )
    if estimate.low is None or estimate.high is None:
        return bar
    low, high, y = _at(estimate.low, ticks), _at(estimate.high, ticks), top + 6
    whisker = Markup('<g stroke="#111" stroke-width="1.5" class="whisker">')
    for x1, x2, y1, y2 in ((low, high, y, y), (low, low, y - 4, y + 4), (high, high, y - 4, y + 4)):
        whisker += Markup('<line x1="{}%" x2="{}%" y1="{}" y2="{}"/>').format(x1, x2, y1, y2)
    return bar + whisker + Markup("</g>")


def _rule(top: int) -> Markup:
    return Markup('<line x1="0" x2="100%" y1="{}" y2="{}" stroke="#ccc" class="rule"/>').format(top, top)


def axis(low: float, high: float) -> list[float]:
    """Round ticks, four to eight of them, that hold both ends."""
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = 0.0, 1.0
    spread = max(high - low, 0.05)
    step = 10.0 ** math.floor(math.log10(spread / 4))
    step *= next(m for m in (1, 2, 2.5, 5, 10) if spread / (step * m) <= 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 2)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _at(value: float, ticks: Sequence[float]) -> float:
    """Where a value lies, in per cent of the width."""
    share = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return round(_EDGE + (100 - 2 * _EDGE) * min(max(share, 0.0), 1.0), 3)


def _grid(ticks: Sequence[float], height: int) -> Markup:
    line, grid = Markup('<line x1="{}%" x2="{}%" y1="18" y2="{}" stroke="#ccc" class="rule"/>'), Markup("")
    for tick in ticks:
        x = _at(tick, ticks)
        grid += line.format(x, x, height) + _text(x, 12, typeset(f"{tick:g}"), "tick", "middle")
    return grid


def _text(x: float, y: int, text: str, kind: str, anchor: str = "start") -> Markup:
    return Markup('<text x="{}%" y="{}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, text)


def svg(title: str, description: str, height: int, parts: Sequence[Markup], width: str = "100%") -> Markup:
    """The frame of a chart, which says in words what it shows."""
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{}" height="{}" font-family="system-ui, sans-serif"'
        ' font-size="13" class="chart"><title>{}</title><desc>{}</desc>'
    ).format(width, height, label(title, 200), label(description, 400))
    return head + Markup("").join(parts) + Markup("</svg>")


_CELL, _CELL_HEIGHT, _NAMES, _HEAD = 78, 40, 176, 46


def heat_map(
    grid: Mapping[str, Mapping[str, Estimate]], columns: Sequence[str], title: str,
    sure: Mapping[str, Sequence[str]] | None = None,
) -> Markup:  # fmt: skip
    """Drops by operator and slice. Every cell has its number; those of the cells in `sure` are bold."""
    known = [e.value for cells in grid.values() for e in cells.values() if e.value is not None]
    most, parts = max((abs(value) for value in known), default=0.0), []
    for i, column in enumerate(columns):
        slice_name, _, value = column.partition("=")
        x = _NAMES + i * _CELL + _CELL // 2
        head = Markup(
            '<text x="{}" y="16" text-anchor="middle" class="tick">{}</text>'
            '<text x="{}" y="34" text-anchor="middle" class="name">{}</text>'
        )
        parts.append(head.format(x, label(slice_name, 11), x, label(value, 10)))
    for row, (operator, cells) in enumerate(grid.items()):
        y = _HEAD + row * _CELL_HEIGHT
        name = Markup('<text x="{}" y="{}" text-anchor="end" class="name">{}</text>')
        parts.append(name.format(_NAMES - 8, y + 25, label(operator, 24)))
        bold = (sure or {}).get(operator, ())
        for i, column in enumerate(columns):
            x, estimate = _NAMES + i * _CELL, cells.get(column)
            place = Markup('x="{}" y="{}" width="{}" height="{}"').format(x + 1, y + 1, _CELL - 2, _CELL_HEIGHT - 2)
            at = Markup('x="{}" y="{}" text-anchor="middle"').format(x + _CELL // 2, y + 25)
            if estimate is None or estimate.value is None:
                empty = Markup('<rect {} rx="3" fill="none" stroke="#999" stroke-dasharray="3 3"/>').format(place)
                parts.append(empty + Markup('<text {} class="tick">–</text>').format(at))
                continue
            fill, ink = heat(estimate.value, most)
            weight, on = "700" if column in bold else "400", "on-dark" if ink == "#ffffff" else "on-light"
            filled = Markup('<rect {} rx="3" fill="{}"/><text {} fill="{}" font-weight="{}" class="{}">{}</text>')
            parts.append(filled.format(place, fill, at, ink, weight, on, typeset(number(estimate.value))))
    told = f"The drop for each of {len(grid)} operators (rows) in each of {len(columns)} slices (columns)."
    width, height = _NAMES + _CELL * len(columns), _HEAD + _CELL_HEIGHT * len(grid)
    return svg(title, told, height, parts, str(width))


# From blue (better when varied) over near-white to brown (worse); safe for every colour vision and in grey print.
_RAMP = ((33, 102, 172), (146, 197, 222), (247, 244, 239), (244, 165, 96), (127, 59, 8))
_LEAST = 0.05  # a scale no finer than this, so that small drops do not look like large ones


def heat(value: float, most: float) -> tuple[str, str]:
    """The colour of a drop on a scale that ends at `most`, and the ink that reads best on it."""
    share = min(max(value / max(most, _LEAST), -1.0), 1.0)
    place = (share + 1) * 2
    i = min(int(place), 3)
    rgb = tuple(round(a + (b - a) * (place - i)) for a, b in zip(_RAMP[i], _RAMP[i + 1], strict=True))
    dark = 1.05 / (luminance(rgb) + 0.05) >= (luminance(rgb) + 0.05) / 0.05
    return "#{:02x}{:02x}{:02x}".format(*rgb), "#ffffff" if dark else "#000000"


def luminance(rgb: Sequence[int]) -> float:
    """Relative luminance, as WCAG defines it for contrast."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
