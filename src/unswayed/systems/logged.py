"""Answers that a model gave elsewhere: logs of lm-evaluation-harness, Inspect AI or promptfoo, or one's own lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import isnan
from pathlib import Path
from zipfile import ZipFile

import msgspec

from unswayed.base.errors import DataError, UsageError
from unswayed.base.ids import canonical
from unswayed.base.json import decode
from unswayed.base.values import Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.storage.untrusted_files import bounded_lines, open_regular, read_bounded
from unswayed.systems.system import Failed, System, plain
from unswayed.systems.url import said_key

Answer = tuple[Inputs, Json | Failed]
_MOST_LOG = 2 << 30  # bytes, unpacked
_SUFFIXES = (".jsonl", ".eval", ".json")


class LoggedSystem(System):
    """Says what a log says. A line of one's own is `{"inputs": {…}, "output": …}`, or has an `error` instead."""

    batch_size = 1024
    retries = 0
    deterministic = True

    def __init__(self, path: str) -> None:
        self.name = f"logged:{path}"
        self._path = path
        self._answers: dict[bytes, Json | Failed] = {}
        said_in: dict[bytes, Path] = {}
        for file in _files(Path(path)):
            for inputs, answer in _read(file):
                key = canonical(inputs)
                if said_in.setdefault(key, file) != file and not _same(answer, self._answers[key]):
                    raise DataError(
                        f"{said_in[key].name} has another answer to {_quoted(inputs)}. Name one file.", file
                    )
                self._answers.setdefault(key, answer)

    @property
    def identity(self) -> str:
        digest = blake2b(digest_size=16)
        for key, answer in sorted(self._answers.items()):
            digest.update(key)
            digest.update(canonical([answer.error] if isinstance(answer, Failed) else {"said": answer}))
        return f"logged {digest.hexdigest()}"

    def prepare(self, suite: Suite) -> None:
        """A log of another suite, or one that was stopped, is told before anything is stored."""
        asked = (i for e, variants in suite.groups() for i in (e.inputs, *(v.inputs for v in variants)))
        lacking = [inputs for inputs in asked if canonical(inputs) not in self._answers]
        if lacking:
            total = suite.manifest.examples + suite.manifest.variants
            raise UsageError(
                f"{self._path} has no answer to {len(lacking):,} of the {total:,} inputs of {suite.path}; the first is "
                f"{_quoted(lacking[0])}. Was it logged for this suite, without a limit, and to its end?"
            )

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        unknown = Failed("the log has no answer to this", final=True)
        return [self._answers.get(canonical(inputs), unknown) for inputs in batch]


def _files(path: Path) -> list[Path]:
    """The file itself, or the logs in a folder, as both harnesses name them."""
    if path.is_file() and path.suffix in _SUFFIXES:
        return [path]
    found = [*path.rglob("samples_*.jsonl"), *path.rglob("*.eval")] if path.is_dir() else []
    if not found:
        raise DataError(
            "there is no log here. A log is a file that ends in .jsonl, .eval or .json, or a folder in which lm_eval "
            "(with --log_samples) or inspect wrote one.",
            path,
        )
    return sorted(found)


def _read(file: Path) -> Iterator[Answer]:
    if file.suffix == ".jsonl":
        yield from _lines(file)
    elif file.suffix == ".json" and _is_promptfoo(file):
        yield from _promptfoo(file)
    else:
        yield from _inspect(file)


def _lines(file: Path) -> Iterator[Answer]:
    with open_regular(file) as lines:
        for row, line in enumerate(bounded_lines(lines, file), 1):
            if not line.strip():
                continue
            try:
                record = decode(line)
                read = _harness if "doc" in record else _promptfoo_result if "testCase" in record else _own
                yield read(record)
            except (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise DataError(f"this is not a logged answer ({type(error).__name__}: {error}).", file, row) from error


def _own(record: Json) -> Answer:
    inputs = msgspec.convert(record["inputs"], dict[str, str])
    return inputs, Failed(str(record["error"]), final=True) if record.get("error") else record["output"]


def _harness(record: Json) -> Answer:
    """A sample of lm-evaluation-harness: likelihoods of all labels, or a text."""
    doc, said = record["doc"], record["filtered_resps"]
    inputs = decode(doc["inputs"], dict[str, str])
    if "labels" not in doc:
        return inputs, plain(said[0].strip())
    likelihoods = [float(likelihood) for likelihood, *_ in said]
    if any(map(isnan, likelihoods)):
        return inputs, Failed("a label's likelihood is not a number", final=True)
    return inputs, doc["labels"][likelihoods.index(max(likelihoods))]


def _is_promptfoo(file: Path) -> bool:
    with open_regular(file) as opened:
        return re.match(rb'\s*\{\s*"evalId"', opened.read(100)) is not None


def _promptfoo(file: Path) -> Iterator[Answer]:
    """What `promptfoo eval -o` wrote."""
    read = 0
    try:
        results = decode(read_bounded(file, _MOST_LOG))["results"]["results"]
        asked = {(result["provider"]["id"], result["promptIdx"]) for result in results}
        if len(asked) > 1:
            names = ", ".join(sorted({provider for provider, _ in asked}))
            raise DataError(f"several providers or prompts answered here ({names}). Ask one at a time.", file)
        for result in results:
            read += 1
            yield _promptfoo_result(result)
    except (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"result {read} is no answer to a test of `unswayed export` ({_said(error)}).", file) from error


def _promptfoo_result(result: Json) -> Answer:
    told, response = result["metadata"], result.get("response") or {}
    inputs = decode(told["inputs"], dict[str, str])
    problem = response.get("error") or (result.get("error") if result.get("failureReason") == 2 else None)
    if problem or "output" not in response:
        return inputs, Failed(str(problem or "promptfoo has no answer")[:2000], final=True)
    said, words = response["output"], told.get("words") or {}
    if not words:
        return inputs, plain(said.strip() if isinstance(said, str) else said)
    labels = {said_key(word): label for label, word in words.items()}
    label = labels.get(said_key(str(said)))
    return inputs, Failed(f"the answer {said!r:.200} is no label", final=True) if label is None else label


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def _refuse_bomb(file: Path) -> None:
    if file.suffix == ".eval":
        with ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > _MOST_LOG:
            raise ValueError(f"it would take {size >> 20:,} MB of memory, of which {_MOST_LOG >> 20:,} are the most")


def _inspect(file: Path) -> Iterator[Answer]:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise UsageError("Logs of Inspect AI are read with it. Install it with:  pip install inspect-ai") from error
    try:
        _refuse_bomb(file)
        log = read_eval_log(str(file))
    except Exception as error:  # whatever a damaged log makes it raise
        raise DataError(f"this is not a whole log of Inspect AI ({type(error).__name__}: {error}).", file) from error
    words = (log.eval.metadata or {}).get("words") or {}
    labels = {word: label for label, word in words.items()}
    for sample in log.samples or ():
        given = (sample.metadata or {}).get("inputs")
        if given is None:
            raise DataError(f"sample {sample.id} does not come from `unswayed export`: it has no inputs.", file)
        said = next((score.answer for score in (sample.scores or {}).values()), None)
        inputs = decode(given, dict[str, str])
        if sample.error is not None:
            yield inputs, Failed(sample.error.message, final=True)
        elif said is None:
            yield inputs, Failed(f"the answer {sample.output.completion!r:.200} is no label", final=True)
        else:
            yield inputs, labels.get(said, said)


def _same(one: Json | Failed, other: Json | Failed) -> bool:
    return repr(one) == repr(other)


def _quoted(inputs: Inputs) -> str:
    return repr(" | ".join(inputs.values()))[:80]
