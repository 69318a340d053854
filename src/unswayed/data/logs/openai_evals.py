"""What `oaieval` of OpenAI Evals records: a line for the specification, one for each event, and a final report."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from unswayed.base.values import Json
from unswayed.data.logs import LogEntry, LogReader, first_record, sample_id, score_of, text_of
from unswayed.systems.system import Failed


class OpenAIEvalsLog(LogReader):
    """`match` events are right or wrong, and the numbers of `metrics` events are scores; `sampling` has the texts.

    A sample that was matched several times has so many repeats.
    """

    def __init__(self) -> None:
        super().__init__()
        self.higher_is_better.add("correct")

    def recognises(self, file: Path) -> bool:
        return "run_id" in ((first_record(file) or {}).get("spec") or ())

    def entries(
        self, file: Path, texts: bool = True, rows: Collection[int] | None = None, cluster: str | None = None
    ) -> Iterator[LogEntry]:
        spec: dict[str, Json] = {}
        sampled: dict[str, list[dict[str, Json]]] = {}
        scored: dict[str, list[dict[str, Json]]] = {}
        for _, record in self.records(file):
            if "spec" in record:
                spec = record["spec"]
                continue
            id_, data = record.get("sample_id"), record.get("data")
            if id_ is None or not isinstance(data, dict):
                continue
            if record["type"] == "sampling":
                sampled.setdefault(id_, []).append(data)
            elif record["type"] in ("match", "metrics", "error"):
                scored.setdefault(id_, []).append({"type": record["type"], **data})
        task = str(spec.get("base_eval") or spec.get("eval_name") or "")
        system = ", ".join(map(str, spec.get("completion_fns") or ()))
        count = 0
        for id_ in dict.fromkeys([*scored, *sampled]):
            events, asked = scored.get(id_, []), sampled.get(id_, [])
            own = [event for event in events if event["type"] in ("match", "error")] or events[:1] or [{}]
            measured = [event for event in events if event["type"] == "metrics"] if len(own) == 1 else []
            more = {name: value for event in measured for name, value in event.items()}
            for repeat, event in enumerate(own):
                if rows is None or count in rows:
                    said = asked[min(repeat, len(asked) - 1)] if asked else {}
                    yield self._one(id_, event, more, said)._replace(task=task, system=system)
                count += 1

    def _one(self, id_: str, event: dict[str, Json], more: dict[str, Json], said: dict[str, Any]) -> LogEntry:
        scores = {name: score_of(value) for name, value in more.items() if isinstance(value, bool | int | float)}
        if "correct" in event:
            scores = {"correct": score_of(event["correct"]), **scores}
        answer = said.get("sampled", event.get("sampled", event.get("picked")))
        output: Json | Failed = answer[0] if isinstance(answer, list) and len(answer) == 1 else answer
        if event.get("type") == "error" or output is None:
            output = Failed(str(event.get("message") or "no answer was recorded"), final=True)
        prompt = said.get("prompt")
        text = text_of(prompt)
        content = sample_id(event.get("expected")) if "expected" in event else ""
        inputs = {} if not isinstance(prompt, list) else {"input": text_of(prompt[-1].get("content"))} if prompt else {}
        return LogEntry(id_, content, scores, output, inputs, text, event.get("expected"), asked=prompt)
