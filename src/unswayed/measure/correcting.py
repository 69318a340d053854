"""A run's scores with the errors of its judge corrected by people who compared some of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, UsageError, option
from unswayed.base.text import number
from unswayed.base.values import Estimate, Json
from unswayed.measure.judging import THRESHOLD, ComparedPair, read_pairs
from unswayed.measure.measuring import Runlike, items_of, place_of, run_of
from unswayed.measure.questions import check_cluster
from unswayed.measure.run_table import Bools
from unswayed.score import Comparing, comparing_for, question_of
from unswayed.stats import (
    Array,
    LabelPlan,
    labels_worth_asking,
    mean_interval,
    numbers_of,
    prediction_powered,
    sign,
)
from unswayed.stats.prediction import MIN_LABELS, MeanPart, joined

MEASURES = ("clean", "average", "flips")  # that are means of verdicts; `drop` is made of the first two
KAPPAS = (0.4, 0.6, 0.8)  # agreement of a judge with people, from fair to very good
_BLOCK_EXAMPLES = 200  # examples whose answers are judged together
_Asked = tuple[str, str, str]  # reference, answer, question: what people were shown
_TOO_FEW = "too few labels"


class CorrectedScore(msgspec.Struct, frozen=True):
    """One measure of a run: corrected by people, as the judge alone has it, and by people's labels alone.

    `labels` is how many verdicts people gave too, of `verdicts`; `known` more need no judge, since the answers are
    equal. `worth` is how many labels alone would be as precise. `helps` is whether the judge narrows the interval.
    """

    measure: str
    corrected: Estimate
    judge: Estimate
    people: Estimate
    labels: int
    verdicts: int
    known: int
    tuning: float
    worth: float
    helps: bool


class CorrectedRun(msgspec.Struct, frozen=True):
    """The corrected scores of one run, and how many labels are worth asking for by the judge's agreement so far."""

    run: str
    equivalent: str
    scores: dict[str, CorrectedScore]
    labels: int
    unjudged: int
    worth_asking: int

    def rows(self) -> list[dict[str, object]]:
        return [
            {"run": self.run, "measure": name, "corrected": one.corrected, "judge alone": one.judge,
             "people alone": one.people, "labels": one.labels, "worth": round(one.worth)}
            for name, one in self.scores.items()
        ]  # fmt: skip

    def sentences(self) -> list[str]:
        """What a reader should take from it."""
        name = "average" if "average" in self.scores else next(iter(self.scores))
        one = self.scores[name]
        if not one.verdicts:
            return [f"{_shown(one.corrected)} is {name}. No judge is needed: all answers equal what they are compared "
                    f"with."]  # fmt: skip
        said = [f"{_shown(one.corrected)} is {name} corrected for the judge's errors. The judge alone: "
                f"{_shown(one.judge)}."]  # fmt: skip
        low, high, judge = one.corrected.low, one.corrected.high, one.judge.value
        if low is not None and high is not None and judge is not None and not low <= judge <= high:
            way = "too high" if judge > high else "too low"
            said.append(f"The judge's own number is {way}: it lies outside the corrected interval.")
        if one.helps:
            said.append(f"The {one.labels:,} labels with the judge are worth about {round(one.worth):,} without it.")
        else:
            said.append("The judge saves no labels: its verdicts tell next to nothing of people's. Use the labels "
                        "alone, or another judge.")  # fmt: skip
        more = self.worth_asking - self.labels
        said.append(
            f"About {more:,} more labels are worth asking for." if more > 0 else "More labels would narrow it little."
        )
        if self.unjudged:
            said.append(f"The judge said neither yes nor no on {self.unjudged:,} pairs: left out.")
        return said


class RunDifference(msgspec.Struct, frozen=True):
    """The difference of one corrected measure between two runs of the same examples: the second minus the first."""

    measure: str
    difference: Estimate

    def row(self, first: str, second: str) -> dict[str, object]:
        return {"run": f"{second} - {first}", "measure": self.measure, "corrected": self.difference}


