"""Token classification: a BIO tag for each token of a text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from unfazed.core.errors import UsageError
from unfazed.core.values import Inputs, Json
from unfazed.systems.hf._classifying import label_names
from unfazed.systems.hf._system import HfSystem, groups

_LETTERS = 64  # of a token that are read, so that one token of noise does not fill the window
_SAME = {"S-": "B-", "E-": "I-"}


class Window(NamedTuple):
    """Tokens that are read together: whose they are, where they begin, and for each its first piece, if it has one."""

    text: int
    start: int
    row: dict[str, list[int]]
    firsts: list[int | None]


class Tagging(HfSystem):
    """A token's tag is that of its first piece, and O where the tokenizer makes nothing of it. There is no intent."""

    auto = "AutoModelForTokenClassification"
    tasks = ("slu", "text")

    @cached_property
    def labels(self) -> list[str]:
        found = self.options.labels or label_names(self.folder.config.get("id2label") or {})
        tags = [as_bio(tag) for tag in found]
        wrong = next((tag for tag in tags if tag != "O" and tag[:2] not in ("B-", "I-")), None)
        if wrong is not None or not tags:
            raise UsageError(
                f"{self.folder.path} has the label {wrong!r}, which is no BIO tag. Give the option labels."
            )
        return tags

    def open(self) -> None:
        super().open()
        self.as_many(self.labels)

    def lacking(self, inputs: Inputs) -> str | None:
        return None if "text" in inputs else "the input has no 'text'"

    @cached_property
    def _spaced(self) -> bool:
        """RoBERTa's kind of tokenizer knows a word that follows a space from one that does not."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        found = json.loads(backend.to_str()).get("pre_tokenizer") if backend is not None else None
        parts = (found or {}).get("pretokenizers", [found or {}])
        return any(part.get("type") == "ByteLevel" and not part.get("add_prefix_space") for part in parts)

    def windows(self, number: int, text: str) -> list[Window]:
        """The text's tokens, as many at a time as the model has room for."""
        tokens = [self.cut(token[:_LETTERS]) for token in text.split(" ")]
        if self._spaced:
            tokens = [f" {token}" if token else token for token in tokens]
        asked = self.tokenizer(tokens, is_split_into_words=True, add_special_tokens=False)
        widths = [0] * len(tokens)
        for word in asked.word_ids():
            widths[word] += 1
        cuts, used, room = [0], 0, self.room - 4
        for at, width in enumerate(widths):
            if used and used + width > room:
                cuts.append(at)
                used = 0
            used += width
        return [self._window(number, a, tokens[a:b]) for a, b in zip(cuts, [*cuts[1:], len(tokens)], strict=True)]

    def _window(self, number: int, start: int, tokens: list[str]) -> Window:
        row = self.tokenizer(tokens, is_split_into_words=True, truncation=True, max_length=self.room)
        first: dict[int | None, int] = {}
        for piece, word in enumerate(row.word_ids()):
            first.setdefault(word, piece)
        return Window(number, start, dict(row), [first.get(n) for n in range(len(tokens))])

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        tags = self.tagged([inputs["text"] for inputs in batch])
        return [{"intent": "", "slots": row} for row in tags]

    def tagged(self, texts: Sequence[str]) -> list[list[str]]:
        found = [["O"] * (text.count(" ") + 1) for text in texts]
        windows = [window for i, text in enumerate(texts) for window in self.windows(i, text)]
        for group in groups([len(window.row["input_ids"]) for window in windows]):
            logits = self.model(**self.padded([windows[i].row for i in group])).logits
            rows = logits.round(decimals=4).argmax(2).tolist()
            for i, best in zip(group, rows, strict=True):
                window = windows[i]
                for n, piece in enumerate(window.firsts):
                    if piece is not None:
                        found[window.text][window.start + n] = self.labels[best[piece]]
        return found


def as_bio(tag: str) -> str:
    """A tag of BIOES as BIO has it."""
    return _SAME.get(tag[:2], tag[:2]) + tag[2:]
