"""What Inspect AI writes, as .eval or as JSON; read with Inspect itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from unswayed.base.errors import DataError, UsageError
from unswayed.base.ids import decode
from unswayed.data.logs import MOST_LOG_BYTES, LoggedAnswer, LogReader
from unswayed.systems.system import Failed


class InspectLog(LogReader):
    """Samples of a task that `unswayed export` wrote."""

    patterns = ("*.eval",)
    suffixes = (".eval", ".json")

    def answers(self, file: Path) -> Iterator[LoggedAnswer]:
        try:
            from inspect_ai.log import read_eval_log
        except ImportError as error:
            raise UsageError("Logs of Inspect AI are read with it. Install it with:  pip install inspect-ai") from error
        try:
            if file.suffix == ".eval":  # a small archive may unpack to more than a machine holds
                with ZipFile(file) as archive:
                    size = sum(entry.file_size for entry in archive.infolist())
                if size > MOST_LOG_BYTES:
                    raise ValueError(
                        f"it would take {size >> 20:,} MB of memory, of which {MOST_LOG_BYTES >> 20:,} are the most"
                    )
            log = read_eval_log(str(file))
        except Exception as error:  # whatever a damaged log makes it raise
            raise DataError(
                f"this is not a whole log of Inspect AI ({type(error).__name__}: {error}).", file
            ) from error
        words = (log.eval.metadata or {}).get("words") or {}
        labels = {word: label for label, word in words.items()}
        for sample in log.samples or ():
            given = (sample.metadata or {}).get("inputs")
            if given is None:
                raise DataError(f"sample {sample.id} does not come from `unswayed export`: it has no inputs.", file)
            answer = next((score.answer for score in (sample.scores or {}).values()), None)
            inputs = decode(given, dict[str, str])
            if sample.error is not None:
                yield inputs, Failed(sample.error.message, final=True)
            elif answer is None:
                yield inputs, Failed(f"the answer {sample.output.completion!r:.200} is no label", final=True)
            else:
                yield inputs, labels.get(answer, answer)
