"""Other phrases for the same: contractions, expressions, nouns for verbs, *'s* for *of*, close synonyms."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from unswayed.vary.collocations import in_name
from unswayed.vary.english import BE, HAVE, KIND_OF, Word, forms, tagger
from unswayed.vary.fitting import Asked
from unswayed.vary.sentence import Rewrite, Sentence, capital
from unswayed.vary.words import cased

_AUX = ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "could", "would", "should")
_NOT = {f"{word} not": f"{word}n't" for word in _AUX}
_NOT |= {"will not": "won't", "cannot": "can't", "can not": "can't"}
_BE = {"i am": "i'm", "you are": "you're", "we are": "we're", "they are": "they're"}
_BE |= {f"{word} is": f"{word}'s" for word in ("it", "he", "she", "that", "there")}
_BE |= {f"{word} will": f"{word}'ll" for word in ("i", "you", "he", "she", "we", "they", "it")}
_SHORT = _NOT | _BE
_LONG = {short: long for long, short in reversed(_SHORT.items())} | {"can't": "cannot"}
_LONG |= {f"{word} n't": f"{word} not" for word in _AUX}
_LONG |= {"ca n't": "cannot", "wo n't": "will not"}

_PHRASES = tomllib.loads(files("unswayed.vary.paraphrase").joinpath("data/phrases.toml").read_text("utf-8"))
# A verb and what follows it, with the same said with a noun.
_LIGHT = {tuple(verb.split()): light for verb, light in _PHRASES["light"].items()}


def _table() -> dict[str, list[str]]:
    """By expression those that may stand for it. Words that say much else besides are only ever put in."""
    table: dict[str, list[str]] = {}
    for line in _PHRASES["alike"]:
        group = line.split("|")
        for expression in group:
            if expression not in _PHRASES["put_in"]:
                table.setdefault(expression.lower(), []).extend(
                    other for other in group if other != expression and other not in _PHRASES["taken_out"]
                )
    return table


_EXPRESSIONS = _table()


def _pattern(expressions: list[str]) -> re.Pattern[str]:
    longest_first = sorted(expressions, key=lambda e: (-len(e), e))
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w'’-])", re.I)


_NUMBER = (
    r"[$£€]?\s?\d|(?:a |two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty)\b"
)
_NUMBER += r"|(?:half|one (?:hundred|thousand|million|billion|third|quarter)|seventy|eighty|ninety|hundred|thousand)"
_FOLLOWS = {e: re.compile(rf" (?:{pattern.replace('N', _NUMBER)})") for e, pattern in _PHRASES["follows"].items()}
_UNLESS = {e: re.compile(rf"{pattern} $", re.I) for e, pattern in _PHRASES["unless"].items()}
_IN_SHORT, _IN_FULL = _pattern([*_SHORT]), _pattern([*_LONG])


_LONG_WORDS = frozenset(("not", "cannot", "am", "are", "is", "will"))
_COMPARED = re.compile(r"\b(?:as|than|what|where|how|who|whatever) $", re.I)  # *as poor as they are in France*


def contractions(sentence: Sentence) -> Iterator[Rewrite]:
    """Contracted words in full, and words in full contracted, where something follows that they go with."""
    text, question = sentence.text, "?" in sentence.text[sentence.end : sentence.end + 3]
    short, full = not sentence.lower.isdisjoint(_LONG_WORDS), "'" in text or "’" in text  # else nothing is found
    for pattern, table in ((_IN_SHORT, _SHORT),) * short + ((_IN_FULL, _LONG),) * full:
        for found in pattern.finditer(text.replace("’", "'"), sentence.start, sentence.end):
            old = text[found.start() : found.end()]
            follows = re.match(r" (\w+)", text[found.end() : found.end() + 20])
            awkward = table is _SHORT and follows is not None and follows[1] in ("not", "so", "too", "to")
            compared = _COMPARED.search(text[max(0, found.start() - 10) : found.start()])
            if follows is None or awkward or compared or question:
                continue
            new = table[found[0].lower()]
            if new.endswith(" is") and follows[1].lower() in ("been", "got", "had"):
                new = new.removesuffix("is") + "has"
            new = "I" + new[1:] if new[:2] in ("i'", "i ") else new
            new = cased(new, old) if not old.isupper() else new
            yield Rewrite(found.start(), found.end(), new.replace("'", "’") if "’" in text else new, f"{old}→{new}")


def expressions(sentence: Sentence) -> Iterator[Rewrite]:
    """Short expressions with each of those that may stand for them."""
    for word in sentence.words:
        for expression in _BY_WORD.get(word.lower.rstrip("."), ()):
            start = word.start - (4 if expression.startswith("the ") else 0)
            end = start + len(expression)
            old = sentence.text[start:end]
            if start < sentence.start or old.lower() != expression or _INSIDE_A_WORD.match(sentence.text, end):
                continue
            if expression.endswith(".") and not sentence.text[end : end + 2].strip():
                break  # its dot ends the sentence
            if _fits(sentence.text, start, end) and not (expression in _ALONE and _noun_at(sentence, end)):
                yield from _others(old, start, end)
            break


def _others(old: str, start: int, end: int) -> Iterator[Rewrite]:
    for other in _EXPRESSIONS[old.lower()]:
        new = other if other[0].isupper() or old.isupper() else cased(other, old)
        new = "The" + new[3:] if old.startswith("The ") else new
        yield Rewrite(start, end, new, f"{old}→{new}")


def _by_word() -> dict[str, list[str]]:
    """The expressions by their first word, or the one after *the*; the longest first."""
    found: dict[str, list[str]] = {}
    for expression in sorted(_EXPRESSIONS, key=lambda e: (-len(e), e)):
        found.setdefault(expression.removeprefix("the ").split()[0].rstrip("."), []).append(expression)
    return found


_BY_WORD = _by_word()
_INSIDE_A_WORD = re.compile(r"[\w'’-]")
_ALONE = frozenset(expression.lower() for expression in _PHRASES["alone"])


def _noun_at(sentence: Sentence, at: int) -> bool:
    """Does a noun, or an adjective before one, begin after this place?"""
    following = next((word for word in sentence.words if word.start > at), None)
    return following is not None and following.tag in ("NN", "NNS", "NNP", "JJ", "VBG") and following.start - at < 3


def _fits(text: str, start: int, end: int) -> bool:
    """Does the expression say there what it mostly says?"""
    expression = text[start:end].lower()
    follows, unless = _FOLLOWS.get(expression), _UNLESS.get(expression)
    if follows is not None and not follows.match(text, end):
        return False
    return unless is None or not unless.search(text[max(0, start - 12) : start])


_BACK: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {}  # by the verb before the noun, what stands for both
for _verb_and_after, _said in reversed(_LIGHT.items()):
    _BACK.setdefault(_said.split()[0], {})[tuple(_said.split())] = _verb_and_after
_OWNED = frozenset(_PHRASES["owned"].split())
_LASTING = ("own", "lead", "head", "produce", "make", "publish", "sponsor", "manage", "rule")  # as long as one is it


def nominals(sentence: Sentence) -> Iterator[Rewrite]:
    words, verbs = sentence.words, _verbs()
    listed = [] if sentence.lower.isdisjoint(verbs) else words[1:-1]
    for i in [i for i, word in enumerate(listed, 1) if word.lower in verbs]:
        yield from _light(sentence, i)
        yield from _plain(sentence, i)
        yield from _doers(sentence, i)
    owned = "'" in sentence.text or "’" in sentence.text
    if owned or "of" in sentence.lower or "POS" in [word.tag for word in words]:
        yield from _genitives(sentence)


@cache
def _verbs() -> frozenset[str]:
    """The forms of all verbs that nouns stand for, or that stand before such nouns; and of *be*, before doers."""
    lemmas = {verb for verb, _ in _LIGHT} | {light.split()[0] for light in _LIGHT.values()}
    tags = ("VB", "VBD", "VBN", "VBG", "VBZ")
    found = {form for lemma in lemmas for tag in tags if (form := forms().inflected(lemma, tag))}
    return frozenset(found | {"is", "was"})


def _light(sentence: Sentence, i: int) -> Iterator[Rewrite]:
    """*decided to* → *made the decision to*."""
    word, after = sentence.words[i], sentence.words[i + 1]
    asked = word.tag == "VB" and sentence.words[i - 1].tag in ("TO", "MD")
    if not (word.tag == "VBD" or asked) or not sentence.joined(i + 1):
        return
    lemma = forms().lemma(word.lower, word.tag)
    follows = after.lower if (lemma, after.lower) in _LIGHT else "NP" if sentence.noun_phrase(i + 1) else ""
    if (lemma, follows) not in _LIGHT or sentence.words[i - 1].tag in ("DT", "JJ", "PRP$", "POS"):
        return
    verb, _, rest = _LIGHT[lemma, follows].partition(" ")
    said = forms().inflected(verb, word.tag)
    if said:
        yield Rewrite(word.start, word.end, f"{said} {rest}", f"{word.lower}→{said} {rest}")


def _plain(sentence: Sentence, i: int) -> Iterator[Rewrite]:
    """*made the decision to* → *decided to*."""
    word = sentence.words[i]
    if word.tag not in ("VBD", "VBZ", "VB", "VBG", "VBN"):
        return
    lemma = forms().lemma(word.lower, word.tag)
    for light, (verb, after) in _BACK.get(lemma, {}).items():
        end = i + len(light)
        if tuple(w.lower for w in sentence.words[i + 1 : end]) != light[1:]:
            continue
        if end >= len(sentence.words) or not all(sentence.joined(k) for k in range(i + 1, end + 1)):
            continue
        fits = sentence.noun_phrase(end) is not None if after == "NP" else sentence.words[end].lower == after
        said = forms().inflected(verb, word.tag)
        if fits and said:
            yield Rewrite(word.start, sentence.words[end - 1].end, said, f"{' '.join(light)}→{verb}")
            return


def _doers(sentence: Sentence, i: int) -> Iterator[Rewrite]:
    """*is the author of* → *wrote*. What one has done stays done, so its verb is in the past."""
    words = sentence.words
    if i + 4 >= len(words) or words[i].lower not in ("is", "was") or words[i + 1].lower != "the":
        return
    verb = _PHRASES["doers"].get(words[i + 2].lower)
    if verb is None or words[i + 3].lower != "of" or not all(sentence.joined(k) for k in range(i, i + 5)):
        return
    said = forms().inflected(verb, "VBZ" if words[i].lower == "is" and verb in _LASTING else "VBD")
    if said and sentence.noun_phrase(i + 4) is not None:
        yield Rewrite(words[i].start, words[i + 3].end, said, f"{sentence.said(i, i + 4)}→{said}")


def _genitives(sentence: Sentence) -> Iterator[Rewrite]:
    """*the capital of France* → *France's capital*, and back."""
    words, n = sentence.words, len(sentence.words)
    for i in range(n - 3):
        if words[i].lower == "the" and words[i + 1].lower in _OWNED and words[i + 2].lower == "of":
            end = _name(sentence, i + 3)
            if end is None or not all(sentence.joined(k) for k in range(i + 1, i + 4)):
                continue
            owner, titled = sentence.said(i + 3, end), i == 0 and sentence.text[words[1].start].isupper()
            if titled:  # *The Queen of Holland* may be a ship
                continue
            if _ends(sentence, end) and "'" not in owner and "’" not in owner:
                new = f"{owner}{'’' if '’' in sentence.text else chr(39)}s {sentence.said(i + 1, i + 2)}"
                yield Rewrite(words[i].start, words[end - 1].end, new, "’s for of")
    for i in range(n):
        owned = _owner(sentence, i)
        if owned is None or (i and words[i - 1].tag in ("NNP", "DT", "JJ", "PRP$")):
            continue
        name, thing = owned
        if thing < n and words[thing].lower in _OWNED and _ends(sentence, thing + 1):
            new = f"the {sentence.said(thing, thing + 1)} of {name}"
            yield Rewrite(words[i].start, words[thing].end, capital(new) if i == 0 else new, "of for ’s")


