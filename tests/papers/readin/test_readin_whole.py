"""The whole READIN study on a handful of pairs, and the paper's numbers as it prints them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from unswayed import compare
from unswayed.base.errors import UsageError
from unswayed.papers.readin.methods import INDEXED, METHODS
from unswayed.papers.readin.tables import BY_SENTENCE, paper
from unswayed.report.study import studies

PAPER = Path(__file__).parents[3] / "../shared/papers/readin.txt"
SAME = [
    ("花呗怎么还款", "如何还花呗的钱"),
    ("借呗还款日是哪天", "借呗哪天还款"),
    ("支付宝怎么解绑银行卡", "如何取消绑定的银行卡"),
    ("怎么关闭花呗", "花呗如何关掉"),
]
TYPED = {"花呗": "华北", "借呗": "戒备", "还款": "换款", "银行卡": "银行看", "怎么": "怎么"}
NMT = [("明天会下雨", "it will rain tomorrow in the north"), ("市场今天收高", "the market closed higher today")]


def typed(text: str, person: int) -> str:
    for right, wrong in list(TYPED.items())[: person + 2]:
        text = text.replace(right, wrong)
    return text


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("readin")
    pairs = [(a, b, "1") for a, b in SAME] + [(a, SAME[i - 1][1], "0") for i, (a, _) in enumerate(SAME)]
    rows = [{"sentence1": a, "sentence2": b, "label": label} for a, b, label in pairs]
    folder = place / "afqmc_keyboard"
    folder.mkdir()
    write(folder / "train.json", rows * 3)
    write(folder / "test_clean.json", rows)
    for person in range(3):
        changed = [{**r, **{f: typed(r[f], person) for f in ("sentence1", "sentence2")}} for r in rows]
        write(folder / f"test_noisy_{person + 1}.json", changed)
    (place / "nmt").mkdir()
    lines = [{"id": i, "zh": zh, "en": en} for i, (zh, en) in enumerate(NMT)]
    write(place / "nmt/test_clean.json", lines)
    for family in ("keyboard", "asr"):
        for person in (1, 2, 3):
            write(
                place / f"nmt/test_noisy_{family}_{person}.json", [{**r, "zh": r["zh"] + "。" * person} for r in lines]
            )
    return place


def write(file: Path, rows: list[dict[str, object]]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def translate(batch):
    known = dict(NMT)
    return [known.get(inputs["source"], "the market <script>alert(1)</script> today") for inputs in batch]


@pytest.mark.slow
def test_the_whole_study(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sacrebleu", reason="the extra metrics is not installed")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    study = studies.get("readin")()
    given = {"to": str(tmp_path / "out"), "system": ("nmt=test_readin_whole:translate",)}
    outcome = study.run(data, given=given)
    found = outcome.value
    five = found["table5"]["ours"]["keyboard"]["afqmc_positive"]
    assert set(five) == {"plain", "ada", "ada-simulated", "correction"}
    assert five["plain"]["clean"].value == 1.0
    assert five["plain"]["worst"].value <= five["plain"]["average"].value <= 1.0
    assert five["ada"]["gain"]["average"]["difference"].n == 4
    assert set(found["table7"]["ours"]["keyboard"]["afqmc_positive"]) == set(METHODS) - {"correction", *INDEXED}
    assert found["table2"]["ours"]["afqmc"] == {
        "train": 24, "test": 8, **{f"keyboard {person}": 8 for person in (1, 2, 3)}}  # fmt: skip
    assert set(found["table6"]["ours"]) == {"keyboard", "speech"}
    six = found["table6"]["ours"]["speech"]["nmt"]["plain"]
    assert six["clean"].value == pytest.approx(100)
    assert six["average"].value < 100
    assert six["worst"].value <= six[BY_SENTENCE].value, "a worst of sentences is below their average"
    alone = compare(
        *(tmp_path / "out/runs/afqmc" / method for method in ("plain", "correction")),
        scores="positive_accuracy", primary="worst", plan={"measure": {"worst_of": 3}},
    )  # fmt: skip
    worst = next(d for d in alone.differences if (d.measure, d.set) == ("worst", "all"))
    gain = five["correction"]["gain"]["worst"]["difference"]
    assert (gain.low, gain.high) == pytest.approx((worst.low, worst.high)), "each interval is of one measure by itself"
    assert found["table6"]["needs"] == ["cspider is not in the data."]
    assert sum(found["table10"]["ours"]["afqmc"].values()) == pytest.approx(1)
    again = study.run(data, ["table5"], given).value  # from what is on disk
    assert again["table5"] == found["table5"]
    page = (tmp_path / "out/study.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "Table 5" in page
    markdown = (tmp_path / "out/study.md").read_text(encoding="utf-8")
    assert markdown == outcome.text("md"), "the page keeps the tables that --only did not make again"
    assert all(section.title in markdown for table in outcome.tables.values() for section in table.sections)


def test_without_a_system_it_says_what_is_needed(data: Path, tmp_path: Path) -> None:
    study = studies.get("readin")()
    found = study.run(data / "nmt", ["table6"], {"to": str(tmp_path)}).value
    assert found["table6"]["ours"] == {}
    assert "nmt has no system: set system= to nmt=SYSTEM." in found["table6"]["needs"]
    for wrong in ("afqmc", "sql=x", "afqmc+magic=x"):
        with pytest.raises(UsageError, match="system= takes NAME=SYSTEM"):
            study.run(data, ["table5"], {"to": str(tmp_path), "system": (wrong,)})
    with pytest.raises(UsageError, match="the data has no cspider"):
        study.run(data, ["table6"], {"to": str(tmp_path), "system": ("cspider=x:y",)})


def test_only_one_table_leaves_the_others_on_the_page(data: Path, tmp_path: Path) -> None:
    study, given = studies.get("readin")(), {"to": str(tmp_path / "out")}
    study.run(data / "nmt", ["error-rates"], given)
    assert not (tmp_path / "out").exists()
    for name in ("table2", "error-rates", "table10"):
        study.run(data / "nmt", [name], given)
    text = (tmp_path / "out/study.md").read_text(encoding="utf-8")
    assert [line[:10] for line in text.splitlines() if line.startswith("## ")] == [
        *("## Table 2", "## Table 3", "## Table 1")
    ]
    study.run(data / "nmt", ["table2"], {**given, "seed": 5})  # which decides none of these
    assert (tmp_path / "out/study.md").read_text(encoding="utf-8") == text


def test_a_system_of_another_corpus_leaves_a_table_on_the_page(data: Path, tmp_path: Path) -> None:
    study, given = studies.get("readin")(), {"to": str(tmp_path / "out"), "without": ("correction",)}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        study.run(data, ["table9"], {**given, "system": ("afqmc=test_readin_whole:positive",)})
        study.run(data, ["table6"], {**given, "system": ("nmt=test_readin_whole:translate",)})
        text = (tmp_path / "out/study.md").read_text(encoding="utf-8")
        assert "## Table 6" in text
        assert "## Table 9" not in text, "today its system would be another: the embedded one"
        study.run(data, ["table6"], {**given, "system": ("nmt=test_readin_whole:translate",
                                                         "afqmc=test_readin_whole:positive")})  # fmt: skip
    text = (tmp_path / "out/study.md").read_text(encoding="utf-8")
    assert "## Table 6" in text
    assert "## Table 9" in text


def test_given_systems_are_taken_and_others_left_out(data: Path, tmp_path: Path) -> None:
    study = studies.get("readin")()
    always = {
        "to": str(tmp_path),
        "system": ("afqmc=test_readin_whole:positive",),
        "corrector": "mitigate/noisy_channel",
    }
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    try:
        found = study.run(data, ["table5"], always).value["table5"]["ours"]["keyboard"]
        without = study.run(data, ["table5"], {**always, "without": ("correction",), "to": str(tmp_path / "w")})
    finally:
        sys.path.remove(str(Path(__file__).parent))
    assert {m: cells["worst"].value for m, cells in found["afqmc_positive"].items()} == {"plain": 1, "correction": 1}
    assert found["afqmc_negative"]["plain"]["average"].value == 0
    assert set(without.value["table5"]["ours"]["keyboard"]["afqmc_positive"]) == {"plain"}


def test_a_transformer_in_place_of_the_linear_classifier(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra hf is not installed")
    study, left_out = studies.get("readin")(), ("correction", "ada-simulated", "subchar")
    given = {"to": str(tmp_path), "model": "transformer", "epochs": 2, "seeds": 2, "without": left_out}
    table = study.run(data, ["table7"], given).tables["table7"]
    found = table.value["ours"]["keyboard"]["afqmc_positive"]
    assert set(found) == {"plain", "ada", "subchar-index", "subchar-index+ada"}
    assert found["plain"]["clean"].n == 4
    assert ["over_noise" in found[method] for method in found] == [False, False, False, True]
    assert "gain" in found["ada"]
    gain, over = (found["subchar-index+ada"][key]["clean"]["difference"].value for key in ("gain", "over_noise"))
    assert gain - over == pytest.approx(found["ada"]["gain"]["clean"]["difference"].value)
    assert sum("subchar-index+ada over ada: the average moves by" in said for said in table.findings) == 1
    assert (tmp_path / "models/transformer/afqmc+plain@1/system.json").is_file()  # a training of its own
    with pytest.raises(UsageError, match="model= takes linear or transformer"):
        study.run(data, ["table7"], {**given, "model": "bert"})


def positive(batch):
    return ["1" for _ in batch]


@pytest.mark.skipif(not PAPER.exists(), reason="../shared/papers is not here")
def test_the_papers_numbers_are_as_printed() -> None:
    text = PAPER.read_text("utf-8")
    numbers = set(re.findall(r"\d+\.\d+", text))
    for table in ("table5", "table6", "table7", "table9"):
        for families in paper()[table].values():
            for methods in families.values():
                for columns in methods.values():
                    for values in columns.values():
                        assert {f"{value:.2f}" for value in values} <= numbers
    assert {f"{value}" for value in paper()["table10"].values()} <= numbers
    for sizes in paper()["table2"].values():
        assert all(f"{size:,}" in text for size in sizes.values())
    row = "| MacBERT | 80.04 | 48.33 | 18.83 | 62.09 | 76.77 | 58.29 | 67.69 | 56.71 | 41.29 |"
    printed = paper()["table5"]["keyboard"]["MacBERT"]["plain"]
    assert row in text
    assert [*printed["afqmc_positive"], *printed["afqmc_negative"], *printed["cmrc2018"]] == [
        float(cell) for cell in row.strip("| ").split("|")[1:]
    ]
