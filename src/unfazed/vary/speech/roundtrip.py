"""A text is spoken by a real synthesiser and written down by a real recogniser."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

from unfazed.core.errors import UsageError
from unfazed.core.ids import content_id
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text, whole_text
from unfazed.vary.speech._asr import KNOWN, open_recogniser
from unfazed.vary.speech._tts import Voice, new_voice, speak


class Roundtrip(Operator):
    """Speaks the text with espeak-ng and takes what a recogniser hears.

    `asr` names the recogniser: `pocketsphinx` (English), `whisper:FOLDER`, `sherpa:FOLDER`, or `command:…`, any
    command that takes the path of a WAV file and prints what it hears. A draw is one voice, with its own speed and
    pitch; `voice` gives one by espeak-ng's name. `keep` is a folder to keep the audio in.
    """

    aligned = False
    # with pocketsphinx
    example = ("play some music by the beatles", "play some music be old")

    def __init__(self, asr: str = "", voice: str = "", keep: str = "") -> None:
        if not asr:
            raise UsageError(f"speech/roundtrip needs a recogniser: --param asr=NAME, one of {', '.join(KNOWN)}.")
        self._asr, self._voice = asr, voice
        self._keep = Path(keep) if keep else None
        self._heard = lru_cache(4_096)(self._hear)

    def change(self, text: Text, rng: Stream) -> Change | None:
        if not any(c.isalnum() for c in text.text):
            return None
        voice = new_voice(text.language, self._voice, rng.habit("voice"))
        return whole_text(text.text, self._heard(text.text, voice, text.language), f"as heard from {voice.name}")

    def _hear(self, text: str, voice: Voice, language: str) -> str:
        recogniser = open_recogniser(self._asr, language)
        if self._keep is not None:
            self._keep.mkdir(parents=True, exist_ok=True)
            path = self._keep / f"{content_id(text)}-{voice.name}.wav"
            speak(text, voice, path)
            return recogniser(path)
        with tempfile.TemporaryDirectory(prefix="unfazed-speech-") as folder:
            path = Path(folder) / "said.wav"
            speak(text, voice, path)
            return recogniser(path)
