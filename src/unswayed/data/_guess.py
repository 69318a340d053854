"""The task of data, where the user named none, and the line that says how data were read.

A gold that is called `label` or `intent` is a label. One that is called `answer` or `target` may be either: a few
short values that come again and again are labels, values that hardly repeat are free answers. Where neither is clear,
the user must choose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from unswayed.base.chat import CHAT, choices_in
from unswayed.base.errors import UsageError, option
from unswayed.base.task import guess_task, task_named
from unswayed.base.task.multilabel import label_set
from unswayed.base.task.retrieve import grades_of
from unswayed.base.task.score import number_of
from unswayed.base.values import Example, Json

FREE_GOLDS = frozenset((
    *("answer", "target", "completion", "response", "solution", "ideal", "expected", "expected_output"),
    *("expected_answer", "reference_answer", "reference_output", "ground_truth", "correct_answer", "gold_answer"),
))  # fmt: skip
LABEL_GOLDS = frozenset((
    *("label", "gold_label", "intent", "class", "category", "sentiment", "emotion", "polarity"),
    *("labels", "topics", "categories", "intents", "classes", "tags"),
))  # fmt: skip
RELEVANT_GOLDS = frozenset((
    *("relevant", "relevant_ids", "relevant_docs", "relevant_doc_ids", "relevant_documents", "qrels"),
    *("positive_ids", "expected_ids", "gold_ids"),
))  # fmt: skip
SCORE_GOLDS = frozenset(("score", "similarity", "similarity_score"))
_PROMPTS = frozenset(("prompt", "question", "instruction"))
_FINAL = re.compile(r"####\s*-?[$]?[\d,.]*\d\s*$")  # GSM8K's last line
_NUMBER = re.compile(r"\s*-?[$]?\d[\d,]*(\.\d+)?%?\s*")
_DECIMAL = re.compile(r"\s*[-+]?\d*\.\d+\s*")
_MAX_LABEL_WORDS, _MAX_LABEL_CHARS = 5, 60  # labels have no more words, and no more characters
_MIN_LABEL_REPEATS = 3  # how often a label comes on average, at least
_FREE_TASKS = ("generate", "chat")
_TOLERANCE = 0.05  # of the range of the golds: scores that change by more are flips


def guess_data_task(
    examples: Sequence[Example], gold_field: str | None, chosen: str | None = None, equivalent: str = ""
) -> tuple[str, dict[str, str]]:
    """The task of the first examples of data, and what is compared by default: `extract` or `equivalent`.

    `chosen` is the task that the user named, or that the format has.
    """
    golds = [example.gold for example in examples if example.gold is not None]
    if (chosen or "generate") == "generate" and examples and choices_in(examples[0].inputs):
        return "generate", {"extract": "choice"}
    task = task_named(chosen or _guessed(examples, golds, gold_field)).name
    if task == "score" and golds:
        numbers = [number for gold in golds if (number := number_of(gold)) is not None]
        span = max(numbers, default=0.0) - min(numbers, default=0.0)
        return task, {"equivalent": f"within@{_TOLERANCE * span:.2g}"} if span else {}
    if equivalent and task in _FREE_TASKS:
        return task, {"equivalent": equivalent}
    if golds and task in _FREE_TASKS and all(map(_is_number, golds)):
        return task, {"extract": "number"}
    return task, {}


def _guessed(examples: Sequence[Example], golds: list[Json], gold_field: str | None) -> str:
    """The task by the name of the gold's field and the form of golds. Raises UsageError where neither is clear."""
    first = next((example for example in examples if example.gold is not None), examples[0])
    name = (gold_field or "").casefold().rpartition(".")[2]
    task = guess_task(first).name
    asks = not _PROMPTS.isdisjoint(inputs.casefold() for inputs in first.inputs)
    if task in ("chat", "tools") and {str, list} <= {type(gold) for gold in golds}:
        return "tools"  # which scores both, by row
    if name in RELEVANT_GOLDS and all(isinstance(gold, (list, dict)) for gold in golds):
        return "retrieve"
    free = name in FREE_GOLDS or (name in ("", "gold") and asks)
    if task in ("text", "classify") and golds and not free and _are_scores(golds, name):
        return "score"
    if task == "text" and not golds:
        return "generate" if asks else task
    if task == "text":
        lists = [gold for gold in golds if isinstance(gold, list)]
        values = list(chain.from_iterable(gold if isinstance(gold, list) else [gold] for gold in golds))
        if not all(isinstance(value, str | int | float | dict | None) for value in values):
            return task  # what no gold can be, such as a list in a list, is refused where rows are checked, by number
        objects = [gold for gold in golds if isinstance(gold, dict)]
        if len(objects) == len(golds) and any(
            not isinstance(v, int | float) for gold in objects for v in gold.values()
        ):
            return "structured"
        if not all(isinstance(value, str | int | float) for value in values):
            raise UsageError(
                f"The gold {golds[0]!r:.60} has a form that no task has. Choose a column with {option('gold')}, or "
                f"{option('task')}: retrieve for ids and their grades, structured for objects with fields, text to "
                f"count changed answers without gold."
            )
        if lists and not free and name != "answers":
            answers = False if name in LABEL_GOLDS else _are_free_answers(values)
            if answers is None and name:
                what = f"It is not clear whether the lists in {gold_field!r}, such as {lists[0]!r:.60}, are labels that"
                raise UsageError(
                    f"{what} all apply or answers of which one is right: use {option('task')} with multilabel or "
                    f"generate."
                )
            return "multilabel" if answers is False and len(lists) == len(golds) else "generate"
        return "generate"
    if task == "classify" and name not in LABEL_GOLDS:
        answers = _are_free_answers(golds)
        sure = name in (*FREE_GOLDS, "gold")  # other names are labels, unless their values are sentences
        if answers is None and name in FREE_GOLDS:
            what = f"It is not clear whether {gold_field!r} holds labels or free answers, such as {golds[0]!r:.40}"
            raise UsageError(f"{what}: use {option('task')} with classify or generate.")
        if answers and (sure or _long_share(golds) > 1 / 5):
            return "generate"
    return task


