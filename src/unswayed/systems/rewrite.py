"""Systems that rewrite texts: a text goes in, other ways to say it come out, for paraphrases and controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.base.secrets import masked_data
from unswayed.base.values import Failed, Inputs, Json
from unswayed.systems.device import beside
from unswayed.systems.http.chat import ChatClient
from unswayed.systems.http.client import HttpSettings, Refused, Unanswered
from unswayed.systems.model_folder import ModelFolder
from unswayed.systems.system import System, SystemAround
from unswayed.systems.template import Template

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_FILES = ("*.json", "*.safetensors", "*.bin", "*.model", "*.txt")  # of a model in a folder
_MAX_REFUSED = 10  # texts that a server refuses before it answers any: the request itself is wrong


class Rewriter(System):
    """Takes the inputs `text`, `n`, `language` and `seed`; returns a list of n texts, or JSON text with such a list.

    `open_system(spec, Rewriter)` opens one. A URL is a chat model, which needs `model` and `prompt`; `hf:FOLDER` is a
    sequence-to-sequence model; any other system is taken as it is. An output of null means that the system refuses
    the text.
    """

    @classmethod
    def opened(cls, spec: str, options: Mapping[str, Any]) -> Rewriter | None:
        if spec.startswith("hf:"):
            return Seq2SeqRewriter(spec.removeprefix("hf:"), **options)
        return ChatRewriter(spec, **options) if "://" in spec else None

    @classmethod
    def adapted(cls, system: System) -> Rewriter:
        return RewriterOf(system)


class ChatRewriter(Rewriter):
    """A chat model behind any OpenAI-compatible URL, asked for JSON with a seed for each request.

    `prompt` has {text} in it, and {n} and {language} if it likes.
    """

    batch_size = 1
    deterministic = False

    def __init__(
        self, url: str, model: str, prompt: Template, temperature: float | None = 1.0, concurrency: int = 8,
        key_env: str | None = None, body: dict[str, Json] | None = None, retries: int = 6,
        read_timeout: float = 120.0, insecure: bool = False,
    ) -> None:  # fmt: skip
        settings = HttpSettings(read_timeout=read_timeout, total_timeout=2 * read_timeout)
        self._open_chat = partial(ChatClient, url, model, key_env, None, body, settings, retries, insecure)
        self._url, self._prompt, self._temperature = url, prompt, temperature
        self.concurrency, self.retries = concurrency, retries
        self._lock = Lock()
        self._chat: ChatClient | None = self._open_chat()
        self._refused: int | None = 0  # None as soon as one text was answered
        self.name = f"{self._chat.shown}#{model}"
        self._identity = f"rewriter {content_id(masked_data([url, model, prompt.text, temperature, body]), 16)}"

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        found: list[Json | Failed] = []
        for inputs in batch:
            with self._lock:
                chat = self._chat = self._chat or self._open_chat()
            more: dict[str, Json] = {"seed": int(inputs["seed"]), "response_format": {"type": "json_object"}}
            texts = {name: inputs[name] for name in ("text", "n", "language")}
            try:
                asked = [{"role": "user", "content": self._prompt.fill(texts)}]
                answer = chat.ask(asked, temperature=self._temperature, **more)
            except Refused as problem:
                # One text may be refused; where it is every one from the first, it is not the text.
                self._refused = None if self._refused is None else self._refused + 1
                if self._refused is not None and self._refused >= _MAX_REFUSED:
                    raise SystemBroken(
                        f"{self._url} refused the first {_MAX_REFUSED} texts. The last time, {problem}. If the request "
                        f"has a field that the server does not know, leave the field out: "
                        f'body={{"response_format":null,"seed":null}}.'
                    ) from problem
                found.append(None)
                continue
            except Unanswered as problem:
                raise SystemBroken(f"{chat.shown}: {problem}.") from problem
            self._refused = None
            found.append(answer.text or "")
        return found

    def used(self) -> dict[str, float]:
        return self._chat.used() if self._chat else {}

    def close(self) -> None:
        """Ends requests that are under way; the next one opens the server again."""
        with self._lock:
            chat, self._chat = self._chat, None
        if chat:
            chat.close()


class Seq2SeqRewriter(Rewriter):
    """A Hugging Face sequence-to-sequence model in a folder, which samples from the `top_k` likeliest words.

    `seed` holds a number for each of the n texts, with commas between them, or one to begin with. Each text has random
    numbers of its own, so it does not depend on the other texts of its batch.
    """

    def __init__(
        self, folder: str, prefix: str = "", top_k: int = 50, temperature: float = 1.0, longest: int = 256,
        batch_size: int = 1,
    ) -> None:  # fmt: skip
        self.name = f"hf:{folder}"
        self._files = ModelFolder(folder, "sequence-to-sequence model")
        self.folder, self.prefix, self.top_k = folder, prefix, top_k
        self.temperature, self.longest, self.batch_size = temperature, longest, batch_size

    @cached_property
    def identity(self) -> str:
        decides = [weights_id(self.folder), self.prefix, self.top_k, self.temperature, self.longest]
        return f"rewriter {content_id(decides, 16)}{self._files.suffix}"

    @cached_property
    def model(self) -> tuple[Any, Any]:
        """The tokenizer and the network, loaded when the first text comes."""
        return self._files.tokenizer(), self._files.model("AutoModelForSeq2SeqLM")

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        """For each text as many others as are wanted, in the order of their seeds; the same may come twice."""
        tokenizer, network = self.model
        import numpy as np
        import torch

        wanted, generators = [], []
        for inputs in batch:
            listed, n = [int(number) for number in inputs["seed"].split(",")], int(inputs["n"])
            seeds = listed if len(listed) == n else [listed[0] + i for i in range(n)]
            generators += [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
            wanted += [self.prefix + " ".join(inputs["text"].split())] * n
        encoded = tokenizer(wanted, return_tensors="pt", padding=True, truncation=True, max_length=self.longest)
        told = {"do_sample": False, "num_beams": 1, "max_new_tokens": self.longest}
        with torch.inference_mode():
            drawn = [self.sampler(generators)]
            ids = network.generate(**beside(network, dict(encoded)), **told, logits_processor=drawn)
        written = iter(tokenizer.batch_decode(ids, skip_special_tokens=True))
        return [[" ".join(next(written).split()) for _ in range(int(inputs["n"]))] for inputs in batch]

    def sampler(self, generators: Sequence[Any]) -> Any:
        """Makes a word that is drawn from the top k the likeliest: noise by Gumbel, from one generator for each row."""
        import numpy as np
        import torch
        from transformers import LogitsProcessor

        k, temperature = self.top_k, self.temperature

        class Sampler(LogitsProcessor):
            def __call__(self, input_ids: Any, scores: Any) -> Any:
                best = scores.float().topk(min(k, scores.shape[-1]))
                noise = np.stack([generator.gumbel(size=best.values.shape[-1]) for generator in generators])
                drawn = (best.values / temperature + torch.from_numpy(noise).to(best.values)).argmax(-1, keepdim=True)
                return torch.full_like(scores, -torch.inf).scatter(-1, best.indices.gather(-1, drawn), 0.0)

        return Sampler()


def weights_id(folder: str) -> str:
    """An id of what is in a model's files."""
    files = sorted(file for pattern in _FILES for file in Path(folder).glob(pattern))
    return content_id([[file.name, file_hash(file)] for file in files])


class RewriterOf(SystemAround, Rewriter):
    """Any system as a rewriter."""

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return self.system.predict(batch)


def rewriting_prompt(path: str, folder: Traversable) -> Template:
    """The prompt in a file, or of that name in the folder; checked to have {text} and nothing that can't be filled."""
    template = Template.read(path, folder)
    template.require(["text", "n", "language"])
    if "text" not in template.names:
        raise UsageError(f"{path} has no {{text}}, so the model would not see the text. Put {{text}} in the prompt.")
    return template
