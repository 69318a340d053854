"""Recordings: what is refused and why, what is kept, who may send and hear it, and what recognisers make of it."""

from __future__ import annotations

import contextlib
import io
import wave

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.base.errors import UsageError
from unswayed.collect.export import answers_of, export
from unswayed.collect.forgetting import forget_people
from unswayed.collect.kinds.read_aloud import (
    BadAudio,
    ReadingOptions,
    audio_file,
    audio_folder,
    checked,
    sweep,
    transcribe,
)

from .conftest import tone
from .test_app import Person, close_clients, site
from .test_export import suite_study

__all__ = ["close_clients", "site"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (tone(0.2), "audio_short"),
        (tone(3, loud=0.001), "audio_quiet"),
        (tone(3, loud=1), "audio_clipped"),
        (tone(61, rate=8000), "audio_long"),
        (b"", "audio_bad"),
        (b"RIFF\x00\x00\x00\x00WAVE", "audio_bad"),
        (b"<html>" * 1000, "audio_bad"),
        (tone(1)[:30], "audio_bad"),
    ],
)
def test_what_is_refused(content, reason):
    with pytest.raises(BadAudio, match=reason):
        checked(io.BytesIO(content), ReadingOptions())


@pytest.mark.parametrize("rate", [8000, 16000, 44100, 48000])
@pytest.mark.parametrize("channels", [1, 2])
def test_what_is_kept_sounds_the_same(rate, channels):
    found = checked(io.BytesIO(tone(1.0, rate, 0.5, channels, hertz=1000)), ReadingOptions())
    with wave.open(io.BytesIO(found.content)) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, 16000)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
    assert len(samples) == pytest.approx(16000, abs=2)
    assert np.argmax(np.abs(np.fft.rfft(samples))) == pytest.approx(1000, abs=2)
    assert found.level == pytest.approx(20 * np.log10(0.5 / np.sqrt(2)), abs=0.1)
    assert np.sqrt(np.mean(samples[1000:-1000] ** 2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.01)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 80), st.integers(0, 255)), max_size=6), st.integers(0, 200))
def test_no_damaged_file_is_more_than_refused(changes, cut):
    content = bytearray(tone(0.6, 8000))
    for place, value in changes:
        content[place] = value
    with contextlib.suppress(BadAudio):
        assert checked(io.BytesIO(bytes(content[: len(content) - cut])), ReadingOptions()).seconds >= 0.5


def test_from_upload_to_text(site, tmp_path):
    server = site(kind="read_aloud", items=[{"id": f"i{n}", "text": "x"} for n in range(2)])
    anna, ben = (Person(server, server.invite(name)).agree() for name in ("anna", "ben"))
    item = anna.item()

    def upload(person, item, content, take="a" * 32):
        params = {"item": item, "take": take}
        return person.http.post("/audio", params=params, content=content, headers={"x-csrf": person.csrf})

    refused = upload(anna, item, tone(0.1))
    assert (refused.status_code, refused.json()["error"]) == (422, "The recording is too short. Record again.")
    assert upload(ben, item, tone()).status_code == 403, "another's item"
    assert anna.http.post("/audio", params={"item": item}, content=tone()).status_code == 403, "no form"
    first, second = "1" * 32, "2" * 32
    for take, hertz in ((second, 500), (first, 400), (second, 500)):  # an earlier take may arrive later, or one twice
        assert upload(anna, item, tone(hertz=hertz), take).json()["audio"] == take
    assert upload(ben, ben.item(), tone(), second).status_code == 403, "another's take"
    assert upload(anna, item, tone(), "../../etc/passwd").status_code == 403
    assert ben.say(ben.item(), {"audio": second}).status_code == 422, "another's recording"
    assert anna.say(item, {"audio": "3" * 32}).status_code == 422
    assert anna.say(item, {"audio": "../../etc/passwd"}).status_code == 422
    assert anna.say(item, {"audio": second}).json()["counted"]
    assert [f.stem for f in audio_folder(server.study).iterdir()] == [second], "the take that was sent is kept"
    with wave.open(str(audio_file(server.study, second))) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert np.argmax(np.abs(np.fft.rfft(samples))) == pytest.approx(500, abs=2)
    assert upload(anna, item, tone()).status_code == 403, "it has been answered"
    assert anna.http.get(f"/admin/audio/{second}").status_code == 403

    def hear(path):
        return f"{path.stat().st_size} bytes"

    assert transcribe(server.study, server.store, "counting", hear) == 1
    assert transcribe(server.study, server.store, "counting", hear) == 0
    assert transcribe(server.study, server.store, "counting", hear, again=True) == 1
    assert transcribe(server.study, server.store, "another", lambda path: "text") == 1
    assert transcribe(server.study, server.store, "counting", hear, identity="first") == 0, "of unknown make"
    assert transcribe(server.study, server.store, "counting", hear, identity="first") == 0
    assert transcribe(server.study, server.store, "counting", hear, identity="second") == 1, "another by the same name"
    assert transcribe(server.study, server.store, "counting", hear, identity="second") == 0
    (row,) = answers_of(server.study, server.store)
    assert row.heard == {"counting": "32044 bytes", "another": "text"}
    assert upload(ben, ben.item(), tone(), "4" * 32).status_code == 200
    gone = forget_people(server.study, server.store, "anna")
    assert (gone.answers, gone.recordings) == (1, 1)
    assert server.store.read(lambda tx: tx.rows("SELECT * FROM heard")) == []
    assert [f.stem for f in audio_folder(server.study).iterdir()] == ["4" * 32]


