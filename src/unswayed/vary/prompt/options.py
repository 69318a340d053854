"""The choices of a question in another order and under other letters; the gold goes with its choice."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from itertools import permutations

from unswayed.base.chat import CHOICES, LETTERS, choices_in, lettered
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream
from unswayed.base.values import Example
from unswayed.vary.operator import PromptOperator, Rewritten
from unswayed.vary.prompt import checked_share

# How a choice speaks of others, in the languages of `choices.toml`. Two capitals that stand alone are letters of
# choices, and so is one in brackets, after or before such words as *only*, and one that begins a choice before *is*.
_CAPITAL = re.compile(r"(?<![A-Za-z\d])[A-J](?![A-Za-z\d])")
_CYRILLIC = re.compile(r"(?<!\w)[АБВГ](?!\w)")
_X = r"(?<![A-Za-z\d])[\"'“«]?([A-J])(?![A-Za-z\d])"
_WORDS = list(tomllib.loads((files("unswayed.vary.prompt") / "choices.toml").read_text("utf-8")).values())
_ONLY = "|".join(word for words in _WORDS for word in words["only"].split())
_ONE = re.compile(
    rf"[(\[]([A-J])[)\]]|(?<!\w)(?:{_ONLY})(?!\w)\s*:?\s*{_X}(?:\s+(?:and|or|nor)\s+{_X})?"
    rf"|^\W*{_X}\s+(?:{_ONLY}|is|ist|est|es|é|è)(?!\w)|[只仅除选同]\s*有?\s*{_X}",
    re.IGNORECASE,
)
_ALL_ABOVE = re.compile(rf"\W*(?:{'|'.join(way for words in _WORDS for way in words['above'])})\W*", re.IGNORECASE)
_NOT_CLEAR = re.compile(
    "|".join(rf"(?<![^\W\u2e80-\U0003ffff])(?:{way})" for words in _WORDS for way in words["some"]), re.IGNORECASE
)
_ALL = 5  # choices up to which all orders are dealt out; of more, orders are drawn
_OTHER = LETTERS[5:]


class Options(PromptOperator):
    """Puts the answer choices in another order, or under other letters; the right answer moves along.

    It needs rows with choices, such as MMLU's `question`, `choices` and `answer`. A flip is another choice, not another
    letter. A choice that names others, such as *Both A and B*, stays in place, and so do they. If it is not clear which
    ones it means, all choices stay. `vary` is `order`, `letters` (F to J in place of A to E, for up to five choices) or
    `both`. Each draw is one order for all questions with as many choices. `share` is the share of the draws that each
    example is asked with.
    """

    name = "prompt/options"
    needs = "rows with choices: a question, a list of choices, and the right one"
    example = ("A. red\nB. blue\nC. green", "A. red\nB. green\nC. blue")

    def __init__(self, vary: str = "order", share: float = 1.0) -> None:
        self.share = checked_share(share)
        if vary not in ("order", "letters", "both"):
            raise UsageError(f"vary must be order, letters or both, not {vary!r:.40}.")
        self._vary = vary
        self._known: dict[tuple[int, int], tuple[tuple[int, ...], str] | None] = {}

    def rewrite(self, example: Example, language: str, rng: Stream) -> Rewritten | None:
        before = choices_in(example.inputs)
        n = len(before)
        if n and (rng.draw, n) not in self._known:  # the draw's order of so many choices, and their letters
            alphabets = [LETTERS] if self._vary == "order" or n > len(_OTHER) else [_OTHER]
            alphabets = [LETTERS, *alphabets] if self._vary == "both" and n <= len(_OTHER) else alphabets
            same = tuple(range(n))
            orders = [same] if self._vary == "letters" else list(permutations(same)) if n <= _ALL else []
            orders = orders or [tuple(rng.habit(f"order of {n}").sample(same, n))]
            ways = [(order, its) for order in orders for its in alphabets if (order, its) != (same, LETTERS)]
            self._known[rng.draw, n] = rng.dealt(ways, f"orders of {n}") if ways else None
        drawn = self._known[rng.draw, n] if n else None
        if drawn is None:
            return None
        order, letters = drawn
        old, texts = list(before), list(before.values())
        held = held_choices(texts)
        if letters != LETTERS and any(_named(text, n) for text in texts):
            return None  # *Both A and B* would speak of letters that are no longer there
        if held:  # the others take the draw's order among themselves, and change it if that is their own
            free = [i for i in range(n) if i not in held]
            moved = [i for i in order if i in free]
            moved = [*moved[1:], *moved[:1]] if moved == free and order != tuple(range(n)) else moved
            order = tuple(i if i in held else moved[free.index(i)] for i in range(n))
        gold = example.gold
        if isinstance(gold, str) and gold in before:
            gold = letters[order.index(old.index(gold))]
        made = lettered([texts[i] for i in order], letters)
        if made == example.inputs[CHOICES]:
            return None
        said = "order " + " ".join(old[i] for i in order)
        note = f"{said}, letters {letters[: len(order)]}" if letters != LETTERS else said
        return Rewritten({**example.inputs, CHOICES: made}, gold, note)


def held_choices(texts: Sequence[str]) -> set[int]:
    """The places of choices that must stay: those that speak of others, and those that they speak of."""
    everything, held = set(range(len(texts))), set[int]()
    for at, text in enumerate(texts):
        if named := _named(text, len(texts)):
            held |= {at, *named}
        elif _ALL_ABOVE.fullmatch(text) and at == len(texts) - 1:
            held.add(at)  # of all above it, in whatever order
        elif _NOT_CLEAR.search(text):
            return everything
    return held


def _named(text: str, n: int) -> set[int]:
    """The places of the choices that a choice names by their letters."""
    if len(set(_CYRILLIC.findall(text))) > 1:  # А, Б, В, Г: В may be the third or look like the second
        return set(range(n))
    capitals = {letter for letter in _CAPITAL.findall(text) if LETTERS.index(letter) < n}
    letters = capitals if len(capitals) > 1 else set()
    letters |= {letter.upper() for found in _ONE.findall(text) for letter in found if letter}
    return {at for letter in letters if (at := LETTERS.index(letter)) < n}