def _name(sentence: Sentence, i: int) -> int | None:
    """Where a name that begins at a word ends."""
    end = i
    while end < len(sentence.words) and sentence.words[end].tag == "NNP" and (end == i or sentence.joined(end)):
        end += 1
    return end if end > i else None


def _owner(sentence: Sentence, i: int) -> tuple[str, int] | None:
    """A name with *'s* that begins at a word, without the *'s*, and the place of what is owned."""
    end = _name(sentence, i)
    if end is None:
        return None
    if end < len(sentence.words) and sentence.words[end].tag == "POS":
        return sentence.said(i, end), end + 1
    name = sentence.said(i, end)
    return (name[:-2], end) if name[-2:] in ("'s", "’s") and len(name) > 2 else None


def _ends(sentence: Sentence, i: int) -> bool:
    """Does no noun, number, *and* or apposition go on here?"""
    if i >= len(sentence.words):
        return True
    return sentence.joined(i) and (
        sentence.words[i].tag not in ("NN", "NNS", "NNP", "CD", "CC", "POS", "JJ") and sentence.words[i].lower != "of"
    )


class Close(NamedTuple):
    """What may be put for a word, and the words before which only, or never; `#` is a number, `.` the end."""

    others: list[str]
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def before(self, following: str) -> bool:
        return following not in self.never and (not self.only or following in self.only)


