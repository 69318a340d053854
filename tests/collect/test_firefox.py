"""The pages in Firefox: typing through an input method, a slider, a recording, the owner's console."""

from __future__ import annotations

import io
import json
import wave

import pytest

from unswayed.collect.kinds.read_aloud import audio_file
from unswayed.collect.owner import set_password

from .marionette import BROWSER, PULSE, Firefox

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not BROWSER, reason="Firefox is not installed")]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    made = Firefox(tmp_path_factory.mktemp("firefox"))
    yield made
    made.close()


@pytest.fixture
def visit(firefox, serve, make):
    """Opens a study as a new person who has agreed."""

    def made(about=None, **given):
        study, store, _ = make(**given)
        server = serve(study, store)
        firefox.get(f"{server.url}/i/{server.invite()}")
        firefox.click("input[name=agree]")
        firefox.click("form button")
        if about:
            firefox.wait(lambda: firefox.find("form input[maxlength]"), "the question comes")
            firefox.type("form input[maxlength]", about)
            firefox.click("form button")
        ready(firefox)
        return server

    return made


def ready(firefox):
    script = (
        "return document.readyState === 'complete' && !!document.querySelector('#task')"
        " && performance.getEntriesByType('resource').length >= 3"
    )
    firefox.wait(lambda: firefox.script(script), "the page loads")
    firefox.script("return new Promise(done => setTimeout(done, 300))")


def answers(server):
    sql = "SELECT content, flags, live FROM work WHERE content IS NOT NULL ORDER BY received"
    return server.store.read(lambda tx: tx.rows(sql))


def test_chinese_is_composed(firefox, visit):
    server = visit("fcitx5", kind="retype", items=[{"id": "i", "text": "里程长"}], lang="zh")
    value = "return document.querySelector('#typed').value"
    firefox.click("#typed")
    letters = [("compose", "licheng"[:n]) for n in range(1, 8)]
    firefox.compose([*letters, ("commit", "里程")])
    firefox.wait(lambda: firefox.script(value) == "里程", "the word is committed")
    firefox.compose([("key", ("Backspace", "Backspace", 8))])
    assert firefox.script(value) == "里程", "what is committed can't be taken back"
    firefox.compose([("compose", "c"), ("compose", "ch"), ("commit", "长")])
    firefox.wait(lambda: firefox.script(value) == "里程长", "the word is committed")
    firefox.click("button[type=submit]")
    firefox.wait(lambda: attempts(server), "the answer arrives")
    content, events = attempts(server)[0]
    assert json.loads(content) == {"text": "里程长"}
    log = json.loads(events)
    assert "".join(event["d"] for event in log if event["e"] == "commit") == "里程长"
    assert {"lich", "licheng", "ch"} <= {event.get("d") for event in log if event["e"] == "compose"}
    assert any(event["e"] == "block" for event in log)


def attempts(server):
    """What was sent, counted or not: nobody here types as fast, or with as many keys, as a person."""
    kept = "SELECT w.content, l.events FROM work w JOIN logs l ON l.item = w.item WHERE w.content IS NOT NULL"
    tried = "SELECT content, events FROM attempts"
    return server.store.read(lambda tx: [*tx.rows(kept), *tx.rows(tried)])


def test_a_choice_by_keyboard(firefox, visit):
    server = visit(items=[{"id": "i", "text": "one"}])
    firefox.type("input[value=speech]", " ")
    firefox.type("button[type=submit]", "\ue007")
    firefox.wait(lambda: answers(server), "the answer arrives")
    assert json.loads(answers(server)[0][0]) == {"choice": ["speech"]}


def test_the_slider_begins_nowhere(firefox, visit):
    server = visit(kind="same_meaning", items=[{"id": "i", "a": "one", "b": "two"}])
    firefox.click("input[value=yes]")
    firefox.click("button[type=submit]")
    firefox.wait(lambda: "Move the slider" in firefox.text("#say"), "the page says what is missing")
    assert answers(server) == []
    said = "return document.querySelector('input[type=range]').getAttribute('aria-valuetext')"
    assert firefox.script(said) == "not chosen yet"
    firefox.type("input[type=range]", "\ue014\ue014")  # two arrows to the right
    assert firefox.script(said) == "52 / 100"
    firefox.click("button[type=submit]")
    firefox.wait(lambda: answers(server), "the answer arrives")
    assert json.loads(answers(server)[0][0]) == {"similarity": 52, "grammatical": True}


@pytest.mark.skipif(not PULSE, reason="PulseAudio is not installed")
def test_a_sentence_is_recorded(firefox, visit):
    """Firefox's fake microphone hums; the server keeps that as 16 kHz mono."""
    server = visit("Berlin", kind="read_aloud", items=[{"id": "i", "text": "one"}], options="least_level = -80")
    firefox.click("#record")
    seconds = "return parseFloat(document.querySelector('#clock').textContent) || 0"
    firefox.wait(lambda: firefox.script(seconds) > 1.2, "it records")
    firefox.click("#record")
    firefox.wait(lambda: firefox.script("return !document.querySelector('#listen').hidden"), "it can be listened to")
    firefox.wait(
        lambda: firefox.script("return !document.querySelector('button[type=submit]').disabled"), "it is ready"
    )
    firefox.click("button[type=submit]")
    firefox.wait(lambda: answers(server), "the answer arrives")
    said = json.loads(answers(server)[0][0])
    with wave.open(io.BytesIO(audio_file(server.study, said["audio"]).read_bytes())) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes() > 16000) == (1, 16000, True)


def test_the_owners_console(firefox, visit):
    server = visit(items=[{"id": "i", "text": "one"}])
    firefox.click("input[value=speech]")
    firefox.click("button[type=submit]")
    firefox.wait(lambda: answers(server), "the answer arrives")
    server.store.write(lambda tx: set_password(tx, "right"))
    firefox.get(f"{server.url}/admin")
    firefox.type("input[type=password]", "right")
    firefox.click("main form button")
    firefox.wait(lambda: firefox.text("main h1") == "Progress", "the owner is let in")
    for page, heading in (("people", "People"), ("answers", "Answers"), ("items", "Items"), ("settings", "Settings")):
        firefox.get(f"{server.url}/admin/{page}")
        assert firefox.text("main h1") == heading
