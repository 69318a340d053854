"""Augmentation: training data with altered copies of its examples, labels kept."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unswayed.base.errors import DataError, UsageError
from unswayed.base.ids import content_id
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.task import guess_task
from unswayed.base.values import Example, Json, Variant
from unswayed.data.conll import SUFFIXES as CONLL, conll_sentence
from unswayed.storage.files import growing, replacing, replacing_or_printing
from unswayed.storage.parquet import write_rows
from unswayed.vary import operators as registry
from unswayed.vary.engine import Variation, Varier, blocks_of
from unswayed.vary.facts import FACTUAL
from unswayed.vary.operator import Operator, PromptOperator
from unswayed.vary.presets import expand, tell

BY, NOTE = "augmented", "augmented_note"  # the groups that tell a copy: by which operator, and what it did
_SET_NAME = "set/random"


def augment(
    examples: Iterable[Example], operators: Sequence[Operator], seed: int = 0, *, task: str | None = None,
    language: str = "en", copies: int = 1, people: int = 1, unchanged: Counter[str] | None = None,
    mapped: BlockMapper | None = None,
) -> Iterator[Example]:  # fmt: skip
    """Each example followed by its copies, each altered by one operator at random; another where that finds nothing.

    A copy keeps the label even where the operator is a control, as augmentation does. Where operators simulate a
    person, `people` is how many there are; each example goes to one of them. A text that the person left unaltered is
    no copy. `unchanged` counts, under `set/random`, the examples that have no copies. `mapped` does the work elsewhere:
    it is an engine's `map`.
    """
    if not operators:
        raise UsageError("No operator was given to augment with. See `unswayed list operators`.")
    twice = next((name for name, count in Counter(op.name for op in operators).items() if count > 1), None)
    if twice:
        raise UsageError(f"The operator {twice} is asked for twice.")
    stream = iter(examples)
    first = next(stream, None)
    if first is None:
        raise DataError("there are no examples to augment.")
    prompted = next((operator.name for operator in operators if isinstance(operator, PromptOperator)), None)
    if prompted:
        raise UsageError(f"{prompted} varies prompts, of which training data has none. Leave it out.")
    task = task or guess_task(first).name
    settings = Variation(
        operators=(), task=task, language=language, draws=copies, seed=seed, set="random", keep_facts=task in FACTUAL
    )
    if people < 1:
        raise UsageError(f"people must be 1 or more, not {people}.")
    job, row = Augmenting(operators, settings, people), 0
    work = "augment rows {} to {} of the data"  # as an error names what a process was doing
    with (mapped or _map_here)(job, lambda block: work.format(block[0].row, block[-1].row)) as do:
        for block, variants in do(blocks_of(chain([first], stream))):
            copied: defaultdict[int, list[Variant]] = defaultdict(list)
            for variant in variants:
                copied[variant.row].append(variant)
            if unchanged is not None and len(copied) < len(block):
                unchanged[_SET_NAME] += len(block) - len(copied)
            for example in block:
                yield msgspec.structs.replace(example, row=row)
                row += 1
                for variant in copied.get(example.row, ()):
                    groups = {**example.groups, BY: variant.source, NOTE: variant.note}
                    yield Example(row, f"{example.id}+{variant.draw + 1}", variant.inputs, variant.gold, groups)
                    row += 1


AugmentedBlocks = Iterator[tuple[Sequence[Example], Sequence[Variant]]]
BlockMap = Callable[[Iterable[Sequence[Example]]], AugmentedBlocks]  # blocks → each with its copies, in order
BlockMapper = Callable[["Augmenting", Callable[[Any], str]], AbstractContextManager[BlockMap]]


class Augmenting(NamedTuple):
    """All that another process needs to make the same copies."""

    operators: Sequence[Operator]
    settings: Variation
    people: int

    def start(self) -> AugmentingWork:
        return AugmentingWork(self)


class AugmentingWork:
    def __init__(self, job: Augmenting) -> None:
        seed = job.settings.seed  # which the first person has itself
        seeds = [seed, *(int(content_id([seed, k]), 16) for k in range(1, job.people))]
        settings = [msgspec.structs.replace(job.settings, seed=one) for one in seeds]
        self._variers = [Varier(one, job.operators, keep_gold=True) for one in settings]
        self._lots = Seeds(job.settings.seed, "augment/people", 1)

    def do(self, block: Sequence[Example]) -> list[Variant]:
        """The altered copies of a block's examples, in their order."""
        whose = [self._lots.stream(example.id, 0).below(len(self._variers)) for example in block]
        variants: list[Variant] = []
        for k in sorted(set(whose)):
            variants += self._variers[k].block([e for e, owner in zip(block, whose, strict=True) if owner == k])[0]
        place = {example.row: at for at, example in enumerate(block)}
        variants = [variant for variant in variants if variant.inputs != block[place[variant.row]].inputs]
        return sorted(variants, key=lambda variant: place[variant.row])

    def close(self) -> None:
        """Operators hold nothing that needs to be let go of."""


