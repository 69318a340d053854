"""READIN's tables from its real files."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pytest

from unswayed.base.errors import DataError, UnknownName
from unswayed.papers.readin.study import corpus_error_rates
from unswayed.report.study import studies

DATA = Path(__file__).parents[3] / "../shared/data/readin"
needs_readin = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


def unswayed(*arguments):
    return commands.unswayed(*arguments)


@needs_readin
def test_table_3():
    done = unswayed("study", "readin", "--data", DATA, "--only", "error-rates", "--format", "json")
    table = json.loads(done.stdout)
    assert set(table) == {"afqmc.keyboard", "nmt.keyboard", "nmt.speech"}
    pairs = table["afqmc.keyboard"]
    assert pairs["average"] == pytest.approx(18.8, abs=0.15)
    assert pairs["worst"] == pytest.approx(27.5, abs=0.15)
    low, high = pairs["average_interval"]
    assert low < pairs["average"] < high
    # Half of the paper's segments: near its figures, no more.
    for name in ("nmt.keyboard", "nmt.speech"):
        for measure in ("average", "worst"):
            assert table[name][measure] == pytest.approx(table[name]["paper"][measure], abs=1.0)


@needs_readin
def test_what_line_breaks_add():
    """The third annotator's file has a line break after every second sentence, which the paper counts."""
    rates = corpus_error_rates(DATA / "afqmc_keyboard", "keyboard")
    assert 100 * rates.average.value == pytest.approx(17.40, abs=0.01)
    assert 100 * rates.worst.value == pytest.approx(25.89, abs=0.01)


@needs_readin
def test_for_people(tmp_path):
    tables = ("--only", "error-rates", "--only", "table2")
    done = unswayed("study", "readin", "--data", DATA / "nmt", *tables, "-o", tmp_path, "--format", "md")
    assert (tmp_path / "study.md").read_text(encoding="utf-8") == done.stdout.removesuffix("\n")
    assert "nmt.speech" in done.stdout
    assert "paper: worst" in done.stdout


def test_wrong_names(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'error-rates'"):
        studies.get("readin")().run(tmp_path, ["error-rate"])
    with pytest.raises(DataError, match="no READIN corpus here"):
        studies.get("readin")().run(tmp_path)
    done = unswayed("study", "readin", "--data", tmp_path)
    assert done.returncode == 4
