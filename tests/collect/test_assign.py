"""Who gets what: properties of every sequence of events, and fifty people at once."""

from __future__ import annotations

import json
import threading
from collections import Counter
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.base.errors import UsageError
from unswayed.collect.answers import take_answer
from unswayed.collect.assign import AlreadyAnswered, NotYours, next_item, person_of
from unswayed.collect.forgetting import forget
from unswayed.collect.items import make_study
from unswayed.collect.people import exclude, hashed, invite
from unswayed.collect.study import read_study

from .conftest import typing, write_study

CHOSEN = {"choice": ["keyboard"]}


class Desk:
    """Asks and answers as the app does, with a clock of its own."""

    def __init__(self, study, store):
        self.study, self.store, self.kind = study, store, study.make_kind()
        self.tokens = {}
        self.now = 1000.0

    def invite(self, name, stratum=""):
        token = self.store.write(lambda tx: invite(tx, self.study, name, stratum, self.now))
        self.tokens[name] = hashed(token)

    def ask(self, name):
        def job(tx):
            return next_item(tx, person_of(tx, self.tokens[name]), self.study.assign, self.kind, self.now)

        lease = self.store.write(job)
        return lease and lease.item

    def say(self, name, item, answer=None, log=(), attempt=None):
        def job(tx):
            person = person_of(tx, self.tokens[name])
            rules = self.study.assign
            return take_answer(
                tx, person, item, answer or CHOSEN, list(log), rules, self.kind, self.now, attempt=attempt
            )

        return self.store.write(job)

    def rows(self, sql, *values):
        return self.store.read(lambda tx: tx.rows(sql, *values))

    def check(self):
        """What must hold after anything."""
        rules = self.study.assign
        live = Counter(item for (item,) in self.rows("SELECT item FROM work WHERE live = 1"))
        for id, free in self.rows("SELECT id, free FROM items WHERE gold IS NULL"):
            assert live[id] + free == rules.k
        if rules.strata and rules.distinct:
            assert not self.rows("SELECT item FROM work WHERE live = 1 GROUP BY item, stratum HAVING count(*) > 1")
        assert not self.rows("SELECT 1 FROM work WHERE live = 1 AND state NOT IN ('answered', 'leased')")
        sql = (
            "SELECT p.unit, w.person, count(*) FROM work w JOIN parts p ON p.item = w.item WHERE live = 1 GROUP BY 1, 2"
        )
        sizes = dict(self.rows("SELECT unit, count(*) FROM parts GROUP BY unit"))
        assert all(count == sizes[unit] for unit, _, count in self.rows(sql)), "a unit is one person's as a whole"
        by_stratum = Counter(stratum for (stratum,) in self.rows("SELECT stratum FROM work WHERE live = 1"))
        for name, counted in self.rows("SELECT name, live FROM strata"):
            assert by_stratum[name] == counted


@pytest.fixture
def desk(make, database):
    def made(**given):
        study, store, _ = make(database=database, **given)
        return Desk(study, store)

    return made


def test_k_people_of_k_strata(desk):
    d = desk(assign='k = 2\nstrata = ["s", "t", "u"]\nshuffle = false')
    for name, stratum in (("a", "s"), ("b", "s"), ("c", "t"), ("e", "u")):
        d.invite(name, stratum)
    assert [d.ask(n) for n in "abc"] == ["i0", "i1", "i0"]
    assert d.ask("e") == "i1", "i0 has its two"
    assert d.say("a", "i0").counted
    assert d.ask("a") == "i2", "i1 has somebody of this stratum"
    d.check()


def test_a_lease_that_expires_goes_back_and_a_late_answer_is_kept(desk):
    d = desk(assign="k = 1\nlease_minutes = 1\nshuffle = false")
    d.invite("a"), d.invite("b"), d.invite("c")
    assert d.ask("a") == d.ask("a") == "i0"
    assert d.ask("b") == "i1"
    d.now += 61
    assert d.ask("c") == "i0", "the place is free again, though c might have been beyond it"
    late = d.say("a", "i0")
    assert (late.counted, late.flags) == (False, ["late"])
    assert d.say("b", "i1").counted, "nobody took its place"
    assert d.say("c", "i0").counted
    d.check()
    assert len(d.rows("SELECT 1 FROM work WHERE state = 'answered'")) == 3


