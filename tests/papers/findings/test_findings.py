"""The findings on small sets of the publishers' forms: other languages, systems and people, and what is wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from unswayed.base import DataError, UsageError
from unswayed.papers.findings import judge, norsid, rocs, sdqa, simulated, typos
from unswayed.papers.findings.study import Findings


def lines(file: Path, rows: Iterable[Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


def spoken(missed: dict[str, int], n: int = 60, language: str = "welsh") -> list[dict[str, Any]]:
    """Answers of which every so many are wrong, by variety; 0 for none."""
    return [
        {
            "language": language,
            "variety": f"{language}-{variety}",
            "question": q,
            "response": "dim" if every and q % every == 0 else f"ateb {q} yw hwn",
            "true_labels": [f"ateb {q}"],
        }
        for variety, every in missed.items()
        for q in range(n)
    ]


def test_varieties_that_nobody_has_seen(tmp_path: Path) -> None:
    rows = spoken({"north": 0, "south": 2, "west": 0})
    rows = [row for row in rows if row["variety"] != "welsh-west" or row["question"] < 5]  # five questions only
    rows += rows[:3]  # the same again
    rows += [{**row, "language": "manx", "variety": row["variety"].replace("welsh", "manx")} for row in rows[:120]]
    lines(tmp_path / "d" / "mine.jsonl.gz", rows)
    silent = [{**row, "response": "" if row["question"] % 2 else None} for row in rows[:120]]
    lines(tmp_path / "d" / "silent.jsonl", silent)
    value = sdqa.findings(tmp_path / "d", tmp_path / "to", ["welsh=north"]).value
    found = value["welsh"]["systems"]["mine"]["varieties"]
    assert found["south"]["verdict"] == "worse"
    assert found["west"]["n"] == 5
    assert found["west"]["verdict"] == ""
    assert value["welsh"]["systems"]["silent"]["f1"] == 0
    assert value["manx"]["reference"] == "north"  # of two varieties, the first by name
    unknown = sdqa.findings(tmp_path / "d", tmp_path / "to", []).value["welsh"]
    assert {own["verdict"] for own in unknown["systems"]["mine"]["varieties"].values()} == {"", None}


@pytest.mark.parametrize(
    ("change", "chosen", "message"),
    [
        ({"response": "arall"}, [], "another answer of north to question 0"),
        ({"question": 0, "variety": "welsh-x", "true_labels": ["z"]}, [], "other right answers"),
        ({"true_labels": []}, [], "no right answer"),
        ({"response": 3}, [], "not as expected"),
        ({}, ["welsh=east"], "no variety 'east'"),
        ({}, ["cornish=a"], "no language 'cornish'"),
        ({}, ["welsh"], "must be LANGUAGE=VARIETY"),
    ],
)
def test_what_is_wrong_with_spoken_answers(tmp_path: Path, change: Any, chosen: list[str], message: str) -> None:
    rows = spoken({"north": 0, "south": 2})
    lines(tmp_path / "d" / "mine.jsonl", [*rows, {**rows[0], **change}])
    with pytest.raises((DataError, UsageError), match=message):
        sdqa.findings(tmp_path / "d", tmp_path / "to", chosen)


def test_answers_that_are_cut_off_get_no_verdict(tmp_path: Path) -> None:
    rows = spoken({"north": 0, "south": 2})
    rows = [{**row, "true_labels": ["a long answer that goes on"], "response": "a long answer that g"} for row in rows]
    lines(tmp_path / "d" / "mine.jsonl", rows)
    printed = sdqa.findings(tmp_path / "d", tmp_path / "to", [])
    assert printed.value["welsh"]["cut"] is True
    assert "cut off" in " ".join(printed.sections[0].sentences)


def sentence(id: str, words: str, tags: str, intent: str = "play", area: str = "N") -> str:
    rows = [f"{n}\t{w}\t{intent}\t{t}" for n, (w, t) in enumerate(zip(words.split(), tags.split(), strict=True), 1)]
    return "\n".join([*([f"# id = {id}"] if id else []), f"# intent = {intent}", f"# dialect = {area}", *rows, ""])


def test_dialects_with_another_translator_and_missing_rows(tmp_path: Path) -> None:
    folder = tmp_path / "norsid"
    gold = [
        sentence(f"{n}/{who}", f"spel {n} {who}", "O B-song O", area="B" if who == "B" else "Q")
        for n in range(30)
        for who in ("B", "11", "12")
    ]
    lines(folder / "their_test.conll", gold)
    said = [text.replace("B-song", "O") if "/11" in text.split("\n")[0] else text for text in gold]
    lines(folder / "mine.conll.gz", said[:-3])  # with ids, so that some may be missing
    lines(folder / "bare.conll", ["\n".join(text.split("\n")[1:]) for text in said])
    value = norsid.findings(folder, tmp_path / "to").value
    for system in ("mine", "bare"):
        people = value[system]["slots"]["people"]
        assert people["Q 11"]["verdict"] == "worse"
        assert people["Q 11"]["drop"] == pytest.approx(1)
        assert people["Q 12"]["drop"] == pytest.approx(0)
    lines(folder / "bare.conll", ["\n".join(text.split("\n")[1:]) for text in said[:-1]])
    with pytest.raises(DataError, match="89 utterances without ids, but 90"):
        norsid.findings(folder, tmp_path / "to")
    (folder / "bare.conll").unlink()
    (folder / "mine.conll.gz").unlink()
    with pytest.raises(DataError, match="others with systems' outputs"):
        norsid.findings(folder, tmp_path / "to")


def translations(folder: Path, systems: dict[str, list[str]], n: int = 60) -> None:
    """A copying system has the reference; the others say something else of their own."""
    clean = [f"this is sentence number {i} of a long text" for i in range(n)]
    lines(folder / "X.src.norm-manseg.en", clean)
    lines(folder / "X.src.raw-manseg.en", [text.replace("this", "dis").replace("of a", "") for text in clean])
    lines(folder / "X.ref.fr.gz", [f"ceci est la phrase numero {i} dans un texte long" for i in range(n)])
    ids = [f"{kind}-{i // 3}" for kind in ("nm", "rs", "rm") for i in range(n)]
    for name, said in systems.items():
        lines(folder / f"{name}.en-fr.ids.txt", ids)
        lines(folder / f"{name}.en-fr.txt", said)


def test_translations_into_another_language(tmp_path: Path) -> None:
    right = [f"ceci est la phrase numero {i} dans un texte long" for i in range(60)]
    own = {
        "copies": right + right + [text.replace("phrase", "chose") for text in right],
        "a": [f"{text} !" for text in right] * 2 + ["" for _ in right],
        "b": [f"et {text}" for text in right] * 2 + [f"{text} bien" for text in right],
        "again": [f"et {text}" for text in right] * 2 + [f"{text} bien" for text in right],
    }
    translations(tmp_path / "d", own)
    printed = rocs.findings(tmp_path / "d", tmp_path / "to")
    assert [name for name, one in printed.value.items() if one["copies"]] == ["copies"]
    assert printed.value["a"]["empty"] == 60
    assert printed.value["a"]["chrf"]["raw"] == pytest.approx(0)
    told = " ".join(printed.sections[0].sentences)
    assert "b and again give the same output" in told or "again and b give the same output" in told
    assert printed.value["b"]["kinds"].keys() == {"words"}
    lines(tmp_path / "d" / "a.en-fr.txt", own["a"][:-1])
    with pytest.raises(DataError, match="179 outputs, but 180 ids"):
        rocs.findings(tmp_path / "d", tmp_path / "to")


@pytest.mark.parametrize(
    ("clean", "raw", "kind"),
    [
        ("I am here.", "I am here.", "nothing"),
        ("I’m here.", "im here", "spaces"),
        ("I am here.", "i am here", "case and marks"),
        ("I am here.", "i am hre", "spelling"),
        ("I am here.", "here", "words"),
        ("", "", "nothing"),
    ],
)
def test_what_a_text_differs_in(clean: str, raw: str, kind: str) -> None:
    assert rocs.change_of(clean, raw) == kind


def test_judges_in_both_forms(tmp_path: Path) -> None:
    verdicts = [("A>B", "B>A", "A>B"), ("A>B", "A>B", "B>A"), ("A=B", "A>B", "B>A"), ("B>A", "A>B", "B>A")] * 10
    plain = [dict(zip(("decision", "decision_swapped", "label"), one, strict=True)) for one in verdicts]
    nested = [{"judgments": [{"decision": a}, {"decision": b}], "label": c} for a, b, c in verdicts]
    lines(tmp_path / "d" / "one.jsonl", plain)
    lines(tmp_path / "d" / "two.jsonl", nested)
    value = judge.findings(tmp_path / "d").value
    assert value["one"]["grid"] == value["two"]["grid"] == {"A>B A>B": 10, "A>B B>A": 10, "A=B B>A": 10, "B>A B>A": 10}
    assert value["one"]["changed"] == pytest.approx(0.5)
    lines(tmp_path / "d" / "two.jsonl", [{"decision": "perhaps"}])
    with pytest.raises(DataError, match="must be A>B"):
        judge.findings(tmp_path / "d")


def test_tables_without_data_are_left_out_unless_they_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"to": str(tmp_path / "out")}
    with pytest.raises(UsageError, match="none of the folders"):
        Findings().run(tmp_path, (), given)
    lines(tmp_path / judge.FOLDER / "x.jsonl", [{"decision": "A", "decision_swapped": "B", "label": "A"}] * 12)
    made = Findings().run(tmp_path, (), given)
    assert "left out" in capsys.readouterr().err
    assert made.tables["judge"].value["x"]["pairs"] == 12
    assert (tmp_path / "out" / "study.html").read_text().count("<svg") == 1
    with pytest.raises(DataError, match="not here"):
        Findings().run(tmp_path, ("norsid",), given)


@pytest.mark.parametrize(
    ("clean", "typed", "kind"),
    [
        ("drug testing", "drug teting", "omission"),
        ("mobile", "mobule", "near key"),
        ("mobile", "mobale", "other substitution"),
        ("mobile", "mboile", "transposition"),
        ("mobile", "mobbile", "doubling"),
        ("mobile", "moxbile", "other insertion"),
        ("mobile home", "mobilehome", "space"),
        ("mobile", "Mobile", "case or mark"),
        ("it's", "its", "case or mark"),
        ("mobile", "mbel", "several"),
        ("mobile", "mobile", ""),
        ("aa", "a", "omission"),
    ],
)
def test_kinds_of_slips(clean: str, typed: str, kind: str) -> None:
    assert typos.kind_of(clean, typed) == kind


def test_mistyped_queries(tmp_path: Path) -> None:
    lines(tmp_path / "query.tsv", [f"{n}\thow to grow tomatoes {n}" for n in range(5)])
    lines(tmp_path / "query.typo.tsv", [f"{n}\thow to grow tomatos {n}" for n in range(4)])
    assert typos.findings(tmp_path).value["people"] == {"omission": 4}
    lines(tmp_path / "query.typo.tsv", ["no tab"])
    with pytest.raises(DataError, match="separated by a tab"):
        typos.findings(tmp_path)


def test_bm25_finds_what_shares_rare_words() -> None:
    search = simulated.bm25(["the cat sat", "the dog ran", "the dog sat on the mat"], "en")
    assert [found[:1] for found in search(["where is the CAT?", "mat", "zzz"])] == [[0], [2], []]
    assert simulated.words_of("今天很好", "zh") == ["今天", "天很", "很好"]
    assert simulated._ranks([[2, 0], [1], []], [0, 1, 2]).tolist() == [0.5, 1.0, 0.0]


def test_people_beside_simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed questions whose one rare word is gone, beside the typist's and another simulator's."""
    monkeypatch.setattr(simulated, "minilm", lambda passages: simulated.bm25(passages, "en"))
    names = ["lantern", "harbour", "teapot", "walnut", "granite", "violin", "saddle", "copper", "meadow", "pigeon"]
    rows = [
        {"id": str(n), "context": f"a story of the {name} and its maker", "question": f"who made the {name}",
         "keyboard": "who made the xxx", "asr": f"who made the {name}", "translated": f"who made the {name}"}
        for n, name in enumerate(names)
    ]  # fmt: skip
    lines(tmp_path / "noiseqa" / "people.jsonl", rows)
    other = lines(tmp_path / "other.jsonl", [{"id": "3", "text": "who"}])
    value = simulated.findings(tmp_path, [f"mine={other}"]).value
    typed = value["NoiseQA, typed, BM25"]
    assert typed["clean"] == pytest.approx(1)
    assert typed["people"]["value"] == pytest.approx(1 - sum(1 / (1 + n) for n in range(10)) / 10)
    assert typed["simulated"]["mine"]["value"] == pytest.approx(0.1)
    assert 0 <= typed["simulated"]["keyboard/typist"]["value"] < typed["people"]["value"]
    assert value["NoiseQA, spoken, BM25"]["people"]["value"] == pytest.approx(0)
    with pytest.raises(UsageError, match="NAME=FILE"):
        simulated.findings(tmp_path, ["mine"])
    with pytest.raises(UsageError, match="none of the folders"):
        simulated.findings(tmp_path / "noiseqa", [])
