"""Voice: *Microsoft bought Skype* and *Skype was bought by Microsoft*."""

from __future__ import annotations

from collections.abc import Iterator

from unfazed.vary.paraphrase._sentence import MONTHS, WEEKDAYS, Rewrite, Sentence, capital
from unfazed.vary.spoken._forms import forms

# Verbs that say the same in both voices. Not those of owning and being (have, cost, resemble), nor of saying.
_VERBS = """
    abandon abuse accept acquire adopt advise affect announce appoint approve arrest assassinate attack award ban
    bomb build buy capture cause celebrate challenge collect command commit conduct confirm conquer construct control
    create criticise criticize damage defeat defend deliver describe design destroy detain determine develop devastate
    direct discover discuss distribute divorce draft drive edit elect employ encourage endorse establish evacuate
    examine execute explain explore export fire fight find finance follow found free fund govern hire hit host hunt
    identify import impose influence inform injure inspect inspire introduce invade invent investigate invite join
    judge kidnap kill launch lead lose make manage manufacture marry murder name nominate observe occupy offer operate
    oppose order organise organize overthrow own paint perform persuade plan play postpone praise predict present
    prevent print produce promote propose prosecute protect provide publish punish purchase question ratify receive
    recognise recognize recommend record recruit reduce regulate reject release replace report represent rescue reveal
    review ruin rule scrap seize select sell send sentence shoot show sign sink sponsor start steal stop strengthen
    strike study sue summon supply support surround suspect suspend teach test threaten transport treat trigger
    undermine use verify violate visit warn weaken win witness wound write"""
TRANSITIVE = frozenset(_VERBS.split())
_SELVES = ("himself", "herself", "itself", "themselves", "each", "it")
_BE = {"was": "VBD", "were": "VBD", "is": "VBZ", "are": "VBZ"}
_NO_DOERS = """
    end time year years month months week weeks day days percent cent point points mistake law train car bus plane hand
    means default accident chance mile miles kilometres kilometers metres meters yards feet"""
_NOT_DOERS = WEEKDAYS | MONTHS | frozenset(_NO_DOERS.split())
# Prepositions that go with the verb rather than with the noun before them, most of the time.
_AFTER_VERBS = "in on at during after before under since near to from into until because when while although"
_LOOSE = frozenset(_AFTER_VERBS.split())


def voices(sentence: Sentence) -> Iterator[Rewrite]:
    """The sentence's first clause in the other voice, where its parts are plain to see."""
    for first in _subjects(sentence):
        end = sentence.noun_phrase(first)
        if end is not None and end < len(sentence.words) and sentence.joined(end):
            yield from _passive(sentence, first, end)
            yield from _active(sentence, first, end)


def _subjects(sentence: Sentence) -> list[int]:
    """The first word; and the one after an opening *In 2011,*."""
    words = sentence.words
    comma = next((i for i in range(1, min(8, len(words))) if "," in sentence.gap(i)), None)
    return [0] if comma is None or words[0].tag != "IN" else [0, comma]


def _verb(sentence: Sentence, i: int, plural: bool) -> tuple[int, str, str] | None:
    """Of an active clause: the word after its verb, the verb's lemma, and what stands before the participle."""
    words = sentence.words
    verb, after = words[i], words[i + 1] if i + 1 < len(words) else None
    if after is None:
        return None
    if verb.lower in ("has", "have", "had") and after.tag in ("VBN", "VBD") and sentence.joined(i + 1):
        return i + 2, forms().lemma(after.lower, "VBN"), "had been" if verb.lower == "had" else "HAVE been"
    if verb.tag == "MD" and after.tag == "VB" and sentence.joined(i + 1):
        return i + 2, after.lower, f"{verb.lower} be"
    past = forms().lemma(verb.lower, "VBD")
    if verb.tag in ("VBD", "VBN") and forms().inflected(past, "VBD") == verb.lower:
        return i + 1, past, "WAS"
    if verb.tag == "VBZ" and not plural:
        return i + 1, forms().lemma(verb.lower, "VBZ"), "IS"
    return (i + 1, verb.lower, "IS") if verb.tag == "VB" and plural else None


def _passive(sentence: Sentence, first: int, end: int) -> Iterator[Rewrite]:
    found = _verb(sentence, end, sentence.plural(first, end))
    if found is None:
        return
    at, lemma, aux = found
    participle = forms().inflected(lemma, "VBN")
    last = sentence.noun_phrase(at) if at < len(sentence.words) and sentence.joined(at) else None
    if lemma not in TRANSITIVE or participle is None or last is None or not _closes(sentence, last):
        return
    if sentence.words[at].lower in _SELVES or sentence.words[at].tag == "PRP$":
        return
    if {word.lower for word in sentence.words[at:last]} & _NOT_DOERS:
        return
    many = sentence.plural(at, last)
    aux = aux.replace("WAS", "were" if many else "was").replace("IS", "are" if many else "is")
    aux = aux.replace("HAVE", "have" if many else "has")
    thing = sentence.subject_form(at, last)
    new = f"{capital(thing) if first == 0 else thing} {aux} {participle} by {sentence.object_form(first, end)}"
    yield Rewrite(sentence.words[first].start, sentence.words[last - 1].end, new, "passive")


def _closes(sentence: Sentence, i: int) -> bool:
    """Is the noun phrase whole at this word? What may follow goes with the verb, or ends the sentence."""
    return i == len(sentence.words) or (sentence.joined(i) and sentence.words[i].lower in _LOOSE)


def _active(sentence: Sentence, first: int, end: int) -> Iterator[Rewrite]:
    words, n = sentence.words, len(sentence.words)
    by = next((i for i in range(end + 1, min(end + 4, n)) if words[i].lower == "by"), None)
    if by is None or not all(sentence.joined(i) for i in range(end, by + 1)) or by + 1 >= n:
        return
    aux, participle = [word.lower for word in words[end : by - 1]], words[by - 1].lower
    last = sentence.noun_phrase(by + 1) if sentence.joined(by + 1) else None
    if last is None or words[by - 1].tag not in ("VBN", "VBD") or words[by + 1].tag == "CD":
        return
    if not _closes(sentence, last):
        return
    if {word.lower for word in words[by + 1 : last]} & _NOT_DOERS:
        return
    verb = _active_verb(aux, forms().lemma(participle, "VBN"), participle, sentence.plural(by + 1, last))
    if verb is None:
        return
    doer = sentence.subject_form(by + 1, last)
    new = f"{capital(doer) if first == 0 else doer} {verb} {sentence.object_form(first, end)}"
    yield Rewrite(words[first].start, words[last - 1].end, new, "active")


def _active_verb(aux: list[str], lemma: str, participle: str, plural: bool) -> str | None:
    if lemma not in TRANSITIVE:
        return None
    if len(aux) == 1 and aux[0] in _BE:
        tag = _BE[aux[0]]
        return forms().inflected(lemma, "VB" if plural and tag == "VBZ" else tag)
    if aux[-1:] == ["been"] and aux[0] in ("has", "have", "had"):
        return f"{'had' if aux[0] == 'had' else 'have' if plural else 'has'} {participle}"
    if aux[-1:] == ["be"] and len(aux) == 2 and aux[0] in ("will", "would", "can", "could", "may", "might", "must"):
        return f"{aux[0]} {lemma}"
    return None
