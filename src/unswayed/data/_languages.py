"""The language of data as a whole, and of each row where rows are in several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from unswayed.base.errors import DataError, option
from unswayed.base.identify import UNSURE, identify, identify_row, installed
from unswayed.base.language import language_name, language_tag
from unswayed.base.task import Task, task_named
from unswayed.base.values import Example
from unswayed.storage.suite import LANGUAGE

if TYPE_CHECKING:
    from unswayed.data._read import Kind

_MOST = 1_000  # rows that tell the language
_ALL = 1_000  # rows that are all watched; further on, the next is ever farther away
_OTHERS, _FEW = 0.1, 10  # the share of rows, and how many, that may be in another language


def identified(examples: Sequence[Example], task: str) -> str:
    """The language that examples, spread over all that are given, are in."""
    step = max(1, len(examples) // _MOST)
    known = task_named(task)
    return identify(_text(example, known) for example in examples[::step]).language


def about_language(language: str) -> tuple[str, ...]:
    """What to tell the user about an identified language, where it is not English, which most data is in."""
    if language in ("en", UNSURE):
        return ()
    how = f"set {option('lang', 'language')} if that is wrong"
    if "+" in language:
        one = language.split("+")[0]
        return (f"rows are in {language_name(language)}, and each is varied in its own; {how}, for example to {one}.",)
    return (f"the language is {language} ({language_name(language)}), identified from the texts; {how}.",)


def in_languages(examples: Iterable[Example], kind: Kind, path: Path | None = None) -> Iterator[Example]:
    """The examples, each with its own language where the data is in several; raises if later rows are in another."""
    task = task_named(kind.task)
    if "+" in kind.language:
        among = kind.language.split("+")
        for example in examples:
            given = example.groups.get(LANGUAGE)
            tag = language_tag(given) if given else identify_row(_text(example, task), among)
            groups = {**example.groups, LANGUAGE: tag}
            yield Example(example.row, example.id, example.inputs, example.gold, groups)
    elif path is None or not kind.language_guessed or kind.language == UNSURE or not installed():
        yield from examples
    else:
        yield from _watched(examples, task, kind.language, path)


def _watched(examples: Iterable[Example], task: Task, language: str, path: Path) -> Iterator[Example]:
    found: Counter[str] = Counter()
    number, rest = 0, iter(examples)
    for example in rest:
        step = 1 + number // _ALL  # rows up to the next that is watched, for which this one stands
        found[identify_row(_text(example, task))] += step
        number += step
        yield example
        yield from islice(rest, step - 1)
    other, count = next(((tag, n) for tag, n in found.most_common() if tag not in (language, UNSURE)), ("", 0))
    if count > max(_FEW, _OTHERS * found.total()):
        raise DataError(
            f"the first rows are in {language}, but {count / found.total():.0%} of all rows are in {other}. "
            f"Set {option('lang', 'language')} to {language}+{other} to vary each row in its own language, or to "
            f"{language} if all rows are in that.",
            path,
        )


def _text(example: Example, task: Task) -> str:
    return " ".join(example.inputs[name] for name in task.texts(example.inputs) if name in example.inputs)
