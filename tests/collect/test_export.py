"""Exports: every answer with all that is known of it, summaries, and suites that the rest of the package takes."""

from __future__ import annotations

import json

import pytest

from unswayed.base.errors import DataError, NothingEvaluated, UnknownName, UsageError
from unswayed.collect.assign import AlreadyAnswered
from unswayed.collect.export import agreements, answers_of, export, exportable, summaries
from unswayed.collect.items import make_study
from unswayed.collect.status import progress
from unswayed.collect.study import read_study
from unswayed.storage.judgements import read_judgements
from unswayed.storage.parquet import read_batches
from unswayed.storage.suite import Suite
from unswayed.storage.suite_jsonl import import_suite

from .conftest import typing as log, write_study
from .test_assign import Desk


def suite_study(
    tmp_path, examples, task=None, assign='k = 2\nstrata = ["s", "t"]\nshuffle = false', fields="", kind="retype"
):
    tmp_path.joinpath("examples.jsonl").write_text("".join(json.dumps(e) + "\n" for e in examples))
    import_suite(tmp_path / "examples.jsonl", tmp_path / "suite", task=task)
    file = write_study(tmp_path, kind, [], assign)
    text = file.read_text().replace('path = "items.jsonl"', f'suite = "suite"\n{fields}')
    file.write_text(text)
    study = read_study(file)
    store, _, _ = make_study(study)
    return Desk(study, store)


def test_every_answer_is_exported_with_its_story(make, tmp_path):
    items = [{"id": f"i{n}", "text": "x"} for n in range(2)] + [
        {"id": "g", "text": "y", "gold": {"choice": ["speech"]}}
    ]
    study, store, _ = make(items=items, assign="k = 2\ngold_every = 2\nshuffle = false")
    d = Desk(study, store)
    for name in ("a", "b"):
        d.invite(name)
        while item := d.ask(name):
            d.say(name, item)
    from unswayed.collect.people import exclude

    store.write(lambda tx: exclude(tx, "b", "only one button"))
    assert export(study, store, tmp_path / "all.jsonl", logs=True, names=True) == 6
    found = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert {(r["item"], r["person"], r["counted"], r["why_not"], r["correct"]) for r in found} == {
        ("i0", "a", True, "", None), ("i1", "a", True, "", None), ("g", "a", False, "gold item", False),
        ("i0", "b", False, "excluded: only one button", None), ("i1", "b", False, "excluded: only one button", None),
        ("g", "b", False, "excluded: only one button", False),
    }  # fmt: skip
    export(study, store, tmp_path / "all.parquet", names=True)
    ((_, columns),) = read_batches(tmp_path / "all.parquet")
    cells = list(zip(*(columns[name] for name in ("item", "person", "counted", "answer")), strict=True))
    assert ("i0", "a", 1, '{"choice":["keyboard"]}') in cells
    read = read_judgements(tmp_path / "all.jsonl", "choice")
    assert [r.item for r in read if r.is_check] == ["g"], "an excluded person's answer checks nothing"
    fields = ("person", "kind", "item", "asked", "answer", "counted", "why_not", "gold", "correct", "flags")
    for one, other in zip(read, read_judgements(tmp_path / "all.parquet", "choice"), strict=True):
        assert all(getattr(one, f) == getattr(other, f) for f in fields)
        assert one.seconds == pytest.approx(other.seconds, abs=0.001)
    with pytest.raises(DataError, match=r"all\.jsonl:1: this is an answer in a choice study, not in a labels study"):
        read_judgements(tmp_path / "all.jsonl", "labels")
    with pytest.raises(UsageError, match="suite"):
        export(study, store, tmp_path / "suite")


def test_people_make_a_suite(tmp_path):
    examples = [
        {"row": n, "id": f"e{n}", "inputs": {"text": text}, "gold": label}
        for n, (text, label) in enumerate([("turn it on", "on"), ("turn it off", "off")])
    ]
    d = suite_study(tmp_path, examples, task="classify")
    with d.store:
        d.invite("a", "s"), d.invite("b", "t")
        typed = {("a", "e0/text"): "turn it on", ("a", "e1/text"): "trun it off", ("b", "e0/text"): "tunr it on"}
        for name in ("a", "b"):
            while (item := d.ask(name)) and (name, item) in typed:
                assert d.say(name, item, {"text": typed[name, item]}, log(typed[name, item])).counted
                d.now += 5
        done = export(d.study, d.store, tmp_path / "made", names=True)
        assert (done.incomplete, done.labels_lost) == (0, 0)
        variants = [
            (v.example_id, v.source, v.draw, v.inputs["text"], v.gold, v.note)
            for v in Suite(tmp_path / "made").variants()
        ]
        assert variants == [
            ("e0", "people/s", 0, "turn it on", "on", "by a"),
            ("e0", "people/t", 1, "tunr it on", "on", "by b"),
            ("e1", "people/s", 0, "trun it off", "off", "by a"),
        ]
        with pytest.raises(UsageError, match="overwrite"):
            export(d.study, d.store, tmp_path / "made")
        (tmp_path / "examples.jsonl").write_text(json.dumps(examples[0]) + "\n")
        import_suite(tmp_path / "examples.jsonl", tmp_path / "suite", task="classify", overwrite=True)
        with pytest.raises(UsageError, match="is not the suite that this study's items were made from"):
            export(d.study, d.store, tmp_path / "shorter")
        assert not (tmp_path / "shorter").exists()


