"""Comparing two logs of other tools, without a suite: samples are paired by their ids, and repeats are draws of one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isnan
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from unswayed.base.errors import NothingEvaluated, UnknownName, UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.text import counted, label, spelled
from unswayed.base.values import Json
from unswayed.data.logs import Log, LogEntry
from unswayed.measure.changes import Changed
from unswayed.measure.comparison.contrasts import AnswerCounts, Contrast
from unswayed.measure.comparison.outcome import (
    Comparison,
    Difference,
    NotWorse,
    check_margin,
    difference_of,
    tested_together,
)
from unswayed.measure.gates import ALL
from unswayed.measure.spill import Spill
from unswayed.run.plan import ComparePlan, MeasurePlan
from unswayed.stats import Array, Ints, Mean, Observations, digest, pass_power, sign, summed
from unswayed.stats.multiple_comparisons import JointMeans
from unswayed.stats.significance import binomial_tail
from unswayed.systems.system import Failed

_STAMPED = re.compile(r"\d{4}-?\d\d-?\d\d|^samples_|test_run|^results?$")  # names that tools give, which say little
_MAX_CHANGED = 0.5  # of the samples may have other inputs than in the other log
_NAMED = 3


class LogComparison(Comparison, frozen=True, kw_only=True, dict=True):
    """Two logs, sample by sample. `names` are what A and B are called, and `repeats` how often each asked a sample.

    `higher` says whether more of the score is better, where that is known, `graded` that it is not only 0 or 1,
    and `points` that it is between them.
    """

    names: tuple[str, str]
    samples: int
    repeats: tuple[int, int]
    cluster: str = ""
    higher: bool | None = None
    graded: bool = False
    points: bool = True

    unvaried: ClassVar[str] = "sample"
    whole: ClassVar[str] = "Over all samples"

    @property
    def sentences(self) -> list[str]:
        first = [d.sentence for d in self.differences if d.primary]
        return [
            self.outcome(),
            *first,
            *(d.sentence for d in self.differences if d.shown and not d.primary),
            self.about,
        ]

    @property
    def about(self) -> str:
        said = (
            f"{counted(self.samples, 'sample')} of {label(self.task)}" if self.task else counted(self.samples, "sample")
        )
        if (most := max(self.repeats)) > 1:
            same = f"{most}" if min(self.repeats) == most else f"{self.repeats[0]} and {self.repeats[1]}"
            said += f", {same} repeats of each"
        said += f", clustered by {label(self.cluster)}" if self.cluster else ""
        called = [
            label(name) + (f" ({label(model)})" if model != name else "")
            for name, model in zip(self.names, (self.a, self.b), strict=True)
        ]
        return f"A is {called[0]}, B is {called[1]}; {said}; scored by {label(self.score)}."

    def lost_and_gained(self, run: str = "B") -> list[str]:
        return []  # the outcome says it

    @property
    def trend(self) -> str:
        first = next(d for d in self.differences if d.primary)
        word = self.in_a_word(first) if first.shown else ""
        return word if word in ("better", "worse") else ""

    def in_a_word(self, difference: Difference) -> str:
        up = (difference.difference or 0.0) > 0
        if self.higher is None or difference.measure not in (self.primary, f"pass^{min(self.repeats)}"):
            return "higher" if up else "lower"
        return "better" if up == self.higher else "worse"

    def outcome(self, run: str = "B") -> str:
        """`new is better by 2.1 points [0.4, 3.8]; 18 answers lost, 39 gained.`"""
        first = next(d for d in self.differences if d.primary)
        name = label(self.names[1])
        if self.identical:
            return f"Identical: every sample has the same score in {label(self.names[0])} and in {name}."
        if first.difference is None or first.low is None or first.high is None:
            return f"{name} can't be compared with {label(self.names[0])}: there is no interval for so few samples."
        scale, unit, digits = (100.0, " points", 1) if self.points else (1.0, "", 3)
        up = first.difference > 0
        ends = sorted(scale * (end if up else -end) for end in (first.low, first.high))
        by = f"{scale * abs(first.difference):.{digits}f}{unit}"
        span = f"[{', '.join(f'{end:z.{digits}f}' for end in ends)}]"
        how = self.in_a_word(first)
        said = f"{name} is {how} by {by} {span}"
        if not first.shown:
            said = f"No clear difference: {name} is {by} {how} {span}, which may be chance"
        if first.difference == 0:
            said = f"No difference in the mean: {name} is as good as {label(self.names[0])}, within {span}{unit}"
        if (found := self.answers.get("samples")) is None:
            return f"{said}."
        many = "sample" if max(self.repeats) > 1 else "answer"
        if self.graded:
            return f"{said}; {counted(found.lost, many)} scored lower, {found.gained:,} higher."
        means = " (right in more than half of their repeats)" if many == "sample" else ""
        return f"{said}; {counted(found.lost, many)} lost, {found.gained:,} gained{means}."

    @property
    def has_answers(self) -> bool:
        return "_logs" in self.__dict__

    @property
    def kinds_of_change(self) -> dict[str, str]:
        if self.graded:
            return {"lost": "scored lower in B", "gained": "scored higher in B"}
        return super().kinds_of_change

    def iter_flips(self, most: int | None = None) -> Iterator[Changed]:
        """Every answer that was lost or gained, read from the logs; of repeats one that shows it."""
        if not self.has_answers:
            raise UsageError("This comparison does not know its logs. Compare them again with unswayed.compare(a, b).")
        logs, places = self.__dict__["_logs"], self.__dict__["_places"]
        if most is not None:
            kinds = ([place for place in places if place[0] == kind] for kind in ("lost", "gained"))
            places = [place for kind in kinds for place in kind[:most]]
        texts: list[dict[tuple[Path, int], LogEntry]] = []
        for log, side in zip(logs, (0, 1), strict=True):
            rows: dict[Path, set[int]] = {}
            for _, _, *pair in places:
                file, row = pair[side]
                rows.setdefault(file, set()).add(row)
            texts.append({(file, row): entry for file, row, entry in log.entries(True, rows)})
        for change, id_, one, other in places:
            a, b = texts[0][one], texts[1][other]
            text, gold = a.text or b.text, _shown(a.gold)
            yield Changed(change, id_, "", None, text, _shown(a.output), _shown(b.output), gold)


def _shown(value: Json | Failed) -> str:
    return f"no answer: {value.error}" if isinstance(value, Failed) else "" if value is None else spelled(value)


class _Read:
    """What one log says of its samples, in columns: by score, the number of the sample, the score, and where it is."""

    def __init__(self, log: Log, cluster: str | None) -> None:
        self.log = log
        self.numbers: dict[str, int] = {}  # of the samples, by id
        self.contents: list[str] = []
        self.clusters: list[str | None] = []
        self.scores: dict[str, tuple[list[int], list[float], list[tuple[Path, int]]]] = {}
        self.failed: list[tuple[int, tuple[Path, int]]] = []
        self.tasks: Counter[str] = Counter()
        self.systems: Counter[str] = Counter()
        self.rows: list[tuple[Path, int]] = []
        files: dict[str, set[Path]] = {}
        several = bool(re.search(r"[*?\[]", log.wanted))
        for file, row, entry in log.entries(False, cluster=cluster):
            id_ = f"{entry.task}/{entry.id}" if several else entry.id
            number = self.numbers.setdefault(id_, len(self.numbers))
            if number == len(self.contents):
                self.contents.append(entry.content)
                self.clusters.append(entry.cluster)
            self.rows.append((file, row))
            self.tasks[entry.task] += 1
            self.systems[entry.system] += 1
            files.setdefault(entry.task, set()).add(file)
            if not entry.scores:
                self.failed.append((number, self.rows[-1]))
            for name, value in entry.scores.items():
                if name not in self.scores:
                    self.scores[name] = [], [], []
                codes, values, places = self.scores[name]
                codes.append(number)
                values.append(value)
                places.append(self.rows[-1])
        name = str(log.path)
        if not self.numbers:
            wanted = f" of {log.wanted}" if log.wanted else ""
            raise UsageError(f"{name} has no sample{wanted}. Choose a task or model that it has, as in {name}#NAME.")
        for what, found in (("tasks", self.tasks), ("models, providers or prompts", self.systems)):
            if len(found) > 1 and not (several and what == "tasks"):
                there = ", ".join(sorted(found))
                raise UsageError(f"{name} has several {what}: {there:.300}. Choose one, as in {name}#{min(found)}.")
        if twice := next((sorted(one) for one in files.values() if len(one) > 1), None):
            there = ", ".join(file.name for file in twice)
            raise UsageError(f"{name} has several logs of the same task ({there:.300}). Name one file.")
        if not any(values for _, values, _ in self.scores.values()):
            raise UsageError(
                f"{name} has no scores of single samples, which are needed to compare sample by sample. Write the log "
                "with them (lm_eval: --log_samples; Inspect: run a scorer with `inspect score`; own lines: `score`)."
            )

    @property
    def system(self) -> str:
        return next(iter(self.systems))


@dataclass(frozen=True)
class _Scored:
    """One log's scores by one scorer: of which of the `n` samples in common each is, and where the log has it."""

    of: Ints
    values: Array
    rows: Sequence[tuple[Path, int]]
    n: int

    @cached_property
    def counts(self) -> Ints:
        return np.bincount(self.of, minlength=self.n)

    @cached_property
    def mean(self) -> Array:
        """Of each sample's repeats; not a number if it has none."""
        sums, out = np.bincount(self.of, weights=self.values, minlength=self.n), np.full(self.n, np.nan)
        np.divide(sums, self.counts, out=out, where=self.counts > 0)
        return out

    def all_pass(self, k: int) -> Array:
        """The chance that k repeats of a sample, chosen of those it has, all pass; unknown if it has fewer."""
        passed = np.bincount(self.of, weights=self.values, minlength=self.n).astype(np.float64)
        return pass_power(passed, self.counts.astype(np.float64), k)

    def row(self, sample: int, best: bool) -> tuple[Path, int]:
        """Where the log has the sample's best, or worst, answer."""
        start, end = np.searchsorted(self._ordered[0], [sample, sample + 1])
        own = self._ordered[1][start:end]
        values = self.values[own]
        return self.rows[int(own[values.argmax() if best else values.argmin()])]

    @cached_property
    def _ordered(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.of, kind="stable")
        return self.of[order], order


