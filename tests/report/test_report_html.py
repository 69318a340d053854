"""The page: what it says and in which order, that nothing from outside becomes markup, and that it stays small."""

from __future__ import annotations

import errno
import json
import os
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.base.errors import UnswayedError
from unswayed.base.values import Example, Output, Variant
from unswayed.measure.changes import Flip
from unswayed.report.html import facts, write_report

GOLDEN = Path(__file__).parent / "report.txt"
TAGS = """
html head meta title style body header main section ul ol li a h1 h2 h3 p span strong em small bdi dl div dt dd
table caption thead tbody tr th td figure figcaption details summary article del ins code pre
svg desc line rect circle path text g
"""
ATTRIBUTES = """
lang charset http-equiv content name id class aria-labelledby aria-label role tabindex scope href dir xmlns width
height font-family font-size x y x1 x2 y1 y2 stroke stroke-width stroke-dasharray fill font-weight text-anchor rx r
d overflow open
"""


class Page(HTMLParser):
    """Tags, attributes, links and text of a page, as a browser would split them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.headings: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href")]
        if tag not in ("meta",):
            self.open.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))
        if tag in ("p", "h1", "h2", "h3", "tr", "div", "li", "summary", "figcaption", "caption"):
            self.lines.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_data(self, data):
        if "style" in self.open or "svg" in self.open:
            return
        if self.headings and self.open and set(self.open) & {"h1", "h2", "h3"}:
            tag, text = self.headings[-1]
            self.headings[-1] = (tag, text + data)
        if self.lines:
            self.lines[-1] += " " + data

    def text(self) -> str:
        lines = (" ".join(line.split()) for line in self.lines)
        return "\n".join(line for line in lines if line) + "\n"


def check_harmless(page: str) -> Page:
    parsed = Page(page)
    assert parsed.open == []
    assert set(parsed.tags) <= set(TAGS.split())
    assert parsed.attributes <= set(ATTRIBUTES.split())
    assert all(link.startswith(("#", "./")) for link in parsed.links)
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "\x1b" not in page
    return parsed


def write(tmp_path, run, results, flips, **more) -> str:
    path = write_report(run, results, tmp_path / "report.html", flips, **more)
    return path.read_text("utf-8")


def test_it_says_what_the_golden_file_says(tmp_path, results, make_run, make_flips, gates):
    facts = {"date": "2026-11-02", "versions": "fixed", "machine": "fixed"}
    page = write(tmp_path, make_run(), results, make_flips(6), gates=gates, provenance=facts)
    text = check_harmless(page).text().replace(str(tmp_path), "PLACE")
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_the_page_is_the_same_whenever_it_is_made_where_the_time_is_fixed(results, make_run, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert facts(make_run(), results)["date"] == "1970-01-02 00:00 UTC"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert facts(make_run(), results)["date"] > "2026"


def test_headings_come_in_reading_order(tmp_path, results, make_run, make_flips):
    parsed = check_harmless(write(tmp_path, make_run(), results, make_flips()))
    assert parsed.headings[0] == ("h1", "my_module:predict")
    names = [text for tag, text in parsed.headings if tag == "h2"]
    first = ["Verdict", "Changed answers", "Where it fails", "Measures"]
    assert names == [*first, "Charts", "Tests", "Data validity", "Provenance"]
    assert parsed.tags.count("caption") == parsed.tags.count("table")
    assert parsed.tags.count("desc") == 3


def test_no_network_no_scripts(tmp_path, results, make_flips):
    page = write(tmp_path, None, results, make_flips())
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    for word in ("<script", "http://", "https://", "url(", "@import", "src="):
        assert word not in page.replace("http://www.w3.org/2000/svg", "").replace("&lt;script", "")


def hostile_flip(text: str):
    example = Example(0, text, {"text": text, text: text}, text, {text: text})
    varied = {"text": text + " x", text: text}
    variant = Variant(0, text, 0, text, text, "same", varied, {text: [text]}, text)
    return Flip(example, variant, Output(text), Output({"intent": text, "slots": [text]}), True, False)


def hostile_results(text: str, make_results, make_block, make_estimate):
    block = make_block(0.9, 0.5, 0.3, 0.4)
    signed = msgspec.structs.replace(make_estimate(0.9), signature=text)
    return make_results(
        score=text,
        task=text,
        suite=text,
        system=text,
        clean=signed,
        sets={"operator": {text: block}, "family": {text: block}, text: {text: block}},
        grid={text: {f"{text}={text}": signed}},
        scores={text: {text: signed}},
        validity={text: text, "examples": 3, "failed": 1, "operators": {text: 4}, "warnings": [text]},
    )


def hostile_run(text: str, make_run):
    operators = [{"name": text, "version": text, "params": {text: text}}]
    run = make_run(language=text, task=text, labels=[text], operators=operators, hashes={text: text}, plan=text)
    run.path = run.suite.path = Path(text)
    run.name = run.suite.name = run.system = run.identity = text
    run.items = lambda: iter([(None, Output(error=text), [])])
    return run


class HostileGate:
    passed, limit, bound = False, 0.5, None

    def __init__(self, text: str) -> None:
        self.name = self.sentence = text


def test_hostile_texts_stay_texts(tmp_path, hostile, make_results, make_block, make_estimate, make_run):
    for text in hostile:
        results = hostile_results(text, make_results, make_block, make_estimate)
        page = write(
            tmp_path,
            hostile_run(text, make_run),
            results,
            [hostile_flip(text)],
            gates=[HostileGate(text)],
            provenance={text: text, "commands": [text]},
        )
        check_harmless(page)
        row = json.loads((tmp_path / "report.flips.jsonl").read_text("utf-8"))
        assert row["example_id"] == text


@pytest.mark.parametrize("name", ['a"><script>.html', "javascript:x.html", "with space & 'quote'.html", "报告.html"])
def test_hostile_file_names(tmp_path, results, make_flips, name):
    write_report(None, results, tmp_path / name, make_flips())
    parsed = check_harmless((tmp_path / name).read_text("utf-8"))
    assert any(link.endswith(".flips.jsonl") and link.startswith("./") for link in parsed.links)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=60))
def test_any_text_stays_text(text, tmp_path, make_results, make_block, make_estimate):
    results = hostile_results(text, make_results, make_block, make_estimate)
    check_harmless(write(tmp_path, None, results, [hostile_flip(text)], gates=[HostileGate(text)]))


def test_a_huge_text_makes_a_small_page(tmp_path, results):
    long = "word " * 2_000_000
    example = Example(0, "huge", {"text": long}, long, {"g": long})
    variant = Variant(0, "huge", 0, "keyboard/adjacent", "keyboard", "same", {"text": long[:-9] + "worx "}, long, long)
    page = write(tmp_path, None, results, [Flip(example, variant, Output(long), Output(long + "x"), True, False)])
    assert len(page) < 100_000
    assert "characters …" in page
    assert (tmp_path / "report.flips.jsonl").stat().st_size > 40_000_000


@pytest.mark.slow
def test_a_hundred_thousand_flips_make_a_small_page(tmp_path, results, make_flips):
    page = write(tmp_path, None, results, make_flips(100_000))
    assert len(page) < 200_000
    assert "100,000 answers change" in page
    with (tmp_path / "report.flips.jsonl").open("rb") as lines:
        assert sum(1 for _ in lines) == 100_000


def test_many_operators_and_slices_make_a_small_page(tmp_path, make_results, make_block, make_estimate):
    names = [f"family/operator_{i}" for i in range(2_000)]
    block = make_block(0.9, 0.5, 0.3, 0.4)
    results = make_results(
        sets={"operator": dict.fromkeys(names, block), "family": {}, "speaker": dict.fromkeys(names, block)},
        grid={name: {f"speaker={j}": make_estimate(0.1) for j in range(100)} for name in names[:100]},
    )
    page = write(tmp_path, None, results, [])
    assert len(page) < 500_000
    assert "more are left out here" in page


def test_nothing_flipped_and_nothing_failed(tmp_path, make_results):
    page = write(tmp_path, None, make_results(validity={"examples": 1, "warnings": []}, grid={}, scores={}), [])
    assert "No answer changes." in page
    assert "No item failed." in page


def test_nothing_measured_is_said_and_not_zero(tmp_path, make_results, make_estimate):
    none = make_estimate(None)
    measures = dict.fromkeys(("clean", "average", "worst", "drop", "flip_rate", "consistency"), none)
    page = write(tmp_path, None, make_results(**measures, sets={}, grid={}, scores={}), [])
    assert "Nothing could be measured" in page
    assert "0.000" not in page


def test_a_read_only_place_is_a_plain_error(tmp_path, results, make_flips):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnswayedError, match="can't be written"):
        write_report(None, results, tmp_path / "file" / "report.html", make_flips())


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_full_disk_is_a_plain_error_and_leaves_nothing_half(tmp_path, results, make_flips, monkeypatch, call):
    (tmp_path / "report.html").write_text("the old one")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(UnswayedError, match="No space left on device"):
        write_report(None, results, tmp_path / "report.html", make_flips())
    assert (tmp_path / "report.html").read_text() == "the old one"
    assert not [f.name for f in tmp_path.iterdir() if "partial" in f.name]


def test_an_error_of_the_data_is_not_called_one_of_the_disk(tmp_path, results):
    def broken():
        raise OSError("the store is gone")
        yield

    with pytest.raises(OSError, match="the store is gone"):
        write_report(None, results, tmp_path / "report.html", broken())
    assert list(tmp_path.iterdir()) == []
