"""The NATURE study: the paper's numbers as it prints them, and the whole study on a handful of utterances."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import commands
import pytest

from unswayed.base.errors import UsageError
from unswayed.base.values import Estimate
from unswayed.papers.nature.corpora import PAPERS, find_corpora, sizes
from unswayed.papers.nature.families import _paper_gaps
from unswayed.papers.nature.page import families, harm
from unswayed.papers.nature.random_set import even_random
from unswayed.papers.nature.tables import OPERATORS, paper, paper_rows, table4
from unswayed.run import make_suite
from unswayed.run.plan import NATURE
from unswayed.vary import OperatorSpec

SHARED = Path(__file__).parents[3] / "../shared"
ROWS = {"Orig", "Rand", "Hard", *OPERATORS}
NAME = "tiny<i>"  # a data set that would be markup, were it not escaped
SAID = [
    ("play some quiet jazz", "play", "O O O B-genre"),
    ("play loud rock music", "play", "O O B-genre O"),
    ("please play old soul songs quickly", "play", "O O O B-genre O O"),
    ("start the new <script>alert(1)</script> album", "play", "O O O B-album O"),
    ("will it rain today", "weather", "O O O B-day"),
    ("is it very cold on monday", "weather", "O O O O O B-day"),
    ("show me the weather for friday", "weather", "O O O O O B-day"),
    ("find a cheap flight to boston", "flight", "O O O O O B-city"),
    ("book the early flight from denver to dallas", "flight", "O O O O O B-city O B-city"),
    ("list all flights that leave new york", "flight", "O O O O O B-city I-city"),
]


def test_the_papers_numbers_are_complete() -> None:
    printed = paper()
    assert set(OPERATORS.values()) == set(NATURE)
    assert set(printed["table2"]) == set(OPERATORS)
    for model in ("Bi-RNN", "Stack-Prop+BERT"):
        assert set(printed["table4"][model]) == ROWS
        assert all(len(row) == 12 for row in printed["table4"][model].values())
    for name in ("atis", "snips", "nlu_ed"):
        assert sum(row[name] for row in printed["table2"].values()) == pytest.approx(100, abs=0.25)
        assert set(printed["table1"][name]) == {"train", "valid", "test"}
    assert set(printed["table5"]) == {"Orig", "Rand", "Hard"}


def test_the_papers_averages_are_those_of_its_numbers() -> None:
    for rows in paper()["table4"].values():
        for values in rows.values():
            for score in range(3):
                assert sum(values[score:9:3]) / 3 == pytest.approx(values[9 + score], abs=0.1001)
    for label, row in paper()["table5"].items():
        for side in range(2):
            mean = sum(row[name][side] for name in ("atis", "snips", "nlu_ed")) / 3
            slip = 0.3 if (label, side) == ("Rand", 1) else 0.1001  # the paper prints 58.3 for 58.03
            assert mean == pytest.approx(row["average"][side], abs=slip)


def test_the_papers_numbers_are_as_printed() -> None:
    text = SHARED / "papers/nature.txt"
    if not text.exists():
        pytest.skip("the paper's text is not beside the repository")
    lines = text.read_text("utf-8").splitlines()
    found = [re.sub(r"</?u>", "", line).split("\t") for line in lines if line.count("\t") >= 12]
    for block, model in enumerate(("Stack-Prop+BERT", "Bi-RNN")):
        for label, values in paper()["table4"][model].items():
            printed = [cells for cells in found if cells[0] == label][block]
            assert [float(cell) for cell in printed[1:13]] == values, (model, label)
    for label, row in paper()["table2"].items():
        assert any(line.split("\t") == [label, *(str(v) for v in row.values())] for line in lines), label


def test_sizes_are_the_papers() -> None:
    if not (SHARED / "data/slu/atis").is_dir():
        pytest.skip("../shared/data/slu is not there")
    corpora = find_corpora(SHARED / "data/slu", ["atis", "snips"])
    ours = {corpus.name: {part: list(size) for part, size in sizes(corpus).items()} for corpus in corpora}
    assert ours == {name: paper()["table1"][name] for name in ("atis", "snips")}


def test_nlu_ed_is_found_beside_the_others() -> None:
    if not (SHARED / "data/nlu_ed").is_dir():
        pytest.skip("../shared/data/nlu_ed is not there")
    (corpus,) = find_corpora(SHARED / "data/slu", ["nlu_ed"])
    assert corpus.valid is None
    assert (corpus.train.name, corpus.test.name) == ("trainset", "testset")


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder atis"):
        find_corpora(tmp_path, ["atis"])
    with pytest.raises(UsageError, match="none of atis, snips, nlu_ed"):
        find_corpora(tmp_path, [])


def test_the_papers_average_is_over_the_data_sets_that_we_have() -> None:
    printed = paper()["table4"]["Bi-RNN"]
    two, three = (paper_rows(printed, names)["average"]["Hard"]["e2e"] for names in (["atis", "snips"], PAPERS))
    assert two == pytest.approx((0.276 + 0.07) / 2)
    assert three == 0.23


def estimate(value: float) -> Estimate:
    return Estimate(value, value - 0.01, value + 0.01, 100, 0, "")


def test_findings_say_where_we_differ() -> None:
    """With the paper's own numbers as ours, nothing differs; with two of them exchanged, that is said."""
    printed = table4({})["paper"]
    drops = {
        label: estimate(printed["Bi-RNN"]["atis"]["Orig"]["e2e"] - printed["Bi-RNN"]["atis"][label]["e2e"])
        for label in OPERATORS
    }
    table = {"ours": {"atis": {}}, "drop": {"atis": drops}, "paper": printed}
    ours, theirs, _ = harm(table)
    assert ours.startswith(
        "End to end on ATIS, the largest losses measured are Syn. Adj. (50.3), Syn. Adv. (46.3), EOS Filler (32.5), the"
    )
    assert "Syn. Adj. (50.3), Syn. Adv. (46.3), EOS Filler (32.5) most" in theirs
    drops["EOS Filler"], drops["Pre-V. Filler"] = estimate(0.0), estimate(0.9)
    said = list(harm(table))[2]
    assert "but not EOS Filler" in said
    assert "not Pre-V. Filler but EOS Filler hurts least" in said


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("nature")
    for part in ("train", "valid", "test"):
        folder = place / "data" / NAME / part
        folder.mkdir(parents=True)
        for file, column in (("seq.in", 0), ("label", 1), ("seq.out", 2)):
            (folder / file).write_text("".join(row[column] + "\n" for row in SAID * 2))
    return place


