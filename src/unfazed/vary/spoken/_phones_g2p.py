"""How an unknown word is said: each letter gets no, one or two phones, by a model of which follow which.

The model is a back-off 5-gram over letters joined with their phones, learnt from CMUdict by `tools/make_speako.py`.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files

from unfazed.vary.spoken._phones import LETTERS, letters_of

ORDER = 5
START, END = "^", "\xa1"
FILE = "speako_letters.tsv.gz"
# A letter with its phones is a token, one character from FIRST on in the order of the file's first line. Costs are
# tenths of a nat, characters from NONE on; back-offs may be below zero and are characters around ZERO. So no token can
# be taken for a cost, and the lines are searched as they are.
FIRST, NONE, ZERO = 0xA2, 0x20, 0x40
UNSEEN = 150  # the cost of a token that never occurred
_BEAM = 8


class Model:
    """What tokens cost after others."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens: dict[str, list[tuple[str, str]]] = {}  # of each letter: the token and its phones
        for i, token in enumerate(tokens):
            letter, _, phones = token.partition(":")
            self.tokens.setdefault(letter, []).append((chr(FIRST + i), phones))
        self.after: dict[str, str] = {}  # of each history: its back-off, then pairs of a token and its cost

    def cost(self, history: str, token: str) -> int:
        """What a token costs after a history, or after as much of it as was seen with the token."""
        cost = 0
        while True:
            known = self.after.get(history)
            if known:
                at = known.find(token, 1)
                if at > 0:
                    return cost + ord(known[at + 1]) - NONE
                cost += ord(known[0]) - ZERO
            if not history:
                return cost + UNSEEN
            history = history[1:]


def sound_of(word: str) -> str:
    """The phones of a word, one character each; "" where it has no letters. Letters without a vowel are spelled out."""
    letters = letters_of(word)
    spelled_out = "".join(LETTERS[letter] for letter in letters)
    if len(letters) == 1 or not set(letters) & set("aeiouy"):
        return spelled_out
    return decode(letters, _model()) or spelled_out


def decode(letters: str, model: Model) -> str:
    """The phones of the likeliest way to say the letters."""
    ways = [(0, START, "")]
    for letter in letters:
        best: dict[str, tuple[int, str, str]] = {}
        for cost, history, phones in ways:
            for token, more in model.tokens[letter]:
                total = cost + model.cost(history, token)
                tail = (history + token)[1 - ORDER :]
                if tail not in best or total < best[tail][0]:
                    best[tail] = (total, tail, phones + more)
        ways = sorted(best.values())[:_BEAM]
    return min((cost + model.cost(history, END), phones) for cost, history, phones in ways)[1]


@cache
def _model() -> Model:
    return read_model(gzip.decompress(files("unfazed.vary.spoken").joinpath("data", FILE).read_bytes()).decode())


def read_model(text: str) -> Model:
    """Line 1: tokens as `letter:phones`. Then a history, a tab, its back-off, and pairs of token and cost."""
    head, *lines = text.split("\n")
    model = Model(head.split(" "))
    model.after = dict(line.split("\t", 1) for line in lines if line)
    return model
