"""The small transformer over pairs: what it learns, what its tokens tell apart, and that it comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from unswayed.base.errors import UnknownName
from unswayed.base.values import Example
from unswayed.papers.readin.transformer import TOKENS, Tokens, Transformer
from unswayed.systems.system import Failed

pytest.importorskip("torch", reason="the extra hf is not installed")

WORDS = ["花呗", "借呗", "还款", "怎么", "为什么", "额度", "开通", "不能", "支付", "提前"]


def examples(count: int = 200) -> list[Example]:
    """Three words and the same in another order, or three others."""
    made = []
    for i in range(count):
        words = [WORDS[(i + n) % 10] for n in (0, 3, 4)]
        others = words[::-1] if i % 2 else [WORDS[(i + n) % 10] for n in (5, 6, 8)]
        made.append(Example(i, str(i), {"a": "".join(words), "b": "".join(others)}, str(i % 2)))
    return made


def test_learns_whether_two_texts_share_words_and_comes_back_as_it_was(tmp_path: Path) -> None:
    model = Transformer.train(examples(), examples(40), epochs=6, hidden=32, batch_size=20, to=tmp_path / "model")
    batch = [e.inputs for e in examples(40)]
    outputs = model.predict(batch)
    assert sum(o == e.gold for o, e in zip(outputs, examples(40), strict=True)) >= 36
    assert model.predict([{"a": i["b"], "b": i["a"]} for i in batch]) == outputs  # the texts may change places
    opened = Transformer.load(tmp_path / "model")
    assert (opened.identity, opened.predict(batch)) == (model.identity, outputs)
    assert isinstance(model.predict([{"a": "花呗"}])[0], Failed)
    assert model.predict([{"a": "", "b": ""}])[0] in ("0", "1")


def test_what_tokens_tell_apart() -> None:
    texts = [text for e in examples() for text in e.inputs.values()]
    characters, sounds, indexed = (Tokens.of(texts, kind) for kind in TOKENS)
    homophone = "花贝"  # sounds as 花呗
    assert characters("花呗") != characters(homophone)
    assert sounds("花呗") == sounds(homophone)
    assert indexed("花呗") != indexed(homophone)
    with pytest.raises(UnknownName, match="kind of tokens"):
        Tokens.of(texts, "radicals")


@pytest.mark.parametrize("kind", ["subchar", "subchar-index"])
def test_subchar_tokens_are_kept_with_the_weights(tmp_path: Path, kind: str) -> None:
    options = {"epochs": 1, "hidden": 32, "tokens": kind}
    model = Transformer.train(examples(40), examples(20), to=tmp_path / "model", **options)
    batch = [e.inputs for e in examples(20)]
    assert Transformer.load(tmp_path / "model").predict(batch) == model.predict(batch)
    assert Transformer.train(examples(40), examples(20), **options).identity == model.identity
