"""A page to explore runs in: every changed answer with filters, two runs side by side, many over time; and the page of
a comparison, which needs no script.

The page to explore is one file that works from disk: its data is columns, compressed, and its script may load nothing.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from markupsafe import Markup

from unswayed.base.errors import UsageError, option
from unswayed.base.task import task_named
from unswayed.base.text import ANSWER, figure, interval, label, number, outside, typeset
from unswayed.base.values import Estimate, Example, Json, Output, Variant
from unswayed.measure.changes import Flip, FlipBlock, answers_by_block, as_measured
from unswayed.measure.comparison.outcome import Comparison
from unswayed.measure.comparison.runs import compare
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Results
from unswayed.measure.sentences import plain, slices, summary
from unswayed.report import charts as draw
from unswayed.report.flips import EVERY, kind_of_any
from unswayed.report.html import Cell, ReportTable, href, own_file, template
from unswayed.report.tables import chance
from unswayed.report.view_columns import Columns, Parts, packed_json
from unswayed.run.block import Block
from unswayed.run.record import NOT_ASKED, Run
from unswayed.score import Comparing
from unswayed.storage.files import replacing, write_atomically

_LABELS = 12  # rows and columns of a table of answers against gold
_HERE = "(the data)"  # in whose place a page has its data
_SHOWN = ("clean", "average", "worst", "drop", "flips", "consistency")


def write_view(runs: str | Path | Run | Sequence[str | Path | Run], path: str | Path) -> Path:
    """Writes a page to explore runs in. The last run's changed answers are on it, compared with the first run's.

    Example: `unswayed.write_view(["before/", "after/"], "view.html")`.
    """
    given = [runs] if isinstance(runs, (str, Path, Run)) else list(runs)
    if not given:
        raise UsageError("A view needs at least one run.")
    opened = [run if isinstance(run, Run) else Run(run) for run in given]
    measured = [measure_run(run) for run in opened]
    first, last = opened[0], opened[-1]
    page = _Page(measured[-1], compared=len(opened) > 1)
    for _ in page.gathered(last):
        pass
    versus, changed, history = None, list[Json](), list[Json]()
    if len(opened) > 1 and first.suite.id == last.suite.id:
        compared = compare(first, last)
        changed.append(page.columns.changed(compared.iter_flips()))
        rows = [
            [label(d.set or "all"), d.measure, d.a, d.b, d.difference, d.low, d.high, d.shown]
            for d in compared.differences
        ]
        said = [label(sentence, 1000) for sentence in [*compared.remarks, *compared.sentences]]
        versus = {"sentences": said, "rows": rows}
    for run, one in zip(opened, measured, strict=True) if len(opened) > 1 else ():
        when = datetime.now(UTC)  # of a run in memory; a run in a folder has a time of its own
        if run.path is not None:
            when = datetime.fromtimestamp(os.stat(run.path / "run.json").st_mtime, UTC)
        about = {"name": label(Path(run.name).name), "system": label(run.system), "suite": one.suite}
        history.append({**about, "date": when.strftime("%Y-%m-%d %H:%M"), **_figures(one)})
    return page.write(Path(path), versus, changed, history)


_BESIDE_A_REPORT = 100_000  # answers up to which the page beside a report has all of them, and not the changed ones


def flips_and_view(results: Results, run: Run, path: Path) -> Iterator[FlipBlock]:
    """The run's changed answers, by the report's main score, of which a page is written when the last has passed."""
    made = run.suite.manifest
    page = _Page(results, every=made.examples + made.variants <= _BESIDE_A_REPORT)
    yield from page.gathered(run)
    page.write(path)


class _Page:
    """Gathers a run's answers as they pass, and writes the page of them."""

    def __init__(self, results: Results, compared: bool = False, every: bool = True) -> None:
        self._results, self.columns = results, Columns(several=compared)
        self._every = Parts() if every else None
        self._compare = Comparing(task_named("text"), results.compared.get("extract", ""))  # for its parts alone
        self._confusion = Confusion(self._compare) if results.task == "classify" else None

    def gathered(self, run: Run) -> Iterator[FlipBlock]:
        every = self._every
        for block, flips, answers in answers_by_block(run, *as_measured(self._results), every=every is not None):
            if self._confusion is not None:
                self._confusion.see(block)
            self.columns.add(flips)
            if every is not None and answers is not None:
                cases = answers.rows.cases
                numbers = zip(answers.rows.numbers, answers.flip, strict=True)
                every.add(answers.rows, [kind_of_any(cases[number], flip) for number, flip in numbers])
            yield flips
        if every is not None:
            again = run.repeated() if run.manifest.repeats or run.manifest.asked_twice else ()
            for example, clean, repeats in again:
                self._asked_again(every, example, clean, repeats)
            every.close()

    def _asked_again(self, to: Parts, example: Example, clean: Output, repeats: list[tuple[Variant, Output]]) -> None:
        """Adds what a clean input was answered when it was asked again."""
        answered = [Flip(example, variant, clean, out, None, None) for variant, out in repeats if out is not NOT_ASKED]
        same = [self._compare.part(clean.value) == self._compare.part(flip.varied.value) for flip in answered]
        first = EVERY.index("asked again: the same answer")
        if answered:
            to.add(FlipBlock.of(answered), [first if alike else first + 1 for alike in same])

    def write(
        self, path: Path, versus: Json = None, changed: Sequence[Json] = (), history: Sequence[Json] = ()
    ) -> Path:
        results, operators = self._results, self._results.sets.get("operator", {})
        grid = {op: {column: _figure(cell) for column, cell in cells.items()} for op, cells in results.grid.items()}
        data: dict[str, Json] = {
            "measures": _figures(results),
            "worst_of": results.worst_of,
            "grid": grid,
            "operators": {name: _figure(block.drop) for name, block in operators.items()},
            "slices": list(slices(results)),
            "confusion": None if self._confusion is None else self._confusion.table(),
            "sets": [self.columns.flips(), *changed],
            "compared": versus,
            "history": history,
            **self.columns.shared(),
        }
        every = self._every
        if every is not None:
            data["every"] = {"name": "Every answer", "kinds": EVERY, "heads": ["clean", "this"], "parts": every.index}

        script = own_file("view.js")
        page = template("view.html.jinja").render(
            css=own_file("report.css") + own_file("view.css"),
            script=script,
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
            data=_HERE,
            results=results,
            verdict=plain(summary(results)),
        )
        before, _, after = page.encode("utf-8", "xmlcharrefreplace").rpartition(_HERE.encode())
        with replacing(path) as write:  # in pieces, as the data of a large run is many times its page
            write(before)
            for piece in _in_base64(packed_json(data)):
                write(piece)
            for part in () if every is None else every.packed():  # each a script of its own, read when it is shown
                write(b'</script>\n<script type="application/gzip" class="part">' + b64encode(part))
            write(after)
        return path


