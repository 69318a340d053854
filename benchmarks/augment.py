"""Augmenting ATIS's training utterances: unswayed's strategies beside nlpaug's, whose copies NATURE's paper trains on.

The sixth of the paper's strategies, words in context, is the language model's cost on both sides and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._measure import Row, show
from benchmarks.operators import Family, compare, utterances

FAMILIES = [
    Family(f"augmentation by {name}", [f"augment {name}"], [f"nlpaug {peer}"])
    for name, peer in (
        ("keyboard", "KeyboardAug"),
        ("misspelling", "SpellingAug"),
        ("synonym", "SynonymAug"),
        ("antonym", "AntonymAug"),
        ("tfidf", "TfIdfAug"),
    )
]


def rows() -> Iterator[Row]:
    texts = utterances()
    for family in FAMILIES:
        yield from compare(family, texts)


def main() -> None:
    show("augment", rows())


if __name__ == "__main__":
    main()