def _map_here(job: Augmenting, doing: Callable[[Any], str]) -> AbstractContextManager[BlockMap]:
    work = job.start()
    return nullcontext(lambda blocks: ((block, work.do(block)) for block in blocks))


def specs_for(specs: Sequence[OperatorSpec], language: str, task: str) -> list[OperatorSpec]:
    """The operators of these names and presets, which are printed. One that changes the meaning is used only if it, or
    the family `meaning`, is named, since copies keep their labels; one that varies prompts only if it is named."""
    chosen, presets = expand(specs, language, task)
    tell(presets, language, task)
    named = {spec.name for spec in specs}
    asked = any(name.startswith("meaning") for name in named)
    kinds = [(one, registry.get(one.name)) for one in chosen]
    fit = [one for one, kind in kinds if (asked or kind.meaning == "same") and not issubclass(kind, PromptOperator)]
    return [one for one in chosen if one.name in named or one in fit]


def table_with_copies(data: Any, examples: Sequence[Example], augmented: Iterable[Example]) -> Any:
    """The data with a row for each copy below its own, and the same columns: a DataFrame, or a list of records.

    `examples` are the data's rows as they were read, and `augmented` are these with their copies. A copy's texts and
    labels go to the columns from which they were read. Ids must differ, so that a copy has its own: the text `id+1`, or
    the next whole number.
    """
    library = type(data).__module__.partition(".")[0]
    is_frame = library in ("pandas", "polars") and hasattr(data, "columns")
    if not is_frame and not (isinstance(data, (list, tuple)) and all(isinstance(row, Mapping) for row in data)):
        rows = [{**example.inputs, **({} if example.gold is None else {"gold": example.gold})} for example in augmented]
        return [dict.fromkeys(rows[0]) | row for row in rows] if rows else rows
    names = list(data.columns) if is_frame else list(dict.fromkeys(name for row in data for name in row))
    if not is_frame:
        columns = {name: [row.get(name) for row in data] for name in names}
    else:
        columns = {name: data[name].tolist() if library == "pandas" else data[name].to_list() for name in names}
    if len(examples) != len(data):
        raise DataError(f"{len(data):,} rows have {len(examples):,} examples, so that no copy can go below its row.")
    ids = (name for name, own in columns.items() if [str(id) for id in own] == [example.id for example in examples])
    id_column = next(ids, None)
    numbers = count(1 + max((id for id in columns.get(id_column, ()) if isinstance(id, int)), default=0))
    taken: list[int] = []  # for each row of the new table, its row of the data
    cells: defaultdict[Any, dict[int, Any]] = defaultdict(dict)  # by column and new row, what a copy has there
    for example in augmented:
        if BY not in example.groups:
            taken.append(taken[-1] + 1 if taken else 0)
            continue
        own = examples[taken[-1]]
        row = {name: column[taken[-1]] for name, column in columns.items()}
        for name, value in _changed_cells(own, example, row):
            cells[name][len(taken)] = value
        if id_column is not None:
            cells[id_column][len(taken)] = next(numbers) if isinstance(row[id_column], int) else example.id
        taken.append(taken[-1])
    if not is_frame:
        changed_by_row = ({name: own[n] for name, own in cells.items() if n in own} for n in range(len(taken)))
        return [dict(data[at]) | changed for at, changed in zip(taken, changed_by_row, strict=True)]
    frame = data.iloc[taken].reset_index(drop=True) if library == "pandas" else data[taken]
    for name, changed in cells.items():
        column = [changed.get(n, columns[name][at]) for n, at in enumerate(taken)]
        made = type(data[name])
        if library == "pandas":
            frame[name] = made(column, index=frame.index, dtype=data[name].dtype)
        else:
            frame = frame.with_columns(made(name, column, dtype=data.schema[name]))
    return frame


