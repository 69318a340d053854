"""The page in a real browser, at desktop and phone widths and in both colour schemes."""

from __future__ import annotations

import json

import pytest

from unswayed.report.html import write_report

pytestmark = pytest.mark.slow


@pytest.fixture(params=["plausible", "hostile"])
def page(request, tmp_path, make_results, make_block, make_estimate, make_run, make_flips, gates, hostile):
    """A usual report, and one whose every name is long or hostile."""
    if request.param == "plausible":
        return write_report(make_run(), make_results(), tmp_path / "report.html", make_flips(60), gates=gates)
    names = [*hostile, "x" * 300, "显示" * 200]
    block = make_block(0.9, 0.5, 0.3, 0.4)
    by = {name: dict.fromkeys(names, block) for name in ("operator", "family", *hostile)}
    grid = {name: {f"{other}={other}": make_estimate(0.1) for other in names} for name in names}
    results = make_results(sets=by, grid=grid, system="system" * 60, suite="s" * 500, score="score" * 60)
    return write_report(make_run(plan="p" * 900), results, tmp_path / "report.html", make_flips(60), gates=gates)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_overflows_errs_or_asks_the_network(browser, page, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(page.as_uri())
    for fold in browser.find_elements("css selector", "details"):
        browser.execute_script("arguments[0].open = true", fold)
    wide, inner = browser.execute_script("return [document.scrollingElement.scrollWidth, innerWidth]")
    assert wide <= inner == width
    assert browser.get_log("browser") == []
    assert asked(browser) == {page.as_uri()}
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(252, 251, 248)", "dark": "rgb(21, 23, 26)"}[scheme]


def asked(browser) -> set[str]:
    """Every address that the page asked for."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return {url for url in sent if not url.startswith("data:")}


def test_it_can_be_read_without_its_style(browser, page):
    browser.get(page.as_uri())
    browser.execute_script("document.querySelector('style').remove()")
    text = browser.execute_script("return document.body.innerText")
    words = ("Verdict", "Changed answers\n", "Where it fails\n", "Measures\n", "Data validity\n", "Provenance")
    order = [text.index(word) for word in words]
    assert order == sorted(order)
