"""The pages in a real browser: Chinese composed through its own protocol, attempts to cheat, a dead connection."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from .conftest import tone, write_study

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)
FAST = "most_per_minute = 1e6"  # the tests type faster than people
PICTURES = os.environ.get("UNSWAYED_PICTURES")  # a folder to keep screenshots in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="Chromium and its driver are not installed"),
]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    sound = tmp_path_factory.mktemp("sound") / "tone.wav"
    sound.write_bytes(tone(seconds=5))
    microphone = [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={sound}",
    ]
    for flag in (*FLAGS.split(" "), *microphone, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield made
    made.quit()


class Visit:
    """A person at a page."""

    def __init__(self, driver, server):
        self.driver, self.server = driver, server
        driver.delete_all_cookies()
        driver.get_log("browser")

    def cdp(self, name, **given):
        return self.driver.execute_cdp_cmd(name, given)

    def size(self, width, height=900):
        self.cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def find(self, css):
        return self.driver.find_element("css selector", css)

    def wait(self, test, what, seconds=30):
        from selenium.common.exceptions import WebDriverException

        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(WebDriverException):  # the page is just being replaced by the next
                if found := test():
                    return found
            assert time.monotonic() < end, f"{what}: {self.find('body').text}"
            time.sleep(0.05)

    def enter(self, token, about=None):
        self.driver.get(f"{self.server.url}/i/{token}")
        self.find("input[name=agree]").click()
        self.find("form button").click()
        if about:
            self.wait(lambda: self.find("input[maxlength]"), "the questions come").send_keys(about)
            self.find("form button").click()

    def ready(self):
        """The page's module has run."""
        script = (
            "return document.readyState === 'complete' && !!document.querySelector('#task')"
            " && performance.getEntriesByType('resource').length >= 3"
        )
        self.wait(lambda: self.driver.execute_script(script), "the page loads")
        time.sleep(0.2)

    def press(self, key, code, number, text=""):
        for kind in ("keyDown", "keyUp"):
            given = {"key": key, "code": code, "windowsVirtualKeyCode": number}
            if text and kind == "keyDown":
                given["text"] = text
            self.cdp("Input.dispatchKeyEvent", type=kind, **given)

    def ime_key(self, letter, code):
        """What Chromium delivers for a key that an input method consumes."""
        self.cdp("Input.dispatchKeyEvent", type="rawKeyDown", key="Process", code=code, windowsVirtualKeyCode=229)
        yield
        self.cdp("Input.dispatchKeyEvent", type="keyUp", key=letter, code=code)

    def compose(self, pinyin, text, pick="Space"):
        """Types pinyin letter by letter and picks a candidate."""
        for n, letter in enumerate(pinyin, 1):
            for _ in self.ime_key(letter, f"Key{letter.upper()}"):
                self.cdp("Input.imeSetComposition", text=pinyin[:n], selectionStart=n, selectionEnd=n)
        for _ in self.ime_key(pick[-1], pick):
            self.cdp("Input.insertText", text=text)

    def value(self):
        return self.driver.execute_script("return document.querySelector('textarea').value")

    def send(self):
        self.find("button[type=submit]").click()

    def answers(self):
        sql = "SELECT person, item, content, flags, live, shown FROM work WHERE state = 'answered' ORDER BY received"
        return self.server.store.read(lambda tx: tx.rows(sql))

    def picture(self, name):
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(f"{PICTURES}/{name}.png")

    def sound(self):
        """Nothing went wrong in the console, and nothing is wider than the screen."""
        log = [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert not log, log
        script = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert self.driver.execute_script(script)


@pytest.fixture
def visit(driver, serve, make):
    def made(**given):
        study, store, _ = make(**given)
        return Visit(driver, serve(study, store))

    return made


def log_of(visit, item):
    rows = visit.server.store.read(lambda tx: tx.rows("SELECT events FROM logs WHERE item = ?", item))
    return json.loads(rows[0][0])


def test_chinese_is_typed_and_nothing_committed_changes(visit):
    items = [{"id": "i1", "text": "里程很长"}, {"id": "i2", "text": "好"}]
    v = visit(kind="retype", items=items, assign="k = 1\nshuffle = false", lang="zh", options=FAST)
    v.size(1000)
    v.enter(v.server.invite(), about="fcitx5-pinyin 5.0")
    v.ready()
    v.compose("licheng", "历程", "Digit2")
    assert v.value() == "历程"
    # Backspace inside a composition corrects it; outside it does nothing.
    v.cdp("Input.imeSetComposition", text="hwn", selectionStart=3, selectionEnd=3)
    v.cdp("Input.imeSetComposition", text="h", selectionStart=1, selectionEnd=1)
    v.cdp("Input.imeSetComposition", text="hen", selectionStart=3, selectionEnd=3)
    v.cdp("Input.insertText", text="很")
    v.press("Backspace", "Backspace", 8)
    assert v.value() == "历程很"
    v.picture("retype_desktop")
    v.compose("chang", "长")
    v.sound()
    v.send()
    v.wait(lambda: v.answers() and "好" in v.find("main").text, "the next item comes")
    ((_, item, content, flags, live, _),) = v.answers()
    assert (item, json.loads(content), live) == ("i1", {"text": "历程很长"}, 1)
    assert flags == "tried to change"
    log = log_of(v, "i1")
    assert "".join(e["d"] for e in log if e["e"] == "commit") == "历程很长"
    assert [e["c"] for e in log if e["e"] == "down"][:8] == [*(f"Key{c}" for c in "LICHENG"), "Digit2"]
    assert [e["d"] for e in log if e["e"] == "compose"][2:4] == ["li", "lic"]
    facts = v.server.store.read(lambda tx: tx.rows("SELECT facts FROM people"))
    assert json.loads(facts[0][0]) == {"ime": "fcitx5-pinyin 5.0"}


def test_from_a_suite_through_people_to_a_run(driver, serve, tmp_path):
    """Three people of three strata type a suite with real composition events; a system is run on what they typed."""
    import unswayed
    from unswayed.collect.export import export
    from unswayed.collect.items import make_study
    from unswayed.collect.study import read_study
    from unswayed.storage.suite_jsonl import import_suite

    examples = [("e0", "里程很长", "long"), ("e1", "社区很小", "small")]
    lines = [
        {"row": n, "id": id, "inputs": {"text": text}, "gold": gold} for n, (id, text, gold) in enumerate(examples)
    ]
    (tmp_path / "clean.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_suite(tmp_path / "clean.jsonl", tmp_path / "clean", task="classify", language="zh")
    file = write_study(tmp_path, "retype", [], 'k = 3\nstrata = ["sogou", "baidu", "gboard"]\nshuffle = false')
    text = file.read_text().replace('path = "items.jsonl"', 'suite = "clean"')
    file.write_text(text.replace("[options]", f"[options]\n{FAST}"))
    study = read_study(file)
    store, _, _ = make_study(study)
    typed = {
        "sogou": [[("licheng", "里程"), ("henchang", "很长")], [("shequ", "社区"), ("henxiao", "很小")]],
        "baidu": [[("licheng", "历程"), ("henchang", "很常")], [("sq", "射箭"), ("henxiao", "很小")]],
        "gboard": [[("lichneg", "李臣"), ("henchang", "很长")], [("shequ", "社区"), ("hx", "红线")]],
    }
    server = serve(study, store)
    for stratum, texts in typed.items():
        v = Visit(driver, server)
        v.enter(server.invite(stratum, stratum), about=stratum)
        for n, words in enumerate(texts):
            v.ready()
            for spelled, text in words:
                v.compose(spelled, text)
            before = len(v.answers())
            v.send()
            v.wait(lambda v=v, before=before: len(v.answers()) > before, "the answer arrives")
            if n == 0:
                v.wait(lambda v=v: "社区" in v.find("main").text, "the next item comes")
    done = export(study, store, tmp_path / "people")
    export(study, store, tmp_path / "answers.jsonl")
    store.close()
    assert done.suite.manifest.variants == 6

    def predict(batch):
        return ["long" if "长" in item["text"] else "small" if "小" in item["text"] else "none" for item in batch]

    run = unswayed.run_system(done.suite, predict, to=tmp_path / "run")
    results = unswayed.measure_run(run)
    assert results.clean.value == 1
    assert results.average.value == pytest.approx(4 / 6)
    assert results.worst.value == 0
    assert set(results.sets["operator"]) == {"people/sogou", "people/baidu", "people/gboard"}
    answers = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text("utf-8").splitlines()]
    labels = {(e["typed"], e["habit"], e["cause"]) for answer in answers for e in answer["errors"]}
    assert labels == {
        ("历程", "Full", "WrongSelection"),
        ("很常", "Full", "WrongSelection"),
        ("李臣", "Full", "WrongInput"),
        ("射箭", "Abbr", "WrongSelection"),
        ("红线", "Abbr", "WrongSelection"),
    }


def test_no_way_of_cheating_changes_the_text(visit):
    v = visit(kind="retype", items=[{"id": "i1", "text": "abc def"}], assign="k = 1", options=FAST)
    v.size(1000)
    v.enter(v.server.invite(), about="none")
    v.ready()
    for letter in "abd":
        v.press(letter, f"Key{letter.upper()}", ord(letter.upper()), letter)
    assert v.value() == "abd"
    v.cdp("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", code="ArrowLeft", windowsVirtualKeyCode=37)
    at_end = "const t = document.querySelector('textarea'); return t.selectionStart === t.value.length"
    v.wait(lambda: v.driver.execute_script(at_end), "the caret is put back")
    v.press("x", "KeyX", 88, "x")
    assert v.value() == "abdx", "the caret stays at the end"
    for command in ("undo", "selectAll", "deleteBackward", "cut"):
        v.cdp("Input.dispatchKeyEvent", type="keyDown", key="z", code="KeyZ", commands=[command])
    v.driver.execute_script(
        "const t = document.querySelector('textarea'); t.select(); document.execCommand('delete');"
        "const d = new DataTransfer(); d.setData('text/plain', 'pasted');"
        "t.dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true, cancelable: true}));"
    )
    assert v.value() == "abdx"
    # A keyboard that takes a finished word back into composition: the page puts the text back.
    v.driver.execute_script(
        "const t = document.querySelector('textarea'); t.dispatchEvent(new CompositionEvent('compositionstart'));"
        "t.value = 'abc'; t.dispatchEvent(new CompositionEvent('compositionend', {data: ''}));"
    )
    assert v.value() == "abdx"
    v.press("Enter", "Enter", 13, "\r")
    assert v.value() == "abdx"
    v.send()
    v.wait(v.answers, "the answer arrives")
    ((_, _, content, flags, _, _),) = v.answers()
    assert json.loads(content) == {"text": "abdx"}
    assert set(flags.split("\n")) == {"tried to change", "changed and restored"}


def test_an_answer_outlives_a_dead_connection_and_a_closed_tab(visit):
    items = [{"id": f"i{n}", "text": f"text {n}"} for n in range(2)]
    v = visit(kind="choice", items=items, assign="k = 1\nshuffle = false")
    v.size(1000)
    v.enter(v.server.invite())
    v.ready()
    v.find("input[value=speech]").click()
    v.cdp("Network.enable")
    dead = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    v.cdp("Network.emulateNetworkConditions", offline=True, **dead)
    v.send()
    v.wait(lambda: "kept on this device" in v.find("#say").text, "the page says so")
    assert v.answers() == []
    v.driver.get("about:blank")
    v.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    v.driver.get_log("browser")
    v.driver.get(f"{v.server.url}/task")
    v.wait(v.answers, "the answer arrives")
    assert json.loads(v.answers()[0][2]) == {"choice": ["speech"]}
    v.wait(lambda: "text 1" in v.find("main").text, "the next item comes")
    assert v.driver.execute_script("return localStorage.length") == 0
    v.sound()


KINDS = {
    "read_aloud": ({"text": "长" * 100}, ""),
    "retype": ({"text": "长" * 300}, ""),
    "same_meaning": ({"a": "A man sleeps. " * 9, "b": "x" * 300}, ""),
    "labels": ({"utterance": "wake me at six", "intent": "x" * 200, "slots": [{"name": "time", "value": "six"}]}, ""),
    "reword": ({"text": "历程 " * 40, "marks": [{"name": "x" * 60, "value": "历程"}]}, 'question = "<b>Q?"'),
    "plausible": ({"a": "历程" * 60, "b": "<script>alert(1)</script>", "original": "里程"}, ""),
    "choice": ({"text": "<b>&amp;", "original": "x"}, 'question = "Q?"\nanswers = ["a", "<i>"]\nseveral = true'),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_fits_a_phone_and_a_desk(visit, kind):
    item, options = KINDS[kind]
    v = visit(kind=kind, items=[{"id": "i", **item}], options=options, lang="zh")
    v.size(360, 740)
    v.enter(v.server.invite(), about="x" if kind in ("retype", "read_aloud", "reword") else None)
    v.ready()
    for width, name in ((360, "phone"), (1280, "desk")):
        v.size(width)
        v.sound()
        v.picture(f"{kind}_{name}")
    for text in item.values():
        assert not isinstance(text, str) or text.strip() in v.find("main").text.replace("\n", " ")
    size = v.driver.execute_script(
        "return [...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
        ".reduce((sum, e) => sum + e.encodedBodySize, 0)"
    )
    assert 1000 < size < 200_000


def test_the_slider_begins_nowhere(visit):
    v = visit(kind="same_meaning", items=[{"id": "i", "a": "one", "b": "two"}])
    v.size(1000)
    v.enter(v.server.invite())
    v.ready()
    v.find("input[value=yes]").click()
    v.send()
    assert "Move the slider" in v.wait(lambda: v.find("#say").text, "the page says what is missing")
    assert v.answers() == []
    assert v.find("#similarity-1").get_attribute("aria-valuetext") == "not chosen yet"
    v.find("#similarity-1").click()  # in the middle, where a browser's slider would have begun
    v.send()
    v.wait(v.answers, "the answer arrives")
    assert json.loads(v.answers()[0][2]) == {"similarity": 50, "grammatical": True}


def test_a_sentence_is_recorded_from_the_microphone(visit):
    """A fake microphone plays a tone; the server keeps it as 16 kHz mono, and the tone is still there."""
    import io
    import wave

    import numpy as np

    from unswayed.collect.kinds.read_aloud import audio_file

    v = visit(kind="read_aloud", items=[{"id": "i", "text": "一句话"}])
    v.size(1000)
    v.enter(v.server.invite(), about="北京")
    v.ready()
    v.send()
    assert "Record the sentence first" in v.wait(lambda: v.find("#say").text, "the page says what is missing")
    v.find("#record").click()
    v.wait(lambda: v.find("#clock").text[:1].isdigit() and float(v.find("#clock").text.split()[0]) > 1.2, "it records")
    assert float(v.find("#level").get_property("value")) > -30
    v.find("#record").click()
    v.wait(lambda: "Listen to it" in v.find("#say").text, "the recording is taken")
    v.picture("read_aloud")
    v.send()
    v.wait(v.answers, "the answer arrives")
    said = json.loads(v.answers()[0][2])
    assert said["settings"]["noiseSuppression"] is False
    with wave.open(io.BytesIO(audio_file(v.server.study, said["audio"]).read_bytes())) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (1, 16000, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert len(samples) > 16000
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    assert np.argmax(spectrum) * 16000 / len(samples) == pytest.approx(440, abs=5)
    v.sound()


def test_sides_are_drawn_and_stored(visit):
    v = visit(kind="plausible", items=[{"id": f"i{n}", "a": f"A{n}", "b": f"B{n}"} for n in range(4)])
    v.size(1000)
    v.enter(v.server.invite())
    for n in range(4):
        v.ready()
        left = v.find(".card .text").text.strip()
        v.find(".card input").click()
        v.send()
        v.wait(lambda n=n: len(v.answers()) == n + 1, "the answer arrives")
        *_, content, _, _, shown = v.answers()[-1]
        assert json.loads(shown)["left"] == json.loads(content)["choice"] == left[0].lower()
        if n < 3:
            v.wait(lambda left=left: left not in v.find("main").text, "the next item comes")


def test_the_owner_sees_progress_and_replays(visit, make):
    v = visit(kind="retype", items=[{"id": "i1", "text": "ab"}], assign="k = 1", options=FAST)
    v.size(1000)
    v.enter(v.server.invite("<b>bo</b>"), about="none")
    v.ready()
    for letter in "ab":
        v.press(letter, f"Key{letter.upper()}", ord(letter.upper()), letter)
    v.send()
    v.wait(v.answers, "the answer arrives")
    from unswayed.collect.owner import set_password

    v.server.store.write(lambda tx: set_password(tx, "right"))
    v.driver.get(f"{v.server.url}/admin")
    v.find("input[type=password]").send_keys("right")
    v.find("form button").click()
    v.wait(lambda: "Progress" in v.find("main").text, "the owner is let in")
    assert "<b>bo</b>" in v.find("main").text
    v.sound()
    v.picture("admin")
    v.find('a[href*="/answer?"]').click()
    v.wait(lambda: v.driver.find_elements("css selector", "#replay"), "the answer is shown")
    v.driver.execute_script("const a = document.getElementById('at'); a.value = 2; a.dispatchEvent(new Event('input'))")
    assert v.find("#committed").text == "a"
    v.picture("replay")
    v.sound()


def test_an_answer_that_is_too_large_is_said(visit):
    """A proxy's page with 413 is no JSON, and asking again would not help."""
    v = visit(items=[{"id": "i", "text": "one"}])
    v.size(1000)
    v.enter(v.server.invite())
    v.ready()
    v.find("input[value=speech]").click()
    v.driver.execute_script("window.fetch = async () => new Response('<html>413</html>', { status: 413 })")
    v.send()
    assert "too large" in v.wait(lambda: "too large" in v.find("#say").text and v.find("#say").text, "the page says it")
    assert (
        v.driver.execute_script("return Object.keys(localStorage).filter(k => k.startsWith('unswayed:')).length") == 0
    )


def test_a_second_tab_goes_on_with_the_next_item(visit):
    v = visit(items=[{"id": f"i{n}", "text": f"text {n}"} for n in range(2)], assign="k = 1\nshuffle = false")
    v.size(1000)
    v.enter(v.server.invite())
    v.ready()
    first = v.driver.current_window_handle
    v.driver.switch_to.new_window("tab")
    v.driver.get(f"{v.server.url}/task")
    v.ready()
    v.find("input[value=speech]").click()
    v.send()
    v.wait(v.answers, "the answer arrives")
    v.driver.switch_to.window(first)
    v.find("input[value=keyboard]").click()
    v.send()
    v.wait(lambda: "text 1" in v.find("main").text, "the next item comes")
    ((_, item, content, *_),) = v.answers()
    assert (item, json.loads(content)) == ("i0", {"choice": ["speech"]})
