"""PRISM: how likely a multilingual translation model finds one text as a paraphrase of the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unswayed.base import Json, UsageError
from unswayed.systems import Metric, ModelFolder, Segment
from unswayed.systems.device import beside

# Models whose tokenizer must be set to the languages of both texts, and codes of three letters that some of them use.
_MULTILINGUAL = ("m2m_100", "mbart", "nllb-moe")
_THREE = {
    "cs": "ces", "de": "deu", "en": "eng", "es": "spa", "fr": "fra", "hi": "hin", "ja": "jpn", "km": "khm", "pl": "pol",
    "ps": "pbt", "pt": "por", "ru": "rus", "ta": "tam", "zh": "zho",
}  # fmt: skip


class Prism(Metric):
    """The mean log-probability of a token, of the candidate given the reference and the other way, averaged.

    `model` is the folder of a sequence-to-sequence model. With `against=source` the candidate is scored as a
    translation of its source, without a reference. A multilingual model reads the candidate's language from the tag;
    `source_language` is that of sources. The token that names the language does not count.
    """

    deterministic = True

    def __init__(
        self, model: str = "", against: str = "reference", batch: int = 32, source_language: str = "en"
    ) -> None:
        if against not in ("reference", "source"):
            raise ValueError(f"against must be reference or source, not {against}")
        if not model or not Path(model, "config.json").exists():
            raise ValueError("model must name the folder of a Hugging Face sequence-to-sequence model")
        self._folder = ModelFolder(model, "sequence-to-sequence model")
        self._multilingual = self._folder.config.get("model_type") in _MULTILINGUAL
        self.uses = (against, "tag") if self._multilingual else (against,)
        self._against, self._batch, self._source_language = against, batch, source_language
        self._loaded: tuple[Any, Any] | None = None

    def decides(self) -> Json:
        told = [self._source_language] if self._multilingual else []
        return [self._against, self._folder.content, *self._folder.place.decides(), *told]

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        candidates = [segment.candidate for segment in segments]
        others = [getattr(segment, self._against) or "" for segment in segments]
        own = [(segment.tag or "").partition("-")[0] for segment in segments]
        if self._against == "source":
            return self._likelihood(others, candidates, [self._source_language] * len(own), own)
        forward = self._likelihood(others, candidates, own, own)
        backward = self._likelihood(candidates, others, own, own)
        return [(a + b) / 2 for a, b in zip(forward, backward, strict=True)]

    def _likelihood(
        self, given: Sequence[str], said: Sequence[str], before: Sequence[str], after: Sequence[str]
    ) -> list[float]:
        """The mean log-probability of a token of each text, given another; texts of the same languages together."""
        places: dict[tuple[str, str], list[int]] = {}
        for place, languages in enumerate(zip(before, after, strict=True)):
            places.setdefault(languages if self._multilingual else ("", ""), []).append(place)
        found = [0.0] * len(given)
        for (source, target), own in places.items():
            if self._multilingual:
                self._set_languages(source, target)
            for at in range(0, len(own), self._batch):
                rows = own[at : at + self._batch]
                scores = self._scored([given[i] for i in rows], [said[i] for i in rows])
                for i, score in zip(rows, scores, strict=True):
                    found[i] = score
        return found

    def _scored(self, given: list[str], said: list[str]) -> list[float]:
        import torch

        model, tokenizer = self._model()
        batch = beside(model, dict(tokenizer(given, padding=True, truncation=True, return_tensors="pt")))
        target = beside(model, dict(tokenizer(text_target=said, padding=True, truncation=True, return_tensors="pt")))
        ids, mask = target["input_ids"], target["attention_mask"]
        with torch.no_grad():
            inputs = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
            logits = model(**inputs, labels=ids.masked_fill(mask == 0, -100)).logits
        if self._multilingual:
            mask[:, 0] = 0  # the language, which is given
        chosen = logits.float().log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1) * mask
        scores: list[float] = (chosen.sum(-1) / mask.sum(-1).clamp(min=1)).tolist()
        return scores

    def _set_languages(self, source: str, target: str) -> None:
        tokenizer = self._model()[1]
        tokenizer.src_lang, tokenizer.tgt_lang = self._code(source), self._code(target)

    def _code(self, language: str) -> str:
        """What the model calls a language: pt, pt_XX or por_Latn."""
        tokenizer = self._model()[1]
        known = [*(getattr(tokenizer, "lang_code_to_id", None) or tokenizer.all_special_tokens)]
        for start in (f"{language}_", f"{_THREE.get(language, language)}_"):
            if found := next((code for code in known if code == language or code.startswith(start)), None):
                return str(found)
        raise UsageError(f"{self._folder.path} does not know the language {language!r}.")

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            self._loaded = self._folder.model("AutoModelForSeq2SeqLM"), self._folder.tokenizer()
        return self._loaded
