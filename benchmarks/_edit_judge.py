"""A second judge, which shares nothing with the one of `unswayed realism`: logistic regression on hashed edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rapidfuzz.distance.Levenshtein import opcodes

FOLDS = 5


def told(clean: Sequence[str], people: Sequence[Sequence[str]], made: Sequence[Sequence[str]]) -> float:
    """AUC on sentences that it has not seen, with as many texts of people as of the simulation."""
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    count = min(len(people), len(made))
    pairs = [(a, b) for texts in (*people[:count], *made[:count]) for a, b in zip(clean, texts, strict=True)]
    rows = FeatureHasher(1 << 14, input_type="string").transform(
        list(map(list, map(_tokens, *zip(*pairs, strict=True))))
    )
    rows.data = np.sign(rows.data) * np.log1p(np.abs(rows.data))
    labels = np.repeat([0, 1], len(clean) * count)
    fold = np.tile(np.arange(len(clean)) * FOLDS // len(clean), 2 * count)  # sentences of one text stay together
    scores = np.zeros(len(labels))
    for k in range(FOLDS):
        model = LogisticRegression(C=0.1, max_iter=300).fit(rows[fold != k], labels[fold != k])
        scores[fold == k] = model.decision_function(rows[fold == k])
    return float(roc_auc_score(labels, scores))


def _tokens(clean: str, noisy: str) -> Iterator[str]:
    """Every edit at several grains: what became what, how long, where, and beside what."""
    size = max(1, len(clean))
    edits = [code for code in opcodes(clean, noisy) if code.tag != "equal"]
    yield f"edits {min(9, len(edits))}"
    yield f"rate {min(9, 20 * len(edits) // size)}"
    yield f"growth {max(-5, min(5, len(noisy) - len(clean)))}"
    yield f"last {clean[-1:]}>{noisy[-1:]}"
    for edit in edits:
        old, new = clean[edit.src_start : edit.src_end], noisy[edit.dest_start : edit.dest_end]
        yield f"size {len(old)}>{len(new)}"
        yield f"place {edit.tag} {5 * edit.src_start // size}"
        yield f"{_sort(old)}>{_sort(new)}"
        yield from (f"old {c}" for c in old)
        yield from (f"new {c}" for c in new)
        if len(old) <= 2 >= len(new):
            yield f"{old}>{new}"


def _sort(text: str) -> str:
    """The sorts of characters of a text: Chinese, letters, digits, marks."""
    sorts = ("h" if "\u4e00" <= c <= "\u9fff" else "d" if c.isdigit() else "a" if c.isalpha() else "m" for c in text)
    return "".join(dict.fromkeys(sorts))
