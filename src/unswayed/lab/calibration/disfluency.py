"""Counts how people repair what they say, from fluent texts and what became of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from unswayed.base.errors import UsageError
from unswayed.vary.disfluencies import (
    AGAIN,
    BARE,
    KINDS,
    NAMING,
    PHRASE_KINDS,
    Disfluencies,
    Repair,
    cue_in,
    find_repair,
    only_closed,
    phrases,
    rough_repair,
)
from unswayed.vary.english import Word, tagged

_RARE = 3  # openings that fewer repairs have are left out; cues have nothing but words from a list
_THROUGH = 0.85  # share of a text's words after which it was said to the end
_LONGEST = 16  # words of a false start
_LEAST = 50  # repairs that a fit needs
# Repairs that also change other words can't be counted. They have more words said again, and more articles.
_MORE_AGAIN, _MORE_ARTICLES = 1.5, 2.0


def fit_disfluency(clean: Sequence[str], real: Sequence[str]) -> Disfluencies:
    """The rates of the people who said these texts, whose fluent forms are known."""
    count = _Counts()
    for before, after in zip(clean, real, strict=True):
        count.see(before, after)
    if sum(count.kinds.values()) < _LEAST:
        found = sum(count.kinds.values())
        raise UsageError(f"A fit needs {_LEAST} texts with a repair. {found} of {len(clean)} have one.")
    return count.rates()


class _Counts:
    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.cues: dict[str, Counter[str]] = defaultdict(Counter)
        self.commas: dict[str, Counter[str]] = defaultdict(Counter)
        self.sites, self.repaired = Counter[str](), Counter[str]()
        self.could_repeat, self.repeated = Counter[str](), Counter[str]()
        self.lengths: dict[str, Counter[str]] = defaultdict(Counter)
        self.openings: dict[str, Counter[str]] = defaultdict(Counter)
        self.borrowed = self.same_start = self.through = self.articles = self.bare = self.capital = self.capitals = 0

    def see(self, before: str, after: str) -> None:
        clean, said = tagged(before), tagged(after)
        repair = find_repair(clean, said)
        if repair is None:
            self._rough(clean, said)
            return
        self.kinds[repair.kind] += 1
        for phrase in phrases(before):
            self.sites[phrase.kind] += repair.kind in ("phrase", "late")
        self.cues[repair.kind][" ".join(word.lower for word in said[repair.cue : repair.end])] += 1
        self._commas(after, said, repair)
        if repair.kind == "phrase":
            self._phrase(repair, before, clean, said)
        elif repair.kind in ("opening", "restart"):
            self._start(repair, before, after, clean, said)

    def _rough(self, clean: tuple[Word, ...], said: tuple[Word, ...]) -> None:
        """A text of which only the kind of its repair can be told, and how it begins."""
        repair = rough_repair(clean, said)
        if repair is None:
            return
        self.kinds[repair.kind] += 1
        cue = [word.lower for word in said[repair.cue : repair.end]]
        if cue_in(cue) == 0:
            self.cues[repair.kind][" ".join(cue)] += 1
        if repair.kind == "restart":
            self.lengths["restart"][str(min(repair.cue, _LONGEST))] += 1
            self._restarted(repair.cue, clean, said)

    def _restarted(self, wrong: int, clean: tuple[Word, ...], said: tuple[Word, ...]) -> None:
        if [w.lower for w in said[:2]] == [w.lower for w in clean[:2]]:
            self.same_start += 1
            self.through += wrong > _THROUGH * len(clean)

    def _commas(self, after: str, said: tuple[Word, ...], repair: Repair) -> None:
        first, last = repair.cue, repair.end
        if first == last or not first or last >= len(said):
            return
        pre = "," in after[said[first - 1].end : said[first].start]
        post = "," in after[said[last - 1].end : said[last].start]
        marks = "both" if pre and post else "before" if pre else "after" if post else ""
        for word in (said[first].lower, "*"):
            self.commas[word][marks] += 1

    def _phrase(self, repair: Repair, before: str, clean: tuple[Word, ...], said: tuple[Word, ...]) -> None:
        wrong = said[repair.at : repair.at + repair.wrong]
        again = 0
        while again < len(wrong) - 1 and wrong[again].lower == clean[repair.at + again].lower:
            again += 1
        at = repair.at + again
        kind = next((p.kind for p in phrases(before) if p.first == at), None)
        if kind is None:
            return
        self.repaired[kind] += 1
        self.lengths[kind][str(min(len(wrong) - again, 9))] += 1
        if at and clean[at - 1].tag in AGAIN:
            self.could_repeat[kind] += 1
            self.repeated[kind] += again > 0
        if at and clean[at - 1].tag in BARE and kind in NAMING and not again:
            self.bare += 1
            self.articles += repair.article

    def _start(self, repair: Repair, before: str, after: str, clean: tuple[Word, ...], said: tuple[Word, ...]) -> None:
        wrong = said[: repair.wrong]
        if before[clean[0].start].isupper():
            self.capitals += 1
            self.capital += after[said[repair.end].start].isupper()
        self.lengths[repair.kind][str(min(len(wrong), _LONGEST))] += 1
        if repair.kind == "restart":
            self._restarted(len(wrong), clean, said)
        elif only_closed(wrong):
            self.openings[clean[0].lower][" ".join(word.lower for word in wrong)] += 1
        else:
            self.borrowed += 1

    def rates(self) -> Disfluencies:
        total = sum(self.kinds.values())
        openings = {first: _common(found) for first, found in sorted(self.openings.items())}
        openings["*"] = _common(sum(self.openings.values(), Counter()))
        return Disfluencies(
            {kind: self.kinds[kind] / total for kind in KINDS},
            {kind: _common(self.cues[kind], 1) for kind in KINDS},
            {word: _common(found) for word, found in sorted(self.commas.items()) if found.total() >= _LEAST},
            {kind: self.repaired[kind] / max(1, self.sites[kind]) for kind in PHRASE_KINDS},
            {
                kind: min(1, _MORE_AGAIN * self.repeated[kind] / max(1, self.could_repeat[kind]))
                for kind in PHRASE_KINDS
            },
            {kind: dict(sorted(found.items())) for kind, found in sorted(self.lengths.items())},
            {first: found for first, found in openings.items() if found},
            self.borrowed / max(1, self.kinds["opening"]),
            self.same_start / max(1, self.kinds["restart"]),
            self.through / max(1, self.same_start),
            min(1, _MORE_ARTICLES * self.articles / max(1, self.bare)),
            self.capital / max(1, self.capitals),
        )


def _common(found: Mapping[str, int], least: int = _RARE) -> dict[str, int]:
    return {said: n for said, n in sorted(found.items(), key=lambda pair: (-pair[1], pair[0])) if n >= least}
