"""The page to explore with 100,000 changed answers: its size, and how long Chromium takes to filter and search it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks._measure import Row, show
from unswayed.base.values import Example, Variant
from unswayed.report.view import write_view
from unswayed.run.engine import run_system
from unswayed.storage.suite import Manifest, write_suite

FLIPS = 100_000
DRAWS = 10
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"
)
STEPS = {
    "search": "const s = document.getElementById('search'); s.value = 'wend'; s.dispatchEvent(new Event('input'));",
    "filter": "const o = document.querySelector('select[name=gold]'); o.selectedIndex = 2; "
    "o.dispatchEvent(new Event('change'));",
}


def page(place: Path) -> Path:
    """A run whose every variant changes the answer, with texts of about a hundred characters."""
    rng = Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    texts = [" ".join(rng.choices(words, k=17)) for _ in range(FLIPS // DRAWS)]
    examples = [
        Example(i, f"e{i}", {"text": text}, f"label{i % 20}", {"slice": f"s{i % 7}"}) for i, text in enumerate(texts)
    ]

    def variants() -> Iterator[Variant]:
        for example in examples:
            for draw in range(DRAWS):
                parts = example.inputs["text"].split(" ")
                parts[draw] += "wend"
                text = {"text": " ".join(parts)}
                yield Variant(
                    example.row, example.id, draw, f"keyboard/k{draw}", "keyboard", "same", text, example.gold, ""
                )

    suite = write_suite(place / "suite", Manifest(task="classify", language="en"), lambda: examples, variants)
    run = run_system(suite, lambda batch: [f"label{len(item['text']) % 20}" if "wend" in item["text"] else "label0"
                                           for item in batch], place / "run")  # fmt: skip
    return write_view(run, place / "view.html")


def rows() -> Iterator[Row]:
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    with tempfile.TemporaryDirectory() as place:
        made = page(Path(place))
        what = f"{FLIPS:,} changed answers"
        yield Row(name="view: size", what=what, unit="MB", ours=made.stat().st_size / 1e6, asked=50, more=False)
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS.split(" "), f"--user-data-dir={place}/profile"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        driver.get(made.as_uri())
        WebDriverWait(driver, 300).until(lambda one: one.execute_script("return document.body.dataset.ready"))
        for name, script in STEPS.items():
            driver.execute_script(script)
            taken = float(driver.execute_script("return document.body.dataset.filtered"))
            yield Row(name=f"view: {name}", what=f"{what}, in Chromium", unit="ms", ours=taken, asked=100, more=False)
            driver.execute_script(
                "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
            )
        driver.quit()


def main() -> None:
    show("view", rows())


if __name__ == "__main__":
    main()
