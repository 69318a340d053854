"""The task and the language of data, where the user gave none.

The task: labels or free answers, and which part of a free answer counts.

A gold that is called `label` or `intent` is a label. One that is called `answer` or `target` may be either: a few
short values that come again and again are labels, values that hardly repeat are free answers. Where neither is clear,
the user must choose. The language: of the data as a whole, and of each row where rows are in several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from unswayed.base.chat import choices_in
from unswayed.base.errors import DataError, UsageError, option
from unswayed.base.language import UNSURE, identifier_installed, identify, identify_row, language_name, language_tag
from unswayed.base.task import Task, guess_task, task_named
from unswayed.base.values import Example, Json
from unswayed.storage.suite import LANGUAGE

FREE_GOLDS = frozenset(("answer", "target", "completion", "response", "solution", "ideal", "expected"))
_PROMPTS = frozenset(("prompt", "question", "instruction"))
_FINAL = re.compile(r"####\s*-?[$]?[\d,.]*\d\s*$")  # GSM8K's last line
_NUMBER = re.compile(r"\s*-?[$]?\d[\d,]*(\.\d+)?%?\s*")
_LABEL_WORDS, _LABEL_CHARS = 5, 60  # labels have no more words, and no more characters
_LABEL_REPEATS = 3  # how often a label comes on average, at least
_FREE_TASKS = ("generate", "chat")


class DataKind(NamedTuple):
    """What data is about."""

    task: str
    language: str
    language_guessed: bool
    compared: dict[str, str] = {}  # noqa: RUF012 - never changed; extract and equivalent, where the data decides
    notes: tuple[str, ...] = ()  # what was guessed that the user may want otherwise, in sentences


class TaskGuess(NamedTuple):
    """The task, and what is compared by default: `extract` or `equivalent`."""

    task: str
    compared: dict[str, str]


def guess_data_task(
    examples: Sequence[Example], gold_field: str | None, chosen: str | None = None, equivalent: str = ""
) -> TaskGuess:
    """What the first examples of data are about; `chosen` is the task that the user named, or that the format has."""
    golds = [example.gold for example in examples if example.gold is not None]
    if (chosen or "generate") == "generate" and examples and choices_in(examples[0].inputs):
        return TaskGuess("generate", {"extract": "choice"})
    task = chosen
    if not task:
        first = next((example for example in examples if example.gold is not None), examples[0])
        task = guess_task(first).name
        if task == "text":
            values = [value for gold in golds for value in (gold if isinstance(gold, list) and gold else [gold])]
            free = golds and all(isinstance(value, str | int | float) for value in values)
            if free or (not golds and not _PROMPTS.isdisjoint(first.inputs)):
                task = "generate"
        elif task == "classify" and (gold_field or "").casefold() in (*FREE_GOLDS, "gold"):
            answers = _are_free_answers(golds)
            if answers is None and gold_field != "gold":  # unswayed's own name, which was for labels first
                raise UsageError(
                    f"It is not clear whether {gold_field!r} holds labels or free answers, such as {golds[0]!r:.40}: "
                    f"use {option('task')} with classify or generate."
                )
            task = "generate" if answers else task
    numbers = golds and task in _FREE_TASKS and all(map(_is_number, golds))
    if equivalent and task in _FREE_TASKS:
        return TaskGuess(task, {"equivalent": equivalent})
    return TaskGuess(task_named(task).name, {"extract": "number"} if numbers else {})


def _are_free_answers(golds: list[Json]) -> bool | None:
    """Are these free answers? False: they are labels; None: they may be either."""
    if any(isinstance(gold, bool) for gold in golds):
        return False
    texts = [str(gold) for gold in golds]
    distinct = len({text.strip().casefold() for text in texts})
    long = sum(len(t) > _LABEL_CHARS or len(t.split()) > _LABEL_WORDS or "\n" in t.strip() for t in texts)
    if long > len(texts) / 5 or all(map(_FINAL.search, texts)):
        return True
    if distinct * _LABEL_REPEATS <= len(texts):
        return False
    if len(texts) >= 2 * _LABEL_REPEATS and 2 * distinct > len(texts):
        return True
    if distinct == len(texts) and any(" " in text.strip() or _is_number(text) for text in texts):
        return True
    return None


def _is_number(gold: Json) -> bool:
    if isinstance(gold, bool):
        return False
    if isinstance(gold, int | float):
        return True
    return isinstance(gold, str) and bool(_NUMBER.fullmatch(gold) or _FINAL.search(gold))


_IDENTIFIED_ROWS = 1_000  # rows that tell the language
_WATCHED_ROWS = 1_000  # rows that are all watched; further on, the next is ever farther away
_OTHER_SHARE, _OTHER_ROWS = 0.1, 10  # the share of rows, and how many, that may be in another language


def identify_examples(examples: Sequence[Example], task: str) -> str:
    """The language that examples, spread over all that are given, are in."""
    step = max(1, len(examples) // _IDENTIFIED_ROWS)
    known = task_named(task)
    return identify(_varied_text(example, known) for example in examples[::step]).language


def language_notes(language: str) -> tuple[str, ...]:
    """What to tell the user about an identify_examples language, where it is not English, which most data is in."""
    if language in ("en", UNSURE):
        return ()
    how = f"set {option('lang', 'language')} if that is wrong"
    if "+" in language:
        one = language.split("+")[0]
        return (f"rows are in {language_name(language)}, and each is varied in its own; {how}, for example to {one}.",)
    return (f"the language is {language} ({language_name(language)}), identified from the texts; {how}.",)


def with_languages(examples: Iterable[Example], kind: DataKind, path: Path | None = None) -> Iterator[Example]:
    """The examples, each with its own language where the data is in several; raises if later rows are in another."""
    task = task_named(kind.task)
    if "+" in kind.language:
        among = kind.language.split("+")
        for example in examples:
            given = example.groups.get(LANGUAGE)
            tag = language_tag(given) if given else identify_row(_varied_text(example, task), among)
            groups = {**example.groups, LANGUAGE: tag}
            yield Example(example.row, example.id, example.inputs, example.gold, groups)
    elif path is None or not kind.language_guessed or kind.language == UNSURE or not identifier_installed():
        yield from examples
    else:  # rows are watched less and less often: identifying each would take longer than reading it
        found: Counter[str] = Counter()
        number, rest = 0, iter(examples)
        for example in rest:
            step = 1 + number // _WATCHED_ROWS  # rows up to the next that is watched, for which this one stands
            found[identify_row(_varied_text(example, task))] += step
            number += step
            yield example
            yield from islice(rest, step - 1)
        others = ((tag, n) for tag, n in found.most_common() if tag not in (kind.language, UNSURE))
        other, count = next(others, ("", 0))
        if count > max(_OTHER_ROWS, _OTHER_SHARE * found.total()):
            raise DataError(
                f"the first rows are in {kind.language}, but {count / found.total():.0%} of all rows are in {other}. "
                f"Set {option('lang', 'language')} to {kind.language}+{other} to vary each row in its own language, "
                f"or to {kind.language} if all rows are in that.",
                path,
            )


def _varied_text(example: Example, task: Task) -> str:
    return " ".join(example.inputs[name] for name in task.texts(example.inputs) if name in example.inputs)
