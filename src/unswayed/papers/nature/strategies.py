"""The six strategies with which NATURE's paper augments training data, as operators of our own."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any

from unswayed.base import Edit, Example, Stream, Streams, UnknownName, UsageError
from unswayed.systems.device import beside
from unswayed.vary import (
    Change,
    MaskedModel,
    Operator,
    OperatorSpec,
    Text,
    Texts,
    cased,
    checked_rate,
    make_operator,
    operators,
    some_places,
)

RATE = 0.3  # of the words of an utterance, and of the letters of a word that is mistyped; as nlpaug has it

_REGISTERED = {
    "keyboard": OperatorSpec("keyboard/adjacent", {"rate": RATE, "words": RATE}),
    "misspelling": OperatorSpec("keyboard/misspell", {"rate": RATE}),
    "synonym": OperatorSpec("spoken/synonym_any"),
    "antonym": OperatorSpec("meaning/antonym", {"rate": RATE}),
}
STRATEGIES = (*_REGISTERED, "tfidf", "context")
MEANING_KEPT = ("keyboard", "misspelling", "synonym")  # a word of another meaning may make the label wrong


def strategies(
    names: Sequence[str | OperatorSpec], examples: Callable[[], Iterable[Example]], masked_lm: str | None = None,
) -> list[Operator]:  # fmt: skip
    """The operators of these strategies, or operators by name; all six strategies where none is named.

    `examples` gives the training data, which `tfidf` and `context` learn from. With `masked_lm`, the folder of a
    model, `context` asks it instead.
    """
    wanted = tuple(names) or STRATEGIES
    if masked_lm is not None and "context" not in wanted:
        raise UsageError("A masked language model is only for the strategy `context`, which you did not choose.")
    return [_operator(name, examples, masked_lm) for name in wanted]


def _operator(name: str | OperatorSpec, examples: Callable[[], Iterable[Example]], masked_lm: str | None) -> Operator:
    if name == "context" and masked_lm is not None:
        return Masked(masked_lm, RATE)
    if name in ("tfidf", "context"):
        texts = (text for example in examples() for text in example.inputs.values())
        return TfIdf(texts, RATE) if name == "tfidf" else Context(texts, RATE)
    spec = _REGISTERED.get(name, OperatorSpec(name)) if isinstance(name, str) else name
    if spec.name not in operators and ":" not in spec.name:
        known = [*STRATEGIES, *operators.names()]
        raise UnknownName("strategy or operator", spec.name, known, "unswayed augment --help")
    return make_operator(spec)


_WINDOW = 20  # words above and below in rank that may replace a word
_MOST = 30  # words kept for a context


class TfIdf(Operator):
    """Replaces words that say little, by their TF-IDF in the training data, by words that say as little.

    A word is the likelier to go the less it says; `rate` is the share of words that goes, one at least.
    """

    name, family = "augment/tfidf", "augment"

    def __init__(self, texts: Iterable[str] = (), rate: float = 0.3) -> None:
        self.rate = checked_rate(rate)
        documents, everywhere, count = Counter[str](), Counter[str](), 0
        for text in texts:
            words = text.lower().split()
            documents.update(set(words))
            everywhere.update(words)
            count += 1
        self._idf = {word: log(count / n) for word, n in documents.items()}
        weight = {word: everywhere[word] / n * self._idf[word] for word, n in documents.items()}
        self._ranked = sorted((value, word) for word, value in weight.items())
        self._weight = weight
        self._most = log(count) if count else 0.0  # of a word that was never seen

    def change(self, text: Text, rng: Stream) -> Change | None:
        words = [text.text[start:end].lower() for start, end in text.tokens]
        counts = Counter(words)
        said = [counts[word] * self._idf.get(word, self._most) for word in words]
        most = max(said, default=0.0)
        free = [most - value for value in said]
        total = sum(free)
        chances = [self.rate * len(free) * value / total for value in free] if total else [self.rate] * len(free)
        chosen = [i for i, chance in enumerate(chances) if rng.random() < chance]
        if not chosen and words:
            chosen = [rng.weighted(range(len(words)), free if total else [1.0] * len(words))]
        edits = []
        for i in chosen:
            start, end = text.tokens[i]
            other = self._other(words[i], rng)
            if other is not None:
                edits.append(Edit(start, end, cased(other, text.text[start:end])))
        return _change(text, edits)

    def _other(self, word: str, rng: Stream) -> str | None:
        at = bisect_left(self._ranked, (self._weight.get(word, self._most), word))
        near = [other for _, other in self._ranked[max(0, at - _WINDOW) : at + _WINDOW + 1] if other != word]
        return rng.choice(near) if near else None


class Context(Operator):
    """Replaces words by others that the training data has between the same two words.

    The likelier the more often; `rate` is the share of such words that goes, one at least.
    """

    name, family = "augment/context", "augment"

    def __init__(self, texts: Iterable[str] = (), rate: float = 0.3) -> None:
        self.rate = checked_rate(rate)
        seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for text in texts:
            words = ["", *text.lower().split(), ""]
            for left, word, right in zip(words, words[1:], words[2:], strict=False):
                seen[left, right][word] += 1
        self._between = {
            around: sorted(words.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
            for around, words in seen.items()
            if len(words) > 1
        }

    def change(self, text: Text, rng: Stream) -> Change | None:
        words = ["", *(text.text[start:end].lower() for start, end in text.tokens), ""]
        places = []
        for i, word in enumerate(words[1:-1]):
            others = [item for item in self._between.get((words[i], words[i + 2]), ()) if item[0] != word]
            if others:
                places.append((i, others))
        edits = []
        for i, others in some_places(places, self.rate, rng):
            start, end = text.tokens[i]
            other = rng.weighted([o for o, _ in others], [n for _, n in others])
            edits.append(Edit(start, end, cased(other, text.text[start:end])))
        return _change(text, edits)


def _change(text: Text, edits: list[Edit]) -> Change | None:
    notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
    return Change(tuple(edits), ", ".join(notes)) if edits else None


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

    def change_many(self, texts: Texts, streams: Streams) -> list[Change | None]:
        found: list[Change | None] = []
        for at in range(0, len(texts), _BATCH):
            found += self._batch(texts[at : at + _BATCH], streams[at : at + _BATCH])
        return found

    def _batch(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        places = [
            some_places([(start, end) for start, end in text.tokens if text.text[start:end].isalpha()], self.rate, rng)
            for text, rng in zip(texts, rngs, strict=True)
        ]
        expected = self._expected(
            [_masked(t.text, p, self._tokenizer.mask_token) for t, p in zip(texts, places, strict=True)]
        )
        return [_replaced(*parts) for parts in zip(texts, places, expected, rngs, strict=True)]

    def _expected(self, masked: list[str]) -> list[list[list[tuple[str, float]]]]:
        """For each text and mask the likeliest words with their probabilities."""
        import torch

        inputs = self._tokenizer(masked, return_tensors="pt", padding=True, truncation=True)
        inputs = beside(self._model, dict(inputs))
        with torch.no_grad():
            logits = self._model(**inputs).logits.float()
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


def _replaced(
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