def _are_scores(golds: Sequence[Json], name: str) -> bool:
    """Are these numbers on a scale? Whole numbers are only where the name says so; else they are labels."""
    numeric = all(isinstance(gold, (int, float)) and not isinstance(gold, bool) for gold in golds)
    if name in SCORE_GOLDS:
        return numeric or all(isinstance(gold, str) and _NUMBER.fullmatch(gold) for gold in golds)
    if numeric:
        return any(isinstance(gold, float) for gold in golds)
    return all(isinstance(gold, str) and (_DECIMAL.fullmatch(gold) or gold.isdecimal()) for gold in golds) and any(
        float(gold) % 1 for gold in golds
    )


def _long_share(golds: Sequence[Json]) -> float:
    texts = [str(gold) for gold in golds]
    long = sum(len(t) > _MAX_LABEL_CHARS or len(t.split()) > _MAX_LABEL_WORDS or "\n" in t.strip() for t in texts)
    return long / max(len(texts), 1)


def _are_free_answers(golds: Sequence[Json]) -> bool | None:
    """Are these free answers? False: they are labels; None: they may be either."""
    if any(isinstance(gold, bool) for gold in golds):
        return False
    texts = [str(gold) for gold in golds]
    distinct = len({text.strip().casefold() for text in texts})
    if _long_share(golds) > 1 / 5 or (texts and all(map(_FINAL.search, texts))):
        return True
    if distinct * _MIN_LABEL_REPEATS <= len(texts):
        return False
    if len(texts) >= 2 * _MIN_LABEL_REPEATS and 2 * distinct > len(texts):
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


_GOLD_WORDS = re.compile(
    r"label|gold|truth|answer|expected|target|reference|relevant|intent|class|categor|sentiment|output|score|rating",
    re.IGNORECASE,
)


def read_as(
    task: str, compared: dict[str, str], examples: Sequence[Example], language: str, taken: str, left: Sequence[str],
    more: bool,
) -> str:  # fmt: skip
    """How data were read, in a line: the task, what was seen of its gold, the fields, and those that were not read.

    `taken` are the fields that hold texts and gold, and `more` says that there are rows behind these examples.
    """
    golds, kind = [example.gold for example in examples if example.gold is not None], task_named(task)
    labels = {label for gold in golds if (label := kind.label(gold)) is not None}
    seen = f"{len(labels):,} label{'s' * (len(labels) != 1)}" if labels else ""
    if task == "multilabel":
        seen = (
            f"{len(frozenset[str]().union(*(label_set(gold) or () for gold in golds))):,} labels, any number for each"
        )
    elif task == "score" and golds:
        numbers = [number_of(gold) or 0.0 for gold in golds]
        seen = f"{min(numbers):g} to {max(numbers):g}, a change counts if it is beyond "
        seen += (compared.get("equivalent") or kind.compared[1]).partition("@")[2]
    elif task == "retrieve":
        seen = f"{sum(len(grades_of(gold) or {}) for gold in golds):,} relevant ids"
    elif task == "tools" and any(isinstance(gold, str) for gold in golds):
        texts = sum(isinstance(gold, str) for gold in golds)
        seen = f"{len(golds) - texts:,} with calls, {texts:,} with a text"
    elif compared.get("extract"):
        seen = f"compared by {compared['extract']}"
    rows = f"the first {len(examples):,} rows" if more else f"{len(examples):,} row{'s' * (len(examples) != 1)}"
    parts = [f"{task}, {', '.join(filter(None, (seen, rows)))}"]
    texts_read = list(dict.fromkeys(chain.from_iterable(example.inputs for example in examples[:1])))
    shown = taken or ("messages" if CHAT in texts_read else f"text = {' + '.join(texts_read)}")
    parts += [shown if golds else f"{shown}, no gold", f"language {language}"]
    likely = [name for name in left if _GOLD_WORDS.search(name)] if not golds else []
    if left:
        parts.append(f"not read: {', '.join(left)}")
    line = f"Read as: {'; '.join(parts)}."
    if likely:
        line += f" {likely[0]!r} looks like a right answer: to score with it, name it with {option('gold')}."
    elif left:
        line += f" To change it, use {option('input')} or {option('gold')}."
    return line