def test_an_expired_item_may_come_back_to_the_same_person(desk):
    d = desk(items=[{"id": "only", "text": "x"}], assign="k = 1\nlease_minutes = 1")
    d.invite("a")
    d.ask("a")
    d.now += 3600
    assert d.ask("a") == "only"
    assert d.say("a", "only").counted
    assert d.ask("a") is None


def test_nobody_answers_what_is_not_theirs_or_answers_twice(desk):
    d = desk(assign="k = 1\nshuffle = false")
    d.invite("a"), d.invite("b")
    d.ask("a")
    with pytest.raises(NotYours):
        d.say("b", "i0")
    assert d.say("a", "i0").fresh
    assert not d.say("a", "i0").fresh, "the same again, as after a lost reply, is fine"
    with pytest.raises(AlreadyAnswered):
        d.say("a", "i0", {"choice": ["speech"]})


def test_gold_comes_to_everybody_and_takes_no_place(desk):
    items = [{"id": f"i{n}", "text": "x"} for n in range(6)]
    items += [{"id": f"g{n}", "text": "x", "gold": {"choice": ["speech"]}} for n in range(2)]
    d = desk(items=items, assign="k = 2\ngold_every = 2\nshuffle = false")
    for name in "ab":
        d.invite(name)
        got = []
        while item := d.ask(name):
            got.append(item)
            d.say(name, item, {"choice": ["speech" if name == "a" else "none"]})
        assert got == ["i0", "i1", "g0", "i2", "i3", "g1", "i4", "i5"]
    assert d.rows("SELECT person, sum(correct) FROM work GROUP BY person ORDER BY person") == [("a", 2), ("b", 0)]
    d.check()


def test_quotas(desk):
    d = desk(assign='k = 1\nstrata = ["s", "t"]\nper_person = 2\nquota = {t = 1}\nshuffle = false')
    d.invite("a", "s"), d.invite("b", "t"), d.invite("c", "t")
    for _ in range(2):
        d.say("a", d.ask("a"))
    assert d.ask("a") is None
    d.say("b", d.ask("b"))
    assert d.ask("b") is None
    assert d.ask("c") is None


def test_some_items_are_not_for_some_people_and_some_for_one_group(desk):
    items = [{"id": "i0", "text": "x", "not_for": ["a"]}, {"id": "i1", "text": "x", "group": "t"}]
    d = desk(items=items, assign='k = 2\nstrata = ["s", "t"]\ndistinct = false\nshuffle = false')
    d.invite("a", "s"), d.invite("b", "t"), d.invite("c", "t")
    assert d.ask("a") is None
    assert d.ask("b") == "i0"
    d.say("b", "i0")
    assert d.ask("b") == "i1"
    assert d.ask("c") == "i0"


def test_who_is_excluded_counts_no_more_and_their_places_go_to_others(desk):
    d = desk(assign="k = 1\nshuffle = false")
    d.invite("a"), d.invite("b")
    for _ in range(4):
        d.say("a", d.ask("a"))
    assert d.ask("b") is None
    d.store.write(lambda tx: exclude(tx, "a", "guesses"))
    assert d.ask("a") is None
    assert d.ask("b") == "i0"
    d.check()
    with pytest.raises(UsageError):
        d.store.write(lambda tx: exclude(tx, "nobody", "x"))


def test_who_is_forgotten_leaves_nothing(desk):
    d = desk(assign="k = 1")
    d.invite("a-name"), d.invite("b")
    d.say("a-name", d.ask("a-name"), log=[{"t": 1, "e": "commit", "d": "secret"}])
    d.ask("a-name")
    assert d.store.write(lambda tx: forget(tx, "a-name")) == 1
    for table in ("people", "work", "logs"):
        assert "a-name" not in str(d.rows(f"SELECT * FROM {table}"))
    d.check()
    with pytest.raises(UsageError):
        d.store.write(lambda tx: forget(tx, "a-name"))


