"""Exports of tagged texts are read back as the same examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from unswayed.base.errors import UsageError
from unswayed.base.values import Example, Variant
from unswayed.data import read_examples
from unswayed.report.export import export
from unswayed.storage.suite import Manifest, Suite, write_suite


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    golds = [{"tags": ["B-PER", "O"]}, {"tags": ["O", "O"]}]
    examples = [Example(i, f"e{i}", {"text": f"Anna {i}"}, gold) for i, gold in enumerate(golds)]
    moved = [{"tags": [*gold["tags"], "O"]} for gold in golds]
    variants = [
        Variant(i, f"e{i}", 0, "x/y", "x", "same", {"text": f"Anna {i} 🎷"}, gold, "") for i, gold in enumerate(moved)
    ]
    write_suite(tmp_path / "s", Manifest(task="tag", language="en"), lambda: examples, lambda: variants)
    assert "2 CoNLL files" in export(tmp_path / "s", "conll", tmp_path / "out")
    again = [(e.inputs, e.gold) for e in read_examples(tmp_path / "out" / "clean.conll")]
    assert again == [(e.inputs, e.gold) for e in examples]
    again = [(e.inputs, e.gold) for e in read_examples(tmp_path / "out" / "x_y.conll")]
    assert again == [(v.inputs, v.gold) for v in variants]


def test_other_tasks_have_no_tags(classify: Suite, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the task must be tag or slu; the suite's is classify"):
        export(classify.path, "conll", tmp_path / "out")
