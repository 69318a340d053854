"""Inflected forms of English words and the lemmas that they belong to, from a table."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

_FILE = Path(__file__).parent / "data" / "synonym_forms.tsv.gz"
_TAGS = {"v": ("VBD", "VBN", "VBG", "VBZ"), "n": ("NNS",), "a": ("JJR", "JJS"), "r": ()}
_BASE = {"v": "VB", "n": "NN", "a": "JJ", "r": "RB"}
KIND_OF = {tag: kind for kind, base in _BASE.items() for tag in (base, *_TAGS[kind])}  # v, n, a or r by tag
_COMPARED = {"JJR": "more", "JJS": "most"}


class Forms:
    """A row of the table is a kind, a lemma and its forms: `v leave left left leaving leaves`."""

    def __init__(self, text: str) -> None:
        self._forms: dict[tuple[str, str], str] = {}
        self._lemmas: dict[tuple[str, str], str] = {}
        for line in text.splitlines():
            kind, lemma, *forms = line.split("\t")
            for tag, form in zip(_TAGS[kind], forms, strict=False):
                if form:
                    self._forms[lemma, tag] = form
                    self._lemmas.setdefault((form, kind), lemma)

    def lemma(self, word: str, tag: str) -> str:
        """The lemma of a lower-case word that has this tag; itself where the table says nothing."""
        kind = KIND_OF.get(tag)
        if kind is None or tag == _BASE[kind]:
            return word
        return self._lemmas.get((word, kind), word)

    def inflected(self, lemma: str, tag: str) -> str | None:
        """The lemma's form for a tag, with *more* or *most* where adjectives have none; None if it has no such form."""
        if tag not in KIND_OF or tag == _BASE[KIND_OF[tag]]:
            return lemma
        form = self._forms.get((lemma, tag))
        return f"{_COMPARED[tag]} {lemma}" if form is None and tag in _COMPARED else form


@lru_cache(1)
def forms() -> Forms:
    return Forms(gzip.decompress(_FILE.read_bytes()).decode())
