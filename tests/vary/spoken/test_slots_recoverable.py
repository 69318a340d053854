"""On real utterances, every gold slot can be read off every variant of every operator on speech."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from unswayed.base.edits import slots_of
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.data import read_examples
from unswayed.vary import operators
from unswayed.vary.engine import Variation, vary

CORPORA = Path(__file__).parents[3] / "../shared/data/slu"
NAMES = [name for name in operators.names() if name.startswith("spoken/")]
FEWEST = {
    "filler": 1.0,
    "disfluency": 1.0,
    "speako": 0.9,
    "synonym_ad": 0.45,  # few words of these classes, and nouns are mostly parts of compounds
    "synonym_any": 0.5,  # leaves a text as it is if no word surely fits
    "synonym": 0.6,
}  # share of utterances that each must be able to vary


@cache
def examples(corpus: str) -> list[Example]:
    return list(read_examples(CORPORA / corpus / "test"))


@pytest.mark.skipif(not CORPORA.exists(), reason="needs the corpora in ../shared/data/slu")
@pytest.mark.parametrize("corpus", ["atis", "snips"])
@pytest.mark.parametrize("name", NAMES)
def test_all_slots_are_there(name: str, corpus: str) -> None:
    originals = {example.id: example for example in examples(corpus)}
    variation = Variation(operators=(OperatorSpec(name),), task="slu", language="en", seed=7)
    count = 0
    for variant in vary(examples(corpus), variation):
        count += 1
        before = _slots(originals[variant.example_id].inputs["text"], originals[variant.example_id].gold["slots"])
        after = _slots(variant.inputs["text"], variant.gold["slots"])
        assert [kind for kind, _ in after] == [kind for kind, _ in before]
        differing = [(a, b) for (_, a), (_, b) in zip(before, after, strict=True) if a != b]
        if "filler" in name or "disfluency" in name:
            assert not differing
        else:
            assert len(differing) <= 1 or variant.note.count("→") == 1
            for old, new in differing:
                _one_word_replaced(old.split(" "), new.split(" "))
    least = next(share for key, share in FEWEST.items() if key in name)
    assert count >= least * len(originals)


def _slots(text: str, tags: list[str]) -> list[tuple[str, str]]:
    tokens = text.split(" ")
    assert len(tokens) == len(tags)
    assert all(tokens)
    return [(kind, " ".join(tokens[first:last])) for kind, first, last in slots_of(tags)]


def _one_word_replaced(old: list[str], new: list[str]) -> None:
    """But for one word, which may become several, and the article before it, both are the same."""
    start = next(i for i in range(len(old) + 1) if old[i : i + 1] != new[i : i + 1])
    end = next(i for i in range(len(old) + 1) if i == len(old) or old[-1 - i] != new[-1 - i : len(new) - i][0])
    middle = old[start : len(old) - end]
    assert len(middle) <= 1 or (len(middle) == 2 and middle[0] in ("a", "an")), (old, new)
