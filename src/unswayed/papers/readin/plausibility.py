"""READIN's §3.3: is what people entered more plausible than simulated noise? Pairs to judge, and what was preferred.

Each pair has a person's version of a text and a simulated one. In the app, which is left is drawn at random; which of
the two is the person's is in the key file and in no item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from unswayed.base import DataError, Estimate, Example, NothingEvaluated, Seeds, UsageError, Variant, content_id
from unswayed.collect import key_file
from unswayed.stats import Observations, Question, Ratio, Resampling, binomial_tail, estimates, sign
from unswayed.storage import Judgement, Suite, read_judgements, write_json_lines

PAIRS = 160  # of each family, as in the paper
VERSION = 1  # of these definitions; part of every signature
PAPER = {"keyboard": 0.875, "speech": 0.863}

Side = Literal["a", "b"]


class PlausiblePair(msgspec.Struct, frozen=True):
    """What a person judges: which of the two is more likely what somebody entered?"""

    id: str
    a: str
    b: str
    original: str


class PairKey(msgspec.Struct, frozen=True):
    """What people must not see of a pair."""

    id: str
    human: Side
    family: str
    person: str
    operator: str
    example_id: str


class PlausibleChoice(msgspec.Struct, frozen=True):
    choice: Side


class Preference(msgspec.Struct, frozen=True):
    """How often the human version was chosen; `p` is of no preference, one pair one vote, by the majority of it."""

    family: str
    operator: str
    pairs: int
    judges: int
    human: Estimate
    p: float
    paper: float | None


class PlausiblePairs(NamedTuple):
    items: list[PlausiblePair]
    keys: list[PairKey]


def make_pairs(human: Suite, simulated: Suite, count: int = PAIRS, seed: int = 0) -> PlausiblePairs:
    """Pairs of altered versions of the same text by a person and by an operator of the same family, at random.

    No text is used twice in a family. Versions that are unaltered or the same say nothing, and are passed over.
    """
    ours = {e.id: (e, _altered(e, variants)) for e, variants in simulated.groups()}
    lots, drawn = Seeds(seed, "plausibility", VERSION), []
    for example, variants in human.groups():
        other, made = ours.get(example.id, (None, []))
        if other is not None and other.inputs != example.inputs:
            raise UsageError(f"Example {example.id!r} has another text in {simulated.path} than in {human.path}.")
        by_family: dict[str, list[tuple[Variant, Variant, str]]] = {}
        for person in _altered(example, variants):
            for variant in made:
                field = _field(example, person, variant)
                if variant.family == person.family and field:
                    by_family.setdefault(person.family, []).append((person, variant, field))
        for family, choices in sorted(by_family.items()):
            stream = lots.stream(example.id, 0, family)
            drawn.append((family, stream.bits(), example, stream.choice(choices), stream.choice("ab")))
    items, keys = [], []
    for family in sorted({one[0] for one in drawn}):
        chosen = sorted((one for one in drawn if one[0] == family), key=lambda one: one[1])[:count]
        for _, _, example, (person, variant, field), side in chosen:
            id = content_id([seed, human.id, simulated.id, example.id, family])
            texts = person.inputs[field], variant.inputs[field]
            a, b = texts if side == "a" else texts[::-1]
            items.append(PlausiblePair(id, a, b, example.inputs[field]))
            keys.append(PairKey(id, "a" if side == "a" else "b", family, person.source, variant.source, example.id))
    if not items:
        raise UsageError(f"{human.path} and {simulated.path} share no text that both alter in the same family.")
    return PlausiblePairs(items, keys)


def _altered(example: Example, variants: Sequence[Variant]) -> list[Variant]:
    return [v for v in variants if v.meaning == "same" and v.inputs != example.inputs]


def _field(example: Example, person: Variant, variant: Variant) -> str | None:
    """The first input that both altered, each in its way."""
    for name, text in example.inputs.items():
        if text != person.inputs[name] != variant.inputs[name] != text:
            return name
    return None


def write_pairs(pairs: PlausiblePairs, items: str | Path) -> None:
    """Writes the pairs, and their keys beside them."""
    write_json_lines(Path(items), pairs.items)
    write_json_lines(key_file(Path(items)), pairs.keys)


def read_preferences(answers: str | Path, settings: Resampling | None = None) -> list[Preference]:
    """By family and operator, how often people chose the human version. `answers` is what `collect export` wrote."""
    settings = settings or Resampling()
    used = [j for j in read_judgements(answers, "plausible", answer=PlausibleChoice) if j.counted]
    sets: dict[tuple[str, str], list[tuple[Judgement, bool]]] = {}
    for judgement in used:
        key = _key(judgement, Path(answers))
        sets.setdefault((key.family, key.operator), []).append((judgement, judgement.answer["choice"] == key.human))
    if not sets:
        raise NothingEvaluated(f"{answers} has no answers that count.")
    return list(_preferences(sets, settings))


def _key(judgement: Judgement, path: Path) -> PairKey:
    try:
        return msgspec.convert({**judgement.origin, "id": judgement.item}, PairKey)
    except msgspec.ValidationError as error:
        raise DataError(
            f"item {judgement.item!r} has no key ({error}). Make the study of the pairs that `unswayed survey pairs` "
            "wrote, with their key file next to them.", path
        ) from error  # fmt: skip


def _preferences(
    sets: dict[tuple[str, str], list[tuple[Judgement, bool]]], settings: Resampling
) -> Iterator[Preference]:
    asked, counted = [], []
    for (family, operator), votes in sorted(sets.items()):
        items = sorted({judgement.item for judgement, _ in votes})
        rows = np.zeros((len(items), 2))
        for judgement, human in votes:
            rows[items.index(judgement.item)] += human, 1
        column = Observations(np.arange(len(items)), rows, Ratio(), np.zeros(len(items), dtype=np.int64))
        said = content_id(sorted((j.item, j.person, human) for j, human in votes))
        facts = {"measure": f"plausible:{VERSION}", "set": f"{family} {operator}", "answers": said}
        asked.append(Question(column, sign(facts, settings)))
        counted.append((family, operator, rows, len({j.person for j, _ in votes})))
    for (family, operator, rows, judges), share in zip(counted, estimates(asked, settings), strict=True):
        won, lost = int((rows[:, 0] * 2 > rows[:, 1]).sum()), int((rows[:, 0] * 2 < rows[:, 1]).sum())
        p = min(1.0, 2 * float(binomial_tail(max(won, lost), won + lost))) if won + lost else 1.0
        yield Preference(family, operator, len(rows), judges, share, p, PAPER.get(family))
