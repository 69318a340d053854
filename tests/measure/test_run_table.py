"""A run as columns: the order of its names, the sizes of its slices, and the numbers of pairs of output and gold."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.base.task import task_named
from unswayed.base.values import Output
from unswayed.measure.run_table import NO_GOLD, NO_OUTPUT, PairCodes, ordered
from unswayed.measure.spill import Spill
from unswayed.measure.table_reader import read_table
from unswayed.run.block import in_blocks
from unswayed.score import scorers


def pair_codes(*names: str, task: str = "classify") -> PairCodes:
    return PairCodes([scorers.get(name)() for name in names], task_named(task))


def test_names_are_ordered_and_nothing_stays_nothing() -> None:
    names, place = ordered(["b", "c", "a"])
    assert names == ["a", "b", "c"]
    assert [names[at] for at in place[[0, 1, 2]]] == ["b", "c", "a"]
    assert place[-1] == -1


def test_a_table_has_a_row_for_each_example_and_variant_with_its_slices(random_run) -> None:
    run = random_run(30)
    task, pairs = task_named("classify"), pair_codes("accuracy")
    table = read_table(in_blocks(run.items()), task, pairs, Spill())
    items = list(run.items())
    assert table.examples == len(items)
    assert table.operators == ["keys/near", "meaning/not", "spoken/filler"]
    sources = [variant.source for *_, varied in items for variant, _ in varied]
    assert table.sources() == {name: sources.count(name) for name in table.operators}
    values = [example.groups["size"] for example, *_ in items]
    assert dict(zip(table.values["size"], table.sizes("size").tolist(), strict=True)) == {
        name: values.count(name) for name in ("big", "small")
    }
    (part,) = table.parts()
    flips = [
        -1 if not (clean.ok and out.ok) else int(clean.value != out.value)
        for _, clean, varied in items
        for _, out in sorted(varied, key=lambda one: (one[0].draw, one[0].source))
    ]
    assert part.flip.tolist() == flips
    scores = part.scored["accuracy"]
    assert np.nansum(scores.clean) == sum(clean.ok and clean.value == example.gold for example, clean, _ in items)


@pytest.mark.parametrize("gold", [1, True, "1"])
def test_golds_that_are_equal_in_python_alone_are_other_labels(gold: object) -> None:
    """1 and True are equal, and hash alike; an answer is right only if it is the label itself."""
    pairs = pair_codes("accuracy", task="classify")
    columns = pairs.columns()
    for other in (1, True, "1"):
        pairs.code(Output(other), True, gold, columns, {})
    pairs.score()
    found = pairs.values(pairs.scorers[0], np.array(columns[0]))
    alone = [scorers.get("accuracy")().item(other, gold, task_named("classify")) for other in (1, True, "1")]
    assert found.tolist() == alone


def test_items_without_gold_or_output_have_no_score() -> None:
    pairs = pair_codes("accuracy", "macro_f1")
    columns = pairs.columns()
    pairs.code(Output("a"), True, None, columns, {})
    pairs.code(Output(error="no"), False, "a", columns, {})
    pairs.code(Output("a"), True, "a", columns, {})
    assert columns[0].tolist() == [NO_GOLD, NO_OUTPUT, 0]
    pairs.score()
    scored = pairs.values(pairs.scorers[0], np.array(columns[0]))
    assert np.isnan(scored[:2]).all()
    assert scored[2] == 1.0


def test_scorers_that_read_alike_share_their_pairs() -> None:
    assert pair_codes("accuracy", "macro_f1").reader_of == {"accuracy": 0, "macro_f1": 0}
    assert len(pair_codes("accuracy", "macro_f1").columns()) == 1


def test_equal_statistics_get_one_row_whatever_came_first() -> None:
    rows = []
    for answers in ("aab", "baa", "aba"):
        pairs = pair_codes("macro_f1")
        columns = pairs.columns()
        for answer in answers:
            pairs.code(Output(answer), True, "a", columns, {})
        pairs.score()
        corpus = pairs.corpus(pairs.scorers[0])
        rows.append(corpus.rows.tolist())
        assert corpus.place[-1] == corpus.place[-2] == NO_OUTPUT
    assert rows[0] == rows[1] == rows[2]
