"""Speech there and back: espeak-ng speaks, a recogniser hears. Real programs; without them these tests are skipped."""

from __future__ import annotations

import shutil
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from unswayed.base.errors import MissingExtra, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Variant
from unswayed.systems import Recogniser, open_system
from unswayed.systems.recognise import sherpa_files
from unswayed.vary.engine import Variation, vary
from unswayed.vary.speech import roundtrip
from unswayed.vary.speech.roundtrip import Roundtrip, Voice, new_voice, voice_codes, write_speech

pytestmark = pytest.mark.skipif(not shutil.which("espeak-ng"), reason="needs espeak-ng: apt-get install espeak-ng")
HOSTILE = ["", " ", "\n", "🙂🙃", "<speak>hi</speak>", "שלום", "a" * 300, "-v de", "\0x"]

# Hears how long the audio is, which is enough to tell whether the same was said.
EAR = """
import sys, wave
with wave.open(sys.argv[1]) as file:
    assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)
    print("heard", file.getnframes(), "frames")
"""


@pytest.fixture
def ear(tmp_path: Path) -> str:
    (tmp_path / "ear.py").write_text(EAR)
    return f"command:{sys.executable} {tmp_path / 'ear.py'}"


def open_recogniser(spec: str, language: str) -> Recogniser:
    return open_system(spec, Recogniser, language=language)


def variants(texts: list[str], language: str = "en", draws: int = 1, **params: str) -> list[Variant]:
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]
    spec = OperatorSpec("speech/roundtrip", dict(params))
    return list(vary(examples, Variation(operators=(spec,), task="text", language=language, draws=draws)))


def test_pocketsphinx_hears_what_espeak_says(tmp_path: Path) -> None:
    """The real thing, in English: plain words come through from a clear voice, and the golden example holds."""
    pytest.importorskip("pocketsphinx", reason="needs the extra speech")
    write_speech("go to new york", Voice("en-us+f2", 147, 43), tmp_path / "x.wav")
    hear = open_recogniser("pocketsphinx", "en").hear
    assert hear(tmp_path / "x.wav") == "go to new york"
    before, after = Roundtrip.example
    assert [v.inputs["text"] for v in variants([before], asr="pocketsphinx")] == [after]
    assert hear(tmp_path / "x.wav") == "go to new york", "what was heard before changes nothing"


def test_any_command_and_any_language(ear: str, tmp_path: Path) -> None:
    keep = tmp_path / "audio"
    made = variants(["请帮我查一下明天的高铁票", "花呗怎么还款"], "zh", draws=2, asr=ear, keep=str(keep))
    assert len(made) == 4
    assert made == variants(["请帮我查一下明天的高铁票", "花呗怎么还款"], "zh", draws=2, asr=ear)
    assert len({v.inputs["text"] for v in made}) == 4, "another voice or text sounds different"
    kept = sorted(keep.glob("*.wav"))
    assert len(kept) == 4
    with wave.open(str(kept[0])) as file:
        assert file.getnframes() > 8_000


def test_a_draw_is_one_voice(ear: str) -> None:
    notes = {(v.draw, v.note) for v in variants(["one", "two", "three"], draws=3, asr=ear)}
    assert len(notes) == 3
    assert {v.note.partition(";")[0] for v in variants(["one"], asr=ear, voice="en-us")} <= {
        f"as heard from en-us-s{s}-p{p}" for s in range(130, 190) for p in range(30, 70)
    }


def test_any_text_can_be_spoken(ear: str) -> None:
    made = variants(HOSTILE, asr=ear)
    assert {v.row for v in made} == {4, 5, 6, 7, 8}, "what has no letter or digit is left alone"


def test_the_same_voice_gives_the_same_bytes(tmp_path: Path) -> None:
    voice = Voice("en-us", 150, 50)
    for name in ("a.wav", "b.wav"):
        write_speech("turn on the light", voice, tmp_path / name)
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()
    streams = [Seeds(0, "x", 1).stream("e", draw).habit("voice") for draw in range(20)]
    assert len({new_voice("en", "", stream) for stream in streams}) > 15


