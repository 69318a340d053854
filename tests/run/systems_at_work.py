"""Systems for worker processes, which log whom they were asked in and what; tests copy this file to where they run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unswayed.base.edits import Edit
from unswayed.base.seeds import Streams
from unswayed.systems.system import Failed, System
from unswayed.vary.operator import Change, Operator, Texts

LOG = Path("asked.log")
ONCE = Path("died-once")


def _log(texts: list[str]) -> None:
    with LOG.open("a") as file:  # one write, so that lines of several processes stay whole
        file.write("".join(f"{os.getpid()}\t{text}\n" for text in texts))


def shout(batch: list[dict[str, str]]) -> list[str]:
    """Answers in capitals."""
    texts = [item["text"] for item in batch]
    _log(texts)
    return [text.upper() for text in texts]


def slow(batch: list[dict[str, str]]) -> list[str]:
    time.sleep(0.02 * len(batch))
    return shout(batch)


def dies_once(batch: list[dict[str, str]]) -> list[str]:
    """The first process that is asked about text 5 dies of it."""
    if any(item["text"] == "text 5" for item in batch) and not ONCE.exists():
        ONCE.touch()
        os.kill(os.getpid(), 9)
    return shout(batch)


def dies_always(batch: list[dict[str, str]]) -> list[str]:
    """Whoever is asked about text 5 dies of it."""
    answers = shout(batch)
    if any(item["text"] == "text 5" for item in batch):
        os.kill(os.getpid(), 9)
    return answers


def fails(batch: list[dict[str, str]]) -> list[str]:
    raise ValueError("no")


def too_few(batch: list[dict[str, str]]) -> list[str]:
    return shout(batch)[1:]


def changes(batch: list[dict[str, str]]) -> list[str]:
    return shout(batch)


changes.unswayed_identity = str(os.getpid())  # type: ignore[attr-defined]


def on_gpu(batch: list[dict[str, str]]) -> list[str]:
    """Answers with the GPUs that it may see."""
    return [os.environ.get("CUDA_VISIBLE_DEVICES", "none")] * len(batch)


class Counting(System):
    """Knows what it uses, needs a suite to answer, fails now and then, and may be asked from threads."""

    name = "counting"
    batch_size = 3
    concurrency = 2

    def __init__(self, mark: str = "!") -> None:
        self.mark = mark
        self.suite = ""
        self._used = 0.0
        self.failed: set[str] = set()

    @property
    def identity(self) -> str:
        return f"counting {self.mark} {self.suite}"

    def prepare(self, suite: Any) -> None:
        self.suite = suite.id

    def predict(self, batch: Sequence[dict[str, str]]) -> list[Any]:
        texts = [item["text"] for item in batch]
        _log(texts)
        self._used += len(texts)
        out: list[Any] = [text + self.mark for text in texts]
        for i, text in enumerate(texts):
            if text == "text 4" and text not in self.failed:
                self.failed.add(text)
                out[i] = Failed("try later")
        return out

    def used(self) -> dict[str, float]:
        used, self._used = self._used, 0.0
        return {"texts": used}

    def close(self) -> None:
        Path(f"closed-{os.getpid()}").touch()


class Marked(Operator):
    """Puts a random number behind a text, slowly."""

    example = ("a", "a 4")

    def change_many(self, texts: Texts, streams: Streams) -> list[Change | None]:
        _log([text.text for text in texts])
        time.sleep(0.0005 * len(texts))
        ends, digits = map(len, texts.strings), streams.below(0, [10] * len(texts))
        return [Change((Edit(end, end, f" {n}"),), "a number") for end, n in zip(ends, digits, strict=True)]
