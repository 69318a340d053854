"""Typing: how well simulated slips are told from those of people who were not fitted, what they do to retrievers, and
how fast they are made."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks._judged import Auc, by_edits, by_text
from benchmarks._measure import SHARED, Row, cpu_seconds, needs, say, show
from benchmarks._retrieved import Retriever, bm25, minilm
from tools.make_typists import bare
from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration.profiles import (
    TypedText,
    first_attempts,
    fit_typed_texts,
    read_typed,
    split_people,
    type_again,
)
from unswayed.lab.realism.judge import RealismJudge
from unswayed.measure.files import distances
from unswayed.vary.keyboard.adjacent import Adjacent
from unswayed.vary.keyboard.layouts import layout
from unswayed.vary.keyboard.typist import Typist
from unswayed.vary.operator import Text, Texts
from unswayed.vary.slips import SlipProfile

SENTENCES = 2_500  # of Aalto that are judged
ABORTED = 0.3
DRAWS = 5  # of each question, for retrievers
PARTS = 4  # stretches of NoiseQA: neighbouring questions share an article and a typist


class Case(NamedTuple):
    """Texts of people, and what a simulation that never saw these people made of them."""

    name: str
    asked: float | None
    clean: list[str]
    human: list[str]
    made: list[str]


def questions() -> list[dict[str, str]]:
    lines = needs(SHARED / "noiseqa/people.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if not aborted(row["question"].strip(), row["keyboard"].strip())]


def aborted(clean: str, typed: str) -> bool:
    return bool(distances([clean], [typed])[0] > ABORTED * len(clean))


def stretches(rows: Sequence[object]) -> list[int]:
    """For each row, which half it is in: the first and third quarter, or the others."""
    return [i * PARTS // len(rows) % 2 for i in range(len(rows))]


def crossed(rows: Sequence[TypedText], language: str, seeds: Sequence[int] = (7,)) -> list[list[str]]:
    """For each seed, each half as a profile of the other half types it."""
    board, half = layout(language), stretches(rows)
    made = [[""] * len(rows) for _ in seeds]
    for k in (0, 1):
        profile = fit_typed_texts([row for row, h in zip(rows, half, strict=True) if h != k], board, language, "")
        places = [i for i, h in enumerate(half) if h == k]
        for texts, seed in zip(made, seeds, strict=True):
            typed = type_again(profile, board, language, [rows[i].sentence for i in places], seed)
            for i, text in zip(places, typed, strict=True):
                texts[i] = text
    return made


def case(name: str, asked: float | None, rows: Sequence[TypedText], made: Sequence[str]) -> Case:
    return Case(name, asked, [row.sentence for row in rows], [row.typed for row in rows], list(made))


def stripped(rows: Sequence[TypedText]) -> list[TypedText]:
    """Rows without outer spaces and without texts that were given up."""
    found = [TypedText(row.person, row.sentence.strip(), row.typed.strip(), row.keys) for row in rows]
    return [row for row in found if row.sentence and not aborted(row.sentence, row.typed)]


def some(rows: Sequence[TypedText]) -> list[TypedText]:
    return random.Random(3).sample(list(rows), min(SENTENCES, len(rows)))


def aalto() -> tuple[list[TypedText], list[TypedText]]:
    return split_people(read_typed(needs(SHARED / "typing_en/people.tsv.gz")))


def russian() -> list[TypedText]:
    folder = needs(SHARED / "typing_ru")
    meant, typed = ((folder / name).read_text("utf-8").splitlines() for name in ("corrections.txt", "sources.txt"))
    return stripped([TypedText("", bare(a), bare(b)) for a, b in zip(meant, typed, strict=True)])


def cases() -> Iterator[Case]:
    """Everything that is judged. Neither an article nor a person is in a fit and in its test."""
    board = layout("en")
    asked = [TypedText("", row["question"].strip(), row["keyboard"].strip()) for row in questions()]
    texts = [row.sentence for row in asked]
    fitted, others = aalto()
    unseen = some(stripped(others))
    profile = fit_typed_texts(fitted, board, "en", "")
    yield case("noiseqa → NoiseQA", 0.65, asked, crossed(asked, "en")[0])
    yield case("aalto → Aalto", 0.62, unseen, _by(profile, unseen))
    yield case("aalto → NoiseQA", 0.72, asked, type_again(profile, board, "en", texts, 7))
    yield case("noiseqa → Aalto", None, unseen, _by(fit_typed_texts(asked, board, "en", ""), unseen))
    yield case("no slips → NoiseQA", None, asked, texts)
    yield case("keyboard/adjacent → NoiseQA", None, asked, adjacent(texts))
    first = some(stripped(first_attempts(others)))
    yield case(
        "aalto uncorrected → Aalto", None, first, _by(fit_typed_texts(first_attempts(fitted), board, "en", ""), first)
    )
    yield case("ruspellru → RUSpellRU", None, russian(), crossed(russian(), "ru")[0])


def _by(profile: SlipProfile, rows: Sequence[TypedText]) -> list[str]:
    return type_again(profile, layout("en"), "en", [row.sentence for row in rows], 7)


def adjacent(texts: Sequence[str]) -> list[str]:
    operator, seeds = Adjacent(), Seeds(7, "keyboard/adjacent", Adjacent.version)
    changes = [operator.change(Text(text), seeds.stream(str(i), 0)) for i, text in enumerate(texts)]
    return [apply(text, change.edits) if change else text for text, change in zip(texts, changes, strict=True)]


def judged(one: Case) -> Iterator[Row]:
    say(one.name)
    own = RealismJudge(one.clean, [one.human]).against_people([one.made])
    found: dict[str, Auc] = {
        "trees": (own.value, own.low, own.high),
        "edits": by_edits(one.clean, one.human, one.made),
        "text": by_text(one.clean, one.human, one.made),
    }
    looks = [
        f"altered {altered(one.clean, texts):.0%}, character error {error(one.clean, texts):.2%}"
        for texts in (one.human, one.made)
    ]
    for judge, (value, low, high) in found.items():
        note = f"[{low:.2f}, {high:.2f}]" + (f"; people {looks[0]}; ours {looks[1]}" if judge == "trees" else "")
        what = f"{one.name}, {len(one.clean):,} texts, told from people by {judge}"
        yield Row(f"{one.name}: {judge}", what, value, "AUC", more=False, asked=one.asked, note=note)


def altered(clean: Sequence[str], typed: Sequence[str]) -> float:
    return sum(a != b for a, b in zip(clean, typed, strict=True)) / len(clean)


def error(clean: Sequence[str], typed: Sequence[str]) -> float:
    """Characters to change, over all characters."""
    return float(distances(clean, typed).sum()) / sum(map(len, clean))


def harmed() -> Iterator[Row]:
    """Accuracy lost and answers changed, by people's slips and by ours."""
    rows = questions()
    paragraphs = list(dict.fromkeys(row["context"] for row in rows))
    gold = [paragraphs.index(row["context"]) for row in rows]
    pairs = [TypedText("", row["question"].strip(), row["keyboard"].strip()) for row in rows]
    made = crossed(pairs, "en", range(DRAWS))
    for name, find in (("BM25", bm25(paragraphs)), ("MiniLM", minilm(paragraphs))):
        if find:
            say(f"harm to {name}")
            yield from _harm(name, find, gold, [p.sentence for p in pairs], [p.typed for p in pairs], made)


