"""Comparing two runs on the same suite: is one sturdier, by how much, and may that be chance?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path

import msgspec
import numpy as np

from unfazed.core.errors import NothingEvaluated, UsageError
from unfazed.core.estimate import (
    Mean,
    Observations,
    Paired,
    Resampling,
    Sample,
    Statistic,
    bootstrap,
    correct,
    interval,
    mcnemar,
    swap,
)
from unfazed.measure.compared import Comparison, Difference
from unfazed.measure.definitions import Scope, Way, answer_columns, scope_of, score_columns, way_of
from unfazed.measure.measuring import Runlike, items_of, run_of, scorers_for
from unfazed.measure.pair_scores import PairCodes
from unfazed.measure.questions import Signer, operator_scopes
from unfazed.measure.results import Results
from unfazed.measure.run_table import Part, RunTable, Scored, read_table
from unfazed.measure.set_scores import Layout
from unfazed.measure.spill import Spill, Tally
from unfazed.measure.stored import KeptScores
from unfazed.run.plan import MeasurePlan, from_arguments, listed
from unfazed.score import Comparing, Scorer, comparing_for, scorers

_WORDS = {"clean": "clean score", "average": "average", "worst": "worst-average", "flips": "flip rate"}


def compare(
    a: Runlike | Results | str | Path, b: Runlike | Results | str | Path,
    scores: str | Sequence[str] | None = None, level: float = 0.95, bootstrap: int = 10_000, seed: int = 0,
    correction: str = "holm",
) -> Comparison:  # fmt: skip
    """B minus A for each measure, overall and by operator, under the first of `scores`, on what both answered.

    Example: `unfazed.compare(before, after)`. `a` and `b` are runs on the same suite, paths of their folders, or
    results, whose main score is then the default.
    """
    plan = from_arguments(MeasurePlan, scores=listed(scores), level=level, bootstrap=bootstrap, seed=seed)
    settings = Resampling(plan.level, plan.bootstrap, plan.seed)
    correct([], correction)
    scores = plan.scores or _main_score(a, b)
    run_a, run_b = run_of(a), run_of(b)
    if run_a.suite.id != run_b.suite.id:
        raise UsageError(
            f"The runs are of different suites ({run_a.suite.id} and {run_b.suite.id}), so they can't be compared "
            f"pair by pair. Run both systems on the same suite."
        )
    comparing = comparing_for(run_a.suite)
    used = scorers_for(run_a.suite.task, scores, comparing)[:1]
    table_a, table_b = _tables(run_a, run_b, used, comparing)
    scorer = used[0] if used else None
    runs = [(table_a, run_a.identity), (table_b, run_b.identity)]
    how = {"level": plan.level, "bootstrap": plan.bootstrap, "seed": plan.seed}
    sign = Signer(runs, scorer, run_a.suite.signed, **how, difference="b-a", correction=correction).sign
    pairs = _pairs(table_a, table_b, scorer)
    tested = {place: pair for place, pair in pairs.items() if pair.n}
    if not tested:
        raise NothingEvaluated("The two runs have no example with variants that both answered. Finish both runs.")
    intervals = dict(zip(tested, intervals_of(list(tested.values()), settings), strict=True))
    found = [_difference(pair, intervals.get(place), settings, *place, sign(*place)) for place, pair in pairs.items()]
    corrected = correct([d.p for d in found], correction)
    return Comparison(
        score=scorer.name if scorer else "none",
        task=run_a.suite.task.name,
        suite=run_a.suite.id,
        a=run_a.system,
        b=run_b.system,
        correction=correction,
        level=plan.level,
        differences=[_finished(d, p, plan.level) for d, p in zip(found, corrected, strict=True)],
    )


def _main_score(a: object, b: object) -> list[str] | None:
    """The score that results were measured with."""
    mains = {results.score for results in (a, b) if isinstance(results, Results) and results.score in scorers}
    if len(mains) > 1:
        raise UsageError(f"The results have different main scores ({', '.join(sorted(mains))}). Choose one: scores=.")
    return list(mains) or None


def _tables(run_a: Runlike, run_b: Runlike, used: Sequence[Scorer], comparing: Comparing) -> tuple[_Shared, _Shared]:
    """Both runs' columns, in each of them only what both have."""
    task = run_a.suite.task
    with KeptScores([run_a, run_b]) as kept:
        pairs, spill = PairCodes(used, task, kept), Spill()  # one for both, so that a class is the same column in both
        a, b = (read_table(items_of(run, run_a, run_b), task, pairs, spill, comparing) for run in (run_a, run_b))
    return _Shared(a, b), _Shared(b, a)


