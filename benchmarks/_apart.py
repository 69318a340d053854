"""A judge of its own, beside that of `unswayed realism`: can words and edits tell what people said from what we made?

Logistic regression reads the words that came and went, up to three in a row, as they are written. Boosted trees see
its score and a few counts. Both are tested on groups, such as articles, that they have not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np

FOLDS = 5
RESAMPLES = 300
_TOKEN = re.compile(r"[\w'$%\-]+|[^\w\s]")


class Pair(NamedTuple):
    """A text, what became of it, and the group that is tested together."""

    clean: str
    said: str
    group: str


class Auc(NamedTuple):
    """0.5 where the judge can't tell, 1 where it always can; with a 95% interval over groups."""

    value: float
    low: float
    high: float


def told_apart(people: Sequence[Pair], made: Sequence[Pair], seed: int = 0) -> Auc:
    """How well the two are told apart."""
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits

    pairs = [*people, *made]
    seen = [_seen(pair.clean, pair.said) for pair in pairs]
    labels = np.repeat([0, 1], [len(people), len(made)])
    names = {group: i for i, group in enumerate(dict.fromkeys(pair.group for pair in pairs))}
    groups = np.array([names[pair.group] for pair in pairs])
    with threadpool_limits(1):
        scores = _scores([words for words, _ in seen], np.array([row for _, row in seen], float), labels, groups)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))[groups]
        drawn.append(roc_auc_score(labels, scores, sample_weight=times))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Auc(float(roc_auc_score(labels, scores)), float(low), float(high))


def _seen(clean: str, said: str) -> tuple[list[str], list[float]]:
    """The words that came and went, marked as such, and counts."""
    before, after = _TOKEN.findall(clean), _TOKEN.findall(said)
    small = [token.lower() for token in before], [token.lower() for token in after]
    match = SequenceMatcher(None, *small, autojunk=False)
    edits = [edit for edit in match.get_opcodes() if edit[0] != "equal"]
    words: list[str] = []
    for kind, a, b, c, d in edits:
        follows = small[1][d] if d < len(after) else ""
        words += [f"[{kind}", *(f"+{t}" for t in after[c:d]), *(f"-{t}" for t in small[0][a:b]), f"]{follows}"]
    came = [token for _, _, _, c, d in edits for token in after[c:d]]
    counts = [
        *(sum(edit[0] == kind for edit in edits) for kind in ("insert", "delete", "replace")),
        len(came), sum(b - a for _, a, b, _, _ in edits),
        (edits[0][3] + 1) / (len(after) + 1) if edits else -1, (edits[-1][4] + 1) / (len(after) + 1) if edits else -1,
        len(before), len(after), len(after) / (len(before) + 1), len(said) / (len(clean) + 1), match.ratio(),
        sum(t[0].isupper() for t in came), sum(t[0].isdigit() for t in came), sum(t.lower() in small[0] for t in came),
        sum(map(len, came)) / (len(came) + 1), said.count(",") - clean.count(","),
        float(said[:1].isupper()), float(said[-1:] == clean[-1:]), float(small[0][:1] == small[1][:1]),
        float(small[0][-3:] == small[1][-3:]), len(set(small[0]) & set(small[1])) / (len({*small[0], *small[1]}) + 1),
    ]  # fmt: skip
    return words, counts


def _runs(words: list[str]) -> list[str]:
    return [" ".join(words[i : i + n]) for n in (1, 2, 3) for i in range(len(words) - n + 1)]


def _scores(words: list[list[str]], counts: Any, labels: Any, groups: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold

    scores = np.zeros(len(labels))
    for train, test in GroupKFold(FOLDS).split(counts, labels, groups):
        bag = CountVectorizer(analyzer=_runs, min_df=3, binary=True)
        known, new = bag.fit_transform([words[i] for i in train]), bag.transform([words[i] for i in test])
        inside = np.zeros(len(train))
        for a, b in GroupKFold(3).split(train, labels[train], groups[train]):
            inside[b] = _reader(known[a], labels[train][a]).decision_function(known[b])
        outside = _reader(known, labels[train]).decision_function(new)
        trees = HistGradientBoostingClassifier(max_iter=120, max_depth=4, learning_rate=0.08, random_state=0)
        trees.fit(np.c_[counts[train], inside], labels[train])
        scores[test] = trees.decision_function(np.c_[counts[test], outside])
    return scores


def _reader(rows: Any, labels: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=0.3, max_iter=500).fit(rows, labels)
