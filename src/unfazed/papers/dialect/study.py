"""Dialect-robust evaluation (ACL 2023): do metrics prefer a dialect to a changed meaning? Five tables and Figure 2."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from unfazed.core import AnswerStore, Json, UsageError, write_atomically
from unfazed.measure import TIES
from unfazed.papers.dialect.material import Given as Files
from unfazed.papers.dialect.material import named_files, read_refused, read_trials, write_material
from unfazed.papers.dialect.page import PARTS, TITLE, sections
from unfazed.papers.dialect.tables import WinSettings, hold_together, measured
from unfazed.report import Given, Option, Section, Study, StudyTable, as_markdown, as_page, as_text, render
from unfazed.systems import Metric, Scores, open_system


def _part(name: str, data: Path, given: Given) -> Json:
    return Dialect().run(data, [name], given)


class Dialect(Study):
    """Dialect-robust evaluation (2023): does a metric score another dialect above a changed meaning?

    DIR holds FRMT's files, or `pairs_derived.tsv` with pairs of Indian and US English, or folders of them. A control is
    made of every reference by `meaning/control`. Writes study.json, study.md and study.html, the English
    that a translation system is to translate for --mt and --perturbed, and what people are to judge: `unfazed collect
    new judge.toml` makes a study of it.

    \b
      unfazed study dialect --data frmt/ --metric bleu --metric chrf --format json
      unfazed study dialect --data data/ --metric yisi1 --metric my_module:score --mt pt=pt.txt -o out/
    """

    tables: ClassVar[Mapping[str, StudyTable]] = {name: partial(_part, name) for name in PARTS}
    options = (
        Option("to", "Folder of scores, pages and what is to be judged.", "dialect", short="-o"),
        Option("metric", "A metric of `unfazed metrics list`, or module:function. Repeatable. Default: bleu, chrf, "
               "yisi1.", multiple=True),
        Option("mt", "LANG=FILE: machine translations of LANG.source.txt, one a line. Repeatable.", multiple=True),
        Option("perturbed", "LANG=FILE: machine translations of LANG.perturbed.txt, one a line. Repeatable.",
               multiple=True),
        Option("judged", "FILE that `unfazed collect export` wrote for judge.toml. A control that no majority finds to "
               "change the meaning is left out."),
        Option("ties", "What a tie is: loss, half or drop.", "loss"),
        Option("comparisons", "By how many comparisons Bonferroni's p is multiplied.", 5),
        Option("level", "Confidence level of the intervals.", 0.95),
        Option("seed", "Another seed, other controls.", 0),
    )  # fmt: skip

    def __init__(self) -> None:
        self._sections: list[Section] = []

    def run(self, data: Path, only: Sequence[str] = (), given: Given | None = None) -> dict[str, Json]:
        """By language and metric: success, effect, what was left out, and the paper's numbers.

        `only` chooses the sections of the text and the pages; what is returned is always whole.
        """
        self.check(only)
        given = given or {}
        to = Path(given.get("to") or "dialect")
        metrics = {name: open_system(name, Metric) for name in given.get("metric") or ("bleu", "chrf", "yisi1")}
        files = Files(
            named_files(given.get("mt") or (), "mt"), named_files(given.get("perturbed") or (), "perturbed"),
            read_refused(Path(given["judged"]) if given.get("judged") else None),
        )  # fmt: skip
        trials = read_trials(data, files, int(given.get("seed") or 0))
        settings = _settings(given)
        with AnswerStore.writer(to / "scores") as store:
            opened = {name: Scores(metric, store) for name, metric in metrics.items()}
            found = {
                t.language: {name: measured(t, scores, settings) for name, scores in opened.items()} for t in trials
            }
        hold_together(found)
        for language, entries in found.items():
            for name, entry in entries.items():
                entry["paper"] = _printed(language, name)
                if entry.get("unmeasured"):
                    print(f"{language}, {name}: not measured. {entry['unmeasured']}.", file=sys.stderr)
                _tell(language, name, entry)
        uses = {name: metric.uses for name, metric in metrics.items()}
        self._sections = sections(found, paper(), uses, not files.perturbed, only)
        write_material(to, trials)
        _write(to, found, self._sections)
        return found

    def text(self, found: Mapping[str, Json], format_: str) -> str | None:
        if format_ == "md":
            return as_markdown(TITLE, self._sections)
        if format_ == "jsonl":
            rows = [{"language": lang, "metric": m, **entry} for lang, es in found.items() for m, entry in es.items()]
            return render(rows, "jsonl")
        return as_text(self._sections) if format_ == "table" else render(found, "json")


@cache
def paper() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "paper.toml").read_text(encoding="utf-8"))


def _settings(given: Given) -> WinSettings:
    ties, level = given.get("ties") or "loss", float(given.get("level") or 0.95)
    comparisons = int(given.get("comparisons") or 5)
    if ties not in TIES:
        raise UsageError(f"--ties is one of {', '.join(TIES)}, not {ties!r}.")
    if not 0 < level < 1 or comparisons < 1:
        raise UsageError(f"--level lies between 0 and 1 and --comparisons is 1 or more, not {level} and {comparisons}.")
    return WinSettings(ties, level, comparisons)


def _printed(language: str, metric: str) -> dict[str, Json] | None:
    """What the paper prints for this metric, coefficients on our scale."""
    ours = paper()["ours"].get(metric.partition(":")[0])
    if ours is None or language not in paper()["languages"]:
        return None
    place = paper()["languages"].index(language)
    entry: dict[str, Json] = {"name": ours["name"], "success": paper()["table1"][ours["name"]][place]}
    if ours["name"] in paper()["table2"]:
        value, se = paper()["table2"][ours["name"]][place]
        entry["effect"] = {"value": value * ours["scale"], "se": se * ours["scale"]}
    return entry


def _tell(language: str, metric: str, entry: Mapping[str, Json]) -> None:
    left = ", ".join(f"{count} ({reason})" for reason, count in entry["excluded_by"].items() if count)
    if left:
        print(f"{language}, {metric}: left out {left} of {entry['examples']['all']}", file=sys.stderr)


def _write(to: Path, found: Mapping[str, Json], told: Sequence[Section]) -> None:
    write_atomically(to / "study.json", msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    write_atomically(to / "study.md", as_markdown(TITLE, told).encode())
    write_atomically(to / "study.html", as_page(TITLE, told).encode("utf-8", "xmlcharrefreplace"))
    print(f"The study is in {to / 'study.html'}, study.md and study.json", file=sys.stderr)
