"""A run read in blocks holds what it holds item by item."""

from __future__ import annotations

import pytest

from unfazed.core.suite import Manifest, Suite, write_suite
from unfazed.core.values import Example, Failed, Variant
from unfazed.run import stored_blocks as module
from unfazed.run.block import AS_IT_WAS
from unfazed.run.engine import run_system
from unfazed.run.stored_blocks import stored_blocks


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
    run = run_system(suite_at(tmp_path), answer, tmp_path / "run", limit=limit)
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
