"""One's own log: JSON lines of inputs, and an output or an error."""

from __future__ import annotations

import msgspec

from unswayed.base.values import Json
from unswayed.data.logs import LoggedAnswer, LoggedId, LogReader
from unswayed.systems.system import Failed


class OwnLog(LogReader):
    """Lines of `{"inputs": {…}, "output": …}`, or with an `error` instead of the output.

    In place of inputs: `{"id": …}` of an example, with the `person` or `source` and the `draw` of a variant.
    """

    suffixes = (".jsonl",)

    def answer(self, record: Json) -> LoggedAnswer:
        said = Failed(str(record["error"]), final=True) if record.get("error") else record["output"]
        if "inputs" in record:
            return msgspec.convert(record["inputs"], dict[str, str]), said
        id = record.get("example_id", record.get("id"))
        if id is None:
            raise ValueError("a line needs inputs, or the id of an example")
        source = record.get("person", record.get("source"))
        return LoggedId(str(id), "" if source is None else str(source), int(record.get("draw", 0))), said
