"""Models that don't write: `hf/classify` labels a text, `hf/tag` each token, `hf/read` finds a stretch of a context."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from unswayed.base.edits import Span, slots_of
from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.base.values import Example, Inputs, Json
from unswayed.systems.hf._lessons import IGNORED, Lesson, Teachable, padded_labels, share
from unswayed.systems.hf._model import HfSystem, groups

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

_FIRST = ("premise", "question", "text", "sentence1")  # texts that stand first where names alone do not say it


class Classifying(HfSystem):
    """The label with the highest score, by the name that the model's config has for it; LABEL_3 is 3."""

    auto = "AutoModelForSequenceClassification"
    tasks = ("classify", "text")

    @cached_property
    def labels(self) -> list[str]:
        return self.options.labels or label_names(self.folder.config.get("id2label") or {0: "LABEL_0", 1: "LABEL_1"})

    def open(self) -> None:
        super().open()
        self.as_many(self.labels)

    def lacking(self, inputs: Inputs) -> str | None:
        if not self.options.fields and len(inputs) > 2:
            return f"there are {len(inputs)} texts; choose with the option fields"
        return super().lacking(inputs) if inputs else "there is no text"

    def encoded(self, inputs: Inputs) -> dict[str, list[int]]:
        texts = [self.cut(inputs[field]) for field in self.options.fields or in_order(inputs)]
        return dict(self.tokenizer(*texts, truncation=True, max_length=self.room))

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        rows = [self.encoded(inputs) for inputs in batch]
        found: list[Json] = [None] * len(batch)
        for group in groups([len(row["input_ids"]) for row in rows]):
            for i, number in zip(group, self._best([rows[i] for i in group]), strict=True):
                found[i] = self.labels[number]
        return found

    def _best(self, rows: Sequence[dict[str, list[int]]]) -> list[int]:
        logits = self.model(**self.padded(rows)).logits
        best: list[int] = logits.round(decimals=4).argmax(1).tolist()  # padding may change the last digits
        return best


def in_order(inputs: Inputs) -> list[str]:
    """The texts' names in a fixed order: a premise before its hypothesis, others by name."""
    return sorted(inputs, key=lambda name: (name not in _FIRST, name))


def label_names(id2label: dict[Any, str]) -> list[str]:
    """A config's labels in the order of the outputs; where they are only numbered, the numbers."""
    names = [str(id2label[key]) for key in sorted(id2label, key=int)]
    numbered = [re.fullmatch(r"LABEL_(\d+)", name) for name in names]
    return [match[1] for match in numbered if match] if all(numbered) else names


_LETTERS = 64  # of a token that are read, so that one token of noise does not fill the window
_SAME = {"S-": "B-", "E-": "I-"}


class TagWindow(NamedTuple):
    """Tokens that are read together: whose they are, where they begin, and for each its first piece, if it has one."""

    text: int
    start: int
    row: dict[str, list[int]]
    firsts: list[int | None]


class Tagging(HfSystem):
    """A token's tag is that of its first piece, and O where the tokenizer makes nothing of it. There is no intent.

    Of texts whose gold is entities in characters, words and marks are the tokens.
    """

    auto = "AutoModelForTokenClassification"
    tasks = ("tag", "slu", "text")
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

    def windows(self, number: int, text: str) -> list[TagWindow]:
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

    def _window(self, number: int, start: int, tokens: list[str]) -> TagWindow:
        row = self.tokenizer(tokens, is_split_into_words=True, truncation=True, max_length=self.room)
        first: dict[int | None, int] = {}
        for piece, word in enumerate(row.word_ids()):
            first.setdefault(word, piece)
        return TagWindow(number, start, dict(row), [first.get(n) for n in range(len(tokens))])

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        texts = [inputs["text"] for inputs in batch]
        if not self._by_character:
            return [{"intent": "", "slots": row} for row in self.tagged(texts)]
        words = [words_in(text) for text in texts]
        split = [" ".join(text[a:b] for a, b in row) for text, row in zip(texts, words, strict=True)]
        found = zip(words, self.tagged(split), strict=True)
        return [
            {"entities": [{"start": row[a][0], "end": row[b - 1][1], "label": kind} for kind, a, b in slots_of(tags)]}
            if row
            else {"entities": []}
            for row, tags in found
        ]

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


