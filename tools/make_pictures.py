"""Writes docs/pictures: the terminal, the report and the page to explore, as `unswayed demo` makes them.

`make pictures` runs it; it needs Chromium. Pictures are made again when what they show changes.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any

TO = Path(__file__).parents[1] / "docs/pictures"
WIDTH, ROWS, COLUMNS = 1100, 14, 100
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-background-networking", f"--window-size={WIDTH},900")  # fmt: skip


def command(*words: str, cwd: Path) -> str:
    env = {**os.environ, "COLUMNS": str(COLUMNS), "SOURCE_DATE_EPOCH": "1767225600"}
    done = subprocess.run([sys.executable, "-m", "unswayed", *words], cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def terminal(shown: str) -> str:
    """A terminal with the command and the first lines that it prints, as SVG."""
    lines = ["$ unswayed demo", *_wrapped(shown)][:ROWS]
    spans = "".join(
        f'<text x="16" y="{44 + 19 * n}"{" class=c" if line.startswith("$") else ""} xml:space="preserve">{escape(line)}</text>'
        for n, line in enumerate(lines)
    ).replace("class=c", 'class="c"')
    height = 58 + 19 * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}" role="img" '
        f'aria-label="unswayed demo in a terminal"><style>text{{font:14px ui-monospace,Menlo,Consolas,monospace;'
        f'fill:#d6deeb}}.c{{fill:#7fdbca}}</style><rect width="860" height="{height}" rx="8" fill="#011627"/>'
        f'<circle cx="20" cy="16" r="5" fill="#ef5350"/><circle cx="38" cy="16" r="5" fill="#ffca28"/>'
        f'<circle cx="56" cy="16" r="5" fill="#66bb6a"/>{spans}</svg>\n'
    )


def _wrapped(text: str) -> list[str]:
    found = []
    for line in text.rstrip().split("\n"):
        while len(line) > COLUMNS and "─" not in line and "  " not in line:
            at = line.rfind(" ", 0, COLUMNS)
            found.append(line[:at])
            line = line[at + 1 :]
        found.append(line[:COLUMNS])
    return found


def browser() -> Any:
    from selenium import webdriver

    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        sys.exit("Pictures need Chromium: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def picture(driver: Any, page: Path, height: int) -> bytes:
    driver.set_window_size(WIDTH, height)
    driver.get(page.as_uri())
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 80})
    return base64.b64decode(shot["data"])


def main() -> None:
    TO.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (TO / "terminal.svg").write_text(terminal(command("demo", "-o", "demo", cwd=place)), encoding="utf-8")
        command("view", "demo/run", "-o", "view.html", cwd=place)
        driver = browser()
        try:
            (TO / "report.webp").write_bytes(picture(driver, place / "demo/report.html", 900))
            (TO / "view.webp").write_bytes(picture(driver, place / "view.html", 900))
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
