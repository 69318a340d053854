"""`spoken/speako`: variants a CPU-second, start-up and memory in new processes, and its search against rapidfuzz's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks._measure import SHARED, Row, cpu_seconds, needs, script, show

SLU = SHARED / "slu"
UTTERANCES = 2_000
CHILD = """
import json, resource, sys, time
began = time.perf_counter()
from unswayed.data import read_examples
from unswayed.base.options import OperatorSpec
from unswayed.vary.engine import Variation, vary
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


def rate(work: Callable[[], object], count: int) -> float:
    return count / cpu_seconds(work)


def variants() -> Iterator[Row]:
    for name in ("atis", "snips"):
        runs = [script(CHILD, SLU / name / "train", UTTERANCES) for _ in range(3)]
        first, cold, warm, memory = (median(figures) for figures in zip(*runs, strict=True))
        what = f"`spoken/speako`, {UTTERANCES:,} utterances of {name.upper()}"
        note = f"{cold:,.0f} in the first pass, when no word is known yet; {memory:.0f} MB"
        yield Row(f"{name}: variants", f"{what}, second pass", warm, "variants/CPU s", asked=10_000, note=note)
        yield Row(f"{name}: start", f"{what}: import to first variant", first, "s", more=False, asked=1)


def search() -> Iterator[Row]:
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    from unswayed.vary.spoken._speako import NAME, ONLY_SAID, Query, SpokenWord, ears, sound_of

    words = ears()._words
    known = {word.spelling for word in words.words}
    text = " ".join(file.read_text() for file in SLU.glob("*/*/seq.in"))
    unknown = sorted({w for w in text.split() if re.fullmatch("[a-z]+", w)} - known)
    sound_of(unknown[0])  # loads the model
    n = len(unknown)
    spoken = rate(lambda: [sound_of(w) for w in unknown], n)
    sounds = [sound_of(w) for w in unknown]
    all_sounds = [s for word in words.words if word.kind != ONLY_SAID for s in word.sounds]
    asked = [SpokenWord(word, NAME, (sound,)) for word, sound in zip(unknown, sounds, strict=True)]
    queries = [Query(s, max(1, 2 * len(s) // 5)) for s in sounds]

    def batched() -> None:
        for at in range(0, n, 64):
            cdist(sounds[at : at + 64], all_sounds, scorer=Levenshtein.distance, dtype=np.uint8, workers=1).argmin(1)

    def one_by_one() -> None:
        for sound in sounds[:100]:
            min(Levenshtein.distance(sound, other) for other in all_sounds)

    ours, among = (
        rate(lambda: words._index.nearest(queries), n),
        f"{n:,} words among {len(all_sounds):,} pronunciations",
    )
    note = f"with policies {rate(lambda: words.hear(asked), n):,.0f}; letters to sounds {spoken:,.0f}"
    peers = {
        "cdist": ("rapidfuzz cdist, 64 at once, ties not broken", rate(batched, n)),
        "rapidfuzz": ("rapidfuzz, a call for each pair", rate(one_by_one, 100)),
    }
    for name, (peer, theirs) in peers.items():
        yield Row(f"index: {name}", f"the nearest sounds of {among}", ours, "words/CPU s", peer, theirs, note=note)


def rows() -> Iterator[Row]:
    needs(SLU)
    yield from variants()
    yield from search()


def main() -> None:
    show("speako", rows())


if __name__ == "__main__":
    main()
