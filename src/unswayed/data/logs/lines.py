"""One's own log: JSON lines of inputs, and an output or an error."""

from __future__ import annotations

from typing import Any

import msgspec

from unswayed.base.text import spelled
from unswayed.data.logs import LogEntry, LoggedId, LogReader, sample_id, score_of
from unswayed.systems.system import Failed


class OwnLog(LogReader):
    """Lines of `{"inputs": {…}, "output": …}`, or with an `error` instead of the output.

    In place of inputs: `{"id": …}` of an example, with the `person` or `source` and the `draw` of a variant. For
    comparing two logs: `id`, `gold`, and a `score`, or `scores`, an object of numbers; of one that is true or false,
    true is better.
    """

    suffixes = (".jsonl",)

    def entry(self, record: Any, cluster: str | None = None) -> LogEntry:
        output = Failed(str(record["error"]), final=True) if record.get("error") else record["output"]
        given = record.get("scores") or ({"score": record["score"]} if "score" in record else {})
        self.higher_is_better.update(str(name) for name, value in given.items() if isinstance(value, bool))
        scores = {str(name): score_of(value) for name, value in given.items()}
        id_, gold = record.get("example_id", record.get("id")), record.get("gold")
        within = None if cluster is None else str(record.get(cluster, (record.get("inputs") or {}).get(cluster)))
        if "inputs" not in record:
            if id_ is None:
                raise ValueError("a line needs inputs, or the id of an example")
            source = record.get("person", record.get("source"))
            of = LoggedId(str(id_), "" if source is None else str(source), int(record.get("draw", 0)))
            name = " ".join(map(str, of)) if of.source else of.example
            return LogEntry(name, "", scores, output, gold=gold, cluster=within, of=of)
        inputs = msgspec.convert(record["inputs"], dict[str, str])
        text, content = next(iter(inputs.values())) if len(inputs) == 1 else spelled(dict(inputs)), sample_id(inputs)
        return LogEntry(
            content if id_ is None else str(id_), content, scores, output, inputs, text, gold, cluster=within
        )
