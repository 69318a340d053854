"""The dialect study: its numbers against a count by hand, the command as written, bad input named and counted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import commands
import numpy as np
import pytest
import sacrebleu
from scipy.stats import kendalltau

from unswayed.base.errors import DataError, NothingEvaluated, SystemBroken, UsageError
from unswayed.papers.dialect.agreement import pairwise_accuracy
from unswayed.papers.dialect.study import Dialect

SHARED = Path(__file__).parents[3] / "../shared/data"
SEGMENTS = [
    ("The bus is late.", "O ônibus está atrasado.", "O autocarro está atrasado."),
    ("It was the first train.", "Foi o primeiro trem.", "Foi o primeiro comboio."),
    ("More than 300 people came.", "Mais de 300 pessoas vieram.", "Vieram mais de 300 pessoas."),
    ("Yes.", "Sim.", "Pois."),  # no control
    ("The bridge was built in 1998.", "A ponte foi construída em 1998.", "A ponte foi construída em 1998."),
]
METRICS = """
import math
def length(items):
    return [-abs(len(i["candidate"]) - len(i["reference"])) for i in items]
def sometimes(items):
    return [math.nan if "trem" in i["reference"] else 1.0 + ("autocarro" in i["candidate"]) for i in items]
def aware(items):
    european = ["autocarro" in i["candidate"] or "comboio" in i["candidate"] for i in items]
    return [float((i["tag"] == "pt-PT") == here) for i, here in zip(items, european)]
aware.uses = ("reference", "tag")
def one_tag(items):
    return [float(i["tag"] == "pt-PT") for i in items]
one_tag.uses = ("reference", "tag")
def one_dialect(items):
    return [float("autocarro" in i["candidate"] or "comboio" in i["candidate"]) for i in items]
one_dialect.uses = ("reference", "tag")
def german(items):
    return [0.0 for _ in items]
german.uses, german.tags = ("tag",), ("de-any",)
def quality(items):
    return [float(len(i["source"])) for i in items]
quality.uses = ("source",)
def both(items):
    return [float(len(i["source"]) + len(i["reference"]) - len(i["candidate"])) for i in items]
both.uses = ("source", "reference")
def words(items):
    return [len(set(i["candidate"].split()) & set(i["source"].split())) for i in items]
words.uses = ("source",)
"""
# Translates word by word, and leaves what it does not know in English.
TRANSLATOR = """
WORDS = {"the": "o", "bus": "ônibus", "is": "está", "late.": "atrasado.", "train.": "trem.", "people": "pessoas"}
def translate(items):
    return [" ".join(WORDS.get(w.lower(), w) for w in i["text"].split()) for i in items]
def numbers(items):
    return [len(i["text"]) for i in items]
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "frmt/lexical_bucket"
    folder.mkdir(parents=True)
    for place, tag in ((1, "pt-BR"), (2, "pt-PT")):
        lines = "".join(f"{row[0]}\t{row[place]}\n" for row in SEGMENTS)
        (folder / f"pt_lexical_test_en_{tag}.tsv").write_text(lines, encoding="utf-8")
    (tmp_path / "dialect_metrics.py").write_text(METRICS)
    (tmp_path / "dialect_mt.py").write_text(TRANSLATOR)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "frmt"


