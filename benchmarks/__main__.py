"""Measures and prints one table: `python -m benchmarks` what is quick, with names those, with --all long ones too.

Every benchmark has a process of its own; one that fails is named, and the others still run. Exits with 1 when one
failed or when a figure in the README is not what was measured.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from benchmarks import _peers, _results
from benchmarks._measure import ONE_THREAD, ROOT, LeftOut, Row, cpu_of_children, table
from benchmarks._readme import CLAIMS, untrue

HOURS = {"rows": 1.0, "long_rows": 3.0}  # after which a benchmark is stopped; installing peers may take long


class Job(NamedTuple):
    name: str
    function: str

    @property
    def key(self) -> str:
        return self.name + (" (long)" if self.function == "long_rows" else "")


class Said(msgspec.Struct):
    rows: list[Row]
    left_out: str = ""


def jobs(names: Sequence[str], long: bool) -> Iterator[Job]:
    """Modules give quick rows, long ones, or both. A name asks for what is quick, or for all there is."""
    files = {file.stem: file for file in sorted((ROOT / "benchmarks").glob("[!_]*.py"))}
    for name in names or files:
        if name not in files:
            raise SystemExit(f"there is no benchmark {name}; there are: {', '.join(files)}")
        given = re.findall(r"^def (rows|long_rows)\(", files[name].read_text(encoding="utf-8"), re.M)
        for function in given or ("rows",):
            if function == "rows" or long or (names and len(given) == 1):
                yield Job(name, function)


def measured(job: Job) -> Said:
    """Its rows; everything that it started ends with it."""
    command = [sys.executable, "-m", "benchmarks._one", *job]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True, env={**os.environ, **ONE_THREAD}
    )
    try:
        out, _ = process.communicate(timeout=HOURS[job.function] * 3600)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"took more than {HOURS[job.function] * 60:.0f} minutes") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise RuntimeError(f"exits {process.returncode}; its message is above")
    return msgspec.json.decode(out.splitlines()[-1], type=Said)


def peers_versions() -> dict[str, str]:
    found = {}
    for name in _peers.ENVIRONMENTS:
        try:
            found |= _peers.versions(name)
        except LeftOut as reason:
            found[name] = str(reason).split(":")[0]
    return found


def run(todo: Sequence[Job], results: _results.Results, save: bool = False) -> list[str]:
    """Measures, puts what it finds into the results, kept after each, and returns what failed."""
    failed = []
    for i, job in enumerate(todo):
        print(f"[{i + 1}/{len(todo)}] {job.key}", file=sys.stderr, flush=True)
        load, began, cpu = os.getloadavg()[0], time.perf_counter(), cpu_of_children()
        try:
            said = measured(job)
        except (RuntimeError, msgspec.MsgspecError, IndexError) as error:
            failed.append(f"{job.key}: {error}")
            print(f"  FAILED: {error}", file=sys.stderr, flush=True)
            continue
        seconds = time.perf_counter() - began
        absent = f", left out: {said.left_out}" if said.left_out else ""
        print(f"  {seconds:.0f} s, CPU {cpu_of_children() - cpu:.0f} s{absent}", file=sys.stderr, flush=True)
        if said.rows or job.key not in results.benchmarks:
            long = job.function == "long_rows"
            entry = _results.Entry(_results.now(), round(seconds, 1), round(load, 2), said.rows, said.left_out, long)
            results.benchmarks[job.key] = entry
            if save:
                _results.write(results)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks; without any, the quick set")
    parser.add_argument("--all", action="store_true", help="those that take long, too")
    parser.add_argument("--save", action="store_true", help="keep the figures in results.json and in the docs")
    parser.add_argument("--write-docs", action="store_true", help="only make the docs from results.json")
    asked = parser.parse_args()
    results = _results.read()
    known = {job.key for job in jobs([], long=True)}
    results.benchmarks = {key: entry for key, entry in results.benchmarks.items() if key in known or entry.by_hand}
    if asked.write_docs:
        _results.write_docs(results)
        return 0
    compileall.compile_dir(ROOT / "src", quiet=1)  # as pip does, also where Python may not write what it compiles
    began, todo = time.perf_counter(), list(jobs(asked.names, asked.all))
    failed = run(todo, results, asked.save)
    done = {job.key for job in todo}
    shown = [(name, row) for name, row in results.rows() if name in done]
    print("\n".join(table(shown)))
    if asked.save:
        results.machine = _results.machine()
        results.versions = _results.library_versions() | peers_versions()
        _results.write(results)
    missed = [f"{name}: {row.what}" for name, row in shown if not row.met]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    false = untrue(readme, results, [claim for claim in CLAIMS if not asked.names or claim.benchmark in done])
    print(f"\n{len(todo)} benchmarks in {(time.perf_counter() - began) / 60:.1f} minutes.", file=sys.stderr)
    for title, found in (("Failed", failed), ("Not what was asked", missed), ("Not true in the README", false)):
        print("".join(f"{title}: {one}\n" for one in found), file=sys.stderr, end="")
    return 1 if failed or false else 0


if __name__ == "__main__":
    sys.exit(main())
