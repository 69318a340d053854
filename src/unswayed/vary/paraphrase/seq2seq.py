"""Paraphrases by a sequence-to-sequence model in a folder, such as a T5 that was trained for it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from unswayed.base.errors import UsageError
from unswayed.base.ids import content_id
from unswayed.base.seeds import Streams
from unswayed.base.values import Inputs, Json
from unswayed.systems.asking import ask
from unswayed.systems.opening import open_system
from unswayed.systems.rewrite import Rewriter, weights_id
from unswayed.vary.operator import Change, Operator, Texts, in_params, whole_text
from unswayed.vary.words import normal


class Seq2Seq(Operator):
    """Asks a sequence-to-sequence model for n paraphrases of the text, and takes one of them.

    `model` is a folder as `save_pretrained` writes it; `prefix` is what the model wants before the text, such as
    `paraphrase: `. The model samples from the `top_k` likeliest words. Each candidate has random numbers of its own, so
    the variants of a text do not depend on the other texts. `batch` is how many texts the model gets at once: more is
    faster, but rounding may then change a word now and then.
    """

    aligned = False
    example = ("the film won six prizes", "six prizes were won by the film")

    def __init__(
        self, model: str = "", prefix: str = "", n: int = 3, top_k: int = 50, temperature: float = 1.0,
        longest: int = 256, batch: int = 1,
    ) -> None:  # fmt: skip
        if not model:
            raise UsageError(f"paraphrase/seq2seq needs the folder of a model: {in_params(model='FOLDER')}.")
        if min(n, top_k, longest, batch) < 1 or temperature <= 0:
            raise UsageError("n, top_k, longest and batch must be 1 or more, and temperature more than 0.")
        self.folder, self.n = model.removeprefix("hf:"), n
        self._options: dict[str, Any] = {"prefix": prefix, "top_k": top_k, "temperature": temperature}
        self._options |= {"longest": longest, "batch_size": batch}

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        """An id of the model's files."""
        folder = str(params.get("model") or "").removeprefix("hf:")
        return {"model_id": weights_id(folder) if folder else content_id([])}

    @cached_property
    def rewriter(self) -> Rewriter:
        return open_system(f"hf:{self.folder}", Rewriter, **self._options)

    def change_many(self, texts: Texts, streams: Streams) -> list[Change | None]:
        made: list[Change | None] = [None] * len(texts)
        places = [i for i, text in enumerate(texts) if text.text.strip()]
        places.sort(key=lambda i: len(texts[i].text))  # texts of like length together
        requests: list[Inputs] = []
        for i in places:
            seeds = ",".join(str(streams[i].bits()) for _ in range(self.n))
            requests.append({"text": texts[i].text, "n": str(self.n), "language": texts[i].language, "seed": seeds})
        outputs = ask(self.rewriter, requests)
        for i, output in zip(places, outputs, strict=True):
            own = texts[i].text
            others = [other for other in dict.fromkeys(output.value or ()) if normal(other) not in ("", normal(own))]
            if others:
                made[i] = whole_text(own, streams[i].choice(others), f"as {Path(self.folder).name} says it")
        return made
