"""Controls by a chat model behind any OpenAI-compatible URL, shown five examples of each kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from unfazed.core.errors import UsageError
from unfazed.core.http.chat import Chat
from unfazed.core.prompt import Template
from unfazed.core.seeds import Stream
from unfazed.core.values import Json
from unfazed.vary.operator import Change, Text, whole_text
from unfazed.vary.paraphrase.chat import ChatParaphrase, paraphrases

PROMPTS = Path(__file__).parent / "prompts"
WAYS = ("replace", "insert", "delete")
_TRIES = 3  # times that a model may change more than one stretch, or nothing
_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff_]+|[^\w\s]")


class ChatControl(ChatParaphrase):
    """Has a chat model behind a URL replace, insert or delete (`way`) a word or phrase, so that the meaning changes.

    An answer counts only if it differs from the text in one stretch of at most `longest` words or characters of
    Chinese. `prompt` is a file of yours with {text}, {n} and {language}; without one, ours of that way is used. The
    other parameters are those of `paraphrase/chat`.
    """

    meaning = "changed"
    example = ("turn off the lights in the kitchen", "in short, turn off the lights in the kitchen")

    def __init__(
        self,
        url: str = "",
        model: str = "",
        way: str = "replace",
        prompt: str = "",
        longest: int = 4,
        temperature: float | None = 0.0,
        concurrency: int = 8,
        key_env: str | None = None,
        memory: str | None = None,
        body: dict[str, Json] | None = None,
        retries: int = 6,
    ) -> None:
        if not url or not model:
            raise UsageError(
                "meaning/chat needs a server and a model: --param url=http://127.0.0.1:8000/v1 --param model=NAME."
            )
        file = _file(way, prompt)
        super().__init__(url, model, file, 1, temperature, concurrency, key_env, memory, body, retries)
        self._longest, self._way = longest, way

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        return {"prompt_id": Template.read(_file(params["way"], params["prompt"])).id}

    def _change(self, chat: Chat, text: Text, rng: Stream) -> Change | None:
        for _ in range(_TRIES if text.text.strip() else 0):
            answer = self._ask(chat, text, rng.bits() >> 33)
            if answer is None:
                return None
            found = paraphrases(answer, 1)
            if found and one_stretch(text.text, found[0], self._longest):
                return whole_text(text.text, found[0], f"{self._way}, as {self._model} says it")
        return None


def one_stretch(text: str, new: str, longest: int) -> bool:
    """Do the texts differ, and in one stretch only that is on both sides no longer than this many words?"""
    before, after = _UNIT.findall(text.casefold()), _UNIT.findall(new.casefold())
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    changed = (len(before) - start - end, len(after) - start - end)
    return 0 < max(changed) <= longest


def _file(way: str, prompt: str) -> str:
    if way not in WAYS:
        raise UsageError(f"way is one of {', '.join(WAYS)}, not {way!r}.")
    return prompt or str(PROMPTS / f"{way}.txt")
