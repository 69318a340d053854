"""A person's way through a study in a real browser: attempts, phases, shortcuts, several texts a page, kept takes."""

from __future__ import annotations

import json

from unswayed.collect.items import make_study
from unswayed.collect.kinds.read_aloud import audio_file, audio_folder
from unswayed.collect.study import read_study

from .conftest import write_study
from .test_browser import FAST, Visit, driver, log_of, pytestmark, visit

__all__ = ["driver", "pytestmark", "visit"]


def type_in(v, text):
    for letter in text:
        code = "Space" if letter == " " else f"Key{letter.upper()}"
        v.press(letter, code, ord(letter.upper()), letter)


def attempts(v):
    return v.server.store.read(lambda tx: tx.rows("SELECT number, flags FROM attempts ORDER BY number"))


def test_what_a_script_inserts_is_refused_and_the_same_person_tries_again(visit):
    v = visit(kind="retype", items=[{"id": "i1", "text": "turn it on"}], assign="k = 1", options=FAST)
    v.size(1000)
    v.enter(v.server.invite(), about="none")
    v.ready()
    v.driver.execute_script(
        "const t = document.querySelector('#typed'); t.value = 'turn it on'; t.dispatchEvent(new Event('input'));"
    )
    v.send()
    v.wait(lambda: v.find(".verdict"), "the verdict is shown")
    assert "was not typed on a keyboard" in v.find(".verdict").text
    assert v.value() == ""
    assert attempts(v) == [(1, "no keys")]
    v.driver.refresh()
    v.wait(lambda: v.find(".verdict"), "the verdict is there after a reload")
    v.ready()
    type_in(v, "aaaaaaaaaa")
    v.send()
    v.wait(lambda: len(attempts(v)) == 2, "the second attempt arrives")
    v.wait(lambda: "not the text that was shown" in v.find(".verdict").text, "why is said")
    v.ready()
    type_in(v, "turn it on")
    v.send()
    v.wait(v.answers, "the answer arrives")
    assert json.loads(v.answers()[0][2]) == {"text": "turn it on"}
    v.sound()


def test_a_reload_goes_on_where_the_page_was(visit):
    v = visit(kind="retype", items=[{"id": "i1", "text": "turn it on"}], assign="k = 1", options=FAST)
    v.size(1000)
    v.enter(v.server.invite(), about="none")
    v.ready()
    type_in(v, "tunr ")
    v.driver.refresh()
    v.ready()
    v.wait(lambda: v.value() == "tunr ", "what was typed is there again")
    type_in(v, "it ")
    v.driver.execute_script("localStorage.clear()")  # now the server alone knows
    v.wait(lambda: v.server.store.read(lambda tx: "it " in _drafted(tx)), "the log reaches the server")
    v.driver.get("about:blank")
    v.driver.get(f"{v.server.url}/task")
    v.ready()
    v.wait(lambda: v.value() == "tunr it ", "what was typed is there again")
    type_in(v, "on")
    v.send()
    v.wait(v.answers, "the answer arrives")
    ((_, _, content, flags, live, _),) = v.answers()
    assert (json.loads(content), live) == ({"text": "tunr it on"}, 1)
    assert flags == "shown again"
    log = log_of(v, "i1")
    assert [e["e"] for e in log].count("resume") == 2
    assert [e["t"] for e in log] == sorted(e["t"] for e in log)


def _drafted(tx):
    events = [e for (part,) in tx.rows("SELECT events FROM drafts ORDER BY begins") for e in json.loads(part)]
    return "".join(e["d"] for e in events if e["e"] == "commit")


STUDY = """
[arrive]
open = true
parameters = ["PROLIFIC_PID"]
[[questions]]
name = "group"
text = {en = "What are you?", de = "Was sind Sie?"}
answers = {s = {en = "A student", de = "Student"}, o = {en = "Another", de = "Andere"}}
[training]
path = "training.jsonl"
[completion]
return = "https://example.org/done?code={code}&who={PROLIFIC_PID}"
"""


def with_all_phases(folder, count):
    """A study with `count` items and a database, from arrival to the completion code."""
    items = [{"id": f"i{n}", "text": f"text {n}"} for n in range(count)]
    file = write_study(folder, "choice", items, 'k = 1\nshuffle = false\nstrata = ["s", "o"]\nby = "group"')
    text = file.read_text().replace("[items]", 'instructions = {en = "Be quick.", de = "Schnell."}\n[items]')
    file.write_text(text + STUDY)
    practice = {"id": "t", "text": "practice", "gold": {"choice": ["speech"]}, "feedback": "It was spoken."}
    (folder / "training.jsonl").write_text(json.dumps(practice))
    study = read_study(file)
    store, _, _ = make_study(study)
    return study, store