def test_languages_have_voices() -> None:
    assert "en-us" in voice_codes("en")
    assert voice_codes("zh") == voice_codes("zh-CN") == ("cmn",)
    with pytest.raises(UsageError, match="no voice for the language 'tlh'"):
        voice_codes("tlh")


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r'params=\{"asr": "NAME"\}'):
        Roundtrip()
    for spec in ("sphinx", "whisper", "whisper:", "command:"):
        with pytest.raises(UsageError, match="no recogniser"):
            open_recogniser(spec, "en")
    with pytest.raises(UsageError, match="English only"):
        open_recogniser("pocketsphinx", "zh")
    with pytest.raises(UsageError, match=r"no model\.bin in it"):
        open_recogniser(f"whisper:{tmp_path}", "en")
    with pytest.raises(UsageError, match=r"no tokens\.txt in it"):
        open_recogniser(f"sherpa:{tmp_path}", "en")
    with pytest.raises(UsageError, match="can't speak as 'nobody'"):
        write_speech("hello", Voice("nobody", 150, 50), tmp_path / "x.wav")
    monkeypatch.setenv("PATH", str(tmp_path))
    roundtrip._find_program.cache_clear()
    with pytest.raises(UsageError, match="apt-get install espeak-ng"):
        roundtrip._find_program()


@pytest.mark.parametrize(("package", "spec"), [("faster_whisper", "whisper"), ("sherpa_onnx", "sherpa")])
def test_a_missing_package_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, spec: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for name in ("model.bin", "tokenizer.json", "tokens.txt", "model.onnx"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(MissingExtra, match=package.replace("_", "-")):
        open_recogniser(f"{spec}:{tmp_path}", "en")


@pytest.mark.parametrize(
    ("folder", "files", "kind", "roles"),
    [
        ("zipformer", "encoder-epoch-99.onnx decoder.onnx joiner.int8.onnx", "transducer", "encoder decoder joiner"),
        ("whisper-tiny", "t-encoder.int8.onnx t-encoder.onnx t-decoder.onnx", "whisper", "encoder decoder"),
        ("sherpa-onnx-paraformer-zh", "model.int8.onnx", "paraformer", "paraformer"),
        ("sherpa-onnx-sense-voice-zh", "model.onnx", "sense_voice", "model"),
        ("some-ctc", "model.onnx", "nemo_ctc", "model"),
    ],
)
def test_sherpa_models_are_told_by_their_files(tmp_path: Path, folder: str, files: str, kind: str, roles: str) -> None:
    place = tmp_path / folder
    place.mkdir()
    for name in files.split():
        (place / name).write_bytes(b"")
    found, parts = sherpa_files(place, "")
    assert found == kind
    assert set(parts) == {*roles.split(), "tokens"}
    assert all("int8" in path for role, path in parts.items() if any("int8" in f and role in f for f in files.split()))
    assert sherpa_files(place, "wenet_ctc")[0] == "wenet_ctc"


def test_a_model_of_sherpa_onnx_is_loaded_and_asked(tmp_path: Path) -> None:
    """A real one, if tiny: random weights from features to letters, in the format of NeMo's CTC models."""
    onnx = pytest.importorskip("onnx", reason="needs onnx to make a model")
    pytest.importorskip("sherpa_onnx", reason="needs the extra speech")
    make, kinds = onnx.helper, onnx.TensorProto
    letters = ["▁a", "▁b", "c", "d", "e", "<blk>"]
    weights = np.random.Generator(np.random.PCG64(1)).normal(size=(80, len(letters))).astype(np.float32)
    graph = make.make_graph(
        [
            make.make_node("Transpose", ["audio_signal"], ["turned"], perm=[0, 2, 1]),
            make.make_node("MatMul", ["turned", "weights"], ["raw"]),
            make.make_node("LogSoftmax", ["raw"], ["logprobs"], axis=2),
        ],
        "tiny",
        [
            make.make_tensor_value_info("audio_signal", kinds.FLOAT, ["N", 80, "T"]),
            make.make_tensor_value_info("length", kinds.INT64, ["N"]),
        ],
        [make.make_tensor_value_info("logprobs", kinds.FLOAT, ["N", "T", len(letters)])],
        [onnx.numpy_helper.from_array(weights, "weights")],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)], ir_version=8)
    described = {"vocab_size": len(letters), "normalize_type": "per_feature", "subsampling_factor": 1}
    for key, value in {**described, "model_type": "EncDecCTCModelBPE"}.items():
        model.metadata_props.add(key=key, value=str(value))
    onnx.save(model, tmp_path / "model.onnx")
    (tmp_path / "tokens.txt").write_text("".join(f"{letter} {i}\n" for i, letter in enumerate(letters)))
    made = variants(["turn on the light"], draws=2, asr=f"sherpa:{tmp_path}")
    assert len({v.inputs["text"] for v in made}) == 2
    assert all(set(v.inputs["text"]) <= set("abcde ") for v in made)
    with pytest.raises(UsageError, match="no models of kind 'nothing'"):
        open_recogniser(f"sherpa/nothing:{tmp_path}", "en")