_WORD = re.compile(r"\w+|[^\w\s]")


def words_in(text: str) -> list[tuple[int, int]]:
    """Where the words and marks of a text stand."""
    return [match.span() for match in _WORD.finditer(text)]


def tokened(example: Example) -> tuple[str, list[str]]:
    """A text of which single spaces separate the tokens, and their tags."""
    gold, text = example.gold, example.inputs["text"]
    if "entities" not in gold:
        return text, gold["slots"] if "slots" in gold else gold["tags"]
    spans = [Span(entity["start"], entity["end"], entity["label"]) for entity in gold["entities"]]
    words = words_in(text)
    tags = ["O"] * len(words)
    for n, (start, end) in enumerate(words):
        inside = next((span for span in spans if span.start < end and start < span.end), None)
        if inside is not None:
            tags[n] = f"{'B' if start <= inside.start else 'I'}-{inside.name}"
    return " ".join(text[a:b] for a, b in words), tags


def as_bio(tag: str) -> str:
    """A tag of BIOES as BIO has it."""
    return _SAME.get(tag[:2], tag[:2]) + tag[2:]


_CONTEXT = 20_000  # letters that are read
_TOP = 20  # beginnings, and ends, whose spans are looked at
_LONGEST = 128  # pieces of an answer


class ContextWindow(NamedTuple):
    """A piece of a context with its question; `places` are the letters of each piece, None outside the context."""

    text: int
    row: dict[str, list[int]]
    places: list[tuple[int, int] | None]


