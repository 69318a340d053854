"""What a run's sample shows of people, draws and repeats: the values, and what they say in sentences."""

from __future__ import annotations

import msgspec

from unswayed.base.values import Estimate

THESE, LIKE_THESE = "these people", "people like these"


class Sources(msgspec.Struct, frozen=True, omit_defaults=True):
    """The variance of one variant's number, by where it comes from. `people` are draws if draws are no people.

    None for what can't be known: people if there is but one, repeats if nothing was asked again.
    """

    examples: float | None
    people: float | None
    repeats: float | None
    rest: float | None

    def shares(self) -> dict[str, float]:
        """Each part of the whole variance, from 0 to 1; empty if nothing varies."""
        parts = {name: getattr(self, name) for name in ("examples", "people", "repeats", "rest")}
        known = {name: max(value, 0.0) for name, value in parts.items() if value is not None}
        whole = sum(known.values())
        return {name: value / whole for name, value in known.items()} if whole else {}


class Sampled(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measure of the variants that people made: for these people, and for people like these if there are two."""

    these: Estimate
    like_these: Estimate | None
    variance: Sources
    draws: float  # variants of an example, on average
    by: dict[str, float] = {}
    clusters: int | None = None
    cluster_variance: float | None = None  # of a cluster's mean, if examples are in clusters


class PeopleBlock(msgspec.Struct, frozen=True, omit_defaults=True):
    """The people, or draws, who varied the examples, and the measures over them, by name: average, drop, flips.

    `families` has the same for the people of each family, where there are several.
    """

    who: str
    n: int
    measures: dict[str, Sampled]
    families: dict[str, dict[str, Sampled]] = {}

    def rows(self) -> list[dict[str, object]]:
        """A row for each measure: both intervals, and where its variance comes from; none for draws."""
        return [
            {
                "measure": name,
                THESE: found.these,
                LIKE_THESE: found.like_these,
                **{f"variance: {part}": f"{share:.0%}" for part, share in found.variance.shares().items()},
            }
            for name, found in self.measures.items()
            if self.who == "people"
        ]

    def sentences(self) -> list[str]:
        """What generalises to whom."""
        if self.who != "people":
            return []
        found = next((self.measures[m] for m in ("average", "flips") if m in self.measures), None)
        if found is None or found.these.low is None or found.these.value is None:
            return []
        name = "average" if "average" in self.measures else "flips"
        said = f"{self.n} people: {name} {_shown(found.these)} for these people"
        if found.like_these is None:
            return [f"{said}. One person can't show how people differ."]
        wide = "; two people show little of how people differ" if self.n == 2 else ""
        return [f"{said}, {_shown(found.like_these)} for people like these{wide}."]


def _shown(e: Estimate) -> str:
    return f"{e.value:.3f} ({e.low:.3f} to {e.high:.3f})"


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """The system's own disagreement, from clean inputs that were asked `repeats` more times.

    `disagreement` is the share of repeats whose answer differs from the first clean answer; `flips` are flips beyond
    it, example by example, where a variant that equals its example can't flip by chance. `agreement` is the share of
    examples of whose repeats, at most `of` of them and as many as variants are altered, none differs; `consistency` is
    the consistency of as many variants, less that. `clean_sd` is how much the clean score changes
    from one asking to the next, and `drop` the drop from the mean of all clean answers.
    """

    repeats: int
    of: int
    disagreement: Estimate
    flips: Estimate
    agreement: Estimate
    consistency: Estimate
    clean_sd: float | None = None
    drop: Estimate | None = None

    def rows(self, flips: Estimate) -> list[dict[str, object]]:
        """Flips and consistency of the variants, of the repeats, and the one less the other."""
        kept, beyond = self.agreement.value, self.consistency.value
        varied = None if kept is None or beyond is None else kept + beyond
        heads = ("against chance", "variants", "asked again", "beyond chance")
        found = [
            ("flips", flips, self.disagreement, self.flips),
            (f"consistency of up to {self.of}", varied, self.agreement, self.consistency),
        ]
        return [dict(zip(heads, row, strict=True)) for row in found]

    @property
    def steady(self) -> bool:
        """Did every repeat have the same answer?"""
        return self.disagreement.value == 0

    def sentences(self, varied: Estimate) -> list[str]:
        """What the repeats show, for people; `varied` are the flips of all variants."""
        own, flips = self.disagreement, self.flips
        if own.value is None:
            return []
        if self.steady:
            return ["The system gave the same answers when it ran again on the same texts."]
        said = f"{own.value:.1%} of answers change when the same text is asked again"
        if flips.value is None or flips.low is None or flips.high is None or varied.value is None:
            return [f"{said}."]
        points = f"{100 * flips.value:.1f} points [{100 * flips.low:.1f}, {100 * flips.high:.1f}]"
        beyond = "which may be chance" if flips.low <= 0 <= flips.high else "beyond chance"
        return [f"{said}, {varied.value:.1%} when it is varied: {points} {beyond}."]
