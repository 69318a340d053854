"""What DeepEval writes to its results folder, and to `.deepeval/.latest_test_run.json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.values import Json
from unswayed.data.logs import (
    MOST_LOG_BYTES,
    LogEntry,
    LogReader,
    beginning,
    decode_constants,
    sample_id,
    score_of,
    text_of,
)
from unswayed.storage.untrusted_files import read_bounded
from unswayed.systems.system import Failed


class DeepEvalLog(LogReader):
    """Test cases, and conversations by their scenario. `pass` is whether all metrics reached their thresholds.

    Cases are paired by their input and expected output; those that have the same ones are repeats.
    """

    patterns = ("test_run_*.json",)
    known_direction = True

    def recognises(self, file: Path) -> bool:
        head = beginning(file)
        return head.startswith(b"{") and (b'"testCases"' in head or b'"testRunData"' in head)

    def records(self, file: Path) -> Iterator[tuple[int, Json]]:
        try:
            whole = decode_constants(read_bounded(file, MOST_LOG_BYTES))
            whole = whole.get("testRunData", whole)
            yield from enumerate([*whole["testCases"], *(whole.get("conversationalTestCases") or ())], 1)
        except (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise DataError(f"this is not what DeepEval writes ({type(error).__name__}: {error}).", file) from error

    def entry(self, record: Any, cluster: str | None = None) -> LogEntry:
        metrics = [metric for metric in record.get("metricsData") or () if metric.get("score") is not None]
        scores = {"pass": score_of(record.get("success"))} if metrics else {}
        scores |= {str(metric["name"]): score_of(metric["score"]) for metric in metrics}
        turns = record.get("turns")
        if turns is not None:
            asked, gold = record.get("scenario") or record["name"], record.get("expectedOutcome")
            output: Json | Failed = "\n".join(f"{turn.get('role')}: {turn.get('content')}" for turn in turns)
        else:
            asked, gold, output = record["input"], record.get("expectedOutput"), record.get("actualOutput")
        if output is None:
            output = Failed("DeepEval has no answer", final=True)
        within = None if cluster is None else str((record.get("additionalMetadata") or record).get(cluster))
        id_, text = sample_id(asked, gold, record.get("context")), text_of(asked)
        return LogEntry(
            id_, id_, scores, output, {"input": text}, text, gold, cluster=within, asked=record.get("turns") or asked
        )
