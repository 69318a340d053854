"""Typing Chinese: how fast each engine is, and how real the simulation is on held-out rows of READIN.

`python -m benchmarks.pinyin speed`, `harm` or `realism` does one part; an engine may be named too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from benchmarks._measure import SHARED, Row, cpu_seconds, needs, show
from benchmarks._peers import Worker, side_by_side
from benchmarks.operators import questions
from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.measure.error_rate import distances
from unfazed.measure.realism.aligned import Aligned, read_people
from unfazed.measure.realism.compare import drops, error_rate
from unfazed.measure.realism.judge import Judge
from unfazed.systems.opening import open_system
from unfazed.vary.keyboard.homophone import Homophone
from unfazed.vary.keyboard.ime import ENGINES, lacking
from unfazed.vary.keyboard.pinyin import Pinyin
from unfazed.vary.operator import Operator, Text

READIN = SHARED / "readin"
SEEDS = (7, 8, 9)
PEOPLE = [f"test_noisy_{k}.json" for k in (1, 2, 3)]
PAIR = ["sentence1", "sentence2"]


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


def realism(engine: str, seeds: Sequence[int]) -> Iterator[Row]:
    """How well a judge tells simulated typing from people's: 0.5 is not at all."""
    sets = {
        "WMT2021": held_out("nmt", "test_clean.json", [f"test_noisy_keyboard_{k}.json" for k in (1, 2, 3)], ["zh"]),
        "AFQMC": held_out("afqmc_keyboard", "test_clean.json", PEOPLE, PAIR, step=6),
    }
    for name, (clean, people) in sets.items():
        judge = Judge(clean.texts(), [p.texts() for p in people])
        homophones = [r["h"] for r in vary(Homophone(0.17), [{"h": t} for t in clean.texts()], 0, 0)]
        random = judge.against_people([homophones]).value
        persons = ", ".join(f"{judge.one_person(k).value:.3f}" for k in range(3))
        operator, human = Pinyin(engine=engine), np.mean([error_rate(clean.texts(), p.texts()) for p in people])
        for seed in seeds:
            draws = [[t for r in vary(operator, clean.rows, seed, d) for t in r.values()] for d in range(3)]
            told, made = judge.against_people(draws), np.mean([error_rate(clean.texts(), t) for t in draws])
            yield Row(
                name=f"realism: {name}, {engine}, {seed}",
                what=f"`keyboard/pinyin`, {engine}, told from people on {name}, seed {seed}",
                unit="AUC",
                ours=told.value,
                peer="homophones at random",
                theirs=random,
                more=False,
                note=f"{told.low:.3f} to {told.high:.3f}; each person from the others {persons}; "
                f"error rate {made:.3f}, people's {human:.3f}",
            )


def harm(engine: str, seeds: Sequence[int]) -> Iterator[Row]:
    """What typing costs a paraphrase model, simulated and real."""
    clean, people = held_out("afqmc_keyboard", "test_clean.json", PEOPLE, PAIR)
    system = open_system(paraphrase_model())  # type: ignore[arg-type]
    operator = Pinyin(engine=engine)
    made = {f"{engine}, {s}": [Aligned(vary(operator, clean.rows, s, d), clean.gold) for d in range(3)] for s in seeds}
    made["homophones"] = [Aligned(vary(Homophone(0.17), clean.rows, 0, d), clean.gold) for d in range(3)]
    for name, draws in made.items():
        for row in drops(system, clean, people, draws)[1:]:
            kind = "positive" if row["label"] == "1" else "negative"
            yield Row(
                name=f"harm: {name}, {kind}",
                what=f"accuracy on {kind} pairs of AFQMC, typed by {name}",
                unit="%",
                ours=row["accuracy.simulated"],
                note=f"people's {row['accuracy.human']:.1f}, clean {row['accuracy.clean']:.1f}; "
                f"flips {row['flips.simulated']:.1f}, people's {row['flips.human']:.1f}",
            )


def rows() -> Iterator[Row]:
    """Every engine on the same sentences."""
    texts = questions()
    names = {f'unfazed keyboard/pinyin?{{"engine":"{name}"}}': name for name in ENGINES if not lacking(name)}
    with ExitStack() as stack:
        found = side_by_side([stack.enter_context(Worker(sys.executable, name, texts)) for name in names])
    for name, engine in names.items():
        yield Row(
            name=f"typing: {engine}",
            what=f"typing {len(texts):,} sentences by pinyin, `keyboard/pinyin`, {engine}",
            unit="texts/CPU s",
            ours=found[name].rate,
            note=f"{found[name].start:.1f} s to the first; {found[name].memory:.0f} MB",
        )
    for engine in ENGINES:
        if missing := lacking(engine):
            yield Row(f"typing: {engine}", f"typing by pinyin, {engine}", None, note=f"not here: {missing}")
    pairs = (texts * 50)[:100_000], (texts[1:] * 51)[:100_000]
    seconds = cpu_seconds(lambda: distances(*pairs))
    yield Row("error rates", "error rates of 100,000 pairs of sentences", seconds, "CPU s", more=False)


def long_rows(engine: str = "embedded") -> Iterator[Row]:
    needs(READIN)
    yield from realism(engine, SEEDS)
    yield from harm(engine, SEEDS)


def main() -> None:
    words = sys.argv[1:]
    engine = next((word for word in words if word.split("+")[0] in ENGINES), "embedded")
    parts = [word for word in words if word in ("speed", "harm", "realism")] or ["speed", "harm", "realism"]
    for part in parts:
        show("pinyin", rows() if part == "speed" else (harm if part == "harm" else realism)(engine, SEEDS))


if __name__ == "__main__":
    main()