def compare_logs(a: Log, b: Log, plan: MeasurePlan, asked: ComparePlan) -> LogComparison:
    """B minus A of a score, sample by sample, with pass^k where samples are repeated, and the gates of a plan."""
    if plan.groups:
        raise UsageError(f"Logs are not cut into slices, so leave out {option('slice', 'measure.groups')}.")
    reads = _Read(a, plan.cluster), _Read(b, plan.cluster)
    names = _names(a, b, reads[0].system, reads[1].system)
    ids, warnings = _in_common(reads, names)
    scores = _scores_in_common(reads, names, plan.scores)
    main, higher = scores[0], a.direction(scores[0])
    clusters, field = _clusters(reads[0], ids, plan.cluster)
    spill, contrasts, columns = Spill(), list[Contrast](), list[Array]()
    for name in scores:
        sides = [_scored(read, name, ids, plan.missing == "wrong") for read in reads]
        values = np.concatenate([side.values for side in sides])
        span = (0.0, 1.0) if ((values >= 0) & (values <= 1)).all() else (-np.inf, np.inf)
        measured = {name: (sides[0].mean, sides[1].mean)}
        if name == main:
            first, graded = sides, not np.isin(values, (0.0, 1.0)).all()
            repeats = [int(np.median(side.counts[side.counts > 0])) if len(side.values) else 0 for side in sides]
            if (k := min(repeats)) > 1 and not graded and higher is not False:
                measured[f"pass^{k}"] = sides[0].all_pass(k), sides[1].all_pass(k)
        for measure, both in measured.items():
            known = ~np.isnan(both[0]) & ~np.isnan(both[1])
            missing = (~known).astype(np.int64)
            seen = [Observations(np.flatnonzero(known), v[known][:, None], Mean(), missing, span) for v in both]
            contrast = Contrast(measure, ALL, seen[0], spill, clusters is not None)
            contrast.add(seen[0], seen[1], None if clusters is None else clusters[known])
            contrasts.append(contrast)
            given = np.column_stack([np.where(known, both[1] - both[0], 0.0), known.astype(np.float64)])
            columns.append(given if clusters is None else summed(given, clusters))
    if not contrasts[0].n:
        raise NothingEvaluated(f"{names[0]} and {names[1]} have no sample that both scored with {main}.")
    joint = JointMeans(len(columns))
    joint.add(np.column_stack([c[:, 0] for c in columns]), np.column_stack([c[:, 1] for c in columns]))

    def correlation(chosen: Sequence[Contrast]) -> Array:
        return joint.correlation([contrasts.index(contrast) for contrast in chosen])

    tested = tested_together(contrasts[:1], correlation, plan, asked.correction, primary=True)
    tested |= tested_together(contrasts[1:], correlation, plan, asked.correction, primary=False)
    signed = {"samples": content_id(ids), "system": "-".join(content_id(read.system) for read in reads)}
    signed |= {"missing": plan.missing, "cluster": field or "-", "level": str(plan.level), "difference": "b-a"}

    def signature(contrast: Contrast) -> str:
        given = contrast.numbers
        return sign({"measure": contrast.measure, **signed, "scores": digest(given.total, given.counts)})

    differences = [difference_of(one, tested[one], plan.level, signature(one)) for one in contrasts]
    answers, moved = _moved(first[0].mean, first[1].mean, graded, higher is not False)
    for read, name in zip(reads, names, strict=True):
        if read.failed:
            how = "counted as wrong" if plan.missing == "wrong" else "left out of both logs"
            warnings.append(f"{name}: {counted(len(read.failed), 'answer')} failed or without a score: {how}.")
    gates = _gates(asked, plan, contrasts, main, higher)
    if asked.each_at_least is not None:
        gates.append(_each(asked.each_at_least, first[1], ids, names[1]))
    lost = max(len(read.failed) / len(read.rows) for read in reads)
    compared = LogComparison(
        score=main, task=a.wanted if "*" in a.wanted else next(iter(reads[0].tasks)), suite=signed["samples"],
        a=reads[0].system or names[0], b=reads[1].system or names[1], correction=asked.correction, level=plan.level,
        differences=differences,
        primary=main, changes=[d.sentence for d in differences if d.shown], answers=answers, gates=gates,
        warnings=warnings, failed={"a": len(reads[0].failed), "b": len(reads[1].failed)},
        incomplete=bool(gates) and plan.missing == "leave" and lost > asked.allow_missing,
        identical=bool(np.array_equal(first[0].mean, first[1].mean, equal_nan=True)),
        names=names, samples=contrasts[0].n, repeats=(repeats[0], repeats[1]), cluster=field, higher=higher,
        graded=graded, points=contrasts[0].span[1] <= 4,
    )  # fmt: skip
    places = []
    for change, at in moved:
        fell = (change == "lost") is (higher is not False)
        places.append((change, ids[at], first[0].row(at, fell), first[1].row(at, not fell)))
    compared.__dict__.update(_logs=(a, b), _places=places)
    return compared


