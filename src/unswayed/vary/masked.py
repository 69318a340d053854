"""Words that a masked language model puts in a word's place."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base.errors import UsageError
from unswayed.systems.device import beside
from unswayed.systems.model_folder import load_pretrained
from unswayed.vary.english import KIND_OF, STOPWORDS
from unswayed.vary.fitting import Asked, fitting

_TRIED = 100  # likeliest words looked at
_BATCH = 32


class MaskedModel:
    """A Hugging Face model with a masked-language-model head, loaded from a directory."""

    def __init__(self, path: str) -> None:
        self.tokenizer, self.model = load_pretrained("AutoModelForMaskedLM", path, "masked language model")
        if self.tokenizer.mask_token is None:
            raise UsageError(f"The model in {path!r} has no mask token, so it can't fill in a word.")
        longest = getattr(self.model.config, "max_position_embeddings", 512) - 2  # RoBERTa's count begins at 2
        self._longest = min(self.tokenizer.model_max_length, longest)

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        found: list[list[str]] = []
        for at in range(0, len(asked), _BATCH):
            batch = asked[at : at + _BATCH]
            found += [_fitting_the_mask(one, words) for one, words in zip(batch, self._likeliest(batch), strict=True)]
        return found

    def _likeliest(self, batch: Sequence[Asked]) -> list[list[str]]:
        """Whole words in place of each hidden one, likeliest first."""
        hidden = [_hide(one, self.tokenizer.mask_token) for one in batch]
        encoded = self.tokenizer(hidden, return_tensors="pt", padding=True, truncation=True, max_length=self._longest)
        encoded = beside(self.model, dict(encoded))
        import torch

        with torch.inference_mode():
            scores = self.model(**encoded).logits
        mask = encoded["input_ids"] == self.tokenizer.mask_token_id
        found: list[list[str]] = [[] for _ in batch]
        for row in range(len(batch)):
            places = mask[row].nonzero()
            if len(places):  # else the text is longer than the model reads
                best = scores[row, places[0, 0]].topk(min(_TRIED, scores.shape[-1])).indices.tolist()
                found[row] = self._words(best)
        return found

    def _words(self, ids: list[int]) -> list[str]:
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        starts = [piece.lstrip("Ġ▁") for piece in pieces if not piece.startswith("##")]
        return [word.lower() for word in starts if word.isalpha()]


def _hide(asked: Asked, mask: str) -> str:
    word = asked.words[asked.i]
    return asked.text[: word.start] + mask + asked.text[word.end :]


def _fitting_the_mask(asked: Asked, words: list[str]) -> list[str]:
    """A closed-class word's candidates are of its class; another's have its part of speech in context."""
    word = asked.words[asked.i]
    if (word.tag, word.lower) in STOPWORDS:
        return [other for other in words if other != word.lower and (word.tag, other) in STOPWORDS]
    known = [other for other in words if not any((tag, other) in STOPWORDS for tag in ("DT", "IN", "PRP", "MD"))]
    return fitting(asked, known) if word.tag in KIND_OF else []