def study(place: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = ["study", "nature", "--data", "data", "--datasets", NAME, "-o", "out"]
    settings = ["--epochs", "2,birnn=1", "--repetitions", "3", "--seeds", "2", "--families", "birnn"]
    return commands.unswayed(*command, *settings, *more, cwd=place)


def is_estimate(value: object) -> bool:
    return isinstance(value, dict) and set(value) >= {"value", "low", "high", "n", "missing", "signature"}


def test_gaps_are_held_against_the_papers() -> None:
    """Of pretrained models, beside the gap of the paper's on the same data set."""
    gaps = _paper_gaps(["atis"])["atis"]
    assert gaps == pytest.approx({"Orig": 0.015, "Rand": 0.047, "Hard": 0.073})
    ours = {s: {"e2e": estimate(0.5), "gap": estimate(gap)} for s, gap in gaps.items()}
    ours["Hard"]["gap"] = estimate(0.01)
    first = {s: {"e2e": estimate(0.5)} for s in gaps}
    models = {"birnn": {"atis": first}, "stackprop": {"atis": ours}, "jointbert": {"atis": ours}}
    section = families({"ours": models, "first": "birnn", "paper": {"atis": gaps}})
    said = [(row["gaps, paper"], row["agrees"]) for row in section.tables[0].rows]
    assert said == [("–", "–"), ("–", "–"), ("+1.5, +4.7, +7.3", "yes, yes, less")]


def test_a_linear_model_trains_in_seconds_with_seeds_of_its_own(place: Path) -> None:
    done = study(place, "--model", "linear", "--only", "table4", "--only", "table5", "-o", "lin", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["table4"]["trainings"] == 2
    assert found["table4"]["ours"][NAME]["Orig"]["e2e"]["value"] > 0.5
    assert is_estimate(found["table5"]["ours"][NAME]["Hard"]["gain"])
    seeds = {json.loads(f.read_text())["seed"] for f in (place / "lin/models").glob("**/system.json")}
    assert seeds == {0, 1000, 1001}, "that of the selector is not under test"


def test_random_takes_operators_evenly_and_words_are_counted_by_class(place: Path) -> None:
    done = study(place, "--model", "linear", "--only", "mixture", "--only", "classes", "-o", "lin", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["classes"][NAME]["Syn. Adj."]["adjective"]["n"] > 0
    total = sum(cell["value"] for cell in found["mixture"][NAME].values())
    assert total == pytest.approx(1)
    page = (place / "lin/study.md").read_text("utf-8")
    assert "an adjective; a noun if the utterance has no adjective" in page
    done = study(place, "--model", "linear", "--only", "classes", "-o", "never", "--param", "nouns=never")
    assert done.returncode == 0, done.stderr
    assert "noun" not in set(re.findall(r"(?:Syn\. A\w+\.).*?(noun|adjective|adverb) {2,}", done.stdout))
    done = study(place, "--only", "table2", "-o", "bad", "--param", "size=3")
    assert done.returncode == 4
    assert "parameter of these operators" in done.stderr
    assert study(place, "--only", "table2", "-o", "bad", "--param", "model").returncode == 4


def test_each_operator_gets_its_tenth(tmp_path: Path) -> None:
    """Fillers fit every utterance; an operator that fits few has those, and the others share the rest."""
    texts = [{"text": f"play the song {n} now", "label": "a"} for n in range(60)]
    texts[0]["text"] = "find a cheap hotel near the station"
    names = ("spoken/filler_begin", "spoken/filler_end", "spoken/speako", "spoken/synonym_adjective")
    specs = [OperatorSpec(name, {"nouns": "never"} if "adjective" in name else {}) for name in names]
    candidates = make_suite(texts, specs, language="en", draws=3, seed=1, to=tmp_path / "candidates")
    suite = even_random(candidates, tmp_path / "random", 3, 1)
    for draw in range(3):
        counts = Counter(variant.source for variant in suite if variant.draw == draw)
        assert sum(counts.values()) == 60
        assert counts.pop("spoken/synonym_adjective") == 1
        assert max(counts.values()) - min(counts.values()) <= 1
    assert even_random(candidates, tmp_path / "random", 3, 1).id == suite.id
    assert even_random(candidates, tmp_path / "other", 3, 2).id != suite.id
    assert {variant.draw for variant in suite} == {0, 1, 2}


@pytest.mark.slow
def test_the_whole_study(place: Path) -> None:
    pytest.importorskip("torch")
    done = study(place, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"table1", "table2", "table3", "table4", "table5"} <= set(found)
    assert found["table1"]["ours"][NAME]["test"]["sentences"] == 20
    chosen = found["table2"]["ours"][NAME]
    assert sum(e["value"] for e in chosen.values()) == pytest.approx(1)
    assert found["table2"]["selector"] == {NAME: "baselines/intent"}
    assert found["table3"]["needs"].startswith(f"unswayed survey export 'out/suites/{NAME}/each'")
    rows = found["table4"]["ours"][NAME]
    assert {"Orig", "Rand", "Hard", "EOS Filler", "Speako"} <= set(rows) <= ROWS
    assert all(is_estimate(row[score]) for row in rows.values() for score in ("slot", "intent", "e2e"))
    assert rows["Orig"]["e2e"]["n"] == 20
    assert "(hard for baselines/intent)" in rows["Hard"]["e2e"]["signature"]
    gains = found["table5"]["ours"][NAME]
    assert all(is_estimate(gains[row][side]) for row in gains for side in ("without", "with", "gain"))
    assert rows["Orig"]["e2e"]["over"] == "examples and trainings like these"
    models = found["families"]["ours"]
    assert set(models) == {"bilstm", "birnn"}
    assert is_estimate(models["birnn"][NAME]["Hard"]["gap"])
    assert "gap" not in models["bilstm"][NAME]["Hard"]
    ends = found["fillers"]["ours"][NAME]["EOS Filler"]
    assert sum(cell["n"] for cell in ends.values()) == rows["EOS Filler"]["e2e"]["n"]
    share = sum(cell["n"] * cell["value"] for cell in ends.values()) / rows["EOS Filler"]["e2e"]["n"]
    assert share == pytest.approx(rows["EOS Filler"]["e2e"]["value"]), "fillers add up to their operator"
    assert found["attention"]
    for case in found["attention"]:
        for line in case["lines"]:
            assert len(line["tokens"]) == len(line["shares"])
            assert sum(line["shares"]) == pytest.approx(1, abs=1e-4)
    assert json.loads((place / "out/study.json").read_text("utf-8")) == found


@pytest.mark.slow
def test_the_page_has_no_script(place: Path) -> None:
    page = (place / "out/study.html").read_text("utf-8")
    assert "<script" not in page
    assert "tiny&lt;i&gt;" in page
    assert "<i>" not in page
    assert "<svg" in page
    assert page.count("<section>") == 11
    told = (place / "out/study.md").read_text("utf-8")
    assert "tiny&lt;i&gt;" in told
    assert "<i>" not in told
    assert told.count("\n## ") == 11


@pytest.mark.slow
def test_given_again_nothing_is_made_again(place: Path) -> None:
    def times() -> dict[str, int]:
        kept = ("weights.safetensors", "weights.npz", "variants.parquet", "outputs.sqlite")
        return {str(f): f.stat().st_mtime_ns for name in kept for f in (place / "out").rglob(name)}

    before = times()
    assert len(before) == 7 + 4 + 14, sorted(before)  # two trainings of each model
    done = study(place, "--format", "md")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (place / "out/study.md").read_text("utf-8").strip()
    assert times() == before


def test_one_table_needs_no_training(place: Path, tmp_path: Path) -> None:
    done = study(place, "--only", "table1", "-o", str(tmp_path / "other"))
    assert done.returncode == 0, done.stderr
    assert "TABLE 1: THE DATA SETS" in done.stdout
    assert not (tmp_path / "other/models").exists()


def test_only_table_2_leaves_table_1_on_the_page(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "data", tmp_path / "data")

    def kept(*more: str) -> list[str]:
        done = study(tmp_path, *more)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("TABLE ") == 1
        said = "table2.json was made with other data, options or another version" in done.stderr
        titles = [line for line in (tmp_path / "out/study.md").read_text("utf-8").split("\n") if line[:3] == "## "]
        tables = list(json.loads((tmp_path / "out/study.json").read_text("utf-8")))
        assert [title[3:10].replace(" ", "").lower() for title in titles] == [name[:6] for name in tables]
        return [*tables, "said"] if said else tables

    assert kept("--only", "table1") == ["table1"]
    assert kept("--only", "table2", "--seed", "3") == ["table1", "table2"]
    assert kept("--only", "table3", "--seed", "3", "--epochs", "9") == ["table1", "table2", "table3"]
    for file in (tmp_path / "data" / NAME / "train").iterdir():
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    assert kept("--only", "table1") == ["table1", "said"]


def test_a_system_of_no_data_set_is_refused(place: Path, tmp_path: Path) -> None:
    done = study(place, "--system", "big=model/", "--only", "table4", "-o", str(tmp_path / "other"))
    assert done.returncode == 4
    assert f"NAME of {NAME}, {NAME}+augmented, not 'big'" in done.stderr


def test_a_folder_without_the_data_does_not_take_what_lies_beside_it(tmp_path: Path) -> None:
    for name in ("slu/atis/train", "slu/atis/test", "nlu_ed/train", "nlu_ed/test", "other"):
        (tmp_path / name).mkdir(parents=True)
    assert [corpus.name for corpus in find_corpora(tmp_path / "slu", [])] == ["atis", "nlu_ed"]
    with pytest.raises(UsageError, match="none of atis, snips, nlu_ed"):
        find_corpora(tmp_path / "other", [])
