"""What `promptfoo eval -o` writes, as JSON or as JSON lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import decode
from unswayed.base.reply import answer_key
from unswayed.base.values import Json
from unswayed.data.logs import MOST_LOG_BYTES, LoggedAnswer, LogReader, first_record
from unswayed.storage.untrusted_files import open_regular, read_bounded
from unswayed.systems.system import Failed, plain


class PromptfooLog(LogReader):
    """Results of tests that `unswayed export` wrote."""

    def recognises(self, file: Path) -> bool:
        if file.suffix != ".json":
            return "testCase" in (first_record(file) or ())
        with open_regular(file) as opened:
            return re.match(rb'\s*\{\s*"evalId"', opened.read(100)) is not None

    def answer(self, record: Json) -> LoggedAnswer:
        metadata, response = record["metadata"], record.get("response") or {}
        inputs = decode(metadata["inputs"], dict[str, str])
        problem = response.get("error") or (record.get("error") if record.get("failureReason") == 2 else None)
        if problem or "output" not in response:
            return inputs, Failed(str(problem or "promptfoo has no answer")[:2000], final=True)
        output, words = response["output"], metadata.get("words") or {}
        if not words:
            return inputs, plain(output.strip() if isinstance(output, str) else output)
        label = {answer_key(word): label for label, word in words.items()}.get(answer_key(str(output)))
        return inputs, Failed(f"the answer {output!r:.200} is no label", final=True) if label is None else label

    def answers(self, file: Path) -> Iterator[LoggedAnswer]:
        if file.suffix != ".json":
            yield from super().answers(file)
            return
        read = 0
        try:
            results = decode(read_bounded(file, MOST_LOG_BYTES))["results"]["results"]
            asked = {(result["provider"]["id"], result["promptIdx"]) for result in results}
            if len(asked) > 1:
                names = ", ".join(sorted({provider for provider, _ in asked}))
                raise DataError(f"several providers or prompts answered here ({names}). Ask one at a time.", file)
            for result in results:
                read += 1
                yield self.answer(result)
        except (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"[:200]
            raise DataError(f"result {read} is no answer to a test of `unswayed export` ({problem}).", file) from error
