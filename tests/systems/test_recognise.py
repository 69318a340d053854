"""Recognisers as systems: programs, servers and any other system hear files; a recording is heard once."""

from __future__ import annotations

import sys
import wave
from base64 import b64decode
from pathlib import Path

import pytest

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.values import Failed
from unswayed.storage.answers import AnswerStore
from unswayed.systems import Recogniser, heard, open_system


def recording(path: Path, seconds: float = 0.01, level: int = 0) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(level.to_bytes(2, "little") * int(16_000 * seconds))
    return path


def test_a_program_is_run_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "hear.py").write_text("import os, sys\nprint(' heard', os.path.basename(sys.argv[-1]))\n")
    recogniser = open_system(f"command:{sys.executable} {tmp_path / 'hear.py'}", Recogniser, language="en-US")
    assert recogniser.hear(recording(tmp_path / "a.wav")) == "heard a.wav"
    assert recogniser.language == "en"
    other = open_system(f"command:{sys.executable} {tmp_path / 'hear.py'}", Recogniser, language="de")
    assert other.identity != recogniser.identity
    (tmp_path / "hear.py").write_text("import sys\nsys.exit('no ears')\n")
    edited = open_system(f"command:{sys.executable} {tmp_path / 'hear.py'}", Recogniser)
    assert edited.identity != recogniser.identity
    with pytest.raises(SystemBroken, match="ended with code 1.*no ears"):
        edited.hear(tmp_path / "a.wav")
    (tmp_path / "hear.py").write_text("import time\ntime.sleep(60)\n")
    slow = open_system(f"command:{sys.executable} {tmp_path / 'hear.py'}", Recogniser, timeout=0.5)
    with pytest.raises(SystemBroken, match="did not end within 0.5 s"):
        slow.hear(tmp_path / "a.wav")
    with pytest.raises(UsageError, match="can't be started"):
        open_system("command:/no/such/program", Recogniser).hear(tmp_path / "a.wav")


def test_any_system_is_a_recogniser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ears.py").write_text(
        "import json, sys\n"
        "def hear(batch):\n    return [i['audio'][-5] + i['language'] for i in batch]\n"
        "def deaf(batch):\n    return [7 for i in batch]\n"
        "if __name__ == '__main__':\n"
        "    for line in sys.stdin:\n"
        "        asked = json.loads(line)\n"
        "        print(json.dumps({'id': asked['id'], 'output': asked['inputs']['audio'][-5] * 2}), flush=True)\n"
    )
    monkeypatch.chdir(tmp_path)
    recording(tmp_path / "a.wav")
    assert open_system("ears:hear", Recogniser, language="pt-BR").hear(tmp_path / "a.wav") == "apt"
    program = open_system(f"cmd:{sys.executable} ears.py", Recogniser, language="pt")
    assert heard(program, [tmp_path / "a.wav"]) == ["aa"]
    program.close()
    with pytest.raises(SystemBroken, match="7 is no text"):
        open_system("ears:deaf", Recogniser).hear(tmp_path / "a.wav")


class Counting(Recogniser):
    name = "counting"

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[Path] = []

    def decides(self) -> object:
        return 1

    def hear(self, path: Path) -> str:
        self.paths.append(path)
        if path.name.startswith("bad"):
            raise ValueError("no sound")
        return path.stem


def test_a_recording_is_heard_once_wherever_it_lies(tmp_path: Path) -> None:
    first, copy, other = (recording(tmp_path / f"{name}.wav", level=n) for name, n in (("x", 1), ("y", 1), ("z", 2)))
    recogniser = Counting()
    with AnswerStore.shared(tmp_path / "heard.sqlite") as store:
        assert heard(recogniser, [first, copy, other], store) == ["y", "y", "z"]
        assert heard(recogniser, [first, other], store) == ["y", "z"]
        assert len(recogniser.paths) == 2
        with pytest.raises(SystemBroken, match="did not hear .*bad.wav: .* can't be heard: no sound"):
            heard(recogniser, [recording(tmp_path / "bad.wav", level=9)], store)
    (failed,) = recogniser.predict([{"text": "x"}])
    assert isinstance(failed, Failed)


def test_a_server_gets_the_recording(tmp_path: Path, scripted) -> None:
    server = scripted(scripted.reply({"text": " go to new work "}))
    path = recording(tmp_path / "x.wav")
    assert open_system(server.url + "/hear", Recogniser, language="en-US", timeout=60.0).hear(path) == "go to new work"
    assert server.bodies[0]["language"] == "en"
    assert b64decode(server.bodies[0]["audio"]) == path.read_bytes()
    wrong = scripted(scripted.reply({"error": "no"}, status=400))
    with pytest.raises(SystemBroken, match="gave no text"):
        open_system(wrong.url, Recogniser).hear(path)


def test_words_that_open_none(tmp_path: Path) -> None:
    for spec in ("whisper", "shout:x/y", "pocketsphin"):
        with pytest.raises(UsageError):
            open_system(spec, Recogniser)
    with pytest.raises(UsageError, match=r"there is no model.bin in it"):
        open_system(f"whisper:{tmp_path}")
    with pytest.raises(UsageError, match="comes with a model of English only"):
        open_system("pocketsphinx", Recogniser, language="zh")
