"""An independent judge of English transcripts, by edits and n-grams with boosted trees, and a retriever to harm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from math import log

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

from unswayed.vary.spoken._speako import ears, sound_of

Floats = npt.NDArray[np.float64]
Auc = tuple[float, float, float]  # with its 95% interval
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_RANKS = {word.spelling: rank for rank, word in enumerate(ears().spoken())}
_SOUNDS = {word.spelling: word.sounds[0] for word in ears().spoken()}
_UNKNOWN = 60_000
_COMMON = 150
_FOLDS = 5
_RESAMPLES = 300


def features(clean: Sequence[str], heard: Sequence[str]) -> Floats:
    """A row of edit features for each pair of texts."""
    return np.array([_row(a.replace("’", "'"), b.replace("’", "'")) for a, b in zip(clean, heard, strict=True)])


def _row(before: str, after: str) -> list[float]:
    said, heard = _WORD.findall(before), _WORD.findall(after)
    a, b = [w.lower() for w in said], [w.lower() for w in heard]
    spans = [
        (a[i:j], b[k:m])
        for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    old, new = [w for o, _ in spans for w in o], [w for _, n in spans for w in n]
    apart = [_apart(o, n) for o, n in spans if o and n]
    size = max(1, len(a))
    return [
        Levenshtein.distance(a, b) / size,
        Levenshtein.distance(" ".join(a), " ".join(b)) / max(1, len(before)),
        len(spans), len(b) / size, size, len(after) / max(1, len(before)),
        max((len(o) for o, _ in spans), default=0), max((len(n) for _, n in spans), default=0),
        sum(len(o) == len(n) == 1 for o, n in spans), sum(not n for _, n in spans), sum(not o for o, _ in spans),
        sum(len(o) == 1 < len(n) for o, n in spans), sum(len(n) == 1 < len(o) for o, n in spans),
        _mean(map(_rarity, old)), _mean(map(_rarity, new)), max(map(_rarity, new), default=-1),
        max(map(_rarity, old), default=-1), _mean(len(w) for w in old), _mean(len(w) for w in new),
        _mean(_RANKS.get(w, _UNKNOWN) < _COMMON for w in old), _mean(_RANKS.get(w, _UNKNOWN) < _COMMON for w in new),
        _mean(apart), max(apart, default=-1), min(apart, default=-1),
        sum(o[0][:3] == n[0][:3] for o, n in spans if o and n), float(a[:1] != b[:1]), float(a[-1:] != b[-1:]),
        sum(w not in _RANKS for w in new), sum(w[0].isupper() for w in heard), sum(w[0].isupper() for w in said),
        sum(w[0].isupper() and w.lower() in new for w in heard), sum(c.isdigit() for c in after),
        sum(c.isdigit() for c in before), sum(not c.isalnum() and c not in " '" for c in after), after.count("'"),
        float(after[:1].isupper()), float(after[-1:].isalnum()),
    ]  # fmt: skip


def _apart(old: list[str], new: list[str]) -> float:
    one, two = ("".join([_SOUNDS.get(w) or sound_of(w) for w in words]) for words in (old, new))
    return Levenshtein.normalized_distance(one, two)


def _rarity(word: str) -> float:
    return log(1 + _RANKS.get(word, _UNKNOWN))


def _mean(values: object) -> float:
    listed = list(values)  # type: ignore[call-overload]
    return sum(listed) / len(listed) if listed else -1.0


def grams(texts: Sequence[str], dimensions: int = 16) -> Floats:
    """Words, pairs of words and letters of the texts, as a few numbers each."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_union

    vectors = make_union(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2), TfidfVectorizer(analyzer="char", ngram_range=(2, 3), min_df=3)
    )
    return np.asarray(TruncatedSVD(dimensions, random_state=0).fit_transform(vectors.fit_transform(texts)))


def told(rows: Floats, labels: Floats, groups: npt.NDArray[np.int64]) -> Auc:
    """AUC and its 95% interval; no tree has seen a row of the group that it scores."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    count = int(groups.max()) + 1
    fold = rng.permutation(np.arange(count) % _FOLDS)[groups]
    scores = np.zeros(len(rows))
    for k in range(_FOLDS):
        trees = HistGradientBoostingClassifier(max_iter=120, max_depth=4, learning_rate=0.06, random_state=0)
        scores[fold == k] = trees.fit(rows[fold != k], labels[fold != k]).decision_function(rows[fold == k])
    drawn = []
    for _ in range(_RESAMPLES):
        times = np.bincount(rng.integers(0, count, count), minlength=count)[groups]
        drawn.append(roc_auc_score(labels, scores, sample_weight=times))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(roc_auc_score(labels, scores)), float(low), float(high)


def simulated_from_people(clean: Sequence[str], people: Sequence[str], draws: Sequence[Sequence[str]]) -> Auc:
    """How well simulated transcripts are told from people's, of the same sentences."""
    n = len(clean)
    texts = [*people, *(text for draw in draws for text in draw)]
    rows = np.hstack([np.vstack([features(clean, some) for some in (people, *draws)]), grams(texts)])
    return told(rows, np.repeat([0.0, 1.0], [n, n * len(draws)]), np.tile(np.arange(n), 1 + len(draws)))


def people_from_people(clean: Sequence[str], people: Sequence[str], other: Sequence[bool]) -> Auc:
    """How well one half of people, or articles, is told from the other by the same features, without n-grams."""
    return told(features(clean, people), np.array(other, dtype=np.float64), np.arange(len(clean)))


def found(questions: Sequence[str], contexts: Sequence[str], own: Sequence[str]) -> float:
    """The share of questions for which TF-IDF finds the right paragraph first, in per cent."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    listed = sorted(set(contexts))
    vectors = TfidfVectorizer(sublinear_tf=True).fit(listed)
    best = (vectors.transform(questions) @ vectors.transform(listed).T).toarray().argmax(1)
    return 100 * float(np.mean([listed[k] == context for k, context in zip(best, own, strict=True)]))
