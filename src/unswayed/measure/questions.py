"""The numbers of a report: which there are, what each is signed with, and the sets that they are of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.values import Estimate
from unswayed.measure.definitions import (
    ALTERED,
    BESIDE,
    KEPT,
    MEASURES,
    SCORE_MEASURES,
    VERSION,
    GatheredMeasure,
    Scope,
    Way,
    altered_column,
    answer_columns,
    scope_of,
    score_columns,
    way_of,
)
from unswayed.measure.results import Block
from unswayed.measure.run_table import Bools, Part, Parted, RunTable
from unswayed.measure.set_scores import Layout
from unswayed.measure.validity import bounded
from unswayed.run.plan import MeasurePlan
from unswayed.score import Scorer
from unswayed.stats import Ints, Mean, Numbers, Observations, sign
from unswayed.stats.intervals import anytime_level
from unswayed.storage.suite import Suite

# A number's place: the kind of its set (or GRID, or SCORES), the set's name (or the operator's, or the scorer's),
# and the measure (or the slice).
Place = tuple[str, str, str]
Sign = Callable[[str, str], str]
ALL, GRID, SCORES, SCORES_BY = "", "×", "scores", "scores by operator"


class Questions:
    """Questions by place, asked of the parts of a table; `answer` makes all numbers at once.

    `signs` has the signer of each score, the main one first; the one of None is for a run without scores.
    """

    def __init__(
        self, table: RunTable, slices: Sequence[Slice], signs: Mapping[Scorer | None, Sign], way: Way,
        cluster: str | None = None,
    ) -> None:  # fmt: skip
        self._spill, self._way, self._cluster = table.spill, way, cluster
        self._clusters = len(table.values[cluster]) if cluster is not None else 0
        self._main, *self._others = signs
        self._slices, self._signs = slices, signs
        self._questions: dict[Place, GatheredMeasure] = {}
        self._kept = {*KEPT, *(["flips"] if any("+" in name for name in table.operators) else ())}
        self._layouts: defaultdict[tuple[str, str, str], Layout] = defaultdict(Layout)
        if any(scorer is not None and not scorer.linear for scorer in signs):
            for part in table.parts():  # all layouts are found before anything is laid out
                for kind, name, scope in scopes_of(part):
                    for scorer in (self._main, *(self._others if kind == ALL else ())):
                        if scorer is not None:
                            self._layouts[scorer.name, kind, name].see(part, part.scored[scorer.name], scope)
        for part in table.parts():
            self._add(part)

    def _add(self, part: Part) -> None:
        """All measures of every set under the main score, and the drops of operator × slice; then the other scores."""
        way, main = self._way, self._main
        cuts = [(cut, cut.inside(part)) for cut in self._slices]
        for kind, name, scope in scopes_of(part):
            if main is None:
                empty = np.zeros(0, dtype=np.int64), np.zeros((0, 1)), Mean(), np.zeros(part.size, dtype=np.int64)
                columns = dict.fromkeys(SCORE_MEASURES, Observations(*empty))
            else:
                columns = score_columns(part, part.scored[main.name], scope, self._layouts[main.name, kind, name], way)
            columns = columns | answer_columns(part, scope, way) | {ALTERED: altered_column(part, scope, way)}
            sets: list[tuple[str, str, str, Bools | None]] = [(kind, name, f"{kind}={name}" if kind else "all", None)]
            if kind == ALL:
                sets += [(cut.key, cut.value, cut.name, inside) for cut, inside in cuts]
            for of, value, label, inside in sets:
                for measure in (*MEASURES, *part.beside, ALTERED):
                    self._ask(part, (of, value, measure), columns[measure], main, measure, label, inside)
            for cut, inside in cuts if kind == "operator" else ():
                label = f"operator={name}&{cut.name}"
                self._ask(part, (GRID, name, cut.name), columns["drop"], main, "drop", label, inside)
            for scorer in self._others if kind == "operator" else ():
                if scorer is not None and scorer.by_operator:
                    own = score_columns(part, part.scored[scorer.name], scope, Layout(), way)
                    for measure in ("average", "drop"):
                        place = SCORES_BY, name, f"{scorer.name}:{measure}"
                        self._ask(part, place, own[measure], scorer, measure, f"operator={name}")
        for scorer in self._others:
            assert scorer is not None
            layout = self._layouts[scorer.name, ALL, ALL]
            columns = score_columns(part, part.scored[scorer.name], scope_of(part), layout, way)
            for measure, column in columns.items():
                self._ask(part, (SCORES, scorer.name, measure), column, scorer, measure, "all")

    def _ask(
        self, part: Part, at: Place, column: Observations, scorer: Scorer | None, measure: str, label: str,
        inside: Bools | None = None,
    ) -> None:  # fmt: skip
        if at not in self._questions:
            over = None if self._cluster is None else f"{self._cluster} (clusters)"
            signature = self._signs[scorer](measure, label)
            self._questions[at] = GatheredMeasure(column, signature, self._spill, over, measure in self._kept)
        clusters = None if self._cluster is None else _cluster_codes(part, self._cluster, self._clusters)
        self._questions[at].add(column, inside, part.first, clusters)

    def answer(self, level: float, anytime: Collection[str] = ()) -> FoundEstimates:
        """All numbers. Of the whole run's measures, those named in `anytime` hold whenever the run stops."""
        found = {at: question.estimate(level) for at, question in self._questions.items()}
        for at in [(ALL, ALL, measure) for measure in anytime if found[ALL, ALL, measure].n]:
            found[at] = self.at_level(at, anytime_level(found[at].n, level))
        return FoundEstimates(found)

    def at_level(self, at: Place, level: float) -> Estimate:
        """One number with an interval of another level."""
        return self._questions[at].estimate(level)

    def places(self) -> list[Place]:
        return list(self._questions)

    def units(self, at: Place) -> tuple[Ints, Numbers]:
        """The numbers of each example, or cluster, behind one of the measures in `KEPT`."""
        return self._questions[at].units()


