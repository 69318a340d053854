"""The pages to explore runs in and to compare them, from the commands to what a browser shows."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter

import pytest
from commands import unswayed

import unswayed as library
from unswayed.base.values import Example, Output, Variant
from unswayed.measure.changes import Flip, FlipBlock
from unswayed.report.flips import KINDS
from unswayed.report.view_columns import Columns, json_pieces

ROWS = [
    *[{"text": f"turn off the light number {i}", "label": "lights", "room": "hall"} for i in range(8)],
    *[{"text": f"play song number {i} by <b>Bach</b>", "label": "music", "room": "kitchen"} for i in range(8)],
]
SYSTEMS = """
def first(batch):
    return ["lights" if "light" in item["text"] else "music" if "song" in item["text"] else "other" for item in batch]

def second(batch):
    return ["lights" if "li" in item["text"] else "music" if "so" in item["text"] else "none" for item in batch]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs of one suite, made at the command line."""
    place = tmp_path_factory.mktemp("view")
    (place / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (place / "systems.py").write_text(SYSTEMS)
    make = (
        "vary",
        "mine.jsonl",
        "--lang",
        "en",
        "--with",
        "keyboard/adjacent",
        "--param",
        "rate=0.25",
        "--group",
        "room",
    )
    unswayed(*make, "--draws", 6, "--seed", 1, "-o", "suite", cwd=place, check=True)
    for name in ("first", "second"):
        unswayed("run", "suite", "--system", f"systems:{name}", "-o", name, cwd=place, check=True)
    return place


def opened(browser, path):
    browser.get(path.as_uri())
    wait(browser, "return document.body.dataset.ready === 'yes'")
    return browser


def wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 120).until(lambda driver: driver.execute_script(condition))


def data_of(page):
    packed = re.search(r'id="data">([^<]*)<', page.read_text("utf-8"))[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def count(browser):
    return browser.find_element("id", "count").text


def choose(browser, name, label):
    from selenium.webdriver.support.ui import Select

    field = Select(browser.find_element("css selector", f"select[name='{name}']"))
    field.select_by_visible_text(next(o.text for o in field.options if o.text.startswith(label)))


@pytest.mark.slow
def test_all_flips_are_found_by_filter_search_and_cell(folder, browser):
    done = unswayed("view", "first", "-o", "view.html", cwd=folder, check=True)
    assert "View in view.html" in done.stderr
    flips = library.Run(folder / "first").flips()
    opened(browser, folder / "view.html")
    assert count(browser) == f"{len(flips)} of {len(flips)} answers"
    assert len(flips) > 10

    music = flips[flips["gold"] == "music"]
    choose(browser, "gold", "music")
    assert count(browser) == f"{len(music)} of {len(flips)} answers"
    cards = browser.find_elements("css selector", "#list article")
    assert len(cards) == min(50, len(music))
    assert "<b>Bach</b>" in browser.find_element("id", "list").text or "Bach" not in music["after"].iloc[0]
    assert browser.find_elements("css selector", "#list b") == []

    from selenium.webdriver.common.keys import Keys

    browser.find_element("css selector", "body").send_keys(Keys.ESCAPE)
    assert count(browser) == f"{len(flips)} of {len(flips)} answers"
    browser.find_element("id", "search").send_keys("NUMBER 3")
    found = flips[flips["before"].str.contains("number 3") | flips["after"].str.contains("number 3")]
    assert count(browser) == f"{len(found)} of {len(flips)} answers"

    cell = browser.find_element("css selector", "#heat button[aria-label='keyboard/adjacent, room=hall']")
    cell.click()
    hall = flips[flips["gold"] == "lights"]
    assert count(browser) == f"{len(hall)} of {len(flips)} answers"
    browser.find_element("css selector", "#confusion summary").click()
    wrong = browser.find_element("css selector", "#confusion button[aria-label*='Variants: gold lights, answer other']")
    wrong.click()
    assert count(browser) == f"{len(hall)} of {len(flips)} answers"
    browser.execute_script("document.activeElement.blur()")
    browser.find_element("css selector", "body").send_keys("j")
    assert browser.execute_script("return document.activeElement.tagName") == "ARTICLE"


@pytest.mark.slow
def test_two_runs_are_compared_and_shown_over_time(folder, browser):
    unswayed("view", "first", "second", "-o", "both.html", cwd=folder, check=True)
    changed = library.compare(folder / "first", folder / "second").flips()
    opened(browser, folder / "both.html")
    assert browser.find_element("id", "answers-h").text == "Lost and gained between A and B"
    assert count(browser) == f"{len(changed)} of {len(changed)} answers"
    assert len(changed)
    gained = (changed["change"] == "gained").sum()
    choose(browser, "kind", "wrong in A, right in B") if 0 < gained < len(changed) else None
    rows = browser.find_elements("css selector", "#history tbody tr")
    assert [row.text.split()[0] for row in rows] == ["first", "second"]
    assert browser.get_log("browser") == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_phones_and_asks_the_network_for_nothing(folder, browser, width, scheme):
    unswayed("view", "first", "second", "-o", "fits.html", cwd=folder, check=True)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get_log("performance")
    opened(browser, folder / "fits.html")
    assert browser.execute_script("return document.scrollingElement.scrollWidth <= innerWidth")
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    assert sent == {(folder / "fits.html").as_uri()}


def test_the_report_links_to_its_view(folder):
    unswayed("report", "first", "-o", "report.html", cwd=folder, check=True)
    assert 'href="./report.view.html"' in (folder / "report.html").read_text("utf-8")
    found = data_of(folder / "report.view.html")["sets"][0]
    assert found["size"] == len(library.Run(folder / "first").flips())


@pytest.mark.slow
def test_hostile_texts_stay_texts(browser, hostile, tmp_path, folder):
    whole = [text for text in hostile if "\ud800" not in text]  # half a character is refused as data
    rows = [{"text": f"{text} light {i}", "label": "lights", "slice": text} for i, text in enumerate(whole)]
    suite = library.make_suite(rows, ["keyboard/adjacent"], language="en", input="text", gold="label", draws=2)
    run = library.run_system(suite, lambda batch: [item["text"][:30] for item in batch], to=tmp_path / "run")
    page = library.write_view(run, tmp_path / "view.html")
    opened(browser, page)
    assert browser.find_elements("css selector", "iframe, img, #list script") == []
    assert browser.get_log("browser") == []
    assert "<script>alert(1)</script>" in browser.find_element("id", "list").text


def test_one_page_is_served_on_this_machine(folder, tmp_path):
    import subprocess
    import sys
    import urllib.request

    command = [
        sys.executable,
        "-m",
        "unswayed",
        "view",
        "first",
        "-o",
        str(tmp_path / "v.html"),
        "--serve",
        "--port",
        "0",
    ]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        address = next(re.search(r"http://\S+", line)[0] for line in process.stderr if "Serving" in line)
        with urllib.request.urlopen(address) as answer:
            body = answer.read()
        process.terminate()
    assert body == (tmp_path / "v.html").read_bytes()


def test_long_texts_are_cut_around_the_change():
    text = "a " * 100_000
    example = Example(0, "e", {"text": text + "end"}, "x")
    variant = Variant(0, "e", 0, "keyboard/adjacent", "keyboard", "same", {"text": text + "ebd"}, "x", "")
    columns = Columns()
    columns.add(FlipBlock.of([Flip(example, variant, Output("x"), Output("y"), True, False, 1.0)]))
    made = b"".join(json_pieces([columns.flips(), columns.shared()]))
    found = json.loads(made)[0]
    assert (found["old"], found["new"]) == (["end"], ["ebd"])
    assert len(made) < 5000


def test_runs_of_other_suites_are_shown_but_not_compared(folder, tmp_path):
    rows = [{"text": "play the song again", "label": "music"}, {"text": "light please", "label": "lights"}] * 5
    suite = library.make_suite(rows, ["keyboard/adjacent"], language="en", input="text", gold="label", draws=1)
    other = library.run_system(suite, lambda batch: ["music" for _ in batch], to=tmp_path / "other")
    found = data_of(library.write_view([folder / "first", other], tmp_path / "v.html"))
    assert found["compared"] is None
    assert [run["name"] for run in found["history"]] == ["first", "other"]


COMPARED = """
def good(batch):
    return ["lights" if "li" in item["text"] else "music" for item in batch]

