"""Applies operators to examples: each of them or one at random, every draw, labels moved, in the examples' order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal

import msgspec

from unfazed.core.edits import LabelsLost, apply
from unfazed.core.errors import CannotKeepLabels, UnknownName, UsageError, option
from unfazed.core.identify import UNSURE
from unfazed.core.language import knows, require_language
from unfazed.core.seeds import Seeds
from unfazed.core.suite import LANGUAGE
from unfazed.core.task import task_named
from unfazed.core.values import Example, Json, Variant
from unfazed.vary import operators
from unfazed.vary.guard import LabelGuard
from unfazed.vary.operator import UNALTERED, Change, Operator, PromptOperator, Text, describe

MOST_DRAWS = 100_000
MOST_SHOWN = 6  # languages of an operator in one message
_TRIES = 12  # how often an operator draws again where a guard objects
BLOCK = 512  # examples handled at once: enough for operators that batch, little enough to stream


class OperatorSpec(msgspec.Struct, frozen=True):
    """An operator by name, with its parameters.

    Example: `unfazed.OperatorSpec("keyboard/adjacent", {"rate": 0.1})`.
    """

    name: str
    params: dict[str, Json] = {}

    def make(self) -> Operator:
        cls = operators.get(self.name)
        known = cls.parameters()
        for key in self.params:
            if key not in known:
                raise UnknownName(f"parameter of {self.name}", key, known)
        try:
            operator = cls(**self.params)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{self.name} can't be made with {self.params}: {error}.") from error
        operator.name, operator.family = self.name, self.name.split("/", 1)[0]
        return operator

    def describe(self) -> dict[str, Json]:
        cls = operators.get(self.name)
        params = {**{k: p.default for k, p in cls.parameters().items()}, **self.params}
        return describe(self.name, cls, {**params, **cls.pinned(params)})


class Variation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides which variants an example gets."""

    operators: tuple[OperatorSpec, ...]
    task: str
    language: str
    language_guessed: bool = False
    draws: int = 1
    seed: int = 0
    fields: tuple[str, ...] = ()
    pools: dict[str, tuple[Example, ...]] = {}  # by operator, the examples that it is given
    set: Literal["each", "random"] = "each"  # a variant by each operator, or by one of them at random
    guard: LabelGuard | None = None  # refuses variants whose words training labels contradict

    def check(self) -> None:
        """Raises before any work where an operator can't be used for this language or task."""
        names = [spec.name for spec in self.operators]
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice:
            raise UsageError(f"The operator {twice} is listed twice. Make two suites to compare its parameters.")
        if not names:
            raise UsageError(f"No operator. Name one with {option('with', 'operators')}. See `unfazed list operators`.")
        if not 1 <= self.draws <= MOST_DRAWS:
            raise UsageError(f"{option('draws')} must be a number from 1 to {MOST_DRAWS:,}, not {self.draws}.")
        for name in names:
            self.require(name, operators.get(name))

    def require(self, name: str, operator: type[Operator]) -> None:
        """Raises where one operator can't be used."""
        if not knows(operator.languages, self.language):
            require_language(
                name, operator.languages, self.language, self.language_guessed, self._usable(name, operator)
            )
        if task_named(self.task).aligned and not operator.aligned:
            raise CannotKeepLabels(
                f"{name} rewrites whole texts, so the labels of a {self.task} example can't be kept true."
            )

    def _usable(self, name: str, instead_of: type[Operator]) -> list[str]:
        """The operators like this one that know this language and keep the labels of this task, its family first."""
        aligned = task_named(self.task).aligned
        every = [(other, operators.get(other)) for other in operators.names()]
        fit = [n for n, o in every if knows(o.languages, self.language) and (o.aligned or not aligned)]
        alike = [other for other in fit if operators.get(other).meaning == instead_of.meaning]
        family = name.partition("/")[0]
        return sorted(alike, key=lambda other: other.partition("/")[0] != family)


_Place = tuple[int, int]  # an example's place in a block, and a draw
_Texts = Sequence[Sequence[Text]]  # of a block's examples, those that are varied


def _every(operator: PromptOperator) -> int:
    """Prompts, of which each example is asked with one."""
    return max(1, round(1 / operator.share))


def _check_share(operator: PromptOperator, draws: int) -> None:
    if (every := _every(operator)) > draws:
        raise UsageError(
            f"{operator.name}: share={operator.share:g} asks each example with one of {every} prompts, but there are "
            f"{draws}. Use {option('draws')} {every} or more, or a larger share."
        )


