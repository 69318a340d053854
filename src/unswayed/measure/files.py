"""Scores of texts in files: outputs against gold line by line, and the share of characters that versions change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.errors import DataError, NothingEvaluated
from unswayed.base.ids import canonical, decode, file_hash
from unswayed.base.task import Task, task_named, tasks
from unswayed.base.values import Estimate, Json
from unswayed.data import read_lines, without_break
from unswayed.measure.definitions import estimate_of
from unswayed.measure.set_scores import SetScore
from unswayed.run.plan import in_use
from unswayed.run.scoring import scored_by
from unswayed.score import Scorer, scorer_named
from unswayed.stats import Mean, Observations, Question, Resampling, estimates, sign
from unswayed.storage.suite import Suite


def score_files(name: str, gold: str | Path, predicted: str | Path, settings: Resampling | None = None) -> Estimate:
    """The score of two files with a text, or in `.jsonl` files a JSON value, a line."""
    scorer = scorer_named(name)
    golds, outputs = _values(Path(gold)), _values(Path(predicted))
    check_lengths(gold, len(golds), predicted, len(outputs))
    files = {"gold": file_id(gold), "outputs": file_id(predicted)}
    return score_values(scorer, golds, outputs, task_of(name), files, settings)


def score_values(
    scorer: Scorer, golds: Sequence[Json], outputs: Sequence[Json], task: Task, files: Mapping[str, str],
    settings: Resampling | None = None,
) -> Estimate:  # fmt: skip
    """The score of outputs with its interval; `files` are ids of what was read, for the signature.

    Outputs that can't be read are missing, where a score is due.
    """
    settings = settings or Resampling()
    due = [i for i, gold in enumerate(golds) if scorer.gold_key(gold, task) is not None]
    known = [i for i in due if scorer.key(outputs[i], task) is not None]
    if not known:
        raise NothingEvaluated(f"No output can be scored with {scorer.name}: {len(due)} of {len(golds)} golds are fit.")
    said, right = [outputs[i] for i in known], [golds[i] for i in known]
    if (rows := scorer.classes(said, right, task)) is None:
        with scored_by(in_use()) as stats:
            rows = stats(scorer, list(zip(said, right, strict=True)), task)
    missing = np.zeros(len(golds), dtype=np.int64)
    missing[list(set(due) - set(known))] = 1
    if scorer.linear:
        column = Observations(np.array(known), scorer.aggregate(rows)[:, None], Mean(), missing, scorer.bounds)
    else:
        codes = np.arange(len(rows), dtype=float)[:, None]
        column = Observations(np.array(known), codes, SetScore(scorer, rows, 1), missing, scorer.bounds)
    return estimates(
        [Question(column, sign({"score": f"{scorer.name}:{scorer.version}", **files}, settings))], settings
    )[0]


def task_of(scorer: str) -> Task:
    """The task that the scorer belongs to, so that it reads labels and answers as the task does."""
    owners = [name for name in tasks.names() if scorer in task_named(name).scores]
    return task_named(owners[0] if owners else "classify")


def check_lengths(gold: str | Path, golds: int, predicted: str | Path, outputs: int) -> None:
    """Raises if two files that belong together don't have the same number of lines."""
    if golds != outputs:
        raise DataError(f"this has {outputs} lines, but {gold} has {golds}. A line must answer each line.", predicted)


def _values(path: Path) -> list[Json]:
    lines = [without_break(line) for line in read_lines(path)]
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        return lines
    values: list[Json] = []
    for number, line in enumerate(lines, 1):
        try:
            values.append(decode(line))
        except msgspec.MsgspecError as error:
            raise DataError(f"this is not valid JSON: {error}.", path, number) from error
    return values


def file_id(path: str | Path) -> str:
    """A hash of what a file holds, for signatures."""
    return file_hash(Path(path))[:16]


_ERROR_RATE_VERSION = 2
_ENDLESS = (0.0, float("inf"))  # a version may be longer than its text
Texts = tuple[str, ...]  # what belongs together, such as the two sentences of a pair
Group = tuple[Texts, Sequence[Texts]]  # an example's texts, and those of each of its versions


class ErrorRates(NamedTuple):
    """The mean over examples of their versions' mean error rate, and of their versions' highest; 0.2 is 20%."""

    average: Estimate
    worst: Estimate


def error_rates(groups: Iterable[Group], level: float = 0.95) -> ErrorRates:
    """The error rates of examples with their versions. Texts that belong together count as one long text.

    Intervals are Student's, by example. A version of a text without characters has no error rate and is missing; an
    example without versions is left out.
    """
    Resampling(level)
    owners: list[int] = []  # of each version, the number of its example
    version: list[int] = []  # of each text, the number of the version that it is compared with
    texts: list[str] = []
    others: list[str] = []
    for number, (own, versions) in enumerate(groups):
        for other in versions:
            version.extend([len(owners)] * len(own))
            owners.append(number)
            texts.extend(own)
            others.extend(other)
    digest = blake2b(canonical([owners, texts, others]), digest_size=8).hexdigest()
    owner, rates = np.array(owners, dtype=np.int64), np.zeros(0)
    if owners:
        edits = np.bincount(version, weights=distances(texts, others), minlength=len(owners))
        lengths = np.bincount(version, weights=[len(text) for text in texts], minlength=len(owners))
        rates = np.divide(edits, lengths, out=np.full(len(owners), np.nan), where=lengths > 0)
    n = int(owner.max()) + 1 if len(owner) else 0
    known = ~np.isnan(rates)
    missing = np.bincount(owner[~known], minlength=n)
    owner, rates = owner[known], rates[known]
    counts = np.bincount(owner, minlength=n)
    examples = np.flatnonzero(counts)
    sums = np.bincount(owner, weights=rates, minlength=n)
    highest = np.zeros(n)
    np.maximum.at(highest, owner, rates)
    values = {"average": sums[examples] / counts[examples], "worst": highest[examples]}
    return ErrorRates(*(
        estimate_of(
            Observations(examples, value[:, None], Mean(), missing, _ENDLESS),
            sign({"measure": f"error_rate.{name}:{_ERROR_RATE_VERSION}", "texts": digest}, level=level),
            level,
        )
        for name, value in values.items()
    ))  # fmt: skip


def suite_error_rates(suite: Suite, family: str | None = None, level: float = 0.95) -> ErrorRates:
    """The error rates of a suite's variants, or of one family's, in the inputs that its task varies."""

    def groups() -> Iterable[Group]:
        for example, variants in suite.groups():
            fields = suite.task.texts(example.inputs)
            chosen = [v for v in variants if v.meaning == "same" and family in (None, v.family)]
            if chosen:
                texts = tuple(example.inputs[field] for field in fields)
                yield texts, [tuple(v.inputs.get(field, "") for field in fields) for v in chosen]

    return error_rates(groups(), level)


def distances(texts: Sequence[str], versions: Sequence[str]) -> npt.NDArray[np.int64]:
    """The Levenshtein distance of each text to its version, in characters."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    found: npt.NDArray[np.int64] = cpdist(texts, versions, scorer=Levenshtein.distance, dtype=np.int64)
    return found