def test_success_and_effect_are_what_a_count_by_hand_gives(data: Path) -> None:
    found = Dialect().run(data, given={"metric": ["chrf"], "to": "out"}).value["pt"]["chrf"]
    judged = [json.loads(line) for line in Path("out/judge.jsonl").read_text(encoding="utf-8").splitlines()]
    edited = {one["original"]: one["text"] for one in judged}
    assert len(edited) == 3
    gaps = [
        sacrebleu.sentence_chrf(other, [base]).score - sacrebleu.sentence_chrf(edited[base], [base]).score
        for _, base, other in SEGMENTS
        if base in edited
    ]
    assert found["success"]["n"] == 3
    assert found["success"]["value"] == pytest.approx(sum(gap > 0 for gap in gaps) / 3)
    assert found["effect"]["dialect_vs_perturb"]["value"] == pytest.approx(sum(gaps) / 3)
    assert found["effect"]["mt_vs_perturb"] is None
    less = [100 - sacrebleu.sentence_chrf(other, [base]).score for _, base, other in SEGMENTS if base in edited]
    assert found["robust"]["gap"] == pytest.approx(sum(less) / 3)
    assert (found["robust"]["value"], found["robust"]["n"]) == (0.0, 3)
    assert found["excluded"] == 2
    assert found["excluded_by"] == {"no control": 1, "the dialects do not differ": 1}
    assert found["examples"]["all"] == 5
    assert found["paper"]["success"] == 0.35


def test_an_edited_metric_has_new_scores_and_a_new_signature(data: Path) -> None:
    """The command as a user gives it, twice, with the metric's module edited in between; then once more."""
    said = []
    for sign in ("-", "+", "+"):
        Path("mm.py").write_text(f"def score(items):\n    return [{sign}len(i['candidate']) for i in items]\n")
        command = [sys.executable, "-B", "-m", "unswayed", "study", "dialect", "--data", data, "--metric", "mm:score"]
        done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        said.append(json.loads(done.stdout)["pt"]["mm:score"])
    assert said[0]["effect"] != said[1]["effect"]
    assert said[0]["success"]["value"] != said[1]["success"]["value"]
    assert said[0]["success"]["signature"] != said[1]["success"]["signature"]
    assert said[1] == said[2]


