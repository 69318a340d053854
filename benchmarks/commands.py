"""`paraphrase/command` beside people: ATIS, SNIPS and NLU-ED, where many people ask for the same in words of their own.

People's paraphrase of an utterance of the test part: the words of another test utterance with the same intent and the
same kinds of slots, in any order, with the values of the first one put in. The operator gets the same utterances with
and without labels, and borrows from the training part alone, with labels or without; or from the test part's own texts.

Needs ../shared/data/slu and nlu_ed, and the extra sklearn.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks._apart import Pair, told_apart
from benchmarks._measure import SHARED, Row, cpu_seconds, needs, show
from unswayed.base.edits import slots_of
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, vary

NAME = "paraphrase/command"
CORPORA = ("atis", "snips", "nlu_ed")
MOST = 1000  # utterances of a corpus
POOL = 20_000
_SLOT = re.compile(r"\[([^\]:]+) : ([^\]]+)\]")


class Utterance(NamedTuple):
    """Its intent, and its stretches of words, each with the kind of slot that it is, if any."""

    intent: str
    parts: list[tuple[str, str]]

    @property
    def text(self) -> str:
        return " ".join(words for words, _ in self.parts if words)

    @property
    def tags(self) -> list[str]:
        return [
            (kind and ("B-", "I-")[n > 0] + kind) or "O"
            for words, kind in self.parts
            for n, _ in enumerate(words.split())
        ]

    @property
    def asks(self) -> tuple[str, ...]:
        return (self.intent, *sorted(kind for _, kind in self.parts if kind))

    def pattern(self) -> str:
        return " ".join(kind or words for words, kind in self.parts)


def utterances(corpus: str, part: str) -> list[Utterance]:
    return list(_nlu_ed(part) if corpus == "nlu_ed" else _slu(corpus, part))


def _slu(corpus: str, part: str) -> Iterator[Utterance]:
    folder = needs(SHARED / "slu" / corpus / part)
    columns = [(folder / name).read_text("utf-8").splitlines() for name in ("seq.in", "seq.out", "label")]
    for text, tags, intent in zip(*columns, strict=True):
        words, parts, at = text.split(), [], 0
        for kind, first, last in slots_of(tags.split()):
            parts += [(" ".join(words[at:first]), ""), (" ".join(words[first:last]), kind)]
            at = last
        yield Utterance(intent, [*parts, (" ".join(words[at:]), "")])


def _nlu_ed(part: str) -> Iterator[Utterance]:
    folder = needs(SHARED / "nlu_ed/KFold_1" / f"{part}set")
    for file in sorted(folder.rglob("*.csv")):
        for row in csv.DictReader(file.open(encoding="utf-8"), delimiter=";"):
            text, parts, at = row["answer_annotation"], [], 0
            for match in _SLOT.finditer(text):
                kind = match.group(1).strip().replace(" ", "_")
                parts += [(text[at : match.start()].strip(), ""), (match.group(2).strip(), kind)]
                at = match.end()
            yield Utterance(f"{row['scenario']}_{row['intent']}", [*parts, (text[at:].strip(), "")])


def by_people(rows: list[Utterance]) -> list[tuple[Utterance, str]]:
    """Utterances with slots, and each as somebody else would have said it."""
    alike: dict[tuple[str, ...], list[Utterance]] = defaultdict(list)
    for row in rows:
        alike[row.asks].append(row)
    seeds, found = Seeds(0, "benchmarks/commands", 1), []
    for i, row in enumerate(rows):
        others = [other for other in alike[row.asks] if other.pattern() != row.pattern()] if len(row.asks) > 1 else []
        if others:
            found.append((row, _filled(seeds.stream(str(i), 0).choice(others), row)))
    return seeds.stream("rows", 0).sample(found, MOST)


def _filled(other: Utterance, row: Utterance) -> str:
    values: dict[str, list[str]] = defaultdict(list)
    for words, kind in row.parts:
        values[kind].append(words)
    return " ".join(part for words, kind in other.parts if (part := values[kind].pop(0) if kind else words))


def examples(rows: list[Utterance], labels: bool) -> tuple[Example, ...]:
    gold = [{"intent": row.intent, "slots": row.tags} if labels else None for row in rows]
    return tuple(Example(i, str(i), {"text": row.text}, g) for i, (row, g) in enumerate(zip(rows, gold, strict=True)))


def long_rows() -> Iterator[Row]:
    for corpus in CORPORA:
        test, train = utterances(corpus, "test"), utterances(corpus, "train")
        people = by_people(test)
        known = Seeds(0, "benchmarks/commands", 1).stream("train", 0).sample(train, POOL)
        yield _row(corpus, people, examples(known, True), "with labels")
        yield _row(corpus, people, examples(known, False), "texts alone")
        yield _row(corpus, people, examples(test, False), "texts alone, of the same file")


def _row(corpus: str, people: list[tuple[Utterance, str]], pool: tuple[Example, ...], how: str) -> Row:
    labels = how == "with labels"
    given = examples([row for row, _ in people], labels)
    task = "slu" if labels else "text"
    plan = Variation(operators=(OperatorSpec(NAME),), task=task, language="en", pools={NAME: pool})
    made = list(vary(given, plan))
    texts = [row.text for row, _ in people]
    auc = told_apart(
        [Pair(row.text, said, row.text) for row, said in people],
        [Pair(texts[v.row], v.inputs["text"], texts[v.row]) for v in made],
    )
    borrowed = sum("another row" in v.note for v in made) / len(made)
    return Row(
        name=f"{corpus}, {how}",
        what=f"`{NAME}` told from people, {corpus}, {how}",
        ours=auc.value,
        unit="AUC",
        more=False,
        asked=0.85,
        note=f"95% interval {auc.low:.3f} to {auc.high:.3f}, {len(people):,} utterances, "
        f"{len(made) / len(people):.0%} varied, {borrowed:.0%} of them as another row",
        by_chance=auc.high - auc.value,
    )


def rows() -> Iterator[Row]:
    texts = examples(utterances("atis", "test"), False)
    plan = Variation(operators=(OperatorSpec(NAME),), task="text", language="en")
    list(vary(texts[:2], plan))
    yield Row(
        "speed",
        f"`{NAME}`, {len(texts)} utterances",
        len(texts) / cpu_seconds(lambda: list(vary(texts, plan))),
        "texts/CPU s",
    )


def main() -> None:
    show("commands", (*rows(), *long_rows()))


if __name__ == "__main__":
    main()
