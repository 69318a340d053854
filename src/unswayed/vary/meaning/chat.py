"""Controls by a chat model behind any OpenAI-compatible URL, shown five examples of each kind."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream
from unswayed.base.values import Json
from unswayed.systems.rewrite import Rewriter, rewriting_prompt
from unswayed.vary.operator import Change, Text, pinned_system, whole_text
from unswayed.vary.paraphrase.chat import ChatParaphrase
from unswayed.vary.words import common_ends

PROMPTS = files("unswayed.vary.meaning") / "prompts"
WAYS = ("replace", "insert", "delete")
_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff_]+|[^\w\s]")


class ChatControl(ChatParaphrase):
    """Asks a chat model behind a URL to replace, insert or delete (`way`) words, so that the meaning changes.

    An answer counts only if it differs from the text in one stretch of at most `longest` words or characters of
    Chinese. `prompt` is a file of yours with {text}, {n} and {language}; without it, the prompt for that way is used.
    The other parameters are those of `paraphrase/chat`.
    """

    name = "meaning/chat"
    meaning = "changed"
    example = ("turn off the lights in the kitchen", "in short, turn off the lights in the kitchen")

    def __init__(
        self, url: str = "", model: str = "", way: str = "replace", prompt: str = "", longest: int = 4,
        temperature: float | None = 0.0, concurrency: int = 8, key_env: str | None = None, memory: str | None = None,
        body: dict[str, Json] | None = None, retries: int = 6, insecure: bool = False,
        canary: int | None = None,
    ) -> None:  # fmt: skip
        asking = concurrency, key_env, memory, body, retries
        super().__init__(url, model, _file(way, prompt), 1, temperature, *asking, insecure=insecure, canary=canary)
        self._longest, self._way = longest, way

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        prompt = rewriting_prompt(_file(params["way"], params["prompt"]), PROMPTS)
        return {"prompt_id": prompt.id, **pinned_system(params["url"], Rewriter)}

    def _read_answer(self, found: list[str], text: Text, rng: Stream) -> tuple[bool, Change | None]:
        if not found or not one_stretch(text.text, found[0], self._longest):
            return False, None
        return True, whole_text(text.text, found[0], f"{self._way}, as {self._model} says it")


def one_stretch(text: str, new: str, longest: int) -> bool:
    """Do the texts differ, and in one stretch only that is on both sides no longer than this many words?"""
    before, after = _UNIT.findall(text.casefold()), _UNIT.findall(new.casefold())
    start, end = common_ends(before, after)
    changed = (len(before) - start - end, len(after) - start - end)
    return 0 < max(changed) <= longest


def _file(way: str, prompt: str) -> str:
    if way not in WAYS:
        raise UsageError(f"way must be one of {', '.join(WAYS)}, not {way!r}.")
    return prompt or str(PROMPTS / f"{way}.txt")
