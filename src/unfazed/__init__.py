"""When people say the same thing differently, does your NLP system, or its metric, stay unfazed?

The public names. Each is imported when it is first used, so that `import unfazed` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unfazed.core.errors import UnfazedError
    from unfazed.core.suite import Suite
    from unfazed.core.values import Estimate, Example, Output, Variant
    from unfazed.data import read_examples
    from unfazed.measure.compare import compare_runs
    from unfazed.measure.measuring import measure_run
    from unfazed.report.html import write_report
    from unfazed.run.engine import run_system
    from unfazed.run.making import make_suite
    from unfazed.run.plan import Plan, read_plan
    from unfazed.run.record import Run
    from unfazed.run.workers import Engine
    from unfazed.score import Scorer
    from unfazed.systems import System
    from unfazed.vary import Operator

_PLACES = {
    "Engine": "unfazed.run.workers",
    "Estimate": "unfazed.core.values",
    "Example": "unfazed.core.values",
    "Operator": "unfazed.vary",
    "Output": "unfazed.core.values",
    "Plan": "unfazed.run.plan",
    "Run": "unfazed.run.record",
    "Scorer": "unfazed.score",
    "Suite": "unfazed.core.suite",
    "System": "unfazed.systems",
    "UnfazedError": "unfazed.core.errors",
    "Variant": "unfazed.core.values",
    "compare_runs": "unfazed.measure.compare",
    "make_suite": "unfazed.run.making",
    "measure_run": "unfazed.measure.measuring",
    "read_examples": "unfazed.data",
    "read_plan": "unfazed.run.plan",
    "run_system": "unfazed.run.engine",
    "write_report": "unfazed.report.html",
}

__all__ = [
    "Engine",
    "Estimate",
    "Example",
    "Operator",
    "Output",
    "Plan",
    "Run",
    "Scorer",
    "Suite",
    "System",
    "UnfazedError",
    "Variant",
    "compare_runs",
    "make_suite",
    "measure_run",
    "read_examples",
    "read_plan",
    "run_system",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'unfazed' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
