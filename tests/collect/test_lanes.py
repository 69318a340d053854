"""People's judgements from a study to a paper's number: survey, paraphrases and dialect, by commands and over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unswayed.base.values import Example
from unswayed.papers.nature.tables import table3
from unswayed.run.making import make_suite
from unswayed.storage.judgements import read_judgements
from unswayed.storage.suite import Suite


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_survey_becomes_acceptance(unswayed, answer_online, tmp_path) -> None:
    data = [
        Example(i, f"e{i}", {"text": f"play {i} & <{i}> now"}, {"intent": "play", "slots": ["O", "B-x", "O", "O", "O"]})
        for i in range(12)
    ]
    make_suite(data, ["keyboard/adjacent", "spoken/filler_end"], to=tmp_path / "suite")
    unswayed("survey", "export", "suite", "--per-operator", 4, "--controls", 2, "-o", "items.jsonl")
    unswayed("collect", "new", "study.toml", "--kind", "labels", "--items", "items.jsonl")
    unswayed("collect", "new", "study.toml")

    keys = {row["id"]: row for row in map(json.loads, Path("items.key.jsonl").read_text().splitlines())}
    items = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    made_by = {item["utterance"]: keys[item["id"]]["operator"] for item in items}

    def answer(name, texts):
        return {"slots": name != "careless", "intent": made_by[texts[0]] != "keyboard/adjacent"}

    people = {f"{name}{group}": group for group in "12" for name in ("a", "b")} | {"careless": "1"}
    answer_online("study.toml", people, answer)
    unswayed("collect", "exclude", "study.toml", "careless", "--reason", "one button")
    unswayed("collect", "export", "study.toml", "-o", "exported.jsonl", "--names")

    found = json.loads(unswayed("survey", "read", "exported.jsonl", "--bootstrap", 500, "--format", "json"))
    sets = {row["name"]: row for row in found["sets"]}
    assert (sets["altered"]["items"], sets["altered"]["answers"]) == (8, 16), "excluded answers count nowhere"
    assert sets["altered"]["slots"]["value"] == 1.0
    assert sets["keyboard/adjacent"]["intent"]["value"] == 0.0
    assert sets["spoken/filler_end"]["intent"]["value"] == 1.0
    assert (sets["controls"]["items"], sets["controls"]["answers"]) == (2, 8), "controls are answered, and kept apart"
    assert [p["participant"] for p in found["participants"]] == ["a1", "a2", "b1", "b2"]
    assert [p["control_slots"] for p in found["participants"]] == [1.0] * 4
    assert any("careless (excluded: one button)" in warning for warning in found["warnings"])
    unswayed("survey", "read", "exported.jsonl", "--items", "items.jsonl", "--bootstrap", 500)
    unswayed("collect", "export", "study.toml", "-o", "exported.parquet", "--names")
    same = json.loads(unswayed("survey", "read", "exported.parquet", "--bootstrap", 500, "--format", "json"))
    assert same == found, "signatures and all"
    table = table3(("exported.jsonl",), [])["ours"]
    assert {name: share.value for name, share in table["intent"].items()} == {
        "1 altered": 0.5, "1 controls": 1.0, "2 altered": 0.5, "2 controls": 1.0
    }  # fmt: skip


PAIRS = [
    ("The lawyer was arrested by police.", "The police arrested a lawyer.", "entailed"),
    ("In 2011, Microsoft bought Skype.", "A company did not buy Skype.", "not_entailed"),
    ("The fire spread quickly, officials said.", "The fire was fast.", "entailed"),
    ("When the war ended, he left the country.", "He stayed in the country.", "not_entailed"),
]


def test_ratings_become_a_test_set(unswayed, answer_online, tmp_path) -> None:
    rows = [{"premise": p, "hypothesis": h, "label": label} for p, h, label in PAIRS]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("my_system.py").write_text(
        "def predict(batch):\n    return ['entailed' if len(b['premise']) % 2 else 'not_entailed' for b in batch]\n"
    )
    unswayed("vary", "pairs.jsonl", "--with", "paraphrase/rules", "--draws", 3, "-o", "candidates")
    unswayed("collect", "items", "same_meaning", "--suite", "candidates", "-o", "items.jsonl")
    items = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert not any({"source", "operator", "draw"} & item.keys() for item in items), "people don't see the operator"
    unswayed("collect", "new", "study.toml", "--kind", "same_meaning", "--items", "items.jsonl")
    unswayed("collect", "new", "study.toml")

    def answer(name, texts):
        if name == "troll":
            return {"similarity": 0, "grammatical": False}
        return {"similarity": 90 if len(texts[1]) % 3 else 40, "grammatical": True}

    answer_online("study.toml", {"troll": "", "anna": "", "ben": ""}, answer)
    unswayed("collect", "exclude", "study.toml", "troll", "--reason", "all zero")
    unswayed("collect", "export", "study.toml", "-o", "exported.jsonl", "--names")
    assert {j.person for j in read_judgements("exported.jsonl", "same_meaning") if j.counted} == {"anna", "ben"}

    steps = json.loads(
        unswayed("paraphrase", "filter", "candidates", "--ratings", "exported.jsonl", "-o", "kept", "--all",
                "--max-overlap", 1, "--format", "json")
    )  # fmt: skip
    counts = {step["step"]: step["candidates"] for step in steps}
    liked = sum(len(item["b"]) % 3 > 0 for item in items)
    assert counts["grammatical"] == len(items), "the excluded person's votes would have removed all"
    assert counts["rated > 75"] == liked < len(items)
    unswayed("paraphrase", "build", "kept", "-o", "built")
    told = unswayed(
        "study", "parte", "--data", "built", "--system", "my_system:predict", "-o", "out", "--format", "json"
    )
    (found,) = json.loads(told).values()
    built = list(Suite("built").groups())
    turned = [len(v.inputs["premise"]) % 2 != len(e.inputs["premise"]) % 2 for e, own in built for v in own]
    assert found["changed"]["n"] == len(turned)
    assert found["changed"]["value"] == pytest.approx(sum(turned) / len(turned))


SEGMENTS = [
    ("The bus is late.", "O ônibus está atrasado.", "O autocarro está atrasado."),
    ("It was the first train.", "Foi o primeiro trem.", "Foi o primeiro comboio."),
    ("More than 300 people came.", "Mais de 300 pessoas vieram.", "Vieram mais de 300 pessoas."),
]


def test_judged_controls_become_a_success_rate(unswayed, answer_online, tmp_path) -> None:
    folder = tmp_path / "frmt/lexical_bucket"
    folder.mkdir(parents=True)
    for place, tag in ((1, "pt-BR"), (2, "pt-PT")):
        lines = "".join(f"{row[0]}\t{row[place]}\n" for row in SEGMENTS)
        (folder / f"pt_lexical_test_en_{tag}.tsv").write_text(lines, encoding="utf-8")
    study = ("study", "dialect", "--data", "frmt", "--metric", "bleu", "-o", "out", "--format", "json")
    before = json.loads(unswayed(*study))["pt"]["bleu"]
    assert before["success"]["n"] == 3
    unswayed("collect", "new", "out/judge.toml")

    def answer(name, texts):
        original, _ = texts
        return {"choice": ["no" if "trem" in original or name == "careless" else "yes"]}

    answer_online("out/judge.toml", {"careless": "pt", "anna": "pt", "ben": "pt"}, answer)
    unswayed("collect", "exclude", "out/judge.toml", "careless", "--reason", "always no")
    unswayed("collect", "export", "out/judge.toml", "-o", "judged.jsonl")
    after = json.loads(unswayed(*study, "--judged", "judged.jsonl"))["pt"]["bleu"]
    assert after["success"]["n"] == 2
    assert after["excluded_by"]["people say the control means the same"] == 1
    assert len(Path("out/judge.jsonl").read_text().splitlines()) == 3, "what was asked stays asked"
    assert {j.origin["note"] for j in read_judgements("judged.jsonl", "choice")} != {""}


def test_labels_of_a_suite_and_of_flips_become_acceptance(unswayed, answer_online, tmp_path) -> None:
    data = [
        Example(i, f"e{i}", {"text": f"play song {i} now"}, {"intent": "play", "slots": ["O", "O", "B-x", "O"]})
        for i in range(8)
    ]
    make_suite(data, ["spoken/filler_end", "keyboard/adjacent"], to=tmp_path / "suite")
    Path("my_system.py").write_text(
        "def predict(batch):\n"
        "    words = [b['text'].split(' ') for b in batch]\n"
        "    return [{'intent': 'play' if w[-1] == 'now' else 'stop', 'slots': ['O'] * len(w)} for w in words]"
    )
    unswayed("collect", "items", "labels", "--suite", "suite", "--limit", 6, "-o", "items.jsonl")
    items = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert len(items) == 6
    assert not any("operator" in item for item in items)
    unswayed("run", "suite", "--system", "my_system:predict", "-o", "run")
    unswayed("collect", "items", "labels", "--run", "run", "-o", "flips.jsonl")
    flips = [json.loads(line) for line in Path("flips.jsonl").read_text().splitlines()]
    assert flips
    assert not any(item["utterance"].endswith("now") for item in flips), "only what changed the answer"
    unswayed("collect", "new", "study.toml", "--kind", "labels", "--items", "flips.jsonl")
    unswayed("collect", "new", "study.toml")
    answer_online("study.toml", {"anna": "", "ben": ""}, lambda name, texts: {"slots": True, "intent": name == "anna"})
    unswayed("collect", "export", "study.toml", "-o", "exported.jsonl")
    found = json.loads(unswayed("survey", "read", "exported.jsonl", "--bootstrap", 500, "--format", "json"))
    sets = {row["name"]: row for row in found["sets"]}
    assert (sets["altered"]["items"], sets["altered"]["intent"]["value"]) == (len(flips), 0.5)


def test_pairs_become_a_preference(unswayed, answer_online, tmp_path) -> None:
    data = [Example(i, f"e{i}", {"text": f"please play the song number {i}"}, "x") for i in range(9)]
    make_suite(data, ["keyboard/adjacent"], to=tmp_path / "people", seed=1)
    make_suite(data, ["keyboard/adjacent"], to=tmp_path / "simulated", seed=2)
    unswayed(
        "collect", "items", "plausible", "--suite", "people", "--suite", "simulated", "--limit", 5, "-o", "items.jsonl"
    )
    unswayed("collect", "new", "study.toml", "--kind", "plausible", "--items", "items.jsonl")
    unswayed("collect", "new", "study.toml")
    keys = {row["id"]: row for row in map(json.loads, Path("items.key.jsonl").read_text().splitlines())}
    items = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert len(items) == 5
    human = {item["original"]: keys[item["id"]]["human"] for item in items}
    answer_online("study.toml", {"anna": "", "ben": ""}, lambda _, texts: {"choice": human[texts[0]]})
    unswayed("collect", "export", "study.toml", "-o", "exported.jsonl")
    (found,) = json.loads(unswayed("survey", "prefer", "exported.jsonl", "--format", "json"))
    assert found["human"]["value"] == 1.0
    make_suite(data, ["keyboard/adjacent", "keyboard/typist"], to=tmp_path / "both")
    unswayed("collect", "items", "plausible", "--suite", "both", "-o", "two.jsonl")
    keys = list(map(json.loads, Path("two.key.jsonl").read_text().splitlines()))
    assert {(row["a"], row["b"]) for row in keys} == {("keyboard/adjacent", "keyboard/typist")}
