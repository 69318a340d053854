"""Synonyms from a masked language model: a tiny BERT made and saved here, so that the real libraries run."""

from __future__ import annotations

from pathlib import Path

import pytest

from unswayed.base.errors import UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Variant
from unswayed.vary.engine import Variation, vary
from unswayed.vary.english import tagged
from unswayed.vary.fitting import Asked

torch = pytest.importorskip("torch", reason="needs the extra hf")
transformers = pytest.importorskip("transformers", reason="needs the extra hf")

WORDS = (
    *("play", "plays", "played", "start", "starts", "begin", "put", "puts", "book", "reserve", "find", "show"),
    "stream",
    *("the", "a", "this", "that", "my", "your", "some", "in", "on", "from", "to", "for", "with", "by", "me", "us"),
    *("new", "old", "cheap", "great", "quickly", "slowly", "now", "album", "song", "songs", "track", "table", "she"),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights are random but for the output's bias, so that some words are likelier than others everywhere."""
    place = tmp_path_factory.mktemp("bert")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "##s", "!"]
    (place / "vocab.txt").write_text("\n".join(vocabulary))
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    bert = transformers.BertForMaskedLM(config)
    with torch.no_grad():
        bert.cls.predictions.bias[vocabulary.index("##s")] = 9.0  # a piece of a word is no word
        bert.cls.predictions.bias[vocabulary.index("play")] = 8.0
        bert.cls.predictions.bias[vocabulary.index("starts")] = 7.0
        bert.cls.predictions.bias[vocabulary.index("stream")] = 6.0
        bert.cls.predictions.bias[vocabulary.index("this")] = 5.0
    bert.save_pretrained(place)
    transformers.BertTokenizer(str(place / "vocab.txt")).save_pretrained(place)
    return place


def varied(name: str, texts: list[str], model: Path, draws: int = 1, top: int = 1) -> list[Variant]:
    examples = [
        Example(i, str(i), {"text": text}, {"intent": "i", "slots": ["O"] * len(text.split())})
        for i, text in enumerate(texts)
    ]
    spec = OperatorSpec(f"spoken/synonym_{name}", {"model": str(model), "top": top})
    return list(vary(examples, Variation(operators=(spec,), task="slu", language="en", draws=draws)))


def test_the_likeliest_word_of_the_same_form(model: Path) -> None:
    [variant] = varied("verb", ["play the new album"], model)
    assert variant.inputs["text"] == "stream the new album"  # neither a piece, nor itself, nor *starts*
    assert variant.note == "play→stream (verb)"
    [variant] = varied("verb", ["she plays the song"], model)
    assert variant.inputs["text"] == "she starts the song"


def test_closed_classes(model: Path) -> None:
    made = {v.inputs["text"] for v in varied("stopword", ["play the album"], model, draws=5)}
    assert made == {"play this album"}


def test_batches_give_what_single_texts_give(model: Path) -> None:
    from unswayed.vary.synonyms import MaskedModel

    source = MaskedModel(str(model))
    texts = [f"play the {adjective} album" for adjective in ("new", "old", "cheap", "great")] * 12
    asked = [Asked(text, tagged(text), i % 2 * 2) for i, text in enumerate(texts)]
    single = [source.ranked([one])[0] for one in asked]
    batched = source.ranked(asked)
    assert [words[:1] for words in batched] == [words[:1] for words in single]
    assert [set(words) for words in batched] == [set(words) for words in single]


def test_a_text_longer_than_the_model_reads_is_left_alone(model: Path) -> None:
    long = "the " * 600 + "play"
    assert varied("verb", [long.strip()], model) == []


def test_a_path_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no masked language model"):
        varied("verb", ["play the album"], tmp_path)
