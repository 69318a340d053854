"""Typing Chinese: how fast each engine is, and how real the simulation is on rows and people of READIN held out.

`python -m benchmarks.pinyin speed`, `realism`, `people` or `harm` does one part; an engine may be named too. People are
fitted anew: on blocks of a hundred rows, judged on the other blocks, and on two people, judged on the third.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path
from statistics import median
from tempfile import mkdtemp

import numpy as np

from benchmarks._blocks import Varied, by_person
from benchmarks._edit_judge import told as edit_judge
from benchmarks._measure import SHARED, Row, cpu_seconds, needs, show
from benchmarks._peers import Worker, side_by_side
from benchmarks.operators import questions
from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration.profiles import ROWS, fit_pinyin_typists
from unswayed.lab.realism import Aligned, read_people
from unswayed.lab.realism.compare import drops, error_rate
from unswayed.lab.realism.judge import RealismJudge
from unswayed.measure.files import distances
from unswayed.systems.opening import open_system
from unswayed.vary.keyboard.homophone import Homophone
from unswayed.vary.keyboard.ime import engines, missing_file
from unswayed.vary.keyboard.pinyin import Pinyin
from unswayed.vary.operator import Operator, Text

READIN = SHARED / "readin"
SEEDS = (7, 8, 9)
PEOPLE = [f"test_noisy_{k}.json" for k in (1, 2, 3)]
PAIR = ["sentence1", "sentence2"]


def vary(
    operator: Operator, rows: list[dict[str, str]], seed: int, draw: int, ids: Sequence[str] = ()
) -> list[dict[str, str]]:
    seeds = Seeds(seed, "keyboard/pinyin", operator.version)
    made = []
    for i, row in enumerate(rows):
        new = {}
        for name, text in row.items():
            change = operator.change(Text(text, "zh"), seeds.stream(ids[i] if ids else str(i), draw, name))
            new[name] = apply(text, change.edits) if change else text
        made.append(new)
    return made


SETS: dict[str, tuple[str, list[str], list[str]]] = {
    "WMT2021": ("nmt", [f"test_noisy_keyboard_{k}.json" for k in (1, 2, 3)], ["zh"]),
    "AFQMC": ("afqmc_keyboard", PEOPLE, PAIR),
}
OTHER = {"blocks": "other-blocks", "other-blocks": "blocks"}


def files(name: str) -> tuple[str, list[str], list[str]]:
    folder, people, fields = SETS[name]
    return str(READIN / folder / "test_clean.json"), [str(READIN / folder / p) for p in people], fields


@lru_cache(16)
def fitted(name: str, rows: str, who: tuple[int, ...], engine: str) -> str:
    """A file of people fitted on some rows of a set."""
    clean, real, fields = files(name)
    made, _ = fit_pinyin_typists(clean, [real[k] for k in who], fields, rows, engine.split("+")[0], None)
    path = Path(mkdtemp()) / "typists.json"
    path.write_bytes(made)
    return str(path)


def held_out(name: str, rows: str) -> tuple[Aligned, list[Aligned]]:
    clean, real, fields = files(name)
    first, typed = read_people(clean, real, fields)

    def kept(file: Aligned) -> Aligned:
        used = [i for i in range(len(file.rows)) if ROWS[rows](i)]
        return Aligned([file.rows[i] for i in used], [file.gold[i] for i in used], [str(i) for i in used])

    return kept(first), [kept(person) for person in typed]


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


def judged(name: str, where: str, clean: Aligned, people: list[Aligned], profile: str, engine: str, seed: int) -> Row:
    """How well two judges tell simulated typing from people's: 0.5 is not at all."""
    texts, typed = clean.texts(), [p.texts() for p in people]
    operator = Pinyin(engine, profile)
    draws = [[t for r in vary(operator, clean.rows, seed, d, clean.ids) for t in r.values()] for d in range(3)]
    told = RealismJudge(texts, typed).against_people(draws)
    second = edit_judge(texts, typed, draws)
    human, made = (float(np.mean([error_rate(texts, t) for t in group])) for group in (typed, draws))
    return Row(
        name=f"realism: {name}, {where}, {engine}, {seed}",
        what=f"`keyboard/pinyin`, {engine}, told from people on {name}, {where}, seed {seed}",
        unit="AUC",
        ours=told.value,
        more=False,
        note=f"{told.low:.3f} to {told.high:.3f}; second judge {second:.3f}; "
        f"error rate {made:.3f}, people's {human:.3f}",
    )