class LabelsWorth(msgspec.Struct, frozen=True):
    """What labels would buy for a run, before anybody is asked."""

    run: str
    measure: str
    verdicts: int
    judge: Estimate
    rows: list[LabelPlan]
    worth: dict[str, int]  # labels worth asking for, by the judge's agreement with people (kappa)

    def table(self) -> list[dict[str, object]]:
        return [
            {"labels": row.labels, "people alone": f"±{row.alone:.3f}",
             **{f"judge, kappa {kappa}": f"±{half:.3f}" for kappa, half in row.half_widths.items()}}
            for row in self.rows
        ]  # fmt: skip

    def sentence(self) -> str:
        several = ", ".join(f"{n:,} if its kappa with people is {kappa}" for kappa, n in self.worth.items())
        return (
            f"The judge gives {self.measure} {_shown(self.judge)} from {self.verdicts:,} verdicts. Labels worth asking "
            f"for: {several}. From there on, twice as many narrow the interval by less than a fifth."
        )


class _Slots(NamedTuple):
    """The verdicts behind one measure. NaN: the judge, or people, said nothing. `asked` is the pair of each."""

    asked: list[_Asked]
    clusters: list[str]
    weights: Array
    verdicts: Array
    labels: Array
    known: Bools  # needs no judge

    @property
    def open(self) -> Bools:
        return ~self.known & ~np.isnan(self.verdicts)


def correct_runs(
    people: str | Path, runs: Sequence[Runlike | str | Path], equivalent: str, rubric: str | None = None,
    threshold: float = THRESHOLD, level: float = 0.95, cluster: str | None = None,
) -> tuple[list[CorrectedRun], list[RunDifference]]:  # fmt: skip
    """The scores of one run, or of two and their differences, corrected for the errors of the judge `equivalent`.

    `people` is a file as for `judge_agreement`, whose pairs must be chosen at random from the runs' answers, as
    `unswayed collect items same_meaning --run RUN --limit N` does. A person finds two answers the same from
    `threshold` of 100 on. Raises NothingEvaluated if no measure has enough labels.
    """
    if not 0 <= threshold <= 100:
        raise UsageError(f"{option('threshold')} must be from 0 to 100, not {threshold:g}.")
    if not 1 <= len(runs) <= 2:
        raise UsageError(f"{option('correct')} takes one run, or two runs to compare, not {len(runs)}.")
    pairs = {(pair.reference, pair.answer, pair.question): pair for pair in read_pairs(people)}
    found: list[CorrectedRun] = []
    means: list[dict[str, MeanPart]] = []
    opened = [run_of(one) for one in runs]
    read = [_slots_of(run, equivalent, rubric, cluster, pairs, threshold) for run in opened]
    for at, (one, run, (slots, unjudged)) in enumerate(zip(runs, opened, read, strict=True)):
        name = Path(one).name if isinstance(one, (str, Path)) else run.system
        scores, parts = {}, {}
        for measure, own in slots.items():
            labelled = own.open & ~np.isnan(own.labels)
            if own.open.any() and labelled.sum() < MIN_LABELS:
                continue
            others = {texts for i, (theirs, _) in enumerate(read) if i != at and measure in theirs
                      for texts in theirs[measure].asked}  # fmt: skip
            shared = np.array([texts in others for texts in own.asked], dtype=np.bool_)
            scores[measure], parts[measure] = _corrected(measure, own, shared, level)
        if not scores:
            counts = ", ".join(f"{int((own.open & ~np.isnan(own.labels)).sum())} of {m}" for m, own in slots.items())
            raise NothingEvaluated(
                f"{people}: people's {len(pairs):,} pairs label too few verdicts of {name} ({counts}); {MIN_LABELS} "
                f"are needed. Ask about this run's answers: `unswayed collect items same_meaning --run {name}`."
            )
        if "clean" in scores and "average" in scores:
            parts["drop"] = joined([parts["clean"], parts["average"].times(-1.0)])
            scores["drop"] = _drop_of(scores["clean"], scores["average"], parts["drop"])
        main = slots["average" if "average" in scores else next(iter(scores))]
        both = main.open & ~np.isnan(main.labels)
        follows = _kappa(main.verdicts[both], main.labels[both])
        worth = 0  # where equal answers leave the judge next to nothing to say
        if main.open.sum() > 1:
            units = list(np.array(main.clusters, dtype=object)[main.open])
            (worth,) = labels_worth_asking(main.verdicts[main.open], [follows], units, level)[1]
        labels = int(both.sum())
        found.append(CorrectedRun(name, equivalent, scores, labels, unjudged, worth))
        means.append(parts)
    differences = []
    if len(found) == 2:
        for measure in [name for name in means[0] if name in means[1]]:
            apart = joined([means[1][measure], means[0][measure].times(-1.0)])
            ends = found[0].scores[measure].corrected, found[1].scores[measure].corrected
            signature = sign({"measure": f"corrected difference of {measure}"}, of=" ".join(e.signature for e in ends))
            estimate = Estimate(apart.value, apart.low, apart.high, sum(e.n for e in ends), 0, signature)
            differences.append(RunDifference(measure, estimate))
    return found, differences


