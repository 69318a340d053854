"""Applies operators to examples: each of them or one at random, every draw, labels moved, in the examples' order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import accumulate, chain, islice
from operator import eq
from typing import Literal, NamedTuple, cast, overload

import msgspec

from unswayed.base.chat import LISTED, passages_of
from unswayed.base.dependencies import Dependencies
from unswayed.base.edits import Edit, LabelsLost, apply, apply_each
from unswayed.base.errors import CannotKeepLabels, UnknownName, UsageError, option
from unswayed.base.gc_pause import collecting_later
from unswayed.base.language import UNSURE, knows, require_language
from unswayed.base.options import OperatorSpec
from unswayed.base.protect import PROTECT, Protected, keeps_protected
from unswayed.base.recorder import recorder_of
from unswayed.base.secrets import masked_data
from unswayed.base.seeds import Seeds
from unswayed.base.task import Task, task_named
from unswayed.base.values import Example, Json, Maker, Variant, VariantColumn, Variants
from unswayed.storage.suite import LANGUAGE
from unswayed.vary import operators
from unswayed.vary.columns import ManyEdits
from unswayed.vary.combined import PLUS, Combined
from unswayed.vary.facts import touched_facts, touching_each
from unswayed.vary.guard import LabelGuard
from unswayed.vary.operator import UNALTERED, Change, Operator, PromptOperator, SingleEdits, Texts, plain
from unswayed.vary.words import checked_choice

BLOCK = 512  # examples handled at once: enough for operators that batch, little enough to stream
_LOOKED_AT = 16  # examples read ahead
_MOST_CHARACTERS = 1 << 20  # of examples handled at once: words of texts may take a hundred times their letters
MOST_DRAWS = 100_000
_FEW = 8  # variants of an example
_TRIES = 12  # how often an operator draws again where a guard objects
_DISTINCT_TRIES = 32  # and where its text is that of an earlier draw: one that comes once in 10 is missed in 3%
_NO_OTHER: tuple[str, ...] = ()  # stands among the texts of earlier draws once no other was found
_FEW_TRIES = 3  # of operators that rewrite whole texts, which may ask a model


def make_operator(spec: OperatorSpec) -> Operator:
    """The operator of that name with its parameters."""
    cls = operators.get(spec.name)
    known = cls.parameters()
    for key in spec.params:
        if key not in known:
            raise UnknownName(f"parameter of {spec.name}", key, known)
    if issubclass(cls, Combined):
        operator: Operator = cls([make_operator(part) for part in cls.specs(spec.params)])
    else:
        params = dict(spec.params)
        protect = checked_choice("protect", str(params.pop("protect", PROTECT[0])), *PROTECT)
        try:
            with recorder_of(cls) or nullcontext():
                operator = cls(**params)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{spec.name} can't be made with {spec.params}: {error}.") from error
        operator.protect = protect
    operator.name = spec.name
    operator.family = PLUS.join(dict.fromkeys(part.split("/", 1)[0] for part in spec.name.split(PLUS)))
    return operator


def describe_operator(spec: OperatorSpec) -> dict[str, Json]:
    """All that decides what the operator makes, for a suite's manifest."""
    cls = operators.get(spec.name)
    parts: list[Json] = []
    params: dict[str, Json] = {}
    if issubclass(cls, Combined):
        parts += [describe_operator(part) for part in cls.specs(spec.params)]
    else:
        params = {**{k: p.default for k, p in cls.parameters().items()}, **spec.params}
    if params.get("protect") == PROTECT[0]:  # as by default, and as all operators have it
        del params["protect"]
    shown = {name: masked_data({name: value})[name] for name, value in {**params, **cls.pinned(params)}.items()}
    return {
        "name": spec.name,
        "version": cls.version,
        "languages": list(cls.languages),
        "meaning": cls.meaning,
        "params": {name: plain(value) for name, value in shown.items()},
        **({"parts": parts} if parts else {}),
    }


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
    distinct: bool = True  # draws of operators with few texts differ as long as they can, if the set is `each`
    keep_facts: bool = False  # leaves out slips that turn a number, date, unit, negation or name into another
    guard: LabelGuard | None = None  # refuses variants whose words training labels contradict

    @property
    def at_once(self) -> int:
        """How many examples are varied together: more where that takes a moment and makes few variants."""
        few = len(self.operators) * self.draws <= _FEW
        return 2 * BLOCK if few and all(make_operator(spec).quick for spec in self.operators) else BLOCK

    def draws_differ(self, operator: type[Operator]) -> bool:
        """Does a draw of this operator give another text than those below it, as long as there is one?"""
        return operator.distinct and self.distinct and self.set == "each"

    def check(self) -> None:
        """Raises before any work where an operator can't be used for this language or task."""
        names = [spec.name for spec in self.operators]
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice:
            raise UsageError(f"The operator {twice} is listed twice. Make two suites to compare its parameters.")
        if not names:
            raise UsageError(
                f"No operator. Name one with {option('with', 'operators')}. See `unswayed list operators`."
            )
        if not 1 <= self.draws <= MOST_DRAWS:
            raise UsageError(f"{option('draws')} must be a number from 1 to {MOST_DRAWS:,}, not {self.draws}.")
        for name in names:
            self.require(name, operators.get(name))

    def require(self, name: str, operator: type[Operator]) -> None:
        """Raises where one operator can't be used; the error names those like it that can, its family first."""
        aligned = task_named(self.task).aligned
        if not knows(operator.languages, self.language):
            every = [(other, operators.get(other)) for other in operators.names()]
            fit = [(n, o) for n, o in every if knows(o.languages, self.language) and (o.aligned or not aligned)]
            family = name.partition("/")[0]
            alike = sorted((n.partition("/")[0] != family, n) for n, o in fit if o.meaning == operator.meaning)
            usable = [other for _, other in alike]
            require_language(name, operator.languages, self.language, self.language_guessed, usable)
        if aligned and not operator.aligned:
            raise CannotKeepLabels(
                f"{name} rewrites whole texts, so the labels of a {self.task} example can't be kept true."
            )


