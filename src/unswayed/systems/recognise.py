"""Recognisers of speech as systems: the path of a WAV file goes in, the text that was heard comes out."""

from __future__ import annotations

import shlex
import wave
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from unswayed.base.errors import SystemBroken, UnswayedError, UsageError, import_extra
from unswayed.base.ids import content_id, file_hash
from unswayed.base.secrets import masked_spec, masked_url
from unswayed.base.values import Failed, Inputs, Json
from unswayed.storage.answers import AnswerStore
from unswayed.systems.asking import ask
from unswayed.systems.device import speech_place
from unswayed.systems.http.client import Client, HttpSettings, HttpSystem, Malformed, Unanswered
from unswayed.systems.process import MAX_LINE, BrokeOff, ChildProcess, command_id
from unswayed.systems.system import System, SystemAround

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WORDS = ("pocketsphinx", "whisper:FOLDER", "sherpa:FOLDER", "sherpa/KIND:FOLDER", "command:COMMAND", "cmd:COMMAND",
         "http://HOST/…", "module:function")  # fmt: skip


class Recogniser(System):
    """Extend with `hear`. The input `audio` is the path of a WAV file: 16 kHz, one channel, 16 bits.

    `open_system(spec, Recogniser, language="en")` opens one by any of `WORDS`, or by any other spec of a system.
    """

    batch_size = 8
    retries = 0

    def __init__(self, language: str = "en") -> None:
        self.language = language.split("-")[0].lower()

    def hear(self, path: Path) -> str:
        """The text in a WAV file, empty where there is none."""
        raise NotImplementedError

    def decides(self) -> Json:
        """What decides the texts besides the class and the language: a package's version, hashes of a model."""
        raise NotImplementedError

    @cached_property
    def identity(self) -> str:
        return f"recogniser {content_id([type(self).__qualname__, self.language, self.decides()], 16)}"

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        found: list[Json | Failed] = []
        for inputs in batch:
            if "audio" not in inputs:
                found.append(Failed("the input has no 'audio', which is the path of a WAV file", final=True))
                continue
            try:
                found.append(self.hear(Path(inputs["audio"])))
            except UnswayedError:
                raise
            except (OSError, EOFError, ValueError, wave.Error) as error:
                found.append(Failed(f"{inputs['audio']} can't be heard: {error}", final=True))
        return found

    @classmethod
    def opened(cls, spec: str, options: Mapping[str, Any]) -> Recogniser:
        from unswayed.systems.opening import open_system

        language, rest = str(options.get("language", "en")), {k: v for k, v in options.items() if k != "language"}
        if spec.startswith(("http://", "https://")):
            return RecogniserServer(spec, language, **rest)
        name, _, place = spec.partition(":")
        word, _, kind = name.partition("/")
        known: dict[str, Any] = {"pocketsphinx": Pocketsphinx, "whisper": Whisper, "sherpa": Sherpa}
        known["command"] = RecogniserCommand
        if word in known and (place or word == "pocketsphinx"):
            told = {"language": language, **rest, **({"kind": kind} if kind else {})}
            return known[word](*([place] if place else []), **told)  # type: ignore[no-any-return]
        if (not place and not Path(spec).exists()) or word in known:
            raise UsageError(f"There is no recogniser {spec!r}. Use one of {', '.join(WORDS)}.")
        return RecogniserOf(open_system(spec, **rest), language)


def heard(recogniser: Recogniser, paths: Sequence[Path], store: AnswerStore | None = None) -> list[str]:
    """What a recogniser hears in each file. With a store, no recording is heard twice, wherever its file lies."""
    requests = [{"audio": str(path)} for path in paths]
    outputs = ask(recogniser, requests, store, pinned=lambda inputs: {"audio": file_hash(Path(inputs["audio"]))})
    for path, output in zip(paths, outputs, strict=True):
        if not output.ok:
            raise SystemBroken(f"{recogniser.name} did not hear {path}: {output.error}")
    return [str(output.value) for output in outputs]


