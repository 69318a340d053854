"""The public API: the examples of the issue as they are written, and what each call promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unswayed
from unswayed.base.errors import UsageError

WRITTEN = """
import pandas as pd, unswayed
df = pd.DataFrame({"utterance": ["turn off the lights", "play some jazz"] * 20, "intent": ["lights", "music"] * 20})
r = unswayed.check(lambda batch: ["lights" if "light" in x["utterance"] else "music" for x in batch], df, "keyboard/adjacent", input="utterance", gold="intent", draws=3, seed=7)
r.clean.value, r.worst.low, r.to_pandas(), r.flips(), r._repr_html_()
s = unswayed.make_suite(["a text", "another one"], ["keyboard/adjacent"]); len(s), next(iter(s)), repr(s)
unswayed.measure_run("run/"); unswayed.vary_text("turn off the lights", "keyboard/adjacent", n=5, seed=7)
"""  # noqa: E501

NEEDED = (
    *("Asking", "Change", "Edit", "Failed", "Operator", "Reader", "ReadOptions", "Scorer", "Stream"),
    *("System", "Task", "Text"),
)
ROWS = [{"text": f"turn it off {i}", "label": "off"} for i in range(12)]


def always(batch: list[dict[str, str]]) -> list[str]:
    return ["off" for _ in batch]


def test_it_works_as_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    suite = unswayed.make_suite(ROWS, "keyboard/adjacent", to="suite")
    unswayed.run_system(suite, always, "run")
    names: dict[str, object] = {}
    exec(WRITTEN, names)
    results, suite = names["r"], names["s"]
    assert results.clean.value == 1.0
    assert 0 < results.worst.low < 1
    assert len(suite) == 2
    assert len(results.flips()) > 0


def test_with_polars_records_texts_and_datasets(tmp_path: Path) -> None:
    import datasets

    polars = pytest.importorskip("polars")
    kinds = [ROWS, polars.DataFrame(ROWS), datasets.Dataset.from_list(ROWS)]
    found = [unswayed.check(always, data, ["keyboard/adjacent"], plan={"measure": {"bootstrap": 20}}) for data in kinds]
    assert len({r.suite for r in found}) == 1
    texts = ["a text here", "there is more"]
    assert unswayed.check(lambda batch: [x["text"] for x in batch], texts, "keyboard/adjacent").score


def test_a_suite_is_checked_as_it_is(tmp_path: Path) -> None:
    suite = unswayed.make_suite(ROWS, "keyboard/adjacent", draws=2)
    assert unswayed.check(always, suite, plan={"measure": {"bootstrap": 20}}).suite == suite.id


def test_a_changed_system_gives_new_numbers(tmp_path: Path) -> None:
    class Model:
        def __init__(self, label: str) -> None:
            self.label = label

        def __call__(self, batch):
            return [self.label for _ in batch]

    model = Model("off")
    for to in (None, tmp_path / "run"):
        model.label = "off"
        assert (
            unswayed.check(model, ROWS, "keyboard/adjacent", to=to, plan={"measure": {"bootstrap": 20}}).clean.value
            == 1.0
        )
        model.label = "on"
        assert (
            unswayed.check(model, ROWS, "keyboard/adjacent", to=to, plan={"measure": {"bootstrap": 20}}).clean.value
            == 0.0
        )


def test_a_plan_is_carried_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jsonl").write_text('{"text": "turn it off", "label": "off"}\n' * 5)
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "mine.jsonl"\n[vary]\noperators = ["keyboard/adjacent"]\n[measure]\nbootstrap = 20\n'
        "[gate]\nmax_flips = 0.5\n"
    )
    verdict = unswayed.carry_out(unswayed.read_plan("plan.toml"), system=always)
    assert (verdict.exit_code, verdict.results.clean.value) == (0, 1.0)
    with pytest.raises(UsageError, match="No system was given: set system= to"):
        unswayed.carry_out(unswayed.read_plan("plan.toml"))


def test_vary_text() -> None:
    variants = unswayed.vary_text("turn off the lights", "keyboard/adjacent", n=5, seed=7)
    assert [v.draw for v in variants] == [0, 1, 2, 3, 4]
    assert variants == unswayed.vary_text("turn off the lights", ["keyboard/adjacent"], n=5, seed=7)
    assert all(v.inputs["text"] != "turn off the lights" for v in variants)
    assert len(repr(variants[0])) < 150
    with pytest.raises(unswayed.UnswayedError, match="set language= if the language is wrong"):
        unswayed.vary_text("明天天气", "keyboard/adjacent")


def test_compare_takes_results_runs_and_folders(tmp_path: Path) -> None:
    suite = unswayed.make_suite(ROWS, "keyboard/adjacent")
    a = unswayed.check(always, suite, to=tmp_path / "a", plan={"measure": {"bootstrap": 20}})
    b = unswayed.check(
        lambda batch: ["on" for _ in batch], suite, to=tmp_path / "b", plan={"measure": {"bootstrap": 20}}
    )
    for one, two in ((a, b), (unswayed.Run(tmp_path / "a"), tmp_path / "b"), (str(tmp_path / "a"), b)):
        compared = unswayed.compare(one, two)
        assert (compared.differences[0].a, compared.differences[0].b) == (1.0, 0.0)


class TestSuite:
    def test_its_surface(self, tmp_path: Path) -> None:
        suite = unswayed.make_suite(ROWS, ["keyboard/adjacent", "spoken/filler_end"], draws=2)
        assert len(suite) == len(list(suite)) == 48
        assert repr(suite) == "<Suite in memory: 48 variants of 12 examples, classify, en>"
        page = suite._repr_html_()
        assert "48 variants of 12 examples" in page
        assert "43 more rows" in page
        frame = suite.to_pandas()
        assert len(frame) == 48
        assert list(frame.columns) == ["example", "operator", "draw", "before", "after", "change", "gold"]
        assert frame["before"][0] == "turn it off 0"
        assert frame["after"][0] == next(iter(suite)).inputs["text"]

    def test_a_temporary_one_can_be_kept(self, tmp_path: Path) -> None:
        suite = unswayed.make_suite(ROWS, "keyboard/adjacent")
        kept = suite.save(tmp_path / "kept")
        assert kept.id == unswayed.Suite.load(tmp_path / "kept").id == suite.id
        with pytest.raises(UsageError, match="Use overwrite="):
            suite.save(tmp_path / "kept")
        suite.save(tmp_path / "kept", overwrite=True)

    def test_temporary_ones_go_with_the_process(self, tmp_path: Path) -> None:
        code = (
            "import unswayed; s = unswayed.make_suite(['play jazz'], 'keyboard/adjacent').on_disk(); "
            "print(len(list(s)), s.path)"
        )
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        count, _, path = done.stdout.strip().partition(" ")
        assert count == "1"
        assert Path(path).is_relative_to(tmp_path)
        assert not list(tmp_path.iterdir())


class TestRun:
    def test_its_surface(self, tmp_path: Path) -> None:
        suite = unswayed.make_suite(ROWS, "keyboard/adjacent", draws=2)
        run = unswayed.run_system(suite, lambda batch: [x["text"][:4] for x in batch], tmp_path / "run")
        assert len(run) == len(list(run)) == 24
        variant, output = next(iter(run))
        assert output.value == variant.inputs["text"][:4]
        assert "on 24 variants of 12 examples" in repr(run)
        assert "19 more rows" in run._repr_html_()
        frame, flips = run.to_pandas(), run.flips()
        assert len(frame) == 24
        assert 0 < len(flips) == frame["flipped"].sum() < 24
        assert (flips["answer_before"] == "turn").all()
        assert (flips["answer_after"] != "turn").all()

    def test_a_temporary_one_can_be_kept(self, tmp_path: Path) -> None:
        results = unswayed.check(always, ROWS, "keyboard/adjacent", plan={"measure": {"bootstrap": 20}})
        kept = results.run.save(tmp_path / "kept")
        assert kept.suite.path == tmp_path / "kept" / "suite"
        assert (
            unswayed.measure_run(unswayed.Run.load(tmp_path / "kept")).clean == unswayed.measure_run(results.run).clean
        )
        with pytest.raises(UsageError, match="Choose another folder with to="):
            results.run.save(tmp_path / "kept")


def test_what_extensions_need_is_exported() -> None:
    for name in NEEDED:
        assert name in unswayed.__all__
        assert getattr(unswayed, name).__doc__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unswayed.make_suite([{"a": "x", "b": "y"}], "keyboard/adjacent"), "Choose it with input="),
        (lambda: unswayed.make_suite([{"a": "x"}], "keyboard/adjacent", input="b"), "no field 'b' for input="),
        (lambda: unswayed.make_suite([{"a": "x"}], "keyboard/adjacent", gold="b"), "no field 'b' for gold="),
        (lambda: unswayed.make_suite(3, "keyboard/adjacent"), "data must be a path, a list of texts or records"),
        (lambda: unswayed.make_suite(["x"], "keyboard/adjacnt"), "Did you mean 'keyboard/adjacent'"),
    ],
)
def test_errors_name_arguments(call, message: str) -> None:
    with pytest.raises(unswayed.UnswayedError, match=message):
        call()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"operators": 3}, "operators= must be an operator's name"),
    ({"operators": [3]}, "operators= must be an operator's name"),
    ({"draws": "3"}, "draws= must be a whole number of 1 or more, not '3'"),
    ({"draws": 0}, "draws= must be a whole number of 1 or more, not 0"),
    ({"draws": 100_001}, "draws= must be a number from 1 to 100,000"),
    ({"draws": True}, "draws= must be a whole number"),
    ({"seed": 1.5}, "seed= must be a whole number"),
    ({"plan": {"measure": {"bootstrap": "9"}}}, 'plan={"measure": {"bootstrap": …}} must be a whole number'),
    ({"plan": {"measure": {"level": "0.9"}}}, 'plan={"measure": {"level": …}} must be a number between 0 and 1'),
    ({"plan": {"vary": {"set": "all"}}}, 'plan={"vary": {"set": …}} must be each, random or hard, not \'all\''),
    ({"gold": ["label"]}, "gold= must be a text"),
    ({"task": 3}, "task= must be a text"),
    ({"language": 3}, "language= must be a text"),
    ({"scores": [1]}, "scores= must be a text"),
    ({"plan": {"run": {"asking": 5}}}, "run.asking must be a table of options, or Asking(…), not 5"),
    ({"plan": {"engine": "local"}}, "engine must be a table of options, or Engine(…), not 'local'"),
    ({"to": 3}, "to= must be a path"),
    ({"data": None}, "data is None"),
    ({"data": "a long text, not a path " * 300}, "no such file"),
    ({"system": 5}, "The system is 5, which can't be called"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=str)
def test_a_wrong_argument_is_named_before_anything_is_asked(wrong: dict[str, Any], message: str) -> None:
    def never(batch: list[dict[str, str]]) -> list[str]:
        raise AssertionError("asked")

    arguments = {"system": never, "data": ROWS, "operators": "keyboard/adjacent", **wrong}
    with pytest.raises(unswayed.UnswayedError, match=re.escape(message)):
        unswayed.check(**arguments)


def test_numbers_of_numpy_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    plain = unswayed.make_suite(ROWS, "keyboard/adjacent", draws=2, seed=3)
    assert unswayed.make_suite(ROWS, "keyboard/adjacent", draws=np.int64(2), seed=np.int64(3)).id == plain.id
    assert len(unswayed.vary_text("turn off the lights", "keyboard/adjacent", n=np.int64(2))) == 2


def test_vary_text_names_its_arguments() -> None:
    for wrong, message in (({"text": ["a"]}, "text= must be"), ({"n": 0}, "n= must be"), ({"seed": "1"}, "seed= must")):
        with pytest.raises(unswayed.UnswayedError, match=message):
            unswayed.vary_text(**{"text": "turn off", "operators": "keyboard/adjacent", **wrong})


def test_runs_and_measures_name_their_arguments(tmp_path: Path) -> None:
    suite = unswayed.make_suite(ROWS, "keyboard/adjacent")
    with pytest.raises(unswayed.UnswayedError, match="A suite is expected, or the path of its folder, not list"):
        unswayed.run_system(ROWS, always, tmp_path / "run")  # type: ignore[arg-type]
    with pytest.raises(unswayed.UnswayedError, match="to= must be a path"):
        unswayed.run_system(suite, always, 3)  # type: ignore[arg-type]
    run = unswayed.run_system(suite, always, tmp_path / "run")
    with pytest.raises(unswayed.UnswayedError, match="must be a number between 0 and 1, not '0.9'"):
        unswayed.measure_run(run, {"measure": {"level": "0.9"}})  # type: ignore[arg-type]
    with pytest.raises(unswayed.UnswayedError, match="must be a whole number of 1 or more"):
        unswayed.compare(run, run, plan={"measure": {"bootstrap": "10"}})  # type: ignore[arg-type]
    with pytest.raises(unswayed.UnswayedError, match="no slice named 'zz'"):
        unswayed.measure_run(run, {"measure": {"groups": "zz"}})


def test_a_suite_takes_no_arguments_that_make_one() -> None:
    suite = unswayed.make_suite(ROWS, "keyboard/adjacent")
    with pytest.raises(unswayed.UnswayedError, match="Leave out operators="):
        unswayed.check(always, suite, "keyboard/adjacent")


def test_a_folder_of_something_else_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(unswayed.UnswayedError, match="is not a run. Choose another folder with to="):
        unswayed.check(always, ROWS, "keyboard/adjacent", to=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_of_other_data_is_refused_by_the_argument_that_check_has(tmp_path: Path) -> None:
    unswayed.check(always, ROWS, "keyboard/adjacent", to=tmp_path / "run", plan={"measure": {"bootstrap": 20}})
    with pytest.raises(unswayed.UnswayedError, match="holds a run on other data.*with to=") as raised:
        unswayed.check(always, ROWS[:2], "keyboard/adjacent", to=tmp_path / "run")
    assert "overwrite" not in str(raised.value)


def test_the_predict_of_a_scikit_learn_model_reads_texts() -> None:
    pipeline = pytest.importorskip("sklearn.pipeline")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    model = pipeline.make_pipeline(CountVectorizer(), MultinomialNB())
    model.fit(["turn on", "play jazz"], ["a", "b"])
    texts = [{"text": "turn on", "label": "a"}, {"text": "play jazz", "label": "b"}]
    assert (
        unswayed.check(model.predict, texts, "keyboard/adjacent", plan={"measure": {"bootstrap": 20}}).clean.value
        == 1.0
    )


@pytest.mark.parametrize(
    "kind", [unswayed.Suite, unswayed.Run, unswayed.Results.load, unswayed.Comparison.load], ids=str
)
def test_what_is_no_path_is_named(kind: Any) -> None:
    with pytest.raises(UsageError, match="path= must be a path, not None"):
        kind(None)


def test_carry_out_takes_a_plan_and_the_path_of_a_suite(tmp_path: Path) -> None:
    suite = unswayed.make_suite(ROWS, "keyboard/adjacent")
    plan = unswayed.Plan(measure=unswayed.MeasurePlan(bootstrap=20))
    assert unswayed.carry_out(plan, system=always, suite=suite.on_disk().path).results.clean.value == 1.0
    with pytest.raises(UsageError, match="There is no plan plan.toml"):
        unswayed.carry_out("plan.toml", system=always)
    with pytest.raises(UsageError, match="plan must be a Plan, the path of a TOML file, or a table"):
        unswayed.carry_out(5, system=always)  # type: ignore[arg-type]
    wrong = unswayed.Plan(measure=unswayed.MeasurePlan(level=2.0))
    with pytest.raises(UsageError, match=re.escape('plan={"measure": {"level": …}} must be a number between 0 and 1')):
        unswayed.carry_out(wrong, system=always, suite=suite)
    run = unswayed.run_system(suite, always, tmp_path / "run")
    with pytest.raises(UsageError, match="must be max-t, holm, bonferroni or none, not 'all'"):
        unswayed.compare(run, run, plan={"compare": {"correction": "all"}})