def blocks_of(examples: Iterable[Example], size: int = BLOCK) -> Iterator[list[Example]]:
    """The examples, so many at a time, or fewer where their texts are long."""
    block: list[Example] = []
    characters, rest = 0, iter(examples)
    while some := list(islice(rest, _LOOKED_AT)):
        # Short texts are added up for some examples together, which takes a third of the time.
        more = sum([len(text) for example in some for text in example.inputs.values()])
        if characters + more < _MOST_CHARACTERS and len(block) + len(some) < size:
            block += some
            characters += more
            continue
        for example in some:
            block.append(example)
            characters += sum(map(len, example.inputs.values()))
            if len(block) == size or characters >= _MOST_CHARACTERS:
                yield block
                block, characters = [], 0
    if block:
        yield block


class _PlainExamples(Sequence[Example]):
    """Texts by themselves as examples, each made when it is asked for: quick operators hardly ever ask."""

    def __init__(self, strings: Sequence[str], ids: Sequence[str]) -> None:
        self._strings, self._ids = strings, ids

    def __len__(self) -> int:
        return len(self._strings)

    @overload
    def __getitem__(self, at: int) -> Example: ...
    @overload
    def __getitem__(self, at: slice) -> list[Example]: ...
    def __getitem__(self, at: int | slice) -> Example | list[Example]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return Example(at, self._ids[at], {"text": self._strings[at]})


def _blocks_of_texts(strings: Sequence[str], ids: Sequence[str], variation: Variation) -> Iterator[Block]:
    """Blocks of texts by themselves, as `blocks_of` divides examples."""
    size, first, characters = variation.at_once, 0, 0
    for last in range(1, len(strings) + 1):
        characters += len(strings[last - 1])
        if last - first == size or characters >= _MOST_CHARACTERS or last == len(strings):
            some, its = strings[first:last], ids[first:last]
            texts = Texts.plain(_PlainExamples(some, its), some, its, variation.language)
            yield Block(texts.examples, texts, range(1, len(some) + 1))
            first, characters = last, 0


