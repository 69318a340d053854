"""Dialect operators beside what people wrote: of the edits where a person had the choice, how many the person made.

`python -m benchmarks.dialects` scores every operator; `features` prints the scores by feature; `read NAME` prints a
sample of outputs to read; `leave` prints the words that `dialect/taiwan` leaves alone.
Needs ../shared/data: frmt, redial, dialect_indian_english, mlqe_pe, noiseqa, rte; and the extra zh.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator

from benchmarks._dialect_choices import Choice, Share, frmt, paired, rewritten, share, spelled, translated
from benchmarks._measure import Row, show
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.vary.dialect.taiwan import in_another_sense
from unswayed.vary.engine import Variation, vary

ASKED = 80.0


def rows() -> Iterator[Row]:
    taiwan = cross_validated()
    elsewhere = [choice for choice in taiwan if choice.bucket != "lexical"]
    yield _row("taiwan", "`dialect/taiwan`, FRMT, words left alone fitted on the other half", taiwan)
    yield _row("taiwan_elsewhere", "the same without the lexical bucket", elsewhere)
    to_portugal = translated("dialect/portuguese", "pt-BR", "pt-PT")
    to_brazil = translated("dialect/portuguese", "pt-PT", "pt-BR", to="pt-BR")
    yield _row("portugal", "`dialect/portuguese`, FRMT", to_portugal)
    yield _row("brazil", "`dialect/portuguese` with `to=pt-BR`, FRMT", to_brazil)
    yield _row("uk", "`dialect/us_uk`, texts with another British spelling", spelled("uk", "score"))
    yield _row("us", "`dialect/us_uk` with `to=us`, texts with another American spelling", spelled("us", "score"))
    dense, others = rewritten("both"), rewritten("both", dense=False)
    yield _row("african_american", "`dialect/african_american`, ReDial, writers who use the dialect densely", dense)
    yield _row("other_writers", "`dialect/african_american`, ReDial, the other writers", others, None)
    pairs = "`dialect/indian_english`, the pairs that its rules were written on"
    yield _row("indian_english", pairs, paired())


def _row(name: str, what: str, choices: Iterable[Choice], asked: float | None = ASKED) -> Row:
    made, kept, neither = found = share(choices)
    note = f"{made} made, {kept} not made, {neither} said in another way"
    return Row(name, what, _percent(found), "%", asked=asked, note=note)


def _percent(found: Share) -> float | None:
    return None if found.value is None else 100 * found.value


def by_feature() -> Iterator[str]:
    """Lines of Markdown: what people did for each feature of the English dialects."""
    every = {"african_american": rewritten("both"), "indian_english": paired()}
    yield "| operator | feature | made | not made | in another way |"
    yield "|---|---|---:|---:|---:|"
    for name, choices in every.items():
        found: dict[str, list[Choice]] = defaultdict(list)
        for choice in choices:
            found[choice.feature].append(choice)
        for feature, of in sorted(found.items()):
            yield f"| {name} | {feature} | {' | '.join(map(str, share(of)))} |"


def all_words() -> list[Choice]:
    """OpenCC's words, but for those of computing in texts about other things."""
    found = translated("dialect/taiwan", "zh-CN", "zh-TW_Simplified", words="opencc")
    return [choice for choice in found if not in_another_sense(choice.old, choice.text)]


def left(choices: Iterable[Choice]) -> set[str]:
    """Words that Taiwan's translators often keep, or say otherwise."""
    found: dict[str, list[Choice]] = defaultdict(list)
    for choice in choices:
        found[choice.old].append(choice)
    shares = {word: share(of) for word, of in found.items()}
    return {word for word, (made, kept, neither) in shares.items() if made < 3 * kept + neither / 2}


def cross_validated() -> list[Choice]:
    """The edits in one half of FRMT, without the words that the other half leaves alone, and the other way round."""
    every = all_words()
    found: list[Choice] = []
    for half in (0, 1):
        alone = left(choice for choice in every if choice.half != half)
        found += [choice for choice in every if choice.half == half and choice.old not in alone]
    return found


def sample(name: str, count: int = 100) -> Iterator[str]:
    """Outputs to read: one a text, for texts of FRMT's random bucket, which no rule was written on."""
    language = {"dialect/taiwan": "zh", "dialect/portuguese": "pt"}.get(name, "en")
    base = {"zh": "zh-CN", "pt": "pt-BR"}.get(language)
    segments = [s for s in frmt(language if base else "pt", ["dev"]) if s.bucket == "random"]
    texts = [segment.texts[base] if base else segment.source for segment in segments]
    examples = [Example(i, str(i), {"text": text}) for i, text in enumerate(texts)]
    plan = Variation(operators=(OperatorSpec(name),), task="text", language=language, draws=1)
    for variant, _ in zip(vary(examples, plan), range(count), strict=False):
        yield f"{texts[variant.row]}\n→ {variant.inputs['text']}\n  {variant.note}"


def main() -> None:
    match sys.argv[1:]:
        case ["features"]:
            print("\n".join(by_feature()))
        case ["leave"]:
            print(" ".join(sorted(left(all_words()))))
        case ["read", name]:
            print("\n".join(sample(name)))
        case _:
            show("dialects", rows())


if __name__ == "__main__":
    main()
