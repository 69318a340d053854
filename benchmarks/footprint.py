"""What an installation weighs and how long it takes to start, in a new environment without extras."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = 9


def megabytes(folder: Path) -> float:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and not f.is_symlink()) / 1e6


def seconds(command: list[str]) -> float:
    """The median of a few times, after one that fills the caches."""
    taken = []
    for _ in range(TIMES + 1):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[1:])


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = f"{place}/bin/python"
        site = next(Path(place).glob("lib/python*/site-packages"))
        empty = megabytes(site)
        subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True, capture_output=True)
        nothing = seconds([python, "-c", "pass"])
        rows = [
            ("core install, MB", megabytes(site) - empty, 150),
            ("import unfazed, s", seconds([python, "-c", "import unfazed"]) - nothing, 0.2),
            ("unfazed --help, s", seconds([f"{place}/bin/unfazed", "--help"]), 0.3),
        ]
    print("| what | measured | at most |\n|---|---|---|")
    for what, value, limit in rows:
        print(f"| {what} | {value:.3g} | {limit} |")


if __name__ == "__main__":
    main()
