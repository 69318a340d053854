"""A corrector before any system: what is corrected, what is asked, and what the numbers are signed with."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import commands
import pytest

from unswayed.base.errors import SystemBroken
from unswayed.base.values import Inputs, Json
from unswayed.mitigate.correct import Corrected, correct_texts, required_texts
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed, System

MODULE = """
class Library:
    "As pycorrector's correctors are: a list of texts in, a list of mappings out."
    def __init__(self, old="气"): self.old = old
    def correct_batch(self, texts): return [{"source": t, "target": t.replace(self.old, "起")} for t in texts]
class OneByOne:
    def correct(self, text): return {"target": text.replace("气", "起")}
class Numbers:
    def correct(self, text): return 7
library = Library()
def predict(batch): return [inputs["text"] for inputs in batch]
def mend(batch): return [inputs["text"].replace("气", "起") for inputs in batch]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "corrects_here", raising=False)
    Path("corrects_here.py").write_text(MODULE)
    return tmp_path


class Echo(System):
    """Gives back what it was asked."""

    name = identity = "echo"  # type: ignore[assignment]

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return [dict(inputs) for inputs in batch]


@pytest.mark.parametrize(
    "corrector", ["corrects_here:Library", "corrects_here:library", "corrects_here:OneByOne", "corrects_here:mend"]
)
def test_correctors_of_every_kind(corrector: str) -> None:
    system = Corrected(Echo(), corrector)
    assert system.predict([{"a": "对不气", "b": "没关系"}]) == [{"a": "对不起", "b": "没关系"}]
    assert corrector in system.identity
    assert system.identity.startswith("echo after correction by ")


def test_the_question_is_corrected_and_what_it_is_about_is_not() -> None:
    asked = {"question": "对不气", "context": "对不气"}
    assert Corrected(Echo(), "corrects_here:mend").predict([asked]) == [{"question": "对不起", "context": "对不气"}]
    both = Corrected(Echo(), "corrects_here:mend", fields="question, context")
    assert both.predict([asked]) == [{"question": "对不起", "context": "对不起"}]
    assert both.identity != Corrected(Echo(), "corrects_here:mend").identity


def test_a_text_without_an_answer_fails_alone() -> None:
    first, second = Corrected(Echo(), _half).predict([{"text": "bad"}, {"text": "对不气"}])
    assert isinstance(first, Failed)
    assert second == {"text": "对不气"}
    (number,) = correct_texts(open_system("corrects_here:Numbers"), ["x"])
    assert isinstance(number, Failed)
    assert "not a text" in number.error
    with pytest.raises(SystemBroken, match="did not correct text 1"):
        required_texts(open_system("corrects_here:Numbers"), ["x"])


def _half(batch: list[Inputs]) -> list[Json]:
    return [Failed("no", final=True) if inputs["text"] == "bad" else inputs["text"] for inputs in batch]


def test_named_on_one_line_or_by_options() -> None:
    short = open_system("mitigate/correct:corrects_here:predict", corrector="corrects_here:mend", batch_size=3)
    long = open_system("mitigate/correct", system="corrects_here:predict", corrector="corrects_here:mend")
    assert short.identity == long.identity
    assert short.batch_size == 3
    assert short.predict([{"text": "对不气"}]) == ["对不起"]
    assert open_system("mitigate/correct:corrects_here:predict").predict([{"text": "对不气"}]) == ["对不起"]


class _Mends(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["inputs"]
        body = json.dumps({"outputs": [inputs["text"].replace("气", "起") for inputs in asked]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Mends) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}/correct"
        served.shutdown()


def test_a_corrector_behind_a_url(server: str) -> None:
    system = Corrected(Echo(), server)
    assert system.predict([{"text": "对不气"}]) == [{"text": "对不起"}]
    system.close()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.unswayed(*arguments)


def test_on_the_command_line() -> None:
    Path("noisy.txt").write_text("对不气\nhello 🙂\n\n", encoding="utf-8")
    Path("clean.txt").write_text("对不起\nhello 🙂\n\n", encoding="utf-8")
    assert run("correct", "noisy.txt", "-o", "mended.txt").stderr == "Changed 1 of 3 texts.\n"
    assert Path("mended.txt").read_text(encoding="utf-8") == Path("clean.txt").read_text(encoding="utf-8")
    files = ("--source", "noisy.txt", "--gold", "clean.txt", "--pred", "mended.txt")
    scores = json.loads(run("score", "correction", *files, "--format", "json").stdout)
    assert scores["sentence"]["correction"]["f1"]["value"] == 1.0
