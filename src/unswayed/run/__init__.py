"""Asking a system about every example and variant: planned, durable, resumable."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "run.engine": "run_system",
        "run.making": "make_suite",
        "run.plan": "NATURE",
        "run.record": "Run",
    },
)