def plan_labels(
    run: Runlike | str | Path, equivalent: str, rubric: str | None = None, level: float = 0.95,
    cluster: str | None = None, kappas: Sequence[float] = KAPPAS,
) -> LabelsWorth:  # fmt: skip
    """How many of a run's answers people should compare, before anybody is asked."""
    opened = run_of(run)
    slots, _ = _slots_of(opened, equivalent, rubric, cluster, {}, THRESHOLD)
    measure = next((m for m in ("average", "clean", "flips") if m in slots and slots[m].open.any()), None)
    if measure is None:
        raise NothingEvaluated("The judge was needed for no pair of this run's answers, so no label is needed either.")
    own = slots[measure]
    inside = own.open
    clusters = [name for name, open_ in zip(own.clusters, inside.tolist(), strict=True) if open_]
    rows, worth = labels_worth_asking(own.verdicts[inside], kappas, clusters, level)
    part = _mean(own.verdicts[inside], own.weights[inside], clusters, level)
    signature = sign({"measure": f"judge.{measure}", "of": opened.identity, "level": level})
    judge = Estimate(part.value, part.low, part.high, int(inside.sum()), 0, signature)
    name = Path(run).name if isinstance(run, (str, Path)) else opened.system
    named = dict(zip((f"{kappa:g}" for kappa in kappas), worth, strict=True))
    return LabelsWorth(name, measure, int(inside.sum()), judge, rows, named)


