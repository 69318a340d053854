"""Contractions, and short expressions that say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unfazed.vary._words import cased
from unfazed.vary.paraphrase._sentence import Rewrite, Sentence

_AUX = ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "could", "would", "should")
_NOT = {f"{word} not": f"{word}n't" for word in _AUX}
_NOT |= {"will not": "won't", "cannot": "can't", "can not": "can't"}
_BE = {"i am": "i'm", "you are": "you're", "we are": "we're", "they are": "they're"}
_BE |= {f"{word} is": f"{word}'s" for word in ("it", "he", "she", "that", "there", "what", "who")}
_BE |= {f"{word} will": f"{word}'ll" for word in ("i", "you", "he", "she", "we", "they", "it")}
_SHORT = _NOT | _BE
_LONG = {short: long for long, short in reversed(_SHORT.items())} | {"can't": "cannot"}
_LONG |= {f"{word} n't": f"{word} not" for word in _AUX}
_LONG |= {"ca n't": "cannot", "wo n't": "will not"}

# Each of these may stand for the others of its line.
_ALIKE = """more than|over
at least|no fewer than
approximately|roughly|about
a number of|several
a lot of|plenty of
because of|due to|owing to
such as|like
in order to|to
as a result of|because of
despite|in spite of
prior to|before
following|after
regarding|concerning
in addition to|besides
per cent|percent
take part in|participate in
took part in|participated in
takes part in|participates in
carry out|conduct
carried out|conducted
to set up|to establish
is located in|lies in|is in|is situated in
passed away|died
is called|is known as
is thought to|is believed to
was found guilty of|was convicted of
the United States|the U.S.|the US
the United Kingdom|the U.K.|the UK
the European Union|the EU
the United Nations|the UN"""
_PUT_IN = (
    "like",
    "to",
    "about",
    "over",
    "is in",
    "before",
    "after",
    "besides",
    "died",
    "several",
    "conduct",
    "to establish",
)


def _table() -> dict[str, list[str]]:
    """By expression those that may stand for it. Words that say much else besides are only ever put in."""
    table: dict[str, list[str]] = {}
    for line in _ALIKE.splitlines():
        group = line.split("|")
        for expression in group:
            if expression not in _PUT_IN:
                table.setdefault(expression.lower(), []).extend(other for other in group if other != expression)
    return table


_EXPRESSIONS = _table()


def _pattern(expressions: list[str]) -> re.Pattern[str]:
    longest_first = sorted(expressions, key=lambda e: (-len(e), e))
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w'’-])", re.I)


_IN_SHORT, _IN_FULL, _FOUND = _pattern([*_SHORT]), _pattern([*_LONG]), _pattern([*_EXPRESSIONS])


def contractions(sentence: Sentence) -> Iterator[Rewrite]:
    """Contracted words in full, and words in full contracted, where something follows that they go with."""
    text, question = sentence.text, "?" in sentence.text[sentence.end : sentence.end + 3]
    for pattern, table in ((_IN_SHORT, _SHORT), (_IN_FULL, _LONG)):
        for found in pattern.finditer(text.replace("’", "'"), sentence.start, sentence.end):
            old = text[found.start() : found.end()]
            follows = re.match(r" (\w+)", text[found.end() : found.end() + 20])
            awkward = table is _SHORT and follows is not None and follows[1] in ("not", "so", "too")
            if follows is None or awkward or (question and found.start() == sentence.start):
                continue
            new = table[found[0].lower()]
            if new.endswith(" is") and follows[1].lower() in ("been", "got", "had"):
                new = new.removesuffix("is") + "has"
            new = "I" + new[1:] if new[:2] in ("i'", "i ") else new
            new = cased(new, old) if not old.isupper() else new
            yield Rewrite(found.start(), found.end(), new.replace("'", "’") if "’" in text else new, f"{old}→{new}")


def expressions(sentence: Sentence) -> Iterator[Rewrite]:
    """Short expressions with each of those that may stand for them."""
    for found in _FOUND.finditer(sentence.text, sentence.start, sentence.end):
        for other in _EXPRESSIONS[found[0].lower()]:
            new = other if other[0].isupper() or found[0].isupper() else cased(other, found[0])
            new = "The" + new[3:] if found[0].startswith("The ") else new
            yield Rewrite(found.start(), found.end(), new, f"{found[0]}→{new}")