class _Shared:
    """A table in which items that the other lacks are missing; what was due stays due, so they are counted."""

    def __init__(self, mine: RunTable, other: RunTable) -> None:
        self.task, self.operators, self.spill = mine.task, mine.operators, mine.spill
        self.most_tries = mine.most_tries
        self._tables = mine, other

    def parts(self) -> Iterator[Part]:
        for mine, other in zip(*(table.parts() for table in self._tables), strict=True):
            scored = {name: _shared_scores(s, other.scored[name]) for name, s in mine.scored.items()}
            yield replace(mine, flip=np.where(other.flip < 0, -1, mine.flip), scored=scored)


def _shared_scores(mine: Scored, other: Scored) -> Scored:
    clean_lost, lost = ~other.clean_known, ~other.known
    clean, varied = np.where(clean_lost, np.nan, mine.clean), np.where(lost, np.nan, mine.varied)
    if mine.scorer.linear:
        return replace(mine, clean=clean, varied=varied)
    clean_codes, codes = np.where(clean_lost, -1, mine.clean_codes), np.where(lost, -1, mine.codes)
    return replace(mine, clean=clean, varied=varied, clean_codes=clean_codes, codes=codes)


def _pairs(a: _Shared, b: _Shared, scorer: Scorer | None) -> dict[tuple[str, str], Pair]:
    """Each comparison by measure and set. A single operator's set is the whole, which is not tested twice."""
    layouts: dict[str, Layout] = {}
    way = way_of(a.most_tries)
    if scorer is not None and not scorer.linear:
        for part in a.parts():
            for set_, scope in _sets(part):
                layouts.setdefault(set_, Layout()).see(part, part.scored[scorer.name], scope)
    found: dict[tuple[str, str], Pair] = {}
    for both in zip(a.parts(), b.parts(), strict=True):
        for set_, scope in _sets(both[0]):
            one, other = (_columns(part, scope, scorer, layouts.get(set_, Layout()), way) for part in both)
            for measure, column in one.items():
                if measure != "clean" or set_ == "all":
                    pair = found.setdefault((measure, set_), Pair(column.statistic, column.span, a.spill))
                    pair.add(column, other[measure])
    sets = ["all", *(f"operator={name}" for name in a.operators)]
    places = ((measure, set_) for set_ in sets for measure in _WORDS)
    return {place: found[place] for place in places if place in found}


def _sets(part: Part) -> Iterator[tuple[str, Scope]]:
    yield "all", scope_of(part)
    for name, scope in operator_scopes(part) if len(part.operators) > 1 else ():
        if len(scope.same):  # an operator of controls has nothing to compare
            yield f"operator={name}", scope


def _columns(part: Part, scope: Scope, scorer: Scorer | None, layout: Layout, way: Way) -> dict[str, Observations]:
    scores = score_columns(part, part.scored[scorer.name], scope, layout, way) if scorer else {}
    found = scores | answer_columns(part, scope, way)
    return {measure: found[measure] for measure in _WORDS if measure in found}


def _difference(
    pair: Pair, interval: tuple[float | None, float | None] | None, settings: Resampling, measure: str, set_: str,
    signature: str,
) -> Difference:  # fmt: skip
    """A difference with its own p-value; `_finished` adds the corrected one and the sentence."""
    low, high = interval or (None, None)
    known = interval is not None and isfinite(sum(pair.values))
    a, b = pair.values if known else (None, None)
    p, test = pair.p_value(settings) if known else (None, "none")
    return Difference(
        measure=measure, set=set_, a=a, b=b, difference=b - a if a is not None and b is not None else None, low=low,
        high=high, p=p, p_corrected=None, test=test, n=pair.n, missing=pair.missing, sentence="", signature=signature,
    )  # fmt: skip