def _slots_of(
    run: Runlike, equivalent: str, rubric: str | None, cluster: str | None,
    pairs: Mapping[_Asked, ComparedPair], threshold: float,
) -> tuple[dict[str, _Slots], int]:  # fmt: skip
    """The verdicts behind each measure of a run, with what people said; and how many the judge left open.

    Gold may be a list, of which any answer is right: people have then said no only if they said so of each.
    """
    cluster = cluster if cluster is not None else getattr(run.suite.manifest, "cluster", None)
    columns: dict[str, list[tuple[_Asked, str, float, float, float, bool]]] = {name: [] for name in MEASURES}
    unjudged = 0
    items, fields = items_of(run), set[str]()
    with comparing_for(run.suite, "", equivalent, rubric).cache_in_run(place_of(run)) as comparing:
        while block := list(islice(items, _BLOCK_EXAMPLES)):
            due: list[tuple[str, str, float, list[tuple[Json, Json]], str]] = []
            for example, clean, varied in block:
                fields |= example.groups.keys()
                unit = example.groups.get(cluster, f"example {example.id}") if cluster else example.id
                question = question_of(example.inputs)
                same = [(v, out) for v, out in varied if out.ok and v.meaning == "same"]
                golds = example.gold if isinstance(example.gold, list) else [example.gold]
                if clean.ok and example.gold is not None:
                    due.append(("clean", unit, 1.0, [(clean.value, gold) for gold in golds], question))
                for variant, output in same:
                    golds = variant.gold if isinstance(variant.gold, list) else [variant.gold]
                    if variant.gold is not None:
                        answers = [(output.value, gold) for gold in golds]
                        due.append(("average", unit, 1 / len(same), answers, question))
                    if clean.ok:
                        due.append(("flips", unit, 1 / len(same), [(output.value, clean.value)], question))
            asked = [
                (said, reference, {"question": question}) for *_, both, question in due for said, reference in both
            ]
            verdicts: Iterator[bool | None] = iter(comparing.verdicts(asked))
            for measure, unit, weight, both, question in due:
                given = [next(verdicts) for _ in both]
                # equal answers are the same and empty ones are not, whatever a judge would say
                known = any(comparing.key(said) == comparing.key(reference) for said, reference in both) or not any(
                    comparing.shown(said).strip() and comparing.shown(reference).strip() for said, reference in both
                )
                verdict = True if any(given) else None if None in given else False
                unjudged += verdict is None
                told = [_said_of(comparing, pairs, *pair, question, threshold) for pair in both]
                label = True if any(told) else None if None in told else False
                flipped = measure == "flips"  # a flip is a verdict of not the same
                judged, labelled = (np.nan if one is None else float(one != flipped) for one in (verdict, label))
                said, reference = both[0]
                texts = comparing.shown(reference), comparing.shown(said), question
                columns[measure].append((texts, unit, weight, judged, labelled, known))
    check_cluster(fields, cluster)
    slots = {}
    for name, rows in columns.items():
        if rows:
            weight, given, label = np.array([row[2:5] for row in rows], dtype=np.float64).T
            alike = np.array([row[5] for row in rows], dtype=np.bool_)
            slots[name] = _Slots([row[0] for row in rows], [row[1] for row in rows], weight, given, label, alike)
    if not slots:
        raise NothingEvaluated("The run has no outputs to compare.")
    return slots, unjudged


def _said_of(
    comparing: Comparing, pairs: Mapping[_Asked, ComparedPair], said: Json, reference: Json, question: str,
    threshold: float,
) -> bool | None:  # fmt: skip
    """What people say of a pair of answers; None if nobody was asked."""
    texts = comparing.shown(reference), comparing.shown(said)
    pair = pairs.get((*texts, question)) or pairs.get((*texts, ""))
    return None if pair is None else pair.same(threshold)


def _mean(values: Array, weights: Array, clusters: Sequence[str], level: float) -> MeanPart:
    """A mean of shares, with its interval and what each cluster moves it by."""
    names, code = np.unique(np.array(clusters, dtype=object).astype(str), return_inverse=True)
    value = float(np.average(values, weights=weights))
    moves = np.bincount(code, weights=weights * (values - value)) / weights.sum()
    low, high = mean_interval(numbers_of(values, weights, code), (0.0, 1.0), level)
    low, high = value if low is None else low, value if high is None else high
    return MeanPart(value, low, high, dict(zip(names.tolist(), moves.tolist(), strict=True)))