def test_translations_make_the_papers_conditions(data: Path) -> None:
    mt, perturbed = Path("mt.txt"), Path("perturbed.txt")
    mt.write_text("O ônibus atrasou.\n\nVieram 300.\nSim.\nA ponte.\n", encoding="utf-8")
    perturbed.write_text("O ônibus chegou.\nFoi o último trem.\n\n\nA ponte caiu.\n", encoding="utf-8")
    given = {"metric": ["bleu"], "to": "out", "mt": [f"pt={mt}"], "perturbed": [f"pt={perturbed}"]}
    found = Dialect().run(data, given=given).value["pt"]["bleu"]
    assert found["success"]["n"] == 2
    one = found["effect"]["mt_vs_perturb"]  # one of the two has no translation: a hole, not a zero
    assert one["pooled_se"] > 0
    assert one["se"] is None  # one example has no spread
    assert found["success_over_mt"]["missing"] == 1
    assert found["excluded_by"]["no control"] == 2
    mt.write_text("one line\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"mt\.txt: this file has 1 lines, but there are 5 examples"):
        Dialect().run(data, given=given)
    with pytest.raises(UsageError, match="translations for de"):
        Dialect().run(data, given={**given, "mt": ["de=perturbed.txt"]})
    with pytest.raises(UsageError, match="mt= takes LANG=FILE"):
        Dialect().run(data, given={**given, "mt": ["mt.txt"]})
    with pytest.raises(UsageError, match="translator= translates both texts of pt"):
        Dialect().run(data, given={**given, "translator": ["pt=dialect_mt:translate"]})


def test_a_system_translates_both_texts(data: Path) -> None:
    given = {"metric": ["chrf"], "to": "out", "translator": ["pt=dialect_mt:translate"]}
    found = Dialect().run(data, given=given).value["pt"]["chrf"]
    assert found["translated"]
    # as files give it, and nothing is translated twice
    files = {"mt": ["pt=out/pt.mt.txt"], "perturbed": ["pt=out/pt.mt.perturbed.txt"]}
    assert Path("out/pt.mt.txt").read_text(encoding="utf-8").splitlines()[0] == "o ônibus está atrasado."
    again = Dialect().run(data, given={"metric": ["chrf"], "to": "again", **files}).value["pt"]["chrf"]
    assert again == found
    assert found["mt_over_perturb"]["n"] == found["success"]["n"] == found["success_over_mt"]["n"]
    assert found["effect"]["dialect_vs_mt"]["value"] == pytest.approx(
        found["effect"]["dialect_vs_perturb"]["value"] - found["effect"]["mt_vs_perturb"]["value"]
    )
    # Table 8, what people judge and the explanation are about the English that was changed
    judged = [json.loads(line) for line in Path("out/judge.jsonl").read_text(encoding="utf-8").splitlines()]
    english = {row[0] for row in SEGMENTS}
    assert judged
    assert all(one["original"] in english and one["text"] != one["original"] for one in judged)
    changed = Path("out/pt.perturbed.txt").read_text(encoding="utf-8").splitlines()
    assert found["examples"]["replace"] + found["examples"].get("insert", 0) >= sum(map(bool, changed))
    page = Path("out/study.html").read_text(encoding="utf-8")
    assert "controls of pt are machine translations of changed English" in page
    assert "change a word of the reference itself" not in page
    with pytest.raises(SystemBroken, match=r"numbers must return a translated text"):
        Dialect().run(data, given={**given, "translator": ["pt=dialect_mt:numbers"], "to": "other"})
    with pytest.raises(UsageError, match="translations for en, for which"):
        Dialect().run(data, given={**given, "translator": ["en=dialect_mt:translate"], "to": "other"})


def test_without_translation_the_page_says_why_shares_are_low(data: Path) -> None:
    Dialect().run(data, ["table1"], {"metric": ["chrf"], "to": "out"})
    page = Path("out/study.html").read_text(encoding="utf-8")
    assert "change a word of the reference itself" in page
    assert "not translated" in page
    assert "chrF 0.35" in page
    assert "a lower bound: no translator" in page
    assert "differs by" not in page


def test_trainings_of_a_metric_are_put_together(data: Path) -> None:
    names = ["mine=dialect_metrics:length", "mine=dialect_metrics:sometimes", "bleu"]
    found = Dialect().run(data, given={"metric": names, "to": "out"}).value["pt"]
    assert list(found) == ["mine", "mine #2", "bleu"]
    page = Path("out/study.html").read_text(encoding="utf-8")
    assert "Several trainings together; intervals include training" in page
    mean = (found["mine"]["success"]["value"] + found["mine #2"]["success"]["value"]) / 2
    assert f"{mean:.2f} [" in page


def test_agreement_with_people_is_darr_or_kendall(data: Path) -> None:
    """daRR as `unswayed measure darr` gives it, Kendall as SciPy does, and quality estimation by itself."""
    rows = [
        {"pair": "en-pt", "system": system, "segment": str(i), "candidate": "a b c d"[: 2 * good - 1],
         "reference": "a b c d", "source": "a b c d", "score": 30 * good}
        for i in range(6)
        for system, good in (("one", 1 + i % 2), ("two", 3), ("three", 4))
    ]  # fmt: skip
    Path("rated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metrics = ["dialect_metrics:length", "dialect_metrics:words", "dialect_metrics:both"]
    given = {"metric": metrics, "to": "out", "ratings": "rated.jsonl"}
    outcome = Dialect().run(data, ["table3", "table12", "table14"], given)
    found = {name: one["agreement"]["en-pt"] for name, one in outcome.value["ratings"].items()}
    assert [found[metrics[0]][key] for key in ("measure", "value", "high", "n")] == ["daRR", 1.0, 1.0, 18]
    assert found[metrics[2]]["value"] == -1.0
    page = Path("out/study.html").read_text(encoding="utf-8")
    three, twelve = (page[page.index(f"Table {n}") :] for n in (3, 12))
    assert three.index("dialect_metrics:length") < three.index("Table 12") < three.index("dialect_metrics:words")
    assert twelve.index("dialect_metrics:words") < twelve.index("Table 14") < twelve.index("dialect_metrics:both")
    alone = [row for row in rows if row["system"] == "one"]
    for i, row in enumerate(alone):
        row |= {"score": i * 10, "candidate": "a b c d"[: 1 + (i * 5) % 7]}
    Path("rated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in alone))
    one = Dialect().run(data, ["table3"], given).value["ratings"][metrics[0]]["agreement"]["en-pt"]
    expected = kendalltau([-abs(len(r["candidate"]) - 7) for r in alone], [r["score"] for r in alone]).statistic
    assert one["measure"] == "Kendall"
    assert one["value"] == pytest.approx(expected)
    assert one["low"] < one["value"] < one["high"]
    assert one["pairwise"]["n"] == 15
    Path("rated.jsonl").write_text('{"pair": "en-pt"}\n')
    with pytest.raises(DataError, match=r"rated\.jsonl:1"):
        Dialect().run(data, ["table3"], given)


def test_pairwise_accuracy_is_the_best_over_all_ties() -> None:
    """Against counting every pair for every number that could be the calibrated one."""
    rng = np.random.default_rng(5)
    for several in (False, True):
        metric, people = rng.integers(0, 6, 24) / 2, rng.integers(0, 4, 24).astype(float)
        groups = np.repeat(np.arange(6), 4) if several else np.zeros(24, dtype=int)
        pairs = [(i, j) for i in range(24) for j in range(i) if groups[i] == groups[j]]

        def accuracy(epsilon: float, metric=metric, people=people, pairs=pairs) -> float:
            right = 0
            for i, j in pairs:
                gap, order = metric[i] - metric[j], people[i] - people[j]
                right += order == 0 if abs(gap) <= epsilon else gap * order > 0
            return right / len(pairs)

        found = pairwise_accuracy(metric, people, groups)
        assert found["value"] == pytest.approx(max(accuracy(n / 2) for n in range(6)))
        assert accuracy(found["epsilon"]) == pytest.approx(found["value"])
        assert found["n"] == len(pairs)
        assert found["low"] < found["value"] < found["high"]
    assert pairwise_accuracy(metric[:1], people[:1], groups[:1])["value"] is None
    same = np.ones(4)
    assert pairwise_accuracy(same, same, np.zeros(4, dtype=int))["value"] == 1.0


def test_pairwise_accuracy_of_many_translations_takes_a_part_of_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    people = rng.normal(size=400)
    metric = people + rng.normal(size=400)
    whole = pairwise_accuracy(metric, people, np.zeros(400, dtype=int))
    monkeypatch.setattr("unswayed.papers.dialect.agreement._MOST_PAIRS", 8000)
    part = pairwise_accuracy(metric, people, np.zeros(400, dtype=int))
    assert (whole["n"], part["n"]) == (79800, 8000)
    assert part["value"] == pytest.approx(whole["value"], abs=0.02)
    assert whole["low"] < 0.75 < whole["high"]  # noise as large as the signal turns a quarter of pairs around


def test_every_table_and_figure_is_made_by_name(data: Path) -> None:
    names = [f"dialect_metrics:{name}" for name in ("aware", "quality", "both")]
    given = {"metric": names, "translator": ["pt=dialect_mt:translate"]}
    titles = {"table3": "Table 3", "table10": "Table 10", "table12": "Table 12", "table13": "Table 13",
              "table14": "Table 14", "table15": "Table 15", "figure3": "Figure 3", "figure4": "Figure 4"}  # fmt: skip
    for name, title in titles.items():
        Dialect().run(data, [name], {**given, "to": f"out-{name}"})
        page = Path(f"out-{name}/study.html").read_text(encoding="utf-8")
        assert title in page
        assert page.count("<h2") == 1
        assert ("<svg" in page) == name.startswith("figure")
    three = Dialect().run(data, ["figure3"], {**given, "to": "out-figure3"}).value["pt"]
    # without a reference, both dialects are candidates
    assert three["dialect_metrics:quality"]["effect"]["reference_vs_perturb"]["value"] == pytest.approx(0)
    assert three["dialect_metrics:both"]["effect"]["reference_vs_perturb"] is None


def test_what_a_metric_cannot_score_is_counted(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"dialect_metrics:{name}" for name in ("sometimes", "german", "quality", "length")]
    found = Dialect().run(data, given={"metric": names, "to": "out"}).value["pt"]
    sometimes, german, quality, length = (found[name] for name in names)
    assert sometimes["excluded_by"]["no finite score"] == 1
    assert sometimes["success"]["missing"] == 1
    assert sometimes["success"]["n"] == 2
    assert german["success"] is None
    assert german["excluded"] == 5
    assert "never saw the tag 'pt'; it knows de-any" in capsys.readouterr().err
    assert quality["success"]["ties"] == 3  # it looks at the source alone
    assert quality["robust"]["value"] == 1.0
    assert length["paper"] is None
    assert length["effect"]["dialect_vs_perturb"]["p"] <= 1
    page = Path("out/study.html").read_text(encoding="utf-8")
    for part in ("Table 1", "Table 2", "Table 4", "Table 5", "Table 8", "Figure 2"):
        assert part in page
    assert "<svg" in page


def test_awareness_compares_two_texts_under_one_tag(data: Path) -> None:
    names = [f"dialect_metrics:{name}" for name in ("aware", "one_tag", "one_dialect")]
    given = {"metric": names, "to": "out", "comparisons": 1, "level": 0.6}  # so few examples are sure of nothing else
    found = Dialect().run(data, given=given).value["pt"]
    aware, one_tag, one_dialect = (found[name]["awareness"] for name in names)
    assert aware["by_tag"]["pt-PT"]["wins"] == 2  # the third sentence has neither word
    assert aware["by_tag"]["pt-BR"]["wins"] == 2
    assert aware["means"]["pt-PT"] == {"pt-BR": pytest.approx(1 / 3), "pt-PT": pytest.approx(2 / 3)}
    # A tag that is always preferred decides between no two texts, and a dialect only under its own tag.
    assert [one["wins"] for one in one_tag["by_tag"].values()] == [0, 0]
    assert [one["wins"] for one in one_dialect["by_tag"].values()] == [0, 2]
    assert not one_tag["aware"]
    assert not one_dialect["aware"]
    page = Path("out/study.html").read_text(encoding="utf-8")
    assert "Definition 2.3" in page


def test_only_a_metric_that_is_right_under_both_tags_has_a_star(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "frmt/lexical_bucket"
    folder.mkdir(parents=True)
    for tag, word in (("pt-BR", "ônibus"), ("pt-PT", "autocarro")):
        rows = [f"There were {n} buses.\tHavia {n} {word} na rua em {1900 + n}.\n" for n in range(20, 50)]
        (folder / f"pt_lexical_test_en_{tag}.tsv").write_text("".join(rows), encoding="utf-8")
    Path("dialect_metrics.py").write_text(METRICS)
    names = [f"dialect_metrics:{name}" for name in ("aware", "one_tag", "one_dialect")]
    found = Dialect().run(tmp_path / "frmt", ["table15"], {"metric": names, "to": "out"}).value["pt"]
    assert [found[name]["awareness"]["aware"] for name in names] == [True, False, False]
    assert [found[name]["awareness"]["aware_to_the_letter"] for name in names] == [True, True, False]
    assert [found[name]["awareness"]["aware_in_the_papers_test"] for name in names] == [True, False, False]
    rows = Path("out/study.md").read_text(encoding="utf-8")
    one_tag = next(line for line in rows.splitlines() if "one_tag" in line and "pt-PT" in line)
    ours, letter, test = ([cell.strip() for cell in one_tag.split("|")][n] for n in (5, 7, 9))
    assert (ours, letter, test) == ("no", "yes", "no")  # all its scores under one tag are ties


def test_what_people_refuse_is_left_out(data: Path) -> None:
    Path("judged.jsonl").write_text('{"id": "pt/lexical/test/1", "changed": false}\n', encoding="utf-8")
    given = {"metric": ["bleu"], "to": "out", "judged": "judged.jsonl"}
    found = Dialect().run(data, given=given).value["pt"]["bleu"]
    assert found["excluded_by"]["people say the control means the same"] == 1
    assert found["success"]["n"] == 2
    Path("judged.jsonl").write_text('{"id": "pt/lexical/test/1"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"judged\.jsonl:1: a line must be"):
        Dialect().run(data, given=given)


def test_judgements_of_other_controls_are_refused(data: Path) -> None:
    given = {"metric": ["bleu"], "to": "out", "judged": "judged.jsonl"}
    record = {"person": "anna", "kind": "choice", "item": "pt/lexical/test/1", "answer": {"choice": ["no"]}}
    Path("judged.jsonl").write_text(json.dumps({**record, "asked": {"text": "Outra frase."}}) + "\n")
    with pytest.raises(UsageError, match="People judged another control of pt/lexical/test/1"):
        Dialect().run(data, given=given)
    Path("judged.jsonl").write_text(json.dumps({**record, "item": "q1", "asked": {"text": "x"}}) + "\n")
    with pytest.raises(UsageError, match="judgements are of other items, such as 'q1'"):
        Dialect().run(data, given=given)


def test_only_one_table_leaves_the_others_on_the_page(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"metric": ["dialect_metrics:length"], "to": "out"}
    whole = Dialect().run(data, given=given)
    page, text = Path("out/study.html").read_bytes(), Path("out/study.json").read_bytes()
    assert list(Dialect().run(data, ["table8"], given).value["pt"]["dialect_metrics:length"]) == [
        *("excluded", "excluded_by", "examples", "translated")
    ]
    assert (Path("out/study.html").read_bytes(), Path("out/study.json").read_bytes()) == (page, text)
    assert json.loads(text) == json.loads(whole.text("json"))
    edited = Path("dialect_metrics.py")
    edited.write_text(edited.read_text() + "# another metric, then\n")
    capsys.readouterr()
    Dialect().run(data, ["table8"], given)
    assert Path("out/study.md").read_text(encoding="utf-8").count("\n## ") == 1
    assert "so the pages leave table1 out. Make it again with only=table1" in capsys.readouterr().err


def test_another_split_is_read(data: Path) -> None:
    given = {"metric": ["bleu"], "to": "out", "split": "dev"}
    with pytest.raises(NothingEvaluated, match="neither FRMT's dev files"):
        Dialect().run(data, ["table8"], given)
    for file in data.rglob("*.tsv"):
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.with_name(file.name.replace("test", "dev")).write_text("".join(lines[:3]), encoding="utf-8")
    assert Dialect().run(data, ["table8"], given).value["pt"]["bleu"]["examples"]["all"] == 3


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NothingEvaluated, match="neither FRMT's test files nor indian_english_dialect.csv"):
        Dialect().run(tmp_path, given={"metric": ["bleu"], "to": str(tmp_path / "out")})


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "frmt").is_dir(), reason="../shared/data is not here")
def test_the_command_as_written(tmp_path: Path) -> None:
    command = ["study", "dialect", "--data", SHARED / "frmt", "--metric", "bleu", "--metric", "chrf"]
    command += ["--format", "json", "-o", tmp_path / "out"]
    done = commands.unswayed(*command)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"pt", "zh"}
    for language, entries in found.items():
        assert set(entries) == {"bleu", "chrf"}
        for entry in entries.values():
            success, effect = entry["success"], entry["effect"]["dialect_vs_perturb"]
            assert {"value", "low", "high", "n", "p"} <= set(success)
            assert success["n"] + entry["excluded"] == {"pt": 1859, "zh": 1470}[language]
            # as in the paper, both lose to controls
            assert success["low"] <= success["value"] <= success["high"] < 0.35
            assert effect["high"] < 0
            assert effect["low"] < effect["value"]
