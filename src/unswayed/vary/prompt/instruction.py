"""The instruction of a prompt in other words: by rule, from your file, or by a chat model."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from functools import cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from unswayed.base.errors import UsageError
from unswayed.base.ids import file_hash
from unswayed.base.options import Asking
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Json
from unswayed.storage.answers import AnswerStore
from unswayed.storage.untrusted_files import read_bounded
from unswayed.systems.asking import ask
from unswayed.systems.opening import open_system
from unswayed.systems.rewrite import Rewriter, rewriting_prompt
from unswayed.systems.template import Reprompt, Template
from unswayed.vary.operator import in_params, pinned_system
from unswayed.vary.paraphrase.chat import read_paraphrases
from unswayed.vary.prompt import Reprompting

PROMPTS = files("unswayed.vary.prompt") / "prompts"
_OPENINGS = (
    "Please do the following.",
    "Here is your task.",
    "Read this carefully.",
    "I need your help with this.",
    "Do what is asked below.",
    "You are a helpful assistant.",
    "Please help me with the following.",
)
_WORDS: tuple[dict[str, str], ...] = (
    {},
    {"answer the": "reply to the", "answer with": "reply with", "answer": "reply", "choose": "select", "write": "give"},
    {"answer with": "respond with", "give": "provide", "choose": "pick", "decide": "determine", "following": "next"},
    {"one word": "a single word", "only": "just", "classify": "categorise", "which": "which one", "write": "put"},
    {"must": "have to", "should": "ought to", "do not": "don't", "whether": "if", "the following": "this"},
)
_TRIES = 3


class Instruction(Reprompting):
    """Says the prompt's instruction in other words: by rule, from your file, or by a chat model.

    By default, rules put an opening sentence before the prompt and replace words, such as *answer with* by *respond
    with*; English only. `file` has your own prompts, with a line `---` between them; each needs all fields. `system` is
    a chat model's URL, or another system as in `paraphrase/chat`. It rewrites the prompt in the file `prompt`: it is
    asked for `n` prompts, and those that lose or gain a field are dropped. Use one worker for that, or `memory`, a file
    that keeps the answers. Each draw is one wording for all examples. `share` is the share of the wordings that each
    example is asked with.
    """

    name = "prompt/instruction"
    example = ("Answer with yes or no.", "You are a helpful assistant.\nReply with yes or no.")

    def __init__(
        self, file: str = "", system: str = "", model: str = "", prompt: str = "", n: int = 10,
        temperature: float | None = 1.0, key_env: str | None = None, memory: str | None = None, share: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(share)
        if file and system:
            raise UsageError(f"{self.name} takes wordings from a file or from a system, not from both.")
        if system and (not prompt or ("://" in system and not model and "#" not in system)):
            wanted = in_params(system="http://127.0.0.1:8000/v1", model="NAME", prompt="p.txt")
            raise UsageError(f"{self.name} needs the prompt that the model rewrites: {wanted}.")
        if prompt and not system:
            raise UsageError(f"{self.name} rewrites the file prompt with a system: {in_params(system='SYSTEM')}.")
        self._file, self._prompt, self._n, self._memory = file, prompt, n, memory
        self._url, _, named = system.partition("#") if "://" in system else (system, "", "")
        self._options: dict[str, Any] = {}
        if "://" in system:
            self._options = {"model": model or named, "temperature": temperature, "key_env": key_env}
            self._options["prompt"] = rewriting_prompt("instruction.txt", PROMPTS)
        self._order: list[str] = []
        if file:
            _ = self._wordings  # raises where the file can't be read

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        hashes = {f"{name}_id": file_hash(Path(params[name])) for name in ("file", "prompt") if params.get(name)}
        return {**hashes, **pinned_system(params.get("system", ""), Rewriter)}

    @cached_property
    def _wordings(self) -> list[str]:
        """Those in the file; or those of a model that keep the prompt's fields, with a word on what is dropped."""
        if path := self._file:
            try:
                text = read_bounded(Path(path)).decode("utf-8-sig")
            except FileNotFoundError as error:
                raise UsageError(f"There is no file of wordings {path}.") from error
            except UnicodeDecodeError as error:
                what = f"{error.reason} at byte {error.start}"
                raise UsageError(f"{path}: the wordings are not UTF-8 text ({what}).") from error
            parts = re.split(r"(?m)^[^\S\n]*---[^\S\n]*$", text.replace("\r\n", "\n"))
            if wordings := list(dict.fromkeys(part.strip("\n") for part in parts if part.strip())):
                return wordings
            raise UsageError(f"{path} has no wordings. Write prompts into it, with a line --- between them.")
        template = Template.read(self._prompt)
        found: dict[str, None] = {}
        lost = 0
        rewriter = open_system(self._url, Rewriter, **self._options)
        try:
            for turn in range(_TRIES):
                request = {"text": template.text, "n": str(self._n), "language": "the prompt's language"}
                with AnswerStore.shared(Path(self._memory)) if self._memory else nullcontext() as store:
                    (output,) = ask(rewriter, [{**request, "seed": str(turn)}], store, Asking(canary=0))
                texts = read_paraphrases(output.value, self._n) if output.ok else []
                kept = [text for text in texts if sorted(Template(text).names) == sorted(template.names)]
                lost += len(texts) - len(kept)
                found |= dict.fromkeys(text for text in kept if text != template.text)
                if len(found) >= self._n:
                    break
        finally:
            rewriter.close()
        if not found:
            raise UsageError(f"{self._url} gave no wording of {self._prompt} that keeps its fields. Use another model.")
        if lost:
            dropped = f"dropped {lost} wordings that lost or gained a field; {len(found)} kept"
            print(f"{self.name}: {dropped}", file=sys.stderr)
        return list(found)[: self._n]

    def reprompt(self, example: Example, language: str, rng: Stream) -> tuple[Reprompt, str] | None:
        if not self._file and not self._url:
            return super().reprompt(example, language, rng)
        if not self._order:
            for number, text in enumerate(self._wordings, 1):
                template = Template(text, f"{self._file or self._prompt}, wording {number}")
                template.require(example.inputs)
                absent = next((name for name in example.inputs if not template.has(name)), None)
                if absent is not None and "chat" not in example.inputs:
                    what = f"{{{absent}}} is not in it. Each wording needs all fields of the data."
                    raise UsageError(f"{template.where}: {what}")
            self._order = rng.shared("wordings").sample(self._wordings, len(self._wordings))
        at = rng.draw % len(self._order)
        return Reprompt(template=self._order[at]), f"wording {self._wordings.index(self._order[at]) + 1}"

    def draw_reprompt(self, language: str, rng: Stream) -> tuple[Reprompt, str]:
        if language.partition("-")[0] != "en":
            file = in_params(file="wordings.txt")
            raise UsageError(f"The rules of {self.name} are for English. Give your own wordings: {file}.")
        opening, words = rng.dealt(list(product(_OPENINGS, _WORDS)), "wordings")
        replaced = f", other words: {', '.join(words)}" if words else ""
        return Reprompt(opening=opening, words=words), f"opens with {opening!r}{replaced}"
