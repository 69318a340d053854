"""Augmenting ATIS's training utterances: unfazed beside nlpaug, in one run on the same 2,000 sentences.

nlpaug runs in an environment of its own, made in a passing folder. Its six strategies are those of NATURE's paper; the
sixth, words in context, is the language model's cost on both sides and is left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from unfazed.core.edits import slots_of
from unfazed.core.values import Example
from unfazed.data import read_examples, sample_path
from unfazed.mitigate.augment import augment
from unfazed.mitigate.strategies import strategies

ATIS = Path(__file__).resolve().parents[2] / "shared/data/slu/atis/train"
SENTENCES = 2000
NAMES = ("keyboard", "misspelling", "synonym", "antonym", "tfidf")


def data() -> list[Example]:
    path = ATIS if ATIS.is_dir() else sample_path("home_train")
    return list(read_examples(path))[:SENTENCES]


def ours(name: str, examples: list[Example]) -> tuple[float, list[Example]]:
    """CPU seconds, and for each example its copy, or itself where there is nothing to alter."""
    operators = strategies([name], lambda: examples)
    list(augment(examples[:1], operators))  # tables are loaded
    began = time.process_time()
    found = list(augment(examples, operators))
    seconds = time.process_time() - began
    copies = {e.id.rpartition("+")[0]: e for e in found if "augmented" in e.groups}
    return seconds, [copies.get(e.id, e) for e in examples]


def theirs(texts: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = str(Path(place) / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", "nlpaug==1.1.11", "nltk"]
        if subprocess.run(install, capture_output=True).returncode:
            return {}
        peer = Path(__file__).with_name("_nlpaug_peer.py")
        done = subprocess.run([python, str(peer)], input=json.dumps(texts), capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def values_found(example: Example, text: str) -> bool:
    """Is every slot value of the original still in the text, as whole words?"""
    words = example.inputs["text"].split(" ")
    padded = f" {text} "
    return all(f" {' '.join(words[a:b])} " in padded for _, a, b in slots_of(example.gold["slots"]))


def tags_fit(example: Example, text: str, tags: list[str]) -> bool:
    """Do the tags fit the text's tokens and spell the original's slots?"""
    kinds = [[kind for kind, _, _ in slots_of(t)] for t in (tags, example.gold["slots"])]
    return len(text.split(" ")) == len(tags) and kinds[0] == kinds[1]


def row(
    who: str, name: str, speed: float, ratio: str, examples: list[Example], copies: list[tuple[str, list[str]]]
) -> str:
    altered = [(e, text, tags) for e, (text, tags) in zip(examples, copies, strict=True) if text != e.inputs["text"]]
    share = len(altered) / len(examples)
    fit = sum(tags_fit(*item) for item in altered) / max(1, len(altered))
    kept = sum(values_found(e, text) for e, text, _ in altered) / max(1, len(altered))
    return f"| {name} | {who} | {speed:,.0f} | {ratio} | {share:.1%} | {fit:.1%} | {kept:.1%} |"


def main() -> None:
    examples = data()
    peers = theirs([e.inputs["text"] for e in examples])
    print("| strategy | by | sentences a CPU-second | ratio | altered | labels still fit | slot values untouched |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in NAMES:
        seconds, copies = ours(name, examples)
        peer = peers.get(name, {"error": "nlpaug could not be installed"})
        ratio = f"{peer['seconds'] / seconds:.1f}×" if "seconds" in peer else "–"
        own = [(e.inputs["text"], e.gold["slots"]) for e in copies]
        print(row("unfazed", name, len(examples) / seconds, ratio, examples, own), flush=True)
        if "error" in peer:
            print(f"| {name} | nlpaug | {peer['error']} | | | | |")
            continue
        # the paper's way with nlpaug: a token keeps the tag of the token that stood in its place
        texts = [(text, e.gold["slots"]) for e, text in zip(examples, peer["texts"], strict=True)]
        print(row("nlpaug", name, len(examples) / peer["seconds"], "1", examples, texts), flush=True)


if __name__ == "__main__":
    main()
