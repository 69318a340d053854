"""Measures one operator, or one peer, by itself: `python _operator_worker.py NAME` prints a line of JSON.

Runs under the peers' Python, too, so that it imports unfazed only for unfazed's operators.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unfazed.core.values import Example, Variant

CORPUS = Path(__file__).parents[1] / "../shared/data/slu/atis/test"
COUNT = 2_000
ROUNDS = 15
# What each peer is compared with.
PEERS = {
    "nlpaug keyboard": "keyboard",
    "typo": "keyboard",
    "textnoisr": "keyboard",
    "nlpaug WordNet synonym": "synonym",
    "insertion at random, no labels": "filler",
}
Slots = list[str]  # the values, as words


def slot_values(tokens: list[str], tags: list[str]) -> Slots:
    values: Slots = []
    last = "O"
    for token, tag in zip(tokens, tags, strict=True):
        if tag[:2] == "B-" or (tag != "O" and tag[2:] != last[2:]):
            values.append(token)
        elif tag != "O":
            values[-1] += " " + token
        last = tag
    return values


def read() -> tuple[list[str], list[Slots]]:
    texts = (CORPUS / "seq.in").read_text().splitlines()
    tags = (CORPUS / "seq.out").read_text().splitlines()
    texts = [" ".join(text.split()) for text in texts]
    return texts, [slot_values(text.split(), tag.split()) for text, tag in zip(texts, tags, strict=True)]


def peer(name: str) -> Callable[[str], str]:
    """A function from text to variant, as the peer's documentation shows it."""
    if name == "nlpaug keyboard":
        import nlpaug.augmenter.char as nac

        keyboard = nac.KeyboardAug()
        return lambda text: keyboard.augment(text)[0]
    if name == "nlpaug WordNet synonym":
        import nlpaug.augmenter.word as naw

        synonym = naw.SynonymAug(aug_src="wordnet")
        return lambda text: synonym.augment(text)[0]
    if name == "typo":
        import typo

        return lambda text: typo.StrErrer(text).nearby_char().result
    if name == "textnoisr":
        from textnoisr import noise

        augmenter = noise.CharNoiseAugmenter(noise_level=0.03, actions=["substitute"])
        return lambda text: augmenter.add_noise(text)
    if name == "insertion at random, no labels":
        import random

        words = ("like", "basically", "actually")

        def insert(text: str) -> str:
            tokens = text.split()
            tokens.insert(random.randrange(len(tokens)), random.choice(words))
            return " ".join(tokens)

        return insert
    raise SystemExit(f"no peer {name}")


def run_peer(name: str) -> dict[str, float]:
    texts, slots = read()
    began = time.perf_counter()
    change = peer(name)
    made = change(texts[0])
    start = time.perf_counter() - began
    texts, slots = (texts * 3)[:COUNT], (slots * 3)[:COUNT]
    speeds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        made = [change(text) for text in texts]
        speeds.append(COUNT / (time.process_time() - began))
    lost = sum(any(f" {value} " not in f" {new} " for value in values) for new, values in zip(made, slots, strict=True))
    return {"speed": max(speeds), "first": speeds[0], "start": start, "lost": lost / COUNT}


def run_ours(name: str) -> dict[str, float]:
    began = time.perf_counter()
    from unfazed.core.values import Example
    from unfazed.vary.engine import OperatorSpec, Variation, vary

    variation = Variation(operators=(OperatorSpec(name),), task="slu", language="en", seed=7)
    texts, _ = read()
    tags = [line.split() for line in (CORPUS / "seq.out").read_text().splitlines()]
    examples = [
        Example(i, str(i), {"text": text}, {"intent": "i", "slots": slots})
        for i, (text, slots) in enumerate(zip(texts, tags, strict=True))
    ]
    next(vary(examples[:1], variation), None)
    start = time.perf_counter() - began
    examples = (examples * 3)[:COUNT]
    speeds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        made = list(vary(examples, variation))
        speeds.append(len(made) / (time.process_time() - began))
    lost = sum(not kept(examples[v.row], v) for v in made) / len(made)
    return {"speed": max(speeds), "first": speeds[0], "start": start, "lost": lost}


def kept(example: Example, variant: Variant) -> bool:
    """Can every gold slot be read off the variant, its value the same but for words that were replaced in it?"""
    from unfazed.core.edits import slots_of

    old, new = example.gold["slots"], variant.gold["slots"]
    words, said = example.inputs["text"].split(" "), variant.inputs["text"].split(" ")
    before, after = slots_of(old), slots_of(new)
    if len(said) != len(new) or [slot[0] for slot in before] != [slot[0] for slot in after]:
        return False
    changed = [words[a:b] != said[c:d] for (_, a, b), (_, c, d) in zip(before, after, strict=True)]
    return sum(changed) <= 1


if __name__ == "__main__":
    found = run_peer(sys.argv[1]) if sys.argv[1] in PEERS else run_ours(sys.argv[1])
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))
