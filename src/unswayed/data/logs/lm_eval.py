"""What lm-evaluation-harness writes with --log_samples."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from pathlib import Path

from unswayed.base.json import decode
from unswayed.base.values import Json
from unswayed.data.logs._logged import LoggedAnswer, LogReader, first_record, line_answers
from unswayed.systems.system import Failed, plain


class HarnessLog(LogReader):
    """Samples of a task that `unswayed export` wrote."""

    patterns = ("samples_*.jsonl",)
    suffixes = ()

    def recognises(self, file: Path) -> bool:
        return "doc" in (first_record(file) or ())

    def answers(self, file: Path) -> Iterator[LoggedAnswer]:
        return line_answers(file, _read_sample)


def _read_sample(record: Json) -> LoggedAnswer:
    """Likelihoods of all labels, or a text."""
    doc, responses = record["doc"], record["filtered_resps"]
    inputs = decode(doc["inputs"], dict[str, str])
    if "labels" not in doc:
        return inputs, plain(responses[0].strip())
    likelihoods = [float(likelihood) for likelihood, *_ in responses]
    if any(map(isnan, likelihoods)):
        return inputs, Failed("a label's likelihood is not a number", final=True)
    return inputs, doc["labels"][likelihoods.index(max(likelihoods))]
