"""Story 6: READIN's files in the authors' layout, and one command that prints their tables with ours beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import unswayed

SHARED = Path(__file__).parents[2] / "../shared/data/readin"
CASES = [("花呗怎么提额", "花呗如何提高额度", "1"), ("借呗怎么还款", "花呗能退货吗", "0"),
         ("支付宝密码忘了", "忘记支付宝密码怎么办", "1"), ("余额宝收益多少", "借呗利息多少", "0")]  # fmt: skip
TYPED = {"花呗": "华北", "借呗": "戒备", "支付宝": "支付报", "余额": "鱼额", "怎么": "怎吗", "多少": "多烧"}


def lines(file: Path, rows: list[dict[str, str]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def release(root: Path) -> None:
    """clean/, keyboard/ and speech/, in each AFQMC, with three people's versions; a training set in clean/."""
    rows = [{"sentence1": a, "sentence2": b, "label": label} for a, b, label in CASES * 4]
    lines(root / "clean/afqmc/train.json", rows * 3)
    lines(root / "clean/afqmc/test_clean.json", rows[:12])
    for family in ("keyboard", "speech"):
        for person in range(3):
            noisy = [{**row} for row in rows[:12]]
            for i, row in enumerate(noisy):
                for right, wrong in list(TYPED.items())[person::2]:
                    if (i + person) % 3 or family == "speech":
                        row["sentence1"] = row["sentence1"].replace(right, wrong)
            lines(root / family / "afqmc" / f"test_noisy_{person + 1}.json", noisy)


def test_the_authors_files_give_their_tables_with_ours_beside(tmp_path: Path) -> None:
    release(tmp_path / "READIN")
    study = ["study", "readin", "--data", "READIN", "-o", "out", "--seeds", "2", "--without", "ada-simulated"]
    tables = ["--only", "table2", "--only", "table5", "--only", "table7", "--only", "error-rates"]
    done = unswayed(*study, *tables, "--format", "md", cwd=tmp_path, check=True)
    page = done.stdout
    assert "paper: MacBERT" in page
    assert "paper: average" in page
    assert "they include how much its trainings differ" in page
    found = json.loads((tmp_path / "out/study.json").read_text(encoding="utf-8"))
    assert found["table2"]["ours"]["afqmc"] == {
        "train": 48, "test": 12, **{f"{f} {n}": 12 for f in ("keyboard", "speech") for n in (1, 2, 3)}}  # fmt: skip
    assert set(found["error-rates"]) == {"afqmc.keyboard", "afqmc.speech"}
    cells = found["table5"]["ours"]["keyboard"]["afqmc_positive"]
    assert set(cells) == {"plain", "ada", "correction"}
    assert cells["ada"]["average"]["over"] == "examples and trainings like these"
    assert "trainings" not in cells["plain"]["average"].get("over", ""), "training it again gives the same classifier"
    told = re.findall(r"noise moves the plain system by .*? on average, in the paper .*?: (agrees|differs)", page)
    assert told
    again = unswayed(*study, *tables, "--format", "md", cwd=tmp_path, check=True)
    assert again.stdout == page


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")
def test_the_real_files_give_the_papers_error_rates(tmp_path: Path) -> None:
    done = unswayed("study", "readin", "--data", SHARED, "--only", "error-rates", "--format", "json", check=True)
    table = json.loads(done.stdout)
    assert table["afqmc.keyboard"]["average"] == pytest.approx(table["afqmc.keyboard"]["paper"]["average"], abs=0.15)
    assert table["nmt.speech"]["worst"] == pytest.approx(table["nmt.speech"]["paper"]["worst"], abs=1.0)