def bad(batch):
    return ["lights" if "light" in item["text"] else "music" for item in batch]
"""


@pytest.fixture(scope="module")
def compared_folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("compared")
    texts = [
        (f"turn off the light {i} <i>now</i>", "lights") if i % 2 else (f"play song {i}", "music") for i in range(60)
    ]
    rows = [{"text": text, "label": label} for text, label in texts]
    (place / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "systems.py").write_text(COMPARED)
    make = ("vary", "mine.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "--param", "rate=0.2")
    unswayed(*make, "--draws", 4, "--seed", 1, "-o", "suite", cwd=place, check=True)
    for name in ("good", "bad"):
        unswayed("run", "suite", "--system", f"systems:{name}", "-o", name, cwd=place, check=True)
    return place


def test_a_worse_run_is_on_a_page_that_leads_to_the_lost_answers(compared_folder):
    given = ("compare", "good", "bad", "--fail-if-worse", "average:0.02", "-o", "compare.html", "--format", "md")
    done = unswayed(*given, cwd=compared_folder)
    assert done.returncode == 1
    assert done.stdout.startswith("- ❌ average: ")
    page = (compared_folder / "compare.html").read_text("utf-8")
    compared = library.compare(compared_folder / "good", compared_folder / "bad")
    lost = compared.flips()
    lost = lost[lost["change"] == "lost"]
    assert "1 of 1 gates failed." in page
    assert f"Of the answers to variants, {compared.answers['variants'].lost:,} are lost" in page
    assert page.count('<article class="flip lost">') == min(25, len(lost)) > 5
    assert "<script" not in page
    assert "<i>" not in page
    assert "&lt;i&gt;" in page
    assert 'href="./compare.view.html"' in page
    assert (compared_folder / "compare.view.html").is_file()


def test_a_loaded_comparison_has_a_page_without_answers(compared_folder, tmp_path):
    saved = library.compare(compared_folder / "good", compared_folder / "bad").save(tmp_path / "c.json")
    page = library.write_comparison(library.Comparison.load(saved), tmp_path / "page.html").read_text("utf-8")
    assert "view.html" not in page
    assert "Worse by" in page


def test_several_runs_have_a_section_each(compared_folder):
    unswayed("compare", "good", "bad", "good", "-o", "three.html", cwd=compared_folder, check=True)
    page = (compared_folder / "three.html").read_text("utf-8")
    assert 'id="run-B"' in page
    assert 'id="run-C"' in page


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 360])
def test_it_fits_and_is_quiet(compared_folder, browser, width):
    unswayed("compare", "good", "bad", "-o", "fits.html", cwd=compared_folder, check=True)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get((compared_folder / "fits.html").as_uri())
    assert browser.execute_script("return document.scrollingElement.scrollWidth <= innerWidth")
    assert browser.get_log("browser") == []


EVERY = """
import random

