"""Traces of Langfuse, as its API and exports write them: from its documented schema, not tried against the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unswayed.base.values import Json
from unswayed.data.logs import LogEntry, LogReader, fields_of, first_record, sample_id, score_of, text_of
from unswayed.systems.system import Failed

_MARKS = ("sessionId", "traceId", "observations", "htmlPath", "datasetItemId", "projectId", "totalCost")


class LangfuseLog(LogReader):
    """Traces: those of a dataset by the id of its item, others by their input. Observations within others are left out.

    Numeric and boolean scores count; those that an export names by their ids alone are not known.
    """

    def recognises(self, file: Path) -> bool:
        record = first_record(file) or {}
        return "input" in record and any(mark in record for mark in _MARKS)

    def entry(self, record: Any, cluster: str | None = None) -> LogEntry | None:
        if record.get("parentObservationId"):
            return None
        given, metadata = record.get("input"), record.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        found, scores = record.get("scores") or {}, dict[str, float]()
        for one in found if isinstance(found, list) else ():
            if isinstance(one, dict) and isinstance(one.get("value"), bool | int | float):
                scores[str(one.get("name"))] = score_of(one["value"])
        for name, value in found.items() if isinstance(found, dict) else ():
            values = [score_of(part) for part in (value if isinstance(value, list) else [value])]
            scores[str(name)] = sum(values) / len(values) if values else float("nan")
        output: Json | Failed = record.get("output")
        if output is None:
            output = Failed(str(record.get("statusMessage") or "the trace has no output")[:2000], final=True)
        else:
            output = text_of(output)
        content = sample_id(given)
        item = record.get("datasetItemId") or metadata.get("dataset_item_id") or metadata.get("datasetItemId")
        within = None if cluster is None else str(metadata.get(cluster, record.get(cluster)))
        system = str(record.get("datasetRunName") or "")
        name = str(record.get("name") or "")
        return LogEntry(
            str(item or content),
            content,
            scores,
            output,
            fields_of(given),
            text_of(given),
            None,
            name,
            system,
            within,
            asked=given,
        )
