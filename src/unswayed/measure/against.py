"""Each person or operator against a reference: whether variants by one are answered worse than those by another.

`naming` compares each with the rest. That misses most of those who are hurt where most are; a reference does not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unswayed.base.errors import UnknownName
from unswayed.base.values import Estimate
from unswayed.measure.questions import Questions, Sign
from unswayed.measure.results import Against, AgainstOne, Block
from unswayed.stats import Numbers, correct, mean_interval, mean_p, sign_flip_interval
from unswayed.stats.multiple_comparisons import compare_paired_sets

VERSION = 1  # of these tests; decides whether stored results are used again
CLEAN = "clean"
_KIND = "operator"


def compare_with_reference(
    questions: Questions, blocks: Mapping[str, Block], reference: str, own: str, span: float, plain: bool,
    sign: Sign, level: float, seed: int,
) -> Against | None:  # fmt: skip
    """How much worse than the reference each source's variants are answered, tested together by Holm's method.

    The reference is a source, or the clean inputs, which `own` may name too. Only examples count that both have.
    `plain` says that the score is a mean of examples, so that differences are tested by sign flips.
    """
    if reference not in (CLEAN, own) and reference not in blocks:
        raise UnknownName("reference", reference, [CLEAN, *([own] if own else []), *blocks])
    units = {name: questions.units((_KIND, name, "drop")) for name, block in blocks.items() if block.drop.n}
    base = units.pop(reference, None)
    if not units or (base is None and reference not in (CLEAN, own)):
        return None
    found: dict[str, tuple[Estimate, Numbers]] = {}
    for name, (ids, numbers) in units.items():
        if base is None:
            found[name] = blocks[name].drop, numbers
            continue
        _, mine, theirs = np.intersect1d(ids, base[0], return_indices=True)
        if not len(mine):
            continue
        a, b = (Numbers(n.total[at], n.weight[at], n.counts[at]) for n, at in ((numbers, mine), (base[1], theirs)))
        if np.allclose(a.weight, b.weight):
            gap = Numbers(a.total - b.total, a.weight, a.counts)
        else:  # each unit's part in the difference of two ratios
            parts = [(n.total - n.value * n.weight) / n.weight.mean() for n in (a, b)]
            gap = Numbers(a.value - b.value + parts[0] - parts[1], np.ones(len(mine)), np.ones(len(mine)))
        low, high = mean_interval(gap, (-span, span), level, "difference")
        p = mean_p(gap, (-span, span), "difference")
        if plain:
            low, high, p = sign_flip_interval(gap, (low, high), level)
        signature = sign("drop", f"operator={name}&against={reference}")
        missing = blocks[name].drop.missing
        over = blocks[name].drop.over
        found[name] = Estimate(gap.value, low, high, len(mine), missing, signature, over=over, p=p), gap
    every = sorted({int(id) for name in found for id in units[name][0]})
    place = {id: i for i, id in enumerate(every)}
    totals, weights = np.zeros((len(every), len(found))), np.zeros((len(every), len(found)))
    for j, (name, (_, numbers)) in enumerate(found.items()):
        ids = units[name][0] if base is None else np.intersect1d(units[name][0], base[0])
        at = [place[int(id)] for id in ids]
        totals[at, j], weights[at, j] = numbers.total, numbers.weight
    together = compare_paired_sets(totals, weights, span, level, seed).together if len(found) > 1 else level
    ends = {
        name: questions.at_level((_KIND, name, "drop"), together) if base is None
        else _ends(gap, span, together, plain)
        for name, (_, gap) in found.items()
    }  # fmt: skip
    p_values = dict(zip(found, correct([one.p for one, _ in found.values()]), strict=True))
    sets = {}
    for name, (one, _) in sorted(found.items(), key=lambda entry: -(entry[1][0].value or 0.0)):
        corrected = p_values[name]
        sure = corrected is not None and corrected <= 1 - level and one.value is not None
        verdict = "" if not sure else "worse" if (one.value or 0.0) > 0 else "better"
        sets[name] = AgainstOne(drop=one, low=ends[name].low, high=ends[name].high, p_holm=corrected, verdict=verdict)
    return Against(reference=reference, sets=sets)


def _ends(gap: Numbers, span: float, level: float, plain: bool) -> Estimate:
    low, high = mean_interval(gap, (-span, span), level, "difference")
    if plain:
        low, high, _ = sign_flip_interval(gap, (low, high), level)
    return Estimate(gap.value, low, high, gap.units, 0, "")
