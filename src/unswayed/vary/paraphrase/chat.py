"""Paraphrases by a chat model behind any OpenAI-compatible URL, or by any other system that rewrites texts."""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.options import Asking
from unswayed.base.secrets import masked_spec
from unswayed.base.seeds import Stream, Streams
from unswayed.base.values import Inputs, Json
from unswayed.storage.answers import AnswerStore
from unswayed.systems.asking import ask
from unswayed.systems.opening import open_system
from unswayed.systems.prompted import json_in
from unswayed.systems.rewrite import Rewriter, rewriting_prompt
from unswayed.vary.operator import Change, Operator, Text, Texts, in_params, pinned_system, whole_text

PROMPTS = files("unswayed.vary.paraphrase") / "prompts"
_TRIES = 3  # times that a model may answer with something that does not count


class ChatParaphrase(Operator):
    """Asks a chat model behind a URL for n paraphrases of the text, and takes one of them.

    `prompt` is a file with {text} and {n} in it, and {language} if you like. `memory` is a file that keeps the answers:
    a stopped command resumes without asking again, apart from a few answers that it checks; `canary` is how many. A
    text stays as it is if the model refuses it, or gives no list of n texts in three tries. `url` may also name any
    other system, such as `cmd:COMMAND`, which then needs no model: its inputs are `text`, `n`, `language` and `seed`,
    its output is a list of n texts.
    """

    name = "paraphrase/chat"
    aligned = False
    example = ("turn off the lights in the kitchen", "once more, turn off the lights in the kitchen")

    def __init__(
        self, url: str = "", model: str = "", prompt: str = "paraphrase.txt", n: int = 5,
        temperature: float | None = 1.0, concurrency: int = 8, key_env: str | None = None, memory: str | None = None,
        body: dict[str, Json] | None = None, retries: int = 6, read_timeout: float = 120.0,
        insecure: bool = False, canary: int | None = None,
    ) -> None:  # fmt: skip
        server = "://" in url
        if not url or (server and not model):
            wanted = in_params(url="http://127.0.0.1:8000/v1", model="NAME")
            raise UsageError(f"{self.name} needs a server and a model: {wanted}.")
        if n < 1 or concurrency < 1:
            raise UsageError("n and concurrency must be 1 or more.")
        self._url, self._model, self._n = url, model or masked_spec(url), n
        self._options: dict[str, Any] = {}
        template = rewriting_prompt(prompt, PROMPTS)
        if server:
            self._options = {"model": model, "prompt": template, "temperature": temperature, "key_env": key_env}
            self._options |= {"concurrency": concurrency, "body": body, "retries": retries}
            self._options |= {"read_timeout": read_timeout, "insecure": insecure}
        self._memory, self._canary = None if memory is None else Path(memory), canary
        if self._memory is not None:
            AnswerStore.shared(self._memory).close()  # raises where nothing can be kept

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        return {"prompt_id": rewriting_prompt(params["prompt"], PROMPTS).id, **pinned_system(params["url"], Rewriter)}

    @cached_property
    def _rewriter(self) -> Rewriter:
        return open_system(self._url, Rewriter, **self._options)

    def change_many(self, texts: Texts, streams: Streams) -> list[Change | None]:
        made: list[Change | None] = [None] * len(texts)
        open_texts = [i for i, text in enumerate(texts) if text.text.strip()]
        try:
            for _ in range(_TRIES):
                requests: list[Inputs] = []
                for i in open_texts:
                    text, seed = texts[i], str(streams[i].bits() >> 33)
                    requests.append({"text": text.text, "n": str(self._n), "language": text.language, "seed": seed})
                try:
                    with AnswerStore.shared(self._memory) if self._memory else nullcontext() as store:
                        outputs = ask(self._rewriter, requests, store, Asking(canary=self._canary))
                except SystemBroken as problem:
                    if self._memory is None:
                        raise
                    raise SystemBroken(f"{problem} What was answered is kept.") from problem
                asked, open_texts = open_texts, []
                for i, output in zip(asked, outputs, strict=True):
                    if not output.ok or output.value is None:
                        continue  # the system will not rewrite this text
                    found = read_paraphrases(output.value, self._n)
                    counts, made[i] = self._read_answer(found, texts[i], streams[i])
                    if not counts:
                        open_texts.append(i)
        finally:
            self._rewriter.close()
        return made

    def _read_answer(self, found: list[str], text: Text, rng: Stream) -> tuple[bool, Change | None]:
        """Whether an answer counts, or is asked for again, and the change that it makes, if any; `meaning/chat` has its
        own."""
        own, *each = (re.findall(r"\w+", said.casefold()) for said in (text.text, *found))
        others = [other for other, words in zip(found, each, strict=True) if words != own]
        change = whole_text(text.text, rng.choice(others), f"as {self._model} says it") if others else None
        return bool(found), change


def read_paraphrases(answer: Json, n: int) -> list[str]:
    """The different texts in an answer, or none where it is not a list of at least n of them, as JSON or in a text."""
    try:
        value = json_in(answer) if isinstance(answer, str) else answer
        listed = msgspec.convert(value.get("paraphrases") if isinstance(value, dict) else value, list[str])
    except ValueError:  # msgspec's own errors are such, too
        return []
    texts = [text.strip() for text in listed[:n]]
    return list(dict.fromkeys(texts)) if len(texts) == n and all(texts) else []
