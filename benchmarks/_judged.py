"""Judges of typing beside the package's own: logistic regression on letters that came and went, and on plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MaxAbsScaler

FOLDS, RESAMPLES = 5, 200
Auc = tuple[float, float, float]  # with its 95% interval


def edits(clean: str, typed: str) -> Counter[str]:
    """Which letters, pairs and triples came and went, and each edit with its neighbours."""
    found: Counter[str] = Counter()
    for n in (1, 2, 3):
        before, after = (Counter(t[i : i + n] for i in range(len(t) - n + 1)) for t in (clean, typed))
        found.update({f"+{gram}": count for gram, count in (after - before).items()})
        found.update({f"-{gram}": count for gram, count in (before - after).items()})
    for tag, i, j, k, m in SequenceMatcher(None, clean, typed, autojunk=False).get_opcodes():
        if tag != "equal":
            found.update(["edits", f"{min(j - i, 4)}→{min(m - k, 4)}", f"{clean[i:j][:3]}→{typed[k:m][:3]}".lower()])
            found[f"{clean[max(i - 1, 0) : i]}|{typed[k:m][:3]}|{clean[j : j + 1]}"] += 1
    found["same"] = int(clean == typed)
    return found


def by_edits(clean: Sequence[str], human: Sequence[str], made: Sequence[str]) -> Auc:
    """A judge that sees what changed."""
    rows = [edits(a, b) for a, b in (*zip(clean, human, strict=True), *zip(clean, made, strict=True))]
    table = MaxAbsScaler().fit_transform(DictVectorizer().fit_transform(rows)).tocsr()
    return _told(table, clean, 0.3)


def by_text(clean: Sequence[str], human: Sequence[str], made: Sequence[str]) -> Auc:
    """A judge that sees what was typed and not what was meant: letters up to four together."""
    grams = TfidfVectorizer(analyzer="char", ngram_range=(1, 4), lowercase=False, min_df=2, sublinear_tf=True)
    return _told(grams.fit_transform([*human, *made]), clean, 3.0)


def _told(table: Any, clean: Sequence[str], strength: float) -> Auc:
    """Cross-validated by sentence; the interval resamples sentences."""
    labels = np.repeat([0, 1], len(clean))
    number = {text: i for i, text in enumerate(dict.fromkeys(clean))}
    groups = np.tile([number[text] for text in clean], 2)
    rng = np.random.default_rng(0)
    fold = rng.permutation(np.arange(len(number)) % FOLDS)[groups]
    scores = np.zeros(len(labels))
    for k in range(FOLDS):
        model = LogisticRegression(C=strength, max_iter=300).fit(table[fold != k], labels[fold != k])
        scores[fold == k] = model.decision_function(table[fold == k])
    drawn = [
        roc_auc_score(labels, scores, sample_weight=np.bincount(sample, minlength=len(number)).astype(float)[groups])
        for sample in (rng.integers(0, len(number), len(number)) for _ in range(RESAMPLES))
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(roc_auc_score(labels, scores)), float(low), float(high)
