"""Metrics over models in folders, with models made here."""

from __future__ import annotations

from pathlib import Path

import pytest

from unswayed.base.errors import UsageError
from unswayed.systems import Metric, Scores, Segment, open_system

torch = pytest.importorskip("torch", reason="needs unswayed[hf]")
transformers = pytest.importorskip("transformers", reason="needs unswayed[hf]")

WORDS = ["<pad>", "</s>", "<unk>", "[CLS]", "[SEP]", "the", "a", "cat", "dog", "sat", "ran", "on", "mat", "fast", "and"]
PAIRS = [("the cat sat", "the cat sat"), ("a dog ran fast and", "the cat sat"), ("the", "the mat"), ("", "a cat")]


def tokenizer(folder: Path, bert: bool) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = ("[CLS] $A [SEP]", [("[CLS]", 3), ("[SEP]", 4)]) if bert else ("$A </s>", [("</s>", 1)])
    made.post_processor = processors.TemplateProcessing(single=ends[0], special_tokens=ends[1])
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=32,
    ).save_pretrained(folder)  # fmt: skip


@pytest.fixture(scope="module")
def seq2seq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("t5")
    tokenizer(folder, bert=False)
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=len(WORDS), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    tokenizer(folder, bert=True)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def test_prism_is_the_likelihood_both_ways(seq2seq: Path) -> None:
    """One at a time through the model's own loss, against all in one padded batch."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(seq2seq).eval()
    words = transformers.AutoTokenizer.from_pretrained(seq2seq)

    def likelihood(given: str, said: str) -> float:
        inputs = words(given, return_tensors="pt")
        labels = words(said, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            found = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels)
        return -float(found.loss)

    metric = open_system(f"prism:model={seq2seq}", Metric)
    found = Scores(metric).score([Segment(candidate, reference) for candidate, reference in PAIRS])
    expected = [(likelihood(r, c) + likelihood(c, r)) / 2 for c, r in PAIRS]
    assert found == pytest.approx(expected, abs=1e-4)
    free = open_system(f"prism:model={seq2seq},against=source", Metric)
    found = Scores(free).score([Segment(candidate, source=source) for candidate, source in PAIRS])
    assert found == pytest.approx([likelihood(s, c) for c, s in PAIRS], abs=1e-4)


@pytest.fixture(scope="module")
def multilingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An M2M-100 of a few thousand weights, with the languages of the real one."""
    import json

    import sentencepiece

    folder = tmp_path_factory.mktemp("m2m")
    (folder / "texts.txt").write_text("o autocarro chegou\nthe bus is late\nwe met after lunch\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "texts.txt"), model_prefix=str(folder / "spm"), vocab_size=60, hard_vocab_limit=False,
        minloglevel=2,
    )  # fmt: skip
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
    own = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    words = list(dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *own]))
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}))
    made = transformers.M2M100Tokenizer(vocab_file=str(folder / "vocab.json"), spm_file=str(folder / "spm.model"))
    torch.manual_seed(0)
    config = transformers.M2M100Config(
        vocab_size=max(made.lang_token_to_id.values()) + 1, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
    )  # fmt: skip
    transformers.M2M100ForConditionalGeneration(config).save_pretrained(folder / "model")
    made.save_pretrained(folder / "model")
    return folder / "model"


def test_prism_sets_the_languages_of_a_multilingual_model(multilingual: Path) -> None:
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(multilingual).eval()
    words = transformers.AutoTokenizer.from_pretrained(multilingual)

    def likelihood(given: str, said: str, source: str, target: str) -> float:
        words.src_lang, words.tgt_lang = source, target
        inputs = words(given, return_tensors="pt")
        labels = words(text_target=said, return_tensors="pt")["input_ids"]
        assert labels[0, 0] == words.get_lang_id(target)
        with torch.no_grad():
            logits = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels).logits
        return float(logits.log_softmax(-1)[0].gather(-1, labels[0].unsqueeze(-1))[1:].mean())

    free = open_system(f"prism:model={multilingual},against=source", Metric)
    assert free.uses == ("source", "tag")
    asked = [
        Segment("o autocarro chegou", source="the bus is late", tag="pt-PT"),
        Segment("o autocarro", source="we met", tag="es"),
        Segment("o", source="the bus", tag="pt"),
    ]
    found = Scores(free).score(asked)
    expected = [likelihood(s.source or "", s.candidate, "en", (s.tag or "")[:2]) for s in asked]
    assert found == pytest.approx(expected, abs=1e-4)
    metric = open_system(f"prism:model={multilingual}", Metric)
    (both,) = Scores(metric).score([Segment("o autocarro", "o autocarro chegou", tag="pt")])
    way, back = ("o autocarro", "o autocarro chegou"), ("o autocarro chegou", "o autocarro")
    assert both == pytest.approx((likelihood(*way, "pt", "pt") + likelihood(*back, "pt", "pt")) / 2, abs=1e-4)
    with pytest.raises(UsageError, match="does not know the language 'xx'"):
        metric.scores([Segment("o", "o", tag="xx")])


def test_bertscore_likes_what_is_the_same_best(encoder: Path) -> None:
    metric = open_system(f"bertscore:model={encoder}", Metric)
    same, other, _, empty = Scores(metric).score([Segment(candidate, reference) for candidate, reference in PAIRS])
    assert same == pytest.approx(1.0, abs=1e-5)
    assert other < same
    assert empty == 0


@pytest.mark.parametrize("name", ["prism", "bertscore"])
def test_a_folder_without_a_model(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="model must name the folder"):
        open_system(f"{name}:model={tmp_path}", Metric)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError):
        Scores(open_system(f"{name}:model={tmp_path}", Metric)).score([Segment("a", "b")])


def test_another_model_is_another_metric(seq2seq: Path, tmp_path: Path) -> None:
    import shutil

    other = tmp_path / "other"
    shutil.copytree(seq2seq, other)
    assert (
        open_system(f"prism:model={seq2seq}", Metric).identity == open_system(f"prism:model={other}", Metric).identity
    )
    weights = other / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\1")
    assert (
        open_system(f"prism:model={seq2seq}", Metric).identity != open_system(f"prism:model={other}", Metric).identity
    )
