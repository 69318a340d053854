"""Recognisers by name or path: each takes the path of a WAV file and gives the text that it hears."""

from __future__ import annotations

import shlex
import subprocess
import wave
from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unfazed.core.errors import MissingExtra, SystemBroken, UsageError
from unfazed.core.values import Json

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Recogniser = Callable[[Path], str]
KNOWN = ("pocketsphinx", "whisper:FOLDER", "sherpa:FOLDER", "sherpa/KIND:FOLDER", "command:COMMAND", "http://HOST/…")
_TIMEOUT = 600.0


@lru_cache(4)
def open_recogniser(spec: str, language: str) -> Recogniser:
    """The recogniser that a text such as `whisper:models/small` names, loaded once a process."""
    if spec.startswith(("http://", "https://")):
        return _server(spec, language.split("-")[0].lower())
    name, _, rest = spec.partition(":")
    kind, _, model = name.partition("/")
    made = {"pocketsphinx": _pocketsphinx, "whisper": _whisper, "sherpa": _sherpa, "command": _command}.get(kind)
    if made is None or (kind != "pocketsphinx" and not rest):
        raise UsageError(f"There is no recogniser {spec!r}; give one of {', '.join(KNOWN)}.")
    return made(rest, language.split("-")[0].lower(), model)


def _samples(path: Path) -> npt.NDArray[np.float32]:
    import numpy as np

    with wave.open(str(path)) as file:
        frames = file.readframes(file.getnframes())
    return np.frombuffer(frames, dtype="<i2").astype(np.float32) / np.float32(32768)


def _pocketsphinx(rest: str, language: str, model: str) -> Recogniser:
    """CMU Sphinx with the American English model that comes in its package."""
    if language != "en":
        raise UsageError(f"pocketsphinx comes with a model of English only, not of {language!r}.")
    try:
        from pocketsphinx import Decoder
    except ImportError as error:
        raise MissingExtra("The recogniser pocketsphinx", "speech") from error
    # Narrower beams than the package's own: a third of the time, about the same words.
    decoder: Any = Decoder(samprate=16_000, loglevel="FATAL", maxhmmpf=3_000, maxwpf=10)

    def hear(path: Path) -> str:
        with wave.open(str(path)) as file:
            frames = file.readframes(file.getnframes())
        decoder.reinit_feat()  # forget the last speaker, so that order changes nothing
        decoder.start_utt()
        if frames:
            decoder.process_raw(frames, full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        return str(found.hypstr).strip() if found else ""

    return hear


def _whisper(rest: str, language: str, model: str) -> Recogniser:
    """A Whisper model in CTranslate2's format, by faster-whisper."""
    folder = _folder(rest, "model.bin")
    try:
        from faster_whisper import WhisperModel
    except ImportError as error:
        raise MissingExtra("A Whisper model", "speech") from error
    try:
        loaded: Any = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True)
    except (RuntimeError, ValueError, OSError) as error:
        raise UsageError(f"{folder} can't be loaded as a Whisper model: {error}") from error

    def hear(path: Path) -> str:
        # temperature 0 alone: its fall-back samples, and the same audio would not always give the same text
        parts, _ = loaded.transcribe(
            _samples(path), language=language, temperature=0.0, condition_on_previous_text=False
        )
        return "".join(part.text for part in parts).strip()

    return hear


def _sherpa(rest: str, language: str, model: str) -> Recogniser:
    """Any non-streaming model of sherpa-onnx; the kind is told by the files, or named: `sherpa/nemo_ctc:FOLDER`."""
    folder = _folder(rest, "tokens.txt")
    kind, files = _sherpa_files(folder, model)
    try:
        import sherpa_onnx
    except ImportError as error:
        raise MissingExtra("A model of sherpa-onnx", "speech") from error
    make = getattr(sherpa_onnx.OfflineRecognizer, f"from_{kind}", None)
    if make is None:
        raise UsageError(f"sherpa-onnx has no models of kind {kind!r}.")
    more = {"language": language} if kind in ("whisper", "sense_voice") else {}
    try:
        recogniser: Any = make(**files, **more, num_threads=1)
    except (RuntimeError, ValueError, TypeError) as error:
        raise UsageError(f"{folder} can't be loaded as a model of kind {kind!r}: {error}") from error

    def hear(path: Path) -> str:
        stream = recogniser.create_stream()
        stream.accept_waveform(16_000, _samples(path))
        recogniser.decode_stream(stream)
        return str(stream.result.text).strip()

    return hear


def _sherpa_files(folder: Path, model: str) -> tuple[str, dict[str, str]]:
    """The kind of a model and its files, by sherpa-onnx's names for them."""
    found = sorted(folder.glob("*.onnx"), key=lambda path: ("int8" not in path.name, path.name))
    parts = {role: str(p) for role in ("encoder", "decoder", "joiner") for p in reversed(found) if role in p.name}
    tokens = {"tokens": str(folder / "tokens.txt")}
    if "joiner" in parts:
        return model or "transducer", {**parts, **tokens}
    if {"encoder", "decoder"} <= set(parts):
        return model or "whisper", {**parts, **tokens}
    if not found:
        raise UsageError(f"There is no .onnx file in {folder}.")
    named = f"{folder.name} {found[0].name}".lower().replace("-", "_")
    kinds = ("paraformer", "sense_voice", "zipformer_ctc", "wenet_ctc", "telespeech_ctc", "dolphin_ctc")
    kind = model or next((k for k in kinds if k.removesuffix("_ctc") in named), "nemo_ctc")
    return kind, {"paraformer" if kind == "paraformer" else "model": str(found[0]), **tokens}


def _command(rest: str, language: str, model: str) -> Recogniser:
    words = shlex.split(rest)

    def hear(path: Path) -> str:
        try:
            done = subprocess.run([*words, str(path)], capture_output=True, timeout=_TIMEOUT)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SystemBroken(f"The recogniser `{rest}` can't be run: {error}") from error
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
            raise SystemBroken(f"The recogniser `{rest}` ended with {done.returncode}: {last}")
        return " ".join(done.stdout.decode("utf-8", "replace").split())

    return hear


def _server(url: str, language: str) -> Recogniser:
    """A server that takes `{"audio": WAV in base64, "language": "zh"}` and gives `{"text": …}`."""
    from unfazed.core.http.client import Client, Malformed, Unanswered

    client = Client(url)

    def text_of(value: Json) -> str:
        text = value.get("text") if isinstance(value, dict) else None
        if not isinstance(text, str):
            raise Malformed('the answer is not {"text": …}')
        return text.strip()

    def hear(path: Path) -> str:
        audio = b64encode(path.read_bytes()).decode()
        try:
            return client.post({"audio": audio, "language": language}, text_of)
        except Unanswered as problem:
            raise SystemBroken(f"The recogniser at {client.shown} gave no text: {problem}") from problem

    return hear


def _folder(path: str, holds: str) -> Path:
    folder = Path(path).expanduser()
    if not (folder / holds).is_file():
        raise UsageError(f"{folder} is not a folder with a recogniser's model: there is no {holds} in it.")
    return folder
