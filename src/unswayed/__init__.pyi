from unswayed.api import augment, carry_out, check, estimate_cost, metrics
from unswayed.base.edits import Edit
from unswayed.base.errors import UnswayedError
from unswayed.base.options import Asking, OperatorSpec, ReadOptions
from unswayed.base.seeds import Stream
from unswayed.base.task import Task
from unswayed.base.values import Estimate, Example, Failed, Output, Variant
from unswayed.data import Reader, read_examples
from unswayed.integrations.noisy_user import compare_dialogues, noisy
from unswayed.measure import compare, measure_run
from unswayed.measure.comparison.outcome import Comparison
from unswayed.measure.gates import Verdict
from unswayed.measure.results import Results
from unswayed.report.html import write_report
from unswayed.report.view import write_comparison, write_view
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.run.plan import (
    ComparePlan,
    DataPlan,
    Engine,
    GatePlan,
    MeasurePlan,
    Plan,
    SystemPlan,
    VaryPlan,
    read_plan,
)
from unswayed.run.record import Run
from unswayed.run.spending import CostEstimate
from unswayed.run.texts import vary_text, vary_texts
from unswayed.score import Scorer
from unswayed.storage.suite import Suite
from unswayed.systems import System, open_system
from unswayed.vary import Change, Operator, Text

__all__ = [
    "Asking",
    "Change",
    "ComparePlan",
    "Comparison",
    "CostEstimate",
    "DataPlan",
    "Edit",
    "Engine",
    "Estimate",
    "Example",
    "Failed",
    "GatePlan",
    "MeasurePlan",
    "Operator",
    "OperatorSpec",
    "Output",
    "Plan",
    "ReadOptions",
    "Reader",
    "Results",
    "Run",
    "Scorer",
    "Stream",
    "Suite",
    "System",
    "SystemPlan",
    "Task",
    "Text",
    "UnswayedError",
    "Variant",
    "VaryPlan",
    "Verdict",
    "augment",
    "carry_out",
    "check",
    "compare",
    "compare_dialogues",
    "estimate_cost",
    "make_suite",
    "measure_run",
    "metrics",
    "noisy",
    "open_system",
    "read_examples",
    "read_plan",
    "run_system",
    "vary_text",
    "vary_texts",
    "write_comparison",
    "write_report",
    "write_view",
]
