"""Variants that equal their example are counted, however many rows are read at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given, settings, strategies as st

from unswayed.base.values import Example, Variant
from unswayed.run.suite_checks import count_unaltered
from unswayed.storage.parquet import ROWS_AT_ONCE
from unswayed.storage.suite import Manifest, write_suite

MANY = st.sampled_from([0, 0, 1, 2, ROWS_AT_ONCE - 1, ROWS_AT_ONCE + 1])


@given(st.lists(st.tuples(MANY, st.integers(1, 3)), min_size=1, max_size=8))
@settings(max_examples=20, deadline=None)
def test_each_variant_is_held_against_its_own_example(tmp_path_factory, given: list[tuple[int, int]]) -> None:
    folder: Path = tmp_path_factory.mktemp("suite") / "suite"
    examples = [Example(2 * n, f"e{n}", {"text": f"text {n // 2}"}) for n in range(len(given))]
    variants = [
        Variant(e.row, e.id, i, "ab"[i % 2], "f", "same", {"text": f"text {n // 2 + bool(i % every)}"}, None, "")
        for n, (e, (many, every)) in enumerate(zip(examples, given, strict=True))
        for i in range(many)
    ]
    suite = write_suite(folder, Manifest(task="text", language="en"), lambda: examples, lambda: variants)
    of = {e.row: e.inputs for e in examples}
    made, unaltered = count_unaltered(suite)
    assert made == Counter(v.source for v in variants)
    assert unaltered == Counter(v.source for v in variants if v.inputs == of[v.row])
