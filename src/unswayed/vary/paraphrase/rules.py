"""Paraphrases by rule: no weights, no network, and lower quality than a model's or a person's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.vary.english import Word, kind_of, tagged
from unswayed.vary.fitting import Asked
from unswayed.vary.operator import Change, Operator, Text, whole_text
from unswayed.vary.paraphrase._clauses import orders, voices
from unswayed.vary.paraphrase._phrases import candidates, contractions, expressions, listed_forms, nominals
from unswayed.vary.sentence import LONGEST, Rewrite, Sentence, sentences
from unswayed.vary.synonyms import rank_synonyms, replacement
from unswayed.vary.words import checked_rate, some

# In this order, each on what the one before made. Synonyms come last, since the others know words by their names.
KINDS: dict[str, Callable[[Sentence], Iterator[Rewrite]]] = {
    "voice": voices,
    "nominal": nominals,
    "order": orders,
    "contraction": contractions,
    "expression": expressions,
}
SYNONYM = "synonym"
_MOVES = frozenset(("voice", "order"))  # these would carry labelled words along
_Barred = Callable[[int], bool] | None  # which characters must stay
_OPEN = ("v", "a", "n", "r")


class Rules(Operator):
    """Rewrites sentences by rule: synonyms in context, voice, order of clauses, contractions, nouns for verbs.

    `kinds` lists what it may do, separated by commas: voice, nominal, order, contraction, expression, synonym; or
    `all`. Each rule that applies is used with probability `chance`. `rate` is the share of words with close
    synonyms that are replaced. `wide` allows synonyms from a large table, which are often wrong, if no rule
    applies. In a text with labelled spans, only words outside the spans change, and nothing moves.
    """

    languages = ("en",)
    quick = True
    example = (
        "In 2011, Microsoft bought Skype because it did not have a messenger.",
        "In 2011, Skype was purchased by Microsoft because it didn't have a messenger.",
    )

    def __init__(self, kinds: str = "all", chance: float = 0.6, rate: float = 0.4, wide: bool = False) -> None:
        self.chance, self.rate, self.wide = checked_rate(chance), checked_rate(rate), wide
        known = [*KINDS, SYNONYM]
        chosen = known if kinds == "all" else [kind.strip() for kind in kinds.split(",")]
        for kind in chosen:
            if kind not in known:
                raise UnknownName("kind of rewrite", kind, known)
        self.kinds = [kind for kind in known if kind in chosen]

    def change(self, text: Text, rng: Stream) -> Change | None:
        return self._in_place(text, rng) if text.marked else self._rewritten(text, rng)

    def _rewritten(self, text: Text, rng: Stream) -> Change | None:
        if len(text.text) > LONGEST:
            return None
        said, notes, parts = text.text, list[str](), sentences(text.text)
        first = {kind: found for kind in self.kinds if kind != SYNONYM and (found := _possible(kind, parts))}
        possible = list(first)
        done = [kind for kind in possible if rng.random() < self.chance] or possible[:1]
        for kind in done:
            found = _possible(kind, sentences(said)) if notes else first[kind]  # what was possible may be no more
            if found:
                chosen = rng.choice(found)
                said = apply(said, [Edit(*chosen[:3])])
                notes.append(f"{kind}: {chosen.note}")
        if SYNONYM in self.kinds:
            for change in _synonyms(said, self.rate, rng, None, self.wide and not notes):
                said = apply(said, change.edits)
                notes.append(change.note)
        return whole_text(text.text, said, "; ".join(notes))

    def _in_place(self, text: Text, rng: Stream) -> Change | None:
        """Synonyms and rewrites that move nothing, outside labelled spans, none of them across another."""
        found: list[tuple[tuple[Edit, ...], str]] = []
        parts = sentences(text.text)
        for kind in self.kinds:
            if kind == SYNONYM:
                found += _synonyms(text.text, self.rate, rng, text.labelled, self.wide)
            elif kind not in _MOVES:
                found += [((Edit(*r[:3]),), f"{kind}: {r.note}") for r in _possible(kind, parts)]
        edits: list[Edit] = []
        notes = []
        for changed, note in rng.sample(found, len(found)):
            if not any(_touches(e, edits) or _labelled(e, text) for e in changed) and rng.random() < self.chance:
                edits += changed
                notes.append(note)
        return Change(tuple(sorted(edits)), "; ".join(notes)) if edits else None


def _possible(kind: str, parts: Iterable[Sentence]) -> list[Rewrite]:
    """The rewrites of a kind that change something in these sentences."""
    rewrites = KINDS[kind]
    return [r for part in parts for r in rewrites(part) if part.text[r.start : r.end] != r.new]


def _touches(edit: Edit, others: Iterable[Edit]) -> bool:
    return any(edit.start <= other.end and other.start <= edit.end for other in others)


def _labelled(edit: Edit, text: Text) -> bool:
    return any(edit.start < end and start < edit.end for start, end in text.marked)


def _synonyms(text: str, rate: float, rng: Stream, barred: _Barred, wide: bool) -> list[Change]:
    """Changes of single words, last first, so that each can be made after the one before it.

    From the short list, at the given rate but one at least; with `wide` and none there, one from the large table.
    """
    words = tagged(text) if len(text) <= LONGEST else ()
    known = listed_forms()
    listed = [i for i, w in enumerate(words) if w.lower in known]
    found = [(one, best) for one in _asked(text, words, listed, barred) if (best := candidates(one))]
    chosen = some(found, rate, rng)
    if wide and not found:
        asked = _asked(text, words, range(len(words)), barred)
        chosen = some([(one, best) for one, best in zip(asked, rank_synonyms(asked, 1), strict=True) if best], 0.0, rng)
    chosen = [pair for n, pair in enumerate(chosen) if n == 0 or pair[0].i - chosen[n - 1][0].i > 1]
    return [replacement(one, rng.choice(best)) for one, best in chosen[::-1]]


def _asked(text: str, words: tuple[Word, ...], places: Iterable[int], barred: _Barred) -> list[Asked]:
    """The open-class words at these places that are no names and may change."""
    return [
        Asked(text, words, i)
        for i in places
        if kind_of(words[i]) in _OPEN and (barred is None or not barred(words[i].start)) and _small(text, words[i])
    ]


def _small(text: str, word: Word) -> bool:
    """Is it written in small letters? Others may be names."""
    return text[word.start : word.end].islower()
