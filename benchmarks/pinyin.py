"""Typing Chinese: how real the simulation is on held-out rows of READIN, and how fast beside nlpcda and JioNLP.

`python -m benchmarks.pinyin speed`, `harm` or `realism` does one part; an engine may be named too. Peers run in an
environment of their own: `python -m venv E && E/bin/pip install nlpcda jionlp`, then PEERS=E/bin/python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.measure.error_rate import distances
from unfazed.measure.realism.drop import drops
from unfazed.measure.realism.judge import Judge
from unfazed.measure.realism.looks import error_rate
from unfazed.measure.realism.reading import Aligned, read_people
from unfazed.systems.opening import open_system
from unfazed.vary.keyboard.homophone import Homophone
from unfazed.vary.keyboard.ime import ENGINES, lacking
from unfazed.vary.keyboard.pinyin import Pinyin
from unfazed.vary.operator import Operator, Text

READIN = Path(__file__).parents[1] / "../shared/data/readin"
SEEDS = (7, 8, 9)
_PEER = """
import sys, time, json
texts = json.load(sys.stdin)
if sys.argv[1] == "nlpcda":
    from nlpcda import Homophone
    tool = Homophone(create_num=2, change_rate=0.15)
    work = tool.replace
else:
    import jionlp
    work = lambda t: jionlp.homophone_substitution(t, augmentation_num=1, homo_ratio=0.15)
    texts = texts[:500]
    work(texts[0])
best = 0
for _ in range(5 if sys.argv[1] == "nlpcda" else 1):
    began = time.process_time()
    for text in texts: work(text)
    best = max(best, len(texts) / (time.process_time() - began))
print(best)
"""


def vary(operator: Operator, rows: list[dict[str, str]], seed: int, draw: int) -> list[dict[str, str]]:
    seeds = Seeds(seed, "keyboard/pinyin", operator.version)
    made = []
    for i, row in enumerate(rows):
        new = {}
        for name, text in row.items():
            change = operator.change(Text(text, "zh"), seeds.stream(str(i), draw, name))
            new[name] = apply(text, change.edits) if change else text
        made.append(new)
    return made


def held_out(
    folder: str, clean: str, people: Sequence[str], fields: Sequence[str], step: int = 2
) -> tuple[Aligned, list[Aligned]]:
    """Odd rows, which the profiles were not fitted on: all of them, or with a larger even step fewer."""
    first, typed = read_people(str(READIN / folder / clean), [str(READIN / folder / p) for p in people], fields)
    return _odd(first, step), [_odd(person, step) for person in typed]


def _odd(rows: Aligned, step: int) -> Aligned:
    return Aligned(rows.rows[1::step], rows.gold[1::step])


def paraphrase_model() -> object:
    """The reference system: logistic regression on shared and differing character n-grams, trained on AFQMC."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    size = 1 << 18

    def grams(text: str) -> set[str]:
        return {text[i : i + n] for n in (1, 2, 3) for i in range(len(text) - n + 1)}

    def rows(pairs: Sequence[dict[str, str]]) -> csr_matrix:
        from zlib import crc32

        index, value, ends = [], [], [0]
        for pair in pairs:
            one, two = grams(pair["sentence1"]), grams(pair["sentence2"])
            for mark, found in (("s", one & two), ("d", one ^ two)):
                index += [crc32((mark + g).encode()) % size for g in found]
                value += [1.0] * len(found)
            for n in (1, 2, 3):
                a, b = {g for g in one if len(g) == n}, {g for g in two if len(g) == n}
                index += [size + n, size + 3 + n]
                value += [5 * len(a & b) / max(1, len(a | b)), 5 * len(a & b) / max(1, min(len(a), len(b)))]
            ends.append(len(index))
        return csr_matrix((value, index, ends), shape=(len(pairs), size + 8))

    lines = (READIN / "afqmc_keyboard/train.json").read_text(encoding="utf-8").splitlines()
    train = [{k: v.strip() for k, v in json.loads(line).items()} for line in lines]
    model = LogisticRegression(C=0.05, max_iter=300).fit(rows(train), [row["label"] for row in train])
    return lambda batch: [str(answer) for answer in model.predict(rows(batch))]