def _corrected(measure: str, own: _Slots, shared: Bools, level: float) -> tuple[CorrectedScore, MeanPart]:
    clusters = np.array(own.clusters, dtype=object)
    judged, known = own.open, own.known
    used = judged | known
    labelled = judged & ~np.isnan(own.labels)
    rest = judged & ~labelled
    alone = _mean(own.verdicts[used], own.weights[used], list(clusters[used]), level)
    open_weight = float(own.weights[judged].sum())
    if not open_weight:  # no pair needs a judge
        signature = sign({"measure": f"corrected {measure}", "level": level})
        estimate = Estimate(alone.value, alone.low, alone.high, int(used.sum()), 0, signature)
        n = int(known.sum())
        return CorrectedScore(measure, estimate, estimate, estimate, 0, 0, n, 0.0, 0.0, True), alone
    weights = own.weights.copy()
    # Pairs that another run has too were drawn from both: within each kind, labels stand for all verdicts of that kind.
    for kind in (judged & shared, judged & ~shared):
        if (labelled & kind).any():
            weights[labelled & kind] *= own.weights[kind].sum() / own.weights[labelled & kind].sum()
    found = prediction_powered(
        own.verdicts[rest], own.verdicts[labelled], own.labels[labelled], clusters=list(clusters[rest]),
        clusters_of_labelled=list(clusters[labelled]), weights=own.weights[rest],
        weights_of_labelled=weights[labelled], level=level,
    )  # fmt: skip
    share = open_weight / float(own.weights[used].sum())
    missing = int(len(own.verdicts) - used.sum())

    def with_known(part: MeanPart) -> MeanPart:
        """The mean with the answers that need no judge: what is open there, and how much of all it is, both vary."""
        if not known.any():
            return part
        filled = np.where(known, own.verdicts, part.value)[used]
        all_ = _mean(filled, own.weights[used], list(clusters[used]), level)
        off = MeanPart(0.0, share * (part.low - part.value), share * (part.high - part.value), part.times(share).moves)
        return joined([all_, off])

    whole, people = (with_known(found.parts[name]) for name in ("corrected", "people"))
    corrected, judge, labels = (
        Estimate(part.value, max(part.low, 0.0), min(part.high, 1.0), int(used.sum()), missing, signature)
        for part, signature in (
            (whole, found.corrected.signature), (alone, found.judge.signature), (people, found.people.signature)
        )
    )  # fmt: skip
    score = CorrectedScore(
        measure, corrected, judge, labels, labels=found.labels, verdicts=int(judged.sum()), known=int(known.sum()),
        tuning=found.tuning, worth=found.worth, helps=found.judge_helps,
    )  # fmt: skip
    return score, whole


def _drop_of(clean: CorrectedScore, average: CorrectedScore, part: MeanPart) -> CorrectedScore:
    """The drop, of which the judge and people alone have a value but no interval of their own."""
    signature = sign({"measure": "corrected drop", "of": clean.corrected.signature + average.corrected.signature})
    n, missing = clean.corrected.n + average.corrected.n, clean.corrected.missing + average.corrected.missing
    corrected = Estimate(part.value, max(part.low, -1.0), min(part.high, 1.0), n, missing, signature)
    judge, people = (
        Estimate((before.value or 0.0) - (after.value or 0.0), None, None, n, missing, f"{signature}|of={name}")
        for before, after, name in (
            (clean.judge, average.judge, "judge"), (clean.people, average.people, "people")
        )
    )  # fmt: skip
    return CorrectedScore(
        "drop", corrected, judge, people, labels=clean.labels + average.labels,
        verdicts=clean.verdicts + average.verdicts,
        known=clean.known + average.known, tuning=average.tuning, worth=clean.worth + average.worth,
        helps=clean.helps or average.helps,
    )  # fmt: skip


def _kappa(verdicts: Array, labels: Array) -> float:
    """Cohen's kappa, at least 0 and at most 0.99, as a plan for labels takes it."""
    if not len(labels):
        return 0.0
    agree, yes, own = float((verdicts == labels).mean()), float(verdicts.mean()), float(labels.mean())
    chance = yes * own + (1 - yes) * (1 - own)
    return min(max((agree - chance) / (1 - chance), 0.0), 0.99) if chance < 1 else 0.0


def _shown(e: Estimate) -> str:
    if e.low is None or e.high is None:
        return number(e.value)
    return f"{number(e.value)} [{number(e.low)}, {number(e.high)}]"
