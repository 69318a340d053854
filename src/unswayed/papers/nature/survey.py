"""The survey of NATURE's §5.1: altered utterances, balanced by operator and data, for people to judge their labels.

People see items; which operator made one, and which are originals kept as controls, stands in a key file of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from unswayed.base import Json, Seeds, UsageError, content_id, slots_of
from unswayed.collect import Slot, key_file
from unswayed.storage import Suite, write_json_lines

# Halves people at random: the two groups judge other utterances and the same controls.
GROUP_QUESTION = """
[[questions]]
name = "group"
text = "Is the day of the month of your birthday odd or even?"
answers = {1 = "odd", 2 = "even"}
"""


class SurveyItem(msgspec.Struct, frozen=True):
    """What a person judges: are this intent and these slots reasonable for the utterance?"""

    group: int
    id: str
    utterance: str
    marked: str  # the utterance with its slots in brackets
    slots: list[Slot]
    intent: str


class Key(msgspec.Struct, frozen=True):
    """What people must not see of an item. A control is an original and has no operator."""

    id: str
    control: bool
    operator: str | None
    suite: str
    suite_id: str
    example_id: str
    draw: int
    note: str


class SurveyDesign(NamedTuple):
    """How many items there are. Each group judges its share of the altered ones, and all controls."""

    per_operator: int = 12
    controls: int = 12
    groups: int = 2
    seed: int = 0


class Survey(NamedTuple):
    items: list[SurveyItem]
    keys: list[Key]


class _DrawnPlace(NamedTuple):
    """Where a candidate stands; ordered by lot."""

    lot: int
    row: int
    example_id: str
    draw: int
    operator: str


def make_survey(suites: Sequence[tuple[str, Suite]], design: SurveyDesign | None = None) -> Survey:
    """Items from named suites, in the random order in which each group sees them.

    No utterance is used twice, so that nobody judges two forms of one.
    """
    design = design or SurveyDesign()
    _check(suites, design)
    lots = Seeds(design.seed, "survey", 1)
    pools = [_pools(suite, lots) for _, suite in suites]
    operators = sorted({operator for pool, _ in pools for operator in pool})
    chosen: list[list[tuple[_DrawnPlace, int | None]]] = [[] for _ in suites]  # by suite: a place, and its group
    used: list[set[int]] = [set() for _ in suites]
    turn = Counter[str]()
    for number, operator in enumerate(operators):
        having = [which for which, (varied, _) in enumerate(pools) if operator in varied]
        for which, size in zip(having, _shares(design.per_operator, len(having), number), strict=True):
            for place in _taken(pools[which][0][operator], size, used[which], operator, suites[which][0]):
                chosen[which].append((place, turn[operator] % design.groups + 1))
                turn[operator] += 1
    for which, size in enumerate(_shares(design.controls, len(suites), 0)):
        controls = _taken(pools[which][1], size, used[which], "controls", suites[which][0])
        chosen[which] += [(place, None) for place in controls]
    made = [
        entry
        for (name, suite), places in zip(suites, chosen, strict=True)
        for entry in _entries(name, suite, places, design)
    ]
    made.sort(key=lambda entry: (entry[0].group, lots.stream(f"{entry[0].group}/{entry[0].id}", 0, "order").bits()))
    return Survey([item for item, _ in made], sorted({key.id: key for _, key in made}.values(), key=lambda k: k.id))


def _check(suites: Sequence[tuple[str, Suite]], design: SurveyDesign) -> None:
    if not suites:
        raise UsageError("No suite was given. Make one with `unswayed vary`.")
    for name, suite in suites:
        if suite.manifest.task != "slu":
            raise UsageError(f"{name} is of the task {suite.manifest.task}; the survey asks about intents and slots.")
    if design.per_operator < 1 or design.controls < 0 or design.groups < 1:
        raise UsageError("A survey needs at least one utterance per operator and one group. Controls may be 0.")


def _pools(suite: Suite, lots: Seeds) -> tuple[dict[str, list[_DrawnPlace]], list[_DrawnPlace]]:
    """Variants by operator, and originals, each list in random order."""
    varied: dict[str, list[_DrawnPlace]] = {}
    originals = []
    for example, variants in suite.groups():
        originals.append(_DrawnPlace(lots.stream(example.id, 0, "control").bits(), example.row, example.id, -1, ""))
        for v in variants:
            if v.meaning == "same" and v.gold is not None:
                lot = lots.stream(v.example_id, v.draw, v.source).bits()
                varied.setdefault(v.source, []).append(_DrawnPlace(lot, v.row, v.example_id, v.draw, v.source))
    return {operator: sorted(places) for operator, places in varied.items()}, sorted(originals)


def _shares(total: int, parts: int, turn: int) -> list[int]:
    """`total` in `parts` as even as can be; what is left over goes to other parts at each turn."""
    rest = total % parts
    first = turn * rest
    return [total // parts + ((part - first) % parts < rest) for part in range(parts)]


def _taken(pool: list[_DrawnPlace], size: int, used: set[int], what: str, suite: str) -> list[_DrawnPlace]:
    taken: list[_DrawnPlace] = []
    for place in pool:
        if len(taken) == size:
            break
        if place.row not in used:
            used.add(place.row)
            taken.append(place)
    if len(taken) < size:
        raise UsageError(f"{suite} has utterances for only {len(taken)} of {size} {what}. Ask for fewer, or make more.")
    return taken


def _entries(
    name: str, suite: Suite, places: list[tuple[_DrawnPlace, int | None]], design: SurveyDesign
) -> Iterator[tuple[SurveyItem, Key]]:
    wanted = {(place.row, place.draw, place.operator): group for place, group in places}
    for example, variants in suite.groups():
        texts = [(-1, "", example.inputs["text"], example.gold, "")]
        texts += [(v.draw, v.source, v.inputs["text"], v.gold, v.note) for v in variants]
        for draw, operator, text, gold, note in texts:
            if (example.row, draw, operator) not in wanted:
                continue
            group = wanted[example.row, draw, operator]
            id = content_id([design.seed, suite.id, example.id, draw, operator])  # tells nobody what it is
            control = not operator
            key = Key(id, control, operator or None, name, suite.id, example.id, max(draw, 0), note)
            for number in range(1, design.groups + 1) if group is None else (group,):
                yield _item(number, id, text, gold), key


def _item(group: int, id: str, text: str, gold: Json) -> SurveyItem:
    tokens = text.split(" ")
    slots = slots_of(gold["slots"])
    marked = tokens.copy()
    for name, first, last in slots:
        marked[first] = f"[{name} : {marked[first]}"
        marked[last - 1] += "]"
    shown = [Slot(name, " ".join(tokens[first:last])) for name, first, last in slots]
    return SurveyItem(group, id, text, " ".join(marked), shown, gold["intent"])


def write_survey(survey: Survey, items: str | Path) -> None:
    """Writes the items, and their keys beside them."""
    write_json_lines(Path(items), survey.items)
    write_json_lines(key_file(Path(items)), survey.keys)
