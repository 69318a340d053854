"""A stranger's model: whoever opens it, its code does not run, nobody is asked y/N, and no pickle is opened unasked."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra hf")
pytest.importorskip("transformers", reason="needs the extra hf")
pytest.importorskip("spacy", reason="needs the extra spacy")
pytest.importorskip("onnxruntime", reason="needs the extra onnx")
pytest.importorskip("skops", reason="needs the extra sklearn")

from samples.hf import save_tiny
from samples.pipelines import save_tiny as save_pipeline

from unswayed.base import file_hash
from unswayed.base.errors import StoredFileError, UnswayedError, UsageError
from unswayed.lab.training.models import TrainingSettings
from unswayed.papers.dialect.nano.training import load as load_nano
from unswayed.papers.nature.slu.fronts import Encoder
from unswayed.systems import Metric, ModelFolder, Rewriter, open_system
from unswayed.systems.model_folder import Embeddings, trust_weights
from unswayed.vary import MaskedModel

Opened = Callable[[Path], Any]
WORDS = ["play", "jazz", "rain"]


def _metric(name: str, folder: Path) -> object:
    return open_system(f"{name}:model={folder}", Metric)


def _rewriter(folder: Path) -> object:
    return open_system(f"hf:{folder}", Rewriter)


# Every way in which a folder of weights is opened.
LOADERS: dict[str, tuple[str, Opened]] = {
    "hf:": ("hf/classify", lambda folder: open_system(f"hf:{folder}").prepare),
    "folder": ("hf/tag", lambda folder: open_system(str(folder))),
    "masked language model": ("hf/classify", lambda folder: MaskedModel(str(folder))),
    "paraphraser": ("hf/seq2seq", _rewriter),
    "encoder": ("hf/classify", Encoder.opened),
    "embeddings": ("hf/classify", Embeddings),
    "bertscore": ("hf/classify", partial(_metric, "bertscore")),
    "prism": ("hf/seq2seq", partial(_metric, "prism")),
    "bleurt": ("hf/classify", partial(_metric, "bleurt")),
    "nano": ("hf/seq2seq", lambda folder: load_nano(folder, TrainingSettings(), 16)),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models")
    for kind in ("hf/classify", "hf/tag", "hf/seq2seq"):
        save_tiny(place / kind.replace("/", "-"), kind, WORDS)
    return place


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that hostile code would write; nobody is at the terminal to answer."""

    def asked(*_: object) -> str:
        raise AssertionError("somebody was asked y/N")

    monkeypatch.setattr("builtins.input", asked)
    return tmp_path / "code-ran"


