"""What every network promises, and its parts against slower ways to the same numbers."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise, product
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings, strategies as st
from samples import slu

from unswayed.base.errors import StoredFileError
from unswayed.base.task import task_named
from unswayed.base.values import Example
from unswayed.papers.nature.slu.fronts import Batch, Encoder, windows
from unswayed.papers.nature.slu.layers import Chain
from unswayed.papers.nature.slu.models import SluSystem
from unswayed.systems.system import Failed

NAMES = ["slu/bilstm", "slu/birnn", "slu/jointbert", "slu/stackprop"]
SAMPLES: dict[str, SluSystem] = {}


def sample(name: str) -> SluSystem:
    if name not in SAMPLES:
        made = slu(name)
        assert isinstance(made, SluSystem)
        SAMPLES[name] = made
    return SAMPLES[name]


SOME = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(["", "play some jazz", "a " * 300])


@pytest.mark.parametrize("name", NAMES)
@given(texts=st.lists(SOME, max_size=5))
@settings(max_examples=12, deadline=None)
def test_a_text_is_answered_the_same_alone_and_among_others(name: str, texts: list[str]) -> None:
    system = sample(name)
    together = list(system.predict([{"text": text} for text in texts]))
    for text, output in zip(texts, together, strict=True):
        assert task_named("slu").output_problem(output, {"text": text}) is None
        assert system.predict([{"text": text}]) == [output]


@pytest.mark.parametrize("name", NAMES)
def test_padding_changes_no_score(name: str) -> None:
    network = sample(name).network.eval()
    sentences = [["play", "it"], ["will", "it", "rain", "on", "some", "unknownword"], ["x"]]
    with torch.no_grad():
        vectors = network.front(network.front.collate(sentences))
        for row, sentence in enumerate(sentences):
            alone = network.front(network.front.collate([sentence]))[0]
            torch.testing.assert_close(vectors[row, : len(sentence)], alone)


@pytest.mark.parametrize("name", NAMES)
def test_attention_rows_are_shares(name: str) -> None:
    for text in ("play some jazz", "", "a  b", "word " * 500):
        found = sample(name).attention({"text": text})
        if name == "slu/birnn":
            assert found is None
            continue
        assert found is not None
        assert found.tokens == text.split(" ")[: len(found.tokens)]
        assert len(found.weights) == (1 if name == "slu/bilstm" else len(found.tokens))
        for row in found.weights:
            assert len(row) == len(found.tokens)
            assert sum(row) == pytest.approx(1, abs=1e-4)


def test_an_input_without_text_fails() -> None:
    failed, fine = sample("slu/bilstm").predict([{"other": "x"}, {"text": "play"}])
    assert isinstance(failed, Failed)
    assert fine["slots"]


@pytest.mark.parametrize("name", ["slu/bilstm", "slu/jointbert"])
@given(tokens=st.lists(st.text(min_size=0, max_size=80), max_size=200))
@settings(max_examples=50, deadline=None)
def test_windows_cover_a_text_and_fit(name: str, tokens: list[str]) -> None:
    front = sample(name).network.front
    tokens = tokens or [""]
    cuts = windows(front, tokens)
    assert [n for a, b in cuts for n in range(a, b)] == list(range(len(tokens)))
    assert all(sum(front.widths(tokens[a:b])) <= front.room for a, b in cuts)


def test_a_byte_level_tokenizer_reads_words_as_in_a_sentence(tmp_path: Path, toy: list[Example]) -> None:
    """RoBERTa's kind: a word within a sentence begins with a space, and positions are counted from 2."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    from unswayed.papers.nature.slu.models import Jointbert
    from unswayed.systems.model_folder import no_bars

    marks = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        [e.inputs["text"] for e in toy],
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=list(marks.values()), initial_alphabet=alphabet, show_progress=False
        ),
    )
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = RobertaConfig(vocab_size=400, max_position_embeddings=40, pad_token_id=1, **sizes)
    with no_bars():
        RobertaModel(config).save_pretrained(tmp_path)
        PreTrainedTokenizerFast(tokenizer_object=made, **marks).save_pretrained(tmp_path)
    system = Jointbert.train(toy, toy, encoder=tmp_path, epochs=1)
    pieces = system.network.front.collate([["rain", "in", "old"]]).fields["pieces"][0].tolist()
    assert pieces == made.encode(" rain in old").ids
    assert len(system.predict([{"text": "wörd " * 100}])[0]["slots"]) == 101


