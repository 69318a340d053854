"""docs/dialect.md prints what the benchmark counts, and each dialect operator reaches 80%."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import dialects
from benchmarks._dialect_choices import KEPT, MADE, NEITHER, Choice, share
from benchmarks._measure import SHARED
from unswayed.vary.dialect import read_table

PAGE = (Path(__file__).parents[2] / "docs/dialect.md").read_text(encoding="utf-8")
needs_data = pytest.mark.skipif(not (SHARED / "redial").is_dir(), reason="../shared/data is not here")


@needs_data
def test_the_page_prints_what_is_counted() -> None:
    for row in dialects.rows():
        assert row.met, f"{row.what}: {row.ours}"
        counts = re.findall(r"(\d+) (?:made|not made|said)", row.note)
        assert f"| {' | '.join(counts)} | {row.ours:.0f}% |" in PAGE, row


@needs_data
def test_the_page_prints_the_counts_of_each_feature() -> None:
    for line in dialects.by_feature():
        operator, feature, *counts = [cell.strip() for cell in line.strip("|").split("|")]
        if operator == "african_american" and counts[:2] != ["0", "0"]:
            end = f"| {' | '.join(counts)} |"
            assert any(row.startswith(f"| {feature} |") and row.endswith(end) for row in PAGE.splitlines()), line


@needs_data
def test_words_that_stay_in_taiwan_are_those_that_its_translators_keep() -> None:
    assert dialects.left(dialects.all_words()) == set(read_table("taiwan")["leave"].split())


def test_a_share_leaves_out_what_was_said_in_another_way() -> None:
    did = (MADE, MADE, MADE, KEPT, NEITHER)
    found = share(Choice("feature", "old", "new", one) for one in did)
    assert (found.value, tuple(found)) == (0.75, (3, 1, 1))
    assert share([]).value is None
