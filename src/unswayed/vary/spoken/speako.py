"""Slips of the tongue and of the recogniser: a word comes out as the word that sounds nearest to it."""

from __future__ import annotations

import re
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.spoken._speako import ears, letters_of
from unswayed.vary.words import cased, checked_choice

_MAX_WORD = 30  # letters
_TRIES = 8  # tokens that are guessed, before all words are listed
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CLITICS = frozenset(("s", "t", "m", "d", "ll", "re", "ve"))  # what is left of *what's* or *don't* when split


class WordPlace(NamedTuple):
    """A word in a text: where it stands without the punctuation around it, and its plain small letters."""

    start: int
    end: int
    word: str


class Speako(Operator):
    """Replaces a random word by the word that sounds nearest to it.

    The nearest word has the least edit distance of phonemes, then edits between similar sounds, then the highest
    frequency. `homophones=avoid` excludes words that sound the same (*for*, *four*); the default is `allow`.
    """

    languages = ("en",)
    presets = ("speech",)
    slips = True
    example = ("watch a comedy video", "which a comedy video")

    def __init__(self, homophones: str = "allow") -> None:
        self.homophones = checked_choice("homophones", homophones, "allow", "avoid")

    def change(self, text: Text, rng: Stream) -> Change | None:
        # One by one: where unknown words of a block were looked for at once, this was 1.27 times faster end to end.
        count = len(text.tokens)
        # Most tokens are words, so that guessing finds one at once, each as likely as any.
        guesses = (_word_at(text, rng.below(count)) for _ in range(_TRIES if count else 0))
        found = next(filter(None, guesses), None)
        if found is None:
            words = _words_in(text)
            if not words:
                return None
            found = rng.choice(words)
        new, distance = self._nearest(found.word)
        if new is None:  # another word, where nothing sounds like the one that was chosen
            others = [word for word in _words_in(text) if self._nearest(word.word)[0]]
            if not others:
                return None
            found = rng.choice(others)
            new, distance = self._nearest(found.word)
        old, new = text.text[found.start : found.end], new or ""
        if (new == "i" or new.startswith("i'")) and text.text != text.text.lower():
            new = "I" + new[1:]  # always a capital where the text has any
        if old != "I":
            new = cased(new, old)
        elif text.text.startswith(old):
            new = new.capitalize()
        return Change((Edit(found.start, found.end, new),), f"{old}→{new} (sounds alike, distance {distance})")

    def _nearest(self, word: str) -> tuple[str | None, int]:
        """The word that sounds nearest, if any does, and its distance."""
        heard = ears().heard(word)
        if heard.homophone and self.homophones == "allow":
            return heard.homophone, 0
        return heard.near, heard.distance


def _words_in(text: Text) -> list[WordPlace]:
    return [found for place in range(len(text.tokens)) if (found := _word_at(text, place))]


def _word_at(text: Text, place: int) -> WordPlace | None:
    """The word in a token; None for numbers, punctuation, other scripts and what is left of a split contraction."""
    start, end = text.tokens[place]
    token = text.text[start:end]
    if not (token.isascii() and token.isalpha()):
        while start < end and not text.text[start].isalnum():
            start += 1
        while start < end and not text.text[end - 1].isalnum():
            end -= 1
    word = text.text[start:end].lower()
    if word in _CLITICS and (place or token[0] in "'’"):
        return None
    if not (word.isascii() and word.isalpha()):  # without accents and hyphens, its apostrophes kept
        parts = [letters_of(part) for part in re.split("['’]", word)]
        latin = sum(map(len, parts)) >= sum(c.isalpha() for c in word)
        word = "'".join(parts) if _WORD.fullmatch(word) and latin and all(parts) else ""
    return WordPlace(start, end, word) if 0 < len(word) <= _MAX_WORD else None