class Payload:
    """What a pickle runs when it is opened."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._marker),)


def copied(models: Path, kind: str, to: Path) -> Path:
    return Path(shutil.copytree(models / kind.replace("/", "-"), to))


def change(file: Path, **values: object) -> None:
    held = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(held | values))


def with_code(folder: Path, marker: Path, file: str) -> None:
    code = f"import os\nos.mkdir({str(marker)!r})\nConfig = Model = Tokenizer = object\n"
    for name in ("modeling_evil.py", "__init__.py", "setup.py"):
        (folder / name).write_text(code)
    heads = ("", "ForMaskedLM", "ForSeq2SeqLM", "ForSequenceClassification", "ForTokenClassification")
    named = {f"AutoModel{head}": "modeling_evil.Model" for head in heads}
    tokenizer = ["modeling_evil.Tokenizer", "modeling_evil.Tokenizer"]
    more = {"model_type": "evil"} if file == "config.json" else {"tokenizer_class": "EvilTokenizer"}
    change(folder / file, auto_map={**named, "AutoConfig": "modeling_evil.Config", "AutoTokenizer": tokenizer}, **more)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("name", LOADERS)
def test_code_in_the_folder_is_refused_and_not_run(
    models: Path, tmp_path: Path, marker: Path, name: str, file: str
) -> None:
    kind, opened = LOADERS[name]
    folder = copied(models, kind, tmp_path / "model")
    with_code(folder, marker, file)
    with pytest.raises(UsageError, match=r"names Python code of its own \(auto_map\)"):
        opened(folder)
    assert not marker.exists()


@pytest.mark.parametrize("name", LOADERS)
def test_pickled_weights_are_refused_with_their_hash(models: Path, tmp_path: Path, marker: Path, name: str) -> None:
    kind, opened = LOADERS[name]
    folder = copied(models, kind, tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(marker), protocol=2))
    with pytest.raises(UsageError, match=rf"can run code.*{file_hash(folder / 'pytorch_model.bin')}.*trust_weights="):
        opened(folder)
    assert not marker.exists()


def test_trusted_weights_are_opened_without_running_what_is_in_them(models: Path, tmp_path: Path, marker: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = copied(models, "hf/classify", tmp_path / "model")
    expected = open_system(f"hf:{folder}").predict([{"text": "play jazz"}])
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    trusted = file_hash(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        open_system(f"hf:{folder}", trust_weights="yes")
    with pytest.raises(UsageError, match="trust_weights="):
        open_system(f"hf:{folder}", trust_weights="0" * 64)
    system = open_system(f"hf:{folder}", trust_weights=trusted)
    assert system.predict([{"text": "play jazz"}]) == expected
    assert system.reference == (f"hf:{folder}", {"trust_weights": [trusted]}), "workers are told too"
    with pytest.raises(UsageError, match="pickle"):
        open_system(f"hf:{folder}")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(marker), protocol=2))
    with trust_weights(file_hash(folder / "pytorch_model.bin")), pytest.raises(UnswayedError, match="can't be opened"):
        open_system(f"hf:{folder}").predict([{"text": "play jazz"}])
    assert not marker.exists(), "torch was to read weights and nothing else"


def test_comet_is_given_only_a_checkpoint_that_is_trusted(tmp_path: Path, marker: Path) -> None:
    checkpoint = tmp_path / "model.ckpt"
    checkpoint.write_bytes(pickle.dumps(Payload(marker), protocol=2))
    with pytest.raises(UsageError, match=f"{file_hash(checkpoint)}.*trust them"):
        open_system(f"comet:model={checkpoint}", Metric)
    metric = open_system(f"comet:model={checkpoint}", Metric, trust_weights=file_hash(checkpoint))
    metric.close()
    assert not marker.exists()


@pytest.mark.parametrize(
    ("file", "values", "said"),
    [
        ("config.json", {"attn_implementation": "evil/kernel"}, "compiled code to be fetched"),
        ("config.json", {"_attn_implementation": "evil/kernel:f"}, "compiled code to be fetched"),
        ("config.json", {"encoder": {"auto_map": {"AutoModel": "evil/repo--m.M"}}}, "Python code"),
        ("generation_config.json", {"custom_generate": "evil/repo"}, "Python code"),
        ("adapter_config.json", {"base_model_name_or_path": "evil/repo", "peft_type": "LORA"}, "holds an adapter"),
        ("config.json", {"model_type": "evil"}, "can't be opened"),
    ],
)
def test_settings_that_lead_elsewhere(
    models: Path, tmp_path: Path, file: str, values: dict[str, Any], said: str
) -> None:
    folder = copied(models, "hf/classify", tmp_path / "model")
    change(folder / file, **values)
    with pytest.raises(UsageError, match=said):
        open_system(f"hf:{folder}").predict([{"text": "play"}])


def test_files_that_are_none_and_files_without_end(models: Path, tmp_path: Path) -> None:
    folder = copied(models, "hf/classify", tmp_path / "model")
    os.mkfifo(folder / "vocab.txt")
    with pytest.raises(StoredFileError, match=r"vocab\.txt: this is not a regular file"):
        open_system(f"hf:{folder}")
    (folder / "vocab.txt").unlink()
    (folder / "vocab.txt").symlink_to("/dev/zero")
    with pytest.raises(StoredFileError, match="not a regular file"):
        open_system(f"hf:{folder}")
    (folder / "vocab.txt").unlink()
    with (folder / "merges.txt").open("wb") as file:
        file.truncate(1 << 30)  # sparse: it takes no room
    with pytest.raises(StoredFileError, match="larger than 512 MB"):
        open_system(f"hf:{folder}")
    (folder / "merges.txt").unlink()
    (folder / "config.json").write_text("[" * 100_000)
    with pytest.raises(StoredFileError, match=r"config\.json: this can't be read"):
        open_system(f"hf:{folder}")


def test_a_hubs_cache_is_links_and_can_be_opened(models: Path, tmp_path: Path) -> None:
    blobs = copied(models, "hf/classify", tmp_path / "blobs")
    (tmp_path / "snapshot").mkdir()
    for file in blobs.iterdir():
        (tmp_path / "snapshot" / file.name).symlink_to(f"../blobs/{file.name}")
    assert ModelFolder(tmp_path / "snapshot").content == ModelFolder(blobs).content
    assert open_system(f"hf:{tmp_path / 'snapshot'}").predict([{"text": "play"}])


def test_a_spacy_pipeline_is_data(tmp_path: Path, marker: Path) -> None:
    folder = tmp_path / "pipeline"
    save_pipeline(folder, ("textcat",), steps=0)
    expected = open_system(f"spacy:{folder}").predict([{"text": "play jazz"}])
    for name in ("__init__.py", "setup.py", "functions.py", "spacy.py"):
        (folder / name).write_text(f"import os\nos.mkdir({str(marker)!r})\n")
    assert open_system(f"spacy:{folder}").predict([{"text": "play jazz"}]) == expected
    config = (folder / "config.cfg").read_text()
    for hostile, said in (
        (config.replace('factory = "textcat"', 'source = "evil"'), "copied from another pipeline"),
        (config.replace("before_creation = null", 'before_creation = {"@callbacks": "evil.v1"}'), "before_creation"),
        (config.replace('factory = "textcat"', 'factory = "evil"'), "spaCy can't open this"),
    ):
        assert hostile != config
        (folder / "config.cfg").write_text(hostile)
        with pytest.raises(UnswayedError, match=said):
            open_system(f"spacy:{folder}").predict([{"text": "play jazz"}])
    assert not marker.exists()


@pytest.mark.parametrize("place", ["../secret", "{folder}/secret", "link"])
def test_an_onnx_graph_reads_nothing_outside_its_folder(tmp_path: Path, place: str) -> None:
    onnx = pytest.importorskip("onnx", reason="makes the graph")
    folder = tmp_path / "graph"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(8))
    (folder / "link").symlink_to(tmp_path / "secret")
    weights = onnx.TensorProto(name="w", data_type=onnx.TensorProto.INT64, dims=[1])
    weights.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", place.format(folder=tmp_path)), ("offset", "0"), ("length", "8")):
        weights.external_data.add(key=key, value=value)
    value = partial(onnx.helper.make_tensor_value_info, elem_type=onnx.TensorProto.INT64, shape=["a", "b"])
    add = onnx.helper.make_node("Add", ["input_ids", "w"], ["logits"])
    graph = onnx.helper.make_graph([add], "g", [value("input_ids")], [value("logits")], [weights])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
    with pytest.raises(StoredFileError, match="External data path"):
        open_system(f"onnx:{folder}").model  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.skops"])
def test_a_pickled_estimator_is_not_opened(tmp_path: Path, marker: Path, name: str) -> None:
    (tmp_path / name).write_bytes(pickle.dumps(Payload(marker), protocol=2))
    with pytest.raises(UnswayedError, match=r"is a pickle|can't be read as a skops file"):
        open_system(f"sklearn:{tmp_path / name}")
    assert not marker.exists()
