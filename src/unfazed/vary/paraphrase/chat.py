"""Paraphrases by a chat model behind any OpenAI-compatible URL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from unfazed.core.errors import SystemBroken, UsageError
from unfazed.core.http.chat import Chat, json_in
from unfazed.core.http.client import HttpSettings, Refused, Unanswered
from unfazed.core.ids import content_id
from unfazed.core.json import decode
from unfazed.core.prompt import Template
from unfazed.core.seeds import Stream
from unfazed.core.values import Json
from unfazed.vary.operator import Change, Operator, Text, whole_text

PROMPTS = Path(__file__).parent / "prompts"
_ALL = 10  # texts that are refused before any is answered: the request itself is wrong
_TRIES = 3  # times that a model may answer with something that is not a list of paraphrases


class ChatParaphrase(Operator):
    """Has a chat model behind a URL say the text in n other ways, and takes one of them.

    `prompt` is a file with {text} and {n} in it, and {language} if it likes. Answers are kept in the file `memory`,
    if there is one, so that what was stopped goes on without asking again. A text that the model will not
    paraphrase, or for which it gives no such list in three tries, is left alone.
    """

    aligned = False
    example = ("turn off the lights in the kitchen", "once more, turn off the lights in the kitchen")

    def __init__(
        self,
        url: str = "",
        model: str = "",
        prompt: str = "paraphrase.txt",
        n: int = 5,
        temperature: float | None = 1.0,
        concurrency: int = 8,
        key_env: str | None = None,
        memory: str | None = None,
        body: dict[str, Json] | None = None,
        retries: int = 6,
        read_timeout: float = 120.0,
    ) -> None:
        if not url or not model:
            raise UsageError(
                "paraphrase/chat needs a server and a model: --param url=http://127.0.0.1:8000/v1 --param model=NAME."
            )
        if n < 1 or concurrency < 1:
            raise UsageError("n and concurrency must be 1 or more.")
        self._url, self._model, self._key_env, self._body, self._retries = url, model, key_env, body, retries
        self._template = _template(prompt)
        self._n, self._temperature, self._concurrency = n, temperature, concurrency
        self._settings = HttpSettings(read_timeout=read_timeout, total_timeout=2 * read_timeout)
        self._memory = _Memory(None if memory is None else Path(memory))
        self._refused: int | None = 0  # none was answered yet
        self._decides = [url, model, self._template.text, temperature, body]

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        return {"prompt_id": _template(params["prompt"]).id}

    def change(self, text: Text, rng: Stream) -> Change | None:
        return self.changes([text], [rng])[0]

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        chat = Chat(
            self._url, self._model, self._key_env, more=self._body, settings=self._settings, retries=self._retries
        )
        pool = ThreadPoolExecutor(self._concurrency)
        try:
            return list(pool.map(lambda text, rng: self._change(chat, text, rng), texts, rngs))
        except Unanswered as problem:
            kept = " What was answered is kept." if self._memory.file else ""
            raise SystemBroken(f"{chat.client.shown}: {problem}.{kept}") from problem
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            chat.client.close()

    def _change(self, chat: Chat, text: Text, rng: Stream) -> Change | None:
        said = text.text.strip()
        if not said:
            return None
        for _ in range(_TRIES):
            answer = self._ask(chat, text, rng.bits() >> 33)
            if answer is None:
                return None
            found = paraphrases(answer, self._n)
            if found:
                others = [other for other in found if _plain(other) != _plain(said)]
                return whole_text(text.text, rng.choice(others), f"as {self._model} says it") if others else None
        return None

    def _ask(self, chat: Chat, text: Text, seed: int) -> str | None:
        """What the model says; None where the server will not be asked this."""
        texts = {"text": text.text, "n": str(self._n), "language": text.language}
        key = content_id([*self._decides, texts, seed], 16)
        if key in self._memory.known:
            return self._memory.known[key]
        told: dict[str, Json] = {
            "temperature": self._temperature,
            "seed": seed,
            "response_format": {"type": "json_object"},
        }
        try:
            answer: str | None = chat.ask(self._template.fill(texts), **told).text or ""
            self._refused = None
        except Refused as problem:
            answer = None
            self._refuse(problem)
        self._memory.put(key, answer)
        return answer

    def _refuse(self, problem: Refused) -> None:
        """One text may be refused; where it is every one from the first, it is not the text."""
        if self._refused is not None:
            self._refused += 1
            if self._refused >= _ALL:
                raise SystemBroken(
                    f"{self._url} refused the first {_ALL} texts. The last time, {problem}. If there is a field that "
                    f'it does not know, leave it out, as in --param body={{"response_format":null,"seed":null}}.'
                )


def paraphrases(answer: str, n: int) -> list[str]:
    """The different texts in a model's answer, or none where it is not a list of at least n of them."""
    try:
        value = json_in(answer)
        listed = msgspec.convert(value.get("paraphrases") if isinstance(value, dict) else value, list[str])
    except ValueError:  # msgspec's own errors are such, too
        return []
    texts = [text.strip() for text in listed[:n]]
    return list(dict.fromkeys(texts)) if len(texts) == n and all(texts) else []


class _Memory:
    """Answers by key, in a file of JSON lines that grows as they come; without a file, nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._lock = Lock()
        self.known: dict[str, str | None] = {}
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            raise UsageError(f"Answers can't be kept in {file}: that is a folder, or in none.")
        if file is not None and file.exists():
            for line in file.read_bytes().splitlines():
                try:
                    key, answer = decode(line, tuple[str, str | None])
                except (msgspec.MsgspecError, UnicodeDecodeError):
                    continue  # of a write that was cut off
                self.known[key] = answer

    def put(self, key: str, answer: str | None) -> None:
        if self.file is None:
            return
        line = b"\n" + msgspec.json.encode((key, answer))  # the line before may be cut off
        with self._lock, self.file.open("ab", buffering=0) as file:  # in one go, as other processes write there too
            file.write(line)
            self.known[key] = answer


def _template(path: str) -> Template:
    template = Template.read(path, PROMPTS)
    template.require(["text", "n", "language"])
    if "text" not in template.names:
        raise UsageError(f"{path} has no {{text}}: the model would not be told what to paraphrase.")
    return template


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