def scopes_of(part: Part) -> Iterator[tuple[str, str, Scope]]:
    """The whole, each family's and each operator's variants, with the kind and the name of the set."""
    yield ALL, ALL, scope_of(part)
    for kind, names, codes in (("family", part.families, part.family), ("operator", part.operators, part.operator)):
        for code, name in enumerate(names):
            yield kind, name, scope_of(part, codes == code)


class FoundEstimates:
    """Estimates by place."""

    def __init__(self, found: dict[Place, Estimate]) -> None:
        self._found = found

    def block(self, kind: str, name: str) -> Block:
        measures = {measure: self._found[kind, name, measure] for measure in MEASURES}
        noticed = measures.pop("noticed")
        controls = noticed.n + noticed.missing > 0  # without a control there is nothing to notice
        share = self._found[ALL, ALL, ALTERED].value
        unaltered = share is not None and share < 1  # some variants equal their example; else it is not worth showing
        altered = self._found[kind, name, ALTERED] if unaltered else None
        beside = {
            measure: self._found[kind, name, measure] for measure in BESIDE if (kind, name, measure) in self._found
        }
        return Block(**measures, noticed=noticed if controls else None, altered=altered, **beside)

    def by(self) -> dict[str, dict[str, Block]]:
        sets = dict.fromkeys(
            (kind, name) for kind, name, _ in self._found if kind not in (ALL, GRID, SCORES, SCORES_BY)
        )
        out: dict[str, dict[str, Block]] = {"operator": {}, "family": {}}
        for kind, name in sets:
            out.setdefault(kind, {})[name] = self.block(kind, name)
        return out

    def bounded(self, filled: Sequence[FoundEstimates], widen: bool) -> FoundEstimates:
        """The same with bounds, which the answers to the same questions with nothing missing give."""
        return FoundEstimates({
            at: bounded(found, [other._found[at] for other in filled if at in other._found], widen)
            for at, found in self._found.items()
        })  # fmt: skip

    def nested(self, kind: str) -> dict[str, dict[str, Estimate]]:
        out: dict[str, dict[str, Estimate]] = {}
        for (found, name, last), estimate in self._found.items():
            if found == kind:
                out.setdefault(name, {})[last] = estimate
        return out


def signer_of(runs: Sequence[tuple[Parted, str]], scorer: Scorer | None, suite: str, **more: object) -> Sign:
    """What makes the signatures of the numbers of one run, or of a pair of runs that are compared.

    `runs` are tables with the identities of the systems that answered; `more` is what else decides. The set in a
    signature is "all" or what was selected, as in "operator=spoken/filler_end".
    """
    answers = "-".join(_digest(table, None, ("clean_ok", "flip", "ok")) for table, _ in runs)
    values = [column for table, _ in runs for part in table.parts() for column in part.beside.values()]
    beside = f"{answers}-{blake2b(b''.join(v.tobytes() for v in values), digest_size=8).hexdigest()}"
    scores = answers
    if scorer is not None:
        names = ("clean", "varied", "clean_due", "due", *(() if scorer.linear else ("clean_codes", "codes")))
        rows = [[] if scorer.linear else [next(iter(table.parts())).scored[scorer.name].rows] for table, _ in runs]
        both = zip(runs, rows, strict=True)
        scores = "-".join(_digest(table, scorer.name, names, *more_of) for (table, _), more_of in both)
    score = f"{scorer.name}:{scorer.version}" if scorer else "none"
    by_score = {"score": score}, {"outputs": scores}
    by_answer = {"task": runs[0][0].task.name}, {"outputs": answers}
    run = {"suite": suite, "system": "-".join(content_id(identity) for _, identity in runs)}

    def signed(measure: str, set_: str) -> str:
        how, outputs = by_score if measure in SCORE_MEASURES else by_answer
        outputs = {"outputs": beside} if measure in BESIDE else outputs
        return sign({"measure": f"{measure}:{VERSION}", **how, "set": set_, **outputs, **run, **more})

    return signed


