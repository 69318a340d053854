"""A small system of every registered kind, for the contract tests, and the inputs that each can be asked.

A new system needs an entry in `SAMPLES`, or the contract tests fail.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Inputs
from unswayed.systems import Intent, System, open_system, systems as registered

SMALL = {"epochs": 8, "lr": 0.02, "words": 8, "letters": 4, "filters": 8, "hidden": 8, "min_count": 1}


class Sample(NamedTuple):
    """How to make a small system, and what it is asked to see what it does with a text."""

    make: Callable[[], System]
    inputs: Callable[[str], Inputs] = lambda text: {"text": text}


def folder() -> Path:
    """A folder that goes with the process."""
    made = Path(tempfile.mkdtemp(prefix="unswayed-sample-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def cls(name: str) -> Any:
    return registered.get(name)


def intent() -> Intent:
    """Trained on four utterances with slots."""
    from samples.utterances import sample_examples

    return Intent.train(sample_examples(), "slu")


def _hf(kind: str, **options: Any) -> System:
    from samples.hf import sample_folder

    return cls(kind)(sample_folder(kind), **options)


def _onnx(kind: str) -> System:
    from samples.graphs import sample_folder

    return cls(kind)(sample_folder(kind))


def _spacy() -> System:
    from samples.pipelines import save_tiny

    place = folder()
    save_tiny(place)
    return cls("spacy/pipeline")(place)


def _skops() -> System:
    import skops.io
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    file = folder() / "model.skops"
    said, labels = ["play some jazz", "will it rain on monday"], ["music", "weather"]
    skops.io.dump(make_pipeline(CountVectorizer(), MultinomialNB()).fit(said, labels), file)
    return cls("sklearn/skops")(file)


def slu(name: str) -> System:
    """Trained for a moment on four sentences, with a network as small as they come."""
    from samples.utterances import sample_examples, tiny

    with tiny(cls(name).needs_encoder) as encoder:
        examples = sample_examples()
        return cls(name).train(examples, examples, encoder=encoder, **SMALL)


def _nli(name: str) -> System:
    """Trained for a moment on pairs of four texts, over vectors that are made on the spot."""
    said = ["play some jazz", "play loud rock", "will it rain", "rain on monday"]
    pairs = [(said[i], said[j], str(i // 2 == j // 2)) for i in range(4) for j in range(4)]
    examples = [Example(n, str(n), {"text": p, "other": h}, label) for n, (p, h, label) in enumerate(pairs)]
    stream = Seeds(0, "sample", 1).stream("", 0)
    words = dict.fromkeys(word for text in said for word in text.split())
    file = folder() / "vectors.txt"
    file.write_text("".join(f"{w} {' '.join(f'{stream.random():.3f}' for _ in range(8))}\n" for w in words))
    return cls(name).train(examples, examples, vectors=file, epochs=4, hidden=8, layers=1)


def nli() -> Any:
    pairs = [
        ("play some loud jazz in the kitchen", "play some jazz", "entailed"),
        ("it will rain on monday and tuesday", "it will rain on monday", "entailed"),
        ("play some loud jazz in the kitchen", "do not play jazz", "not_entailed"),
        ("it will rain on monday and tuesday", "the sun shines", "not_entailed"),
    ]
    examples = [Example(i, str(i), {"text": p, "other": h}, gold) for i, (p, h, gold) in enumerate(pairs)]
    return cls("baselines/nli").train(examples)


def pair() -> Any:
    same = [("play some jazz", "play jazz"), ("is it raining", "does it rain"), ("stop it", "stop that")]
    other = [("play some jazz", "stop it"), ("is it raining", "play jazz"), ("stop that", "does it rain")]
    pairs = [(pair, "same") for pair in same] + [(pair, "other") for pair in other]
    inputs = [({"text": a, "other": b}, label) for (a, b), label in pairs]
    return cls("baselines/pair").train(Example(i, str(i), texts, label) for i, (texts, label) in enumerate(inputs))


def reader() -> Any:
    context = "The band plays loud jazz. It rains on monday, and the sun shines on sunday."
    asked = {"When does it rain?": "monday", "What does the band play?": "loud jazz"}
    golds = [{"answers": [{"text": text, "start": context.index(text)}]} for text in asked.values()]
    inputs = [{"question": question, "context": context} for question in asked]
    return cls("baselines/reader").train(Example(i, str(i), inputs[i], golds[i]) for i in range(len(inputs)))


def _paired(text: str) -> Inputs:
    return {"text": text, "other": "play some jazz"}


def _read(text: str) -> Inputs:
    return {"question": "when does it rain ?", "context": text}


def _judged(text: str) -> Inputs:
    """Metrics compare every word with every other, so the longest texts are cut."""
    return {"candidate": text[:20_000], "reference": "play some jazz"}


SAMPLES: dict[str, Sample] = {
    "baselines/intent": Sample(intent),
    "baselines/nli": Sample(nli, _paired),
    "baselines/pair": Sample(pair, _paired),
    "baselines/reader": Sample(reader, lambda text: {"question": "When does it rain?", "context": text}),
    "mitigate/correct": Sample(lambda: cls("mitigate/correct")(intent())),
    "mitigate/fold": Sample(lambda: cls("mitigate/fold")(intent())),
    "mitigate/noisy_channel": Sample(lambda: cls("mitigate/noisy_channel")()),
    "sklearn/skops": Sample(_skops),
    "spacy/pipeline": Sample(_spacy),
    "hf/read": Sample(lambda: _hf("hf/read"), _read),
    "onnx/read": Sample(lambda: _onnx("onnx/read"), _read),
}
SAMPLES |= {kind: Sample(lambda kind=kind: _hf(kind)) for kind in ("hf/classify", "hf/tag")}
SAMPLES |= {kind: Sample(lambda kind=kind: _hf(kind, max_new_tokens=8)) for kind in ("hf/seq2seq", "hf/causal")}
SAMPLES |= {kind: Sample(lambda kind=kind: _onnx(kind)) for kind in ("onnx/classify", "onnx/tag")}
SAMPLES |= {f"slu/{n}": Sample(lambda n=n: slu(f"slu/{n}")) for n in ("bilstm", "birnn", "jointbert", "stackprop")}
SAMPLES |= {f"nli/{n}": Sample(lambda n=n: _nli(f"nli/{n}"), _paired) for n in ("bilstm", "bow")}
# Metrics that need weights or an environment are tested beside their papers.
SAMPLES |= {name: Sample(lambda name=name: open_system(name), _judged) for name in ("bleu", "chrf", "yisi1")}
WITH_WEIGHTS = {"bertscore", "bleurt", "comet", "nano", "prism"}
