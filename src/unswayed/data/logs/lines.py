"""One's own log: JSON lines of inputs, and an output or an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.values import Json
from unswayed.data.logs._logged import LoggedAnswer, LogReader, line_answers
from unswayed.systems.system import Failed


class OwnLog(LogReader):
    """Lines of `{"inputs": {…}, "output": …}`, or with an `error` instead of the output."""

    suffixes = (".jsonl",)

    def answers(self, file: Path) -> Iterator[LoggedAnswer]:
        return line_answers(file, _read_line)


def _read_line(record: Json) -> LoggedAnswer:
    inputs = msgspec.convert(record["inputs"], dict[str, str])
    return inputs, Failed(str(record["error"]), final=True) if record.get("error") else record["output"]
