"""Does simulated noise do the same harm as people's? Accuracy and flips of systems under both, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from unswayed.base.seeds import Seeds
from unswayed.base.values import Estimate, Inputs
from unswayed.lab.realism.aligned import Aligned
from unswayed.lab.realism.languages import Script
from unswayed.stats import Array, mean_interval, numbers_of
from unswayed.systems.system import Failed, System

_LEVEL = 0.95
_FOLDS = 5
_LEAST = 2 * _FOLDS  # examples of a label, below which no classifier is trained
_FAILED = "\0failed"

Ask = Callable[[Sequence[Inputs]], list[str]]


class Files(NamedTuple):
    """Clean rows, each person's, and each draw's; they align."""

    clean: Aligned
    people: Sequence[Aligned]
    simulated: Sequence[Aligned]


def asking(system: str | System) -> Ask:
    """The answers of a system, by name or opened."""
    from unswayed.systems.opening import open_system

    opened = open_system(system)

    def ask(rows: Sequence[Inputs]) -> list[str]:
        answers: list[str] = []
        for at in range(0, len(rows), opened.batch_size):
            batch = opened.predict(rows[at : at + opened.batch_size])
            answers += [_FAILED if isinstance(answer, Failed) else str(answer) for answer in batch]
        return answers

    return ask


def harm(ask: Ask, files: Files, by: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """A row for all examples and one for each label: accuracy and flips in per cent, under both kinds of noise.

    `by` names the person or article of each row, over which intervals then are.
    """
    clean = files.clean
    before = ask(clean.rows)
    human, made = [ask(one.rows) for one in files.people], [ask(one.rows) for one in files.simulated]
    gold = [str(g) for g in clean.gold]
    labels = sorted({str(g) for g in clean.gold if g is not None})
    rows = []
    for label in (None, *labels) if 1 < len(labels) <= _LEAST else (None,):
        places = np.array([i for i, g in enumerate(gold) if label is None or g == label])
        units = None if by is None else np.unique([by[i] for i in places], return_inverse=True)[1]
        row: dict[str, Any] = {"label": label or "all", "n": len(places)}
        if labels:
            right = [_share(answers, gold)[places] for answers in ([before], human, made)]
            row["accuracy"] = {"clean": _estimate(right[0], units), **_both(right[1], right[2], units)}
        flips = [1 - _share(answers, before)[places] for answers in (human, made)]
        row["flips"] = _both(flips[0], flips[1], units)
        rows.append(row)
    return rows


def _share(answers: Sequence[Sequence[str]], wanted: Sequence[str]) -> Array:
    """Of each row, the share of people or draws whose answer is the wanted one."""
    same: Array = np.mean([[a == w for a, w in zip(given, wanted, strict=True)] for given in answers], axis=0)
    return same


def _both(human: Array, made: Array, units: Any) -> dict[str, Estimate]:
    return {
        "human": _estimate(human, units),
        "simulated": _estimate(made, units),
        "difference": _estimate(made - human, units, (-1.0, 1.0)),
    }


def _estimate(values: Array, units: Any, span: tuple[float, float] = (0.0, 1.0)) -> Estimate:
    """The mean in per cent, with its interval over rows, or over people or articles."""
    low, high = mean_interval(numbers_of(values, clusters=units), span, _LEVEL, "share" if span[0] == 0 else "contrast")
    ends = [None if end is None else 100 * end for end in (low, high)]
    return Estimate(100 * float(values.mean()), ends[0], ends[1], len(values), 0, "")


def built_in(files: Files, script: Script, documents: Sequence[str] | None, seed: int) -> dict[str, tuple[Ask, Files]]:
    """What needs no system: a classifier where rows have labels, else a retriever; and the files with their gold.

    The retriever looks for the document of each row or, without documents, for the clean text of the row itself.
    """
    labels = Counter(str(g) for g in files.clean.gold if g is not None)
    if documents is None and len(labels) > 1 and min(labels.values()) >= _LEAST:
        return {"classifier": (_classifier(files.clean, script, seed), files)}
    texts = [_joined(row) for row in files.clean.rows] if documents is None else documents
    places = {text: str(k) for k, text in enumerate(dict.fromkeys(texts))}
    gold = [places[text] for text in texts]
    clean = Aligned(files.clean.rows, gold, files.clean.ids)
    return {"retriever": (_retriever(list(places), script), files._replace(clean=clean))}


def _joined(row: Inputs) -> str:
    return " ".join(row.values())


def _retriever(documents: Sequence[str], script: Script) -> Ask:
    """The number of the document that shares the rarest words with a text, by TF-IDF."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    han = script.name == "han"
    by = {"analyzer": "char", "ngram_range": (1, 2)} if han else {"token_pattern": r"(?u)\b\w+\b"}
    vectors = TfidfVectorizer(sublinear_tf=True, **by)
    known = vectors.fit_transform(documents)

    def ask(rows: Sequence[Inputs]) -> list[str]:
        alike = vectors.transform([_joined(row) for row in rows]) @ known.T
        return [str(k) for k in np.asarray(alike.argmax(axis=1)).ravel()]

    return ask


def _classifier(clean: Aligned, script: Script, seed: int) -> Ask:
    """Logistic regression on stretches of letters, which answers a row from what it learnt of other clean rows."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    numbers: dict[str, int] = {}
    group = np.array([numbers.setdefault(_joined(row), len(numbers)) for row in clean.rows])
    rng = Seeds(seed, "measure/realism", 1).stream("classifier", 0).numpy()
    fold = rng.permutation(np.arange(len(numbers)) % _FOLDS)[group]
    by = (
        {"analyzer": "char", "ngram_range": (1, 2)}
        if script.name == "han"
        else {"analyzer": "char_wb", "ngram_range": (2, 4)}
    )
    texts, gold = [_joined(row) for row in clean.rows], [str(g) for g in clean.gold]
    models = []
    for k in range(_FOLDS):
        learnt = np.flatnonzero(fold != k)
        vectors = TfidfVectorizer(sublinear_tf=True, **by).fit([texts[i] for i in learnt])
        model = LogisticRegression(C=10.0, max_iter=300)
        models.append((vectors, model.fit(vectors.transform([texts[i] for i in learnt]), [gold[i] for i in learnt])))

    def ask(rows: Sequence[Inputs]) -> list[str]:
        answers = np.empty(len(rows), dtype=object)
        for k, (vectors, model) in enumerate(models):
            own = np.flatnonzero(fold == k).tolist()
            answers[own] = model.predict(vectors.transform([_joined(rows[i]) for i in own])) if len(own) else []
        return [str(answer) for answer in answers]

    return ask