seen = random.Random(3)

def odd(batch):
    found = []
    for item in batch:
        if "number 5" in item["text"]:
            raise ValueError("<i>no</i> answer to this")
        found.append("lights" if "light" in item["text"] else "music" if seen.random() < 0.8 else "other")
    return found
"""


@pytest.fixture(scope="module")
def odd_run(tmp_path_factory):
    """A run in which answers stay, change, fail, and differ when they are asked again."""
    place = tmp_path_factory.mktemp("odd")
    (place / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (place / "systems.py").write_text(EVERY)
    make = ("vary", "mine.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "--with", "spoken/filler_end")
    unswayed(*make, "--draws", 6, "--seed", 1, "-o", "suite", cwd=place, check=True)
    words = ("run", "suite", "--system", "systems:odd", "--repeats", 2, "--retries", 0, "--allow-missing", 0.5)
    unswayed(*words, "--batch-size", 1, "-o", "run", cwd=place)
    return library.Run(place / "run")


def test_every_answer_is_in_the_page_part_by_part(odd_run, tmp_path, monkeypatch):
    """As many as there are requests: clean, varied, failed, repeated; each part has its own texts."""
    monkeypatch.setattr("unswayed.report.view_columns.PART", 50)
    page = library.write_view(odd_run, tmp_path / "view.html").read_text("utf-8")
    index = json.loads(gzip.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', page)[1])))["every"]
    parts = [json.loads(gzip.decompress(base64.b64decode(text))) for text in re.findall(r'class="part">([^<]*)<', page)]
    assert len(parts) == len(index["parts"]) > 2
    kinds, clean = Counter(), 0
    for about, part in zip(index["parts"], parts, strict=True):
        assert about["size"] == part["set"]["size"]
        own = Counter(str(kind) for kind in part["set"]["kind"])
        assert about["kind"] == own
        kinds += Counter({index["kinds"][int(kind)]: n for kind, n in own.items()})
    clean = sum(n for kind, n in kinds.items() if kind.startswith("clean input"))
    made = odd_run.suite.manifest
    flips = odd_run.flips()
    assert sum(kinds.values()) == made.examples + made.variants + 2 * made.examples  # two repeats of each
    assert kinds["no answer"] >= 12  # of two examples, whose texts still have the words after most slips
    assert clean + 2 == made.examples
    assert sum(kinds[kind] for kind in KINDS) == len(flips) > 0
    assert kinds["asked again: another answer"] > 0


@pytest.mark.slow
def test_every_answer_can_be_read_searched_and_filtered(odd_run, tmp_path, monkeypatch, browser):
    monkeypatch.setattr("unswayed.report.view_columns.PART", 50)
    opened(browser, library.write_view(odd_run, tmp_path / "view.html"))
    choose(browser, "set", "Every answer")
    whole = odd_run.suite.manifest.examples * 3 + odd_run.suite.manifest.variants
    wait(browser, "return document.querySelectorAll('#list article').length === 50")
    assert count(browser) == f"{whole} of {whole} answers"
    browser.find_element("id", "more").click()
    wait(browser, "return document.querySelectorAll('#list article').length === 100")
    choose(browser, "kind", "no answer")
    wait(browser, "return document.getElementById('more').hidden")
    cards = browser.find_elements("css selector", "#list article")
    assert all("no answer: ValueError: <i>no</i> answer to this" in card.text for card in cards)
    assert browser.find_elements("css selector", "#list i") == []
    browser.execute_script("document.querySelector('#filters button').click()")
    browser.find_element("id", "search").send_keys("number 7")
    wait(browser, "return document.getElementById('more').hidden")
    texts = [card.text for card in browser.find_elements("css selector", "#list article")]
    assert len(texts) >= 2 * 3
    assert all("7" in text for text in texts)
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_the_first_changed_answer_is_on_the_first_screen(compared_folder, tmp_path, browser):
    """On the report, the page to explore and the comparison, at 1280 by 800."""
    bad = library.Run(compared_folder / "bad")
    library.write_report(bad, library.measure_run(bad), tmp_path / "report.html")
    compared = library.compare(compared_folder / "good", bad)
    library.write_comparison(compared, tmp_path / "compare.html")
    size = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for name in ("report.html", "report.view.html", "compare.html", "compare.view.html"):
        browser.get((tmp_path / name).as_uri())
        if "view" in name:
            wait(browser, "return document.body.dataset.ready === 'yes'")
        place = browser.execute_script("return document.querySelector('article.flip').getBoundingClientRect().bottom")
        assert place < 900, name