def realism(engine: str, seeds: Sequence[int]) -> None:
    print("\n| data | seed | AUC | human error rate | simulated |\n|---|---|---|---|---|")
    sets = {
        "WMT2021": held_out("nmt", "test_clean.json", [f"test_noisy_keyboard_{k}.json" for k in (1, 2, 3)], ["zh"]),
        "AFQMC": held_out(
            "afqmc_keyboard",
            "test_clean.json",
            [f"test_noisy_{k}.json" for k in (1, 2, 3)],
            ["sentence1", "sentence2"],
            step=6,
        ),
    }
    for name, (clean, people) in sets.items():
        judge = Judge(clean.texts(), [p.texts() for p in people])
        if engine == "embedded":
            for k in range(3):
                told = judge.one_person(k)
                print(f"| {name} | person {k + 1} against the others | {told.value:.3f} | | |")
            same = [r["h"] for r in vary(Homophone(0.17), [{"h": t} for t in clean.texts()], 0, 0)]
            print(f"| {name} | homophones | {judge.against_people([same]).value:.3f} | | |")
        operator = Pinyin(engine=engine)
        for seed in seeds:
            draws = [[t for r in vary(operator, clean.rows, seed, d) for t in r.values()] for d in range(3)]
            told = judge.against_people(draws)
            human, made = (
                [error_rate(clean.texts(), t) for t in texts] for texts in ([p.texts() for p in people], draws)
            )
            auc = f"{told.value:.3f} ({told.low:.3f} to {told.high:.3f})"
            print(f"| {name}, {engine} | {seed} | {auc} | {np.mean(human):.3f} | {np.mean(made):.3f} |", flush=True)


def harm(engine: str, seeds: Sequence[int]) -> None:
    clean, people = held_out(
        "afqmc_keyboard", "test_clean.json", [f"test_noisy_{k}.json" for k in (1, 2, 3)], ["sentence1", "sentence2"]
    )
    system = open_system(paraphrase_model())  # type: ignore[arg-type]
    operator = Pinyin(engine=engine)
    print("\n| AFQMC, engine, seed | pairs | accuracy clean | human | simulated | flips human | simulated |")
    print("|---|---|---|---|---|---|---|")
    made = {f"{engine}, {s}": [Aligned(vary(operator, clean.rows, s, d), clean.gold) for d in range(3)] for s in seeds}
    if engine == "embedded":
        made["homophones"] = [Aligned(vary(Homophone(0.17), clean.rows, 0, d), clean.gold) for d in range(3)]
    for name, draws in made.items():
        for row in drops(system, clean, people, draws)[1:]:
            kind = "positive" if row["label"] == "1" else "negative"
            cells = [
                row[k]
                for k in ("accuracy.clean", "accuracy.human", "accuracy.simulated", "flips.human", "flips.simulated")
            ]
            print(f"| {name} | {kind} | " + " | ".join(f"{c:.1f}" for c in cells) + " |", flush=True)


def speed() -> None:
    clean, people = held_out("afqmc_keyboard", "test_clean.json", ["test_noisy_1.json"], ["sentence1", "sentence2"])
    texts = clean.texts()
    print("\n| what | per CPU-second |\n|---|---|")
    operators: dict[str, Operator] = {"keyboard/homophone": Homophone()}
    operators |= {f"keyboard/pinyin, {name}": Pinyin(engine=name) for name in ENGINES if not lacking(name)}
    for name, operator in operators.items():
        seeds = Seeds(1, name, 1)
        best = 0.0
        for _ in range(5 if "homophone" in name else 1):
            streams = [seeds.stream(str(i), 0) for i in range(len(texts))]
            asked = [Text(t, "zh") for t in texts]
            began = time.process_time()
            for text, rng in zip(asked, streams, strict=True):
                change = operator.change(text, rng)
                if change:
                    apply(text.text, change.edits)
            best = max(best, len(texts) / (time.process_time() - began))
        print(f"| {name}, sentences | {best:,.0f} |", flush=True)
    for peer in ("nlpcda", "jionlp") if os.environ.get("PEERS") else ():
        done = subprocess.run(
            [os.environ["PEERS"], "-c", _PEER, peer], input=json.dumps(texts), capture_output=True, text=True
        )
        print(
            f"| {peer} homophones, sentences | {float(done.stdout.split()[-1]) if done.returncode == 0 else 0:,.0f} |",
            flush=True,
        )
    pairs = (texts * 30)[:100_000], (people[0].texts() * 30)[:100_000]
    began = time.perf_counter()
    distances(*pairs)
    print(f"| error rates of 100,000 pairs | {time.perf_counter() - began:.2f} s |")


def main() -> None:
    words = sys.argv[1:]
    engine = next((word for word in words if word.split("+")[0] in ENGINES), "embedded")
    parts = [word for word in words if word in ("speed", "harm", "realism")] or ["speed", "harm", "realism"]
    for part in parts:
        if part == "speed":
            speed()
        else:
            (harm if part == "harm" else realism)(engine, SEEDS)


if __name__ == "__main__":
    main()