def test_labels_move_with_the_words_or_the_version_is_left_out(tmp_path):
    gold = {"intent": "wake", "slots": ["O", "O", "O", "B-time"]}
    examples = [{"row": 0, "id": "e", "inputs": {"text": "wake me at six"}, "gold": gold}]
    d = suite_study(tmp_path, examples)
    with d.store:
        d.invite("a", "s"), d.invite("b", "t")
        for name, text in (("a", "wakke me att sicks"), ("b", "wake me")):
            d.say(name, d.ask(name), {"text": text}, log(text))
        done = export(d.study, d.store, tmp_path / "made", names=True)
        assert done.labels_lost == 1
        assert exportable(d.study, answers_of(d.study, d.store)) == 1
        (variant,) = done.suite.variants()
        assert variant.inputs["text"] == "wakke me att sicks"
        assert variant.gold["slots"] == ["O", "O", "O", "B-time"]


def test_all_texts_of_an_example_are_one_persons(tmp_path):
    examples = [
        {"row": n, "id": f"e{n}", "inputs": {"a": f"one text {n}", "b": f"another {n}"}, "gold": "yes"}
        for n in range(3)
    ]
    d = suite_study(tmp_path, examples, task="classify", assign="k = 2\nlease_minutes = 1\nshuffle = false")
    with d.store:
        d.invite("a"), d.invite("b"), d.invite("c")
        with pytest.raises(NothingEvaluated):
            export(d.study, d.store, tmp_path / "made")

        def type_one(name):
            item = d.ask(name)
            example, field = item.split("/")
            text = examples[int(example[1])]["inputs"][field]
            d.now += 1
            assert d.say(name, item, {"text": text}, log(text)).counted
            return item

        assert [type_one("a"), type_one("b"), type_one("b"), type_one("b")] == ["e0/a", "e0/a", "e0/b", "e1/a"]
        d.check()
        assert d.store.read(progress)["versions"] == 1
        d.now += 61  # a and b leave in the middle of an example
        assert type_one("c") == "e0/a", "a's place, not b's"
        assert type_one("c") == "e0/b"
        done = export(d.study, d.store, tmp_path / "made")
        assert (done.suite.manifest.variants, done.incomplete) == (2, 0) == (d.store.read(progress)["versions"], 0)
        assert {r.why_not.partition(":")[0] for r in answers_of(d.study, d.store) if not r.counted} == {"unfinished"}
        assert [type_one("b"), type_one("a"), type_one("a")] == ["e1/b", "e1/a", "e1/b"], "b's first text counts again"
        d.check()
        while d.ask("c"):
            type_one("c")
        while d.ask("a"):
            type_one("a")
        found = d.store.read(progress)
        assert (found["items complete"], found["versions"], found["still wanted"]) == (6, 6, 0)
        done = export(d.study, d.store, tmp_path / "all")
        assert (done.suite.manifest.variants, done.incomplete) == (6, 0)
        assert len({(v.example_id, v.draw) for v in done.suite.variants()}) == 6
        assert done.suite.manifest.people == {"*": "draw"}


def test_a_slow_answer_is_asked_again_of_the_same_person(make):
    study, store, _ = make(kind="retype", items=[{"id": "i", "text": "x" * 20}], assign="k = 1")
    d = Desk(study, store)
    d.invite("a"), d.invite("b")
    d.ask("a")
    d.now += 60
    slow = d.say("a", "i", {"text": "x" * 20}, log("x" * 20, 41))
    assert slow == (False, ["slow"], True, True)
    assert d.say("a", "i", {"text": "x" * 20}, log("x" * 20, 41), attempt=1) == (False, ["slow"], False, True)
    with pytest.raises(AlreadyAnswered):
        d.say("a", "i", {"text": "x" * 19}, log("x" * 19, 41), attempt=1)
    assert d.ask("a") == "i", "the same person"
    assert d.ask("b") is None, "nobody else"
    assert d.say("a", "i", {"text": "x" * 19}, log("x" * 20)).flags == ["log differs from text"]
    d.now += 60
    assert d.say("a", "i", {"text": "x" * 20}, log("x" * 20, 39)).counted, "not significantly slower"
    (row,) = answers_of(study, store)
    assert [attempt["flags"] for attempt in row.attempts] == [["slow"], ["log differs from text"]]
    assert d.ask("a") is None


