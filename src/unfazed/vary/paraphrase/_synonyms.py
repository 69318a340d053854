"""Synonyms that hold nearly wherever a word stands, from a short list, in the word's own form."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from unfazed.vary.spoken._forms import KIND_OF, forms
from unfazed.vary.spoken._synonyms import Asked, fitting


@cache
def close_synonyms() -> dict[tuple[str, str], list[str]]:
    """By kind (v, n, a or r) and lemma or form."""
    lines = files("unfazed.vary.paraphrase").joinpath("data/synonyms.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(" ") for line in lines if not line.startswith("#"))
    return {(kind, word): [other.replace("_", " ") for other in others] for kind, word, *others in rows}


def candidates(asked: Asked) -> list[str]:
    """What may be put for a word, in its form; none where the list does not have it or nothing fits."""
    word = asked.words[asked.i]
    kind, lemma = KIND_OF.get(word.tag, ""), forms().lemma(word.lower, word.tag)
    if kind == "n" and asked.i + 1 < len(asked.words) and asked.words[asked.i + 1].tag in ("NN", "NNS", "NNP"):
        return []  # *death penalty*
    if word.tag == "NNS" and (kind, word.lower) in close_synonyms():
        return fitting(asked, close_synonyms()[kind, word.lower])  # *troops*, which has no singular
    said = [_inflected(other, word.tag, kind) for other in close_synonyms().get((kind, lemma), [])]
    return fitting(asked, [form for form in said if form is not None])


def _inflected(lemma: str, tag: str, kind: str) -> str | None:
    """The lemma in the form that a tag says; of a phrase its verb or, if it is a noun's, its last word."""
    if kind == "n":
        before, space, last = lemma.rpartition(" ")
        form = forms().inflected(last, tag)
        return form and before + space + form
    first, space, rest = lemma.partition(" ")
    form = forms().inflected(first, tag)
    return form and form + space + rest
