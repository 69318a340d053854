"""What was measured last, when and where: `benchmarks/results.json`, from which the docs' table and chart are made."""

from __future__ import annotations

import datetime
import os
import platform
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from benchmarks._chart import growth_chart, ratios_chart
from benchmarks._measure import ROOT, Row, table

FILE = ROOT / "benchmarks/results.json"
PAGE = ROOT / "docs/benchmarks.md"
RATIOS, GROWTH = ROOT / "docs/benchmarks.svg", ROOT / "docs/scaling.svg"
_PART = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end of measured -->)", re.S)
# The rows that the page shows: what users ask for. All others are in `results.json` only. Those of `operators` compare
# second draws of the same texts, and several did not hold on new texts with as many edits: `equal_work` replaces them.
SHOWN: dict[str, tuple[str, ...]] = {
    "equal_work": (
        *("typos, 1 letter: fast_aug", "typos, protected: fast_aug", "typos, 5 letters: fast_aug"),
        *("typos, to disk: fast_aug", "typos, 1 letter: langtest", "typos, 1 letter: nlpaug"),
        *("typos, 9 letters: nlpaug", "typos, vary_text: nlpaug", "sound-alikes: langtest", "fillers: helm"),
        *("ocr: fasttextaug", "synonyms: langtest", "case: langtest", "punctuation: langtest", "cold: fast_aug"),
        *("list operators", "memory: synonyms", "http: aiohttp"),
    ),
    "memory": (
        "vary typos",
        "speed: `unswayed run` 1000000",
        "speed: `unswayed measure` 1000000",
        "speed: `unswayed report` 1000000",
        "`unswayed report` 1000000",
    ),
    "overhead": ("of its own",),
    "measures": ("0/1 scores",),
    "mixed": ("100,000: lme4",),
    "scaling": ("whole run 1→2",),
    "footprint": ("install: textattack", "import: nlpaug"),
    "collect": ("answers",),
}
LIBRARIES = ("unswayed", "numpy", "scipy", "statsmodels", "rapidfuzz", "httpx", "torch", "ray")


class Entry(msgspec.Struct, omit_defaults=True):
    """One benchmark's rows and how they came about."""

    date: str
    seconds: float
    load: float  # the machine's load average before it began
    rows: list[Row]
    left_out: str = ""
    long: bool = False  # measured by name or with --all, not every time
    by_hand: bool = False  # measured by a reviewer's script, not by a benchmark of this folder


class Results(msgspec.Struct):
    machine: dict[str, str] = {}
    versions: dict[str, str] = {}
    benchmarks: dict[str, Entry] = {}

    def rows(self, long: bool | None = None) -> Iterator[tuple[str, Row]]:
        for name, entry in sorted(self.benchmarks.items()):
            if long is None or entry.long == long:
                for row in entry.rows:
                    yield name, row

    def row(self, benchmark: str, name: str) -> Row | None:
        return next((row for b, row in self.rows() if b == benchmark and row.name == name), None)


def read(file: Path = FILE) -> Results:
    return msgspec.json.decode(file.read_bytes(), type=Results) if file.exists() else Results()


def write(results: Results) -> None:
    """Keeps the results and makes the docs from them."""
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    write_docs(results)


def write_docs(results: Results) -> None:
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_PART.sub(lambda _: measured_part(results), page), encoding="utf-8")
    for file, chart in charts(results).items():
        file.write_text(chart, encoding="utf-8")


def charts(results: Results) -> dict[Path, str]:
    def of(name: str) -> list[Row]:
        return [row for benchmark, row in results.rows() if benchmark.split()[0] == name]

    speeds = [msgspec.structs.replace(row, name=row.name.removeprefix("speed: ")) for row in of("memory")]
    growing = {
        "Variants a CPU second, beyond what any number takes": of("scaling"),
        "Variants a CPU second, whole commands": [row for row in speeds if row.unit == "variants/CPU s"],
        "Peak memory": [row for row in of("memory") if row.unit == "MB"],
    }
    return {RATIOS: ratios_chart(list(shown_rows(results))), GROWTH: growth_chart(growing)}


def shown_rows(results: Results) -> Iterator[tuple[str, Row]]:
    """The rows that the page shows, in the order of SHOWN."""
    for benchmark, names in SHOWN.items():
        rows = [row for name, row in results.rows() if name == benchmark]
        yield from ((benchmark, row) for name in names for row in rows if name == row.name)


def docs_part(page: str) -> str:
    """What the page has between its marks."""
    found = _PART.search(page)
    return found.group() if found else ""


def measured_part(results: Results) -> str:
    quick = [entry for entry in results.benchmarks.values() if not entry.long]
    dates = sorted({entry.date[:10] for entry in quick})
    minutes = sum(entry.seconds for entry in quick) / 60
    loads = [entry.load for entry in quick]
    lines = [
        f"{'; '.join(results.machine.values())}. Measured on {' and '.join(dates)} in {minutes:.0f} minutes; load"
        f" average {min(loads, default=0):.1f} to {max(loads, default=0):.1f} before each.",
        "",
        *table(shown_rows(results)),
        "",
    ]
    lines += ["Versions: " + ", ".join(f"{name} {number}" for name, number in results.versions.items()) + ".", ""]
    return "\n".join(lines)


def machine() -> dict[str, str]:
    names = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    kilobytes = [int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    return {
        "processor": f"{os.cpu_count()} cores of {names[0] if names else platform.processor() or platform.machine()}",
        "memory": f"{sum(kilobytes) / 2**20:.0f} GiB",
        "python": f"{platform.system()}, Python {platform.python_version()}",
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if os.path.exists(path) else []


def library_versions(names: Iterable[str] = LIBRARIES) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")
