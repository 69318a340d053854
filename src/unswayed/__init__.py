"""When people say the same thing differently, does your NLP system, or its metric, stay unswayed?

The public names. Each is imported when it is first used, so that `import unswayed` is fast.
"""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "api": "augment carry_out check estimate_cost metrics",
        "base.edits": "Edit",
        "base.errors": "UnswayedError",
        "base.options": "Asking OperatorSpec ReadOptions",
        "base.seeds": "Stream",
        "base.task": "Task",
        "base.values": "Estimate Example Failed Output Variant",
        "data": "Reader read_examples",
        "integrations.noisy_user": "compare_dialogues noisy",
        "measure": "compare measure_run",
        "measure.comparison.outcome": "Comparison",
        "measure.gates": "Verdict",
        "measure.results": "Results",
        "report.html": "write_report",
        "report.view": "write_comparison write_view",
        "run.engine": "run_system",
        "run.making": "make_suite",
        "run.plan": "ComparePlan DataPlan Engine GatePlan MeasurePlan Plan SystemPlan VaryPlan read_plan",
        "run.record": "Run",
        "run.spending": "CostEstimate",
        "run.texts": "vary_text vary_texts",
        "score": "Scorer",
        "storage.suite": "Suite",
        "systems": "System open_system",
        "vary": "Change Operator Text",
    },
)
