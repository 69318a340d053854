"""Asking a system about every example and variant: planned, durable, resumable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door

if TYPE_CHECKING:
    from unswayed.run.engine import run_system
    from unswayed.run.making import make_suite
    from unswayed.run.plan import NATURE
    from unswayed.run.record import Run

__all__ = ["NATURE", "Run", "make_suite", "run_system"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
