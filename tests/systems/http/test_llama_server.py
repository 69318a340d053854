"""Runs against llama.cpp's server, which is killed and started again; what it says is held beside PyTorch."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unswayed.run.making import make_suite
from unswayed.run.record import Run
from unswayed.systems.template import Template

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[3] / "docs" / "http.md"
SECTION = "## Your own language model, behind a server\n"
UNSWAYED = [sys.executable, "-m", "unswayed"]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)


def section() -> str:
    """The part of the page that these tests hold to be true."""
    return PAGE.read_text(encoding="utf-8").split(SECTION)[1].split("\n## ")[0]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the section's files and suite."""
    place = tmp_path_factory.mktemp("page")
    for _, text in _FENCE.findall(section()):
        first, _, rest = text.partition("\n")
        if first.startswith("# file: "):
            (place / first.removeprefix("# file: ")).write_text(rest, encoding="utf-8")
    for command in commands("console"):
        subprocess.run(command, cwd=place, check=True, capture_output=True)
    return place


def commands(kind: str) -> list[list[str]]:
    """The section's own calls of unswayed."""
    blocks = [text for found, text in _FENCE.findall(section()) if found == kind]
    lines = [line.removeprefix("$ ") for text in blocks for line in text.splitlines()]
    return [[*UNSWAYED, *shlex.split(line)[1:]] for line in lines if line.startswith("unswayed ")]


@pytest.fixture(scope="module")
def llama(page: Path, taught: Any) -> Any:
    rows = [json.loads(line) for line in (page / "said.jsonl").read_text().splitlines()]
    prompt = Template.read(str(page / "lights.txt"))
    model = taught([(prompt.fill({"text": row["text"]}), row["label"]) for row in rows])
    model.save(page / "tiny.gguf")
    return model


def test_the_page_is_true(page: Path, llama: Any, served: Callable[[Path], Any]) -> None:
    server = served(page / "tiny.gguf")
    asked = []
    for command in commands("sh"):
        told = [part.replace("http://127.0.0.1:8080/v1", server.url) for part in command]
        done = subprocess.run(told, cwd=page, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        asked += re.findall(r"Used: .*?requests (\d+)", done.stderr)
    assert len(asked) == 2
    assert int(asked[1]) - int(asked[0]) == 32  # of the run in all: the second time only stored answers are checked
    same_as_torch(page / "run", llama, page)


def test_a_server_that_comes_back_in_time_costs_nothing(
    page: Path, llama: Any, served: Callable[[Path], Any], tmp_path: Path
) -> None:
    many(page, tmp_path)
    server = served(page / "tiny.gguf")
    running = subprocess.Popen(run(server, page, tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    killed_at_work(server, running)
    assert running.poll() is None  # it waits
    server.start()
    _, told = running.communicate(timeout=120)
    assert running.returncode == 0, told.decode()
    assert int(re.findall(rb"retries (\d+)", told)[0]) > 0
    same_as_torch(tmp_path / "run", llama, page)


def test_a_server_that_stays_away_leaves_a_run_that_goes_on(
    page: Path, llama: Any, served: Callable[[Path], Any], tmp_path: Path
) -> None:
    many(page, tmp_path)
    server = served(page / "tiny.gguf")
    command = [*run(server, page, tmp_path), "--retries", "0", "--canary", "0"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    killed_at_work(server, running)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 3, told.decode()
    first = outputs(tmp_path / "run")
    lacking = [text for text, said in first.items() if said is None]
    assert 0 < len(lacking) < len(first)
    server.start()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    same_as_torch(tmp_path / "run", llama, page)
    second = outputs(tmp_path / "run")
    assert server.written() == sum(llama.length(second[text]) for text in lacking)  # and was asked nothing else


def many(page: Path, place: Path) -> None:
    make_suite(page / "said.jsonl", ["keyboard/adjacent", "spoken/filler_end"], draws=60, seed=3, to=place / "suite")


def run(server: Any, page: Path, place: Path) -> list[str]:
    told = ["run", str(place / "suite"), "--system", server.url, "--model", "tiny", "-o", str(place / "run")]
    return [*UNSWAYED, *told, "--prompt", str(page / "lights.txt"), "--concurrency", "2"]


def killed_at_work(server: Any, running: subprocess.Popen[bytes]) -> None:
    """Kills the server once it has written a few answers."""
    while (server.written() or 0) < 40:
        assert running.poll() is None, "the run was over too soon"
        time.sleep(0.005)
    server.kill()


def outputs(folder: Path) -> dict[str, Any]:
    """Text → what the model said of it, or None."""
    found = {}
    for example, output, variants in Run(folder).items():
        for asked, said in ((example, output), *variants):
            found[asked.inputs["text"]] = said.value if said.ok else None
    return found


def same_as_torch(folder: Path, llama: Any, page: Path) -> None:
    prompt = Template.read(str(page / "lights.txt"))
    found = outputs(folder)
    assert found == {text: llama.answer(prompt.fill({"text": text})) for text in found}
    assert set(found.values()) == {"lights", "music"}