def _digest(table: Parted, scorer: str | None, columns: Sequence[str], *more: npt.NDArray[Any]) -> str:
    """Of each column, of the parts or of their scores, from its first part to its last, one column after another."""
    h = blake2b(digest_size=8)
    for name in columns:
        for part in table.parts():
            h.update(getattr(part if scorer is None else part.scored[scorer], name).tobytes())
    for last in more:
        h.update(last.tobytes())
    return h.hexdigest()


MOST_VALUES = 50  # of one slice; more would drown the report and slow the intervals


@dataclass(frozen=True)
class Slice:
    """The examples with one value of one slice."""

    key: str  # as it is shown
    value: str
    group: str  # as it is in the data
    code: int

    @property
    def name(self) -> str:
        return f"{self.key}={self.value}"

    def inside(self, part: Part) -> Bools:
        inside: Bools = part.groups[self.group] == self.code
        return inside


def _cluster_codes(part: Part, cluster: str, many: int) -> Ints:
    """The number of each example's cluster; an example of no cluster stands for itself."""
    known, alone = part.groups[cluster], many + part.first + np.arange(part.size)
    return np.where(known >= 0, known, alone)


def clusters_of(table: RunTable, cluster: str | None) -> Ints | None:
    """The same for all examples of a table; None if they are not in clusters."""
    if cluster is None:
        return None
    return np.concatenate([_cluster_codes(part, cluster, len(table.values[cluster])) for part in table.parts()])


def with_cluster(plan: MeasurePlan, suite: Suite) -> MeasurePlan:
    """The plan with the suite's clusters, if it names none itself."""
    if plan.cluster is not None:
        return plan
    return msgspec.structs.replace(plan, cluster=getattr(suite.manifest, "cluster", None))


def check_cluster(fields: Iterable[str], cluster: str | None) -> None:
    """Raises if the cluster is not among the fields that a suite has."""
    fields = sorted(fields)
    if cluster is None or cluster in fields:
        return
    there = f"It has {', '.join(map(repr, fields))}." if fields else "It has none."
    raise UsageError(
        f"The suite has no field {cluster!r} to cluster by. {there} A suite keeps a field of the data if it is made "
        f"with {option('cluster')} {cluster} or {option('group')} {cluster}: make it again."
    )


def check_suite(suite: Suite, cluster: str | None, worst_of: int | None) -> None:
    """Raises what can't be measured of a suite, before anything is asked."""
    if cluster is not None and not any(cluster in example.groups for example in suite.examples()):
        check_cluster({name for example in suite.examples() for name in example.groups}, cluster)
    if worst_of is not None:
        same = ([v.inputs for v in variants if v.meaning == "same"] for _, variants in suite.groups())
        way_of(max((len(set(map(content_id, inputs))) for inputs in same), default=0), worst_of=worst_of)


def slices_of(
    table: RunTable, wanted: Sequence[str] | None, cluster: str | None = None
) -> tuple[list[Slice], list[str]]:
    """The slices of the wanted keys, all but the clusters by default; and a sentence for each key cut short."""
    for key in wanted or ():
        if key not in table.values:
            raise UnknownName("slice", key, table.values)
    slices: list[Slice] = []
    warnings: list[str] = []
    for key in [key for key in table.values if key != cluster] if wanted is None else wanted:
        values, sizes = table.values[key], table.sizes(key)
        largest = sorted(range(len(values)), key=lambda code: (-sizes[code], values[code]))[:MOST_VALUES]
        slices += [Slice(slice_key(key), values[code], key, code) for code in sorted(largest)]
        if len(values) > MOST_VALUES:
            warnings.append(
                f"The slice {key!r} has {len(values):,} values; the {MOST_VALUES} with the most examples are shown."
            )
    return slices, warnings


def slice_key(key: str) -> str:
    """How a slice is called in results, where "operator" and "family" are something else."""
    return f"slice {key}" if key in ("operator", "family") else key
