"""P̂aRTE's study: the published predictions counted independently, systems asked, pages written."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import commands
import pytest

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.values import Example, Variant
from unswayed.papers.parte.study import Parte

DATA = Path(__file__).parents[3] / "../shared/data/parte"
FILE = "collated_data_and_preds.csv"
needs_parte = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
QUICK = {"bootstrap": 50}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    to = tmp_path_factory.mktemp("parte")
    command = ["study", "parte", "--data", DATA, "--predictions", FILE, "--format", "json", "-o", to / "out"]
    done = commands.unswayed(*command)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), to / "out"


@needs_parte
@pytest.mark.parametrize(
    ("model", "percent"), [("cbow", 15.5), ("bilstm", 16.3), ("bert", 9.8), ("roberta", 8.5), ("gpt", 9.6)]
)
def test_the_headline_is_what_ten_lines_count(published, model, percent):
    found = published[0][model]
    rows = list(csv.DictReader((DATA / FILE).read_text(encoding="utf-8").splitlines()))
    before = [float(row[f"{model}_orig_pred"]) == 1 for row in rows]
    after = [float(row[f"{model}_para_pred"]) == 1 for row in rows]
    gold = [row["gold_label"] == "entailed" for row in rows]
    changed = [a != b for a, b in zip(before, after, strict=True)]
    assert found["changed"]["value"] == pytest.approx(sum(changed) / 1126)
    assert found["accuracy_original"] == pytest.approx(sum(map(bool.__eq__, before, gold)) / 1126)
    assert found["accuracy_paraphrased"] == pytest.approx(sum(map(bool.__eq__, after, gold)) / 1126)
    assert 100 * found["changed"]["value"] == pytest.approx(percent, abs=0.05)
    assert found["changed"]["low"] < found["changed"]["value"] < found["changed"]["high"]
    names = {"p": "premise", "h": "hypothesis", "ph": "both"}
    slices = {
        "side": [names[row["paraphrased_pair_id"].rpartition("_")[2]] for row in rows],
        "gold": [row["gold_label"] for row in rows],
        "original_correct": [str(a == b).lower() for a, b in zip(before, gold, strict=True)],
        "task": [row["original_pair_id"].rpartition("_")[2] for row in rows],
    }
    for key, values in slices.items():
        assert set(found["by"][key]) == set(values)
        for value, share in found["by"][key].items():
            inside = [c for c, v in zip(changed, values, strict=True) if v == value]
            assert (share["n"], share["value"]) == (len(inside), pytest.approx(sum(inside) / len(inside)))


@needs_parte
def test_right_and_wrong_before_and_after(published):
    found = published[0]
    assert set(found) == {"bert", "roberta", "cbow", "bilstm", "gpt", "set"}
    cells = {cell: round(share["value"] * share["n"]) for cell, share in found["bert"]["confusion"].items()}
    assert cells == {"right_right": 757, "right_wrong": 55, "wrong_right": 55, "wrong_wrong": 259}
    against = {(t["measure"], t["a"], t["b"]): t for t in found["roberta"]["tests"]}
    assert against["changed", "roberta", "cbow"]["mcnemar_corrected"] < 0.001
    assert against["changed", "bert", "roberta"]["mcnemar_corrected"] == 1.0
    assert found["gpt"]["paper"]["changed"] == pytest.approx(0.1012)


@needs_parte
def test_the_pages_have_tables_and_charts(published):
    _, to = published
    page = (to / "study.html").read_text(encoding="utf-8")
    assert all(f"Figure {n}" in page for n in range(1, 6))
    charts = [part.split("</svg></div>")[0] + "</svg>" for part in page.split("<svg xmlns")[1:]]
    assert len(charts) == 7
    for chart in charts:
        assert ET.fromstring("<svg xmlns" + chart)[0].tag.endswith("title")
    text = (to / "study.md").read_text(encoding="utf-8")
    assert "| bert | 72.1 [" in text
    assert "bert 9.8 against 9.5" in text


def a_suite(place: Path) -> Path:
    """Pairs of which one paraphrase turns the length of the hypothesis, and with it the answer below."""
    from unswayed.storage.suite import Manifest, write_suite

    pairs = [("it rains", "it is wet", "yes", "it is very wet"), ("it snows", "it is hot", "no", "it is warm")]
    examples = [
        Example(i, str(i), {"premise": p, "hypothesis": h}, gold, {"task": "IR"})
        for i, (p, h, gold, _) in enumerate(pairs)
    ]
    variants = [
        Variant(i, str(i), 0, "people", "paraphrase", "same", {"premise": p, "hypothesis": other}, gold, "")
        for i, (p, _, gold, other) in enumerate(pairs)
    ]
    write_suite(place, Manifest(task="classify", language="en"), lambda: examples, lambda: variants)
    return place


def test_systems_are_asked_about_any_suite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("told.py").write_text(
        "def short(batch):\n    return ['yes' if len(b['hypothesis']) < 10 else 'no' for b in batch]\n"
        "def other(batch):\n    return ['Entailment'] * len(batch)\n"
    )
    given = {"system": ("short=told:short",), "to": "out", **QUICK}
    found = Parte().run(a_suite(tmp_path / "suite"), (), given).value["short"]
    assert found["changed"].value == 1.0
    assert found["by"]["side"]["hypothesis"].n == 2
    assert found["by"]["original_correct"]["true"].n == 1
    assert (found["accuracy_original"], found["accuracy_paraphrased"]) == (0.5, 0.5)
    assert Path("out/study.html").exists()
    with pytest.raises(UsageError, match="other answers Entailment, but the labels are no, yes. Map them with labels="):
        Parte().run(tmp_path / "suite", (), {**given, "system": ("other=told:other",)})
    labelled = {**given, "system": ("other=told:other",), "labels": "entailment=yes"}
    found = Parte().run(tmp_path / "suite", (), labelled).value
    assert (found["other"]["accuracy_original"], found["other"]["changed"].value) == (0.5, 0.0)
    with pytest.raises(UsageError, match="labels= takes LABEL=GOLD"):
        Parte().run(tmp_path / "suite", (), {**given, "labels": "entailment"})


def test_only_one_table_leaves_the_others_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("told_short.py").write_text(
        "def short(batch):\n    return ['yes' if len(b['hypothesis']) < 10 else 'no' for b in batch]\n"
    )
    given = {"system": ("short=told_short:short",), "to": "out", **QUICK}
    whole = Parte().run(a_suite(tmp_path / "suite"), (), given)
    page, text = Path("out/study.html").read_bytes(), Path("out/study.json").read_bytes()
    assert page.count(b"<section>") == 8
    assert list(Parte().run(tmp_path / "suite", ["figure2"], given).value["short"]) == ["by"]
    assert (Path("out/study.html").read_bytes(), Path("out/study.json").read_bytes()) == (page, text)
    assert json.loads(text) == json.loads(whole.text("json"))
    assert set(whole.value["short"]["by"]) == {"side", "gold", "original_correct", "task"}
    Parte().run(tmp_path / "suite", ["figure2"], {**given, "seed": 1})
    assert Path("out/study.html").read_bytes().count(b"<section>") == 1


def test_an_mnli_head_is_understood():
    """Contradiction and neutral are both not entailed, so going from one to the other is no change."""
    from unswayed.papers.parte.changed import Judged
    from unswayed.papers.parte.study import _meanings, _relabelled

    pairs = [
        Judged("1", {}, "not_entailed", "CONTRADICTION", "neutral"),
        Judged("2", {}, "entailed", "entailment", "neutral"),
        Judged("3", {}, "entailed", None, "entailed"),
    ]
    found = _relabelled("x", pairs, _meanings(""))
    assert [(p.before, p.after, p.changed) for p in found] == [
        ("not_entailed", "not_entailed", False),
        ("entailed", "not_entailed", True),
        (None, "entailed", None),
    ]


@needs_parte
def test_a_system_beside_the_published_models(tmp_path, monkeypatch):
    """Twice, as a stopped study goes on; the table may also be named itself."""
    monkeypatch.chdir(tmp_path)
    Path("told_always.py").write_text("def always(batch):\n    return ['entailed'] * len(batch)\n")
    for data in (DATA, DATA / FILE):
        given = {"system": ("always=told_always:always",), "predictions": FILE, "to": "out", **QUICK}
        found = Parte().run(data, ["table2"], given).value
        assert list(found) == ["bert", "roberta", "cbow", "bilstm", "gpt", "always"]
        assert found["always"]["changed"].value == 0
        assert found["always"]["accuracy_original"] == pytest.approx(542 / 1126)
    twice = ("always=told_always:always", "always=told_always:always")  # two trainings of one model
    found = Parte().run(DATA, ["systems"], {**given, "system": twice, "to": "twice"}).value
    assert found["always"]["trainings"] == 2
    with pytest.raises(UsageError, match="There are published predictions of 'bert'"):
        Parte().run(DATA, (), {**given, "system": ("bert=told_always:always",)})


def test_wrong_use_says_what_to_do(tmp_path):
    with pytest.raises(UsageError, match="There are no predictions"):
        Parte().run(tmp_path, (), {"to": tmp_path / "out"})
    with pytest.raises(UnknownName, match="Did you mean 'table2'"):
        Parte().run(tmp_path, ["table"], {})


def test_a_hugging_face_classifier_with_an_mnli_head(tmp_path):
    pytest.importorskip("torch", reason="needs the extra hf")
    from samples.hf import save_tiny

    save_tiny(
        tmp_path / "mnli", "hf/classify", ["it", "rains", "is", "wet"], ["contradiction", "neutral", "entailment"]
    )
    suite = a_suite(tmp_path / "suite")
    given = {"system": (f"tiny={tmp_path / 'mnli'}",), "to": tmp_path / "out", **QUICK}
    labels = "entailment=yes,neutral=no,contradiction=no"
    found = Parte().run(suite, (), {**given, "labels": labels}).value["tiny"]
    assert (found["changed"].n, found["changed"].missing) == (2, 0)


def test_a_prompted_model_behind_a_url(tmp_path):
    from benchmarks._http_server import Server

    with Server() as server:
        given = {"system": (f"llm={server.url}#m",), "to": tmp_path / "out", **QUICK}
        found = Parte().run(a_suite(tmp_path / "suite"), (), given).value["llm"]
    assert (found["changed"].n, found["changed"].missing) == (2, 0)
