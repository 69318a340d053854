"""Nouns for verbs and back: *visited*, *paid a visit to*; *is the author of*, *wrote*; *'s* for *of*."""

from __future__ import annotations

from collections.abc import Iterator

from unfazed.vary.paraphrase._sentence import Rewrite, Sentence, capital
from unfazed.vary.spoken._forms import forms

# A verb, what follows it where it can be replaced (a noun phrase, or this word), and the same said with a noun.
_LIGHT = {
    ("visit", "NP"): "pay a visit to",
    ("attack", "NP"): "carry out an attack on",
    ("investigate", "NP"): "conduct an investigation into",
    ("criticise", "NP"): "voice criticism of",
    ("criticize", "NP"): "voice criticism of",
    ("support", "NP"): "give support to",
    ("influence", "NP"): "have an influence on",
    ("affect", "NP"): "have an effect on",
    ("describe", "NP"): "give a description of",
    ("answer", "NP"): "give an answer to",
    ("control", "NP"): "have control of",
    ("threaten", "NP"): "make threats against",
    ("use", "NP"): "make use of",
    ("aid", "NP"): "give aid to",
    ("assist", "NP"): "give assistance to",
    ("review", "NP"): "carry out a review of",
    ("decide", "to"): "make the decision",
    ("plan", "to"): "have plans",
    ("promise", "to"): "make a promise",
    ("attempt", "to"): "make an attempt",
    ("try", "to"): "make an attempt",
    ("agree", "to"): "come to an agreement",
    ("agree", "on"): "reach an agreement",
    ("apologise", "for"): "make an apology",
    ("apologize", "for"): "make an apology",
    ("meet", "with"): "hold a meeting",
    ("conclude", "that"): "come to the conclusion",
    ("warn", "that"): "give a warning",
}
_BACK = {tuple(light.split()): (verb, after) for (verb, after), light in reversed(_LIGHT.items())}
# What somebody is, and what they do or did.
_DOERS = {
    "author": "write",
    "founder": "found",
    "inventor": "invent",
    "creator": "create",
    "discoverer": "discover",
    "designer": "design",
    "winner": "win",
    "owner": "own",
    "leader": "lead",
    "head": "head",
    "producer": "produce",
    "maker": "make",
    "publisher": "publish",
    "sponsor": "sponsor",
    "manager": "manage",
    "ruler": "rule",
}
# What is somebody's or some place's. Not *the city of Madras*, which is Madras.
_THINGS = """
    president capital government leader king queen wife husband son daughter father mother brother sister death
    assassination murder birth arrest inauguration army economy people population citizens border borders coast chairman
    governor mayor director head owner headquarters parliament currency language constitution flag history election
    resignation author founder inventor side jungles streets victory defeat invasion occupation independence widow house
    career party policy ambassador forces troops soldiers police airport airports economy industry exports imports"""
_OWNED = frozenset(_THINGS.split())
_LASTING = ("own", "lead", "head", "produce", "make", "publish", "sponsor", "manage", "rule")  # as long as one is it


def nominals(sentence: Sentence) -> Iterator[Rewrite]:
    for i in range(1, len(sentence.words) - 1):
        yield from _light(sentence, i)
        yield from _plain(sentence, i)
        yield from _doers(sentence, i)
    yield from _genitives(sentence)


def _light(sentence: Sentence, i: int) -> Iterator[Rewrite]:
    """*decided to* → *made the decision to*."""
    word, after = sentence.words[i], sentence.words[i + 1]
    if word.tag not in ("VBD", "VBZ", "VB", "VBG") or not sentence.joined(i + 1):
        return
    lemma = forms().lemma(word.lower, word.tag)
    follows = after.lower if (lemma, after.lower) in _LIGHT else "NP" if sentence.noun_phrase(i + 1) else ""
    if (lemma, follows) not in _LIGHT or sentence.words[i - 1].tag in ("DT", "JJ", "PRP$", "POS"):
        return
    if word.tag == "VB" and sentence.words[i - 1].tag == "NN":
        return  # *life support*
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
    for light, (verb, after) in _BACK.items():
        end = i + len(light)
        if lemma != light[0] or tuple(w.lower for w in sentence.words[i + 1 : end]) != light[1:]:
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
    verb = _DOERS.get(words[i + 2].lower)
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
            owner = sentence.said(i + 3, end)
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