class Block(NamedTuple):
    """Examples that are varied together, the texts of theirs that are varied, and where each example's texts end."""

    examples: Sequence[Example]
    texts: Texts
    ends: Sequence[int]

    @property
    def one_each(self) -> bool:
        """Has each example one text?"""
        return self.texts.examples is self.examples

    def some(self, at: Sequence[int]) -> Block:
        """The examples at these places, in ascending order."""
        if len(at) == len(self.examples):
            return self
        spans = [range(self.ends[i - 1] if i else 0, self.ends[i]) for i in at]
        texts = self.texts.some([k for span in spans for k in span])
        examples = texts.examples if self.one_each else [self.examples[i] for i in at]
        return Block(examples, texts, list(accumulate(map(len, spans))))


_Column = list[Variant | None] | VariantColumn  # a variant of each example; None where there is nothing to change
_Before = dict[str, list[set[tuple[str, ...]]]]  # by operator, the texts of each example that earlier draws gave


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
        self._plain = type(self.task).texts is Task.texts  # which varies a `text`
        self.keep_gold = keep_gold
        self._mixed = "+" in variation.language
        self.operators = [make_operator(spec) for spec in variation.operators] if made is None else list(made)
        self.left_out: Counter[str] = Counter()  # slips that were left out, by what they would have touched
        for operator in self.operators:
            if isinstance(operator, PromptOperator) and operator.prompts > variation.draws:
                raise UsageError(
                    f"{operator.name}: share={operator.share:g} asks each example with one of {operator.prompts} "
                    f"prompts, but there are {variation.draws}. Use {option('draws')} {operator.prompts} or more, or a "
                    f"larger share."
                )
            if operator.pool:
                operator.take_pool(variation.pools.get(operator.name, ()))
        self._seeds: dict[str, Seeds] = {}
        self._recorders = {}
        for part in (part for op in self.operators for part in (op.made if isinstance(op, Combined) else [op])):
            part.keep_facts = variation.keep_facts and part.slips
            self._recorders[part.name] = recorder_of(type(part))
        self._by_name = sorted(range(len(self.operators)), key=lambda k: self.operators[k].name)
        self._lots = Seeds(variation.seed, "set/random", 1)

    def block(self, examples: Sequence[Example]) -> tuple[Sequence[Variant], Counter[str]]:
        """The variants of these examples in their order, and how often an operator or set found nothing to change.

        They are `Variants`, which have them as columns, where each example has one text and nearly all have one edit.
        """
        block = self._block_of(examples)  # the same for every operator and draw
        if self.variation.set == "random":
            return self._vary_at_random(block)
        columns: list[_Column] = []
        unchanged: Counter[str] = Counter()
        for k, operator in enumerate(self.operators):
            at: Sequence[int] = range(len(block.examples))
            if self._mixed:
                at = [i for i in at if self._knows(k, block.examples[i])]
            before: _Before = {}
            own = [self._apply(operator, draw, block, at, before) for draw in range(self.variation.draws)]
            there = [column.texts if isinstance(column, VariantColumn) else column for column in own]
            if any(None in column for column in there):
                unchanged[operator.name] += sum(all(column[i] is None for column in there) for i in at)
            columns += own
        plain = [column for column in columns if isinstance(column, VariantColumn)]
        if len(plain) == len(columns):
            return Variants(plain), +unchanged
        return list(filter(None, chain.from_iterable(zip(*columns, strict=True)))), +unchanged

    def texts(self, strings: Sequence[str], ids: Sequence[str]) -> list[str]:
        """A variant of each text by itself, in the first draw; the text where there is nothing to change."""
        made: list[str] = []
        for block in _blocks_of_texts(strings, ids, self.variation):
            befores = block.texts.strings
            if self.variation.set == "random":
                afters = {variant.row: variant.inputs["text"] for variant in self._vary_at_random(block)[0]}
                made += [afters.get(i, before) for i, before in enumerate(befores)]
                continue
            column = self._apply(self.operators[0], 0, block, range(len(befores)), {})
            if not isinstance(column, VariantColumn):
                made += [v.inputs["text"] if v else before for v, before in zip(column, befores, strict=True)]
            elif None in column.texts:
                made += [before if new is None else new for new, before in zip(column.texts, befores, strict=True)]
            else:
                made += cast("list[str]", column.texts)
        return made

    def _block_of(self, examples: Sequence[Example]) -> Block:
        every, whose = self._chosen, examples
        ends: Sequence[int] = range(1, len(examples) + 1)  # as where each has one text
        if len(every) == 1:
            fields = list(every) * len(examples)
        elif not every and self._plain and {tuple(e.inputs) for e in examples} == {("text",)}:
            fields = ["text"] * len(examples)
        else:
            chosen = [every or self.task.texts(e.inputs) for e in examples]
            fields = list(chain.from_iterable(chosen))
            if set(map(len, chosen)) != {1}:
                ends = list(accumulate(map(len, chosen)))
                whose = [e for e, its in zip(examples, chosen, strict=True) for _ in its]
        for name in set(fields).intersection(LISTED):
            if any(passages_of(example.inputs).get(name) for example in examples):
                how = f"Choose another input with {option('field', 'fields')}."
                raise UsageError(f"The input {name!r} is a list of passages, which operators don't vary. {how}")
        aligned = self.task if self._aligned else None
        language = [self._language(e) for e in whose] if self._mixed else self.variation.language
        try:
            return Block(examples, Texts(whose, fields, aligned, language), ends)
        except KeyError:
            example, field = next((e, f) for e, f in zip(whose, fields, strict=True) if f not in e.inputs)
            has = ", ".join(example.inputs)
            what = f"Example {example.id!r} (row {example.row}) has no input {field!r}; it has {has}."
            raise UsageError(what) from None

    def rests_on(self) -> Dependencies | None:
        """What operators of the user's own were found to read, since this was asked last."""
        found = [news for one in self._recorders.values() if one is not None and (news := one.news()) is not None]
        whole = Dependencies()
        for news in found:
            whole.add(news)
        return whole if found else None

    def _vary_at_random(self, block: Block) -> tuple[list[Variant], Counter[str]]:
        """Draws an operator for each place; where it finds nothing to change, another of those not yet tried."""
        untried: dict[tuple[int, int], list[int]] = {}  # by an example's place in the block, and a draw
        lots = {}
        for i, example in enumerate(block.examples):
            known = [k for k in self._by_name if self._knows(k, example)]
            for draw in range(self.variation.draws):
                untried[i, draw], lots[i, draw] = known.copy(), self._lots.stream(example.id, draw)
        # Operators that are drawn for the same draw are asked together, so that those which ask a model see batches.
        # Who finds nothing is drawn for again, among the operators that were not tried, until all examples have a
        # variant or nobody is left to ask.
        made: dict[tuple[int, int], Variant] = {}
        pending = list(untried)
        while pending := [place for place in pending if untried[place] and place not in made]:
            drawn: dict[tuple[int, int], list[int]] = defaultdict(list)  # examples, by operator and draw
            for i, draw in pending:
                k = lots[i, draw].choice(untried[i, draw])
                untried[i, draw].remove(k)
                drawn[k, draw].append(i)
            for (k, draw), chosen in drawn.items():
                column = list(self._apply(self.operators[k], draw, block, chosen, {}))
                made |= {(i, draw): variant for i in chosen if (variant := column[i]) is not None}
        left = len(block.examples) - len({i for i, _ in made})
        return [made[place] for place in untried if place in made], Counter({"set/random": left} if left else {})

    def _apply(self, operator: Operator, draw: int, block: Block, at: Sequence[int], before: _Before) -> _Column:
        """A column with the variants that one operator makes, in one draw, of the examples at these places.

        `before` has the texts of the draws below this one. If the operator is `distinct`, it draws again where it comes
        to one of them. So a draw depends on those below it, and not on how many follow.
        """
        if isinstance(operator, Combined):
            return self._combine(operator, draw, block, at, before)
        examples = block.examples
        made: list[Variant | None] = [None] * len(examples)
        if isinstance(operator, PromptOperator):
            every, seeds = operator.prompts, self._seeds_of(operator)
            for i in at:
                # Of every so many draws, each example takes one at random.
                example = examples[i]
                if every == 1 or seeds.stream(example.id, draw // every, "share").below(every) == draw % every:
                    with self._recorders[operator.name] or nullcontext():
                        new = operator.rewrite(example, self._language(example), seeds.stream(example.id, draw))
                    made[i] = new and Variant(example.row, example.id, *_maker(operator, draw), *new)
            return made
        guard = self.variation.guard if operator.meaning == "same" else None
        earlier: list[set[tuple[str, ...]]] | None = None
        if self.variation.draws > 1 and self.variation.draws_differ(type(operator)) and operator.distinct:
            earlier = before.setdefault(operator.name, [set() for _ in examples])
        if guard is None and earlier is None and len(at) == len(examples):
            return self._change(operator, draw, block)
        pending, repeated = at, dict[int, Variant]()
        differ = earlier is not None and draw > 0
        for attempt in range(_DISTINCT_TRIES if differ else _TRIES):
            column, refused = self._change(operator, draw, block.some(pending), attempt, differ), list[int]()
            for i, variant in zip(pending, column, strict=True):
                known = set() if earlier is None else earlier[i]
                text = tuple(variant.inputs.values()) if variant and earlier is not None else ("",)
                if (
                    guard and variant and guard.objection(examples[i], variant.inputs, variant.gold, operator.rewords)
                ) or (variant is None and i in repeated):
                    refused.append(i)
                elif variant and text in known and _NO_OTHER not in known:
                    repeated.setdefault(i, variant)
                    refused.append(i)
                else:
                    made[i] = variant
                    if variant:
                        known.add(text)
            if not refused and len(pending) == len(examples):
                return column
            pending = refused
            if not pending:
                break
        for i in pending:
            if i in repeated and earlier is not None:
                made[i] = repeated[i]
                earlier[i].add(_NO_OTHER)
        return made

    def _combine(
        self, operator: Combined, draw: int, block: Block, at: Sequence[int], before: _Before
    ) -> list[Variant | None]:
        """The variants of a combination: each part is applied to what the one before it made, labels and all. Where a
        part finds nothing to change, there is no variant."""
        places, examples, notes = list(at), [block.examples[i] for i in at], [list[str]() for _ in at]
        for part in operator.made:
            known = before.setdefault(part.name, [set() for _ in block.examples])
            its = {part.name: [known[i] for i in places]}
            column = self._apply(part, draw, self._block_of(examples), range(len(examples)), its) if examples else ()
            there = [(i, e, v, said) for i, e, v, said in zip(places, examples, column, notes, strict=True) if v]
            places, notes = [i for i, *_ in there], [[*said, v.note] for _, _, v, said in there]
            examples = [Example(e.row, e.id, v.inputs, v.gold, e.groups) for _, e, v, _ in there]
        made: list[Variant | None] = [None] * len(block.examples)
        for i, e, said in zip(places, examples, notes, strict=True):
            unaltered = e.inputs == block.examples[i].inputs
            note = UNALTERED.note if unaltered else "; ".join(said)
            made[i] = Variant(e.row, e.id, *_maker(operator, draw), e.inputs, e.gold, note)
        return made

    def _seeds_of(self, operator: Operator) -> Seeds:
        """The same for an operator alone and in a combination."""
        if operator.name not in self._seeds:
            self._seeds[operator.name] = Seeds(self.variation.seed, operator.name, operator.version)
        return self._seeds[operator.name]

    def _change(self, operator: Operator, draw: int, block: Block, attempt: int = 0, differ: bool = False) -> _Column:
        texts = block.texts
        # Draws again have streams of their own, named after the attempt: what a guard refuses changes no other variant.
        # For another text, the person must be another, too: the attempt is a draw above all that can be asked for.
        fields, draws = texts.fields, draw + differ * attempt * MOST_DRAWS
        if attempt and draws == draw:
            fields = [f"{field} again {attempt}" for field in texts.fields]
        # Operators that are not quick may take minutes, if they ask a model; of a single text, no garbage is left.
        quick = operator.quick and len(texts) > 1
        with self._recorders[operator.name] or nullcontext(), collecting_later() if quick else nullcontext():
            changes = self._changes(operator, draws, texts, fields)
            changes = self._spare(operator, draws, texts, fields, changes)
            self.left_out.update(operator.left_out)
            operator.left_out.clear()
            if block.one_each and len(texts) > 1:  # columns of one variant take longer than the variant
                columns = changes if isinstance(changes, ManyEdits) else SingleEdits.of(changes)
                return self._column(operator, draw, texts, columns)
            if operator.slips and (touched := _touched_facts(texts, changes)):
                changes = [
                    Change(one.edits, one.note + touched[i]) if one and i in touched else one
                    for i, one in enumerate(changes)
                ]
            spans = zip(block.examples, (0, *block.ends), block.ends, strict=False)
            return [self._variant(operator, draw, e, texts.fields[a:b], changes[a:b]) for e, a, b in spans]

    def _changes(self, operator: Operator, draw: int, texts: Texts, fields: Sequence[str]) -> Sequence[Change | None]:
        """The operator's changes, from streams that are named after the fields."""
        changes = operator.change_many(texts, self._seeds_of(operator).streams(texts.ids, draw, fields))
        for change in changes if not isinstance(changes, (SingleEdits, ManyEdits)) else ():
            if change is not None and not isinstance(change, tuple):
                raise UsageError(
                    f"{operator.name} gave {change!r:.60}. `change` must return a Change, or None for no change."
                )
        return changes

    def _spare(
        self, operator: Operator, draw: int, texts: Texts, fields: Sequence[str], changes: Sequence[Change | None]
    ) -> Sequence[Change | None]:
        """The changes, drawn again where they damage what must stay whole, or a fact that must stay true."""
        # The first draw is what it always was, so texts with nothing to protect vary as before; and nearly all texts
        # are told by one scan of the block, which the draws and operators share.
        found: dict[int, tuple[Protected, ...]] = {} if operator.protect == "none" else texts.protected
        spared = {i: spans for i in found if (spans := operator.spares(found[i]))}
        facts = operator.keep_facts
        wanted: Sequence[int] = range(len(texts)) if facts else list(spared)
        new = changes
        again: dict[int, Change | None] = {}  # by place, what stands for a change that was refused
        for attempt in range(1, _TRIES + 1):
            refused = []
            for at, i in enumerate(wanted):
                edits = _edits_at(new, i if attempt == 1 else at)
                if not edits:
                    continue
                kinds = touched_facts(texts.strings[i], edits, texts[i].language) if facts else ()
                if any(kinds):
                    if attempt == 1:
                        operator.left_out.update(filter(None, kinds))
                    refused.append(i)
                elif i in spared and not keeps_protected(texts.strings[i], spared[i], edits):
                    refused.append(i)
            if not refused:
                break
            again |= dict.fromkeys(refused, UNALTERED if operator.unaltered else None)
            if attempt == (_TRIES if operator.aligned else _FEW_TRIES):
                break
            counted = operator.left_out.copy()
            new = self._changes(operator, draw, texts.some(refused), [f"{fields[i]} spared {attempt}" for i in refused])
            operator.left_out = counted  # what is left out of further draws is not counted
            again |= dict(zip(refused, new, strict=True))
            wanted = refused
        if not again:
            return changes
        if not isinstance(changes, SingleEdits):
            return [again.get(i, change) for i, change in enumerate(changes)]
        kept = [None if i in again else one for i, one in enumerate(changes.edits.news)]
        others = {**changes.others, **again}
        there = {i: change for i, change in others.items() if change is not None}
        return SingleEdits(changes.edits._replace(news=kept), lambda: changes.notes, there)

    def _column(self, operator: Operator, draw: int, texts: Texts, changes: SingleEdits | ManyEdits) -> VariantColumn:
        """What `_variant` makes, where each example has one text and nearly all have one edit: the common case."""
        # Columns all the way: for quick operators, an object for each variant would cost more than the variant. What is
        # not one plain edit goes through `_variant`, example by example.
        examples, fields, befores, golds = texts.examples, texts.fields, texts.strings, texts.golds
        odd = list(changes.others)
        if isinstance(changes, ManyEdits):
            afters = changes.applied()
            if self._aligned:  # tags stay as they are if the tokens do
                keeps = changes.keeps_tokens
                there = enumerate(zip(afters, golds, texts.tags, strict=True))
                odd += [
                    i
                    for i, (new, gold, tags) in there
                    if new and gold is not None and not (keeps and tags and "  " not in f" {new} ")
                ]
        elif self._aligned:
            afters, golds = self.task.move_each(golds, fields, befores, changes.edits)
        else:
            afters = apply_each(befores, changes.edits)
        if operator.meaning != "same" and not self.keep_gold:
            golds = [None] * len(examples)  # after a control the answer should differ; which it then is, nobody said
        if any(map(eq, befores, afters)):
            odd += [i for i, (before, after) in enumerate(zip(befores, afters, strict=True)) if before == after]
        others: dict[int, str] = {}
        if odd:
            golds = list(golds)  # they may be the examples' own
        for i in odd:
            one = self._variant(operator, draw, examples[i], fields[i : i + 1], [changes[i]])
            afters[i], golds[i], others[i] = (one.inputs[fields[i]], one.gold, one.note) if one else (None, None, "")

        def notes() -> Sequence[str]:
            # Which facts are touched is read from a list of common words, so whoever takes texts alone never needs it.
            touched = _touched_facts(texts, changes) if operator.slips else {}
            if not others and not touched:
                return changes.notes
            return [others.get(i, note) + touched.get(i, "") for i, note in enumerate(changes.notes)]

        return VariantColumn(_maker(operator, draw), examples, fields, afters, golds, notes)

    def _variant(
        self, operator: Operator, draw: int, example: Example, fields: Sequence[str], changes: Sequence[Change | None]
    ) -> Variant | None:
        before, gold = example.inputs, example.gold
        inputs, note = before.copy(), ""
        for field, change in zip(fields, changes, strict=True):
            if change is None:
                continue
            edits, said = change
            if gold is not None and self._aligned:
                try:
                    inputs[field], gold = self._move(gold, field, before[field], edits)
                except LabelsLost:
                    return None  # the change can't be made without making a label false
            else:
                inputs[field] = apply(before[field], edits)
            if len(fields) > 1:
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
        if operator.meaning != "same" and not self.keep_gold:
            gold = None  # as in a column
        return Variant(example.row, example.id, *_maker(operator, draw), inputs, gold, note)

    def _language(self, example: Example) -> str:
        return example.groups.get(LANGUAGE, UNSURE) if self._mixed else self.variation.language

    def _knows(self, k: int, example: Example) -> bool:
        """Can this operator vary the example? In a mixed file, some rows are in languages that it does not know."""
        return not self._mixed or knows(self.operators[k].languages, self._language(example))


def _edits_at(changes: Sequence[Change | None], i: int) -> Sequence[Edit]:
    """The edits of a text's change, without the note, which may take longer to make."""
    if isinstance(changes, ManyEdits):
        return changes.edits_of(i)
    if isinstance(changes, SingleEdits) and (new := changes.edits.news[i]) is not None:
        return (Edit(changes.edits.starts[i], changes.edits.ends[i], new),)
    change = changes.others.get(i) if isinstance(changes, SingleEdits) else changes[i]
    return change.edits if change else ()


def _touched_facts(texts: Texts, changes: Sequence[Change | None]) -> dict[int, str]:
    """By place, what the notes of changes that touch facts say about it."""
    found: dict[int, str] = {}
    rest: Iterable[int] = range(len(changes))
    if isinstance(changes, SingleEdits) and texts.language:
        found, rest = touching_each(texts.strings, changes.edits, texts.language), changes.others
    for i in rest:
        edits = _edits_at(changes, i)
        kinds = touched_facts(texts.strings[i], edits, texts.language or texts[i].language) if edits else ()
        if any(kinds):
            found[i] = ", ".join(dict.fromkeys(filter(None, kinds)))
    return {i: f"; touches: {kinds}" for i, kinds in found.items()}


def _maker(operator: Operator, draw: int) -> Maker:
    return Maker(draw, operator.name, operator.family, operator.meaning)


def vary(examples: Iterable[Example], variation: Variation, unchanged: Counter[str] | None = None) -> Iterator[Variant]:
    """The variants of all examples, in the examples' order, made in this process.

    `unchanged` collects, by operator, how many examples had nothing to change, or, under `set/random`, how many no
    operator could change.
    """
    varier = Varier(variation)
    for block in blocks_of(examples, variation.at_once):
        variants, none = varier.block(block)
        if unchanged is not None:
            unchanged.update(none)
        yield from variants
