"""A text is spoken by espeak-ng, a real synthesiser, and written down by a real recogniser."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import wave
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.ids import content_id
from unswayed.base.seeds import Stream
from unswayed.base.values import Json
from unswayed.systems.opening import open_system
from unswayed.systems.recognise import WORDS, Recogniser, folder_content, heard
from unswayed.vary.operator import UNALTERED, Change, Operator, Text, in_params, pinned_system, whole_text

RATE = 16_000
_VARIANTS = ("", "+m1", "+m2", "+m3", "+m4", "+m6", "+m7", "+f1", "+f2", "+f3", "+f4")
_CODES = {"zh": "cmn", "zh-hk": "yue", "nb": "nb", "no": "nb"}  # where espeak-ng's code is not the language's
_TIMEOUT = 300.0


class Voice(NamedTuple):
    """A voice of espeak-ng, with words a minute and pitch from 0 to 99."""

    code: str
    speed: int
    pitch: int

    @property
    def name(self) -> str:
        """For people and file names."""
        return f"{self.code.replace('/', '_')}-s{self.speed}-p{self.pitch}"


@lru_cache(1)
def _find_program() -> str:
    found = shutil.which("espeak-ng")
    if found is None:
        raise UsageError("speech/roundtrip needs espeak-ng. Install it with:  sudo apt-get install espeak-ng")
    return found


@lru_cache(64)
def voice_codes(language: str) -> tuple[str, ...]:
    """espeak-ng's voices for a language: `en` has American, British, Scottish ones."""
    listed = subprocess.run([_find_program(), "--voices"], capture_output=True, text=True, check=True).stdout  # noqa: S603
    known = [line.split()[1].lower() for line in listed.splitlines()[1:] if line.strip()]
    wanted, main = language.lower(), language.lower().split("-")[0]
    for code in dict.fromkeys((wanted, _CODES.get(wanted, wanted), _CODES.get(main, main))):
        found = sorted({name for name in known if name == code or name.startswith(f"{code}-")})
        found = [name for name in found if "latn" not in name] or found
        if found:
            return tuple(found)
    raise UsageError(f"espeak-ng has no voice for the language {language!r}. See `espeak-ng --voices`.")


def new_voice(language: str, code: str, rng: Stream) -> Voice:
    """A voice for a language, drawn; `code` fixes all but speed and pitch."""
    drawn = code or rng.choice(voice_codes(language)) + rng.choice(_VARIANTS)
    return Voice(drawn, 130 + rng.below(60), 30 + rng.below(40))


def write_speech(text: str, voice: Voice, path: Path) -> None:
    """Writes the text as a WAV file of 16 kHz, mono, 16 bits."""
    options = ["-v", voice.code, "-s", str(voice.speed), "-p", str(voice.pitch), "-b", "1", "-w", str(path), "--stdin"]
    command = [_find_program(), *options]
    said = " ".join(text.replace("\0", " ").split()).encode("utf-8", "replace")
    try:
        done = subprocess.run(command, input=said, capture_output=True, timeout=_TIMEOUT)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise SystemBroken(f"espeak-ng took over {_TIMEOUT:.0f} s for a text of {len(text)} characters.") from error
    if done.returncode or not path.exists():
        raise UsageError(f"espeak-ng can't speak as {voice.code!r}: {done.stderr.decode('utf-8', 'replace').strip()}")
    import numpy as np

    with wave.open(str(path)) as file:
        rate, frames = file.getframerate(), file.readframes(file.getnframes())
    sound = np.frombuffer(frames, dtype="<i2").astype(np.float64)
    places = np.arange(int(len(sound) * RATE / rate)) * (rate / RATE)
    made = np.interp(places, np.arange(len(sound)), sound) if len(sound) else sound
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.rint(made).astype("<i2").tobytes())


class Roundtrip(Operator):
    """Speaks the text with espeak-ng and takes what a recogniser hears.

    `asr` names the recogniser: `pocketsphinx` (English), `whisper:FOLDER`, `sherpa:FOLDER`, a server's URL, or
    `command:COMMAND`, which gets the path of a WAV file and prints what it hears. Any other system works too: its
    inputs are `audio`, which is the path, and `language`. Each draw has one voice, with its own speed and pitch;
    `voice` chooses a voice by espeak-ng's name. `keep` is a folder to keep the audio in.
    """

    aligned = False
    people = True  # a voice
    unaltered = True
    presets = ("speech",)
    slips = True
    # with pocketsphinx
    example = ("play some music by the beatles", "play some music be old")

    def __init__(self, asr: str = "", voice: str = "", keep: str = "") -> None:
        if not asr:
            wanted = f"{in_params(asr='NAME')}. NAME is one of {', '.join(WORDS)}"
            raise UsageError(f"speech/roundtrip needs a recogniser: {wanted}.")
        self._asr, self._voice = asr, voice
        self._keep = Path(keep) if keep else None
        self._heard = lru_cache(4_096)(self._hear)

    @classmethod
    def pinned(cls, params: dict[str, Any]) -> dict[str, Json]:
        word, _, folder = params["asr"].partition(":")
        if word == "pocketsphinx":  # its name stands for it
            return {}
        if word.partition("/")[0] in ("whisper", "sherpa"):  # known by its files, without loading it
            return {"system_id": content_id(folder_content(Path(folder).expanduser()))}
        return pinned_system(params["asr"], Recogniser)

    def change(self, text: Text, rng: Stream) -> Change | None:
        if not any(c.isalnum() for c in text.text):
            return None
        voice = new_voice(text.language, self._voice, rng.habit("voice"))
        understood = self._heard(text.text, voice, text.language)
        if understood == text.text:
            return UNALTERED
        return whole_text(text.text, understood, f"as heard from {voice.name}")

    def _hear(self, text: str, voice: Voice, language: str) -> str:
        place = nullcontext(self._keep) if self._keep else tempfile.TemporaryDirectory(prefix="unswayed-speech-")
        with place as folder:
            path = Path(folder) / f"{content_id(text)}-{voice.name}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_speech(text, voice, path)
            [understood] = heard(_open_recogniser(self._asr, language), [path])
        return understood


@lru_cache(4)
def _open_recogniser(spec: str, language: str) -> Recogniser:
    """The recogniser of a language, loaded once in each process."""
    return open_system(spec, Recogniser, language=language)
