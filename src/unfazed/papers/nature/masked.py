"""Words in context by a masked language model: BERT, RoBERTa and their like, from a folder. Needs the extra `hf`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unfazed.core import Edit, Stream
from unfazed.vary import Change, MaskedModel, Operator, Text, cased, checked_rate, some_places

_BATCH = 64
_TOP = 50  # candidates for a word, drawn by their probabilities
_BEGINNINGS = ("Ġ", "▁")  # how byte-pair and unigram vocabularies mark the beginning of a word


class Masked(Operator):
    """Replaces words by what a masked language model expects in their place.

    `model` is a Hugging Face folder; `rate` is the share of words that goes, one at least, all masked at once.
    """

    name, family = "augment/masked", "augment"

    def __init__(self, model: str = "", rate: float = 0.3) -> None:
        self.rate = checked_rate(rate)
        opened = MaskedModel(model)
        self._tokenizer, self._model = opened.tokenizer, opened.model
        self._words = _whole_words(self._tokenizer)

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        found: list[Change | None] = []
        for at in range(0, len(texts), _BATCH):
            found += self._batch(texts[at : at + _BATCH], rngs[at : at + _BATCH])
        return found

    def _batch(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        places = [
            some_places([(start, end) for start, end in text.tokens if text.text[start:end].isalpha()], self.rate, rng)
            for text, rng in zip(texts, rngs, strict=True)
        ]
        expected = self._expected(
            [_masked(t.text, p, self._tokenizer.mask_token) for t, p in zip(texts, places, strict=True)]
        )
        return [_change(*parts) for parts in zip(texts, places, expected, rngs, strict=True)]

    def _expected(self, masked: list[str]) -> list[list[list[tuple[str, float]]]]:
        """For each text and mask the likeliest words with their probabilities."""
        import torch

        inputs = self._tokenizer(masked, return_tensors="pt", padding=True, truncation=True)
        with torch.no_grad():
            logits = self._model(**inputs).logits
        found = []
        for ids, scores in zip(inputs["input_ids"], logits, strict=True):
            chances = scores[ids == self._tokenizer.mask_token_id].softmax(-1)
            values, numbers = chances.topk(min(4 * _TOP, chances.shape[-1]))
            words = [
                [(self._words[n], v) for v, n in zip(row, which, strict=True) if n in self._words][:_TOP]
                for row, which in zip(values.tolist(), numbers.tolist(), strict=True)
            ]
            found.append(words)
        return found


def _masked(text: str, places: Sequence[tuple[int, int]], mask: str) -> str:
    for start, end in reversed(places):
        text = text[:start] + mask + text[end:]
    return text


def _change(
    text: Text, places: Sequence[tuple[int, int]], expected: list[list[tuple[str, float]]], rng: Stream
) -> Change | None:
    edits = []
    for (start, end), words in zip(places, expected, strict=False):  # a text cut short has fewer masks
        old = text.text[start:end]
        others = [(word, chance) for word, chance in words if word.lower() != old.lower()]
        if others:
            new = rng.weighted([word for word, _ in others], [chance for _, chance in others])
            edits.append(Edit(start, end, cased(new, old)))
    notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
    return Change(tuple(edits), ", ".join(notes)) if edits else None


def _whole_words(tokenizer: Any) -> dict[int, str]:
    """The entries of the vocabulary that are words by themselves."""
    vocabulary = tokenizer.get_vocab()
    marked = any(token.startswith(_BEGINNINGS) for token in vocabulary)
    words = {}
    for token, number in vocabulary.items():
        if marked and not token.startswith(_BEGINNINGS):
            continue
        word = token[1:] if marked else token
        if word.isalpha() and number not in tokenizer.all_special_ids:
            words[number] = word
    return words
