"""The documentation site builds, its links lead somewhere, and its pages ask nothing of other servers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(to)],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return to


def test_every_page_is_there(site: Path) -> None:
    from unswayed.vary import operators

    for page in (ROOT / "docs").glob("*.md"):
        assert (site / ("index.html" if page.stem == "index" else f"{page.stem}/index.html")).exists(), page.name
    for name in operators.names():
        shown = (site / "operators" / name.replace("/", "_") / "index.html").read_text(encoding="utf-8")
        assert f"--with {name}" in re.sub(r"<[^>]+>", "", shown)


def test_llms_txt_is_at_the_root_and_its_links_lead_somewhere(site: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert len(links) > 30
    assert [link for link in links if not (site / link).exists()] == []


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(r'<(?:script|img|iframe|source)[^>]+src="(https?:)?//|<link[^>]+rel="stylesheet"[^>]+//')
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page


def test_a_broken_link_stops_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("[nowhere](nowhere.md)\n")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = re.sub(r"^nav:.*", "nav:\n  - index.md\n", settings, flags=re.S | re.M)
    (tmp_path / "mkdocs.yml").write_text(re.sub(r"^hooks:\n.*\n", "", settings, flags=re.M))
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path / "site")],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr
