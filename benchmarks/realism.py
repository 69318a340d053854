"""How real typing and speech in alphabets are: told from people, with their harm to a retriever.

NoiseQA's people typed and spoke questions on Wikipedia's articles; Aalto's retyped sentences; RUSpellRU's wrote blogs.
Profiles are judged on people that they were not fitted on: one fitted here to Aalto's on NoiseQA, `noiseqa` on Aalto.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks._measure import SHARED, Row, needs, show
from unswayed.base.edits import apply
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration.profiles import encode_profiles, fit_typist_modes, read_typed
from unswayed.lab.realism import Aligned
from unswayed.lab.realism.compare import Files, built_in_systems, measure_harm
from unswayed.lab.realism.features import words_of
from unswayed.lab.realism.judge import Channel, RealismJudge, script_of
from unswayed.vary import operators
from unswayed.vary.engine import make_operator
from unswayed.vary.keyboard.layouts import layout
from unswayed.vary.operator import Text, Texts

SEED, DRAWS = 7, 3
_ABORTED = 0.3  # growth or loss of a text that was given up
_EVERY = 6  # of Aalto's sentences


class People(NamedTuple):
    """Texts, what people made of them, the person or article of each, and the documents to find, if there are any."""

    name: str
    language: str
    channel: Channel
    clean: list[str]
    noisy: list[str]
    by: list[str] | None
    documents: list[str] | None = None


def noiseqa(field: str, channel: Channel) -> People:
    file = needs(SHARED / "noiseqa/people.jsonl")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    rows = [row for row in rows if abs(len(row[field]) - len(row["question"])) < _ABORTED * len(row["question"])]
    contexts = [row["context"] for row in rows]
    texts = [row["question"].strip() for row in rows], [row[field].strip() for row in rows]
    return People(f"NoiseQA, {channel}", "en", channel, *texts, [text[:60] for text in contexts], contexts)


def aalto() -> People:
    """Every sixth sentence, by person."""
    with gzip.open(needs(SHARED / "typing_en/people.tsv.gz"), "rt", encoding="utf-8", newline="\n") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[::_EVERY]
    texts = [row["sentence"].strip() for row in rows], [row["typed"].strip() for row in rows]
    return People("Aalto, typing", "en", "typing", *texts, [row["person"] for row in rows])


def russian() -> People:
    """The corrections have no marks, so both are compared as words in lower case."""
    folder = needs(SHARED / "typing_ru")
    clean, typed = (
        [" ".join(words_of(line)) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("corrections.txt", "sources.txt")
    )
    return People("RUSpellRU, typing", "ru", "typing", clean, typed, None)


def draws(spec: OperatorSpec, people: People) -> list[list[str]]:
    operator = make_operator(OperatorSpec(spec.name, {**spec.params, "protect": "none"}))  # as people err
    seeds, made = Seeds(SEED, spec.name, operator.version), []
    for draw in range(DRAWS):
        texts = Texts.of([Text(text, people.language) for text in people.clean])
        changes = operator.change_many(texts, seeds.streams(texts.ids, draw, [""] * len(texts)))
        made.append([apply(t, change.edits) if change else t for t, change in zip(people.clean, changes, strict=True)])
    return made


def rows_of(people: People, specs: Sequence[OperatorSpec]) -> Iterator[Row]:
    """A row for doing nothing, and one for each operator that there is."""
    judge = RealismJudge(people.clean, [people.noisy], 0, people.language, people.by, people.channel)
    nothing = judge.against_people([people.clean]).value
    for spec in specs:
        told = [f"{key}={Path(str(value)).stem}" for key, value in spec.params.items()]
        name = " ".join([spec.name, *told])
        made = draws(spec, people)
        auc = judge.against_people(made)
        yield Row(
            name=f"{people.name}: {name}",
            what=f"`{name}` told from {people.name}, {len(people.clean):,} texts",
            unit="AUC",
            ours=auc.value,
            peer="doing nothing",
            theirs=nothing,
            more=False,
            note=f"{auc.low:.2f} to {auc.high:.2f}" + harm_note(people, made),
        )


def harm_note(people: People, made: list[list[str]]) -> str:
    """The harm to the built-in retriever, where there are documents to find."""
    if people.documents is None:
        return ""
    clean, noisy, *simulated = (
        Aligned([{"text": t} for t in texts], [None] * len(texts)) for texts in (people.clean, people.noisy, *made)
    )
    files = Files(clean, [noisy], simulated)
    [(ask, its)] = built_in_systems(files, script_of(people.clean, people.language), people.documents, 0).values()
    found = measure_harm(ask, its, people.by)[0]

    def said(what: str) -> str:
        human, ours, between = (found[what][name] for name in ("human", "simulated", "difference"))
        low, high = between.low, between.high
        return f"{what} {ours.value:.1f}%, people's {human.value:.1f} (difference {low:.1f} to {high:.1f})"

    return f"; clean {found['accuracy']['clean'].value:.1f}%, {said('accuracy')}, {said('flips')}"


def long_rows() -> Iterator[Row]:
    """All operators that simulate people, and the stress tests beside them."""
    with TemporaryDirectory() as folder:
        fitted = Path(folder) / "aalto.json"  # not shipped: the data is for non-commercial research
        rows = read_typed(needs(SHARED / "typing_en/people.tsv.gz"))
        fitted.write_bytes(encode_profiles(fit_typist_modes(rows, layout("en"), "en", "Aalto")))
        typist = [OperatorSpec("keyboard/typist", {"profile": profile}) for profile in (str(fitted), "noiseqa")]
        yield from rows_of(noiseqa("keyboard", "typing"), [*typist, OperatorSpec("keyboard/adjacent")])
        yield from rows_of(aalto(), [*reversed(typist), OperatorSpec("keyboard/adjacent")])
    heard = [OperatorSpec(name) for name in ("speech/english", "spoken/speako") if name in operators.names()]
    yield from rows_of(noiseqa("asr", "speech"), heard)
    yield from rows_of(russian(), [OperatorSpec("keyboard/typist"), OperatorSpec("keyboard/adjacent")])


def main() -> None:
    show("realism", long_rows())


if __name__ == "__main__":
    main()
