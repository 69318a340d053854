"""Changed predictions: how often a label is another once the text is said another way, whether it was right or not.

Pairs are an original and one variant of it. Every share is over pairs, as P̂aRTE has it; intervals and tests resample
originals, since the variants of one original go together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from unswayed.base import Estimate, Example, NothingEvaluated, UsageError, Variant, content_id
from unswayed.measure import Runlike, intervals_of, pair_of
from unswayed.stats import Observations, Question, Ratio, Resampling, correct, estimates, mcnemar, sign

VERSION = 1  # of these definitions; part of every signature
CONFUSION = ("right_right", "right_wrong", "wrong_right", "wrong_wrong")  # before, then after
CORRECTION = "holm"


class Judged(msgspec.Struct, frozen=True):
    """A label for an original and one for a variant of it; None where there was no answer."""

    example: str
    slices: dict[str, str]
    gold: str
    before: str | None
    after: str | None
    gold_after: str = ""  # where it is not that of the original

    @property
    def right_before(self) -> bool | None:
        return None if self.before is None else self.before == self.gold

    @property
    def right_after(self) -> bool | None:
        return None if self.after is None else self.after == (self.gold_after or self.gold)

    @property
    def changed(self) -> bool | None:
        return None if self.before is None or self.after is None else self.before != self.after


class Share(msgspec.Struct, frozen=True):
    """A share of `n` pairs, of `examples` originals, with its interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    examples: int
    missing: int
    signature: str

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, self.low, self.high, self.n, self.missing, self.signature)


class ChangedPredictions(msgspec.Struct, frozen=True):
    """`by` goes from a slice's name to its values to the share of changed predictions there."""

    accuracy_original: Share
    accuracy_paraphrased: Share
    changed: Share
    by: dict[str, dict[str, Share]]
    confusion: dict[str, Share]


def judged_pairs(run: Runlike) -> list[Judged]:
    """The pairs of a run on a suite of labelled texts, sliced by which text was varied, gold and the suite's groups."""
    label = run.suite.task.label
    found = []
    for example, clean, varied in run.items():
        gold = label(example.gold)
        for variant, output in varied:
            if variant.meaning != "same" or gold is None:
                continue
            slices = {"side": side_of(example, variant), "gold": gold, **example.groups}
            before = label(clean.value) if clean.ok else None
            after = label(output.value) if output.ok else None
            found.append(Judged(example.id, slices, gold, before, after, label(variant.gold) or ""))
    if not found:
        raise NothingEvaluated("There is no variant of a labelled example in this run.")
    return found


def side_of(example: Example, variant: Variant) -> str:
    """The input that was varied; `both` or `all` where more than one was."""
    varied = [name for name, text in example.inputs.items() if variant.inputs.get(name) != text]
    return varied[0] if len(varied) == 1 else "both" if len(varied) == 2 else "all" if varied else "none"


_Told = Callable[[Judged], bool | None]  # True and False count; None is left out, and missing where it should count


def changed_predictions(pairs: Sequence[Judged], system: str, settings: Resampling | None = None) -> ChangedPredictions:
    """Accuracies, the share of changed predictions overall and by slice, and right and wrong before and after."""
    settings = settings or Resampling()
    signed = _signer(pairs, system, settings)
    asked: dict[tuple[str, ...], tuple[list[Judged], _Told]] = {
        ("accuracy_original",): (list(pairs), lambda p: p.right_before),
        ("accuracy_paraphrased",): (list(pairs), lambda p: p.right_after),
        ("changed",): (list(pairs), lambda p: p.changed),
    }
    for key, values in _slices(pairs).items():
        asked |= {("changed", key, value): (inside, lambda p: p.changed) for value, inside in values.items()}
    for cell in CONFUSION:
        asked["confusion", cell] = (list(pairs), lambda p, cell=cell: _cell(p, cell))  # type: ignore[misc]
    made = [_Counted(*question) for question in asked.values()]
    answered = estimates([Question(c.column, signed(name)) for name, c in zip(asked, made, strict=True)], settings)
    shares = {
        name: Share(e.value, e.low, e.high, counted.pairs, e.n, e.missing, e.signature)
        for name, counted, e in zip(asked, made, answered, strict=True)
    }
    by: dict[str, dict[str, Share]] = {}
    for name, share in shares.items():
        if len(name) == 3:
            by.setdefault(name[1], {})[name[2]] = share
    return ChangedPredictions(
        shares["accuracy_original",],
        shares["accuracy_paraphrased",],
        shares["changed",],
        by,
        {cell: shares["confusion", cell] for cell in CONFUSION},
    )


def _slices(pairs: Sequence[Judged]) -> dict[str, dict[str, list[Judged]]]:
    found: dict[str, dict[str, list[Judged]]] = {}
    for pair in pairs:
        right = {} if pair.right_before is None else {"original_correct": str(pair.right_before).lower()}
        for key, value in {**pair.slices, **right}.items():
            found.setdefault(key, {}).setdefault(value, []).append(pair)
    return {key: dict(sorted(values.items())) for key, values in found.items()}


