"""`unswayed score`, `measure error-rate` and importing people's versions, as a user gives them."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pytest

SHARED = Path(__file__).parents[2] / "../shared/data"


@pytest.fixture
def unswayed(tmp_path):
    def run(*arguments):
        return commands.unswayed(*arguments, cwd=tmp_path)

    return run


@pytest.mark.skipif(not (SHARED / "spider_eval").is_dir(), reason="../shared/data is not here")
def test_sql_as_the_official_script(unswayed):
    spider = SHARED.resolve() / "spider_eval"
    files = "--gold", spider / "gold_example.txt", "--pred", spider / "pred_example.txt"
    tables = "--tables", SHARED.resolve() / "cspider/tables.json"
    scores = json.loads(unswayed("score", "sql", *files, *tables, "--format", "json").stdout)
    assert round(scores["exact"], 3) == 0.697
    first = unswayed("score", "sql", *files, *tables, "--rule", "first").stdout
    assert "0.725" in first
    assert "0.388" in first
    missing = unswayed("score", "sql", *files)
    assert missing.returncode == 4
    assert "--tables tables.json" in missing.stderr


def test_any_scorer(unswayed, tmp_path):
    (tmp_path / "gold.txt").write_text("a\nb\nb\n", encoding="utf-8")
    (tmp_path / "said.txt").write_text("a\nb\na\n", encoding="utf-8")
    done = unswayed("score", "accuracy", "--gold", "gold.txt", "--pred", "said.txt", "--format", "json")
    found = json.loads(done.stdout)
    assert (found["score"], found["n"]) == ("accuracy", 3)
    assert found["value"] == pytest.approx(2 / 3)
    assert found["low"] <= found["value"] <= found["high"]
    wrong = unswayed("score", "acuracy", "--gold", "gold.txt", "--pred", "said.txt")
    assert (wrong.returncode, "Did you mean 'accuracy'" in wrong.stderr) == (4, True)


def test_peoples_versions_and_their_error_rate(unswayed, tmp_path):
    folder = tmp_path / "afqmc_keyboard"
    folder.mkdir()
    for name, text in {"test_clean": "花呗提额", "test_noisy_1": "华北提额", "test_noisy_2": "花呗提额"}.items():
        record = {"sentence1": text, "sentence2": "提额", "label": "1"}
        (folder / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    done = unswayed("suite", "import", "afqmc_keyboard", "-o", "suite")
    assert "2 variants of 1 example " in done.stderr
    rates = json.loads(unswayed("measure", "error-rate", "suite", "--format", "json").stdout)
    assert rates["keyboard"]["average"]["value"] == pytest.approx(1 / 6)
    assert rates["all"]["worst"]["value"] == pytest.approx(1 / 3)
    assert "0.333" in unswayed("measure", "error-rate", "suite").stdout
