"""Reads the data beside this file for lm-evaluation-harness, and tells which answers are right as unswayed does.

It was copied here by `unswayed export` and holds nothing of the data.
"""

import json
from pathlib import Path

import datasets

_TEXT, _WHOLE = datasets.Value("string"), datasets.Value("int64")
_FEATURES = {"id": _WHOLE, "draw": _WHOLE, "target": _WHOLE, "targets": [_TEXT], "choices": [_TEXT], "labels": [_TEXT]}


def load(file, **_):
    """A task's data. Types are said and not guessed: a text that looks like a date stays a text."""
    with (Path(__file__).parent / file).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    features = datasets.Features({name: _FEATURES.get(name, _TEXT) for name in rows[0]})
    return {"test": datasets.Dataset.from_list(rows, features=features)}


def score_choice(doc, results):
    """The label with the greatest likelihood."""
    if doc["target"] < 0:
        return {}
    likelihoods = [result[0] for result in results]
    return {"acc": float(likelihoods.index(max(likelihoods)) == doc["target"])}


def score_match(doc, results):
    """One of the right answers, whatever its spaces and capitals."""
    if not doc["targets"]:
        return {}
    return {"exact_match": float(_normal(results[0]) in map(_normal, doc["targets"]))}


def score_bleu(doc, results):
    return {"bleu": (doc["targets"], results[0])} if doc["targets"] else {}


def score_none(doc, results):
    """There is no right answer; answers are logged, so that changes can be counted."""
    return {}


def bleu_13a(items):
    return _bleu(items, "13a")


def bleu_char(items):
    return _bleu(items, "char")


def bleu_zh(items):
    return _bleu(items, "zh")


def _bleu(items, tokenize):
    from sacrebleu.metrics import BLEU

    most = max(len(targets) for targets, _ in items)
    references = [[targets[i] if i < len(targets) else None for targets, _ in items] for i in range(most)]
    return BLEU(tokenize=tokenize).corpus_score([answer for _, answer in items], references).score


def _normal(text):
    return " ".join(text.split()).casefold()