def test_from_a_platform_to_the_completion_code(driver, serve, tmp_path):
    study, store = with_all_phases(tmp_path, 3)
    with store:
        v = Visit(driver, serve(study, store))
        v.size(1200)
        driver.get(f"{v.server.url}/join?PROLIFIC_PID=5f1")
        assert "PROLIFIC" not in driver.current_url
        v.find("input[name=agree]").click()
        v.find("form button").click()
        v.wait(lambda: "What are you?" in v.find("main").text, "the questions come")
        v.find("input[value=s]").click()
        v.find("form button").click()
        v.wait(lambda: "Be quick." in v.find("main").text, "the instructions come")
        v.find("form button").click()
        v.wait(lambda: "practice" in v.find("main").text, "the training comes")
        v.ready()
        assert "Be quick." in v.find(".beside").text, "the instructions stand beside the task"
        v.press("1", "Digit1", 49, "1")
        v.send()
        v.wait(lambda: "It was spoken." in v.find("main").text, "the feedback comes")
        assert "not what we expected" in v.find("main").text
        v.sound()
        v.find("form button").click()
        v.wait(lambda: "text 0" in v.find("main").text, "the first task comes")
        v.ready()
        v.press("2", "Digit2", 50, "2")
        v.find(".comment summary").click()
        v.find("#comment").send_keys("1 & 2 <b>")
        v.send()
        v.wait(lambda: "text 1" in v.find("main").text, "the second task comes")
        v.ready()
        v.find(".skipping summary").click()
        v.find("input[value=unclear]").click()
        v.find(".skipping button").click()
        v.wait(lambda: "text 2" in v.find("main").text, "the third task comes")
        v.ready()
        v.press("3", "Digit3", 51, "3")
        v.send()
        code = v.wait(lambda: v.find("#code").text, "the code comes")
        link = v.find("a.button").get_attribute("href")
        assert link == f"https://example.org/done?code={code}&who=5f1"
        v.sound()
        driver.get(f"{v.server.url}/language/de")
        assert v.find("html").get_attribute("lang") == "de"
        said = {item: json.loads(content)["choice"] for _, item, content, *_ in v.answers()}
        assert said == {"t": ["keyboard"], "i0": ["speech"], "i2": ["none"]}
        remarks = store.read(lambda tx: tx.rows("SELECT item, comment, skipped FROM remarks WHERE item <> 't'"))
        assert sorted(remarks) == [("i0", "1 & 2 <b>", ""), ("i1", "", "unclear")]
        ((stratum, kept),) = store.read(
            lambda tx: tx.rows("SELECT p.stratum, c.text FROM people p JOIN consents c ON c.person = p.id")
        )
        assert (stratum, kept) == ("s", "We keep what you type.")


def test_several_paraphrases_on_a_page(visit):
    items = [{"id": f"p{n}", "a": "one text", "b": f"text {n}", "of": "x"} for n in range(4)]
    v = visit(kind="same_meaning", items=items, assign="k = 1\nshuffle = false")
    v.size(1000)
    v.enter(v.server.invite())
    v.ready()
    assert len(v.driver.find_elements("css selector", ".judged")) == 3
    assert "0: quite different" in v.find(".ends").text
    for n in range(1, 4):
        v.find(f"#similarity-{n}").click()
        assert v.find(f"#similarity-{n}").get_attribute("aria-valuetext") == "50 / 100"
        if n < 3:
            v.find(f"input[name=grammatical-{n}][value=yes]").click()
    v.send()
    assert "Choose an answer" in v.wait(lambda: v.find("#say").text, "the page says what is missing")
    v.find("input[name=grammatical-3][value=no]").click()
    v.find(".comment summary").click()
    v.find("#comment").send_keys("the third is odd")
    v.picture("paraphrases")
    v.sound()
    v.send()
    v.wait(lambda: len(v.answers()) == 3, "all three arrive")
    said = {item: json.loads(content) for _, item, content, *_ in v.answers()}
    assert said["p0"] == said["p1"] == {"similarity": 50, "grammatical": True}
    assert said["p2"] == {"similarity": 50, "grammatical": False}
    v.wait(lambda: "text 3" in v.find("main").text, "the fourth comes alone")


def recorded(v, seconds):
    v.find("#record").click()
    v.wait(
        lambda: v.find("#clock").text[:1].isdigit() and float(v.find("#clock").text.split()[0]) > seconds, "it records"
    )
    v.find("#record").click()


def test_a_take_outlives_the_page_and_is_the_one_that_is_kept(visit):
    v = visit(kind="read_aloud", items=[{"id": "i", "text": "一句话"}], options="min_seconds = 1.0")
    v.size(1000)
    v.enter(v.server.invite(), about="北京")
    v.ready()
    recorded(v, 0.1)
    v.wait(lambda: "too short" in v.find("#say").text, "it is said at once")
    v.send()
    assert "Record the sentence first" in v.find("#say").text
    recorded(v, 1.2)
    v.wait(lambda: "Listen to it" in v.find("#say").text, "the first take is kept")
    recorded(v, 2.2)
    v.wait(lambda: "Listen to it" in v.find("#say").text, "the second take is kept")
    assert not audio_folder(v.server.study).exists(), "nothing is sent before it is submitted"
    v.driver.refresh()
    v.ready()
    v.wait(lambda: "kept on this device" in v.find("#say").text, "the take is there again")
    v.send()
    v.wait(v.answers, "the answer arrives")
    said = json.loads(v.answers()[0][2])
    (kept,) = audio_folder(v.server.study).iterdir()
    assert kept == audio_file(v.server.study, said["audio"])
    ((milliseconds,),) = v.server.store.read(lambda tx: tx.rows("SELECT milliseconds FROM audio"))
    assert milliseconds > 2000, "the second take"
    count = "const done = arguments[0]; import('/static/takes.js').then(t => t.of('x', 'i')).then(x => done(!x))"
    assert v.driver.execute_async_script(count)
    v.sound()
