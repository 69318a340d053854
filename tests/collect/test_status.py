"""What the owner is told is what there is."""

from __future__ import annotations

from unswayed.collect.status import coverage, flags, progress, record, throughput

from .conftest import typing
from .test_assign import Desk


def test_counts(make, database):
    items = [{"id": f"i{n}", "text": "x" * 10} for n in range(4)]
    assign = 'k = 2\nstrata = ["s", "t"]\nattempts = 1\nshuffle = false'
    study, store, _ = make(kind="retype", items=items, assign=assign, database=database)
    d = Desk(study, store)
    d.invite("a", "s"), d.invite("b", "t"), d.invite("c", "t")

    def say(name, seconds):
        item = d.ask(name)
        d.now += seconds
        d.say(name, item, {"text": "x" * 10}, typing("x" * 10, seconds))

    say("a", 1), say("a", 1), say("b", 1), say("c", 50)
    d.ask("b")
    found = store.read(progress)
    assert found == {
        "items": 4, "items complete": 1, "versions": 3, "answers": 4, "counted": 3, "asked again": 0, "skipped": 0,
        "flagged": 1, "out now": 1, "still wanted": 5,
    }  # fmt: skip
    assert store.read(coverage) == [
        {"stratum": "s", "people": 1, "answers": 2, "counted or out": 2},
        {"stratum": "t", "people": 2, "answers": 2, "counted or out": 2},
    ]
    assert store.read(flags) == {"slow": 1}
    assert [(r["person"], r["answers"], r["counted"], r["flagged"]) for r in store.read(record)] == [
        ("a", 2, 2, 0),
        ("b", 1, 1, 0),
        ("c", 1, 0, 1),
    ]
    assert sum(store.read(lambda tx: throughput(tx, now=d.now))) == 3
    assert store.read(lambda tx: throughput(tx, 2, now=d.now + 3700)) == [3, 0]