@cache
def close_synonyms() -> dict[tuple[str, str], Close]:
    """By kind (v, n, a or r) and lemma or form."""
    lines = files("unswayed.vary.paraphrase").joinpath("data/synonyms.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for kind, listed, *others in (line.split(" ") for line in lines if not line.startswith("#")):
        word, _, before = listed.partition(">")
        word, _, not_before = word.partition("!")
        said = [other.replace("_", " ") for other in others]
        found[kind, word] = Close(said, *(frozenset(w.split(",")) if w else frozenset() for w in (before, not_before)))
    return found


@cache
def listed_forms() -> frozenset[str]:
    """All words that the list may have something for, in any form."""
    tags = {kind: [tag for tag, of in KIND_OF.items() if of == kind] for kind in "vnar"}
    found = {form for kind, word in close_synonyms() for tag in tags[kind] if (form := forms().inflected(word, tag))}
    return frozenset(found | {word for _, word in close_synonyms()})


def candidates(asked: Asked) -> list[str]:
    """What may be put for a word, in its form; none where the list does not have it or it may say something else."""
    words, i = asked.words, asked.i
    word, table = words[i], close_synonyms()
    kind, lemma = KIND_OF.get(word.tag, ""), forms().lemma(word.lower, word.tag)
    close = table.get((kind, word.lower)) or table.get((kind, lemma))
    if close is None or not _sure(words, i, kind):
        return []
    after = words[i + 1] if i + 1 < len(words) else None
    following = "." if after is None else "#" if after.tag == "CD" else after.lower
    if not close.before(following) or (after is not None and close.only and asked.text[word.end : after.start] != " "):
        return []
    beside = [w.lower[:5] for w in (*words[max(0, i - 1) : i], *words[i + 1 : i + 2])]  # no *happening happened*
    if word.lower != lemma and (kind, word.lower) in table:
        said: list[str | None] = list(close.others)  # forms as they stand: *troops*, *largest*
    else:
        helped = _helped(words, i) if word.tag in ("VBD", "VBN") else None
        said = [_inflected(other, word.tag, kind, helped) for other in close.others]
    return [form for form in said if form is not None and form[:5] not in beside]


_ABOUT_NOUNS = frozenset(("NN", "NNS", "NNP"))
_ASKED = frozenset(("TO", "MD", "NNS", "PRP", "W"))
_DONE_BY = frozenset(("NNP", "PRP", "W", "RB"))


def _sure(words: Sequence[Word], i: int, kind: str) -> bool:
    """Is it surely of this kind, and not part of a name, a compound or a verb with its particle?"""
    word, before, after = words[i], words[i - 1] if i else None, words[i + 1] if i + 1 < len(words) else None
    if kind == "v" and before is not None and before.lower.endswith(("'s", "s'", "’s", "s’")):
        return False
    if in_name(words, i) or (after is not None and after.tag == "RP"):
        return False
    if kind == "n":
        return before is None or before.tag not in ("VBG", "VBN")
    if kind == "v" and word.tag == "VB":
        return before is not None and (before.tag in _ASKED or before.lower in ("not", "n't", "did", "do", "does"))
    if kind == "v" and word.tag == "VBZ" and tagger().could_be(word.lower, "NNS"):
        return before is not None and before.tag in _DONE_BY
    if kind == "v" and word.tag in ("VBN", "VBG") and after is not None and after.tag in _ABOUT_NOUNS:
        return before is not None and before.lower in _HELPERS  # not *the wounded men*, *men wounded* …
    return True


_HELPERS = BE | HAVE | frozenset(("of", "by", "for", "after", "before", "from", "not"))


def _helped(words: Sequence[Word], i: int) -> bool:
    """Does a form of *be* or *have* stand before the verb, adverbs aside?"""
    while i and words[i - 1].tag == "RB":
        i -= 1
    return i > 0 and words[i - 1].lower in _AUXILIARY


_AUXILIARY = BE | HAVE | frozenset(("being", "having", "been", "get", "got"))


def _inflected(lemma: str, tag: str, kind: str, helped: bool | None = None) -> str | None:
    """The lemma in the form that a tag says; of a phrase its verb or, if it is a noun's, its last word.

    `helped` says whether a participle can stand there, which tags are not always right about: where past and
    participle differ, as in *gave* and *given*, the two must agree.
    """
    if kind == "n":
        before, space, last = lemma.rpartition(" ")
        form = forms().inflected(last, tag)
        return form and before + space + form
    first, space, rest = lemma.partition(" ")
    form = forms().inflected(first, tag)
    if helped is not None and forms().inflected(first, "VBD") != forms().inflected(first, "VBN"):
        form = form if helped == (tag == "VBN") else None
    return form and form + space + rest
