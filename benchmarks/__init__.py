"""Figures, measured: each module prints a table; `python -m benchmarks` runs all of them."""
