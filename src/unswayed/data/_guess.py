"""What rows are about, where nobody said so: labels or free answers, and which part of a free answer counts.

A gold that is called `label` or `intent` is a label. One that is called `answer` or `target` may be either: a few
short values that come again and again are labels, values that hardly repeat are free answers. What is neither is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from unswayed.base.choices import choices_in
from unswayed.base.errors import UsageError, option
from unswayed.base.task import guess_task, task_named
from unswayed.base.values import Example, Json

FREE_GOLDS = frozenset(("answer", "target", "completion", "response", "solution", "ideal", "expected"))
_PROMPTS = frozenset(("prompt", "question", "instruction"))
_FINAL = re.compile(r"####\s*-?[$]?[\d,.]*\d\s*$")  # GSM8K's last line
_NUMBER = re.compile(r"\s*-?[$]?\d[\d,]*(\.\d+)?%?\s*")
_LONG_WORDS, _LONG = 5, 60  # labels have no more words, and no more characters
_TIMES = 3  # how often a label comes on average, at least
_FREE_TASKS = ("generate", "chat")


class Guess(NamedTuple):
    """The task, and what is compared by default: `extract` or `equivalent`."""

    task: str
    compared: dict[str, str]


def guess(
    examples: Sequence[Example], gold_field: str | None, chosen: str | None = None, equivalent: str = ""
) -> Guess:
    """What the first examples of data are about; `chosen` is the task that the user named, or that the format has."""
    golds = [example.gold for example in examples if example.gold is not None]
    if (chosen or "generate") == "generate" and examples and choices_in(examples[0].inputs):
        return Guess("generate", {"extract": "choice"})
    task = chosen or _task(examples, golds, gold_field)
    numbers = golds and task in _FREE_TASKS and all(map(_is_number, golds))
    if equivalent and task in _FREE_TASKS:
        return Guess(task, {"equivalent": equivalent})
    return Guess(task_named(task).name, {"extract": "number"} if numbers else {})


def _task(examples: Sequence[Example], golds: list[Json], gold_field: str | None) -> str:
    first = next((example for example in examples if example.gold is not None), examples[0])
    task = guess_task(first).name
    if task == "text" and golds and all(map(_is_free, golds)):
        return "generate"
    if task == "text" and not golds and not _PROMPTS.isdisjoint(first.inputs):
        return "generate"
    if task != "classify" or (gold_field or "").casefold() not in (*FREE_GOLDS, "gold"):
        return task
    free = _are_free(golds)
    if free is None and gold_field == "gold":  # unswayed's own name, which was for labels first
        return task
    if free is None:
        raise UsageError(
            f"It is not clear whether {gold_field!r} holds labels or free answers, such as {golds[0]!r:.40}: "
            f"use {option('task')} with classify or generate."
        )
    return "generate" if free else task


def _are_free(golds: list[Json]) -> bool | None:
    """Are these free answers? False: they are labels; None: they may be either."""
    if any(isinstance(gold, bool) for gold in golds):
        return False
    texts = [str(gold) for gold in golds]
    distinct = len({text.strip().casefold() for text in texts})
    if sum(map(_is_long, texts)) > len(texts) / 5 or all(map(_FINAL.search, texts)):
        return True
    if distinct * _TIMES <= len(texts):
        return False
    if len(texts) >= 2 * _TIMES and 2 * distinct > len(texts):
        return True
    if distinct == len(texts) and any(" " in text.strip() or _is_number(text) for text in texts):
        return True
    return None


def _is_long(text: str) -> bool:
    return len(text) > _LONG or len(text.split()) > _LONG_WORDS or "\n" in text.strip()


def _is_free(gold: Json) -> bool:
    values = gold if isinstance(gold, list) else [gold]
    return bool(values) and all(isinstance(value, str | int | float) for value in values)


def _is_number(gold: Json) -> bool:
    if isinstance(gold, bool):
        return False
    if isinstance(gold, int | float):
        return True
    return isinstance(gold, str) and bool(_NUMBER.fullmatch(gold) or _FINAL.search(gold))