def _names(a: Log, b: Log, *systems: str) -> tuple[str, str]:
    """What the logs are called: the names of their files, or of their models where those are made by a tool."""
    stems = [log.wanted or log.path.stem for log in (a, b)]
    if stems[0] != stems[1] and not any(_STAMPED.search(stem) for stem in stems):
        return stems[0], stems[1]
    return systems if systems[0] != systems[1] else ("A", "B")  # type: ignore[return-value]


def _in_common(reads: Sequence[_Read], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The ids of samples that both logs have with the same input, and what is left out."""
    a, b = reads
    ids, warnings = [id_ for id_ in a.numbers if id_ in b.numbers], list[str]()
    if not ids:
        one, other = (repr(next(iter(read.numbers)))[:60] for read in reads)
        raise UsageError(
            f"{names[0]} and {names[1]} have no sample id in common: one has {one}, the other {other}. Are they logs "
            "of the same task?"
        )
    same = [id_ for id_ in ids if a.contents[a.numbers[id_]] == b.contents[b.numbers[id_]]]
    if len(same) < (1 - _MAX_CHANGED) * len(ids):
        other = next(id_ for id_ in ids if a.contents[a.numbers[id_]] != b.contents[b.numbers[id_]])
        raise UsageError(
            f"{len(ids) - len(same):,} of {len(ids):,} samples with the same id have another input in {names[1]} than "
            f"in {names[0]}, the first is {other!r:.60}. The logs are of different data, so they can't be compared."
        )
    if len(same) < len(ids):
        warnings.append(f"Left out: {counted(len(ids) - len(same), 'sample')} with another input in each log.")
    for name, read in zip(names, reads, strict=True):
        if only := len(read.numbers) - len(ids):
            warnings.append(f"Left out: {counted(only, 'sample')} only in {name}.")
    return same, warnings


def _scores_in_common(reads: Sequence[_Read], names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The scores that both logs have, the main one first: the one that was asked for, or the first log's first."""
    there = [[name for name, (_, values, _) in read.scores.items() if not all(map(isnan, values))] for read in reads]
    both = [name for name in there[0] if name in there[1]]
    for name in wanted:
        if name not in both:
            raise UnknownName("score in both logs", name, both)
    if not both:
        one, other = (", ".join(found) or "none" for found in there)
        raise UsageError(
            f"The logs have different scores, so they can't be compared: {names[0]} has {one:.200}; {names[1]} has "
            f"{other:.200}. Score both with the same scorer."
        )
    return [*wanted, *(name for name in both if name not in wanted)]


def _scored(read: _Read, name: str, ids: Sequence[str], failed_are_wrong: bool) -> _Scored:
    codes, values, rows = read.scores[name]
    if failed_are_wrong:
        more, places = zip(*read.failed, strict=True) if read.failed else ((), ())
        codes, values, rows = [*codes, *more], [*values, *([0.0] * len(more))], [*rows, *places]
    place = np.full(len(read.numbers), -1)
    place[[read.numbers[id_] for id_ in ids]] = np.arange(len(ids))
    of, scores = place[np.array(codes, dtype=np.int64)], np.array(values)
    kept = np.flatnonzero((of >= 0) & ~np.isnan(scores))
    return _Scored(of[kept], scores[kept], [rows[at] for at in kept.tolist()], len(ids))


def _clusters(read: _Read, ids: Sequence[str], wanted: str | None) -> tuple[Ints | None, str]:
    """The number of each sample's cluster, and the field that decides it; None where each is by itself."""
    found = [read.clusters[read.numbers[id_]] for id_ in ids]
    field = wanted or read.log.cluster
    if all(name in (None, "None") for name in found):
        if wanted:
            raise UsageError(f"{read.log.path} has no field {wanted!r} to cluster by in its samples.")
        return None, ""
    return np.unique(np.array([str(name) for name in found]), return_inverse=True)[1].astype(np.int64), field


def _moved(
    a: Array, b: Array, graded: bool, higher: bool
) -> tuple[dict[str, AnswerCounts], list[tuple[Literal["lost", "gained"], int]]]:
    """The samples that were lost and gained: right in more than half of the repeats, or with a higher score."""
    known = ~np.isnan(a) & ~np.isnan(b)
    a, b = (a, b) if higher else (-a, -b)
    if graded:
        lost, gained, right = a > b, b > a, np.zeros(len(a), dtype=bool)
    else:
        half = 0.5 if higher else -0.5
        lost, gained, right = (a > half) & (b <= half), (a <= half) & (b > half), (a > half) & (b > half)
    counts = AnswerCounts(
        lost=int((lost & known).sum()), gained=int((gained & known).sum()), right=int((right & known).sum()),
        wrong=int((known & ~lost & ~gained & ~right).sum()),
    )  # fmt: skip
    moved: list[tuple[Literal["lost", "gained"], int]] = [("lost", at) for at in np.flatnonzero(lost & known).tolist()]
    moved += [("gained", at) for at in np.flatnonzero(gained & known).tolist()]
    return {"samples": counts}, moved


def _gates(
    asked: ComparePlan, plan: MeasurePlan, contrasts: Sequence[Contrast], main: str, higher: bool | None
) -> list[NotWorse]:
    """What `fail_if_worse` names: a score, `score` for the main one, or `pass^k`."""
    by_name = {contrast.measure: contrast for contrast in contrasts}
    by_name |= {"score": contrasts[0]}
    if (power := next((name for name in by_name if name.startswith("pass^")), None)) is not None:
        by_name.setdefault("pass^k", by_name[power])
    gates = []
    for name, margin in asked.fail_if_worse.items():
        if name not in by_name:
            raise UnknownName("score to compare", name, by_name)
        if margin < 0:
            raise UsageError(f"The margin of {name!r} must not be negative, as {margin:g} is.")
        contrast = by_name[name]
        gates.append(check_margin(margin, contrast, plan.level, asked.on, higher is not False))
    return gates


def _each(least: float, scored: _Scored, ids: Sequence[str], name: str) -> NotWorse:
    """The gate on every single sample: that it passes at least this share of its repeats in B."""
    known = np.flatnonzero(scored.counts)
    short = known[scored.mean[known] < least - 1e-12]
    said = f"each sample of {label(name)} passes at least {least:.0%} of its repeats: passed."
    if len(short):
        sums = scored.mean * scored.counts
        first = ", ".join(
            f"{label(ids[at], 40)}: {sums[at]:g} of {scored.counts[at]}" for at in short[:_NAMED].tolist()
        )
        more = ", …" if len(short) > _NAMED else ""
        said = (
            f"{len(short):,} of {counted(len(known), 'sample')} of {label(name)} pass less than {least:.0%} of their "
        )
        said += f"repeats ({first}{more}): failed."
    n = int(np.median(scored.counts[known])) if len(known) else 0
    if n > 1 and 0 < least < 1:  # how often a sample that is well above the limit falls below it by chance
        good = (1 + least) / 2
        chance = 1 - binomial_tail(max(0, ceil(least * n - 1e-9)), n, good)
        said += f" With {n} repeats, a sample that passes {good:.0%} of the time falls below in {chance:.0%} of runs."
    return NotWorse(
        name="each-at-least", measure="each", set="all", margin=least, difference=None, low=None, high=None,
        bound=float(scored.mean[known].min(initial=1.0)), status="worse" if len(short) else "passed",
        passed=not len(short), sentence=said,
    )  # fmt: skip
