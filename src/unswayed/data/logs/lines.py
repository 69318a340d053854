"""One's own log: JSON lines of inputs, and an output or an error."""

from __future__ import annotations

import msgspec

from unswayed.base.values import Json
from unswayed.data.logs import LoggedAnswer, LogReader
from unswayed.systems.system import Failed


class OwnLog(LogReader):
    """Lines of `{"inputs": {…}, "output": …}`, or with an `error` instead of the output."""

    suffixes = (".jsonl",)

    def answer(self, record: Json) -> LoggedAnswer:
        inputs = msgspec.convert(record["inputs"], dict[str, str])
        return inputs, Failed(str(record["error"]), final=True) if record.get("error") else record["output"]
