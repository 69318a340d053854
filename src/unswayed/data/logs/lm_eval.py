"""What lm-evaluation-harness writes with --log_samples."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from unswayed.base.ids import decode
from unswayed.base.values import Json
from unswayed.data.logs import LoggedAnswer, LogReader, first_record
from unswayed.systems.system import Failed, plain


class HarnessLog(LogReader):
    """Samples of a task that `unswayed export` wrote: likelihoods of all labels, or a text."""

    patterns = ("samples_*.jsonl",)

    def recognises(self, file: Path) -> bool:
        return "doc" in (first_record(file) or ())

    def answer(self, record: Json) -> LoggedAnswer:
        doc, responses = record["doc"], record["filtered_resps"]
        inputs = decode(doc["inputs"], dict[str, str])
        if "labels" not in doc:
            return inputs, plain(responses[0].strip())
        likelihoods = [float(likelihood) for likelihood, *_ in responses]
        if any(map(isnan, likelihoods)):
            return inputs, Failed("a label's likelihood is not a number", final=True)
        return inputs, doc["labels"][likelihoods.index(max(likelihoods))]
