"""Lighthouse, in a real Chromium, finds the pages that people open accessible."""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import unswayed

ROOT = Path(__file__).parents[1]
LIGHTHOUSE = Path(sys.prefix) / "lighthouse/node_modules/lighthouse/cli/index.js"
FLAGS = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking"
LEAST = 95
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo's report, its page to explore, a comparison and the documentation, on the loopback."""
    place = tmp_path_factory.mktemp("pages")
    unswayed("demo", "-o", "demo", cwd=place, check=True)
    shutil.copy(place / "demo/report.html", place / "report.html")
    unswayed("view", "demo/run", "-o", "view.html", cwd=place, check=True)
    unswayed("compare", "demo/run", "demo/run", "-o", "compare.html", cwd=place, check=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", str(place / "site")]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    serve = functools.partial(Silent, directory=str(place))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing: requests are not news."""


@pytest.mark.parametrize("page", ["report.html", "view.html", "compare.html", "site/index.html", "site/ci/index.html"])
def test_lighthouse_finds_it_accessible(page: str, pages: str, tmp_path: Path) -> None:
    node = Path(sys.executable).parent / "node"
    chromium = shutil.which("chromium")
    if not (LIGHTHOUSE.is_file() and chromium):
        pytest.skip("Lighthouse or Chromium is not installed")
    program = str(node) if node.is_file() else shutil.which("node")
    options = [
        "--only-categories=accessibility",
        "--output=json",
        "--quiet",
        f"--output-path={tmp_path / 'found.json'}",
    ]
    words = [program, str(LIGHTHOUSE), f"{pages}/{page}", *options, f"--chrome-flags={FLAGS}"]
    env = {**os.environ, "CHROME_PATH": chromium, "HOME": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    wrong = [(audit["id"], audit.get("title")) for audit in found["audits"].values() if audit["score"] == 0]
    score = round(100 * found["categories"]["accessibility"]["score"])

    assert score >= LEAST, wrong
