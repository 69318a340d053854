"""A blank pipeline that has seen a handful of sentences, for the contract tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SAID: list[tuple[str, str, tuple[int, int, str]]] = [
    ("play some loud jazz", "music", (15, 19, "genre")),
    ("play rock on monday", "music", (5, 9, "genre")),
    ("will it rain on monday", "weather", (16, 22, "day")),
    ("does it rain on friday", "weather", (16, 22, "day")),
]


def save_tiny(folder: Path, components: tuple[str, ...] = ("textcat", "ner"), steps: int = 25) -> None:
    """Trains a categorizer and a recognizer on a few sentences and saves them as one pipeline."""
    import random

    import numpy as np
    import spacy
    import thinc.api
    from spacy.training import Example

    nlp = spacy.blank("en")
    for component in components:
        nlp.add_pipe(component, config=_SMALL[component])
    examples = [Example.from_dict(nlp.make_doc(text), _gold(label, span)) for text, label, span in SAID]
    kept = random.getstate(), np.random.get_state()  # spaCy draws from the global streams
    try:
        thinc.api.fix_random_seed(0)
        optimizer = nlp.initialize(lambda: examples)
        optimizer.learn_rate = 0.02
        for _ in range(steps):
            nlp.update(examples, sgd=optimizer, drop=0.0)
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
    nlp.to_disk(folder)


def _gold(label: str, span: tuple[int, int, str]) -> dict[str, Any]:
    return {"cats": {name: float(name == label) for _, name, _ in SAID}, "entities": [span]}


_TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 1,
    "embed_size": 200,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
_SMALL: dict[str, dict[str, Any]] = {
    "textcat": {
        "model": {
            "@architectures": "spacy.TextCatBOW.v3",
            "exclusive_classes": True,
            "ngram_size": 1,
            "no_output_layer": False,
            "length": 262,
        }
    },
    "ner": {
        "model": {
            "@architectures": "spacy.TransitionBasedParser.v2",
            "state_type": "ner",
            "extra_state_tokens": False,
            "hidden_width": 16,
            "maxout_pieces": 1,
            "use_upper": True,
            "nO": None,
            "tok2vec": _TOK2VEC,
        }
    },
}
