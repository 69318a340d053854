"""The synonyms of `spoken/synonym_any` beside those that people chose when they translated NoiseQA's questions back.

A question with one word of a person's is told from the same question with one word of the operator's.
Needs ../shared/data/noiseqa and the extra sklearn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher

from benchmarks._apart import Pair, told_apart
from benchmarks._measure import SHARED, Row, needs, show
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, vary
from unswayed.vary.english import KIND_OF, forms, tagged

NAME = "spoken/synonym_any"
DATA = SHARED / "noiseqa/people.jsonl"


def by_people() -> list[tuple[str, str, str]]:
    """Paragraph, question, and the question with one verb, noun, adjective or adverb that a person chose."""
    found = []
    for line in needs(DATA).read_text("utf-8").splitlines():
        row = json.loads(line)
        question, other = row["question"], row["translated"]
        before, after = tagged(question), tagged(other)
        match = SequenceMatcher(None, [w.lower for w in before], [w.lower for w in after], autojunk=False)
        for kind, a, b, c, d in match.get_opcodes():
            if kind != "replace" or b - a != 1 or d - c != 1:
                continue
            old, new = before[a], after[c]
            same = forms().lemma(old.lower, old.tag) == forms().lemma(new.lower, new.tag)
            if old.tag in KIND_OF and new.tag in KIND_OF and not same:
                said = question[: old.start] + other[new.start : new.end] + question[old.end :]
                found.append((row["context"], question, said))
    return found


def long_rows() -> Iterator[Row]:
    people = by_people()
    examples = [Example(i, str(i), {"text": question}) for i, (_, question, _) in enumerate(people)]
    plan = Variation(operators=(OperatorSpec(NAME),), task="text", language="en", draws=2)
    made = list(vary(examples, plan))
    auc = told_apart(
        [Pair(question, said, article) for article, question, said in people],
        [Pair(people[v.row][1], v.inputs["text"], people[v.row][0]) for v in made],
    )
    yield Row(
        name="synonyms",
        what=f"`{NAME}` told from words that people chose, NoiseQA",
        ours=auc.value,
        unit="AUC",
        more=False,
        asked=0.72,
        note=f"95% interval {auc.low:.3f} to {auc.high:.3f}, {len(people)} words of people, {len(made)} of ours",
        by_chance=auc.high - auc.value,
    )


def main() -> None:
    show("synonyms", long_rows())


if __name__ == "__main__":
    main()
