"""The Random set of the NATURE paper: one operator an utterance, each of the ten for as many utterances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base import Seeds, Variant
from unswayed.storage import Suite, plan_id, write_suite


def even_random(candidates: Suite, to: Path, draws: int, seed: int) -> Suite:
    """For each draw one of the candidates of each utterance, so that operators have as equal shares as can be.

    `--set random` draws an operator for each utterance by itself and another where it finds nothing to change, so that
    fillers, which fit everywhere, have most. Here the operator that fits the fewest utterances is given its tenth
    first, among those at random, and the next ones share what is left.
    """
    plan = plan_id("nature/random", candidates.id, draws, seed)
    if (to / "manifest.json").is_file() and (known := Suite(to)).manifest.plan == plan:
        return known
    seeds, chosen = Seeds(seed, "nature/random", 1), dict[tuple[int, int], str]()
    for draw in range(draws):
        fits: dict[str, set[int]] = defaultdict(set)
        for example, made in candidates.groups():
            for source in {variant.source for variant in made if variant.draw == draw}:
                fits[source].add(example.row)
        free = {row for rows in fits.values() for row in rows}
        left = sorted(fits, key=lambda source: (len(fits[source]), source))
        rng = seeds.stream("draw", draw)
        for n, source in enumerate(left):
            among = sorted(free & fits[source])
            count = min(len(among), -(-len(free) // (len(left) - n)))
            for row in rng.sample(among, count):
                chosen[row, draw] = source
                free.remove(row)
        for row in sorted(free):  # whose operators had all they were to have
            chosen[row, draw] = rng.choice([source for source in left if row in fits[source]])

    def variants() -> Iterator[Variant]:
        for _, made in candidates.groups():
            yield from (variant for variant in made if chosen.get((variant.row, variant.draw)) == variant.source)

    old = candidates.manifest
    manifest = msgspec.structs.replace(
        old, set={"name": "random", "drawn": "evenly"}, plan=plan, draws=draws, unchanged={}, distinct={}, content="",
        hashes={},
    )  # fmt: skip
    return write_suite(to, manifest, candidates.examples, variants, overwrite=to.exists())
