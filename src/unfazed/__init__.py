"""When people say the same thing differently, does your NLP system, or its metric, stay unfazed?

The public names. Each is imported when it is first used, so that `import unfazed` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.api import carry_out, check, estimate_cost, vary_text
    from unfazed.core.asking import Asking
    from unfazed.core.edits import Edit
    from unfazed.core.errors import UnfazedError
    from unfazed.core.seeds import Stream
    from unfazed.core.suite import Suite
    from unfazed.core.task import Task
    from unfazed.core.values import Estimate, Example, Failed, Output, Variant
    from unfazed.data import Reader, ReadOptions, read_examples
    from unfazed.measure import compare, measure_run
    from unfazed.measure.compared import Comparison
    from unfazed.measure.gates import Verdict
    from unfazed.measure.results import Results
    from unfazed.report.compare_page import write_comparison
    from unfazed.report.html import write_report
    from unfazed.report.view import write_view
    from unfazed.run.engine import run_system
    from unfazed.run.making import make_suite
    from unfazed.run.plan import DataPlan, GatePlan, MeasurePlan, Plan, SystemPlan, VaryPlan, read_plan
    from unfazed.run.record import Run
    from unfazed.run.spending import CostEstimate, Spending
    from unfazed.run.workers import Engine
    from unfazed.score import Scorer
    from unfazed.systems import System, open_system
    from unfazed.vary import Change, Operator, OperatorSpec, Text

__all__ = ["Asking", "Change", "Comparison", "CostEstimate", "DataPlan", "Edit", "Engine", "Estimate", "Example",
    "Failed", "GatePlan", "MeasurePlan", "Operator", "OperatorSpec", "Output", "Plan", "ReadOptions",
    "Reader", "Results", "Run", "Scorer", "Spending", "Stream", "Suite", "System", "SystemPlan", "Task", "Text",
    "UnfazedError", "Variant", "VaryPlan", "Verdict", "carry_out", "check", "compare", "estimate_cost", "make_suite",
    "measure_run", "open_system", "read_examples", "read_plan", "run_system", "vary_text",
    "write_comparison", "write_report", "write_view"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