def realism(engine: str, seeds: Sequence[int]) -> Iterator[Row]:
    """Fitted on blocks of rows, judged on the others, and people and homophones beside it."""
    for name in SETS:
        for rows, others in OTHER.items():
            clean, people = held_out(name, others)
            for seed in seeds:
                where = f"fitted on {rows}"
                yield judged(name, where, clean, people, fitted(name, rows, (0, 1, 2), engine), engine, seed)
            judge = RealismJudge(clean.texts(), [p.texts() for p in people])
            homophones = [r["h"] for r in vary(Homophone(0.17), [{"h": t} for t in clean.texts()], 0, 0)]
            persons = ", ".join(f"{judge.one_person(k).value:.3f}" for k in range(3))
            yield Row(
                name=f"realism: {name}, {others}, homophones",
                what=f"random homophones told from people on {name}, {others}",
                unit="AUC",
                ours=judge.against_people([homophones]).value,
                more=False,
                note=f"each person from the others {persons}",
            )


def unseen_people(engine: str, seeds: Sequence[int]) -> Iterator[Row]:
    """Fitted on two people and some blocks, judged against the third on the other blocks."""
    clean, people = held_out("WMT2021", "other-blocks")
    for k in range(3):
        profile = fitted("WMT2021", "blocks", tuple({0, 1, 2} - {k}), engine)
        yield judged("WMT2021", f"person {k + 1} not fitted", clean, [people[k]], profile, engine, seeds[0])


def harm(engine: str, seeds: Sequence[int]) -> Iterator[Row]:
    """What typing costs a paraphrase model, simulated and real."""
    system = open_system(paraphrase_model())  # type: ignore[arg-type]
    for rows, others in OTHER.items():
        clean, people = held_out("AFQMC", others)
        operator = Pinyin(engine, fitted("AFQMC", rows, (0, 1, 2), engine))
        made = {
            str(s): [Aligned(vary(operator, clean.rows, s, d, clean.ids), clean.gold) for d in range(3)] for s in seeds
        }
        made["homophones"] = [Aligned(vary(Homophone(0.17), clean.rows, 0, d), clean.gold) for d in range(3)]
        for name, draws in made.items():
            for row in drops(system, clean, people, draws):
                kind = {"1": "positive", "0": "negative"}.get(row["label"], "all")
                yield Row(
                    name=f"harm: {others}, {engine}, {name}, {kind}",
                    what=f"accuracy on {kind} pairs of AFQMC, {others}, typed by {engine}, {name}",
                    unit="%",
                    ours=row["accuracy.simulated"],
                    note=f"people's {row['accuracy.human']:.1f}, clean {row['accuracy.clean']:.1f}; "
                    f"flips {row['flips.simulated']:.1f}, people's {row['flips.human']:.1f}",
                )


def rows() -> Iterator[Row]:
    """Every engine on the same sentences."""
    texts = questions()
    names = {
        f'unswayed keyboard/pinyin?{{"engine":"{name}"}}': name for name in engines.names() if not missing_file(name)
    }
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
    for engine in engines.names():
        if missing := missing_file(engine):
            yield Row(f"typing: {engine}", f"typing by pinyin, {engine}", None, note=f"not here: {missing}")
    yield unseen(texts)
    pairs = (texts * 50)[:100_000], (texts[1:] * 51)[:100_000]
    seconds = cpu_seconds(lambda: distances(*pairs))
    yield Row("error rates", "error rates of 100,000 pairs of sentences", seconds, "CPU s", more=False)


def unseen(texts: Sequence[str]) -> Row:
    """The first pass over sentences that were not seen, after as many others: only words may be remembered."""
    lines = needs(READIN / "afqmc_keyboard/train.json").read_text(encoding="utf-8").splitlines()
    seen = set(texts)
    others = [text for line in lines if (text := json.loads(line)["sentence1"].strip()) not in seen][: 5 * len(texts)]
    rows, type_all, people = list(dict.fromkeys(texts)), Varied("keyboard/pinyin", "zh"), range(6)
    type_all(others, 7)
    for person in people:
        type_all(others[:1], person)
    parts = [rows[person :: len(people)] for person in people]
    rates = [len(part) / cpu_seconds(partial(type_all, part, person)) for person, part in enumerate(parts)]
    return Row(
        name="typing, unseen: embedded",
        what=f"typing {len(rows):,} sentences not seen before, after {len(others):,} others, embedded",
        unit="texts/CPU s",
        ours=median(rates),
        asked=10_000,
        note=by_person(rates, "people"),
    )


def long_rows(engine: str = "embedded") -> Iterator[Row]:
    needs(READIN)
    yield from realism(engine, SEEDS)
    yield from unseen_people(engine, SEEDS)
    yield from harm(engine, SEEDS)


def main() -> None:
    words = sys.argv[1:]
    engine = next((word for word in words if word.split("+")[0] in engines.names()), "embedded")
    long = {"realism": realism, "people": unseen_people, "harm": harm}
    parts = [word for word in words if word in ("speed", *long)] or ["speed", *long]
    for part in parts:
        show("pinyin", rows() if part == "speed" else long[part](engine, SEEDS))


if __name__ == "__main__":
    main()
