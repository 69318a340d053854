"""The pictures of findings: dots with intervals by person, slopes from a reference, verdicts by order, and scatters.

They are drawn in pixels, since they also stand alone in the docs. Shapes and letters say what colours say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from unswayed.report import label, number, typeset
from unswayed.report.charts import axis, heat, svg

_WIDTH, _NAMES, _EDGE, _TOP = 760, 150, 24, 44
_COLOURS = ("#0072b2", "#c04a00", "#117733", "#aa4499", "#555555", "#b36b00")
_SHAPES = (
    Markup('<circle r="4.5"/>'),
    Markup('<path d="M0-6 6 0 0 6-6 0Z"/>'),
    Markup('<rect x="-4" y="-4" width="8" height="8"/>'),
    Markup('<path d="M0-5.5 5.5 4.5H-5.5Z"/>'),
)


class Dot(NamedTuple):
    """A value with the ends of its interval, in the units of the axis."""

    value: float
    low: float | None = None
    high: float | None = None
    sure: bool = False  # drawn filled; others are open


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}" fill="currentColor" {}>{}</text>').format(
        round(x, 1),
        round(y, 1),
        anchor,
        Markup(more),  # noqa: S704  our own attributes
        text,
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float, more: str = "") -> Markup:
    return Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}" {}/>').format(
        *(round(at, 1) for at in (x1, y1, x2, y2)),
        colour,
        width,
        Markup(more),  # noqa: S704  our own attributes
    )


def _mark(x: float, y: float, series: int, sure: bool) -> Markup:
    colour = _COLOURS[series % len(_COLOURS)]
    fill = colour if sure else "#fff"
    return Markup('<g transform="translate({} {})" fill="{}" stroke="{}" stroke-width="1.8">{}</g>').format(
        round(x, 1), round(y, 1), fill, colour, _SHAPES[series % len(_SHAPES)]
    )


def _legend(names: Sequence[str], top: float, more: str = "") -> Markup:
    parts, x = Markup(""), float(_NAMES)
    for i, name in enumerate(names):
        parts += _mark(x, top - 4, i, True) + _text(x + 10, top, label(name, 40))
        x += 30 + 7.5 * len(name)
    return parts + (_text(_WIDTH - _EDGE, top, more, "end", 'font-size="12"') if more else Markup(""))


def _frame(title: str, told: str, height: float, parts: Sequence[Markup]) -> Markup:
    drawn = svg(title, told, round(height), parts, str(_WIDTH))
    return Markup(str(drawn).replace("<svg ", f'<svg viewBox="0 0 {_WIDTH} {round(height)}" ', 1))  # noqa: S704


def dots(rows: Mapping[str, Mapping[str, Dot]], title: str, unit: str, reference: str) -> Markup:
    """A row for each person, a dot for each system, on a scale whose zero, the reference, is a line."""
    names = list(dict.fromkeys(system for own in rows.values() for system in own))
    every = [at for own in rows.values() for d in own.values() for at in (d.value, d.low, d.high) if at is not None]
    ticks, step = axis(min([0.0, *every]), max([0.0, *every])), 16 * max(len(names), 1) + 12
    height = _TOP + step * len(rows) + 40

    def x(value: float) -> float:
        return _NAMES + (_WIDTH - _EDGE - _NAMES) * (value - ticks[0]) / (ticks[-1] - ticks[0])

    parts = [_legend(names, 18, "filled: a corrected test says so")]
    for tick in ticks:
        zero = tick == 0
        parts.append(
            _line(x(tick), _TOP - 10, x(tick), height - 36, "currentColor" if zero else "#ccc", 1.8 if zero else 1)
        )
        parts.append(_text(x(tick), height - 20, typeset(f"{tick:g}"), "middle", 'font-size="12"'))
    parts.append(_text(x(0), height - 4, f"{reference}: {unit}", "middle", 'font-size="12"'))
    for i, (person, own) in enumerate(rows.items()):
        top = _TOP + step * i
        parts.append(_text(_NAMES - 10, top + step / 2, label(person, 22), "end"))
        for system, dot in own.items():
            n = names.index(system)
            y = top + 12 + 16 * n
            if dot.low is not None and dot.high is not None:
                parts.append(_line(x(dot.low), y, x(dot.high), y, _COLOURS[n % len(_COLOURS)], 2))
            parts.append(_mark(x(dot.value), y, n, dot.sure))
    told = f"For each of {len(rows)}: {unit}, against {reference}, with intervals that hold together."
    return _frame(title, told, height, parts)


def slopes(
    panels: Mapping[str, tuple[float, Mapping[str, tuple[str, float]]]], title: str, reference: str, unit: str
) -> Markup:
    """A panel for each system: lines from its score with the reference to its score with each person, by area."""
    areas = list(dict.fromkeys(area for _, people in panels.values() for area, _ in people.values()))
    values = [v for start, people in panels.values() for v in (start, *(v for _, v in people.values()))]
    ticks, height = axis(min(values), max(values)), 330
    wide = (_WIDTH - 60) / max(len(panels), 1)

    def y(value: float) -> float:
        return 280 - 220 * (value - ticks[0]) / (ticks[-1] - ticks[0])

    parts = [_legend(areas, 18)]
    for tick in ticks:
        parts += [
            _line(44, y(tick), _WIDTH - 6, y(tick), "#ccc", 1),
            _text(40, y(tick) + 4, f"{tick:g}", "end", 'font-size="12"'),
        ]
    for i, (system, (start, people)) in enumerate(panels.items()):
        left, right = 50 + wide * i + 14, 50 + wide * (i + 1) - 50
        for area, value in people.values():
            n = areas.index(area)
            parts.append(_line(left, y(start), right, y(value), _COLOURS[n % len(_COLOURS)], 1.6))
            parts.append(_mark(right, y(value), n, True))
        low, below = min((value, person) for person, (_, value) in people.items())
        parts.append(_text(right + 8, y(low) + 4, label(below.partition(" (")[0], 14), "start", 'font-size="11"'))
        parts.append(_mark(left, y(start), len(_COLOURS) - 2, True))
        parts.append(_text((left + right) / 2, 304, label(system, 30), "middle"))
    parts.append(_text(50, 324, f"{unit}; left: {reference}, right: each person", "start", 'font-size="12"'))
    told = f"{unit} of {len(panels)} systems with {reference} and with each person."
    return _frame(title, told, height, parts)


def order_grid(counts: Mapping[tuple[str, str], int], sides: Sequence[str], title: str, note: str) -> Markup:
    """How often each verdict was given when the answers were shown in one order (rows) and in the other (columns).

    Verdicts are those about the answers, whatever their place, so that the diagonal is what does not depend on it.
    """
    cell, left, top, most = 96, 210, 66, max(counts.values(), default=1)
    parts = [
        _text(left + 1.5 * cell, 20, "shown the other way round", "middle"),
        _text(20, top + 1.5 * cell, "as listed"),
    ]
    for j, side in enumerate(sides):
        parts.append(_text(left + cell * (j + 0.5), 50, side, "middle", 'font-weight="600"'))
        parts.append(_text(left - 12, top + cell * (j + 0.5) + 5, side, "end", 'font-weight="600"'))
    for i, one in enumerate(sides):
        for j, other in enumerate(sides):
            many = counts.get((one, other), 0)
            fill, ink = heat((many if i != j else -many) / max(most, 1), 1.0)
            box = Markup('<rect x="{}" y="{}" width="{}" height="{}" rx="4" fill="{}"/>')
            parts.append(box.format(left + cell * j + 2, top + cell * i + 2, cell - 4, cell - 4, fill))
            at = Markup('<text x="{}" y="{}" text-anchor="middle" font-size="18" font-weight="600" fill="{}">{}</text>')
            parts.append(at.format(left + cell * (j + 0.5), top + cell * (i + 0.5) + 6, ink, many))
    for k, line in enumerate(note.split("\n")):
        parts.append(_text(left + 3 * cell + 16, top + 30 + 20 * k, line, "start", 'font-size="13"'))
    told = "Pairs by verdict in one order (rows) and in the other (columns). The diagonal does not depend on the order."
    return _frame(title, told, top + 3 * cell + 12, parts)


def scatter(points: Mapping[str, Mapping[str, tuple[Dot, Dot]]], title: str, x_unit: str, y_unit: str) -> Markup:
    """Simulated (x) against real (y), with intervals both ways; on the diagonal they are the same."""
    names = list(points)
    every = [v for own in points.values() for pair in own.values() for d in pair for v in (d.low, d.value, d.high)]
    known = [v for v in every if v is not None]
    ticks = axis(min([0.0, *known]), max([0.05, *known]))
    left, top, side = 90, 20 + 20 * ((len(names) + 1) // 2), 420
    height = top + side + 56

    def at(value: float) -> float:
        return side * (value - ticks[0]) / (ticks[-1] - ticks[0])

    parts = []
    for i, name in enumerate(names):
        where = left + 320 * (i % 2), 16 + 20 * (i // 2)
        parts += [_mark(where[0], where[1] - 4, i, True), _text(where[0] + 10, where[1], label(name, 44))]
    for tick in ticks:
        parts += [
            _line(left + at(tick), top, left + at(tick), top + side, "#ccc", 1),
            _line(left, top + side - at(tick), left + side, top + side - at(tick), "#ccc", 1),
            _text(left + at(tick), top + side + 16, typeset(f"{tick:g}"), "middle", 'font-size="12"'),
            _text(left - 6, top + side - at(tick) + 4, typeset(f"{tick:g}"), "end", 'font-size="12"'),
        ]
    parts.append(_line(left, top + side, left + side, top, "currentColor", 1.4, 'stroke-dasharray="5 4"'))
    for i, own in enumerate(points.values()):
        colour = _COLOURS[i % len(_COLOURS)]
        for name, (x, y) in own.items():
            px, py = left + at(x.value), top + side - at(y.value)
            if x.low is not None and x.high is not None:
                parts.append(_line(left + at(x.low), py, left + at(x.high), py, colour, 1.6))
            if y.low is not None and y.high is not None:
                parts.append(_line(px, top + side - at(y.low), px, top + side - at(y.high), colour, 1.6))
            parts.append(_mark(px, py, i, True))
            if max(abs(x.value), abs(y.value)) > (ticks[-1] - ticks[0]) / 20:  # others lie one upon another at zero
                parts.append(_text(px + 8, py - 7, label(name, 40), "start", 'font-size="11"'))
    parts.append(_text(left + side / 2, height - 14, x_unit, "middle"))
    parts.append(_text(20, top + side / 2, y_unit, "middle", f'transform="rotate(-90 20 {top + side / 2})"'))
    return _frame(title, f"{y_unit} by {x_unit}, with intervals.", height, parts)


def ends(value: float | None, digits: int = 1) -> str:
    """A number for a sentence."""
    return "–" if value is None else typeset(number(value, digits))
