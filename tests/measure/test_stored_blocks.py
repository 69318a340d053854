"""A run read in blocks holds what it holds item by item."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import StoredFileError
from unswayed.base.values import Example, Failed, Variant
from unswayed.measure import stored_blocks as module
from unswayed.measure.stored_blocks import stored_blocks
from unswayed.run.block import AS_IT_WAS, numbered, text_numbers
from unswayed.run.engine import run_system
from unswayed.storage.parquet import Repeated
from unswayed.storage.suite import Manifest, Suite, write_suite


def suite_at(tmp_path) -> Suite:
    """Examples with no variants, with equal ones, and with their own text; golds of several types."""
    golds = ["a", "b", None]
    examples = [
        Example(i, f"e{i}", {"text": f"text {i % 5}", "more": "é"}, golds[i % 3], {"who": f"p{i % 2}"} if i % 4 else {})
        for i in range(23)
    ]
    variants = [
        Variant(
            e.row, e.id, draw, f"x/{draw % 2}", "x", "changed" if draw == 2 else "same",
            {**e.inputs, "text": e.inputs["text"] + "!" * (draw % 3)}, golds[draw % 3], f"note {draw}",
        )
        for e in examples
        for draw in range(e.row % 5)
    ]  # fmt: skip
    manifest = Manifest(task="classify", language="en")
    return write_suite(tmp_path / "suite", manifest, lambda: examples, lambda: variants)


def answer(batch):
    return [Failed("no") if len(item["text"]) % 4 == 0 else item["text"][-1] for item in batch]


@pytest.mark.parametrize(("examples", "limit"), [(2048, None), (3, None), (1, None), (4, 9)])
def test_blocks_hold_the_same_as_items(examples, limit, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_EXAMPLES", examples)
    run = run_system(suite_at(tmp_path), answer, tmp_path / "run", plan={"run": {"limit": limit}})
    found, texts = [], []
    for block in stored_blocks(run):
        assert len(block.rows) <= examples
        first = 0
        for i, size in enumerate(block.sizes.tolist()):
            varied = [(block.variant(at, i), said(block.outputs[block.out[at]])) for at in range(first, first + size)]
            found.append((block.example(i), said(block.outputs[block.clean_out[i]]), varied))
            texts += [(variant.inputs == block.inputs[i]) for variant, _ in varied]
            assert [bool(n == AS_IT_WAS) for n in block.text[first : first + size]] == texts[len(texts) - size :]
            first += size
    assert found == [(e, said(clean), [(v, said(output)) for v, output in varied]) for e, clean, varied in run.items()]


def said(output):
    return output.value, output.error


def test_a_suite_without_variants_has_blocks(tmp_path):
    examples = [Example(0, "e", {"text": "on"}, "a")]
    suite = write_suite(tmp_path / "bare", Manifest(task="classify", language="en"), lambda: examples, list)
    (block,) = stored_blocks(run_system(suite, answer, tmp_path / "run"))
    assert (block.ids, block.sizes.tolist(), block.varied) == (["e"], [0], [])


@pytest.mark.parametrize(
    ("rows", "sound"), [([0, 0, 1], True), ([0, 2, 1], False), ([1, 0, 2], False), ([0, 7], False)]
)
def test_variants_in_another_order_are_refused(rows, sound, tmp_path, monkeypatch):
    """As no writer writes them: here, their batches are of one row and read in another order."""
    monkeypatch.setattr(module, "_MOST_EXAMPLES", 1)
    monkeypatch.setattr("unswayed.storage.parquet.ROWS_AT_ONCE", 1)
    examples = [Example(i, f"e{i}", {"text": f"text {i}"}, "a") for i in range(3)]
    variants = [Variant(row, f"e{row}", 0, "x/y", "x", "same", {"text": f"{row}!"}, "a", "") for row in sorted(rows)]
    manifest = Manifest(task="classify", language="en")
    suite = write_suite(tmp_path / "suite", manifest, lambda: examples, lambda: variants)
    bare = write_suite(tmp_path / "bare", manifest, lambda: examples, list)
    run = run_system(bare, answer, tmp_path / "run")
    run.suite = suite
    monkeypatch.setattr(suite, "numbered", lambda table, *names: reordered(table, Suite.numbered(suite, table, *names)))

    def reordered(table, batches):
        found = list(batches)
        return iter(found) if table == "examples" else iter([found[sorted(rows).index(row)] for row in rows])

    if sound:
        assert [inputs for block in stored_blocks(run) for inputs in block.varied] == [v.inputs for v in variants]
        return
    with pytest.raises(StoredFileError, match="do not follow the order of the examples"):
        list(stored_blocks(run))


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 3), max_size=6)), min_size=1, max_size=8))
def test_texts_are_numbered_as_if_compared_one_by_one(examples):
    """Also where hashes are alike that the texts are not: here they are the remainders of two."""
    own, varied = [b"%d" % text for text, _ in examples], [b"%d" % text for _, texts in examples for text in texts]
    sizes = np.array([len(texts) for _, texts in examples])
    plain = text_numbers(own, sizes.tolist(), varied)
    for wide in (1, 2):
        hashes = np.array([int(text) // wide << 60 for text in own + varied], dtype=np.uint64)
        assert module._text_numbers(hashes, sizes, own, varied).tolist() == plain.tolist()


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=4))
def test_pieces_of_a_column_are_numbered_as_if_it_were_whole(pieces):
    """Each piece has its own numbers, and may have values that no row of it has."""
    values = [sorted({*piece, "z"}) for piece in pieces]
    repeated = [
        Repeated(known, np.array([known.index(value) for value in piece], dtype=np.int64))
        for known, piece in zip(values, pieces, strict=True)
    ]
    whole, numbers = module._distinct(repeated)
    plain, expected = numbered([value for piece in pieces for value in piece])
    assert (whole, numbers.tolist()) == (plain, expected.tolist())
    assert module._listed(repeated) == [value for piece in pieces for value in piece]
