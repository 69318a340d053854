"""Texts and names that are markup, formulas, paths or control codes: in pages and exports they stay texts."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import commands
import httpx
import pytest
from hypothesis import given, strategies as st

from unswayed.base.values import Example, Variant
from unswayed.collect.items import make_study
from unswayed.collect.owner import open_session
from unswayed.collect.people import consent, hashed, invite
from unswayed.collect.site import signed
from unswayed.collect.study import read_study
from unswayed.measure.measuring import measure_run
from unswayed.report.html import write_report
from unswayed.report.tables import FORMATS, render
from unswayed.run.engine import run_system
from unswayed.storage.suite import Manifest, write_suite
from unswayed.storage.suite_jsonl import export_suite

from .conftest import collecting
from .mutate import fuzz

MARK = "document.body.id='pwned'"
TEXTS = [
    f"<script>{MARK}</script>",
    f"<img src=x onerror={MARK}>",
    f'"><svg onload={MARK}>',
    f"'-{MARK}-'",
    f"javascript:{MARK}",
    f"]]><script>{MARK}</script><![CDATA[",
    f"</style></title></textarea></bdi><script>{MARK}</script>",
    f"{{{{ {MARK} }}}}{{% raw %}}",
    f'<a href="javascript:{MARK}">x</a><iframe srcdoc="<script>{MARK}</script>">',
    '=HYPERLINK("http://x.invalid")',
    *("+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "../../../escape", "/tmp/unswayed-escape", "..\\..\\x", "a\0b", "~/x"),
    *("\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\u2028\u2029", "𒐫" * 50, "]|[x](http://x.invalid)|`", "%0d%0aX: y"),
]
CSP = "Content-Security-Policy"
FORBIDDEN = ("iframe", "object", "embed", "base", "applet", "frame", "frameset", "img", "foreignobject", "use")


class Checker(HTMLParser):
    """Collects whatever could run in a page, or lead out of it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self._in_script = tag == "script"
        if tag in FORBIDDEN or given.get("http-equiv", CSP) != CSP:
            self.found.append(f"<{tag} {given}>")
        if tag in ("script", "link") and not (given.get("src") or given.get("href") or "").startswith("/static/"):
            self.found.append(f"<{tag} {given}>")
        for name, value in attributes:
            target = re.sub(r"[\s\0-\x20]", "", value or "").lower()
            if name.startswith("on") or name in ("srcdoc", "style", "formaction"):
                self.found.append(f"{name}={value}")
            if name in ("href", "src", "action", "xlink:href") and re.match(r"(?!https?:|mailto:)[a-z+.-]+:", target):
                self.found.append(f"{name}={value}")

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.found.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False


def harmful(page: str) -> list[str]:
    checker = Checker()
    checker.feed(page)
    checker.close()
    return checker.found


def test_the_checker_sees_harm() -> None:
    for text in TEXTS[:3] + TEXTS[8:9] + [f"<p style=\"x\" onclick='{MARK}'>", "<a href=' java\nscript:x'>"]:
        assert harmful(f"<p>{text}</p>"), text
    assert not harmful("<p>&lt;script&gt;</p><a href='./x.jsonl'>x</a>")


def suite_of(folder: Path, texts: list[str], gold: str | None = None) -> Any:
    """A suite whose every name and text, and its gold unless it is given, is one of these."""
    golds = texts if gold is None else [gold] * len(texts)
    examples = [
        Example(i, f"{text}{i}", {"text": text, text or "empty": text}, golds[i], {text or "g": text})
        for i, text in enumerate(texts)
    ]
    variants = [
        Variant(i, e.id, 0, f"{text}x", f"{text}y", "same", {**e.inputs, "text": f"{text}!"}, e.gold, text)
        for i, (e, text) in enumerate(zip(examples, texts, strict=True))
    ]
    manifest = Manifest(task="classify", language="en", unchanged={text or "x": 1 for text in texts})
    return write_suite(folder, manifest, lambda: examples, lambda: variants, overwrite=True)


def answers(batch: list[dict[str, str]]) -> list[str]:
    """Right for some originals, the text itself for others, and now and then a failure that tells it."""
    return [inputs["text"] if len(inputs["text"]) % 3 else "a" for inputs in batch]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "inside"
    folder.mkdir()
    suite_of(folder / "suite", TEXTS)
    (folder / "my_module.py").write_text(
        "def predict(batch):\n"
        "    if any(len(i['text']) % 5 == 0 for i in batch):\n"
        "        raise ValueError(' '.join(i['text'] for i in batch))\n"
        "    return [i['text'] for i in batch]\n"
    )
    return folder


def test_nothing_runs_in_a_report_and_nothing_leaves_its_place(place: Path) -> None:
    outside = sorted(os.listdir(place.parent)), sorted(os.listdir("/tmp"))
    run = [
        "run",
        "suite",
        "--system",
        "my_module:predict",
        "--bootstrap",
        "50",
        "--junit",
        "junit.xml",
        "-o",
        "run",
        "--retries",
        "0",
    ]
    done = commands.unswayed(*run, cwd=place)
    assert done.returncode == 3, done.stderr  # some of the items fail
    assert "\x1b" not in done.stdout + done.stderr
    report = "report run -o report.html --bootstrap 50"
    commands.unswayed(*report.split(), cwd=place)
    page = (place / "report.html").read_text()
    assert harmful(page) == []
    assert "onerror" in page, "the texts are there, as texts"
    ElementTree.parse(place / "junit.xml")
    assert (sorted(os.listdir(place.parent)), sorted(set(os.listdir("/tmp")) & {"unswayed-escape", "escape"})) == (
        outside[0],
        [],
    )


