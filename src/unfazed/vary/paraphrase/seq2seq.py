"""Paraphrases by any Hugging Face sequence-to-sequence model that lies in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from unfazed.core.errors import UsageError
from unfazed.core.ids import content_id, file_hash
from unfazed.core.seeds import Stream
from unfazed.core.values import Json
from unfazed.vary.operator import Change, Operator, Text, whole_text
from unfazed.vary.transformer import loaded
from unfazed.vary.words import normal

_FILES = ("*.json", "*.safetensors", "*.bin", "*.model", "*.txt")


class Seq2Seq(Operator):
    """Has a sequence-to-sequence model say the text in n other ways, and takes one of them.

    `model` is a folder as `save_pretrained` writes it; `prefix` is what the model wants before the text, such as
    `paraphrase: `. Words are sampled from the `top_k` likeliest, each candidate with random numbers of its own, so
    that what a text becomes does not depend on what else is varied. `batch` is how many texts are asked about at
    once; more is faster, and may then change a word now and then, as sums are rounded otherwise.
    """

    aligned = False
    example = ("the film won six prizes", "six prizes were won by the film")

    def __init__(
        self,
        model: str = "",
        prefix: str = "",
        n: int = 3,
        top_k: int = 50,
        temperature: float = 1.0,
        longest: int = 256,
        batch: int = 1,
    ) -> None:
        if not model:
            raise UsageError("paraphrase/seq2seq needs the folder of a model: --param model=FOLDER.")
        if min(n, top_k, longest, batch) < 1 or temperature <= 0:
            raise UsageError("n, top_k, longest and batch must be 1 or more, and temperature more than 0.")
        self.model, self.prefix, self.n, self.top_k = model, prefix, n, top_k
        self.temperature, self.longest, self.batch = temperature, longest, batch

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        """An id of the model's files."""
        folder = Path(params.get("model") or ".")
        files = sorted(file for pattern in _FILES for file in folder.glob(pattern)) if params.get("model") else []
        return {"model_id": content_id([[file.name, file_hash(file)] for file in files])}

    def change(self, text: Text, rng: Stream) -> Change | None:
        return self.changes([text], [rng])[0]

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        made: list[Change | None] = [None] * len(texts)
        asked = [i for i, text in enumerate(texts) if text.text.strip()]
        asked.sort(key=lambda i: len(texts[i].text))  # those of like length together
        for at in range(0, len(asked), self.batch):
            some = asked[at : at + self.batch]
            said = self._model.candidates([texts[i].text for i in some], [rngs[i] for i in some])
            for i, candidates in zip(some, said, strict=True):
                own = normal(texts[i].text)
                others = [other for other in dict.fromkeys(candidates) if normal(other) not in ("", own)]
                if others:
                    note = f"as {Path(self.model).name} says it"
                    made[i] = whole_text(texts[i].text, rngs[i].choice(others), note)
        return made

    @cached_property
    def _model(self) -> _Model:
        return _Model(self)


class _Model:
    """The weights, loaded when the first text comes."""

    def __init__(self, asked: Seq2Seq) -> None:
        self.asked = asked
        self.tokenizer, self.network = loaded("AutoModelForSeq2SeqLM", asked.model, "sequence-to-sequence model")

    def candidates(self, texts: Sequence[str], rngs: Sequence[Stream]) -> list[list[str]]:
        """For each text n ways to say it, in the order in which they were drawn; the same may come twice."""
        import torch

        n = self.asked.n
        wanted = [self.asked.prefix + " ".join(text.split()) for text in texts for _ in range(n)]
        generators = [rng.numpy() for rng in rngs for _ in range(n)]
        encoded = self.tokenizer(
            wanted, return_tensors="pt", padding=True, truncation=True, max_length=self.asked.longest
        )
        with torch.inference_mode():
            ids = self.network.generate(
                **encoded,
                do_sample=False,
                num_beams=1,
                max_new_tokens=self.asked.longest,
                logits_processor=[self._sampler(generators)],
            )
        said = [" ".join(text.split()) for text in self.tokenizer.batch_decode(ids, skip_special_tokens=True)]
        return [said[i * n : (i + 1) * n] for i in range(len(texts))]

    def _sampler(self, generators: list[Any]) -> Any:
        """Makes the likeliest word after it one that is drawn from the top k: noise by Gumbel, a generator a row."""
        import numpy as np
        import torch
        from transformers import LogitsProcessor

        k, temperature = self.asked.top_k, self.asked.temperature

        class Sampler(LogitsProcessor):
            def __call__(self, input_ids: Any, scores: Any) -> Any:
                best = scores.float().topk(min(k, scores.shape[-1]))
                noise = np.stack([generator.gumbel(size=best.values.shape[-1]) for generator in generators])
                drawn = (best.values / temperature + torch.from_numpy(noise).float()).argmax(-1, keepdim=True)
                return torch.full_like(scores, -torch.inf).scatter(-1, best.indices.gather(-1, drawn), 0.0)

        return Sampler()