numbers = count()
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["ask", "say", "slow", "late", "exclude", "forget"]), st.integers(0, 5)),
        st.tuples(st.just("wait"), st.sampled_from([1, 40, 61])),
    ),
    max_size=60,
)


@given(steps, st.sampled_from([(1, False), (2, True), (3, True), (2, False)]), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_places_are_never_lost_or_doubled(tmp_path_factory, steps, shape, strata):
    """Whatever people do in whatever order, an item's places add up, and a fresh look would find the same next item."""
    k, distinct = shape
    lines = f"k = {k}\nlease_minutes = 1\ngold_every = 3"
    if strata:
        lines += f'\nstrata = ["s", "t", "u"]\ndistinct = {str(distinct).lower()}'
    items = [{"id": f"i{n}", "text": "x" * 9} for n in range(5)] + [{"id": "g", "text": "y", "gold": {"text": "y"}}]
    file = write_study(tmp_path_factory.mktemp("s") / str(next(numbers)), "retype", items, lines)
    keys = [{"id": f"i{n}", "example": f"e{n // 2}"} for n in range(5)]  # two texts, two texts, and one
    (file.parent / "items.key.jsonl").write_text("".join(json.dumps(key) + "\n" for key in keys))
    study = read_study(file)
    store, _, _ = make_study(study)
    store._connection.run("PRAGMA synchronous=OFF")  # thousands of commits whose safety is not the question here
    with store:
        d = Desk(study, store)
        out: dict[str, str] = {}
        had: dict[str, set[str]] = {f"p{n}": set() for n in range(6)}
        for n in range(6):
            d.invite(f"p{n}", "stu"[n % 3] if strata else "")
        gone = set()
        for what, who in steps:
            name = f"p{who}"
            if what == "wait":
                d.now += who
            elif name in gone:
                continue
            elif what == "ask":
                item = d.ask(name)
                assert item not in had[name], "no item twice to one person"
                if item:
                    out[name] = item
            elif what in ("say", "slow", "late") and name in out:
                item = out.pop(name)
                had[name].add(item)
                text = "y" if item == "g" else "x" * 9
                d.now += 60 if what == "slow" else 1
                said = d.say(name, item, {"text": text}, typing(text, 59 if what == "slow" else 1))
                if said.again:
                    had[name].remove(item)
                    out[name] = item
            elif what == "forget":
                store.write(lambda tx, name=name: forget(tx, name))
                gone.add(name)
            elif what == "exclude":
                store.write(lambda tx, name=name: exclude(tx, name, "x"))
                out.pop(name, None)
                gone.add(name)
            d.check()
        for name in sorted(set(had) - gone):
            soon = d.ask(name)
            store.write(lambda tx: tx.run("UPDATE people SET reached = 0"))
            assert d.ask(name) == soon, "the shortcut hides nothing"


def test_fifty_people_at_once(make, database):
    """Exactly k answers each, from k strata; none lost, none doubled."""
    items = [{"id": f"i{n}", "text": "x"} for n in range(40)]
    study, store, _ = make(items=items, assign='k = 3\nstrata = ["s", "t", "u"]', database=database)
    d = Desk(study, store)
    for n in range(50):
        d.invite(f"p{n}", "stu"[n % 3])
    given: list[tuple[str, str]] = []
    start = threading.Barrier(50)

    def person(name):
        start.wait()
        while item := d.ask(name):
            assert d.say(name, item).counted
            given.append((name, item))

    threads = [threading.Thread(target=person, args=(f"p{n}",)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(item for _, item in given) == {f"i{n}": 3 for n in range(40)}
    stored = d.rows("SELECT person, item FROM work WHERE state = 'answered' AND live = 1")
    assert sorted(stored) == sorted(given)
    strata = d.rows("SELECT item, count(DISTINCT stratum) FROM work WHERE live = 1 GROUP BY item")
    assert {n for _, n in strata} == {3}
    d.check()
