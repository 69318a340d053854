"""axe-core on every page, in Chromium: no serious fault, in a language of each direction."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unswayed.collect.owner import set_password

from .test_browser import BROWSER, DRIVER, Visit, driver
from .test_browser_phases import with_all_phases
from .test_privacy import answered

assert driver  # the fixture
AXE = Path(sys.prefix) / "node" / "node_modules" / "axe-core" / "axe.min.js"
ITEMS = {
    "choice": [{"id": "i", "text": "one", "original": "two"}],
    "retype": [{"id": "i", "text": "里程很长"}],
    "read_aloud": [{"id": "i", "text": "one"}],
    "same_meaning": [{"id": "i", "a": "one", "b": "two"}],
    "plausible": [{"id": "i", "a": "one", "b": "two", "original": "three"}],
    "reword": [{"id": "i", "text": "wake me at six", "marks": [{"name": "time", "value": "six"}]}],
    "labels": [{"id": "i", "utterance": "wake me", "slots": [{"name": "time", "value": "x"}], "intent": "wake"}],
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="Chromium and its driver are not installed"),
    pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: make .venv/.tools"),
]


def faults(visit):
    """What axe-core finds that is serious or critical, in the page that is shown."""
    visit.driver.execute_script(AXE.read_text("utf-8"))
    found = visit.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations))"
    )
    return [
        (fault["id"], [node["html"][:200] for node in fault["nodes"]])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("kind", ITEMS)
def test_a_persons_pages(driver, serve, make, kind, language):
    study, store, _ = make(kind=kind, items=ITEMS[kind], lang=language)
    v = Visit(driver, serve(study, store))
    v.size(1000)
    driver.get(v.server.url)
    seen = {"front": faults(v)}
    driver.get(f"{v.server.url}/i/{v.server.invite()}")
    seen["consent"] = faults(v)
    v.find("input[name=agree]").click()
    v.find("main form button").click()
    v.wait(lambda: v.find("form[action$=questions], #task"), "the questions or the task come")
    if driver.find_elements("css selector", "form[action$=questions]"):
        seen["questions"] = faults(v)
        for field in driver.find_elements("css selector", "form[action$=questions] input:not([type=hidden])"):
            field.send_keys("x")
        v.find("main form button").click()
    v.ready()
    seen["task"] = faults(v)
    driver.get(f"{v.server.url}/nowhere")
    seen["error"] = faults(v)
    driver.execute_script("document.querySelector('main').append(document.createElement('textarea'))")
    assert faults(v), "axe-core sees a field without a label"
    assert {page: found for page, found in seen.items() if found} == {}


def test_from_arrival_to_the_code(driver, serve, tmp_path):
    """The pages that only a study with all phases has."""
    study, store = with_all_phases(tmp_path, 1)
    with store:
        v = Visit(driver, serve(study, store))
        v.size(1200)
        driver.get(f"{v.server.url}/join?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
        seen = {"preview": faults(v)}
        driver.get(f"{v.server.url}/join?PROLIFIC_PID=5f1")
        v.find("input[name=agree]").click()
        v.find("form button").click()
        v.wait(lambda: v.find("input[value=s]"), "the questions come").click()
        seen["questions"] = faults(v)
        v.find("form button").click()
        v.wait(lambda: "Be quick." in v.find("main").text, "the instructions come")
        seen["instructions"] = faults(v)
        v.find("form button").click()
        v.wait(lambda: "practice" in v.find("main").text, "the training comes")
        for key in (1, 2):
            v.ready()
            seen[f"task {key}"] = faults(v)
            v.press(str(key), f"Digit{key}", 48 + key, str(key))
            v.send()
            if key == 1:
                v.wait(lambda: "It was spoken." in v.find("main").text, "the feedback comes")
                seen["feedback"] = faults(v)
                v.find("form button").click()
                v.wait(lambda: "text 0" in v.find("main").text, "the task comes")
        v.wait(lambda: v.find("#code").text, "the code comes")
        seen["completion"] = faults(v)
    assert {page: found for page, found in seen.items() if found} == {}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_owners_pages(driver, serve, make, language):
    study, store, _ = make(assign="k = 2", lang=language)
    answered(study, store, "anna", 3)
    answered(study, store, "ben", 3, word="speech")
    v = Visit(driver, serve(study, store))
    v.size(1000)
    v.server.store.write(lambda tx: set_password(tx, "right"))
    driver.get(f"{v.server.url}/admin/login")
    seen = {"login": faults(v)}
    v.find("input[type=password]").send_keys("right")
    v.find("main form button").click()
    v.wait(lambda: driver.find_elements("css selector", "nav.console"), "the owner is let in")
    pages = "people person?person=anna answers answer?person=anna&item=i0 items item?item=i0 settings audit"
    for page in ["", *pages.split()]:
        driver.get(f"{v.server.url}/admin/{page}" if page else f"{v.server.url}/admin")
        seen[page] = faults(v)
    assert {page: found for page, found in seen.items() if found} == {}
