"""The benchmarks' table, the README's figures and the docs that are made from what was measured last."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from benchmarks import _peers, _readme, _results, scaling
from benchmarks.__main__ import Job, jobs, measured, run
from benchmarks._chart import growth, growth_chart, ratios_chart
from benchmarks._measure import LeftOut, Row, figure, in_turns, needs, table
from benchmarks._peers import Rates
from benchmarks._readme import Claim, uncovered, untrue
from benchmarks._simulated import share
from benchmarks.coverage import SECTIONS, Section
from benchmarks.operators import first_pass, shares
from unswayed.run.plan import Engine

ROOT = Path(__file__).parents[1]
SLOW = Row("typos: other", "typos", 50.0, "texts/s", "other", 200.0, asked=60)
QUICK = Row("start", "start-up", 0.5, "s", "other", 5.0, more=False, asked=1)


def results(*rows: Row) -> _results.Results:
    return _results.Results(benchmarks={"some": _results.Entry("2026-01-01 00:00", 1.0, 0.5, list(rows))})


def test_ratios_say_how_many_times_as_good_ours_is() -> None:
    assert SLOW.ratio == 0.25
    assert QUICK.ratio == 10
    assert Row("share", "share", 80.0, "%", "other", 40.0).ratio is None
    assert Row("alone", "alone", 80.0).ratio is None
    assert Row("workers", "two against one", 1.9, "times").ratio == 1.9


def test_what_was_asked_is_a_floor_or_a_ceiling() -> None:
    assert not SLOW.met
    assert QUICK.met
    assert Row("none", "not measured", None, asked=1).met
    assert Row("lost", "lost", 0.0, more=False, asked=0).met


@given(st.floats(1e-12, 1e12))
def test_figures_keep_three_digits(value: float) -> None:
    shown = float(figure(value).replace(",", ""))
    assert abs(shown - value) <= max(0.5 if value >= 100 else 0, 0.06 * value if value < 1e-4 else 0.006 * value)


def test_the_table_names_what_is_missed_and_what_is_absent() -> None:
    gone = Row("typos: gone", "typos", 50.0, "texts/s", "gone", note="does not install: a | b")
    lines = table([("some", SLOW), ("some", gone)])
    assert "| 0.25× | ≥ 60 **missed** |" in lines[2]
    assert "| gone | – |" in lines[3]
    assert "does not install: a \\| b |" in lines[3]


def test_a_simulated_share_may_miss_by_chance() -> None:
    """Three standard errors of 100 simulations with 95% are 6.5 points."""
    near, far = (share("a", "a", found, 100, least=0.95) for found in (0.89, 0.88))
    assert (near.met, far.met) == (True, False)
    assert near.by_chance == pytest.approx(6.5)
    assert not share("a", "a", 0.12, 100, most=0.05).met
    assert (
        "| ≥ 95 within chance | no interval, power 89.0%; 100 simulations (± 6.5 by chance) |"
        in table([("some", near)])[2]
    )


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.rows.__name__)
def test_every_section_of_the_coverage_table_can_be_simulated(section: Section) -> None:
    """One row of each, of as few simulations as can be; what they show is for the benchmark."""
    row = next(section.rows(2))
    assert row.ours is not None
    assert row.unit in ("%", "points")


def test_intervals_cover_at_the_width_that_the_benchmark_says() -> None:
    """A few simulations of what decides: clusters, drops without one, grades and wildcard gates."""
    _holds("clusters", 20)
    _holds("grades", 60)
    _holds("wildcards", 25)


@pytest.mark.long
@pytest.mark.parametrize("name", [section.rows.__name__ for section in SECTIONS[:8]])
def test_intervals_and_tests_hold_in_many_simulations(name: str) -> None:
    _holds(name, 2000 if name == "drops" else 400)


def _holds(name: str, times: int) -> None:
    (section,) = (one for one in SECTIONS if one.rows.__name__ == name)
    for row in section.rows(times):
        assert "coverage" in row.note
        assert "power" in row.note
        assert f"{times:,} simulations" in row.note
        # a size may be 8% where a few more errors of clean answers would have decided
        assert row.met or (not row.more and (row.ours or 0.0) <= 8 + row.by_chance), (row.what, row.ours, row.note)


def test_ways_take_turns_and_the_median_is_given() -> None:
    order: list[str] = []
    times = iter([3.0, 9.0, 1.0, 7.0, 2.0, 8.0])

    def clock(work: object) -> float:
        work()  # type: ignore[operator]
        return next(times)

    found = in_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3, clock)
    assert order == ["a", "b"] * 3
    assert found == {"a": 2.0, "b": 8.0}


def test_every_benchmark_gives_rows_and_a_table() -> None:
    """Read, not imported: some need extras."""
    for file in (ROOT / "benchmarks").glob("[!_]*.py"):
        text = file.read_text(encoding="utf-8")
        assert "\ndef rows(" in text or "\ndef long_rows(" in text, file.name
        assert "\ndef main(" in text, file.name


def test_quick_ones_run_unasked_and_long_ones_when_named_or_with_all() -> None:
    quick, everything = list(jobs([], long=False)), list(jobs([], long=True))
    assert Job("operators", "rows") in quick
    assert all(job.function == "rows" for job in quick)
    assert Job("nano", "long_rows") in everything
    assert [job.key for job in jobs(["collect", "nano"], long=False)] == ["collect", "nano (long)"]
    assert [job.key for job in jobs(["collect"], long=True)] == ["collect", "collect (long)"]
    with pytest.raises(SystemExit, match="there are: .*operators"):
        list(jobs(["operator"], long=False))


def test_one_that_fails_is_named_and_the_others_still_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def stand_in(job: Job) -> object:
        if job.name == "bad":
            raise RuntimeError("exits 1")
        return importlib.import_module("benchmarks.__main__").Said([SLOW])

    monkeypatch.setattr("benchmarks.__main__.measured", stand_in)
    found = results(QUICK)
    assert run([Job("bad", "rows"), Job("good", "rows")], found) == ["bad: exits 1"]
    assert found.row("good", SLOW.name) == SLOW
    assert found.row("some", QUICK.name) == QUICK


def test_a_benchmark_runs_in_a_process_of_its_own_and_says_why_it_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "benchmarks"
    package.mkdir()
    for name in ("__init__", "_one", "_measure"):
        (package / f"{name}.py").write_bytes((ROOT / f"benchmarks/{name}.py").read_bytes())
    head = "from benchmarks._measure import LeftOut, Row\n"
    (package / "fine.py").write_text(head + "def rows():\n    print('progress')\n    yield Row('a', 'b', 1.5)\n")
    (package / "absent.py").write_text(head + "def rows():\n    raise LeftOut('no corpus')\n")
    (package / "broken.py").write_text("def rows():\n    return 1 / 0\n")
    monkeypatch.setattr("benchmarks.__main__.ROOT", tmp_path)
    assert measured(Job("fine", "rows")).rows == [Row("a", "b", 1.5)]
    assert measured(Job("absent", "rows")).left_out == "no corpus"
    with pytest.raises(RuntimeError, match="exits 1"):
        measured(Job("broken", "rows"))


def test_a_figure_in_the_readme_is_true_or_named() -> None:
    readme = "It starts in about 0.55 s. It is at least 12\ntimes as fast, at most 3 GB large."
    claims = (
        Claim("about {} s", "some", "start"),
        Claim("at least {} times", "some", "start", "ratio"),
        Claim("at most {} GB", "some", "gone"),
        Claim("under {} minutes", "some", "start"),
    )
    assert untrue(readme, results(QUICK), claims) == [
        "“at least 12 times”: measured 10 (some, start)",
        "“at most {} GB” has not been measured: some, gone",
        "it no longer says “under {} minutes”",
    ]
    assert untrue(readme.replace("12", "10"), results(QUICK), claims[:2]) == []
    assert untrue(readme.replace("0.55", "0.9"), results(QUICK), claims[:1]) == [
        "“about 0.9 s”: measured 0.5 (some, start)"
    ]
    assert uncovered(readme, claims) == []
    assert uncovered(readme + " And 7% more.\n```sh\nsleep 5 s\n```", claims[1:]) == ["0.55 s", "7%"]


def test_every_figure_in_the_readme_is_measured() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert uncovered(readme) == []
    for claim in _readme.CLAIMS:
        assert claim.said(readme) is not None, f"the README does not say “{claim.phrase}”"
        assert _results.read().row(claim.benchmark, claim.row), f"{claim.benchmark} has no row {claim.row}"


def test_the_docs_are_made_from_what_was_measured() -> None:
    found = _results.read()
    assert found.benchmarks
    page = _results.PAGE.read_text(encoding="utf-8")
    assert _results.docs_part(page) == _results.measured_part(found), "run `python -m benchmarks --write-docs`"
    for file, chart in _results.charts(found).items():
        assert file.read_text(encoding="utf-8") == chart, "run `python -m benchmarks --write-docs`"


def test_the_page_shows_about_thirty_figures_that_are_measured() -> None:
    found = _results.read()
    for benchmark, names in _results.SHOWN.items():
        assert all(found.row(benchmark, name) for name in names if name), f"{benchmark} lacks one of {names}"
    assert 25 <= len(list(_results.shown_rows(found))) <= 30


def test_the_chart_has_a_bar_for_each_ratio_and_escapes_names() -> None:
    hostile = Row("<script>", "x", 5.0, "s", "other", 1.0, more=False)
    root = ElementTree.fromstring(ratios_chart([("some", SLOW), ("some", QUICK), ("some", hostile)]))
    name = "{http://www.w3.org/2000/svg}"
    texts = ["".join(text.itertext()) for text in root.iter(f"{name}text")]
    assert {"0.25×", "10×", "0.2×", "<script>"} <= set(texts)
    assert len(list(root.iter(f"{name}rect"))) == 4  # the paper and three bars


def test_growth_is_told_beside_the_smallest_size() -> None:
    rows = [
        Row("vary 1000", "", 50.0),
        Row("vary 100", "", 200.0),
        Row("run 100", "", 9.0),
        Row("vary local 1→2", "", 2.0),
    ]
    assert growth(rows) == {"vary": {100: 1.0, 1000: 0.25}}
    root = ElementTree.fromstring(growth_chart({"Speed": rows, "Nothing yet": []}))
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Speed", "100", "1,000", "vary 0.25×"} <= set(texts)
    assert "Nothing yet" not in texts
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 1


def test_results_come_back_as_they_were_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FILE", "PAGE", "RATIOS", "GROWTH"):
        monkeypatch.setattr(_results, name, tmp_path / name)
    monkeypatch.setattr(_results, "SHOWN", {"some": (SLOW.name,)})
    (tmp_path / "PAGE").write_text("before\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n")
    found = results(SLOW)
    _results.write(found)
    assert _results.read(tmp_path / "FILE") == found
    page = (tmp_path / "PAGE").read_text(encoding="utf-8")
    assert page.startswith("before\n")
    assert page.endswith("\nafter\n")
    assert "old" not in page
    assert "| 0.25× |" in page


def test_shares_of_labels_that_fit() -> None:
    before = ("fly to new york", ["O", "O", "B-city", "I-city"])
    made = [
        "fly to new yrok",  # a text alone keeps the tags of its places
        "please fly to new york",  # and loses them where words are more
        ["so fly to new york", ["O", "O", "O", "B-city", "I-city"]],
        None,
    ]
    altered, fit, kept = shares([before] * 4, made)
    assert altered == 0.75
    assert fit == pytest.approx(2 / 3)
    assert kept == pytest.approx(2 / 3)


def test_what_does_not_install_is_tried_once_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_peers, "CACHE", tmp_path)
    monkeypatch.setitem(_peers.ENVIRONMENTS, "ancient", _peers.Environment(("nothing",), "1.5"))
    tried = []
    installed = _peers._installed
    monkeypatch.setattr(_peers, "_installed", lambda *given: tried.append(given) or installed(*given))
    for _ in range(2):
        with pytest.raises(LeftOut, match=r"does not install: needs Python 1\.5"):
            _peers.python_of("ancient")
    assert len(tried) == 1


def test_workers_take_turns_and_say_why_they_do_not_run() -> None:
    texts = [("show flights to new york", ["O", "O", "O", "B-city", "I-city"])] * 5
    with (
        _peers.Worker(sys.executable, "unswayed keyboard/adjacent", texts) as one,
        _peers.Worker(sys.executable, "unswayed spoken/filler_end", texts) as two,
    ):
        found = _peers.side_by_side([one, two], rounds=2)
    assert found[two.name].rate > 0
    assert found[two.name].memory > 5
    assert all(len(tags) == len(text.split(" ")) for text, tags in found[two.name].made)
    with pytest.raises(LeftOut, match="does not run: .*nowhere"):
        _peers.Worker(sys.executable, "unswayed keyboard/nowhere", texts)


def test_the_jobs_of_the_scaling_benchmark_can_be_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "SENTENCES", 64)
    for what, job, blocks in scaling.jobs(tmp_path):
        with scaling.doing(what, Engine(), job) as do:
            assert [block for block, _ in do(blocks)] == blocks


def test_growth_is_measured_beyond_the_start(tmp_path: Path) -> None:
    rows = {row.name: row for row in scaling.by_size([200, 400], tmp_path)}
    assert list(rows) == ["vary 200", "run 200", "vary 400", "run 400", "flat vary", "flat run"]
    assert all(row.ours is not None and row.ours >= 0 for row in rows.values())


def test_data_that_is_not_here_is_a_reason() -> None:
    with pytest.raises(LeftOut, match="nowhere is not here"):
        needs(Path("/nowhere"))


def test_help_says_what_there_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "--write-docs" in done.stdout


def test_the_first_pass_is_told_where_it_differs() -> None:
    steady, slow = Rates(50_000, 45_000, 0.1, 10, []), Rates(28_700, 12_345, 0.1, 10, [])
    assert first_pass(steady, steady) == ""
    assert first_pass(slow, steady) == "; first pass 12,300 / 45,000"
    assert first_pass(steady, slow) == "; first pass 45,000 / 12,300"
