"""The questions of a report: the slices that are asked about, the sets, and what each number is signed with."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.task import task_named
from unswayed.measure.definitions import MEASURES, Way
from unswayed.measure.questions import (
    ALL,
    GRID,
    MOST_VALUES,
    Questions,
    check_cluster,
    clusters_of,
    scopes_of,
    signer_of,
    slice_key,
    slices_of,
    with_cluster,
)
from unswayed.measure.run_table import PairCodes
from unswayed.measure.spill import Spill
from unswayed.measure.table_reader import read_table
from unswayed.run.block import in_blocks
from unswayed.run.plan import MeasurePlan
from unswayed.score import scorers


def table_of(run, *names: str):
    task, used = task_named("classify"), [scorers.get(name)() for name in names or ("accuracy",)]
    return read_table(in_blocks(run.items()), task, PairCodes(used, task), Spill()), used


def questions_of(run, cluster: str | None = None, identity: str = "a", suite: str = "s") -> Questions:
    table, (scorer,) = table_of(run)
    sign = signer_of([(table, identity)], scorer, suite)
    return Questions(table, slices_of(table, None, cluster)[0], {scorer: sign}, Way(), cluster)


def test_all_slices_are_asked_about_but_the_clusters(random_run) -> None:
    table, _ = table_of(random_run())
    assert [s.name for s in slices_of(table, None)[0]] == ["parity=0", "parity=1", "size=big", "size=small"]
    assert [s.name for s in slices_of(table, None, "parity")[0]] == ["size=big", "size=small"]
    assert [s.name for s in slices_of(table, ["size"])[0]] == ["size=big", "size=small"]
    with pytest.raises(UnknownName, match="parity"):
        slices_of(table, ["party"])


def test_of_many_values_the_largest_are_kept_and_that_is_said(fake_run) -> None:
    many = MOST_VALUES + 10
    rows = [("a", "a", [("p", 0, "same", "a")], {"who": f"w{i % many:02}"}) for i in range(many + 3)]
    found, (said,) = slices_of(table_of(fake_run(rows))[0], None)
    assert len(found) == MOST_VALUES
    assert {"who=w00", "who=w01", "who=w02"} <= {one.name for one in found}
    assert f"{many} values" in said


def test_a_slice_does_not_take_the_name_of_a_set() -> None:
    assert [slice_key(key) for key in ("operator", "family", "room")] == ["slice operator", "slice family", "room"]


def test_sets_are_the_whole_each_family_and_each_operator(random_run) -> None:
    (part,) = table_of(random_run())[0].parts()
    found = {(kind, name): len(scope.same) + len(scope.changed) for kind, name, scope in scopes_of(part)}
    assert found[ALL, ALL] == sum(n for (kind, _), n in found.items() if kind == "operator") == len(part.draw)
    assert found["family", "keys"] == found["operator", "keys/near"]


def test_each_place_has_a_number_and_each_number_its_own_signature(random_run) -> None:
    questions = questions_of(random_run())
    found = questions.answer(0.95)
    signatures = [questions.at_level(at, 0.95).signature for at in questions.places()]
    assert len(set(signatures)) == len(signatures)
    assert set(found.nested(GRID)["keys/near"]) == {"parity=0", "parity=1", "size=big", "size=small"}
    assert {"operator", "family", "parity", "size"} == set(found.by())
    assert all((kind, name, measure) in questions.places() for kind, name, measure in [(ALL, ALL, m) for m in MEASURES])


def test_a_number_that_holds_at_any_time_is_wider(random_run) -> None:
    questions = questions_of(random_run(300))
    plain, anytime = (questions.answer(0.95, early).block(ALL, ALL) for early in ((), ("drop",)))
    assert anytime.drop.high - anytime.drop.low > plain.drop.high - plain.drop.low
    assert anytime.flips == plain.flips


def test_signatures_change_with_answers_system_suite_and_what_decides(random_run) -> None:
    table, (scorer,) = table_of(random_run(30))
    other, _ = table_of(random_run(30, seed=1))
    signed = [
        signer_of(runs, scorer, suite, **more)("average", "all")
        for runs, suite, more in (
            ([(table, "a")], "s", {}),
            ([(table, "b")], "s", {}),
            ([(other, "a")], "s", {}),
            ([(table, "a")], "t", {}),
            ([(table, "a")], "s", {"level": 0.9}),
            ([(table, "a"), (other, "a")], "s", {}),
        )
    ]
    assert len(set(signed)) == len(signed)
    assert signer_of([(table, "a")], scorer, "s")("average", "all") == signed[0]
    flips = {signer_of([(table, "a")], one, "s")("flips", "all") for one in (scorer, None)}
    assert len(flips) == 1, "flips compare answers, whatever scores them"


def test_examples_of_no_cluster_stand_for_themselves(fake_run) -> None:
    rows = [("a", "a", [("p", 0, "same", "a")], groups) for groups in ({"k": "1"}, {}, {"k": "1"}, {"k": "2"}, {})]
    table, _ = table_of(fake_run(rows))
    codes = clusters_of(table, "k").tolist()
    assert codes[0] == codes[2]
    assert len(set(codes)) == 4
    assert clusters_of(table, None) is None
    assert questions_of(fake_run(rows), "k").answer(0.95).block(ALL, ALL).clean.over == "k (clusters)"


def test_clusters_are_the_plans_or_the_suites_and_must_be_there() -> None:
    suite = SimpleNamespace(manifest=SimpleNamespace(cluster="page"))
    assert with_cluster(MeasurePlan(), suite).cluster == "page"
    assert with_cluster(MeasurePlan(cluster="room"), suite).cluster == "room"
    check_cluster(["page", "room"], None)
    check_cluster(["page", "room"], "room")
    with pytest.raises(UsageError, match=r"no field 'rom' to cluster by. It has 'page', 'room'"):
        check_cluster(["room", "page"], "rom")
