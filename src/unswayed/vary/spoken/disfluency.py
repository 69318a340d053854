"""Repairs, restarts and hesitations of people who think while they speak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from unswayed.base.edits import Edit
from unswayed.base.errors import UnknownName
from unswayed.base.ids import content_id
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Json
from unswayed.vary.disfluencies import (
    AGAIN,
    BARE,
    KINDS,
    NAMING,
    Phrase,
    PhrasePool,
    disfluencies,
    only_closed,
    phrases,
)
from unswayed.vary.english import Word, tagged
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.sentence import LONGEST, capital
from unswayed.vary.words import draw_key

_NO_CAPITAL = ("i", "i'm", "i've", "i'd", "i'll")
_MAX_PHRASES = 60  # that are looked at
_TRIES = 8  # other texts whose beginning is looked at


class _Speech(NamedTuple):
    """A text that someone is about to say: its words, where other phrases come from, and the dice."""

    text: Text
    words: tuple[Word, ...]
    near: list[str]
    rng: Stream


class Disfluency(Operator):
    """Begins wrong and repairs it, as people do who speak: *from Boston, no wait, from Denver*.

    `kinds` lists what may happen, separated by commas: opening, phrase, restart, late, hesitation; or `all`. Wrong
    phrases come from the example's other texts, such as a paragraph; else from the first 5,000 rows of the data.
    They carry no label. `profile` is a file that `unswayed calibrate disfluency` wrote.
    """

    languages = ("en",)
    pool = 5_000
    example = ("when did the war end", "how uh when did the war end")

    def __init__(self, kinds: str = "all", profile: str = "") -> None:
        chosen = list(KINDS) if kinds == "all" else [kind.strip() for kind in kinds.split(",")]
        for kind in chosen:
            if kind not in KINDS:
                raise UnknownName("kind of disfluency", kind, KINDS)
        self.kinds = [kind for kind in KINDS if kind in chosen]
        self._rates = disfluencies(profile)
        self._pool = PhrasePool(())
        ways = self._opening, self._phrase, self._restart, self._late, self._hesitation
        self._ways = dict(zip(KINDS, ways, strict=True))

    @classmethod
    def pinned(cls, params: dict[str, Json]) -> dict[str, Json]:
        """An id of the profile, which may change under the same name."""
        return {"profile_id": content_id(msgspec.json.encode(disfluencies(str(params["profile"]))).decode())}

    def take_pool(self, examples: Sequence[Example]) -> None:
        self._pool = PhrasePool(t for e in examples for t in e.inputs.values() if isinstance(t, str))

    def change(self, text: Text, rng: Stream) -> Change | None:
        words = tagged(text.text) if len(text.text) <= LONGEST else ()
        if not words:
            return None
        said = _Speech(text, words, self._pool.near(text.text), rng)
        left = list(self.kinds)
        while left:
            kind = rng.weighted(left, [self._rates.kinds[kind] + 1e-6 for kind in left])
            left.remove(kind)
            change = self._ways[kind](said)
            if change is not None and text.keeps(change.edits):
                return change
        return None

    def _cue(self, kind: str, said: _Speech) -> str:
        """A cue with its commas, and a space on either side."""
        cue = draw_key(self._rates.cues[kind], said.rng)
        if not cue:
            return " "
        if said.text.text.islower():
            return f" {cue} "  # as recognisers write
        commas = self._rates.commas
        marks = draw_key(commas.get(cue.partition(" ")[0]) or commas["*"], said.rng)
        cue = " ".join("I" if word == "i" else word for word in cue.split(" "))
        return (", " if marks in ("before", "both") else " ") + cue + (", " if marks in ("after", "both") else " ")

    def _again(self, said: _Speech, wrong: str, kind: str, note: str) -> Change:
        """The whole text after something else."""
        text, first = said.text.text, said.words[0]
        start = first.start
        cue = self._cue(kind, said)
        edits = [Edit(start, start, (capital(wrong) if text[start].isupper() else wrong) + cue)]
        plain = first.tag != "NNP" and first.lower not in _NO_CAPITAL and text[start : first.end][1:].islower()
        if text[start].isupper() and plain and said.rng.random() >= self._rates.capital:
            edits.append(Edit(start, start + 1, text[start].lower()))
        return Change(tuple(edits), f"{note}: “{wrong}{cue}”")

    def _opening(self, said: _Speech) -> Change | None:
        rates, rng = self._rates, said.rng
        own = [word.lower for word in said.words]
        table = rates.openings.get(own[0]) or (rates.openings["*"] if said.words[0].tag == "W" else {})
        wrong = ""
        if not table or rng.random() < rates.borrowed:
            # as another text begins, with a word that says what it is about
            length = int(draw_key(rates.lengths["opening"], rng))
            others = rng.sample(said.near or self._pool.texts, _TRIES)
            fit = (other for other in others if not only_closed(tagged(other)[:length]))
            wrong = _beginning(next(fit, ""), length)
        if not wrong:
            wrong = draw_key(table, rng) if table else ""
        begun = wrong.lower().split()
        if not begun or begun == own[: len(begun)] or len(begun) >= len(own):
            return None
        return self._again(said, wrong, "opening", "another beginning")

    def _restart(self, said: _Speech) -> Change | None:
        rng = said.rng
        if rng.random() < self._rates.same_start:
            found = self._site(said)
            if found is None or found[0].first < 2:
                return None
            phrase, wrong = found
            words, text = said.words, said.text.text
            begun = text[words[0].start : words[phrase.first].start] + wrong
            if rng.random() < self._rates.through:
                begun += text[words[phrase.end - 1].end : words[-1].end]
        else:
            texts = said.near or self._pool.texts
            if not texts:
                return None
            begun = _beginning(rng.choice(texts), int(draw_key(self._rates.lengths["restart"], rng)))
        if begun.lower() == said.text.text.lower()[: len(begun)] or not begun:
            return None
        return self._again(said, begun, "restart", "a restart after another sentence")

    def _phrase(self, said: _Speech) -> Change | None:
        found = self._site(said)
        if found is None:
            return None
        phrase, wrong = found
        at = phrase.first
        before = said.words[at - 1] if at else None
        again = before is not None and before.tag in AGAIN and said.rng.random() < self._rates.repeated[phrase.kind]
        if before is not None and again and not said.text.inside(before.start):
            at, wrong = at - 1, f"{said.text.text[before.start : said.words[phrase.first].start]}{wrong}"
        start = said.words[at].start
        if at == 0 and said.text.text[start].isupper():
            return self._again(said, wrong, "phrase", "a repair")
        cue = self._cue("phrase", said)
        bare = before is not None and before.tag in BARE and phrase.kind in NAMING
        if bare and not again and said.rng.random() < self._rates.article:
            cue += "the "
        return Change((Edit(start, start, wrong + cue),), f"a repair: “{wrong}{cue.rstrip()}”")

    def _late(self, said: _Speech) -> Change | None:
        found = self._site(said, late=True)
        if found is None:
            return None
        phrase, wrong = found
        start, end = said.words[phrase.first].start, said.words[phrase.end - 1].end
        close = said.words[-1].end
        cue = self._cue("late", said).rstrip()
        right, before = phrase.said, said.words[phrase.first - 1]
        if before.tag in AGAIN and said.rng.random() < 0.5:
            right = f"{before.lower} {right}"
        elif said.words[0].tag == "W" and said.rng.random() < 0.2:
            right = f"{said.words[0].lower} {before.lower} {right}" if phrase.first > 1 else right
        if said.rng.random() < 0.15:
            right += said.rng.choice((" rather", f" not {wrong}"))
        edits = (Edit(start, end, wrong), Edit(close, close, f"{cue} {right}"))
        return Change(edits, f"a late repair: “{wrong} …{cue}”")

    def _hesitation(self, said: _Speech) -> Change | None:
        places = [w.start for w in said.words if w.tag not in ("RP", "POS") and not said.text.inside(w.start)]
        if not places:
            return None
        start, filler = said.rng.choice(places), said.rng.choice(("um", "uh", "er"))
        return Change((Edit(start, start, f"{filler} "),), f"a hesitation: “{filler}”")

    def _site(self, said: _Speech, late: bool = False) -> tuple[Phrase, str] | None:
        """A phrase of the text that is repaired, and a wrong one like it.

        The wrong one is from the example's own texts, from texts on the same topic, or from any.
        """
        text, words, rng = said.text, said.words, said.rng
        found = [p for p in phrases(text.text) if not text.inside(words[p.first].start)]
        if late:
            found = [
                p
                for p in found
                if p.first > 0
                and p.end < len(words)
                and not any(a < words[p.end - 1].end and words[p.first].start < b for a, b in text.marked)
            ]
        here = text.text.lower()
        while found:
            phrase = rng.weighted(found, [self._rates.sites[p.kind] + 1e-6 for p in found])
            found.remove(phrase)
            length = int(draw_key(self._rates.lengths.get(phrase.kind, {"1": 1}), rng))
            own = set(phrase.said.lower().split())
            others = [p for other in text.others for p in phrases(other) if p.kind == phrase.kind]
            best: list[Phrase] = []
            for group in (others, *self._pool.like(phrase, said.near)):
                some = [rng.choice(group) for _ in range(_MAX_PHRASES)] if len(group) > _MAX_PHRASES else group
                fit = [p for p in some if not own.intersection(p.said.lower().split()) and p.said.lower() not in here]
                as_long = [p for p in fit if p.end - p.first == length]
                best = as_long or best or fit
                if as_long:
                    break
            if best:
                wrong = rng.choice(best)
                begins = wrong.first == 0 and wrong.kind != "name"  # with a capital that is no name's
                return phrase, wrong.said.lower() if begins or text.text.islower() else wrong.said
        return None


def _beginning(text: str, length: int) -> str:
    """The first words of a text, without its capital and what closes it."""
    words = tagged(text)[:length]
    if not words:
        return ""
    begun = text[words[0].start : words[-1].end]
    return begun if words[0].tag == "NNP" or words[0].lower in _NO_CAPITAL else begun[0].lower() + begun[1:]