@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_in_tables_controls_a_terminal_or_a_page(place: Path, tmp_path: Path, format_: str) -> None:
    suite = suite_of(tmp_path / "suite", TEXTS)
    shown = render(measure_run(run_system(suite, answers, tmp_path / "run"), {"measure": {"bootstrap": 20}}), format_)
    controls = r"[\x00-\x09\x0b-\x1f]" if "json" in format_ else r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]"
    assert not re.search(controls, shown)
    if format_ == "md":
        assert harmful(shown) == []


def test_exports_stay_in_their_folder(tmp_path: Path) -> None:
    """Files are named after operators, whose names come from outside."""
    suite_of(tmp_path / "x" / "suite", [text for text in TEXTS if "\0" not in text], gold="a")
    for name in ("lm_eval", "inspect_ai", "datasets"):
        done = commands.unswayed("export", tmp_path / "x" / "suite", "--as", name, "-o", tmp_path / "x" / name)
        assert "Traceback" not in done.stderr
        assert done.returncode == 0, done.stderr
    there = {file.relative_to(tmp_path).parts[0] for file in tmp_path.rglob("*")}
    assert there <= {"x"}
    assert not Path("/tmp/unswayed-escape").exists()


def test_no_spreadsheet_is_written() -> None:
    """JSON lines, Parquet, JSON, Markdown and pages have no formulas. Whoever adds CSV has to see to them first.

    Augmented training data is the user's own table, in the format that it came in: programs read it, and a mark before
    `=` would be learnt.
    """
    source = Path(__file__).parents[2] / "src"
    writers = re.compile(r"csv\.(writer|DictWriter)|to_csv|text/csv|write_csv|openpyxl|xlsxwriter")
    found = [file.name for file in source.rglob("*.py") if writers.search(file.read_text("utf-8"))]
    assert found == ["augment.py"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not installed")
def test_nothing_runs_in_a_browser(place: Path, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", TEXTS)
    run = run_system(suite, answers, tmp_path / "run")
    page = write_report(run, measure_run(run, {"measure": {"bootstrap": 20}}), tmp_path / "report.html")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    for file, expected in ((tmp_path / "control.html", True), (page, False)):
        (tmp_path / "control.html").write_text(f"<body>{TEXTS[0]}{TEXTS[1]}</body>")
        command = ["chromium", *flags, "--virtual-time-budget=3000", "--dump-dom", file.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert ('id="pwned"' in done.stdout) is expected, done.stderr[-500:]


def test_nothing_runs_in_the_pages_of_a_study(tmp_path: Path) -> None:
    """Items, people, the title, the consent and the answers are all from outside."""
    bad = TEXTS[0] + TEXTS[1] + TEXTS[2] + TEXTS[6]
    items = [{"id": f"{text}{n}".replace("\0", ""), "text": text} for n, text in enumerate(TEXTS)]
    file = collecting.write_study(tmp_path / "study", "retype", items, assign=f"k = 1\nstrata = [{json.dumps(bad)}]")
    text = file.read_text().replace('"A study"', json.dumps(bad)).replace('"We keep what you type."', json.dumps(bad))
    file.write_text(text.replace('"me@example.org"', json.dumps(bad)))
    study = read_study(file)
    store, _, _ = make_study(study)
    server = collecting.Served(study, store)
    try:
        token = store.write(lambda tx: invite(tx, study, TEXTS[0], bad))
        store.write(lambda tx: consent(tx, TEXTS[0], {"ime": bad}, 1.0))
        csrf = signed(server.site.secret, hashed(token))
        cookies = {"token": token, "owner": server.store.write(open_session)}
        with httpx.Client(base_url=server.url, cookies=cookies, follow_redirects=True) as http:
            pages = [
                http.get(path) for path in ("/", f"/i/{token}", "/consent", "/admin", "/admin/answer?person=%3Cb%3E")
            ]
            for _ in range(len(items)):
                task = http.get("/task")
                pages.append(task)
                item = re.search(r'data-item="([^"]*)"', task.text)
                if item is None:
                    break
                said = {"item": html.unescape(item[1]), "answer": {"text": bad}, "log": []}
                pages.append(http.post("/answer", json=said, headers={"x-csrf": csrf}))
            pages.append(http.get("/admin"))
        for page in pages:
            assert page.status_code < 500
            assert "script-src 'self'" in page.headers["content-security-policy"]
            if "html" in page.headers.get("content-type", ""):
                assert harmful(page.text) == [], page.url
        assert any("onerror" in page.text for page in pages)
    finally:
        server.stop()
        store.close()


def test_random_texts_in_a_report(tmp_path: Path) -> None:
    pieces = st.sampled_from([*TEXTS, "<", ">", "&", '"', "'", "/", "script", "=", "\\", "\0", "-->", "<!--"])

    @fuzz(12)
    @given(
        st.lists(
            st.lists(pieces | st.text(max_size=5), min_size=1, max_size=4).map("".join),
            min_size=1,
            max_size=4,
            unique=True,
        )
    )
    def attack(texts: list[str]) -> None:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        suite = suite_of(tmp_path / "suite", texts)
        run = run_system(suite, answers, tmp_path / "run")
        page = write_report(run, measure_run(run, {"measure": {"bootstrap": 5}}), tmp_path / "report.html")
        assert harmful(page.read_text()) == []
        export_suite(suite, tmp_path / "suite.jsonl")
        assert len((tmp_path / "suite.jsonl").read_text().split("\n")) == 2 + 2 * len(texts)

    attack()
