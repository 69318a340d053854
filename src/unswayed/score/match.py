"""Match: the share of answers that are the same as the gold, in the part and by the rule that are declared.

`Comparing` knows that part (*extract*) and that rule (*equivalent*). Scores, flips, pages and gates all use the one
that the plan, the suite or the task declares.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from unswayed.base.chat import CHOICES, moved_back
from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import StoredFileError, UnswayedError, UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.task import Known, Task
from unswayed.base.values import Example, Inputs, Json, Output, Variant
from unswayed.score._equivalent import (
    REMEMBERED,
    TASK_RULES,
    AnswerPair,
    EquivalentRule,
    equivalent_named,
    extract_named,
    text_of,
)
from unswayed.score._scorer import Array, MeanScorer, WithInputs, label_of, texts_of
from unswayed.storage.answers import AnswerStore, MemoryStores, Place
from unswayed.storage.suite import Suite

AnswersOfRow = tuple[int, Hashable, Hashable]  # a row of the suite, the clean answer to it and another
AnsweredExample = tuple[Example, Output, list[tuple[Variant, Output]]]
_JUDGE_FILE = "judge.sqlite"  # a judge's answers, in the folder of the run
_LONG_ANSWER_WORDS = 25  # words on average, from which on wording varies freely
_BLOCK_EXAMPLES = 200  # examples whose answers are compared together
_SUITE_RULES = ("exact", "contains", "rouge-l", *TASK_RULES)  # rules that a suite may declare
_NO_PART = ("", "the part to compare is not there")
_OF_ANSWERS = ("json", "regex:", "after:")  # parts of answers in a form that gold need not have


class Comparing(AbstractContextManager["Comparing"]):
    """Tells whether two answers of a task are the same. Without a rule, they are if the task's `answer`s are equal."""

    unreadable: ClassVar[Hashable] = ()  # the answer that can't be read; it differs from every other
    no_part: ClassVar[Hashable] = _NO_PART  # the answer without the part to compare

    def __init__(self, task: Task, extract: str = "", equivalent: str = "", rubric: str | None = None) -> None:
        self.task = task
        self.extract = "" if extract == "none" else extract
        self.equivalent = equivalent or ("exact" if self.extract else "")
        # As results show it, such as `number then exact`; empty without a rule.
        self.name = f"{self.extract} then {self.equivalent}" if self.extract else self.equivalent
        self.part = extract_named(self.extract)  # what of an answer or a gold is compared; None where it has no such
        asked = self.equivalent or ("exact" if rubric is not None else "")
        self._rule: EquivalentRule | None = equivalent_named(asked, rubric) if asked else None
        self.rubric = self._rule.rubric if self._rule else ""
        self.sees_inputs = self._rule is not None and self._rule.sees_inputs
        # Are answers the same exactly where their keys are? Else a rule must `watch` the items first.
        self.plain = self._rule is None or self._rule.transitive
        self.matches = self._rule is not None and self._rule.matches
        self.slow = self._rule is not None and self._rule.slow
        self.beside = self._rule.beside if self._rule else ""  # a second measure of each change, such as `gained`
        self._store: AnswerStore | None = None
        self._known: deque[dict[AnswersOfRow, bool | None]] = deque(maxlen=4)  # a block each
        self._words = self._answers = 0  # of clean answers
        self._key_of_text: Callable[[str], Hashable] = lru_cache(REMEMBERED)(self._key)
        self._plain_answer: Known[Hashable] = Known(lambda value: (task.answer(value),))
        self.unjudged = 0  # pairs on which a judge said neither yes nor no

    @property
    def decides(self) -> str | None:
        """What decides whether answers are the same; None if that can't be known."""
        more = self._rule.decides if self._rule else ""
        return None if more is None else f"{self.name} {content_id(more)}" if more else self.name

    def rests_on(self) -> Dependencies | None:
        """What else was found to decide it, by code that is not unswayed's."""
        return self._rule.rests_on() if self._rule else None

    @property
    def rule(self) -> str | None:
        """What decides when two parts are the same, whatever the part: the rule, its judge and its rubric."""
        more = self._rule.decides if self._rule else ""
        return None if more is None else content_id([self.equivalent, more])

    def cache_in_run(self, place: Place | None) -> Self:
        """Caches a judge's verdicts with a run, so that the judge gets no pair twice."""
        with suppress(UnswayedError):  # nothing can be written there
            self.cache_judgements(place / _JUDGE_FILE if isinstance(place, Path) else place)
        return self

    def cache_judgements(self, place: str | Path | MemoryStores | None) -> Self:
        """Caches a judge's verdicts in a file or in memory; without a place, nothing is cached."""
        if place is not None and self._rule is not None and self._rule.asks:
            self._store = place.verdicts if isinstance(place, MemoryStores) else AnswerStore.shared(Path(place))
        return self

    def used(self) -> dict[str, float]:
        """What the judge used, such as calls, tokens and cost."""
        if self._store is None:
            return {}
        self._store.commit()
        return self._store.used()

    def __exit__(self, *error: object) -> None:
        if self._store is not None:
            with self._store:  # which closes one in a file
                self._store = None

    def warnings(self) -> list[str]:
        """What a reader should not overlook."""
        found = []
        if self.unjudged:
            found.append(f"{self.unjudged:,} verdicts of {self.equivalent} were neither yes nor no: left out.")
        if self.equivalent == "contains" and self._words > _LONG_ANSWER_WORDS * max(self._answers, 1):
            found.append(
                f"Answers have {self._words // self._answers} words on average, and `contains` counts most rewordings "
                f"as changes. Use {option('equivalent')} judge:SYSTEM or rouge-l for long answers."
            )
        return found

    def gold_part(self, gold: Json) -> Json:
        """What of a gold is compared; a plain gold has no part of JSON or after a mark, and is compared whole."""
        part = self.part(gold)
        return gold if part is None and self.extract.startswith(_OF_ANSWERS) else part

    def label(self, value: Json, gold: bool = False) -> str | None:
        """The task's class label in what is compared of an answer or a gold; None where a rule compares more freely."""
        found = label_of(self.gold_part(value) if gold else self.part(value), self.task)
        if found is None or self._rule is None:
            return found
        return self._rule.key(found) if self.plain else None

    def shown(self, value: Json) -> str:
        """The part that is compared, as a text."""
        return text_of(self.part(value))

    def key(self, value: Json) -> Hashable:
        """Values of one key are the same."""
        return self._key_of_text(value) if type(value) is str else self._key(value)

    def _key(self, value: Json) -> Hashable:
        part = self.part(value)
        return _NO_PART if part is None and self.extract else self.part_key(part)

    def part_key(self, part: Json) -> Hashable:
        """The same of a part."""
        return (self._rule.key(part) if self._rule else "",)

    def answer(self, output: Output) -> Hashable:
        """What is compared of an output; None where there is none, and `unreadable` if it has not the task's form."""
        if output.error is not None and not self.reads(output):
            return self.unreadable if output.unreadable else None
        if self._rule is not None:
            return self.key(output.value)
        try:
            return self._plain_answer(output.value)
        except (AttributeError, KeyError, TypeError, ValueError):
            return self.unreadable

    def reads(self, output: Output) -> bool:
        """Is there something to compare in an answer that has not the task's form? A part of it may well be there."""
        return bool(self.extract) and output.unreadable and output.value is not None

    def varied(self, example: Example, variant: Variant, output: Output) -> Hashable:
        """What is compared of a variant's output: where choices changed places, the choice that its letter is of."""
        choices = variant.inputs.get(CHOICES)
        if choices is None or output.error is not None or choices == example.inputs.get(CHOICES):
            return self.answer(output)
        letter = self.part(output.value) if self.extract == "choice" else self.task.label(output.value)
        if not isinstance(letter, str):
            return self.answer(output)
        return self.answer(Output(moved_back(letter, example.inputs, variant.inputs)))

    def watch(self, items: Iterable[AnsweredExample]) -> Iterator[AnsweredExample]:
        """The items of a run as they are, once it is known which of their answers are the same."""
        if self.plain:
            yield from items
            return
        stream = iter(items)
        while block := list(islice(stream, _BLOCK_EXAMPLES)):  # a model compares many pairs at once faster than one
            self.count_words(clean for _, clean, _ in block)
            due: dict[AnswersOfRow, AnswerPair] = {}
            for example, clean, varied in block:
                before = self.answer(clean)
                for variant, output in varied if self.comparable(before) else ():
                    after = self.varied(example, variant, output)
                    if self.comparable(after) and after != before:
                        said, reference = self.part(output.value), self.part(clean.value)
                        pair = AnswerPair(said, reference, example.inputs, False, variant.gold)
                        due[example.row, before, after] = pair
            self._known.append(dict(zip(due, self.same(list(due.values())), strict=True)))
            yield from block

    def comparable(self, answer: Hashable) -> bool:
        """Is this what can be compared: no missing answer, none that can't be read, and the part is there?"""
        return answer not in (None, self.unreadable, _NO_PART)

    def count_words(self, answers: Iterable[Output]) -> None:
        """Counts the words of clean answers, for a warning."""
        for answer in answers if self.equivalent == "contains" else ():
            if answer.ok:
                self._answers += 1
                self._words += len(str(answer.value).split())

    def flip(self, row: int, before: Hashable, after: Hashable) -> int:
        """1 where two answers of the example of that row differ, 0 where not, -1 where that can't be said."""
        if before is None or after is None:
            return -1
        if before == after or self.plain:
            return int(before != after)
        if _NO_PART in (before, after) or self.unreadable in (before, after):
            return 1
        same = next(known[row, before, after] for known in self._known if (row, before, after) in known)
        return -1 if same is None else int(not same)

    def values_beside(self, pairs: Sequence[AnswerPair]) -> list[float]:
        """The measure `beside` of the change between each two parts."""
        return [self._rule.value_beside(pair) if self._rule else 0.0 for pair in pairs]

    def same(self, pairs: Sequence[AnswerPair]) -> list[bool | None]:
        """Whether each two parts are the same; None where a judge said neither yes nor no."""
        assert self._rule is not None
        found = self._rule.same(pairs, self._store) if pairs else []
        self.unjudged += found.count(None)
        return found

    def verdicts(self, asked: Sequence[tuple[Json, Json, Inputs]]) -> list[bool | None]:
        """Whether each answer is the same as its reference, both given with the inputs that they answer."""
        alike = [self.key(said) == self.key(reference) for said, reference, _ in asked]
        due = [one for one, same in zip(asked, alike, strict=True) if not same]
        told = iter(self.same([AnswerPair(self.part(a), self.part(b), inputs, False) for a, b, inputs in due]))
        return [True if same else next(told) for same in alike]

    def right(self, output: Json, gold: Json, inputs: Inputs) -> list[AnswerPair] | bool:
        """Whether an output is right, or the pairs of which one must be the same for that."""
        said = self.key(output)
        if said is _NO_PART:
            return False
        golds = [self.gold_part(one) for one in golds_of(gold)]
        golds = [part for part in golds if part is not None]
        if any(said == self.part_key(one) for one in golds):
            return True
        return False if self.plain else [AnswerPair(self.part(output), one, inputs, True) for one in golds]