class Varier:
    """Makes the variants of blocks of examples. Holds the operators, so make one a process."""

    def __init__(self, variation: Variation, made: Sequence[Operator] | None = None, keep_gold: bool = False) -> None:
        """`made` are operators to use instead of the variation's own; `keep_gold` leaves it to controls too."""
        if made is None:
            variation.check()
        for operator in made or ():
            variation.require(operator.name, type(operator))
        self.variation = variation
        self.task = task_named(variation.task)
        self._aligned, self._move = self.task.aligned, self.task.move
        self._chosen = variation.fields or self.task.varied  # of every example; else each has its own
        self.keep_gold = keep_gold
        self._mixed = "+" in variation.language
        self.operators = [spec.make() for spec in variation.operators] if made is None else list(made)
        for operator in self.operators:
            if isinstance(operator, PromptOperator):
                _check_share(operator, variation.draws)
            if operator.pool:
                operator.take_pool(variation.pools.get(operator.name, ()))
        self.seeds = [Seeds(variation.seed, op.name, op.version) for op in self.operators]
        self._by_name = sorted(range(len(self.operators)), key=lambda k: self.operators[k].name)
        self._lots = Seeds(variation.seed, "set/random", 1)

    def block(self, examples: Sequence[Example]) -> tuple[list[Variant], Counter[str]]:
        """The variants of these examples in their order, and how often an operator or set found nothing to change."""
        texts = [self._texts(example) for example in examples]
        return self._each(examples, texts) if self.variation.set == "each" else self._random(examples, texts)

    def _each(self, examples: Sequence[Example], texts: _Texts) -> tuple[list[Variant], Counter[str]]:
        made: list[list[Variant]] = [[] for _ in examples]
        unchanged: Counter[str] = Counter()
        for k, operator in enumerate(self.operators):
            changed = set()
            its = [i for i, example in enumerate(examples) if self._knows(k, example)]
            for draw in range(self.variation.draws):
                places = [(i, draw) for i in its]
                for (i, _), variant in self._applied(k, places, examples, texts):
                    made[i].append(variant)
                    changed.add(i)
            if len(changed) < len(its):
                unchanged[operator.name] += len(its) - len(changed)
        return [variant for variants in made for variant in variants], unchanged

    def _random(self, examples: Sequence[Example], texts: _Texts) -> tuple[list[Variant], Counter[str]]:
        """Draws an operator for each place; where it finds nothing to change, another of those not yet tried."""
        places = [(i, draw) for i in range(len(examples)) for draw in range(self.variation.draws)]
        lots = {place: self._lots.stream(examples[place[0]].id, place[1]) for place in places}
        untried: dict[_Place, list[int]] = {}
        made: dict[_Place, Variant] = {}
        pending = places
        while pending:
            drawn: dict[int, list[_Place]] = defaultdict(list)
            for place in pending:
                rest = [k for k in untried.get(place, self._by_name) if self._knows(k, examples[place[0]])]
                if rest:
                    drawn[lots[place].choice(rest)].append(place)
            pending = []
            for k, chosen in drawn.items():
                made.update(self._applied(k, chosen, examples, texts))
                failed = [place for place in chosen if place not in made]
                untried |= {place: [o for o in untried.get(place, self._by_name) if o != k] for place in failed}
                pending += failed
        left = len(examples) - len({i for i, _ in made})
        return [made[place] for place in places if place in made], Counter({"set/random": left} if left else {})

    def _applied(
        self, k: int, places: Sequence[_Place], examples: Sequence[Example], texts: _Texts
    ) -> Iterator[tuple[_Place, Variant]]:
        """The variants that one operator makes at these places of a block; none where it finds nothing to change."""
        operator = self.operators[k]
        if isinstance(operator, PromptOperator):
            yield from self._rewritten(operator, self.seeds[k], places, examples)
            return
        guard = self.variation.guard if operator.meaning == "same" else None
        if guard is None:
            yield from self._attempt(k, places, examples, texts)
            return
        for attempt in range(_TRIES):
            refused = []
            for place, variant in self._attempt(k, places, examples, texts, attempt):
                if guard.objection(examples[place[0]], variant.inputs, variant.gold, operator.rewords):
                    refused.append(place)
                else:
                    yield place, variant
            if not refused:
                return
            places = refused

    def _attempt(
        self, k: int, places: Sequence[_Place], examples: Sequence[Example], texts: _Texts, attempt: int = 0
    ) -> Iterator[tuple[_Place, Variant]]:
        operator, stream = self.operators[k], self.seeds[k].stream
        again = f" again {attempt}" if attempt else ""
        given, rngs = [], []
        for i, draw in places:
            id = examples[i].id
            for text in texts[i]:
                given.append(text)
                rngs.append(stream(id, draw, text.field + again))
        changes = operator.changes(given, rngs)
        for change in changes:
            if change is not None and not isinstance(change, tuple):
                raise UsageError(
                    f"{operator.name} gave {change!r:.60}. `change` must return a Change, or None for no change."
                )
        if not self._aligned and len(changes) == len(places) and all(len(texts[i]) == 1 for i, _ in places):
            yield from self._simple(operator, places, examples, texts, changes)
            return
        at = 0
        for place in places:
            i, draw = place
            its = texts[i]
            made = self._variant(operator, draw, examples[i], its, changes[at : at + len(its)])
            at += len(its)
            if made is not None:
                yield place, made

    def _simple(
        self,
        operator: Operator,
        places: Sequence[_Place],
        examples: Sequence[Example],
        texts: _Texts,
        changes: Sequence[Change | None],
    ) -> Iterator[tuple[_Place, Variant]]:
        """What `_variant` makes, where each example has one text and no label that moves: the common case, sooner."""
        name, family, meaning = operator.name, operator.family, operator.meaning
        kept = self.keep_gold or meaning == "same"
        for place, change in zip(places, changes, strict=True):
            if change is None:
                continue
            i, draw = place
            example, (text,) = examples[i], texts[i]
            edits, note = change
            if len(edits) == 1:
                ((start, end, new),) = edits
                before = text.text
                if (made := before[:start] + new + before[end:]) != before:
                    gold = example.gold if kept else None
                    inputs = {**example.inputs, text.field: made}
                    yield place, Variant(example.row, example.id, draw, name, family, meaning, inputs, gold, note)
                    continue
            variant = self._variant(operator, draw, example, (text,), [change])
            if variant is not None:
                yield place, variant

    def _rewritten(
        self, operator: PromptOperator, seeds: Seeds, places: Sequence[_Place], examples: Sequence[Example]
    ) -> Iterator[tuple[_Place, Variant]]:
        every = _every(operator)
        for i, draw in places:
            example = examples[i]
            if every > 1 and seeds.stream(example.id, draw // every, "share").below(every) != draw % every:
                continue
            made = operator.rewrite(example, self._language(example), seeds.stream(example.id, draw))
            if made is not None:
                inputs, gold, note = made
                names = operator.name, operator.family, operator.meaning
                yield (i, draw), Variant(example.row, example.id, draw, *names, inputs, gold, note)

    def _variant(
        self, operator: Operator, draw: int, example: Example, texts: Sequence[Text], changes: list[Change | None]
    ) -> Variant | None:
        before, gold = example.inputs, example.gold
        inputs, note = before.copy(), ""
        for text, change in zip(texts, changes, strict=True):
            if change is None:
                continue
            edits, said = change
            field = text.field
            if gold is not None and self._aligned:
                try:
                    inputs[field], gold = self._move(gold, field, before[field], edits)
                except LabelsLost:
                    return None  # the change can't be made without making a label false
            else:
                inputs[field] = apply(before[field], edits)
            if len(texts) > 1:
                said = f"{field}: {said}"
            note = f"{note}; {said}" if note else said
        if inputs == before:
            if all(change is None for change in changes):
                return None
            if not operator.unaltered:
                raise UsageError(
                    f"{operator.name} returned the text of example {example.id!r} unchanged. It must return None, or "
                    f"have `unaltered` if it simulates people who may leave a text as it is."
                )
            gold, note = example.gold, UNALTERED.note
        return Variant(
            example.row,
            example.id,
            draw,
            operator.name,
            operator.family,
            operator.meaning,
            inputs,
            # after a control the answer should differ; which it then is, nobody said
            gold if self.keep_gold or operator.meaning == "same" else None,
            note,
        )

    def _language(self, example: Example) -> str:
        return example.groups.get(LANGUAGE, UNSURE) if self._mixed else self.variation.language

    def _knows(self, k: int, example: Example) -> bool:
        """Can this operator vary the example? In a mixed file, some rows are in languages that it does not know."""
        return not self._mixed or knows(self.operators[k].languages, self._language(example))

    def _texts(self, example: Example) -> list[Text]:
        """The texts that are varied. Every operator and draw is given the same, which find their tokens once."""
        chosen = self._chosen or self.task.texts(example.inputs)
        for field in chosen:
            if field not in example.inputs:
                has = ", ".join(example.inputs)
                raise UsageError(f"Example {example.id!r} (row {example.row}) has no input {field!r}; it has {has}.")
        inputs, language = example.inputs, self._language(example)
        aligned = self.task if self._aligned else None
        return [Text(inputs[field], language, example.gold, field, aligned, inputs) for field in chosen]


def in_other_languages(names: Iterable[str], languages: Mapping[str, int]) -> Iterator[str]:
    """A sentence on each operator that leaves out rows of a mixed file, whose languages are counted."""
    for name in names:
        known = operators.get(name).languages
        others = {language: count for language, count in languages.items() if not knows(known, language)}
        if others:
            listed = ", ".join(f"{n:,} {'unsure' if tag == UNSURE else 'in ' + tag}" for tag, n in others.items())
            varies = f"it varies {', '.join(known)}" if len(known) <= MOST_SHOWN else "which it does not vary"
            count = f"{sum(others.values()):,} of {sum(languages.values()):,}"
            yield f"{name}: {count} examples left out ({listed}; {varies})"


Made = tuple[list[Variant], Mapping[str, int]]  # the variants of a block, and `unchanged` of it


def blocks_of(examples: Iterable[Example]) -> Iterator[list[Example]]:
    it = iter(examples)
    return iter(lambda: list(islice(it, BLOCK)), [])


def vary(examples: Iterable[Example], variation: Variation, unchanged: Counter[str] | None = None) -> Iterator[Variant]:
    """The variants of all examples, in the examples' order, made in this process.

    `unchanged` collects, by operator, how many examples had nothing to change, or, under `set/random`, how many no
    operator could change.
    """
    varier = Varier(variation)
    for block in blocks_of(examples):
        variants, none = varier.block(block)
        if unchanged is not None:
            unchanged.update(none)
        yield from variants
