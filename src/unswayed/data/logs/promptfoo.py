"""What `promptfoo eval -o` writes, as JSON or as JSON lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import decode
from unswayed.base.reply import answer_key
from unswayed.base.values import Json
from unswayed.data.logs import (
    MOST_LOG_BYTES,
    LogEntry,
    LogReader,
    beginning,
    decode_constants,
    fields_of,
    first_record,
    sample_id,
    score_of,
    text_of,
)
from unswayed.storage.untrusted_files import read_bounded
from unswayed.systems.system import Failed, plain

_ERROR = 2  # promptfoo's reason for a result that has no answer


class PromptfooLog(LogReader):
    """Results of any tests; a test's repeats are the results that have the same variables and checks.

    `pass` is whether all checks passed, and `score` their weighted mean.
    """

    known_direction = True

    def __init__(self) -> None:
        super().__init__()
        self._prompts: dict[str, dict[Json, int]] = {}  # of each provider, in the order of the file

    def recognises(self, file: Path) -> bool:
        if re.match(rb'\{\s*"(evalId|results)"', beginning(file)):
            return True
        return "testCase" in (first_record(file) or ())

    def records(self, file: Path) -> Iterator[tuple[int, Json]]:
        if file.suffix != ".json" or not beginning(file).startswith(b"{"):
            yield from super().records(file)
            return
        try:
            whole = decode_constants(read_bounded(file, MOST_LOG_BYTES))
            results = whole["results"]
            yield from enumerate(results["results"] if isinstance(results, dict) else results, 1)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
            raise DataError(f"this is not what promptfoo writes ({type(error).__name__}: {error}).", file) from error

    def entry(self, record: Any, cluster: str | None = None) -> LogEntry:
        test, provider = record["testCase"], record.get("provider") or {}
        given, metadata = record.get("vars") or test.get("vars") or {}, record.get("metadata") or {}
        response = record.get("response") or {}
        scores = {"pass": score_of(record["success"]), "score": score_of(record.get("score"))}
        scores |= {name: score_of(value) for name, value in (record.get("namedScores") or {}).items()}
        problem = response.get("error") or (record.get("error") if record.get("failureReason") == _ERROR else None)
        output: Json | Failed
        if problem or "output" not in response:
            output, scores = Failed(str(problem or "promptfoo has no answer")[:2000], final=True), {}
        elif words := metadata.get("words"):
            said = {answer_key(word): label for label, word in words.items()}.get(answer_key(str(response["output"])))
            none = Failed(f"the answer {response['output']!r:.200} is no label", final=True)
            output = none if said is None else said
        else:
            output = response["output"]
            output = plain(output.strip() if isinstance(output, str) else output)
        own = isinstance(metadata.get("inputs"), str) and "part" in metadata
        inputs = decode(metadata["inputs"], dict[str, str]) if own else fields_of(given)
        checks = [{name: check.get(name) for name in ("type", "value", "metric")} for check in test.get("assert") or ()
                  if isinstance(check, dict)]  # fmt: skip
        gold = next((c["value"] for c in checks if c["type"] in ("equals", "contains", "icontains")), None)
        id_ = sample_id(test.get("description"), given, checks)
        within = None if cluster is None else str(given.get(cluster, metadata.get(cluster)))
        name, prompt = str(provider.get("label") or provider.get("id") or ""), record.get("prompt") or {}
        asked = self._prompts.setdefault(name, {})  # one provider with several prompts is several systems
        if number := asked.setdefault(record.get("promptIdx"), len(asked)):
            name += f" prompt {number + 1}"
        text = next(iter(inputs.values())) if len(inputs) == 1 else text_of(prompt.get("raw"))
        return LogEntry(id_, id_, scores, output, inputs, text, gold, system=name, cluster=within, asked=given)
