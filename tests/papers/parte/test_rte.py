"""RTE's XML and P̂aRTE's table: what the real files hold, and how a bad row is named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.errors import DataError
from unswayed.data import DataKind, ReadOptions, import_corpus, read_examples, task_and_language
from unswayed.papers.parte.corpora import read_pairs
from unswayed.storage.suite import Suite

SHARED = Path(__file__).parents[3] / "../shared/data"
needs_shared = pytest.mark.skipif(not (SHARED / "parte").is_dir(), reason="../shared/data is not here")

PAIR = '<pair id="{id}" {label} task="IR"><t>All cats\n sleep &amp; dream.</t><h>Cats sleep.</h></pair>\n'
HEADER = (
    "id,original_pair_premise,original_pair_hypothesis,gold_label,original_pair_id,paraphrased_pair_premise,"
    "paraphrased_pair_hypothesis,paraphrased_pair_id,bert_para_pred,bert_orig_pred\n"
)


def xml(place: Path, *labels: str, root: str = '<entailment-corpus challenge="2">') -> Path:
    pairs = "".join(PAIR.format(id=i, label=label) for i, label in enumerate(labels, 1))
    file = place / "rte2_dev.xml"
    file.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n{pairs}</entailment-corpus>', encoding="utf-8")
    return file


def parte_row(side: str = "p", id: str = "RTE1_test.column_25_IR", gold: str = "entailed", answers: str = "1,0") -> str:
    return f"prte_1,All cats sleep.,Cats sleep.,{gold},{id},Every cat sleeps.,Cats sleep.,{id}_{side},{answers}\n"


def parte(place: Path, *rows: str) -> Path:
    (place / "collated_data_and_preds.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    return place


def test_an_xml_file_and_its_folder(tmp_path: Path) -> None:
    file = xml(tmp_path, 'entailment="YES"', 'value="FALSE"', 'entailment="UNKNOWN"')
    found = list(read_examples(file))
    assert [e.gold for e in found] == ["entailed", "not_entailed", "not_entailed"]
    assert found[0].inputs == {"premise": "All cats sleep & dream.", "hypothesis": "Cats sleep."}
    assert found[0].id == "rte2_dev_1"
    assert found[0].groups == {"task": "IR", "challenge": "RTE2"}
    assert list(read_examples(tmp_path)) == found
    assert task_and_language(tmp_path) == DataKind("classify", "en", False)


@pytest.mark.parametrize(
    ("pairs", "line", "message"),
    [
        (['entailment="YES"', 'entailment="MAYBE"'], 5, "not 'MAYBE'"),
        (['entailment="YES"', ""], 5, "a pair needs an id and a label"),
        (['entailment="YES" <'], 3, "this is not valid XML"),
    ],
)
def test_a_bad_pair_is_named(tmp_path: Path, pairs: list[str], line: int, message: str) -> None:
    with pytest.raises(DataError, match=rf"rte2_dev\.xml:{line}: .*{message}"):
        list(read_examples(xml(tmp_path, *pairs)))


def test_entities_that_grow_are_refused(tmp_path: Path) -> None:
    root = '<!DOCTYPE e [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><entailment-corpus>'
    with pytest.raises(DataError, match=r"rte2_dev\.xml:2: the file declares the entity 'a'"):
        list(read_examples(xml(tmp_path, 'value="TRUE"', root=root)))


@needs_shared
def test_the_challenges_are_whole() -> None:
    sizes = {file.stem: len(list(read_examples(file))) for file in sorted((SHARED / "rte").glob("*.xml"))}
    assert list(sizes) == ["rte1_dev", "rte1_test", "rte2_dev", "rte2_test", "rte3_dev", "rte3_test"]
    assert list(sizes.values()) == [567, 800, 400, 800, 800, 800]
    dev = list(read_examples(SHARED / "parte/RTE_dev.jsonl", ReadOptions(format="rte")))
    assert len(dev) == 2167
    assert {e.gold for e in dev} == {"entailed", "not_entailed"}


@needs_shared
def test_parte_is_whole(tmp_path: Path) -> None:
    suite = import_corpus(SHARED / "parte", tmp_path / "suite")
    assert suite.sources() == {"parte/hypothesis": 602, "parte/premise": 402, "parte/both": 122}
    assert suite.manifest.examples == 884
    assert Counter(variant.gold for variant in suite.variants()) == {"not_entailed": 584, "entailed": 542}
    for example, variants in Suite(tmp_path / "suite").groups():
        for variant in variants:
            varied = {name for name, text in example.inputs.items() if variant.inputs[name] != text}
            side = variant.source.removeprefix("parte/")
            assert varied == ({"premise", "hypothesis"} if side == "both" else {side})


def test_a_table_of_pairs(tmp_path: Path) -> None:
    place = parte(tmp_path, parte_row("p"), parte_row("ph", answers="1.0,"), parte_row("h", "RTE3_test.column_4_QA"))
    first, _ = read_examples(place)
    assert (first.id, first.groups) == ("RTE1_test.column_25_IR", {"task": "IR", "challenge": "RTE1"})
    rows = list(read_pairs(place / "collated_data_and_preds.csv"))
    assert [row.side for row in rows] == ["premise", "both", "hypothesis"]
    assert rows[0].predictions == {"bert": ("not_entailed", "entailed")}  # the original's first
    assert rows[1].predictions == {"bert": (None, "entailed")}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (parte_row("x"), "with _p, _h or _ph"),
        (parte_row("h", gold="maybe"), "gold_label must be entailed or not_entailed"),
        (parte_row("h", answers="2,0"), "bert_para_pred must be 1, 0 or empty, not '2'"),
        (parte_row("p"), "RTE1_test.column_25_IR_p comes twice"),
        (parte_row("h", gold="not_entailed"), "has other texts or another label in line 2"),
        ("a,b\n", "this row has 2 cells, but the header has 10"),
    ],
)
def test_a_bad_row_of_pairs_is_named(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"preds\.csv:3: .*{message}"):
        list(read_examples(parte(tmp_path, parte_row("p"), row)))


def test_another_table_is_not_parte(tmp_path: Path) -> None:
    (tmp_path / "collated_data_and_preds.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"preds\.csv:1: the header has no column original_pair_id, .*not P̂aRTE"):
        list(read_examples(tmp_path))
