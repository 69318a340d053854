"""What every benchmark measures with: the row that it gives to the table, CPU time, and processes of their own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"  # corpora that are not ours to ship
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class LeftOut(Exception):
    """Says why a benchmark can't be measured here, such as a corpus that is not there."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """One figure of ours, alone or beside a peer's on the same input."""

    name: str  # unique in its benchmark: what the README's figures refer to
    what: str
    ours: float | None
    unit: str = ""
    peer: str = ""
    theirs: float | None = None
    more: bool = True  # is more better?
    asked: float | None = None  # at least so much, or at most where less is better
    note: str = ""
    by_chance: float = 0.0  # by how much a simulated figure may miss what is asked

    @property
    def ratio(self) -> float | None:
        """How many times as good as the peer's; shares and their like have none."""
        if self.unit == "times":
            return self.ours
        if not self.ours or not self.theirs or self.unit in ("%", "AUC"):
            return None
        return self.ours / self.theirs if self.more else self.theirs / self.ours

    @property
    def met(self) -> bool:
        """Is it what was asked, if anything was?"""
        return self._gap <= self.by_chance

    @property
    def verdict(self) -> str:
        """The same in words; a figure that falls short, but by no more than chance may do, is not said to be met."""
        return "met" if self._gap <= 0 else "within chance" if self.met else "**missed**"

    @property
    def _gap(self) -> float:
        """By how much it falls short."""
        if self.ours is None or self.asked is None:
            return 0.0
        return self.asked - self.ours if self.more else self.ours - self.asked


def figure(value: float | None) -> str:
    """Three digits that count, or a whole number."""
    if value is None:
        return "–"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):.10f}".rstrip("0").rstrip(".") if abs(value) >= 1e-4 else f"{value:.1e}"


COLUMNS = ("benchmark", "what", "unit", "ours", "peer", "peer's", "ours is better by", "asked", "note")


def table(rows: Iterable[tuple[str, Row]]) -> list[str]:
    """Lines of Markdown for rows, each with the name of its benchmark."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---:|---|---:|---:|---:|---|"]
    for benchmark, row in rows:
        asked = "" if row.asked is None else f"{'≥' if row.more else '≤'} {figure(row.asked)}"
        cells = (
            f"`{benchmark}`",
            row.what,
            row.unit,
            figure(row.ours),
            row.peer,
            figure(row.theirs) if row.peer else "",
            f"{figure(row.ratio)}×" if row.ratio else "",
            f"{asked} {row.verdict}" if asked else "",
            f"{row.note} (± {figure(row.by_chance)} by chance)" if row.by_chance else row.note,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def show(benchmark: str, rows: Iterable[Row]) -> None:
    print("\n".join(table((benchmark, row) for row in rows)), flush=True)


def needs(path: Path) -> Path:
    if not path.exists():
        raise LeftOut(f"{path.resolve()} is not here")
    return path


def say(text: str) -> None:
    """Progress, beside the results."""
    print(f"  … {text}", file=sys.stderr, flush=True)


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time, which others on the machine change least, of this process and of those it starts and waits for."""
    began = time.process_time() + cpu_of_children()
    work()
    return time.process_time() + cpu_of_children() - began


def wall_seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_turns(
    ways: Mapping[str, Callable[[], object]],
    rounds: int = 3,
    clock: Callable[[Callable[[], object]], float] = cpu_seconds,
) -> dict[str, float]:
    """The median time of each way. They take turns, so that all see the same machine."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            taken[name].append(clock(work))
    return {name: median(times) for name, times in taken.items()}


def run(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """A program on one thread; what it said is in the error if it fails."""
    environment = {**os.environ, **ONE_THREAD, **options.pop("env", {})}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, **options)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} exits {done.returncode}: {last_words(done.stderr or done.stdout)}")
    return done


def last_words(said: str) -> str:
    """The line of an error's output that says most."""
    lines = [line.strip() for line in said.splitlines() if line.strip(" *\t")]
    return next((line for line in lines if "not found" in line), lines[-1] if lines else "no message")[:200]


def script(code: str, *arguments: object, python: str | Path = sys.executable) -> Any:
    """What a script in a process of its own prints as JSON in its last line."""
    done = run([python, "-c", code, *map(str, arguments)], cwd=ROOT)
    return json.loads(done.stdout.splitlines()[-1])


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_megabytes() -> float:
    """Of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def folder_megabytes(folder: Path) -> float:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and not f.is_symlink()) / 1e6
