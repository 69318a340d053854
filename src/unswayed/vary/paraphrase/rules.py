"""Paraphrases by rule: no weights, no network, and lower quality than a model's or a person's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.vary.english import BE, HAVE, KIND_OF, Word, forms, kind_of, tagged, tagger
from unswayed.vary.fitting import Asked, in_name
from unswayed.vary.operator import Change, Operator, Text, whole_text
from unswayed.vary.paraphrase import _rewrites as rewrites
from unswayed.vary.sentence import LONGEST, Rewrite, Sentence, sentences
from unswayed.vary.synonyms import rank_synonyms, replacement
from unswayed.vary.words import checked_rate, some

# In this order, each on what the one before made. Synonyms come last, since the others know words by their names.
KINDS: dict[str, Callable[[Sentence], Iterator[Rewrite]]] = {
    "voice": rewrites.change_voice,
    "nominal": rewrites.exchange_nominals,
    "order": rewrites.reorder_clauses,
    "contraction": rewrites.change_contractions,
    "expression": rewrites.exchange_expressions,
}
SYNONYM = "synonym"
_MOVES = frozenset(("voice", "order"))  # these would carry labelled words along
_OPEN = ("v", "a", "n", "r")
_NOUNS = frozenset(("NN", "NNS", "NNP"))
_BEFORE_VERBS = frozenset(("TO", "MD", "NNS", "PRP", "W"))
_NOT_OR_DO = ("not", "n't", "did", "do", "does")
_BEFORE_THIRD_PERSON = frozenset(("NNP", "PRP", "W", "RB"))
_HELPERS = BE | HAVE | frozenset(("of", "by", "for", "after", "before", "from", "not"))
_AUXILIARY = BE | HAVE | frozenset(("being", "having", "been", "get", "got"))


class Rules(Operator):
    """Rewrites sentences by rule: synonyms in context, voice, order of clauses, contractions, nouns for verbs.

    `kinds` lists what it may do, separated by commas: voice, nominal, order, contraction, expression, synonym; or
    `all`. Each rule that applies is used with probability `chance`. `rate` is the share of words with close
    synonyms that are replaced. `wide` allows synonyms from a large table, which are often wrong, if no rule
    applies. `every` goes through paragraphs sentence by sentence: each rule is used wherever it applies, and with
    `wide` every other word has a synonym that has one. In a text with labelled spans, only words outside the spans
    change, and nothing moves.
    """

    languages = ("en",)
    distinct = True
    quick = True
    example = (
        "In 2011, Microsoft bought Skype because it did not have a messenger.",
        "In 2011, Skype was purchased by Microsoft because it didn't have a messenger.",
    )

    def __init__(
        self, kinds: str = "all", chance: float = 0.6, rate: float = 0.4, wide: bool = False, every: bool = False
    ) -> None:
        self.chance, self.rate, self.wide, self.every = checked_rate(chance), checked_rate(rate), wide, every
        self.kinds = chosen_kinds(kinds, (*KINDS, SYNONYM))

    def change(self, text: Text, rng: Stream) -> Change | None:
        if text.marked:
            return self._in_place(text, rng)
        if len(text.text) > LONGEST:
            return None
        if self.every:
            return self._everywhere(text.text, rng)
        said, notes, parts = text.text, list[str](), sentences(text.text)
        first = {kind: found for kind in self.kinds if kind != SYNONYM and (found := _find_rewrites(kind, parts))}
        possible = list(first)
        done = [kind for kind in possible if rng.random() < self.chance] or possible[:1]
        for kind in done:
            found = _find_rewrites(kind, sentences(said)) if notes else first[kind]  # what was possible may be no more
            if found:
                chosen = rng.choice(found)
                said = apply(said, [Edit(*chosen[:3])])
                notes.append(f"{kind}: {chosen.note}")
        if SYNONYM in self.kinds:
            for change in _change_synonyms(Text(said), self.rate, rng, self.wide and not notes):
                said = apply(said, change.edits)
                notes.append(change.note)
        return whole_text(text.text, said, "; ".join(notes))

    def _everywhere(self, text: str, rng: Stream) -> Change | None:
        """Each kind in each sentence, the last sentence first, so that the places of those before it stay."""
        said, notes = text, list[str]()
        for kind in self.kinds:
            if kind == SYNONYM:
                continue
            for k in reversed(range(len(sentences(said)))):
                part = sentences(said)[k : k + 1]  # a rewrite may have joined the next one to it
                found = _find_rewrites(kind, part)
                if found and rng.random() < self.chance:
                    chosen = rng.choice(found)
                    said = apply(said, [Edit(*chosen[:3])])
                    notes.append(f"{kind}: {chosen.note}")
        if SYNONYM in self.kinds:
            rounds = [(self.rate, False), (self.rate, True)][: 1 + self.wide]
            for rate, wide in rounds:  # those from the short list first, then words that it does not have
                known = {w.lower for w in tagged(text)} if wide else set()
                for change in _change_synonyms(Text(said), rate, rng, wide, known if wide else None):
                    said = apply(said, change.edits)
                    notes.append(change.note)
        return whole_text(text, said, "; ".join(notes))

    def _in_place(self, text: Text, rng: Stream) -> Change | None:
        """Synonyms and rewrites that move nothing, outside labelled spans, none of them across another."""
        found: list[tuple[tuple[Edit, ...], str]] = []
        parts = sentences(text.text)
        for kind in self.kinds:
            if kind == SYNONYM:
                found += _change_synonyms(text, self.rate, rng, self.wide)
            elif kind not in _MOVES:
                found += [((Edit(*r[:3]),), f"{kind}: {r.note}") for r in _find_rewrites(kind, parts)]
        edits: list[Edit] = []
        notes = []
        for changed, note in rng.sample(found, len(found)):
            touches = any(e.start <= other.end and other.start <= e.end for e in changed for other in edits)
            if not touches and not any(changes_label(e, text) for e in changed) and rng.random() < self.chance:
                edits += changed
                notes.append(note)
        return Change(tuple(sorted(edits)), "; ".join(notes)) if edits else None


def chosen_kinds(kinds: str, known: Sequence[str]) -> list[str]:
    """The kinds of rewrites that are listed, or all, in the order of those that are known."""
    chosen = known if kinds == "all" else [kind.strip() for kind in kinds.split(",")]
    for kind in chosen:
        if kind not in known:
            raise UnknownName("kind of rewrite", kind, list(known))
    return [kind for kind in known if kind in chosen]


def changes_label(edit: Edit, text: Text) -> bool:
    """Does the edit change characters that carry a label?"""
    return any(edit.start < end and start < edit.end for start, end in text.marked)


def _find_rewrites(kind: str, parts: Iterable[Sentence]) -> list[Rewrite]:
    """The rewrites of a kind that change something in these sentences."""
    find = KINDS[kind]
    return [r for part in parts for r in find(part) if part.text[r.start : r.end] != r.new]


def _change_synonyms(
    text: Text, rate: float, rng: Stream, wide: bool, among: Collection[str] | None = None
) -> list[Change]:
    """Changes of single words, last first, so that each can be made after the one before it.

    From the short list, at the given rate but one at least; with `wide` and none there, one from the large table. Of
    words `among` these, those that the short list does not have are replaced from the large table at the given rate.
    """
    said, known = text.text, listed_forms()
    words = tagged(said) if len(said) <= LONGEST else ()
    asked = [
        Asked(said, words, i)
        for i, word in enumerate(words)
        if (wide or word.lower in known) and kind_of(word) in _OPEN and not text.labelled(word.start)
        if said[word.start : word.end].islower()  # others may be names
    ]
    found = [(one, best) for one in asked if words[one.i].lower in known and (best := close_candidates(one))]
    chosen = some(found, rate, rng)
    if among is not None:
        rest = [one for one in asked if words[one.i].lower in among and words[one.i].lower not in known]
        chosen = some([(one, best) for one, best in zip(rest, rank_synonyms(rest, 1), strict=True) if best], rate, rng)
    elif wide and not found:
        chosen = some([(one, best) for one, best in zip(asked, rank_synonyms(asked, 1), strict=True) if best], 0.0, rng)
    chosen = [pair for n, pair in enumerate(chosen) if n == 0 or pair[0].i - chosen[n - 1][0].i > 1]
    return [replacement(one, rng.choice(best)) for one, best in chosen[::-1]]


class CloseSynonyms(NamedTuple):
    """What may be put for a word, and the words before which only, or never; `#` is a number, `.` the end."""

    others: list[str]
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()


@cache
def close_synonyms() -> dict[tuple[str, str], CloseSynonyms]:
    """By kind (v, n, a or r) and lemma or form."""
    lines = files("unswayed.vary.paraphrase").joinpath("data/synonyms.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for kind, listed, *others in (line.split(" ") for line in lines if not line.startswith("#")):
        word, _, before = listed.partition(">")
        word, _, not_before = word.partition("!")
        limits = [frozenset(w.split(",")) if w else frozenset[str]() for w in (before, not_before)]
        found[kind, word] = CloseSynonyms([other.replace("_", " ") for other in others], *limits)
    return found


@cache
def listed_forms() -> frozenset[str]:
    """All words that the list may have something for, in any form."""
    tags = {kind: [tag for tag, of in KIND_OF.items() if of == kind] for kind in "vnar"}
    found = {form for kind, word in close_synonyms() for tag in tags[kind] if (form := forms().inflected(word, tag))}
    return frozenset(found | {word for _, word in close_synonyms()})


def close_candidates(asked: Asked) -> list[str]:
    """What may be put for a word, in its form; none where the list does not have it or it may say something else."""
    words, i, table = asked.words, asked.i, close_synonyms()
    word, after = words[i], words[i + 1] if i + 1 < len(words) else None
    kind, lemma = KIND_OF.get(word.tag, ""), forms().lemma(word.lower, word.tag)
    close = table.get((kind, word.lower)) or table.get((kind, lemma))
    if close is None or not _is_surely(words, i, kind):
        return []
    following = "." if after is None else "#" if after.tag == "CD" else after.lower
    if following in close.never or (close.only and following not in close.only):
        return []
    if close.only and after is not None and asked.text[word.end : after.start] != " ":
        return []
    said: list[str | None] = list(close.others)  # forms as they stand: *troops*, *largest*
    if word.lower == lemma or (kind, word.lower) not in table:
        at = i  # whether a form of *be* or *have* stands before the verb, adverbs aside
        while at and words[at - 1].tag == "RB":
            at -= 1
        helped = at > 0 and words[at - 1].lower in _AUXILIARY
        said = [_inflect_synonym(other, word.tag, kind, helped) for other in close.others]
    beside = [w.lower[:5] for w in (*words[max(0, i - 1) : i], *words[i + 1 : i + 2])]  # no *happening happened*
    return [form for form in said if form is not None and form[:5] not in beside]


def _is_surely(words: Sequence[Word], i: int, kind: str) -> bool:
    """Is it surely of this kind, and not part of a name, a compound or a verb with its particle?"""
    word, before, after = words[i], words[i - 1] if i else None, words[i + 1] if i + 1 < len(words) else None
    if kind == "v" and before is not None and before.lower.endswith(("'s", "s'", "’s", "s’")):
        return False
    if in_name(words, i) or (after is not None and after.tag == "RP"):
        return False
    if kind == "n":
        return before is None or before.tag not in ("VBG", "VBN")
    if kind == "v" and word.tag == "VB":
        return before is not None and (before.tag in _BEFORE_VERBS or before.lower in _NOT_OR_DO)
    if kind == "v" and word.tag == "VBZ" and tagger().could_be(word.lower, "NNS"):
        return before is not None and before.tag in _BEFORE_THIRD_PERSON
    if kind == "v" and word.tag in ("VBN", "VBG") and after is not None and after.tag in _NOUNS:
        return before is not None and before.lower in _HELPERS  # not *the wounded men*, *men wounded* …
    return True


def _inflect_synonym(lemma: str, tag: str, kind: str, helped: bool) -> str | None:
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
    if tag in ("VBD", "VBN") and forms().inflected(first, "VBD") != forms().inflected(first, "VBN"):
        form = form if helped == (tag == "VBN") else None
    return form and form + space + rest
