"""`spoken/speako`: variants a CPU-second, start-up and memory in new processes, and its search against rapidfuzz's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SLU = Path(__file__).parents[2] / "shared/data/slu"
UTTERANCES = 2_000
CHILD = """
import json, resource, sys, time
began = time.perf_counter()
from unfazed.data import read_examples
from unfazed.vary.engine import OperatorSpec, Variation, vary
reading = time.perf_counter()
examples = list(read_examples(sys.argv[1]))[:int(sys.argv[2])]
began += time.perf_counter() - reading
def run(seed, some):
    variation = Variation(operators=(OperatorSpec("spoken/speako"),), task="slu", language="en", seed=seed)
    return sum(1 for _ in vary(some, variation))
run(0, examples[:1])
first = time.perf_counter() - began
cpu = time.process_time()
made = run(0, examples)
cold = time.process_time() - cpu
cpu = time.process_time()
made = run(1, examples)
warm = time.process_time() - cpu
print(json.dumps([first, made / cold, made / warm, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def child(folder: Path) -> list[float]:
    command = [sys.executable, "-c", CHILD, str(folder), str(UTTERANCES)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(x) for x in json.loads(out)]


def rate(work: Callable[[], Any], count: int) -> float:
    began = time.process_time()
    work()
    return count / (time.process_time() - began)


def variants() -> None:
    print(
        "| 2,000 utterances, new process | import to first variant, s | variants/CPU-s, first pass | second pass | MB |"
    )
    print("|---|---|---|---|---|")
    for name in ("atis", "snips"):
        runs = [child(SLU / name / "train") for _ in range(3)]
        first, cold, warm, memory = min(r[0] for r in runs), *(max(r[i] for r in runs) for i in (1, 2)), runs[0][3]
        print(f"| {name} | {first:.2f} | {cold:,.0f} | {warm:,.0f} | {memory:.0f} |", flush=True)


def search() -> None:
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    from unfazed.vary.spoken._phones_g2p import sound_of
    from unfazed.vary.spoken._speako_search import Query
    from unfazed.vary.spoken._speako_words import NAME, ONLY_SAID, Word, ears

    words = ears()._words
    known = {word.spelling for word in words.words}
    text = " ".join(file.read_text() for file in SLU.glob("*/*/seq.in"))
    unknown = sorted({w for w in text.split() if re.fullmatch("[a-z]+", w)} - known)
    sound_of(unknown[0])  # loads the model
    n = len(unknown)
    spoken = rate(lambda: [sound_of(w) for w in unknown], n)
    sounds = [sound_of(w) for w in unknown]
    all_sounds = [s for word in words.words if word.kind != ONLY_SAID for s in word.sounds]
    asked = [Word(word, NAME, (sound,)) for word, sound in zip(unknown, sounds, strict=True)]
    queries = [Query(s, max(1, 2 * len(s) // 5)) for s in sounds]

    def batched() -> None:
        for at in range(0, n, 64):
            cdist(sounds[at : at + 64], all_sounds, scorer=Levenshtein.distance, dtype=np.uint8, workers=1).argmin(1)

    def one_by_one() -> None:
        for sound in sounds[:300]:
            min(Levenshtein.distance(sound, other) for other in all_sounds)

    rows = [
        ("brute force, a call for each pair", rate(one_by_one, 300)),
        ("rapidfuzz cdist, 64 at once, ties not broken", rate(batched, n)),
        ("our index, ties broken", rate(lambda: words._index.nearest(queries), n)),
        ("our index and policies", rate(lambda: words.hear(asked), n)),
        ("letters to sounds", spoken),
    ]
    print(f"\n| {n:,} unknown words of ATIS and SNIPS among {len(all_sounds):,} pronunciations | queries/CPU-s | × |")
    print("|---|---|---|")
    for name, figure in rows:
        print(f"| {name} | {figure:,.0f} | {figure / rows[1][1]:.2f} |")


def main() -> None:
    if not SLU.exists():
        print(f"Left out: {SLU} is not here.")
        return
    variants()
    search()


if __name__ == "__main__":
    main()
