"""What each measure is: the numbers that it takes from each example, and the statistic of their sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unswayed.base.errors import UsageError, option
from unswayed.measure.block_answers import MISSING
from unswayed.measure.order_weights import cvar_weights, worst_weights
from unswayed.measure.run_table import Bools, Part, RunTable, Scored
from unswayed.measure.set_scores import Layout, Pick, SetScore
from unswayed.run.block import AS_IT_WAS
from unswayed.run.plan import Weigh
from unswayed.stats import Array, Ints, Mean, Observations, Ratio, Statistic

VERSION = 3  # of these definitions; part of every signature
SCORE_MEASURES = ("clean", "average", "worst", "cvar", "drop")
ANSWER_MEASURES = ("flips", "consistency", "noticed")
MEASURES = SCORE_MEASURES + ANSWER_MEASURES
ALTERED = "altered"  # says what the variants are, not what the system does: no gate, no comparison
WORST_OF = 3  # variants among which the worst is looked for, unless something else is asked for


@dataclass(frozen=True)
class Way:
    """How examples are weighed, and of how many variants the worst is."""

    weigh: Weigh = "examples"
    worst_of: int = WORST_OF


def way_of(most: int, weigh: Weigh = "examples", worst_of: int | None = None) -> Way:
    """The way that was asked for; by default the worst of three, or of as many as some example has at `most`."""
    most = max(1, most)
    if worst_of is None:
        return Way(weigh, min(WORST_OF, most))
    if worst_of < 1:
        raise UsageError(f"{option('worst-of')} must be a whole number of 1 or more, not {worst_of}.")
    if worst_of > most:
        raise UsageError(
            f"{option('worst-of')} is {worst_of}, but no example has more than {most} distinct variants. Make the "
            f"suite with more {option('draws')} or more operators, or use {option('worst-of')} {most} or less."
        )
    return Way(weigh, worst_of)


def tries_of(table: RunTable) -> dict[str, float]:
    """For each operator, how many distinct variants it made of each example that it varied, on average."""
    made, varied = dict.fromkeys(table.operators, 0), dict.fromkeys(table.operators, 0)
    for part in table.parts():
        for code, name in enumerate(part.operators):
            variants = np.flatnonzero((part.operator == code) & ~part.changed)
            made[name] += len(distinct(part, variants))
            varied[name] += len(np.unique(part.example[variants]))
    return {name: made[name] / varied[name] for name in made if varied[name]}


def distinct(part: Part, variants: Ints) -> Ints:
    """The variants without those whose inputs an earlier one of the same example has."""
    if not part.repeated:
        return variants
    width = int(part.text.max()) + 1
    _, first = np.unique(part.example[variants] * width + part.text[variants], return_index=True)
    kept: Ints = variants[np.sort(first)]
    return kept


@dataclass(frozen=True)
class Scope:
    """A set of variants, by place in the part, and the examples that its clean score is over."""

    same: Ints
    changed: Ints
    clean: Bools


def scope_of(part: Part, chosen: Bools | None = None) -> Scope:
    """All variants and examples; or the chosen variants and the examples that they vary."""
    clean = np.ones(part.size, dtype=bool)
    if chosen is None:
        return Scope(np.flatnonzero(~part.changed), np.flatnonzero(part.changed), clean)
    clean[:] = False
    clean[part.example[chosen]] = True
    return Scope(np.flatnonzero(chosen & ~part.changed), np.flatnonzero(chosen & part.changed), clean)


def no_column(part: Part) -> Observations:
    """The column of a measure that nothing can be said of, such as a score without a scorer."""
    nothing = np.zeros(0, dtype=np.int64)
    return Observations(nothing, np.zeros((0, 1)), Mean(), np.zeros(part.size, dtype=np.int64))


def answer_columns(part: Part, scope: Scope, way: Way | None = None) -> dict[str, Observations]:
    """Flips, consistency and noticed: they compare answers with the clean answer and need no gold."""
    way = way or Way()
    return {
        "flips": _changes(part, scope.same, way),
        "consistency": _changes(part, scope.same, way, whole=True),
        "noticed": _changes(part, scope.changed, way),
    }


def _changes(part: Part, variants: Ints, way: Way, whole: bool = False) -> Observations:
    """The share of an example's compared answers that changed; or, for the `whole`, whether none did."""
    n = part.size
    example, flip = part.example[variants], part.flip[variants]
    known = flip >= 0
    compared = np.bincount(example[known], minlength=n)
    examples = np.flatnonzero(compared)
    counts = compared[examples]
    changed = np.bincount(example[flip == 1], minlength=n)[examples]
    values = (changed == 0).astype(np.float64) if whole else changed / counts
    column, statistic = _weighed(values, counts, way)
    return Observations(examples, column, statistic, np.bincount(example[flip == MISSING], minlength=n))