def _cell(pair: Judged, cell: str) -> bool | None:
    if pair.right_before is None or pair.right_after is None:
        return None
    return cell == "_".join("right" if right else "wrong" for right in (pair.right_before, pair.right_after))


class _Counted:
    """Pairs as a column: for each original how many of its pairs count, of how many."""

    def __init__(self, pairs: Iterable[Judged], told: _Told) -> None:
        counts: dict[str, list[int]] = {}
        for pair in pairs:
            row = counts.setdefault(pair.example, [0, 0, 0])
            answer = told(pair)
            if answer is None:
                row[2] += 1
            else:
                row[0] += answer
                row[1] += 1
        rows = np.array(list(counts.values()), dtype=float).reshape(-1, 3)
        known = np.flatnonzero(rows[:, 1])
        self.pairs = int(rows[:, 1].sum())
        self.column = Observations(known, rows[known, :2], Ratio(), rows[:, 2].astype(np.int64))


def _signer(pairs: Sequence[Judged], system: str, settings: Resampling) -> Callable[[Sequence[str]], str]:
    data = content_id([[p.example, p.gold, p.gold_after, p.before, p.after, p.slices] for p in pairs], 8)
    decided = {"pairs": data, "system": content_id(system)}
    return lambda name: sign({"measure": f"changed:{VERSION}", "of": ".".join(name), **decided}, settings)


class ModelContrast(msgspec.Struct, frozen=True):
    """Two numbers over the same pairs: B less A, its interval, and two tests, each also corrected.

    `mcnemar` is exact and takes pairs for independent; `randomisation` swaps the two over whole originals. Where A and
    B are the same model, A is it on the originals and B on the variants.
    """

    measure: str
    a: str
    b: str
    value_a: float
    value_b: float
    difference: float
    low: float | None
    high: float | None
    mcnemar: float | None
    mcnemar_corrected: float | None
    randomisation: float | None
    randomisation_corrected: float | None
    n: int


_MEASURES: dict[str, _Told] = {"changed": lambda p: p.changed, "accuracy_paraphrased": lambda p: p.right_after}


def contrasts(models: Mapping[str, Sequence[Judged]], settings: Resampling | None = None) -> list[ModelContrast]:
    """Each model's accuracy before against after; then every two models' changes and accuracies after paraphrase.

    The p-values of all of them are corrected together, by Holm's method, for each of the two tests.
    """
    settings = settings or Resampling()
    compared: list[tuple[str, str, str, _Both]] = []
    for name, pairs in models.items():
        both = _Both(pairs, pairs, lambda p: p.right_before, lambda p: p.right_after)
        compared.append(("accuracy", name, name, both))
    for measure, told in _MEASURES.items():
        for a, b in combinations(models, 2):
            compared.append((measure, a, b, _Both(models[a], models[b], told, told)))
    compared = [row for row in compared if row[3].n]
    intervals = intervals_of([both.pair for *_, both in compared], settings)
    exact = [mcnemar(both.more, both.less) for *_, both in compared]
    swapped = [both.pair.p_value(settings) for *_, both in compared]
    corrected = zip(correct(exact, CORRECTION), correct(swapped, CORRECTION), strict=True)
    found = []
    for row, interval, p, q, (p_all, q_all) in zip(compared, intervals, exact, swapped, corrected, strict=True):
        measure, a, b, both = row
        before, after = both.pair.values
        found.append(
            ModelContrast(
                measure, a, b, before, after, after - before, *interval, p, p_all or 0.0, q, q_all or 0.0, both.n
            )
        )
    return found


class _Both:
    """Two yes-or-no judgements of the same pairs, where both are known."""

    def __init__(self, a: Sequence[Judged], b: Sequence[Judged], told_a: _Told, told_b: _Told) -> None:
        if [p.example for p in a] != [p.example for p in b]:
            raise UsageError("The systems did not answer the same pairs, so they can't be compared pair by pair.")
        rows: dict[str, list[int]] = {}
        self.more = self.less = self.n = 0
        for first, second in zip(a, b, strict=True):
            left, right = told_a(first), told_b(second)
            if left is None or right is None:
                continue
            row = rows.setdefault(first.example, [0, 0, 0])
            row[0] += left
            row[1] += right
            row[2] += 1
            self.more += right and not left
            self.less += left and not right
            self.n += 1
        counts = np.array(list(rows.values()), dtype=float).reshape(-1, 3)
        missing = np.zeros(len(counts), dtype=np.int64)
        places = np.arange(len(counts))
        self.pair = pair_of(*(Observations(places, counts[:, [side, 2]], Ratio(), missing) for side in (0, 1)))
