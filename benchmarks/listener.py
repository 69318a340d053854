"""English speech: how real `speech/english` is on articles and chats that it was not fitted on, its harm, its speed."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any

from benchmarks._listening import found, people_from_people, simulated_from_people
from benchmarks._measure import ROOT, SHARED, Row, cpu_seconds, needs, show
from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration.english_listener import count_transcripts, fit_listener
from unswayed.lab.realism.judge import RealismJudge
from unswayed.vary.operator import Text
from unswayed.vary.people import ListenerProfile
from unswayed.vary.speech.english import English

SEEDS = (7, 8)


def quarters(rows: Sequence[Any], k: int) -> list[Any]:
    """One half, in long stretches: neighbouring rows share an article or a chat, and a speaker."""
    return [row for i, row in enumerate(rows) if i * 4 // len(rows) % 2 == k]


def said(operator: English, texts: Sequence[str], seed: int, draw: int) -> list[str]:
    seeds = Seeds(seed, "speech/english", English.version)
    changes = [operator.change(Text(t, "en"), seeds.stream(str(i), draw)) for i, t in enumerate(texts)]
    return [apply(t, change.edits) if change else t for t, change in zip(texts, changes, strict=True)]


def with_profile(profile: ListenerProfile) -> English:
    operator = English()
    operator._profile = profile
    return operator


def corpora() -> dict[str, list[tuple[str, str]]]:
    read = runpy.run_path(str(ROOT / "tools/make_listeners.py"))["read"]
    return {name: [(a.strip(), b.strip()) for a, b in pairs] for name, (_, pairs) in read(SHARED).items()}


def crossed(pairs: list[tuple[str, str]], seed: int, draws: int) -> tuple[list[str], list[str], list[list[str]]]:
    """Both halves, each as simulated by a profile that was fitted on the other: clean, people's, simulated."""
    clean: list[str] = []
    people: list[str] = []
    made: list[list[str]] = [[] for _ in range(draws)]
    for k in (0, 1):
        fit, test = quarters(pairs, 1 - k), quarters(pairs, k)
        operator = with_profile(fit_listener([a for a, _ in fit], [b for _, b in fit]))
        texts = [a for a, _ in test]
        clean += texts
        people += [b for _, b in test]
        for draw in range(draws):
            made[draw] += said(operator, texts, seed, draw)
    return clean, people, made


def long_rows() -> Iterator[Row]:
    """How well judges tell simulated transcripts from people's, and what both do to a retriever."""
    needs(SHARED / "noiseqa")
    for name, pairs in corpora().items():
        halves = [i * 4 // len(pairs) % 2 == 1 for i in range(len(pairs))]
        value, low, high = people_from_people([a for a, _ in pairs], [b for _, b in pairs], halves)
        yield Row(
            f"{name}: people", f"one half of {name} told from the other", value, "AUC", note=f"{low:.3f} to {high:.3f}"
        )
        for seed in SEEDS[: 2 if name == "noiseqa" else 1]:
            clean, people, made = crossed(pairs, seed, 3)
            yield from _judged(name, seed, clean, people, made)
            if name == "noiseqa":
                yield from _harm(seed, clean, people, made)


def _judged(name: str, seed: int, clean: list[str], people: list[str], made: list[list[str]]) -> Iterator[Row]:
    value, low, high = simulated_from_people(clean, people, made)
    looks = "; ".join(f"{who} {_looks(clean, texts)}" for who, texts in (("people", people), ("simulated", made[0])))
    what = f"told from people, {name}, three draws, seed {seed}"
    yield Row(
        f"{name}: seed {seed}", what, value, "AUC", more=False, asked=0.78, note=f"{low:.3f} to {high:.3f}; {looks}"
    )
    judge = RealismJudge(clean, [people]).against_people(made)
    note = f"{judge.low:.3f} to {judge.high:.3f}; the judge of `unswayed realism`"
    yield Row(f"{name}: realism, seed {seed}", what, judge.value, "AUC", more=False, asked=0.78, note=note)


def _looks(clean: list[str], heard: list[str]) -> str:
    counts = count_transcripts(clean, heard)
    wrong, right = counts.wrong.total() / counts.words.total(), counts.right / counts.texts
    return f"{wrong:.1%} of words misheard, {right:.0%} of texts right"


def _harm(seed: int, clean: list[str], people: list[str], made: list[list[str]]) -> Iterator[Row]:
    rows = [json.loads(line) for line in (SHARED / "noiseqa/people.jsonl").read_text("utf-8").splitlines()]
    own = [row["context"] for k in (0, 1) for row in quarters(rows, k)]
    before = found(clean, own, own)
    human = before - found(people, own, own)
    drops = [before - found(draw, own, own) for draw in made]
    note = f"draws: {', '.join(f'{drop:.1f}' for drop in drops)}; clean accuracy {before:.1f}"
    yield Row(
        f"harm: seed {seed}",
        "drop of a TF-IDF retriever on NoiseQA",
        sum(drops) / 3,
        "points",
        "people",
        human,
        note=note,
    )


def rows() -> Iterator[Row]:
    needs(SHARED / "noiseqa")
    texts = [a for a, _ in corpora()["noiseqa"]]
    operator = English()
    said(operator, texts[:2], 1, 0)  # tables are read
    cold = cpu_seconds(partial(said, operator, texts, 7, 0))
    spent = median(cpu_seconds(partial(said, operator, texts, 7, draw)) for draw in range(1, 6))
    note = f"first draw {len(texts) / cold:,.0f}, which looks up how unknown words are said"
    yield Row(
        "speed", f"speech/english, {len(texts)} questions", len(texts) / spent, "texts/CPU s", asked=5_000, note=note
    )


def main() -> None:
    show("listener", (*rows(), *long_rows()))


if __name__ == "__main__":
    main()
