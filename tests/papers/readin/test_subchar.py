"""Codes and tokens below the character: texts come back exactly, homophones meet, and transformers agrees."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import DataError, StoredFileError, UnknownName, UsageError
from unswayed.base.values import Example, Inputs
from unswayed.mitigate import augment_examples
from unswayed.papers.readin.fold import ENCODINGS, Codes, Folded, fold_examples
from unswayed.papers.readin.subchar import SPECIAL, SubChar, charsmap
from unswayed.vary import OperatorSpec, make_operator

tokenizers = pytest.importorskip("tokenizers", reason="the extra hf is not installed")
TEXTS = ["花呗怎么不能提额了", "借呗还款日是哪天", "please turn off the lights", "支付宝 how to 解绑银行卡？"] * 3
MIXED = st.text(
    st.sampled_from("花话华马吗码一丶龘ab Z09<0x41>[CLS]\n\t▁ˊㄇ𝚊𝟷\ue000\ue001\uf8ff\uf8fe😀é́שם")
    | st.characters(codec="utf-8")
)
CODES = {(encoding, index): Codes(encoding, index) for encoding in ENCODINGS for index in (True, False)}
MADE = {(model, index): SubChar.train(TEXTS, "pinyin", index, model, 600)
        for model in ("unigram", "bpe") for index in (True, False)}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=MIXED)
@settings(max_examples=60, deadline=None)
def test_codes_come_back(encoding: str, text: str) -> None:
    whole, folded = CODES[encoding, True], CODES[encoding, False]
    assert whole.decode(whole.encode(text)) == text
    assert folded.decode(folded.encode(text)) == folded.fold(text)
    assert folded.encode(folded.fold(text)) == folded.encode(text)


@given(st.text(st.characters(codec="utf-8")))
@settings(max_examples=60, deadline=None)
def test_anything_can_be_decoded(text: str) -> None:
    assert isinstance(CODES["zhuyin", True].decode(text), str)


@pytest.mark.parametrize("kind", sorted(MADE))
@given(text=MIXED)
@settings(max_examples=80, deadline=None)
def test_tokens_come_back(kind: tuple[str, bool], text: str) -> None:
    made = MADE[kind]
    assert made.decode(made.encode(text)) == (text if kind[1] else made.codes.fold(text))


def test_homophones_have_the_same_tokens_without_an_index() -> None:
    one, other = "花呗怎么还款", "话被怎么海款"
    assert MADE["unigram", False].encode(one) == MADE["unigram", False].encode(other)
    assert MADE["unigram", True].encode(one) != MADE["unigram", True].encode(other)
    assert Codes("pinyin_tone", False).encode("花") != Codes("pinyin_tone", False).encode("话")  # huā, huà
    assert Codes("pinyin", False).fold("话被") == Codes("pinyin", False).fold("花呗")


@pytest.mark.parametrize(
    ("encoding", "same", "other"), [("pinyin", "马吗妈", "米"), ("zhuyin", "他她它", "塔"), ("stroke", "土士", "木")]
)
def test_what_is_one_by_each_encoding(encoding: str, same: str, other: str) -> None:
    codes = CODES[encoding, False]
    assert len({codes.encode(c) for c in same}) == 1
    assert codes.encode(other) != codes.encode(same[0])
    assert len({CODES[encoding, True].encode(c) for c in same}) == len(same)


@pytest.mark.slow
def test_the_file_alone_does_the_same_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")
    text = "花呗怎么 <0x41> ABC😀ma马𝚊ˊ\ue001 \n\t ▁ 龘 שלום"
    for kind, made in MADE.items():
        made.save(tmp_path / str(kind))
        opened = transformers.AutoTokenizer.from_pretrained(tmp_path / str(kind))
        assert opened(text)["input_ids"] == [2, *made.encode(text), 3]
        assert len(opened) == len(made) <= 600
        assert opened.mask_token_id == SPECIAL.index("[MASK]")
        assert SubChar.load(tmp_path / str(kind)).encode(text) == made.encode(text)


@pytest.mark.slow
def test_a_bert_learns_with_it(tmp_path: Path) -> None:
    """One step of masked language modelling with a tiny BERT, to see that ids and sizes fit."""
    torch = pytest.importorskip("torch", reason="the extra hf is not installed")
    transformers = pytest.importorskip("transformers")
    made = MADE["unigram", False]
    made.save(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(tokenizer), **sizes))
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(8):
        loss = model(**batch, labels=batch["input_ids"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]


def test_the_table_is_read_as_tokenizers_reads_it() -> None:
    table = {"花": "x", "华山": "yy", "ab": "z", "a": "", "😀": "smile"}
    normalizer = tokenizers.normalizers.Precompiled(charsmap(table))
    assert [normalizer.normalize_str(old) for old in ("花", "😀", "a", "b")] == ["x", "smile", "", "b"]
    codes = CODES["stroke", True]
    whole = tokenizers.normalizers.Precompiled(charsmap(codes.replacements))
    assert all(whole.normalize_str(old) == new for old, new in codes.replacements.items())


def test_folding_before_a_system() -> None:
    class Seen:
        unswayed_identity = "seen"

        def __call__(self, batch: list[Inputs]) -> list[object]:
            return [dict(inputs) for inputs in batch]

    system = Folded(Seen(), "pinyin")
    asked = [{"question": "话被", "context": "话被"}, {"text": "马"}]
    first, second = system.predict(asked)
    assert first["context"] == "话被"
    assert first["question"] == CODES["pinyin", False].fold("花呗")
    assert second == {"text": CODES["pinyin", False].fold("吗")}
    assert system.identity.startswith("seen after folding by pinyin ")
    (example,) = fold_examples([Example(0, "a", {"text": "马"}, "x")], CODES["pinyin", False])
    assert example.inputs == second


def test_wrong_use_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no encoding named 'pinying'. Did you mean 'pinyin'"):
        Codes("pinying")
    with pytest.raises(DataError, match="no text"):
        SubChar.train([""])
    with pytest.raises(UsageError, match="at least 356 tokens"):
        SubChar.train(TEXTS, size=300)
    with pytest.raises(StoredFileError, match="not a saved vocabulary"):
        SubChar.load(tmp_path)


def test_folding_undoes_homophones() -> None:
    """Why noisy copies with homophones add nothing to SubChar: folded, each is its original again, for any model."""
    texts = ["花呗怎么不能提额了", "借呗还款日是哪天", "支付宝怎么解绑银行卡", "为什么我的余额宝不能转出"]
    examples = [Example(i, str(i), {"text": text}) for i, text in enumerate(texts * 5)]
    copies = list(
        augment_examples(examples, [make_operator(OperatorSpec("keyboard/homophone"))], 0, task="text", language="zh")
    )
    codes = Codes("pinyin", index=False)
    altered = [copy for copy in copies if copy.inputs["text"] not in texts]
    assert len(altered) == 20
    assert {codes.fold(copy.inputs["text"]) for copy in altered} == {codes.fold(text) for text in texts}
