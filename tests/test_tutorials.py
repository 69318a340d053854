"""The tutorials are notebooks that run from top to bottom, in an empty folder and without the network."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs/tutorials").glob("*.ipynb"))
TOOL = runpy.run_path(str(ROOT / "tools/make_notebooks.py"))


def test_there_are_six() -> None:
    names = {"chinese_pairs", "classifier", "collecting", "metric", "ner", "prompt"}
    assert {file.stem for file in NOTEBOOKS} == names
    page = (ROOT / "docs/howto.md").read_text("utf-8")
    assert all(f"tutorials/{name}.ipynb" in page for name in names)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_it_runs_and_is_made_from_its_script(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(file.read_text("utf-8"))["cells"]]
    assert cells == TOOL["cells"](file.with_suffix(".py").read_text("utf-8")), "run `make notebooks`"
    names: dict[str, Any] = {"__name__": "__main__"}
    said = [TOOL["run"](text, names) for kind, text in cells if kind == "code"]
    assert any("\n" in text.strip() for text in said), "a notebook shows something"