def _finished(found: Difference, p: float | None, level: float) -> Difference:
    return msgspec.structs.replace(found, p_corrected=p, sentence=sentence_of(found, p, level))


def sentence_of(found: Difference, p: float | None, level: float) -> str:
    """What a difference says, in plain words; an interval that includes zero is said to."""
    where = "" if found.set == "all" else f" on {found.set.partition('=')[2]}"
    what = _WORDS[found.measure]
    if found.difference is None or p is None:
        return f"The {what}{where} can't be compared: there is no example that both answered."
    if found.difference == 0:
        return f"A and B have the same {what}{where} on {found.n:,} examples."
    more = found.difference > 0
    ends = sorted(end if more else -end for end in (found.low, found.high) if end is not None)
    chance = f"p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
    said = f"B's {what}{where} is {abs(found.difference):.3f} {'higher' if more else 'lower'}"
    said += f" ({ends[0]:.3f} to {ends[1]:.3f}, {chance})" if ends else f" ({chance})"
    if not ends or ends[0] <= 0:
        return f"{said}, but the difference may be chance: the interval includes zero."
    if p > 1 - level:
        return f"{said}, but the difference may be chance: p is above {1 - level:.2g} after correction."
    return f"{said}."


_SAME = 1e-12


class Pair:
    """One measure of two systems, over the examples that both have it for, gathered part by part."""

    def __init__(self, statistic: Statistic, span: tuple[float, float], spill: Spill) -> None:
        self.statistic = statistic
        self.span = span[0] - span[1], span[1] - span[0]
        self.missing = 0
        self._a, self._b, self._both, self._less = (Tally(spill) for _ in range(4))

    def add(self, a: Observations, b: Observations) -> None:
        self.missing += int(a.missing.sum())
        self._a.add(a.values)
        self._b.add(b.values)
        self._both.add(np.hstack([a.values, b.values]))
        if self._mean:
            self._less.add(b.values - a.values)

    @property
    def _mean(self) -> bool:
        return isinstance(self.statistic, Mean)

    @property
    def n(self) -> int:
        return self._a.n

    @property
    def values(self) -> tuple[float, float]:
        return self._a.sample(self.statistic).value, self._b.sample(self.statistic).value

    def sample(self) -> Sample:
        if self._mean:
            return self._less.sample(self.statistic)  # one column takes fewer distinct rows than two
        return self._both.sample(Paired(self.statistic))

    def p_value(self, settings: Resampling) -> tuple[float, str]:
        """How often swapping the systems at random gives as large a difference, and the test that says so."""
        if self._mean:
            rows, counts = self._less.rows()
            difference = rows[:, 0]
            most = np.abs(difference).max()
            steps = np.rint(difference / (most or 1))
            if np.allclose(steps * most, difference, rtol=0, atol=_SAME):
                return mcnemar(int(counts[steps > 0].sum()), int(counts[steps < 0].sum())), "mcnemar"
        both, counts = self._both.rows()
        a, b = (self.statistic.columns(half) for half in np.hsplit(both, 2))
        drawn = swap(a, b, counts, self.statistic, settings.bootstrap, settings.seed)
        drawn = drawn[~np.isnan(drawn)]
        before, after = self.values
        as_large = int((np.abs(drawn) >= abs(after - before) - _SAME).sum())
        return (1 + as_large) / (1 + len(drawn)), "randomisation"


def pair_of(a: Observations, b: Observations) -> Pair:
    """The pair of two whole columns."""
    pair = Pair(a.statistic, a.span, Spill())
    pair.add(a, b)
    return pair


def intervals_of(pairs: list[Pair], settings: Resampling) -> list[tuple[float | None, float | None]]:
    """The bootstrap interval of each difference, B less A."""
    samples = [pair.sample() for pair in pairs]
    drawn = bootstrap(samples, settings.bootstrap, settings.seed)
    return [
        interval(sample.value, values, sample.n, pair.span, settings.level)
        for pair, sample, values in zip(pairs, samples, drawn, strict=True)
    ]