def judge_used(folder: Place) -> dict[str, float]:
    """What judges used for the run in a folder or in memory, such as calls, tokens and cost."""
    if isinstance(folder, MemoryStores):
        folder.verdicts.commit()
        return folder.verdicts.used()
    if not (folder / _JUDGE_FILE).exists():
        return {}
    with AnswerStore.shared(folder / _JUDGE_FILE) as judged:
        return judged.used()


def comparing_for(suite: Suite, extract: str = "", equivalent: str = "", rubric: str | None = None) -> Comparing:
    """What is compared on a suite: as chosen, or as the suite's data or its task declares."""
    task, declared = suite.task, suite.manifest.compared
    if (
        declared.get("equivalent", "exact").partition("@")[0] not in _SUITE_RULES
    ):  # a suite from somebody else names no code
        raise StoredFileError(
            f"{suite.name}: the suite compares answers by {declared['equivalent']!r}, which is not "
            f"one of {', '.join(_SUITE_RULES)}. Choose a rule with {option('equivalent')}."
        )
    own = task.compared[1].partition("@")[0]
    foreign = equivalent if equivalent.partition("@")[0] != own else ""
    if task.own_rule and (foreign or extract not in ("", "none")):
        said = f"{option('equivalent')} {foreign}" if foreign else f"{option('extract')} {extract}"
        how = f"by the rule {own}@…" if own else "as sets"
        raise UsageError(
            f"{said} compares texts, and the task {task.name} compares its outputs {how}. Leave it out, or make the "
            f"suite with {option('task')} generate."
        )
    if equivalent:  # a rule that was chosen compares whole answers, unless a part was chosen too
        return Comparing(task, extract, equivalent, rubric)
    extract = extract or declared.get("extract", "") or task.compared[0]
    whole = extract in ("", "none")
    return Comparing(task, extract, declared.get("equivalent", "") or (task.compared[1] if whole else "exact"), rubric)


