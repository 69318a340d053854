"""Fits how people repair what they say, from fluent texts and what became of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from unswayed.base.errors import UsageError
from unswayed.lab.calibration import EventCounts
from unswayed.vary import disfluencies as repairs
from unswayed.vary.english import tagged

_RARE = 3  # openings that fewer repairs have are left out; cues have nothing but words from a list
_THROUGH = 0.85  # share of a text's words after which it was said to the end
_MAX_WRONG, _MAX_PHRASE = 16, 9  # words of a false start, and of a wrong phrase, that are told apart
_MIN_REPAIRS = 50  # that a fit needs
# Repairs that also change other words can't be counted. They have more words said again, and more articles.
_MORE_AGAIN, _MORE_ARTICLES = 1.5, 2.0


class _RepairCounts(EventCounts):
    """What was seen in texts with a repair.

    The events are repairs of phrases, words said again before them, articles that these get, and capitals; restarts
    that begin as the sentence does, and those of them that are said to the end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kinds: Counter[str] = Counter()
        self.cues: dict[str, Counter[str]] = defaultdict(Counter)
        self.commas: dict[str, Counter[str]] = defaultdict(Counter)
        self.lengths: dict[str, Counter[str]] = defaultdict(Counter)
        self.openings: dict[str, Counter[str]] = defaultdict(Counter)

    def count(self, before: str, after: str) -> None:
        """Counts the repair in what became of a text, if there is one."""
        clean, said = tagged(before), tagged(after)
        found = repairs.find_repair(clean, said)
        repair = found or repairs.rough_repair(clean, said)  # of which only the kind can be told, and how it begins
        if repair is None:
            return
        self.kinds[repair.kind] += 1
        first, last = repair.cue, repair.end
        cue = [word.lower for word in said[first:last]]
        if found or repairs.cue_in(cue) == 0:
            self.cues[repair.kind][" ".join(cue)] += 1
        if repair.kind == "restart" or (found and repair.kind == "opening"):
            wrong = said[: repair.wrong] if found else said[:first]
            self.lengths[repair.kind][str(min(len(wrong), _MAX_WRONG))] += 1
            if repair.kind == "restart":
                same = [w.lower for w in said[:2]] == [w.lower for w in clean[:2]]
                self.add("same_start", same)
                if same:
                    self.add("through", len(wrong) > _THROUGH * len(clean))
            elif repairs.only_closed(wrong):
                self.openings[clean[0].lower][" ".join(word.lower for word in wrong)] += 1
            else:
                self.seen["borrowed"] += 1
            if found and before[clean[0].start].isupper():
                self.add("capital", after[said[last].start].isupper())
        if not found:
            return
        for phrase in repairs.phrases(before):
            self.places[f"phrase/{phrase.kind}"] += repair.kind in ("phrase", "late")
        if 0 < first < last < len(said):
            pre, post = ("," in after[said[k - 1].end : said[k].start] for k in (first, last))
            marks = "both" if pre and post else "before" if pre else "after" if post else ""
            for word in (said[first].lower, "*"):
                self.commas[word][marks] += 1
        if repair.kind == "phrase":
            size, again = repair.wrong, 0
            while again < size - 1 and said[repair.at + again].lower == clean[repair.at + again].lower:
                again += 1
            at = repair.at + again
            kind = next((p.kind for p in repairs.phrases(before) if p.first == at), None)
            if kind is not None:
                self.seen[f"phrase/{kind}"] += 1
                self.lengths[kind][str(min(size - again, _MAX_PHRASE))] += 1
                tag = clean[at - 1].tag if at else ""
                if tag in repairs.AGAIN:
                    self.add(f"again/{kind}", again > 0)
                if tag in repairs.BARE and kind in repairs.NAMING and not again:
                    self.add("article", repair.article)


def fit_disfluency(clean: Sequence[str], real: Sequence[str]) -> repairs.Disfluencies:
    """The rates of the people who said these texts, whose fluent forms are known."""
    counts = _RepairCounts()
    for before, after in zip(clean, real, strict=True):
        counts.count(before, after)
    total = counts.kinds.total()
    if total < _MIN_REPAIRS:
        raise UsageError(f"A fit needs {_MIN_REPAIRS} texts with a repair. {total} of {len(clean)} have one.")
    openings = {first: _frequent_only(found) for first, found in sorted(counts.openings.items())}
    openings["*"] = _frequent_only(sum(counts.openings.values(), Counter()))

    def corrected(name: str, more: float) -> float:
        return min(1, more * counts.seen[name] / max(1, counts.places[name]))

    return repairs.Disfluencies(
        {kind: counts.kinds[kind] / total for kind in repairs.KINDS},
        {kind: _frequent_only(counts.cues[kind], 1) for kind in repairs.KINDS},
        {word: _frequent_only(found) for word, found in sorted(counts.commas.items()) if found.total() >= _MIN_REPAIRS},
        {kind: counts.share(f"phrase/{kind}") for kind in repairs.PHRASE_KINDS},
        {kind: corrected(f"again/{kind}", _MORE_AGAIN) for kind in repairs.PHRASE_KINDS},
        {kind: dict(sorted(found.items())) for kind, found in sorted(counts.lengths.items())},
        {first: found for first, found in openings.items() if found},
        counts.seen["borrowed"] / max(1, counts.kinds["opening"]),
        counts.share("same_start"),
        counts.share("through"),
        corrected("article", _MORE_ARTICLES),
        counts.share("capital"),
    )


def _frequent_only(found: Mapping[str, int], least: int = _RARE) -> dict[str, int]:
    return {said: n for said, n in sorted(found.items(), key=lambda pair: (-pair[1], pair[0])) if n >= least}