class Pocketsphinx(Recogniser):
    """CMU Sphinx with the American English model that comes in its package."""

    name = "pocketsphinx"
    deterministic = True

    def __init__(self, language: str = "en") -> None:
        super().__init__(language)
        if self.language != "en":
            raise UsageError(f"pocketsphinx comes with a model of English only, not of {self.language!r}.")
        pocketsphinx = import_extra("pocketsphinx", "The recogniser pocketsphinx", "speech")
        # Narrower beams than the package's own: a third of the time, about the same words.
        self._decoder: Any = pocketsphinx.Decoder(samprate=16_000, loglevel="FATAL", maxhmmpf=3_000, maxwpf=10)

    def decides(self) -> Json:
        return _package_version("pocketsphinx")

    def hear(self, path: Path) -> str:
        frames, decoder = _read_frames(path), self._decoder
        decoder.reinit_feat()  # forget the last speaker, so that order changes nothing
        decoder.start_utt()
        if frames:
            decoder.process_raw(frames, full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        return str(found.hypstr).strip() if found else ""


class Whisper(Recogniser):
    """A Whisper model in CTranslate2's format, by faster-whisper."""

    deterministic = True

    def __init__(self, folder: str, language: str = "en") -> None:
        super().__init__(language)
        self.name = f"whisper:{folder}"
        self._folder = _require_folder(folder, "model.bin")
        _require_folder(folder, "tokenizer.json")  # or else it would be fetched from a hub
        make = import_extra("faster_whisper", "A Whisper model", "speech").WhisperModel
        self._at = kind, number = speech_place()
        told = {"device": kind, "compute_type": number, "cpu_threads": 1, "local_files_only": True}
        try:
            self._model: Any = make(str(self._folder), **told)
        except (RuntimeError, ValueError, OSError) as error:
            raise UsageError(f"{self._folder} can't be loaded as a Whisper model: {error}") from error

    def decides(self) -> Json:
        at = [] if self._at == ("cpu", "int8") else list(self._at)
        return [folder_content(self._folder), _package_version("faster-whisper"), *at]

    def hear(self, path: Path) -> str:
        # temperature 0 alone: its fall-back samples, and the same audio would not always give the same text
        parts, _ = self._model.transcribe(
            _read_samples(path), language=self.language, temperature=0.0, condition_on_previous_text=False
        )
        return "".join(part.text for part in parts).strip()


class Sherpa(Recogniser):
    """Any non-streaming model of sherpa-onnx; the files show its kind, or you name it: `sherpa/nemo_ctc:FOLDER`."""

    deterministic = True

    def __init__(self, folder: str, kind: str = "", language: str = "en") -> None:
        super().__init__(language)
        self.name = f"sherpa{'/' if kind else ''}{kind}:{folder}"
        self._folder = _require_folder(folder, "tokens.txt")
        self._kind, files = sherpa_files(self._folder, kind)
        sherpa_onnx = import_extra("sherpa_onnx", "A model of sherpa-onnx", "speech")
        make = getattr(sherpa_onnx.OfflineRecognizer, f"from_{self._kind}", None)
        if make is None:
            raise UsageError(f"sherpa-onnx has no models of kind {self._kind!r}.")
        more = {"language": self.language} if self._kind in ("whisper", "sense_voice") else {}
        try:
            self._model: Any = make(**files, **more, num_threads=1)
        except (RuntimeError, ValueError, TypeError, OSError) as error:
            raise UsageError(f"{self._folder} can't be loaded as a {self._kind} model: {error}") from error

    def decides(self) -> Json:
        return [self._kind, folder_content(self._folder), _package_version("sherpa-onnx")]

    def hear(self, path: Path) -> str:
        stream = self._model.create_stream()
        stream.accept_waveform(16_000, _read_samples(path))
        self._model.decode_stream(stream)
        return str(stream.result.text).strip()


class RecogniserCommand(Recogniser):
    """A program that is run once for each file, with the path as its last argument, and prints the text.

    `timeout` is how many seconds a file may take.
    """

    def __init__(self, command: str, language: str = "en", timeout: float = 600.0) -> None:
        super().__init__(language)
        self.name = masked_spec(f"command:{command}")
        self._words, self._timeout, self._closed = shlex.split(command), timeout, Event()

    def decides(self) -> Json:
        return command_id(self._words)

    def hear(self, path: Path) -> str:
        child = ChildProcess([*self._words, str(path)], MAX_LINE, self._closed)
        try:
            written = child.output(self._timeout)
        except BrokeOff as problem:
            raise SystemBroken(f"The recogniser {self.name} {problem}") from problem
        finally:
            child.end()
        return " ".join(written.decode("utf-8", "replace").split())


class RecogniserServer(HttpSystem, Recogniser):
    """A server that takes `{"audio": WAV in base64, "language": "zh"}` and gives `{"text": …}`."""

    concurrency = 4

    def __init__(self, url: str, language: str = "en", **waits: float) -> None:
        super().__init__(language)
        self._client = client = Client(url, settings=HttpSettings(**waits))  # type: ignore[arg-type]
        self.name, self._address = client.shown, masked_url(client.url)

    def decides(self) -> Json:
        return self._address

    def hear(self, path: Path) -> str:
        audio = b64encode(path.read_bytes()).decode()

        def read_text(value: Json) -> str:
            text = value.get("text") if isinstance(value, dict) else None
            if not isinstance(text, str):
                raise Malformed('the answer is not {"text": …}')
            return text.strip()

        try:
            return self._client.post({"audio": audio, "language": self.language}, read_text)
        except Unanswered as problem:
            raise SystemBroken(f"The recogniser at {self.name} gave no text: {problem}") from problem


class RecogniserOf(Recogniser, SystemAround):
    """Any system as a recogniser: its inputs are `audio`, the path, and `language`; its output is the text."""

    def __init__(self, system: System, language: str = "en") -> None:
        SystemAround.__init__(self, system)
        Recogniser.__init__(self, language)

    def decides(self) -> Json:
        return self.system.identity

    def hear(self, path: Path) -> str:
        (answer,) = self.predict([{"audio": str(path)}])
        if isinstance(answer, Failed):
            raise SystemBroken(f"The recogniser {self.name} gave no text: {answer.error}")
        return str(answer)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        answers = self.system.predict([{**inputs, "language": self.language} for inputs in batch])
        return [
            answer if isinstance(answer, (str, Failed)) else Failed(f"{answer!r:.60} is no text", final=True)
            for answer in answers
        ]


def sherpa_files(folder: Path, model: str) -> tuple[str, dict[str, str]]:
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


def _read_frames(path: Path) -> bytes:
    with wave.open(str(path)) as file:
        return bytes(file.readframes(file.getnframes()))


def _read_samples(path: Path) -> npt.NDArray[np.float32]:
    import numpy as np

    return np.frombuffer(_read_frames(path), dtype="<i2").astype(np.float32) / np.float32(32768)


def _require_folder(path: str, holds: str) -> Path:
    folder = Path(path).expanduser()
    if not (folder / holds).is_file():
        raise UsageError(f"{folder} is not a folder with a recogniser's model: there is no {holds} in it.")
    return folder


def folder_content(folder: Path) -> Json:
    """Names and hashes of the files in a model's folder; nothing if it is not there."""
    if not folder.is_dir():
        return []
    return [[file.name, file_hash(file)] for file in sorted(folder.iterdir()) if file.is_file()]


def _package_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