def altered_column(part: Part, scope: Scope, way: Way) -> Observations:
    """The share of an example's variants of the same meaning whose inputs differ from its own."""
    n = part.size
    example, differ = part.example[scope.same], part.text[scope.same] != AS_IT_WAS
    made = np.bincount(example, minlength=n)
    examples = np.flatnonzero(made)
    counts = made[examples]
    column, statistic = _weighed(np.bincount(example[differ], minlength=n)[examples] / counts, counts, way)
    return Observations(examples, column, statistic, np.zeros(n, dtype=np.int64))


def _weighed(values: Array, counts: Array | Ints, way: Way) -> tuple[Array, Statistic]:
    """The examples' values, all of one weight; or each with the weight of its variants."""
    if way.weigh == "examples":
        return values[:, None], Mean()
    return np.column_stack([values * counts, counts]).astype(np.float64), Ratio()


def score_columns(
    part: Part, scored: Scored, scope: Scope, layout: Layout, way: Way | None = None
) -> dict[str, Observations]:
    """Clean, average, worst, cvar and drop under one scorer."""
    n, way = part.size, way or Way()
    lost = ~scored.known & scored.due
    clean_missing = (~scored.clean_known & scored.clean_due & scope.clean).astype(np.int64)
    missing = np.bincount(part.example[scope.same][lost[scope.same]], minlength=n)
    varied = np.bincount(part.example[scope.same], minlength=n) > 0
    made = _mean_columns if scored.scorer.linear else _corpus_columns
    columns = made(part, scored, scope, layout, way)
    gaps = dict.fromkeys(SCORE_MEASURES, missing)
    gaps |= {"clean": clean_missing, "drop": missing + clean_missing * varied}
    low, high = scored.scorer.bounds
    spans = dict.fromkeys(SCORE_MEASURES, (low, high)) | {"drop": (low - high, high - low)}
    return {
        name: Observations(
            examples, values, statistic, gaps[name], spans[name], "difference" if name == "drop" else "share"
        )
        for name, (examples, values, statistic) in columns.items()
    }


_Parts = Mapping[str, tuple[Ints, Array, Statistic]]


def _mean_columns(part: Part, scored: Scored, scope: Scope, layout: Layout, way: Way) -> _Parts:
    n = part.size
    variants = scope.same[scored.known[scope.same]]
    example = part.example[variants]
    counts = np.bincount(example, minlength=n)
    varied = np.flatnonzero(counts)
    average = np.zeros(n)
    average[varied] = np.bincount(example, weights=scored.varied[variants], minlength=n)[varied] / counts[varied]
    worst, cvar = _tails(part, scored, distinct(part, variants), way.worst_of)
    both = varied[scored.clean_known[varied]]
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    weights = counts if len(varied) else np.ones(n)  # without any variant there is still a clean score
    found = {
        "clean": (clean_of, scored.clean),
        "average": (varied, average),
        "worst": (varied, worst),
        "cvar": (varied, cvar),
        "drop": (both, scored.clean - average),
    }
    return {
        name: (examples, *_weighed(values[examples], weights[examples], way))
        for name, (examples, values) in found.items()
    }


def _tails(part: Part, scored: Scored, variants: Ints, k: int) -> tuple[Array, Array]:
    """For each example the expected lowest score of k of its variants, and the mean of the lowest 1/k of them."""
    n = part.size
    example, scores = part.example[variants], scored.varied[variants]
    order = np.lexsort((scores, example))
    example, scores = example[order], scores[order]
    counts = np.bincount(example, minlength=n)
    starts = np.cumsum(counts) - counts
    rank, count = np.arange(len(example)) - starts[example], counts[example]
    most = int(counts.max(initial=1))

    def weighed(table: Array) -> Array:
        return np.bincount(example, table[count, rank] * scores, n).astype(np.float64)

    return weighed(worst_weights(most, k)), weighed(cvar_weights(most, k))


def _corpus_columns(part: Part, scored: Scored, scope: Scope, layout: Layout, way: Way) -> _Parts:
    variants = scope.same[scored.known[scope.same]]
    codes = layout.codes(part, scored, variants)
    ranked = layout.ranked(part, scored, distinct(part, variants))
    varied = np.unique(part.example[variants])
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    has_clean = scored.clean_known[varied]
    both = varied[has_clean]
    counts = np.bincount(part.example[variants], minlength=part.size)
    if way.weigh == "examples" or not len(varied):
        counts = np.minimum(counts, 1) if len(varied) else np.ones(part.size, dtype=np.int64)
        counts[clean_of] = 1

    def score(pick: Pick, width: int, drop: bool = False) -> SetScore:
        return SetScore(scored.scorer, scored.rows, width, drop, pick, way.weigh, way.worst_of)

    first = np.full((len(both), layout.width), -1)
    first[:, 0] = scored.clean_codes[both]
    return {
        "clean": (clean_of, layout.repeated(scored.clean_codes[clean_of], counts[clean_of]), score("all", layout.most)),
        "average": (varied, codes, score("all", layout.width)),
        "worst": (varied, ranked, score("worst", layout.most)),
        "cvar": (varied, ranked, score("cvar", layout.most)),
        "drop": (both, np.hstack([first, codes[has_clean]]), score("all", layout.width, drop=True)),
    }
