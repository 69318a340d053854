"""Which field of a flat row is what, by its name; and which holds the text, by what the first row has in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unswayed.base.errors import option
from unswayed.data._reader import Problem

IDS = ("id", "guid", "uid", "idx")
GOLDS = (
    *("gold", "label", "gold_label", "intent", "class", "category", "sentiment", "answers", "answer", "target"),
    *("completion", "response", "solution", "ideal", "expected", "answerKey"),
)
LESS_SURE_GOLDS = ("stars", "rating", "polarity", "emotion", "is_duplicate")  # said where they are taken
CHOICE_FIELDS = ("choices", "options", "endings")
_PAIRS = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("question", "context"),
    ("question", "reference", "answer"),  # as a judge compares them
    ("reference", "answer"),
)
_TEXTS = (
    *("text", "sentence", "utterance", "query", "question", "source", "src", "input", "prompt"),
    *("content", "document", "review", "message", "comment", "title", "body"),
)
_SURE_TEXTS = frozenset((*_TEXTS, *(name for pair in _PAIRS for name in pair)))
ANY_GOLD = frozenset((*GOLDS, *LESS_SURE_GOLDS))
KNOWN_FIELDS = frozenset((*IDS, *ANY_GOLD, *_TEXTS, *(name for pair in _PAIRS for name in pair)))
_FEWEST_WORDS, _MANY_WORDS = 3, 5  # of a text; of what is a text and hardly the name of a column
_LETTERS_A_WORD = 2  # of Chinese, Japanese and Thai, which have no spaces


def first_named(names: Iterable[str], record: Mapping[str, Any]) -> str | None:
    """The field that has the first of these names; if none has, in capitals or small letters."""
    found = next((name for name in names if name in record), None)
    if found is not None:
        return found
    fields = {name.casefold(): name for name in reversed(list(record)) if isinstance(name, str)}
    return next((fields[name.casefold()] for name in names if name.casefold() in fields), None)


def is_sure(text: str) -> bool:
    """Is it the name of a text, whatever the field holds?"""
    return text.casefold() in _SURE_TEXTS


def text_fields(record: Mapping[str, Any], taken: set[str | None], groups: Sequence[str]) -> tuple[str, ...]:
    """The fields that hold the texts: by their names, else the only one, else the one whose text is by far longest."""
    for pair in _PAIRS:  # a paragraph may be both: an input, and what clusters the questions on it
        if all(isinstance(record.get(name), str) and name not in taken for name in pair):
            return pair
    left = {name: value for name, value in record.items() if name not in {*taken, *groups}}
    known = first_named(_TEXTS, left)
    if known:
        return (known,)
    lengths = {name: _words(value) for name, value in left.items() if isinstance(value, str)}
    longest = max(lengths, key=lambda name: lengths[name], default="")
    others = max((count for name, count in lengths.items() if name != longest), default=0)
    if lengths and (len(lengths) == 1 or lengths[longest] >= max(_FEWEST_WORDS, 2 * others)):
        _require_header(longest)
        return (longest,)
    has = ", ".join(record) or "none"
    raise Problem(
        f"it is not clear which field holds the text; the fields are: {has}. Choose it with {option('input')}."
    )


def _require_header(name: str) -> None:
    if _words(name) >= _MANY_WORDS:
        raise Problem(
            f"the row above should hold the names of the columns, but it has {name!r:.60}. Put a row of names above "
            f"it, such as text and label."
        )


def _words(text: str) -> int:
    """How many words there are, where there are spaces; else by the letters."""
    spaced = len(text.split())
    return max(spaced, sum(map(_is_unspaced, text)) // _LETTERS_A_WORD)


def _is_unspaced(letter: str) -> bool:
    return "\u0e00" <= letter <= "\u0eff" or "\u1000" <= letter <= "\u109f" or "\u3040" <= letter <= "\u9fff"
