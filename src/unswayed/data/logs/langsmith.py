"""Runs of LangSmith, as its API and exports write them: from its documented schema, not tried against the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unswayed.base.values import Json
from unswayed.data.logs import LogEntry, LogReader, fields_of, first_record, sample_id, score_of, text_of
from unswayed.systems.system import Failed


class LangSmithLog(LogReader):
    """Root runs: those of an experiment by their `reference_example_id`, others by their inputs.

    The means in `feedback_stats` are the scores. A run within another is part of its trace, and left out.
    """

    def recognises(self, file: Path) -> bool:
        record = first_record(file) or ()
        return "run_type" in record and "inputs" in record

    def entry(self, record: Any, cluster: str | None = None) -> LogEntry | None:
        if record.get("parent_run_id") or record.get("parent_run_ids"):
            return None
        given, stats = record.get("inputs"), record.get("feedback_stats") or {}
        scores = {str(name): score_of(one.get("avg")) for name, one in stats.items() if isinstance(one, dict)}
        output: Json | Failed = record.get("outputs")
        if record.get("error") or output is None:
            output = Failed(str(record.get("error") or "the run has no outputs")[:2000], final=True)
        else:
            output = text_of(output)
        metadata = (record.get("extra") or {}).get("metadata") or {}
        within = None if cluster is None else str(metadata.get(cluster, record.get(cluster)))
        content = sample_id(given)
        id_ = str(record.get("reference_example_id") or content)
        system = str(record.get("session_name") or record.get("session_id") or "")
        name = str(record.get("name", ""))
        return LogEntry(
            id_, content, scores, output, fields_of(given), text_of(given), None, name, system, within, asked=given
        )