def _figures(results: Results) -> dict[str, list[float | None]]:
    return {name: _figure(getattr(results.whole, name)) for name in _SHOWN}


def _figure(estimate: Estimate | None) -> list[float | None]:
    return [None, None, None] if estimate is None else [estimate.value, estimate.low, estimate.high]


class Confusion:
    """How often each gold label got each answer, of clean inputs and of variants."""

    def __init__(self, comparing: Comparing) -> None:
        self._comparing = comparing
        self._before: Counter[tuple[str, str]] = Counter()
        self._after: Counter[tuple[str, str]] = Counter()

    def see(self, block: Block) -> None:
        same = np.array([kind.meaning == "same" for kind in block.kinds], dtype=bool)[block.kind]
        clean, varied = (block.clean_gold, block.clean_out), (block.gold[same], block.out[same])
        for counts, (gold, out) in ((self._before, clean), (self._after, varied)):
            pairs, many = np.unique(gold * len(block.outputs) + out, return_counts=True)
            for pair, count in zip(pairs.tolist(), many.tolist(), strict=True):
                true, output = block.golds[pair // len(block.outputs)], block.outputs[pair % len(block.outputs)]
                if output.ok and true is not None:
                    part = self._comparing.part(output.value)
                    counts[str(self._comparing.gold_part(true)), str("" if part is None else part)] += count

    def table(self) -> dict[str, Json]:
        """The counts of the most frequent labels."""
        before, after = self._before, self._after
        often: Counter[str] = Counter()
        for (gold, answer), count in (before + after).items():
            often[gold] += count
            often[answer] += count * (gold != answer)
        names = sorted(name for name, _ in sorted(often.items(), key=lambda entry: (-entry[1], entry[0]))[:_LABELS])
        counts = [[[kind[gold, answer] for answer in names] for gold in names] for kind in (before, after)]
        return {"labels": [label(name, 300) for name in names], "before": counts[0], "after": counts[1],
                "more": len(often) - len(names)}  # fmt: skip


def _in_base64(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Of pieces of any length: three bytes become four letters, and what is left over waits for the next piece."""
    left = b""
    for piece in pieces:
        left += piece
        whole = len(left) // 3 * 3
        yield b64encode(left[:whole])
        left = left[whole:]
    yield b64encode(left)


_ANSWERS = 25  # answers of each kind
_ROWS = 60
_FOUR = ("clean", "average", "worst", "flips")


def write_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Writes a comparison as a page; if it knows its runs, also `NAME.view.html`, the page to explore them in.

    Example: `unswayed.write_comparison(unswayed.compare("before/", "after/"), "compare.html")`.
    """
    path, runs = Path(path), [run for run in comparison.runs or () if isinstance(run, Run)]
    view = path.with_name(f"{path.stem}.view.html") if len(runs) == 2 else None
    if view is not None:
        write_view(runs, view)
    compared, said = comparison.lettered(), list[tuple[str, str]]()
    for letter, one in compared:  # what users get, in a colour
        outcome, lead = one.outcome(letter), f"{letter}: " if comparison.others else ""
        said += [(one.trend, lead + outcome), *(("", sentence) for sentence in one.lost_and_gained(letter))]
    page = template("compare.html.jinja").render(
        css=own_file("report.css"),
        comparison=comparison,
        head=comparison.about,
        verdict=said,
        broken=[sign for _, one in compared for sign in one.sanity],
        warnings=list(dict.fromkeys(text for _, one in compared for text in one.warnings)),
        gates=[gate for _, one in compared for gate in one.gates],
        parts=[_part(letter, one) for letter, one in compared],
        view=None if view is None else href(view.name),
    )
    write_atomically(path, page.encode("utf-8", "xmlcharrefreplace"))
    return path


def _part(letter: str, one: Comparison) -> dict[str, object]:
    """One run beside the baseline, for the template."""
    shown = sorted(one.differences, key=lambda d: (d.set != "all", not d.shown, d.set, d.measure))
    overall = [d for d in shown if d.set == "all" or d.measure == (one.primary or "average")][:_ROWS]
    plotted = [(f"{d.measure}, {d.set}", d.estimate) for d in overall if d.difference is not None]
    rows = []
    for d in shown[:_ROWS]:
        name = outside(f"{d.measure}, {d.set}")
        sides = ["–" if side is None else f"{side:.3f}" for side in (d.a, d.b)]
        cells = [*sides, figure(d.estimate), chance(d.p_corrected), f"{d.n:,}"]
        rows.append((Markup("<strong>{}</strong>").format(name) if d.shown else name, list(map(Cell, cells))))
    heads = [Markup(head) for head in ("A", letter, f"{letter} − A", "corrected p", "examples")]  # noqa: S704
    caption = Markup("Differences; those in bold are more than chance")
    table = ReportTable(caption, heads, rows, max(0, len(shown) - _ROWS))
    found: dict[str, list[dict[str, Markup]]] = {"lost": [], "gained": []}  # some, if the runs are known
    for c in one.iter_flips(_ANSWERS) if one.has_answers else ():
        where = f"{c.operator}, draw {c.draw}" if c.operator else one.unvaried
        card = {"text": c.text, "a": c.answer_a, "b": c.answer_b, "gold": c.gold, "where": where}
        card |= {"example": c.example, "kind": one.kinds_of_change[c.change].replace("in B", f"in {letter}")}
        found[c.change].append({name: outside(text, ANSWER) for name, text in card.items()})
    four, by_measure = [], {d.measure: d for d in one.differences if d.set == "all"}
    named = [measure for measure in _FOUR if measure in by_measure] or list(by_measure)[: len(_FOUR)]
    for measure in named:  # what to read first, with a word for each
        if (d := by_measure[measure]).difference is None:
            continue
        word = one.in_a_word(d) if d.shown else ""
        called = {"worst": "worst variant", "flips": "answers that change"}.get(measure) or outside(measure)
        values = {"a": typeset(number(d.a)), "b": typeset(number(d.b)), "difference": typeset(number(d.difference))}
        row = {"name": called, **values, "span": interval(d.estimate), "kind": word, "word": word or "may be chance"}
        four.append(row)
    about = {"letter": letter, "name": outside(one.b), "gates": one.gates, "overall": four, "whole": one.whole}
    return {**about, "chart": draw.differences(plotted, f"{letter} minus A"), "table": table, **found}


def serve_page(page: Path, port: int, started: Callable[[str], None]) -> None:
    """Serves the page, and nothing else, on this machine until it is interrupted."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/"
            body = page.read_bytes() if found else b"There is only one page here: /\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: requests need no log."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Answer)
    except OSError as error:
        raise UsageError(
            f"Port {port} can't be used: {error.strerror}. Choose another with {option('port')}."
        ) from error
    with server:
        started(f"http://127.0.0.1:{server.server_port}/")
        server.serve_forever()
