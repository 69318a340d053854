"""Controls: the ways to replace, insert or delete a word so that the meaning changes, and the choice of one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.meaning._english import English
from unswayed.vary.meaning._table import (
    LANGUAGES,
    LONGEST,
    MeaningChange,
    Token,
    clear,
    exchanged,
    numbers,
    swapped,
    table,
    tokens,
)
from unswayed.vary.operator import Change, Operator, Text


def replaced(language: str, text: str, rng: Stream) -> list[MeaningChange]:
    """Every replacement, one draw each for those that have choices."""
    text = text[:LONGEST]
    if language == "zh":
        return table("zh").free(text, _replace_zh(text, rng))
    fits = English(text).fits if language == "en" else _fits_portuguese(text)
    return table(language).free(text, _spaced(language, text, rng, fits))


def inserted(language: str, text: str) -> list[MeaningChange]:
    text = text[:LONGEST]
    found = English(text).inserted() if language == "en" else {"pt": _insert_pt, "zh": _insert_zh}[language](text)
    return table(language).free(text, found)


def deleted(language: str, text: str) -> list[MeaningChange]:
    text = text[:LONGEST]
    found = English(text).deleted() if language == "en" else table(language).left_out(text)
    return table(language).free(text, found)


def _fits_portuguese(text: str) -> Callable[[int, str], bool]:
    words = tokens(text)
    return lambda place, sense: sense != "u" or (place > 0 and words[place - 1].text.lower() in _one_bus())


def _one_bus() -> frozenset[str]:
    return frozenset(table("pt").raw["one_bus"].split())


def _spaced(language: str, text: str, rng: Stream, fits: Callable[[int, str], bool]) -> Iterator[MeaningChange]:
    known = table(language)
    yield from exchanged(text, known, rng.below, fits)
    yield from known.fixed(text)
    yield from numbers(text, iter(rng.bits, -1))
    yield from swapped(text, known)


def _replace_zh(text: str, rng: Stream) -> Iterator[MeaningChange]:
    others = table("zh").others
    for match in _chinese().finditer(text):
        for found in others[match[0]]:
            choices = [other for other in found.words if other not in text]
            if choices:
                new = rng.choice(choices)
                yield MeaningChange((Edit(match.start(), match.end(), new),), found.kind, f"{match[0]} → {new}")
    yield from numbers(text, iter(rng.bits, -1))


@cache
def _chinese() -> re.Pattern[str]:
    """All words of the table, the longest first; *他* is none in *其他* and *他们*."""
    words = sorted(table("zh").others, key=lambda word: (-len(word), word))
    return re.compile("|".join(f"(?<![其吉]){w}(?!们|人)" if len(w) == 1 else re.escape(w) for w in words))


def _insert_pt(text: str) -> Iterator[MeaningChange]:
    raw = table("pt").raw
    verbs, barred, former = (frozenset(raw[key].split()) for key in ("negate", "negate_after_not", "former"))
    words = tokens(text)
    if text.rstrip().endswith("?"):
        return
    almost, seldom = (frozenset(raw[key].split()) for key in ("almost", "seldom"))
    for i, word in enumerate(words):
        before = words[i - 1].text.lower() if i else ""
        yield from _another_pt(word, before)
        if (
            before in ("foi", "foram")
            and re.fullmatch(r"\w+[aií]d[oa]s?", word.text)
            and word.text not in raw["undoubted"]
        ):
            new = Edit(word.start, word.start, "supostamente ")
            yield MeaningChange((new,), "doubted", f"'supostamente' before {word.text!r}")
        free = before and before not in barred | {"que", "e", "ou"} and not before.endswith("mente")
        if free and word.text in almost:
            yield MeaningChange((Edit(word.start, word.start, "quase "),), "nearly", f"'quase' before {word.text!r}")
        elif free and word.text in seldom:
            new = Edit(word.start, word.start, "raramente ")
            yield MeaningChange((new,), "seldom", f"'raramente' before {word.text!r}")
        brief = clear(text, word.start, 120)
        if brief and word.text in verbs and before and before not in barred:
            yield MeaningChange((Edit(word.start, word.start, "não "),), "denied", f"'não' before {word.text!r}")
        elif word.text in former and before in ("o", "a", "do", "da", "um", "uma", "pelo", "pela", "ao", "os", "dos"):
            yield MeaningChange((Edit(word.start, word.start, "ex-"),), "modified", f"'ex-' before {word.text!r}")


_ARTICLES_PT = {"o": "outro", "do": "outro", "no": "outro", "pelo": "outro", "ao": "outro",
                "a": "outra", "da": "outra", "na": "outra", "pela": "outra"}  # fmt: skip


def _another_pt(word: Token, before: str) -> Iterator[MeaningChange]:
    """*a ponte* → *a outra ponte*."""
    new = _ARTICLES_PT.get(before)
    if new and word.text in table("pt").raw["other_o" if new == "outro" else "other_a"].split():
        yield MeaningChange((Edit(word.start, word.start, f"{new} "),), "another", f"{new!r} before {word.text!r}")


_KINDS_ZH = {"前": "modified", "另": "another", "差点": "nearly", "不到": "limit", "据说": "doubted"}


def _insert_zh(text: str) -> Iterator[MeaningChange]:
    if text.rstrip().endswith(("?", "？", "吗")):
        return
    for rule in table("zh").raw["insert"]:
        word, _, pattern = rule.partition(" < ")
        for match in re.finditer(pattern, text):
            kind, follows = _KINDS_ZH.get(word, "denied"), match[0] or text[match.end() : match.end() + 4]
            if kind == "denied" and not clear(text, match.start(), 36):
                continue
            yield MeaningChange((Edit(match.start(), match.start(), word),), kind, f"{word!r} before {follows!r}")


WAYS: dict[str, Callable[[str, str, Stream], list[MeaningChange]]] = {
    "replace": replaced,
    "insert": lambda language, text, rng: inserted(language, text),
    "delete": lambda language, text, rng: deleted(language, text),
}


class ControlOperator(Operator):
    """Extend with `ways`, which are tried in order, or with `tried`, which says in which."""

    languages = LANGUAGES
    meaning = "changed"
    ways: tuple[str, ...]

    def tried(self, rng: Stream) -> tuple[str, ...]:
        """The ways in the order in which they are tried; the first that can be done is."""
        return self.ways

    def change(self, text: Text, rng: Stream) -> Change | None:
        language = text.language.split("-")[0]
        for way in self.tried(rng):
            found = [one for one in WAYS[way](language, text.text, rng) if _sound(text, one.edits)]
            if found:
                kind = rng.choice(sorted({one.kind for one in found}))
                chosen = rng.choice([one for one in found if one.kind == kind])
                return Change(tuple(sorted(chosen.edits)), f"{way}, {chosen.kind}: {chosen.note}")
        return None


def _sound(text: Text, edits: tuple[Edit, ...]) -> bool:
    """Does something change, and does something stay?"""
    changes = any(text.text[start:end] != new for start, end, new in edits)
    return changes and len(text.text.strip()) > sum(end - start for start, end, _ in edits)
