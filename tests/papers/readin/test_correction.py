"""Scores of correction, by hand and on SIGHAN's real files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import DataError
from unswayed.papers.readin.correction import changes, score_correction, score_correction_files

SIGHAN = Path(__file__).parents[3] / "../shared/data/sighan"


def test_by_hand() -> None:
    """Two errors found of three, one mended; one right character touched; a right sentence changed."""
    source = ["abcd", "efgh", "ijkl", "mnop"]
    gold = ["aBcd", "eFgH", "ijkl", "mnop"]
    output = ["aBcd", "eXGh", "Ijkl", "mnop"]
    found = score_correction(source, gold, output)
    values = lambda prf: [prf.precision.value, prf.recall.value, prf.f1.value]  # noqa: E731
    assert values(found.character.detection) == pytest.approx([2 / 4, 2 / 3, 4 / 7])
    assert values(found.character.correction) == pytest.approx([1 / 4, 1 / 3, 2 / 7])
    assert values(found.sentence.detection) == pytest.approx([1 / 3, 1 / 2, 2 / 5])
    assert values(found.sentence.correction) == pytest.approx([1 / 3, 1 / 2, 2 / 5])
    assert found.wrongly_changed.value == 0.5
    assert (found.sentences, found.with_errors) == (4, 2)


@given(st.text(max_size=12), st.text(max_size=12))
def test_changes_tell_all(source: str, text: str) -> None:
    found = changes(source, text)
    if source == text:
        assert found == {}
    elif source and len(source) == len(text):
        assert apply(source, [Edit(at, at + 1, new) for at, new in found.items()]) == text
    else:
        assert found


def test_texts_that_grew_or_shrank() -> None:
    assert changes("abc", "abXc") == {2: "X"}
    assert changes("abc", "ac") == {1: ""}
    assert changes("ab", "abX") == {1: "X"}


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("(pid=1)\t你好\n", encoding="utf-8")
    for truth, message in (("1, 9, 好\n", "do not fit"), ("1, x\n", "a line must be"), ("2, 0\n", "no line for 1")):
        (tmp_path / "gold").write_text(truth, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            score_correction_files(tmp_path / "source", tmp_path / "gold", tmp_path / "source")


@pytest.mark.skipif(not SIGHAN.is_dir(), reason="../shared/data is not here")
def test_sighan(tmp_path: Path) -> None:
    """The truth scores full marks, and the source none; 542 of 1,100 sentences have errors."""
    source, truth = SIGHAN / "TestInput.txt", SIGHAN / "TestTruth.txt"
    found = score_correction_files(source, truth, source)
    assert (found.sentences, found.with_errors) == (1100, 542)
    assert found.sentence.correction.recall.value == 0
    assert found.sentence.correction.precision.value is None
    golds = tmp_path / "gold"
    from unswayed.papers.readin.correction import _golds, _texts

    golds.write_text("".join(t + "\n" for t in _golds(truth, _texts(source))), encoding="utf-8")
    assert score_correction_files(source, truth, golds).sentence.correction.f1.value == 1
