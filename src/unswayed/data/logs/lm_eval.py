"""What lm-evaluation-harness writes with --log_samples."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from math import isnan
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.ids import decode
from unswayed.base.values import Json
from unswayed.data.logs import LogEntry, LogReader, fields_of, first_record, sample_id, score_of, text_of
from unswayed.storage.untrusted_files import read_bounded
from unswayed.systems.system import Failed, plain

_NAME = re.compile(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl")
_LOWER = "perplexity word_perplexity byte_perplexity bits_per_byte brier_score ter wer mse mae rmse likelihood_diff"


class HarnessLog(LogReader):
    """Samples of any task. Those of a task that `unswayed export` wrote have its labels as answers."""

    patterns = ("samples_*.jsonl",)
    known_direction = True

    def __init__(self) -> None:
        super().__init__()
        self.lower_is_better.update(_LOWER.split())

    def recognises(self, file: Path) -> bool:
        record = first_record(file) or ()
        return "doc" in record and "filtered_resps" in record

    def entries(
        self, file: Path, texts: bool = True, rows: Collection[int] | None = None, cluster: str | None = None
    ) -> Iterator[LogEntry]:
        name = found[1] if (found := _NAME.fullmatch(file.name)) else file.stem
        for results in sorted(file.parent.glob("results_*.json")):  # they say of each metric whether more is better
            with suppress(OSError, msgspec.MsgspecError, AttributeError):
                said = decode(read_bounded(results)).get("higher_is_better", {}).get(name, {})
                self.lower_is_better.update(metric for metric, better in said.items() if better is False)
        for entry in super().entries(file, texts, rows, cluster):
            yield entry._replace(task=name, system=file.parent.name)

    def entry(self, record: Any, cluster: str | None = None) -> LogEntry:
        doc, responses = record["doc"], record["filtered_resps"]
        if not isinstance(doc, dict):
            doc = {"text": text_of(doc)}
        own = isinstance(doc.get("inputs"), str) and doc["inputs"].startswith("{")
        filtered = "" if record.get("filter", "none") == "none" else f",{record['filter']}"
        scores = {}
        for metric in record.get("metrics") or ():
            if isinstance(value := record.get(metric), bool | int | float):
                scores[f"{metric}{filtered}"] = score_of(value)
        output: Json | Failed
        if own:
            inputs, output = decode(doc["inputs"], dict[str, str]), _own_answer(doc, responses)
        else:
            inputs, output = fields_of(doc), _answer(doc, responses, record.get("target"))
        asked = record.get("arguments") or {}
        first = asked.get("gen_args_0", {}).get("arg_0", "") if isinstance(asked, dict) else asked[0][0]
        single = next(iter(inputs.values())) if own and len(inputs) == 1 else str(first)
        content = str(record.get("doc_hash") or sample_id(doc))
        within = None if cluster is None else str(doc.get(cluster))
        id_ = str(record.get("doc_id", content))
        return LogEntry(id_, content, scores, output, inputs, single, record.get("target"), cluster=within)


def _own_answer(doc: Any, responses: Any) -> Json | Failed:
    if "labels" not in doc:
        return plain(responses[0].strip())
    likelihoods = [float(likelihood) for likelihood, *_ in responses]
    if any(map(isnan, likelihoods)):
        return Failed("a label's likelihood is not a number", final=True)
    return doc["labels"][likelihoods.index(max(likelihoods))]


def _answer(doc: Any, responses: Any, target: Json) -> Json:
    """A text; or, of a multiple choice, the choice whose likelihood is greatest, by its place if it has no text."""
    if isinstance(first := responses[0], str):
        return first
    if len(responses) == 1 or not isinstance(first, list | tuple):
        return text_of(first) if isinstance(first, list | tuple) and first and isinstance(first[0], str) else first
    likelihoods = [float(likelihood) for likelihood, *_ in responses]
    best = likelihoods.index(max(likelihoods))
    choices = doc.get("choices", doc.get("endings"))
    choices = choices.get("text") if isinstance(choices, dict) else choices
    if isinstance(choices, list) and len(choices) == len(likelihoods):
        return f"{best}: {choices[best]}"
    return str(best)
