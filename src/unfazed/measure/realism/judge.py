"""The judge: boosted trees trained to tell simulated from human noise, tested on sentences that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from unfazed.core.errors import MissingExtra, UsageError
from unfazed.core.estimate import Estimate, digest, interval, sign
from unfazed.core.ids import content_id
from unfazed.core.seeds import Seeds
from unfazed.measure.realism.features import Floats, features

FOLDS = 5
RESAMPLES = 400
_LEVEL = 0.95  # of intervals
_VERSION = 2  # of the features and the trees: goes up when the same texts would get another number
_MOST = 6_000  # sentences looked at: more change little but the time
_LEAST = 4 * FOLDS
_TREES = {"max_iter": 120, "max_depth": 4, "learning_rate": 0.08, "max_bins": 32, "l2_regularization": 1.0}


class Judge:
    """Holds the features of some clean texts and of what people made of them, to judge one simulation or several."""

    def __init__(self, clean: Sequence[str], people: Sequence[Sequence[str]], seed: int = 0) -> None:
        if find_spec("sklearn") is None:
            raise MissingExtra("The judge of `unfazed realism`", "sklearn")
        self._stream = Seeds(seed, "measure/realism", _VERSION)
        rows = range(len(clean))
        kept = sorted(self._stream.stream("rows", 0).sample(rows, _MOST)) if len(clean) > _MOST else list(rows)
        self._kept = kept
        self._clean = [clean[i] for i in kept]
        if len(set(self._clean)) < _LEAST:
            raise UsageError(
                f"The judge needs at least {_LEAST} different sentences. There are {len(set(self._clean))}."
            )
        self._people = [self._features(texts) for texts in people]
        self._texts = content_id("\n".join([*self._clean, *(t for texts in people for t in texts)]))
        self._seed = seed

    def _features(self, texts: Sequence[str]) -> Floats:
        return features(self._clean, [texts[i] for i in self._kept])

    def against_people(self, simulated: Sequence[Sequence[str]]) -> Estimate:
        """How well simulated texts are told from everyone's: 0.5 is not at all, 1 is always."""
        made = content_id("\n".join(t for texts in simulated for t in texts))
        return self._tell(self._people, [self._features(texts) for texts in simulated], made)

    def one_person(self, k: int) -> Estimate:
        """How well one person is told from the others: what a perfect simulation of one person would get."""
        others = [rows for i, rows in enumerate(self._people) if i != k]
        return self._tell(others, [self._people[k]], f"person{k + 1}")

    def _tell(self, zeros: list[Floats], ones: list[Floats], what: str) -> Estimate:
        rows = np.concatenate([*zeros, *ones])
        n = len(self._clean)
        labels = np.repeat([0.0, 1.0], [n * len(zeros), n * len(ones)])
        number = {text: i for i, text in enumerate(dict.fromkeys(self._clean))}
        groups = np.tile([number[text] for text in self._clean], len(zeros) + len(ones))
        rng = self._stream.stream("folds", 0).numpy()
        scores = _cross_validated(rows, labels, rng.permutation(np.arange(len(number)) % FOLDS)[groups])
        drawn = _resampled(scores, labels, groups, rng)
        auc = _auc(scores, labels)
        low, high = interval(auc, drawn, len(number), (0.0, 1.0), _LEVEL)
        texts = {"texts": self._texts, "against": what, "features": digest(rows, labels)}
        how = {"folds": FOLDS, "level": _LEVEL, "bootstrap": RESAMPLES, "seed": self._seed}
        signature = sign({"measure": f"realism.auc:{_VERSION}", **texts, **how})
        return Estimate(auc, low, high, len(number), 0, signature)


def _cross_validated(rows: Floats, labels: Floats, fold: npt.NDArray[np.int64]) -> Floats:
    """Log odds of each row, from trees that saw no row of its sentence."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    scores = np.zeros(len(rows))
    with threadpool_limits(1, user_api="openmp"):  # small trees: threads would only wait for each other
        for k in range(FOLDS):
            inside = fold == k
            trees = HistGradientBoostingClassifier(**_TREES, early_stopping=False, random_state=0)
            scores[inside] = trees.fit(rows[~inside], labels[~inside]).decision_function(rows[inside])
    return scores


def _resampled(scores: Floats, labels: Floats, groups: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """AUCs of resampled sentences."""
    count = int(groups.max()) + 1
    drawn = (np.bincount(rng.integers(0, count, count), minlength=count) for _ in range(RESAMPLES))
    return np.array([_auc(scores, labels, times.astype(np.float64)[groups]) for times in drawn])


def _auc(scores: Floats, labels: Floats, weights: Floats | None = None) -> float:
    """The chance that a row of the second class scores above one of the first; ties count half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels, scores, sample_weight=weights))
