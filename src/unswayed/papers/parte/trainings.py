"""Several trainings of one model as one: means of their measures, with intervals that include how much they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec

from unswayed.base import Estimate, Json
from unswayed.papers.parte.changed import (
    ChangedPredictions,
    Judged,
    ModelContrast,
    Share,
    changed_predictions,
    contrasts,
)
from unswayed.stats import Resampling, over_trainings

Trainings = Mapping[str, Sequence[Sequence[Judged]]]  # by model, the pairs of each training


def measured(pairs: Sequence[Sequence[Judged]], system: str, settings: Resampling) -> ChangedPredictions:
    """The measures of a model over its trainings."""
    return over([changed_predictions(one, system, settings) for one in pairs])


def over(found: Sequence[ChangedPredictions]) -> ChangedPredictions:
    first = found[0]
    if len(found) == 1:
        return first
    by = {
        key: {value: _share([one.by.get(key, {}).get(value) for one in found]) for value in values}
        for key, values in first.by.items()
    }
    return ChangedPredictions(
        _share([one.accuracy_original for one in found]),
        _share([one.accuracy_paraphrased for one in found]),
        _share([one.changed for one in found]),
        by,
        {cell: _share([one.confusion[cell] for one in found]) for cell in first.confusion},
    )


def _share(found: Sequence[Share | None]) -> Share:
    """Pairs and originals are those of the largest: what was right on the original differs by training."""
    there = [share for share in found if share is not None]
    mean = over_trainings([share.estimate for share in there], within=(0.0, 1.0))
    n, examples, missing = (max(getattr(s, name) for s in there) for name in ("n", "examples", "missing"))
    return Share(mean.value, mean.low, mean.high, n, examples, missing, mean.signature)


def one_training(pairs: Sequence[Judged]) -> Json:
    """What one training answers, as shares of pairs with an answer: a mean hides a training that learnt nothing."""
    before = [pair for pair in pairs if pair.before is not None]
    both = [pair for pair in before if pair.after is not None]
    answers = Counter(str(pair.before) for pair in before)
    return {
        "accuracy_original": sum(pair.before == pair.gold for pair in before) / max(1, len(before)),
        "changed": sum(pair.before != pair.after for pair in both) / max(1, len(both)),
        "answers": {label: count / len(before) for label, count in answers.most_common()},
        "missing": len(pairs) - len(both),
    }


def compared(models: Trainings, settings: Resampling) -> list[ModelContrast]:
    """As `contrasts`; of a model with several trainings the mean difference, its interval, and no p-value.

    Trainings are compared one by one, the first of a model with the first of another; a model with one training is
    compared with each of the other's.
    """
    single = {name: pairs[0] for name, pairs in models.items() if len(pairs) == 1}
    found = contrasts(single, settings) if single else []
    several = [name for name, pairs in models.items() if len(pairs) > 1]
    for name in several:
        found.append(_over([_of(contrasts({name: one}, settings), "accuracy", name, name) for one in models[name]]))
    for a, b in combinations(models, 2):
        if a in several or b in several:
            k = max(len(models[a]), len(models[b]))
            rounds = [
                contrasts({name: models[name][n % len(models[name])] for name in (a, b)}, settings) for n in range(k)
            ]
            found += [
                _over([_of(one, measure, a, b) for one in rounds]) for measure in ("changed", "accuracy_paraphrased")
            ]
    return found


def _of(found: Sequence[ModelContrast], measure: str, a: str, b: str) -> ModelContrast:
    return next(c for c in found if (c.measure, c.a, c.b) == (measure, a, b))


def _over(found: Sequence[ModelContrast]) -> ModelContrast:
    mean = over_trainings([Estimate(c.difference, c.low, c.high, c.n, 0, c.measure) for c in found])
    k = len(found)
    return msgspec.structs.replace(
        found[0],
        value_a=sum(c.value_a for c in found) / k,
        value_b=sum(c.value_b for c in found) / k,
        difference=mean.value or 0.0,
        low=mean.low,
        high=mean.high,
        mcnemar=None,
        mcnemar_corrected=None,
        randomisation=None,
        randomisation_corrected=None,
    )
