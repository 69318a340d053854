"""A comparison as a page, from the commands to what a browser shows."""

from __future__ import annotations

import json

import pytest
from commands import unswayed

import unswayed as library

SYSTEMS = """
def good(batch):
    return ["lights" if "li" in item["text"] else "music" for item in batch]

def bad(batch):
    return ["lights" if "light" in item["text"] else "music" for item in batch]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("compared")
    texts = [
        (f"turn off the light {i} <i>now</i>", "lights") if i % 2 else (f"play song {i}", "music") for i in range(60)
    ]
    rows = [{"text": text, "label": label} for text, label in texts]
    (place / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "systems.py").write_text(SYSTEMS)
    make = ("vary", "mine.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "--param", "rate=0.2")
    unswayed(*make, "--draws", 4, "--seed", 1, "-o", "suite", cwd=place, check=True)
    for name in ("good", "bad"):
        unswayed("run", "suite", "--system", f"systems:{name}", "-o", name, cwd=place, check=True)
    return place


def test_a_worse_run_is_on_a_page_that_leads_to_the_lost_answers(folder):
    given = ("compare", "good", "bad", "--fail-if-worse", "average:0.02", "-o", "compare.html", "--format", "md")
    done = unswayed(*given, cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("- ❌ average: ")
    page = (folder / "compare.html").read_text("utf-8")
    compared = library.compare(folder / "good", folder / "bad")
    lost = compared.flips()
    lost = lost[lost["change"] == "lost"]
    assert "1 of 1 gates failed." in page
    assert f"of the answers to variants, {compared.answers['variants'].lost:,} are lost" in page
    assert page.count('<article class="flip lost">') == min(25, len(lost)) > 5
    assert "<script" not in page
    assert "<i>" not in page
    assert "&lt;i&gt;" in page
    assert 'href="./compare.view.html"' in page
    assert (folder / "compare.view.html").is_file()


def test_a_loaded_comparison_has_a_page_without_answers(folder, tmp_path):
    saved = library.compare(folder / "good", folder / "bad").save(tmp_path / "c.json")
    page = library.write_comparison(library.Comparison.load(saved), tmp_path / "page.html").read_text("utf-8")
    assert "view.html" not in page
    assert "Average falls" in page


def test_several_runs_have_a_section_each(folder):
    unswayed("compare", "good", "bad", "good", "-o", "three.html", cwd=folder, check=True)
    page = (folder / "three.html").read_text("utf-8")
    assert 'id="run-B"' in page
    assert 'id="run-C"' in page


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 360])
def test_it_fits_and_is_quiet(folder, browser, width):
    unswayed("compare", "good", "bad", "-o", "fits.html", cwd=folder, check=True)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get((folder / "fits.html").as_uri())
    assert browser.execute_script("return document.scrollingElement.scrollWidth <= innerWidth")
    assert browser.get_log("browser") == []
