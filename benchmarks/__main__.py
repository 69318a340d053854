"""Runs every benchmark, or those named: `python -m benchmarks overhead measures`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    names = sys.argv[1:] or sorted(f.stem for f in HERE.glob("[!_]*.py"))
    for name in names:
        print(f"\n## {name}\n", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
