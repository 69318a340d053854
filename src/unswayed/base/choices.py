"""The choices of a question as one input, `choices`: a line for each, with its letter, as in `A. Paris`.

The gold is a letter. Where choices change places, an answer is compared by the choice that its letter stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from unswayed.base.values import Inputs, Json

CHOICES = "choices"
LETTERS = "ABCDEFGHIJ"
_LINE = re.compile(r"([A-J])\. (.*)")


def lettered(choices: Sequence[str], letters: str = LETTERS) -> str:
    """Choices as the text of the input, each on one line."""
    return "\n".join(f"{letter}. {' '.join(text.split())}" for letter, text in zip(letters, choices, strict=False))


def choices_in(inputs: Inputs) -> dict[str, str]:
    """From letters to choices, in their order; empty where the inputs have none in this form."""
    lines = [_LINE.fullmatch(line) for line in inputs.get(CHOICES, "").split("\n")]
    found = {line[1]: line[2] for line in lines if line}
    return found if len(found) == len(lines) > 1 else {}


def letter_of(gold: Json, choices: Sequence[str], labels: Sequence[str] = ()) -> str | None:
    """The letter of the right choice, which is given by its place from 0, its letter, its own label or its text."""
    if isinstance(gold, bool):
        return None
    if isinstance(gold, int):
        return LETTERS[gold] if 0 <= gold < len(choices) else None
    text = str(gold).strip()
    if text in labels:
        return LETTERS[list(labels).index(text)]
    if re.fullmatch(r"\(?[A-Ja-j][.)]?", text) and (at := LETTERS.index(text.strip("(.)").upper())) < len(choices):
        return LETTERS[at]
    if text in choices:
        return LETTERS[list(choices).index(text)]
    return LETTERS[int(text)] if text.isdecimal() and int(text) < len(choices) else None


def moved_back(letter: str, before: Inputs, after: Inputs) -> str:
    """The letter that the choice had before it changed places; the letter itself in brackets where it is of none."""
    text = choices_in(after).get(letter)
    return next((old for old, choice in choices_in(before).items() if choice == text), f"({letter})")
