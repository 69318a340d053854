"""Every model and tensor goes where it is told: seen on torch's meta device, which holds shapes and no numbers."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import commands
import pytest
from samples import SAMPLES

import unswayed
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.values import Example
from unswayed.run.answering import placed_options
from unswayed.run.plan import Engine
from unswayed.systems import device
from unswayed.systems.asking import Asking
from unswayed.systems.device import DeviceChoice, Halving, beside, chosen, found, placed, using

torch = pytest.importorskip("torch", reason="needs the extra hf")
from on_meta import use_meta, watched  # noqa: E402

SOURCES = Path(unswayed.__file__).parent
NETWORKS = [name for name in SAMPLES if name.partition("/")[0] in ("hf", "slu", "nli")]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    use_meta(monkeypatch)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_registered_model_and_its_inputs_are_on_the_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system = SAMPLES[name].make()
    use_meta(monkeypatch)
    network = system.model if name.startswith("hf/") else placed(system.network, chosen())
    assert {p.device.type for p in network.parameters()} == {"meta"}
    watched(lambda: system.predict([SAMPLES[name].inputs("play some jazz"), SAMPLES[name].inputs("rain")]))


@pytest.mark.parametrize("name", ["slu/bilstm", "slu/birnn", "slu/stackprop", "nli/bow", "nli/bilstm"])
def test_training_is_on_the_device(name: str, fake: None) -> None:
    watched(SAMPLES[name].make)


def test_a_model_is_fine_tuned_on_the_device(fake: None, tmp_path: Path) -> None:
    from samples.hf import sample_folder

    from unswayed.lab.training.tuning import tune_model

    examples = [Example(i, str(i), {"text": "play some jazz"}, {"tags": ["O", "O", "B-thing"]}) for i in range(8)]
    settings = {"epochs": 1, "lr": 0.01, "batch_size": 4}
    watched(lambda: tune_model(sample_folder("hf/tag"), examples, task="tag", to=tmp_path / "tuned", settings=settings))


def test_masked_models_are_on_the_device(fake: None, tmp_path: Path) -> None:
    import transformers

    from unswayed.vary.english import tagged
    from unswayed.vary.fitting import Asked
    from unswayed.vary.synonyms import MaskedModel

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "the", "new", "album"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary))
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    source = MaskedModel(str(tmp_path))
    watched(lambda: source.ranked([Asked("play the new album", tagged("play the new album"), 2)]))


def test_bertscore_is_on_the_device(fake: None, tmp_path: Path) -> None:
    pytest.importorskip("bert_score", reason="needs the extra hf")
    from samples.hf import sample_folder

    from unswayed.systems import Segment
    from unswayed.systems.metrics import metrics

    shutil.copytree(sample_folder("hf/classify"), tmp_path / "model")
    settings = json.loads((tmp_path / "model/tokenizer_config.json").read_text())
    (tmp_path / "model/tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": 64}))
    metric: Any = metrics.get("bertscore")(model=str(tmp_path / "model"))
    watched(lambda: metric.scores([Segment("play jazz", "play some jazz")]))
    assert metric._scorer.device == "meta"


class Learned:
    """What COMET and BLEURT would be in their environments: notes where they are put."""

    logits = torch.zeros(1)

    def __init__(self) -> None:
        self.told: list[object] = []

    def predict(self, items: list[Any], **told: Any) -> dict[str, list[float]]:
        self.told.append({name: told.get(name) for name in ("gpus", "accelerator")})
        return {"scores": [0.5] * len(items)}

    def to(self, device: str) -> Learned:
        self.told.append(device)
        return self

    def eval(self) -> Learned:
        return self

    def __call__(self, *_: object, **__: object) -> Learned:
        return self

    def keys(self) -> list[str]:
        return []

    @classmethod
    def from_pretrained(cls, *_: object, **__: object) -> Learned:
        return LEARNED[-1]


LEARNED: list[Learned] = []


@pytest.mark.parametrize(
    ("chosen", "gpus", "accelerator", "at"),
    [("", 0, None, "cpu"), ("cpu", 0, None, "cpu"), ("cuda", 1, None, "cuda"), ("mps", 1, "mps", "mps")],
)
def test_comet_and_bleurt_go_where_their_process_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: str, gpus: int, accelerator: str | None, at: str
) -> None:
    from unswayed.papers.dialect.metrics import _worker

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setenv("UNSWAYED_DEVICE", chosen or "auto")
    LEARNED.append(learned := Learned())
    monkeypatch.setitem(sys.modules, "comet", SimpleNamespace(load_from_checkpoint=lambda file: learned))
    package = SimpleNamespace(BleurtForSequenceClassification=Learned, BleurtTokenizer=Learned)
    monkeypatch.setitem(sys.modules, "bleurt_pytorch", package)
    checkpoint = tmp_path / "checkpoints" / "model.ckpt"
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(b"weights")
    score = _worker.comet(str(checkpoint), hashlib.sha256(b"weights").hexdigest())
    assert score([{"src": "a", "mt": "b", "ref": "c"}]) == [0.5]
    assert learned.told == [{"gpus": gpus, "accelerator": accelerator}]
    _worker.bleurt(str(tmp_path), "safetensors")([{"mt": "b", "ref": "c"}])
    assert learned.told[1:] == [at, at]  # the model, then the texts


def test_a_metric_s_process_refuses_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from unswayed.papers.dialect.metrics import _worker

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("UNSWAYED_DEVICE", "cuda")
    with pytest.raises(SystemExit, match="PyTorch finds no cuda in the metric's environment. Available: cpu"):
        _worker.device()


def test_embeddings_and_rewriters_are_on_the_device(fake: None) -> None:
    from samples.hf import sample_folder

    from unswayed.systems.model_folder import Embeddings
    from unswayed.systems.rewrite import Seq2SeqRewriter

    watched(lambda: Embeddings(sample_folder("hf/classify")).similarity([("play jazz", "rain"), ("rain", "rain")]))
    rewriter = Seq2SeqRewriter(str(sample_folder("hf/seq2seq")))
    asked = {"text": "play some jazz", "n": "2", "language": "en", "seed": "1,2"}
    watched(lambda: rewriter.predict([asked]))


def test_prism_is_on_the_device(fake: None) -> None:
    from samples.hf import sample_folder

    from unswayed.systems.metrics import metrics

    prism: Any = metrics.get("prism")(model=str(sample_folder("hf/seq2seq")))
    watched(lambda: prism._likelihood(["play jazz"], ["play some jazz"], ["en"], ["en"]))


def sources() -> Iterator[tuple[Path, str]]:
    for file in sorted(SOURCES.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if re.search(r"\b(torch|onnxruntime|faster_whisper|ctranslate2)\b", text) and file.name != "device.py":
            yield file, text


def test_no_other_module_chooses_a_device() -> None:
    """The worker of learned metrics runs in an environment without unswayed; a hash may read weights of any device."""
    choice = re.compile(r"""\.cuda\(|\.cpu\(|\.to\(["']|device=["']|torch\.device\(|ExecutionProvider|gpus=\d""")
    allowed = {"_worker.py"}
    wrong = [(f.name, m.group()) for f, text in sources() for m in choice.finditer(text) if f.name not in allowed]
    assert not wrong


def test_every_module_that_runs_a_network_uses_the_one_place() -> None:
    runs = re.compile(r"return_tensors=|inference_mode\(\)|InferenceSession|WhisperModel|BERTScorer\(")
    through = {"_worker.py"}  # by `padded` and `Loop`
    silent = [f.name for f, t in sources() if runs.search(t) and "systems.device" not in t and f.name not in through]
    assert silent == []


def test_a_device_that_is_not_there_is_named_with_those_that_are() -> None:
    missing = next(kind for kind in ("cuda", "mps") if kind not in found())
    with pytest.raises(UsageError, match=f"PyTorch finds no {missing} here. Available: .*cpu"), using(missing):
        chosen().torch_device()
    with pytest.raises(UsageError, match="must be auto, cpu, cuda or mps, not 'gpu'"), using("gpu"):
        pass
    with using(missing), device.elsewhere():
        assert chosen().torch_device().type == "cpu"


def test_only_what_changes_answers_is_in_an_identity() -> None:
    assert DeviceChoice("cpu").suffix == DeviceChoice("cpu", "float32").suffix == ""
    assert DeviceChoice("cuda").decides() == ["cuda", "float32"]
    assert DeviceChoice("cpu", "bfloat16").suffix == " cpu bfloat16"
    same = SAMPLES["hf/classify"].make().identity
    with using("cpu", "bfloat16"):
        half = SAMPLES["hf/classify"].make()
        assert half.identity == f"{same} cpu bfloat16"
        assert next(half.model.parameters()).dtype == torch.bfloat16
    assert half.predict([{"text": "play some jazz"}])  # on its own device also after the choice has ended
    assert SAMPLES["hf/classify"].make().identity == same


def test_a_worker_of_ray_uses_the_gpu_that_it_was_given() -> None:
    assert placed_options(Engine(name="ray", gpus=1), {}) == {"device": "cuda"}
    assert placed_options(Engine(name="ray"), {}) == {"device": "cpu"}
    assert placed_options(Engine(name="ray", gpus=1), {"device": "cpu"}) == {"device": "cpu"}
    assert placed_options(Engine(workers=2), {}) == {}


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError()])
def test_a_batch_is_halved_until_it_fits_which_is_remembered_and_said_once(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes: list[int] = []

    def work(items: Any) -> list[int]:
        sizes.append(len(items))
        if len(items) > 5:
            raise error
        return [item * 2 for item in items]

    halving = Halving("model")
    assert halving.over(work, range(20)) == [i * 2 for i in range(20)]
    assert sizes == [20, 10, 5, 5, 5, 5]
    assert halving.over(work, range(7)) == [i * 2 for i in range(7)]
    assert sizes[6:] == [5, 2]
    assert capsys.readouterr().err.count("need too much memory") == 1
    with pytest.raises(SystemBroken, match="one text alone needs more memory"):
        Halving("model").over(lambda items: (_ for _ in ()).throw(error), [1])
    with pytest.raises(ZeroDivisionError):
        Halving("model").over(lambda items: 1 / 0, [1])  # type: ignore[arg-type, return-value]


def test_a_model_answers_the_same_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    system: Any = SAMPLES["hf/classify"].make()
    texts = [{"text": text} for text in ("play some jazz", "rain", "will it rain on monday", "play", "jazz")]
    whole, answers = system.predict(texts), system.answers

    def small(batch: Any) -> Any:
        if len(batch) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return answers(batch)

    monkeypatch.setattr(system, "answers", small)
    assert system.predict(texts) == whole


def test_tensors_go_beside_a_network_in_whatever_holds_them() -> None:
    from unswayed.papers.nature.slu.fronts import Batch

    network = torch.nn.Linear(2, 2, device="meta")
    batch = Batch(torch.tensor([1]), {"words": torch.tensor([[1]])})
    (moved, gold), text = beside(network, ((batch, {"gold": torch.tensor(1)}), "text"))
    assert {moved.lengths.device.type, moved.fields["words"].device.type, gold["gold"].device.type} == {"meta"}
    assert text == "text"
    assert beside(torch.nn.Identity(), batch) is batch


def test_onnx_graphs_are_given_the_providers_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    there = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    assert DeviceChoice("auto").providers() == DeviceChoice("cuda").providers() == there
    assert DeviceChoice("cpu").providers() == there[1:]
    with pytest.raises(UsageError, match="ONNX Runtime finds no mps here. Available: cuda, cpu"):
        DeviceChoice("mps").providers()
    with pytest.raises(UsageError, match="number format of its own"):
        DeviceChoice("cpu", "float16").providers()


@pytest.mark.slow
def test_the_device_is_chosen_at_the_command_line_in_a_plan_and_in_python(tmp_path: Path) -> None:
    from samples.hf import sample_folder

    model = sample_folder("hf/classify")
    (tmp_path / "mine.jsonl").write_text('{"text": "play jazz", "label": "a"}\n{"text": "rain", "label": "b"}\n')
    (tmp_path / "plan.toml").write_text('[run]\ndevice = "cpu"\ndtype = "bfloat16"\n')
    vary = ["vary", "mine.jsonl", "--lang", "en", "--with", "spoken/filler_end", "-o", "s"]
    commands.unswayed(*vary, cwd=tmp_path, check=True)
    run = ["run", "s", "--system", f"hf:{model}", "--no-sanity"]
    told = commands.unswayed(*run, "--device", "cpu", "--dtype", "bfloat16", "-o", "a", cwd=tmp_path, check=True)
    assert told.returncode == 0
    commands.unswayed(*run, "--plan", "plan.toml", "--workers", "2", "-o", "b", cwd=tmp_path, check=True)
    suite = unswayed.Suite(tmp_path / "s")
    results = unswayed.check(
        f"hf:{model}",
        suite,
        to=tmp_path / "c",
        plan={"run": {"device": "cpu", "dtype": "bfloat16", "asking": Asking(canary=0)}, "measure": {"sanity": False}},
    )
    found = {unswayed.Run(tmp_path / name).identity for name in "abc"}
    assert results.run is not None
    assert len(found) == 1
    assert found.pop().endswith(" cpu bfloat16")
    missing = next(kind for kind in ("cuda", "mps") if kind not in device.found())
    refused = commands.unswayed(*run, "--device", missing, "-o", "d", cwd=tmp_path)
    assert refused.returncode == 4
    assert f"finds no {missing} here. Available:" in refused.stderr
    assert "Use --device auto or cpu" in refused.stderr