def test_who_can_not_do_it_gives_it_to_somebody_else(make):
    study, store, _ = make(kind="retype", items=[{"id": "i", "text": "x" * 20}], assign="k = 1\nattempts = 2")
    d = Desk(study, store)
    d.invite("a"), d.invite("b")
    for n in range(2):
        assert d.ask("a") == "i"
        d.now += 60
        assert d.say("a", "i", {"text": "x" * 20}, log("x" * 20, 50)).again == (n == 0)
    assert d.ask("a") is None
    d.check()
    assert d.ask("b") == "i"
    (row,) = answers_of(study, store)
    assert (row.counted, row.why_not) == (False, "flagged: slow")


def test_summaries_and_agreement(make):
    items = [{"id": f"p{n}", "a": "x", "b": str(n), "of": "x"} for n in range(3)]
    study, store, _ = make(kind="same_meaning", items=items, assign="k = 2\nshuffle = false")
    d = Desk(study, store)
    for name, values in (("a", (80, 90, 10)), ("b", (76, 92, 30))):
        d.invite(name)
        for value in values:
            d.say(name, d.ask(name), {"similarity": value, "grammatical": value > 20})
    answers = answers_of(study, store)
    made = {s["item"]: s for s in summaries(study, answers)}
    assert made["p0"] == {"item": "p0", "n": 2, "similarity": 78, "grammatical": 1, "kept": True}
    assert made["p1"]["best"] is True
    assert made["p2"]["kept"] is False
    found = agreements(study, answers)
    assert found["similarity"].alpha.value > 0.9
    assert found["grammatical"].alpha.n == 3


def test_a_survey_becomes_a_study(make):
    items = [
        {"id": "s1", "group": 1, "utterance": "wake me", "marked": "wake me", "slots": [], "intent": "wake"},
        {"id": "c", "group": 1, "utterance": "stop", "marked": "stop", "slots": [], "intent": "stop"},
        {"id": "c", "group": 2, "utterance": "stop", "marked": "stop", "slots": [], "intent": "stop"},
    ]
    from unswayed.collect.items import entries

    study, _, _ = make(kind="choice")
    folder = study.folder / "survey"
    file = write_study(folder, "labels", items, 'k = 1\nstrata = ["1", "2"]\ndistinct = false\nshuffle = false')
    with pytest.raises(DataError, match="second time"):
        entries(read_study(file))
    keys = [{"id": "s1", "control": False}, {"id": "c", "control": True}]
    (folder / "items.key.jsonl").write_text("".join(json.dumps(k) + "\n" for k in keys))
    found = entries(read_study(file))
    assert [(e.id, e.only_for, e.gold) for e in found] == [
        ("s1", "1", None),
        ("c", "", {"slots": True, "intent": True}),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("k = 1", "k = 0"), "assign.k"),
        (("k = 1", 'k = 3\nstrata = ["s", "t"]'), "only 2 strata"),
        (("k = 1", "k = 1\nquota = {x = 1}"), "quota"),
        (("k = 1", "kk = 1"), "kk"),
        (('kind = "choice"', 'kind = "chioce"'), "Did you mean 'choice'"),
        (('answers = ["keyboard", "speech", "none"]', ""), "options"),
        (('consent = "We keep what you type."', 'consent = " "'), "consent"),
        (('title = "A study"', 'title = "A'), "TOML"),
    ],
)
def test_a_wrong_study_is_named_by_field(tmp_path, change, message):
    file = write_study(tmp_path, "choice", [{"text": "x"}])
    file.write_text(file.read_text().replace(*change))
    with pytest.raises((DataError, UnknownName), match=message):
        read_study(file)


def test_a_bad_item_is_named_by_row(tmp_path):
    file = write_study(tmp_path, "choice", [{"text": "x"}, {"txet": "x"}])
    with pytest.raises(DataError, match="items.jsonl:2"):
        make_study(read_study(file))
    assert not (tmp_path / "study.sqlite").exists()
