"""Controls: for how many texts each way to change the meaning is possible, and by which kinds of change.

Texts are FRMT's test set, and in English also the US sentences of the Indian-English pairs.

`python -m benchmarks.controls read` prints outputs to read, of texts that no rule was written on: FRMT's random bucket.
Needs ../shared/data: frmt, dialect_indian_english.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator

from benchmarks._dialect_choices import frmt
from benchmarks._measure import SHARED, Row, needs, show
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Variant
from unswayed.papers.dialect.corpora import read_pairs
from unswayed.vary.engine import Variation, vary

BASES = {"en": None, "pt": "pt-BR", "zh": "zh-CN"}
WAYS = ("replace", "insert", "delete")
PAIRS = "en, pairs"
PAPER = {  # Table 8 of Sun et al. (2023): % of all examples
    PAIRS: {"replace": 64.9, "insert": 60.1, "delete": 42.6},
    "pt": {"replace": 36.8, "insert": 21.0, "delete": 26.5},
    "zh": {"replace": 38.9, "insert": 23.7, "delete": 27.6},
}


def texts(language: str, split: str, bucket: str = "") -> list[str]:
    base = BASES[language]
    segments = frmt("zh" if language == "zh" else "pt", [split])
    found = [segment.texts[base] if base else segment.source for segment in segments if bucket in ("", segment.bucket)]
    return list(dict.fromkeys(found))


def controls(way: str, language: str, of: list[str]) -> list[Variant]:
    examples = [Example(i, str(i), {"text": text}) for i, text in enumerate(of)]
    plan = Variation(operators=(OperatorSpec(f"meaning/{way}"),), task="text", language=language)
    return list(vary(examples, plan))


def rows() -> Iterator[Row]:
    pairs = list(dict.fromkeys(pair.standard for pair in read_pairs(needs(SHARED / "dialect_indian_english"))))
    for name, of in [(PAIRS, pairs), *((language, texts(language, "test")) for language in BASES)]:
        for way in (*WAYS, "control"):
            made = controls(way, name[:2], of)
            named = [re.match(r"(\w+), ([\w ]+):", variant.note) for variant in made]
            kinds = Counter(found[1 if way == "control" else 2] for found in named if found)
            note = ", ".join(f"{kind} {100 * n / len(made):.0f}%" for kind, n in kinds.most_common())
            paper = PAPER.get(name, {}).get(way)
            what, share = f"texts with a control, `meaning/{way}`, {name}", 100 * len(made) / len(of)
            yield Row(f"{way}, {name}", what, share, "%", "paper" if paper else "", paper, note=note)


def sample(count: int = 17) -> Iterator[str]:
    """For each language, insertions and deletions in texts that are spread over the random bucket."""
    for language in BASES:
        of = texts(language, "dev", "random")
        for way in ("insert", "delete"):
            made = controls(way, language, of)
            step = max(1, len(made) // count)
            for variant in made[step // 2 :: step][:count]:
                yield f"{of[variant.row]}\n→ {variant.inputs['text']}\n  {variant.note}"


def main() -> None:
    if sys.argv[1:] == ["read"]:
        print("\n".join(sample()))
    else:
        show("controls", rows())


if __name__ == "__main__":
    main()