def _changed_cells(example: Example, copy: Example, row: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Which cells of an example's row a copy changes, and to what."""
    changed: list[tuple[Json, Json, str]] = []  # what was there, what is there now, and where it was read
    for name, text in copy.inputs.items():
        if text != example.inputs[name]:
            changed.append((example.inputs[name], text, name))
    old, new = example.gold, copy.gold
    if old != new:
        parts = isinstance(old, dict) and isinstance(new, dict)
        whole = [(old, new, "gold")]
        changed += [(old[k], new[k], k) for k in new if new[k] != old.get(k)] if parts else whole
    for before, after, named in changed:
        found = next((name for name in sorted(row, key=lambda name: name != named) if _holds(row[name], before)), None)
        if found is None:
            raise UsageError(
                f"The copy's {named} can't be put back into a column: no cell of row {example.row + 1} is "
                f"{before!r:.60}. Augment a file instead: `unswayed augment FILE -o more.jsonl`."
            )
        cell = row[found]
        yield found, after if isinstance(cell, str) or not isinstance(after, str) else after.split(" ")


def _holds(cell: Any, value: Json) -> bool:
    """Is this cell where the value was read: the same, or the words of a text that has tags?"""
    cell = cell.tolist() if hasattr(cell, "tolist") else cell
    if isinstance(cell, list) and isinstance(value, str):
        return all(isinstance(word, str) for word in cell) and " ".join(cell) == value
    return type(cell) is type(value) and bool(cell == value)


ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", *CONLL)


def write_examples(
    examples: Iterable[Example], to: str | Path, gold: str | None = None, more: Sequence[str] = ()
) -> Counter[str]:
    """Writes examples in the form that the file's ending says; counts them by the operator that made them, "" for none.

    JSON is in unswayed's own form. Files such as `train.conll` get tokens and tags. Tables get a column for each input,
    for the id, for the gold, which is called `gold` unless named, for each group of the first example, and for those
    groups that are in `more`. The file appears when it is whole. `-` is standard output, which gets JSON lines.
    """
    ending = ".jsonl" if to == "-" else Path(to).suffix.lower()
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise UsageError(f"{to}: the ending of the file says its format, and must be one of {known}.")
    counts: Counter[str] = Counter()
    encode = msgspec.json.Encoder().encode

    def counted() -> Iterator[Example]:
        for example in examples:
            yield example
            counts[example.groups.get(BY, "")] += 1

    if ending in (".csv", ".tsv", ".parquet"):
        header, rows = _table(counted(), Path(to), gold or "gold", more)
        if ending == ".parquet":
            with growing(Path(to)) as partial:
                write_rows(partial, dict.fromkeys(header, "str"), rows)
            return counts
        with replacing(Path(to)) as write:
            named: list[str | None] = [*header]
            for cells in chain([named], rows):
                line = io.StringIO()
                if ending == ".csv":
                    csv.writer(line, lineterminator="\n").writerow(cells)
                elif any(mark in cell for cell in cells if cell for mark in "\t\n\r"):
                    what = "has a tab or a line break, which TSV can't hold. Write .csv."
                    raise DataError(f"{cells!r:.80} {what}", Path(to))
                else:
                    line.write("\t".join(cell or "" for cell in cells) + "\n")
                write(line.getvalue().encode())
        return counts
    with replacing_or_printing(to) as write:
        for at, example in enumerate(counted()):
            if ending == ".json":
                write((b",\n" if at else b"[") + encode(example))
            else:
                write(conll_sentence(example).encode() if ending in CONLL else encode(example) + b"\n")
        if ending == ".json":
            write(b"]\n")
    return counts


def _table(
    examples: Iterator[Example], place: Path, gold: str, more: Sequence[str]
) -> tuple[list[str], Iterator[list[str | None]]]:
    """A header, and a row of texts for each example."""
    first = next(examples, None)
    if first is None:
        raise DataError("there are no examples to write.", place)
    groups = list(dict.fromkeys([*first.groups, *more]))
    named = ["id", *first.inputs, gold, *groups]
    header = list(dict.fromkeys(named))
    if len(header) < len(named):
        raise DataError(f"two columns would have one name: {', '.join(named)}. Write .jsonl.", place)

    def rows() -> Iterator[list[str | None]]:
        for example in chain([first], examples):
            if example.inputs.keys() != first.inputs.keys() or not example.groups.keys() <= set(groups):
                what = "has other inputs or groups than the first example, so that it is in no table. Write .jsonl."
                raise DataError(f"the example {example.id!r:.60} {what}", place)
            if example.gold is not None and not isinstance(example.gold, (str, int, float)):
                raise DataError(f"the gold {example.gold!r:.60} is no text or number. Write .jsonl.", place)
            true = None if example.gold is None else str(example.gold)
            yield [example.id, *example.inputs.values(), true, *(example.groups.get(name) for name in groups)]

    return header, rows()