def _harm(
    name: str, find: Retriever, gold: list[int], clean: list[str], human: list[str], made: list[list[str]]
) -> Iterator[Row]:
    found = find([text for texts in (clean, human, *made) for text in texts])
    before, people, *ours = (found[at : at + len(clean)] for at in range(0, len(found), len(clean)))
    right = [100 * _same(found, gold) for found in (before, people)]
    mean = sum(100 * _same(found, gold) for found in ours) / len(ours)
    flips = 100 - 100 * _same(people, before), 100 - sum(100 * _same(found, before) for found in ours) / len(ours)
    note = f"clean {right[0]:.1f}%; drop of people {right[0] - right[1]:.1f}, ours {right[0] - mean:.1f}"
    what = f"NoiseQA's {len(set(gold))} paragraphs found by {name}"
    yield Row(
        f"{name}: drop", f"{what}: drop beyond people's", abs(right[1] - mean), "%", more=False, asked=1.0, note=note
    )
    note = f"people {flips[0]:.1f}, ours {flips[1]:.1f}"
    yield Row(
        f"{name}: flips",
        f"{what}: flips beyond people's",
        abs(flips[0] - flips[1]),
        "%",
        more=False,
        asked=1.5,
        note=note,
    )


def _same(found: Sequence[int], wanted: Sequence[int]) -> float:
    return sum(a == b for a, b in zip(found, wanted, strict=True)) / len(wanted)


def rows() -> Iterator[Row]:
    """How fast texts are typed, after a first round."""
    texts = Texts.of([Text(row["question"]) for row in questions()] * 10)
    seeds = Seeds(7, "keyboard/typist", Typist.version)
    for mode in ("corrected", "uncorrected"):
        operator = Typist(mode=mode)
        taken = []
        for draw in range(4):
            streams = seeds.streams(texts.ids, draw, [""] * len(texts))
            taken.append(cpu_seconds(lambda: operator.change_many(texts, streams)))  # noqa: B023
        rate = len(texts) / sorted(taken[1:])[1]
        asked = 50_000 if mode == "corrected" else None
        yield Row(f"{mode}: rate", f"`keyboard/typist`, {mode}, NoiseQA's questions", rate, "texts/CPU s", asked=asked)


def long_rows() -> Iterator[Row]:
    yield from harmed()
    for one in cases():
        yield from judged(one)


def main() -> None:
    show("typing", [*rows(), *long_rows()])


if __name__ == "__main__":
    main()
