"""Progress redraws a line on a terminal, writes plain lines elsewhere, and keeps quiet about short work."""

from __future__ import annotations

import io

import pytest

from unswayed.base import progress
from unswayed.base.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_rate_and_time_left(clock: Clock) -> None:
    out = io.StringIO()
    with Progress("asked", 1000, out) as shown:
        shown.skip(500)
        clock.now += 2
        shown.add(100)
        clock.now += 2
        shown.add(100)  # too soon for another plain line
        clock.now += 10
        shown.add(100)
    lines = out.getvalue().splitlines()
    assert lines[0] == "asked 600/1,000 · 60% · 50/s · 0:08 left"
    assert lines[1].startswith("asked 800/1,000")
    assert "\r" not in out.getvalue()


def test_a_terminal_line_is_redrawn(clock: Clock) -> None:
    out = Terminal()
    with Progress("asked", 10, out) as shown:
        for _ in range(10):
            clock.now += 0.5
            shown.add()
    assert out.getvalue().count("\r") == 11
    assert out.getvalue().count("\n") == 1


def test_short_work_says_nothing(clock: Clock) -> None:
    out = io.StringIO()
    with Progress("asked", 10, out) as shown:
        shown.add(10)
    assert out.getvalue() == ""


def test_an_unknown_total(clock: Clock) -> None:
    out = io.StringIO()
    with Progress("varied", stream=out) as shown:
        clock.now += 3700
        shown.add(37)
    assert out.getvalue().splitlines()[0] == "varied 37 · 0.0/s"
