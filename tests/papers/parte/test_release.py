"""P̂aRTE's own files: the paraphrases that people kept, and what workers said of them, to the numbers of the paper."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import commands
import pytest

from unswayed.base.errors import DataError
from unswayed.papers.parte.mturk import is_mturk
from unswayed.papers.parte.ratings import read_ratings
from unswayed.storage.suite import Suite

DATA = Path(__file__).parents[3] / "../shared/data/parte"
PARAPHRASED, PILOT, PREDICTIONS = (
    DATA / name for name in ("RTE_test_paraphrased.jsonl", "pilot_output.csv", "collated_data_and_preds.csv")
)
needs_parte = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


def unswayed(*command: object) -> str:
    done = commands.unswayed(*command)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@needs_parte
def test_from_the_file_of_paraphrases_to_the_set(tmp_path: Path) -> None:
    """914 pairs with a good paraphrase make 1,178; without the 52 whose label no longer holds they are the 1,126."""
    unswayed("suite", "import", PARAPHRASED, "--format-in", "parte", "-o", tmp_path / "all")
    every = Suite(tmp_path / "all")
    assert (every.manifest.examples, every.manifest.variants) == (2400, 1591)
    assert sum(bool(variants) for _, variants in every.groups()) == 914
    unswayed("paraphrase", "build", tmp_path / "all", "-o", tmp_path / "built")
    built = {(v.example_id, v.source.partition("/")[2]) for v in Suite(tmp_path / "built").variants()}
    assert len(built) == 1178
    with PREDICTIONS.open(encoding="utf-8", newline="") as file:
        sides = {"p": "premise", "h": "hypothesis", "ph": "both"}
        kept = {
            (row["original_pair_id"], sides[row["paraphrased_pair_id"].rpartition("_")[2]])
            for row in csv.DictReader(file)
        }
    excluded = built - kept
    assert len(excluded) == 52
    assert not kept - built
    (tmp_path / "wrong.tsv").write_text("".join(f"{id}\t{side}\n" for id, side in sorted(excluded)))
    unswayed("paraphrase", "build", tmp_path / "all", "--exclude", tmp_path / "wrong.tsv", "-o", tmp_path / "set")
    assert Suite(tmp_path / "set").sources() == {"side/premise": 402, "side/hypothesis": 602, "side/both": 122}


@needs_parte
def test_what_workers_said_is_read_as_ratings(tmp_path: Path) -> None:
    with PILOT.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    said: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for row in rows:
        for n in (1, 2, 3):
            pair = row["Input.sentence"], row[f"Input.paraphrase{n - 1}"]
            said.setdefault(pair, []).append((float(row[f"Answer.range{n}"] or 0), row[f"Answer.gm{n}"] == "2"))
    found = read_ratings(PILOT)
    assert found.keys() == said.keys()
    for pair, rating in found.items():
        assert rating.similarity == pytest.approx(sum(s for s, _ in said[pair]) / len(said[pair]))
        assert rating.grammatical == (sum(g for _, g in said[pair]) > len(said[pair]) / 2)
    unswayed("suite", "import", PARAPHRASED, "--format-in", "parte", "-o", tmp_path / "all")
    command = ("paraphrase", "filter", tmp_path / "all", "--ratings", PILOT, "--all", "--format", "json")
    steps = json.loads(unswayed(*command, "-o", tmp_path / "kept"))
    counts = {step["step"]: step["candidates"] for step in steps}
    assert counts["overlap ≤ 0.75"] == counts["not identical"], "the authors filtered by the same overlap"
    good = {pair for pair, rating in found.items() if rating.grammatical and rating.similarity > 75}
    for example, variants in Suite(tmp_path / "kept").groups():
        for variant in variants:
            (field,) = (f for f in variant.inputs if variant.inputs[f] != example.inputs[f])
            assert (example.inputs[field], variant.inputs[field]) in good
    assert counts["rated > 75"] > 50


HEADER = "HITId,AssignmentStatus,Input.sentence1,Input.sen1_paraphrase0,Input.sen1_paraphrase1,Input.sentence2,"
HEADER += "Input.sen2_paraphrase0,Answer.gm0,Answer.gm1,Answer.gm2,Answer.gm3,Answer.gm4,Answer.range1,Answer.range2,"
HEADER += "Answer.range4,Approve\n"


def test_two_sentences_in_one_task(tmp_path: Path) -> None:
    """A sentence and its paraphrases are counted together, so the second's only paraphrase is number 4."""
    file = tmp_path / "batch.csv"
    file.write_text(
        HEADER + "h1,Approved,A cat.,One cat.,Cat a.,A dog.,One dog.,0,2,0,0|1,2,90,,80\n"
        "h2,Approved,A cat.,One cat.,Cat a.,A dog.,One dog.,0,2.0,1,0,1,70.0,20,60,x\n"
        "h3,Rejected,A cat.,One cat.,Cat a.,A dog.,One dog.,0,1,1,0,1,0,0,0,\n"
    )
    assert is_mturk(file)
    assert {pair: tuple(rating) for pair, rating in read_ratings(file).items()} == {
        ("A cat.", "One cat."): (80.0, True),
        ("A cat.", "Cat a."): (10.0, False),
        ("A dog.", "One dog."): (70.0, False),
    }


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2,90", "2,", "batch.csv:2: Answer.range1 must be a number, not ''"),
        ("2,90", "2,101", "Answer.range1 must be from 0 to 100"),
        ("0,2,2", "0,7,2", "Answer.gm1 must be 2, 1 or 0, not '7'"),
        ("Answer.gm2", "Answer.gm9", "there is no column 'Answer.gm2'"),
    ],
)
def test_what_is_wrong_with_a_result_is_said_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    head = "HITId,AssignmentStatus,Input.sentence,Input.paraphrase0,Input.paraphrase1,Answer.gm0,Answer.gm1,Answer.gm2,"
    head += "Answer.range1,Answer.range2\n"
    file = tmp_path / "batch.csv"
    file.write_text((head + "h,Approved,A cat.,One cat.,The cat.,0,2,2,90,80\n").replace(old, new))
    with pytest.raises(DataError, match=told.replace("(", r"\(")):
        read_ratings(file)


LINE = {
    "dataset": "RTE1_test.column", "corpus_sent_id": 7, "task": "IR", "gold_label": True, "sentence1": "A cat sat.",
    "sentence2": "It sat.", "s1_para_id": None, "s2_para_id": None, "silver_label": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({**LINE, "s2_para_id": "x"}, "pairs.jsonl:2: a paraphrased pair needs its silver_label"),
        ({**LINE}, "pairs.jsonl:2: the original pair RTE1_test.column_7_IR comes twice"),
        ({**LINE, "corpus_sent_id": 8, "s1_para_id": "x", "silver_label": True}, "no line of the original pair"),
        ({"id": 1}, "pairs.jsonl:2: this is not a line of P̂aRTE's paraphrased pairs"),
    ],
)
def test_a_wrong_line_of_the_file_of_paraphrases(tmp_path: Path, second: dict[str, object], told: str) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in (LINE, second)), encoding="utf-8")
    done = commands.unswayed("suite", "import", file, "--format-in", "parte", "-o", tmp_path / "suite")
    assert done.returncode == 4
    assert told in done.stderr