def test_a_recording_without_its_file_is_no_answer(site):
    """The server may be killed between the row of a take and its file."""
    server = site(kind="read_aloud", items=[{"id": "i", "text": "x"}])
    anna = Person(server, server.invite("anna")).agree()
    item, take = anna.item(), "1" * 32
    params = {"item": item, "take": take}
    for _ in range(2):
        assert anna.http.post("/audio", params=params, content=tone(), headers={"x-csrf": anna.csrf}).is_success
        audio_file(server.study, take).unlink()
        assert anna.say(item, {"audio": take}).status_code == 422
    assert anna.http.post("/audio", params=params, content=tone(), headers={"x-csrf": anna.csrf}).is_success
    assert anna.say(item, {"audio": take}).json()["counted"]


def test_files_without_a_row_are_swept(make):
    study, store, _ = make("read_aloud")
    folder = audio_folder(study)
    folder.mkdir()
    left = ["1" * 32 + ".wav", f".{'2' * 32}.wav.partial-00ff"]
    for name in [*left, "notes.txt"]:
        (folder / name).write_bytes(b"x")
    assert sweep(study, store) == 2
    assert [file.name for file in folder.iterdir()] == ["notes.txt"], "what is not ours stays"


def test_what_was_heard_becomes_a_suite(tmp_path):
    examples = [
        {"row": n, "id": f"e{n}", "inputs": {"text": text}, "gold": "x"} for n, text in enumerate(["one", "two"])
    ]
    d = suite_study(tmp_path, examples, task="classify", assign="k = 1\nshuffle = false", kind="read_aloud")
    with d.store:
        d.invite("a")
        for n, name in enumerate(("0" * 32, "1" * 32)):
            item = d.ask("a")
            values = (name, item, "a", 1000, -20.0, 0.0)
            d.store.write(lambda tx, values=values: tx.run("INSERT INTO audio VALUES (?, ?, ?, ?, ?, ?)", *values))
            d.say("a", item, {"audio": name})
            assert n == int(item[1])
        with pytest.raises(UsageError, match="transcribe"):
            export(d.study, d.store, tmp_path / "heard")
        transcribe(d.study, d.store, "good", lambda path: "won" if path.stem[0] == "0" else "too")
        done = export(d.study, d.store, tmp_path / "heard")
        assert [(v.inputs["text"], v.family) for v in done.suite.variants()] == [("won", "speech"), ("too", "speech")]
        transcribe(d.study, d.store, "bad", lambda path: "one")
        with pytest.raises(UsageError, match="bad, good"):
            export(d.study, d.store, tmp_path / "again")
        done = export(d.study, d.store, tmp_path / "again", recogniser="bad")
        assert [v.inputs["text"] for v in done.suite.variants()] == ["one", "one"]


def test_only_recordings_are_transcribed(make):
    study, store, _ = make()
    with pytest.raises(UsageError, match="no recordings"):
        transcribe(study, store, "x", lambda path: "")


def test_a_large_upload_needs_little_memory(tmp_path):
    import tracemalloc

    file = tmp_path / "long.wav"
    file.write_bytes(tone(215.0, 48_000, channels=2))
    assert file.stat().st_size > 39 << 20
    with file.open("rb") as sound:
        tracemalloc.start()
        found = checked(sound, ReadingOptions(max_seconds=300))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert found.seconds == pytest.approx(215)
    assert most < 24 << 20, "the recording as it is kept, twice, and a block"