def brute(chain: Chain, scores: torch.Tensor, path: tuple[int, ...]) -> torch.Tensor:
    total = chain.first[path[0]] + chain.last[path[-1]] + sum(scores[t, tag] for t, tag in enumerate(path))
    return total + sum(chain.pairs[a, b] for a, b in pairwise(path))


@pytest.mark.parametrize("seed", range(5))
def test_the_chain_agrees_with_all_sequences_written_out(seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    tags = ["B-x", "I-x", "I-y", "O"]
    chain = Chain(tags)
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=random))
    scores = torch.randn(3, 5, 4, generator=random) * 3
    gold = torch.randint(0, 4, (3, 5), generator=random)
    batch = Batch(torch.tensor([5, 1, 3]), {})
    losses, bests = [], chain.best(scores, batch)
    for row, length in enumerate(batch.lengths.tolist()):
        paths = list(product(range(4), repeat=length))
        values = torch.stack([brute(chain, scores[row], path) for path in paths]).detach()
        right = brute(chain, scores[row], tuple(gold[row, :length].tolist()))
        losses.append(torch.logsumexp(values, 0) - right)
        sound = [n for n, path in enumerate(paths) if well_formed([tags[t] for t in path])]
        assert tuple(bests[row, :length].tolist()) == paths[max(sound, key=lambda n: float(values[n]))]
    torch.testing.assert_close(chain.loss(scores, gold, batch), torch.stack(losses).mean())


def well_formed(tags: list[str]) -> bool:
    pairs = zip(["O", *tags], tags, strict=False)
    return all(tag[:2] != "I-" or before[2:] == tag[2:] for before, tag in pairs)


def test_the_two_networks_of_birnn_are_trained_apart() -> None:
    system = sample("slu/birnn")
    network = system.network
    from unswayed.papers.nature.slu.fronts import Gold

    intent, slots = network.parts()
    assert {id(p) for p in intent} | {id(p) for p in slots} == {id(p) for p in network.parameters()}
    assert not {id(p) for p in intent} & {id(p) for p in slots}
    batch = network.front.collate([["play", "some"]])
    for part, (own, other) in enumerate(((intent, slots), (slots, intent))):
        network.zero_grad(set_to_none=True)
        network.train().loss(batch, Gold(torch.tensor([0]), torch.tensor([[0, 1]])), part).backward()
        assert any(p.grad is not None for p in own)
        assert all(p.grad is None for p in other)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    system = sample("slu/bilstm")
    folder = system.save(tmp_path / "model")
    card, weights = folder / "system.json", folder / "weights.safetensors"
    whole, text = weights.read_bytes(), card.read_text()
    for content in (whole[:-20], b"", whole.replace(b"play", b"plai")):
        weights.write_bytes(content)
        with pytest.raises(StoredFileError, match=r"weights\.safetensors"):
            type(system).load(folder)
    weights.write_bytes(whole)
    for content in ("{", text.replace('"version": 1', '"version": 99'), text.replace('"plan"', '"plane"')):
        card.write_text(content)
        with pytest.raises(StoredFileError, match=r"system\.json"):
            type(system).load(folder)
    weights.unlink()
    card.write_text(text)
    with pytest.raises(StoredFileError, match=r"weights\.safetensors"):
        type(system).load(folder)


def test_a_tokenizer_saved_with_padding_gives_no_padding(bert: Path, tmp_path: Path) -> None:
    """MiniLM's is: each word would else be a hundred pieces, and training thirty times slower."""
    shutil.copytree(bert, tmp_path / "padded")
    file = tmp_path / "padded" / "tokenizer.json"
    stored = json.loads(file.read_text())
    plain = Encoder.opened(bert).widths(["play", "music"])
    stored["padding"] = {"strategy": {"Fixed": 40}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                         "pad_type_id": 0, "pad_token": "[PAD]"}  # fmt: skip
    file.write_text(json.dumps(stored))
    assert Encoder.opened(tmp_path / "padded").widths(["play", "music"]) == plain
    assert max(plain) < 40
