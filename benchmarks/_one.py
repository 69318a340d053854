"""One benchmark in a process of its own: `python -m benchmarks._one NAME rows` prints its rows as JSON, last."""

from __future__ import annotations

import importlib
import sys

import msgspec

from benchmarks._measure import LeftOut


def main(name: str, function: str) -> None:
    try:
        rows = list(getattr(importlib.import_module(f"benchmarks.{name}"), function)())
        print("\n" + msgspec.json.encode({"rows": rows}).decode())
    except LeftOut as reason:
        print("\n" + msgspec.json.encode({"rows": [], "left_out": str(reason)}).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
