"""Which paraphrases are kept: the steps of P̂aRTE's filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from unswayed.vary import jaccard, normal_text

OVERLAP = 0.75  # P̂aRTE's threshold: more alike is hardly a paraphrase
RATED = 75.0  # of 100, on the slider that people moved


class Paraphrase(msgspec.Struct, frozen=True):
    """One text of an example said another way; `score` is what people or a verifier gave it, the higher the better."""

    row: int
    example_id: str
    field: str
    original: str
    text: str
    source: str
    draw: int
    score: float | None = None


Kept = list[Paraphrase]


class Step(NamedTuple):
    name: str
    keep: Callable[[Sequence[Paraphrase]], Kept]


class Counted(NamedTuple):
    """How many candidates there are after a step, in all and by field, and of how many texts."""

    step: str
    candidates: int
    fields: dict[str, int]
    texts: int


def filtered(candidates: Sequence[Paraphrase], steps: Sequence[Step]) -> tuple[Kept, list[Counted]]:
    """What is left after all steps, and the counts before the first and after each."""
    left = list(candidates)
    counts = [_count("generated", left)]
    for step in steps:
        left = step.keep(left)
        counts.append(_count(step.name, left))
    return left, counts


def _count(step: str, left: Kept) -> Counted:
    fields = Counter(candidate.field for candidate in left)
    return Counted(step, len(left), dict(sorted(fields.items())), len({(c.row, c.field) for c in left}))


def different() -> Step:
    """Not the original again, nor another candidate again, but for case, marks and spaces."""

    def keep(candidates: Sequence[Paraphrase]) -> Kept:
        seen: set[tuple[int, str, str]] = set()
        left = []
        for c in candidates:
            key = (c.row, c.field, normal_text(c.text))
            if key[2] != normal_text(c.original) and key not in seen:
                seen.add(key)
                left.append(c)
        return left

    return Step("not identical", keep)


def overlap(most: float = OVERLAP) -> Step:
    """Shares at most so many of its tokens with the original."""
    return Step(f"overlap ≤ {most:g}", lambda cs: [c for c in cs if jaccard(c.original, c.text) <= most])


class Rating(NamedTuple):
    """What people said of one paraphrase: the mean of their 0 to 100, and whether most found it grammatical."""

    similarity: float
    grammatical: bool


Ratings = Mapping[tuple[str, str], Rating]  # by original and paraphrase


def grammatical(ratings: Ratings) -> Step:
    """People found it grammatical; what nobody rated is not kept."""

    def keep(candidates: Sequence[Paraphrase]) -> Kept:
        return [c for c in candidates if (rating := ratings.get((c.original, c.text))) and rating.grammatical]

    return Step("grammatical", keep)


def rated(ratings: Ratings, least: float = RATED) -> Step:
    """People found its meaning more like the original's than `least` of 100; their mean is its score."""

    def keep(candidates: Sequence[Paraphrase]) -> Kept:
        found = ((c, ratings.get((c.original, c.text))) for c in candidates)
        return [msgspec.structs.replace(c, score=r.similarity) for c, r in found if r and r.similarity > least]

    return Step(f"rated > {least:g}", keep)


Entails = Callable[[Sequence[tuple[str, str]]], Sequence[bool]]
Similarity = Callable[[Sequence[tuple[str, str]]], Sequence[float]]


def entailed_both_ways(entails: Entails) -> Step:
    """A judge of entailment finds that each follows from the other."""

    def keep(candidates: Sequence[Paraphrase]) -> Kept:
        there = entails([(c.original, c.text) for c in candidates])
        back = entails([(c.text, c.original) for c in candidates])
        return [c for c, one, other in zip(candidates, there, back, strict=True) if one and other]

    return Step("entailed both ways", keep)


def similar(similarity: Similarity, least: float) -> Step:
    """Its embedding is at least so like the original's; that is its score, of 100, where people gave none."""

    def keep(candidates: Sequence[Paraphrase]) -> Kept:
        found = zip(candidates, similarity([(c.original, c.text) for c in candidates]), strict=True)
        return [
            c if c.score is not None else msgspec.structs.replace(c, score=100 * value)
            for c, value in found
            if value >= least
        ]

    return Step(f"similarity ≥ {least:g}", keep)


def best() -> Step:
    """The best-rated of each text; without ratings, the one that is least like the original in words."""

    def keep(candidates: Sequence[Paraphrase]) -> Kept:
        groups: dict[tuple[int, str], Kept] = {}
        for c in candidates:
            groups.setdefault((c.row, c.field), []).append(c)
        return [min(group, key=_worse) for group in groups.values()]

    return Step("best of each text", keep)


def _worse(c: Paraphrase) -> tuple[float, float, int]:
    return -(c.score or 0.0), jaccard(c.original, c.text), c.draw