def golds_of(gold: Json) -> list[Json]:
    """The right answers, of which any will do: those of a list, of SQuAD's form, or the gold itself."""
    if isinstance(gold, dict) and "answers" in gold and (texts := texts_of(gold)) is not None:
        return list(texts)
    return gold if isinstance(gold, list) else [gold]


class Match(MeanScorer):
    """Gold is a text, a number, a list of them or SQuAD's answers; any of several is right. Without a rule, `contains`
    is used."""

    name = "match"

    def __init__(self, comparing: Comparing | None = None) -> None:
        self._comparing = comparing
        if comparing is not None:
            self.name = f"match({comparing.name})"  # type: ignore[misc]
            self.sees_inputs = comparing.sees_inputs  # type: ignore[misc]
        self.stored = comparing is not None and comparing.slow  # type: ignore[misc]

    @property
    def decides(self) -> str | None:
        return self._comparing.decides if self._comparing else ""

    def _comparing_for(self, task: Task) -> Comparing:
        if self._comparing is None:
            extract, equivalent = task.compared
            self._comparing = Comparing(task, extract, equivalent or "contains")
        return self._comparing

    def key(self, value: Json, task: Task) -> Hashable:
        return None if value is None else self._comparing_for(task).key(value)

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        rule = self._comparing_for(task)
        parts = [rule.gold_part(one) for one in golds_of(gold) if one is not None]
        return tuple(rule.part_key(part) for part in parts if part is not None) or None

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        rule, rows = self._comparing_for(task), np.ones((len(outputs), 2))
        pairs, owners = [], []
        for at, (output, due) in enumerate(zip(outputs, golds, strict=True)):
            gold, inputs = (due.gold, due.inputs) if isinstance(due, WithInputs) else (due, {})
            found = rule.right(output, gold, inputs)
            rows[at, 0] = float(found is True)
            if not isinstance(found, bool):
                pairs += found
                owners += [at] * len(found)
        for at, same in zip(owners, rule.same(pairs), strict=True):
            # right if the same as any gold; not known if some verdict is missing and none says so
            rows[at, 0] = 1.0 if same or rows[at, 0] == 1.0 else np.nan if same is None else rows[at, 0]
        return rows
