"""`hf/tag`: a BIO tag for each token of a text, or its entities."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from unswayed.base.edits import slots_of
from unswayed.base.errors import UsageError
from unswayed.base.values import Inputs, Json
from unswayed.systems.hf import HfSystem, bio_tag, label_names, length_groups

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

_TOKEN_CHARS = 64  # of a token that are read, so that one token of noise does not fill the window
_WORD = re.compile(r"\w+|[^\w\s]")


class TagWindow(NamedTuple):
    """Tokens that are read together: whose they are, where they begin, and for each its first piece, if it has one."""

    text: int
    start: int
    row: dict[str, list[int]]
    firsts: list[int | None]


class HfTagger(HfSystem):
    """A token's tag is that of its first piece, and O where the tokenizer makes nothing of it. There is no intent.

    Of texts whose gold is entities in characters, words and marks are the tokens.
    """

    name = "hf/tag"
    auto = "AutoModelForTokenClassification"
    tasks = ("tag", "slu", "text")
    needed = ("text",)
    _by_character = False

    @property
    def identity(self) -> str:
        return f"{super().identity} entities" if self._by_character else super().identity

    def prepare(self, suite: Suite) -> None:
        super().prepare(suite)
        if suite.manifest.task == "tag":
            gold = next((example.gold for example in suite.examples() if example.gold is not None), None)
            self._by_character = gold is not None and "entities" in gold

    @cached_property
    def labels(self) -> list[str]:
        tags = [bio_tag(tag) for tag in self.options.labels or label_names(self.folder.config.get("id2label") or {})]
        wrong = next((tag for tag in tags if tag != "O" and tag[:2] not in ("B-", "I-")), None)
        if wrong is not None or not tags:
            raise UsageError(
                f"{self.folder.path} has the label {wrong!r}, which is no BIO tag. Give the option labels."
            )
        return tags

    @cached_property
    def _spaced(self) -> bool:
        """RoBERTa's kind of tokenizer knows a word that follows a space from one that does not."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        found = json.loads(backend.to_str()).get("pre_tokenizer") if backend is not None else None
        parts = (found or {}).get("pretokenizers", [found or {}])
        return any(part.get("type") == "ByteLevel" and not part.get("add_prefix_space") for part in parts)

    def windows(self, number: int, text: str) -> list[TagWindow]:
        """The text's tokens, as many at a time as the model has room for."""
        tokens = [self.cut_text(token[:_TOKEN_CHARS]) for token in text.split(" ")]
        if self._spaced:
            tokens = [f" {token}" if token else token for token in tokens]
        widths = [0] * len(tokens)
        for word in self.tokenizer(tokens, is_split_into_words=True, add_special_tokens=False).word_ids():
            widths[word] += 1
        cuts, used = [0], 0  # where a window is full, and the next begins
        for at, width in enumerate(widths):
            if used and used + width > self.room - 4:
                cuts.append(at)
                used = 0
            used += width
        windows = []
        for start, end in pairwise([*cuts, len(widths)]):
            row = self.tokenizer(tokens[start:end], is_split_into_words=True, truncation=True, max_length=self.room)
            first: dict[int | None, int] = {}
            for piece, word in enumerate(row.word_ids()):
                first.setdefault(word, piece)
            windows.append(TagWindow(number, start, dict(row), [first.get(n) for n in range(end - start)]))
        return windows

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        texts = [inputs["text"] for inputs in batch]
        if not self._by_character:
            return [{"intent": "", "slots": row} for row in self.tags_of(texts)]
        words = [word_spans(text) for text in texts]
        split = [" ".join(text[a:b] for a, b in row) for text, row in zip(texts, words, strict=True)]
        return [
            {"entities": [{"start": row[a][0], "end": row[b - 1][1], "label": kind} for kind, a, b in slots_of(tags)]}
            for row, tags in zip(words, self.tags_of(split), strict=True)
        ]

    def tags_of(self, texts: Sequence[str]) -> list[list[str]]:
        """The tags of each text, one for each of the tokens between single spaces."""
        found = [["O"] * (text.count(" ") + 1) for text in texts]
        windows = [window for i, text in enumerate(texts) for window in self.windows(i, text)]
        for group in length_groups([len(window.row["input_ids"]) for window in windows]):
            logits = self.model(**self.padded([windows[i].row for i in group])).logits
            rows = logits.round(decimals=4).argmax(2).tolist()
            for i, best in zip(group, rows, strict=True):
                window = windows[i]
                for n, piece in enumerate(window.firsts):
                    if piece is not None:
                        found[window.text][window.start + n] = self.labels[best[piece]]
        return found


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words and marks of a text stand."""
    return [match.span() for match in _WORD.finditer(text)]
