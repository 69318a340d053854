"""Controls: small edits after which the right answer, or the score, should differ; and what their operators share.

That is the ways to replace, insert or delete a word so that the meaning changes, and the choice of one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.meaning._english import EnglishControls
from unswayed.vary.meaning._table import LANGUAGES, MeaningChange, is_clear, number_changes, table, tokens, without
from unswayed.vary.operator import Change, Operator, Text

_NAME = r"[A-ZÀ-Ý][\w.’'-]*(?: [A-ZÀ-Ý][\w.’'-]*){0,3}"
_MAX_CHARACTERS = 20_000  # characters of a text that are looked at


def find_replacements(language: str, text: str, rng: Stream) -> list[MeaningChange]:
    """Every replacement, one draw each for those that have choices."""
    known = table(language)
    found: list[MeaningChange] = []
    if language == "zh":
        for match in _chinese_words().finditer(text):
            for others in known.others[match[0]]:
                choices = [other for other in others.words if other not in text]
                if choices:
                    new = rng.choice(choices)
                    edit = Edit(match.start(), match.end(), new)
                    found.append(MeaningChange((edit,), others.kind, f"{match[0]} → {new}"))
        return known.unprotected(text, [*found, *number_changes(text, rng)])
    if language == "en":
        fits = EnglishControls(text).fits
    else:
        words, one_bus = tokens(text), frozenset(known.raw["one_bus"].split())

        def fits(place: int, sense: str) -> bool:
            return sense != "u" or (place > 0 and words[place - 1].text.lower() in one_bus)

    found += known.exchanges(text, rng, fits)
    for before, after in known.phrases.items():  # expressions of several words that have a fixed counterpart
        for match in re.finditer(rf"\b{re.escape(before)}\b", text, re.IGNORECASE):
            new = after[0].upper() + after[1:] if match[0][0].isupper() else after
            found.append(MeaningChange((Edit(match.start(), match.end(), new),), "expression", f"{match[0]} → {new}"))
    found += number_changes(text, rng)
    # Two names of which one does something to the other, or from one of which something goes to the other.
    acts, motion = ("|".join(map(re.escape, sorted(words))) for words in (known.acts, known.motion))
    end = r"(?! d[aeo]s? | of | and | e |\w)"
    ways = rf"({_NAME}) (?:{acts}) ({_NAME}){end}|\b(?:{motion}) (?:from|de) ({_NAME}) (?:to|para) ({_NAME}){end}"
    for match in re.finditer(ways, text):
        one, other = (1, 2) if match[1] else (3, 4)
        if match[one] != match[other] and match[one].lower() not in ("he", "she", "they", "it", "ele", "ela", "o", "a"):
            edits = (Edit(*match.span(one), match[other]), Edit(*match.span(other), match[one]))
            found.append(MeaningChange(edits, "names", f"{match[one]} ↔ {match[other]}"))
    return known.unprotected(text, found)


def find_insertions(language: str, text: str) -> list[MeaningChange]:
    """Every word that could be put in."""
    ways = {"pt": _insert_portuguese, "zh": _insert_chinese}
    found = EnglishControls(text).insertions() if language == "en" else ways[language](text)
    return table(language).unprotected(text, found)


def find_deletions(language: str, text: str) -> list[MeaningChange]:
    """Every word that could be left out."""
    known = table(language)
    if language == "en":  # but nothing that a later *any* or *until* rests on
        left_out = EnglishControls(text).deletions()
        return known.unprotected(text, (one for one in left_out if not known.unless.search(text, one.edits[0].end)))
    found = []
    for pattern, kind in known.deletions:
        for match in pattern.finditer(text):
            one_of_more = kind == "fewer" and known.together.search(text, 0, match.start())
            if not one_of_more and not known.unless.search(text, match.end()):
                found.append(without(text, match.start(), match.end(), kind))
    return known.unprotected(text, found)


@cache
def _chinese_words() -> re.Pattern[str]:
    """All words of the table, the longest first; *他* is none in *其他* and *他们*."""
    words = sorted(table("zh").others, key=lambda word: (-len(word), word))
    return re.compile("|".join(f"(?<![其吉]){w}(?!们|人)" if len(w) == 1 else re.escape(w) for w in words))


_OTHER_PT = dict.fromkeys(("o", "do", "no", "pelo", "ao"), "outro") | dict.fromkeys(("a", "da", "na", "pela"), "outra")
_PARTICIPLE_PT = re.compile(r"\w+[aií]d[oa]s?")


def _insert_portuguese(text: str) -> Iterator[MeaningChange]:
    raw = table("pt").raw
    keys = ("negate", "negate_after_not", "former", "almost", "seldom", "other_o", "other_a")
    verbs, barred, former, almost, seldom, masculine, feminine = (frozenset(raw[key].split()) for key in keys)
    words = tokens(text)
    for i, word in enumerate(words) if not text.rstrip().endswith("?") else ():
        before = words[i - 1].text.lower() if i else ""
        put: list[tuple[str, str]] = []  # what is put before the word, and what kind of change that is
        other = _OTHER_PT.get(before)  # *a ponte* → *a outra ponte*
        if other and word.text in (masculine if other == "outro" else feminine):
            put.append((other, "another"))
        passive = before in ("foi", "foram") and _PARTICIPLE_PT.fullmatch(word.text)
        if passive and word.text not in raw["undoubted"]:
            put.append(("supostamente", "doubted"))
        free = before and before not in barred | {"que", "e", "ou"} and not before.endswith("mente")
        if free and word.text in almost:
            put.append(("quase", "nearly"))
        elif free and word.text in seldom:
            put.append(("raramente", "seldom"))
        if is_clear(text, word.start, 120) and word.text in verbs and before and before not in barred:
            put.append(("não", "denied"))
        elif word.text in former and before in ("o", "a", "do", "da", "um", "uma", "pelo", "pela", "ao", "os", "dos"):
            put.append(("ex-", "modified"))
        for new, kind in put:
            space = "" if new.endswith("-") else " "
            edit = Edit(word.start, word.start, new + space)
            yield MeaningChange((edit,), kind, f"{new!r} before {word.text!r}")


_KINDS_ZH = {"前": "modified", "另": "another", "差点": "nearly", "不到": "limit", "据说": "doubted"}


def _insert_chinese(text: str) -> Iterator[MeaningChange]:
    if text.rstrip().endswith(("?", "？", "吗")):
        return
    for rule in table("zh").raw["insert"]:
        word, _, pattern = rule.partition(" < ")
        for match in re.finditer(pattern, text):
            kind, follows = _KINDS_ZH.get(word, "denied"), match[0] or text[match.end() : match.end() + 4]
            if kind == "denied" and not is_clear(text, match.start(), 36):
                continue
            yield MeaningChange((Edit(match.start(), match.start(), word),), kind, f"{word!r} before {follows!r}")


class ControlOperator(Operator):
    """Extend with `ways`, which are tried in order, or with `tried`, which says in which."""

    languages = LANGUAGES
    distinct = True
    meaning = "changed"
    ways: tuple[str, ...]

    def tried(self, rng: Stream) -> tuple[str, ...]:
        """The ways in the order in which they are tried; the first that can be done is."""
        return self.ways

    def change(self, text: Text, rng: Stream) -> Change | None:
        language, said = text.language.split("-")[0], text.text[:_MAX_CHARACTERS]
        for way in self.tried(rng):
            if way == "replace":
                found = find_replacements(language, said, rng)
            else:
                found = (find_insertions if way == "insert" else find_deletions)(language, said)
            fit = []
            for one in found:  # something must change, and something must stay
                changes = any(said[start:end] != new for start, end, new in one.edits)
                if changes and len(text.text.strip()) > sum(end - start for start, end, _ in one.edits):
                    fit.append(one)
            if fit:
                kind = rng.choice(sorted({one.kind for one in fit}))
                chosen = rng.choice([one for one in fit if one.kind == kind])
                return Change(tuple(sorted(chosen.edits)), f"{way}, {chosen.kind}: {chosen.note}")
        return None
