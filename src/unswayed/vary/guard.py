"""The label guard: what the labels of training data say of a word, so that no variant has a word that contradicts them.

A variant keeps the labels of its example. That is wrong where the data's own labels say otherwise: in ATIS, *plane*
asks for an aircraft and not for a flight; in SNIPS, *now* is a time. The guard counts, and refuses such words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.base.values import Example, Inputs, Json
from unswayed.vary.words import common_ends

LEAST = 3  # times that a word, or its plural, must have been seen to object
_TIMES = 4.0  # how much likelier it must be under another label than under gold
_MOSTLY = 0.5  # the share of its uses that must have another label
_TYPICAL = 0.02  # the share of a type's values that must have the word; *so* in one of a thousand titles says nothing
_OPEN = 0.1  # the share of a type's values that come up once: from here on they are names or titles
_WORDS = re.compile(r"\w+(?:['’-]\w+)*")
_END = "</s>"
_SHORTEST = 3  # letters of a word that stays as it is: *bus* is no plural

Counts = dict[str, dict[str, int]]


class Objection(NamedTuple):
    """Why a variant is not made: the word, and what the training labels say of it."""

    word: str
    reason: str


class LabelGuard(msgspec.Struct, frozen=True):
    """What training labels say of words. `learn` makes one.

    `labels` counts examples by class; `words` by word and class; `tags` counts a word, alone or with the next, by the
    type of slot that it is in, `O` in none; `types` counts values by type; `closed` has the values of each type that
    is not of names. Words are without a final s, so that *planes* is *plane*.
    """

    task: str
    labels: dict[str, int]
    words: Counts
    tags: Counts
    types: dict[str, int]
    typical: Counts
    closed: dict[str, list[str]]

    @classmethod
    def learn(cls, examples: Iterable[Example], task: str) -> LabelGuard:
        """The guard of labelled examples of a task that has classes or tags."""
        known, count = task_named(task), 0
        labels: Counter[str] = Counter()
        by_class: defaultdict[str, Counter[str]] = defaultdict(Counter)
        by_type: defaultdict[str, Counter[str]] = defaultdict(Counter)
        values: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for example in examples:
            count += 1
            label, tags = known.label(example.gold), known.tags(example.gold)
            said: set[str] = set()
            for text in example.inputs.values():
                words = _split(text, tags)
                said.update(map(_stem, words))
                value: list[str] = []
                tagged = tags if tags is not None and len(words) == len(tags) else []
                for at, tag in enumerate(tagged):
                    kind = tag if tag == "O" else tag[2:]
                    by_type[_stem(words[at])][kind] += 1
                    by_type[_pair(words, at)][kind] += 1
                    if kind != "O":
                        value.append(words[at])
                        if at + 1 == len(tagged) or tagged[at + 1] != f"I-{kind}":
                            values[kind][tuple(value)] += 1
                            value = []
            if label is not None:
                labels[label] += 1
                for word in said:
                    by_class[word][label] += 1
        if not labels and not by_type:
            raise UsageError(
                f"A label guard learns from classes or tags, and the {count:,} training examples of the task "
                f"{task} have neither. Leave it out, or name training data with labels."
            )
        typical: defaultdict[str, Counter[str]] = defaultdict(Counter)  # how many values of each type have a word
        closed = {}
        for kind, found in sorted(values.items()):
            if sum(n == 1 for n in found.values()) < _OPEN * found.total():
                closed[kind] = sorted(map(" ".join, found))
            for value_of_type, n in found.items():
                for word in set(map(_stem, value_of_type)):
                    typical[word][kind] += n
        types = {kind: found.total() for kind, found in values.items()}
        counts = dict(sorted(labels.items()))
        return cls(task, counts, _often(by_class), _often(by_type), types, _often(typical), closed)

    def objection(self, example: Example, inputs: Inputs, gold: Json, rewords: bool = False) -> Objection | None:
        """What the training labels have against a variant, if anything.

        `rewords` says that words were replaced by others of the same meaning. Then a word must not stand for another
        class, names and titles stay as they are, and other values get only words that training values of their type
        have. A filler or a slip does not change what is asked for, so only the tags speak against it.
        """
        task = task_named(self.task)
        label, tags = task.label(gold), task.tags(gold)
        for field, text in inputs.items():
            if text == example.inputs.get(field):
                continue
            before, after = _split(example.inputs.get(field, ""), tags), _split(text, tags)
            aligned = tags if tags is not None and len(tags) == len(after) else None
            for at in _new(before, after):
                found = None
                if rewords and aligned is not None and aligned[at] != "O":
                    # A value of a type that is not of names must be one that training has.
                    kind = aligned[at][2:]
                    first = last = at
                    while aligned[first].startswith("I-") and first and aligned[first - 1][2:] == kind:
                        first -= 1
                    while last + 1 < len(aligned) and aligned[last + 1] == f"I-{kind}":
                        last += 1
                    if " ".join(after[first : last + 1]) not in self.closed.get(kind, ()):
                        found = f"{kind} has names, or no such value in training"
                elif rewords and label in self.labels and (seen := self.words.get(_stem(after[at]))) is not None:
                    under = {name: (seen.get(name, 0) + 0.5) / (count + 1) for name, count in self.labels.items()}
                    most, count = max(seen, key=lambda name: (under[name], name)), sum(seen.values())
                    if seen[most] >= _MOSTLY * count and under[most] > _TIMES * under[label]:
                        found = (
                            f"{seen[most]} of its {count} training examples are {most}, {seen.get(label, 0)} {label}"
                        )
                if not found and aligned is not None:
                    found = self._against_tag(after, at, aligned[at], rewords)
                if found:
                    return Objection(after[at], found)
        return None

    def _against_tag(self, words: Sequence[str], at: int, tag: str, rewords: bool) -> str | None:
        gold, word = tag if tag == "O" else tag[2:], _stem(words[at])
        if gold != "O" and not rewords:
            return None  # a slip inside a value leaves it the value that was meant
        seen = self.tags.get(_pair(words, at)) or self.tags.get(word)
        if seen is None:
            return None
        total = sum(seen.values())
        most = max(seen, key=lambda kind: (seen[kind], kind))
        if most == gold or seen[most] < _MOSTLY * total:
            return None
        if most != "O" and self.typical.get(word, {}).get(most, 0) < _TYPICAL * self.types[most]:
            return None
        return f"it is {most} in {seen[most]} of {total} training uses, {gold} in {seen.get(gold, 0)}"


def _often(counts: dict[str, Counter[str]]) -> Counts:
    return {key: dict(sorted(of.items())) for key, of in sorted(counts.items()) if sum(of.values()) >= LEAST}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > _SHORTEST and word.endswith("s") and not word.endswith("ss") else word


def _pair(words: Sequence[str], at: int) -> str:
    """A word and the one after it."""
    return f"{_stem(words[at])} {words[at + 1] if at + 1 < len(words) else _END}"


def _split(text: str, tags: Sequence[str] | None) -> list[str]:
    """The words of a text in lower case: its tokens, where they have tags."""
    lower = text.lower()
    return lower.split(" ") if tags is not None else _WORDS.findall(lower)


def _new(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """The places of the words that a variant has and its example has not, between what both begin and end with."""
    first, last = common_ends(before, after)
    old = Counter(before[first : len(before) - last])
    places = []
    for at in range(first, len(after) - last):
        if old[after[at]]:
            old[after[at]] -= 1
        else:
            places.append(at)
    return places