class Reading(HfSystem):
    """Long contexts are read in windows that overlap; the best span of all of them is the answer."""

    auto = "AutoModelForQuestionAnswering"
    tasks = ("qa", "text")

    def lacking(self, inputs: Inputs) -> str | None:
        absent = next((field for field in ("question", "context") if field not in inputs), None)
        return f"the input has no {absent!r}" if absent else None

    def windows(self, number: int, inputs: Inputs) -> list[ContextWindow]:
        asked = self.tokenizer(self.cut(inputs["question"]), add_special_tokens=False)["input_ids"]
        question = self.tokenizer.decode(asked[: self.room // 3]) if len(asked) > self.room // 3 else inputs["question"]
        context = inputs["context"][:_CONTEXT].encode("utf-8", "replace").decode()
        encoded = self.tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=self.room,
            stride=self.room // 4,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        found = []
        for n in range(len(encoded["input_ids"])):
            row = {
                name: encoded[name][n] for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded
            }
            sides = encoded.sequence_ids(n)
            places = [
                (a, b) if side == 1 and b > a else None
                for side, (a, b) in zip(sides, encoded["offset_mapping"][n], strict=True)
            ]
            found.append(ContextWindow(number, row, places))
        return found

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        spans = self._spans(batch)
        return [inputs["context"][a:b] for inputs, (a, b) in zip(batch, spans, strict=True)]

    def _spans(self, batch: Sequence[Inputs]) -> list[tuple[int, int]]:
        """Where each answer stands in its context; (0, 0) where there is nothing to point to."""
        windows = [window for i, inputs in enumerate(batch) for window in self.windows(i, inputs)]
        best: list[tuple[float, int, int]] = [(float("-inf"), 0, 0)] * len(batch)
        for group in groups([len(window.row["input_ids"]) for window in windows]):
            out = self.model(**self.padded([windows[i].row for i in group]))
            scores = zip(out.start_logits.tolist(), out.end_logits.tolist(), strict=True)
            for i, (starts, ends) in zip(group, scores, strict=True):
                window = windows[i]
                # Of equal scores the first place wins, so that the order of windows does not matter.
                best[window.text] = max(best[window.text], _best(window, starts, ends), key=lambda s: (s[0], -s[1]))
        return [(a, b) for _, a, b in best]


def _best(window: ContextWindow, starts: list[float], ends: list[float]) -> tuple[float, int, int]:
    """The score and the letters of the likeliest span in a window."""
    inside = [n for n, place in enumerate(window.places) if place is not None]
    best = (float("-inf"), 0, 0)
    for a in sorted(inside, key=lambda n: -starts[n])[:_TOP]:
        for b in sorted(inside, key=lambda n: -ends[n])[:_TOP]:
            first, last = window.places[a], window.places[b]
            score = round(starts[a] + ends[b], 4)  # padding may change the last digits
            if first and last and a <= b < a + _LONGEST and score > best[0]:
                best = (score, first[0], last[1])
    return best


class Classify(Classifying, Teachable):
    """The label with the highest score, by the name that the model's config has for it; LABEL_3 is 3."""

    name = "hf/classify"

    @classmethod
    def labels_in(cls, examples: Sequence[Example]) -> list[str]:
        return sorted({_label(example) for example in examples})

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        return [Lesson(self.encoded(example.inputs), self.labels.index(_label(example)))]

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        import torch

        return {"labels": torch.tensor([lesson.gold for lesson in lessons])}

    def mark(self, dev: Sequence[Example]) -> float:
        answers = self.answers([example.inputs for example in dev])
        return share([answer == _label(example) for answer, example in zip(answers, dev, strict=True)])


def _label(example: Example) -> str:
    return str(task_named("classify").label(example.gold))


class Tag(Tagging, Teachable):
    """A token's tag is that of its first piece, and O where the tokenizer makes nothing of it. There is no intent."""

    name = "hf/tag"

    @classmethod
    def labels_in(cls, examples: Sequence[Example]) -> list[str]:
        return sorted({"O", *(tag for example in examples for tag in tokened(example)[1])})

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        text, tags = tokened(example)
        return [self._lesson(window, tags) for window in self.windows(number, text)]

    def _lesson(self, window: TagWindow, tags: Sequence[str]) -> Lesson:
        gold = [IGNORED] * len(window.row["input_ids"])
        for n, piece in enumerate(window.firsts):
            if piece is not None:
                gold[piece] = self.labels.index(tags[window.start + n])
        return Lesson(window.row, gold)

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        return {"labels": padded_labels([lesson.gold for lesson in lessons], width)}

    def mark(self, dev: Sequence[Example]) -> float:
        """The share of texts of which every tag is right."""
        due = [tokened(example) for example in dev]
        found = self.tagged([text for text, _ in due])
        return share([tags == gold for tags, (_, gold) in zip(found, due, strict=True)])


class Read(Reading, Teachable):
    """Long contexts are read in windows that overlap; the best span of all of them is the answer."""

    name = "hf/read"
    outputs = 2

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        """Every window; where the answer is not in it, its first piece is the right one, as in SQuAD 2."""
        placed = [a for a in example.gold["answers"] if a.get("start") is not None]
        if not placed:
            return []
        start, end = placed[0]["start"], placed[0]["start"] + len(placed[0]["text"])
        return [Lesson(w.row, _pieces(w, start, end)) for w in self.windows(number, example.inputs)]

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        import torch

        starts, ends = (torch.tensor([lesson.gold[side] for lesson in lessons]) for side in (0, 1))
        return {"start_positions": starts, "end_positions": ends}

    def mark(self, dev: Sequence[Example]) -> float:
        """The share of questions that are answered with one of the golds, letter by letter."""
        answers = self.answers([example.inputs for example in dev])
        golds = [{a["text"] for a in example.gold["answers"]} for example in dev]
        return share([answer in gold for answer, gold in zip(answers, golds, strict=True)])


def _pieces(window: ContextWindow, start: int, end: int) -> tuple[int, int]:
    """The first and last piece of this stretch of the context; (0, 0) where not all of it is in the window."""
    first = next((n for n, place in enumerate(window.places) if place and place[0] <= start < place[1]), None)
    last = next((n for n, place in enumerate(window.places) if place and place[0] < end <= place[1]), None)
    return (0, 0) if first is None or last is None else (first, last)
