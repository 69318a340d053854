"""Every measure against a plain loop over the same run, and what must hold whatever the run."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from statistics import mean

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import f1_score

from unswayed.base.errors import NothingEvaluated, UnknownName, UsageError
from unswayed.measure.changes import flips
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Results
from unswayed.score import scorers
from unswayed.stats import Mean, bootstrap, interval, sample_of

LABEL = st.sampled_from(["x", "y", "z"])
OUTPUT = st.one_of(LABEL, LABEL, LABEL, st.none())  # None: no output
VARIANT = st.tuples(
    st.sampled_from(["k/a", "s/b"]), st.integers(0, 2), st.sampled_from(["same", "same", "changed"]), OUTPUT
)
ROW = st.tuples(
    st.one_of(LABEL, LABEL, st.none()),
    OUTPUT,
    st.lists(VARIANT, max_size=5, unique_by=lambda v: (v[0], v[1], v[2])),
    st.dictionaries(st.sampled_from(["g", "h"]), st.sampled_from(["1", "2"]), max_size=2),
)
RUN = st.lists(ROW, min_size=1, max_size=12)


def with_failures(rows, fake_run):
    def known(o):
        return fake_run.FAILED if o is None else o

    return [(g, known(c), [(op, d, m, known(o)) for op, d, m, o in v], groups) for g, c, v, groups in rows]


class Oracle:
    """The definitions, written as loops."""

    def __init__(self, rows, operator=None, inside=lambda groups: True):
        tries = [sum(v[2] == "same" for v in vs) for _, _, vs, _ in rows]
        self.k = max(1, min(3, max(tries)))
        self.rows = [
            (g, c, [v for v in vs if operator in (None, v[0])])
            for g, c, vs, groups in rows
            if inside(groups) and (operator is None or any(v[0] == operator for v in vs))
        ]

    def clean(self):
        return [(float(c == g)) for g, c, _ in self.rows if g is not None and c is not None]

    def scored(self):
        """Gold, clean output, outputs of same-meaning variants; for examples with at least one."""
        for g, c, vs in self.rows:
            outputs = [o for _, _, m, o in vs if m == "same" and o is not None]
            if g is not None and outputs:
                yield g, c, outputs

    def average(self):
        return [mean(float(o == g) for o in outputs) for g, _, outputs in self.scored()]

    def worst(self):
        """The mean, over all choices of k variants, of the lowest score; of fewer than k all are taken."""
        chosen = [(g, combinations(outputs, min(self.k, len(outputs)))) for g, _, outputs in self.scored()]
        return [mean(min(float(o == g) for o in some) for some in sets) for g, sets in chosen]

    def cvar(self):
        """The mean of the lowest k-th of the scores: each is written k times, and as many as there were are taken."""
        for g, _, outputs in self.scored():
            scores, size = sorted(float(o == g) for o in outputs), max(len(outputs), self.k)
            yield mean(sorted(scores * self.k)[:size] if len(scores) >= self.k else scores[:1])

    def drop(self):
        return [
            float(c == g) - mean(float(o == g) for o in outputs) for g, c, outputs in self.scored() if c is not None
        ]

    def changes(self, meaning):
        return [
            [o != c for _, _, m, o in vs if m == meaning and o is not None]
            for _, c, vs in self.rows
            if c is not None and any(m == meaning and o is not None for _, _, m, o in vs)
        ]

    def missing(self):
        gold = [(c, [o for _, _, m, o in vs if m == "same"]) for g, c, vs in self.rows if g is not None]
        variants = sum(o is None for _, os in gold for o in os)
        return {
            "clean": sum(c is None for c, _ in gold),
            "average": variants,
            "worst": variants,
            "drop": variants + sum(c is None and bool(os) for c, os in gold),
            "flips": sum(c is None or o is None for _, c, vs in self.rows for _, _, m, o in vs if m == "same"),
        }


def check(block, oracle):
    for name in ("clean", "average", "worst", "cvar", "drop"):
        values, estimate = list(getattr(oracle, name)()), getattr(block, name)
        assert estimate.n == len(values), name
        assert estimate.value == (pytest.approx(mean(values), abs=1e-12) if values else None), name
    changes = oracle.changes("same")
    assert block.flips.n == block.consistency.n == len(changes)
    assert block.flips.value == (pytest.approx(mean(map(mean, changes))) if changes else None)
    assert block.consistency.value == (pytest.approx(mean(not any(c) for c in changes)) if changes else None)
    if noticed := oracle.changes("changed"):
        assert block.noticed.value == pytest.approx(mean(map(mean, noticed)))
    else:
        assert block.noticed is None or block.noticed.value is None
    for name, missing in oracle.missing().items():
        assert getattr(block, name).missing == missing, name


@settings(max_examples=150, deadline=None)
@given(RUN)
def test_measures_are_their_definitions(fake_run, rows):
    run = fake_run(with_failures(rows, fake_run))
    variants = [v for *_, vs, _ in rows for v in vs]
    if all(v[3] is None for v in variants) if variants else all(row[1] is None for row in rows):
        with pytest.raises(NothingEvaluated):
            measure_run(run, {"measure": {"bootstrap": 20}})
        return
    results = measure_run(run, {"measure": {"bootstrap": 20}})
    check(results.whole, Oracle(rows))
    for operator in {v[0] for v in variants}:
        check(results.sets["operator"][operator], Oracle(rows, operator))
        check(results.sets["family"][operator.split("/")[0]], Oracle(rows, operator))
    for key in ("g", "h"):
        values = {groups[key] for *_, groups in rows if key in groups}
        assert set(results.sets.get(key, {})) == values
        for value in values:
            oracle = Oracle(rows, inside=lambda groups, k=key, v=value: groups.get(k) == v)
            check(results.sets[key][value], oracle)
            for operator, cells in results.grid.items():
                one = Oracle(rows, operator, lambda groups, k=key, v=value: groups.get(k) == v)
                drop = one.drop()
                assert cells[f"{key}={value}"].value == (pytest.approx(mean(drop)) if drop else None)


@settings(max_examples=60, deadline=None)
@given(RUN)
def test_macro_f1_measures_are_of_whole_sets(fake_run, rows):
    rows = [(g, c, [v for v in vs if v[2] == "same" and v[3] is not None], q) for g, c, vs, q in rows]
    if not any(vs for g, _, vs, _ in rows if g is not None):
        return
    run = fake_run(with_failures(rows, fake_run))
    results = measure_run(run)
    found = results.scores["macro_f1"]

    def f1(pairs):
        if not pairs:
            return None
        golds, outputs, weights = zip(*pairs, strict=True)
        return f1_score(golds, outputs, average="macro", sample_weight=weights)

    def average(rows):
        """Of the variants that an example has in a draw, each counts as its share."""
        draws = sorted({v[1] for _, _, vs, _ in rows for v in vs})
        sets = [[(g, [v[3] for v in vs if v[1] == draw]) for g, _, vs, _ in rows] for draw in draws]
        return mean(f1([(g, o, 1 / len(outputs)) for g, outputs in one for o in outputs]) for one in sets)

    gold = [row for row in rows if row[0] is not None]
    clean = f1([(g, c, 1) for g, c, _, _ in gold if c is not None])
    assert found["clean"].value == (None if clean is None else pytest.approx(clean, abs=1e-12))
    assert found["average"].value == pytest.approx(average(gold), abs=1e-12)
    both = [row for row in gold if row[1] is not None and row[2]]
    if both:
        drop = f1([(g, c, 1) for g, c, _, _ in both]) - average(both)
        assert found["drop"].value == pytest.approx(drop, abs=1e-12)
    k = results.worst_of
    worst = []
    for g, _, vs, _ in gold:
        ordered = sorted(vs, key=lambda v: (float(v[3] == g), v[1], v[0]))
        chosen = list(combinations(range(len(ordered)), min(k, len(ordered)))) if ordered else []
        worst += [(g, ordered[min(places)][3], 1 / len(chosen)) for places in chosen]
    assert found["worst"].value == pytest.approx(f1(worst), abs=1e-12)


def test_readins_averages(fake_run):
    """Three people each, as in READIN: two thirds and one third right on average, none and none in the worst case."""
    rows = [
        ("a", "a", [("p", 0, "same", "a"), ("p", 1, "same", "a"), ("p", 2, "same", "b")]),
        ("a", "a", [("p", 0, "same", "a"), ("p", 1, "same", "b"), ("p", 2, "same", "b")]),
        ("a", "a", [("p", d, "same", "a") for d in range(3)]),
        ("a", "a", []),
    ]
    results = measure_run(fake_run(rows))
    assert results.clean.n == 4
    assert results.average.value == pytest.approx(2 / 3)
    assert results.worst.value == pytest.approx(1 / 3)
    assert results.drop.value == pytest.approx(1 / 3)
    assert results.average.n == results.drop.n == 3


def test_slot_f1_where_some_have_no_slots(fake_run):
    def slu(tag):
        return {"intent": "i", "slots": [tag]}

    rows = [
        (slu("B-x"), slu("B-x"), [("p", 0, "same", slu("O")), ("p", 1, "same", slu("B-x"))]),
        (slu("O"), slu("O"), [("p", 0, "same", slu("O")), ("p", 1, "same", slu("B-y"))]),
    ]
    found = measure_run(fake_run(rows, task="slu")).scores["slot_f1"]
    assert found["clean"].value == 1.0
    assert found["clean"].missing == found["average"].missing == 0
    assert found["average"].value == pytest.approx((0 + 2 / 3) / 2)
    assert found["worst"].value == 0.0


def test_texts_without_gold_have_flips_only(fake_run):
    rows = [(None, {"any": i}, [("p", 0, "same", {"any": 0})]) for i in range(4)]
    results = measure_run(fake_run(rows, task="text"))
    assert results.score == "none"
    for name in ("clean", "average", "worst", "drop"):
        estimate = getattr(results, name)
        assert (estimate.value, estimate.low, estimate.n, estimate.missing) == (None, None, 0, 0)
    assert results.flip_rate.value == 0.75
    assert results.consistency.value == 0.25


def test_golds_that_python_calls_equal_stay_apart(fake_run):
    rows = [(1, 1, [("p", 0, "same", 1)]), (True, True, [("p", 0, "same", True)])]
    assert measure_run(fake_run(rows), {"measure": {"bootstrap": 10}}).clean.value == 1.0


@pytest.mark.parametrize(("answers", "right"), [([{"text": "cat"}], "cat"), ([{"text": "a"}], "a"), ([], "")])
def test_an_unreadable_output_is_wrong_not_missing(fake_run, answers, right):
    rows = [({"answers": answers}, right, [("p", 0, "same", 7), ("p", 1, "same", right)])]
    results = measure_run(fake_run(rows, task="qa"))
    assert results.average.value == results.flip_rate.value == 0.5
    assert results.average.missing == results.flip_rate.missing == 0
    assert results.validity["unreadable"] == 1


def test_nothing_evaluated(fake_run):
    with pytest.raises(NothingEvaluated, match="No variant has an output"):
        measure_run(fake_run([("a", "a", [("p", 0, "same", fake_run.FAILED)])]))
    with pytest.raises(NothingEvaluated, match="No example"):
        measure_run(fake_run([("a", fake_run.FAILED, [])]))
    assert measure_run(fake_run([("a", "a", [])])).clean.value == 1.0


def test_order_changes_nothing(random_run):
    run = random_run(60, fail=0.1)
    expected = msgspec.json.encode(measure_run(run, {"measure": {"bootstrap": 200}}))
    for seed in range(3):
        assert msgspec.json.encode(measure_run(run.shuffled(seed), {"measure": {"bootstrap": 200}})) == expected


def test_order_changes_nothing_in_continuous_scores(fake_run, monkeypatch):
    monkeypatch.setattr(scorers.get("exact_match"), "item", lambda self, o, g, task: float(o) / 1000)
    rows = [("x", i, [("p", d, "same", (i * 7919 + d * 104729) % 1000) for d in range(3)]) for i in range(400)]
    run = fake_run(rows)
    expected = msgspec.json.encode(measure_run(run, {"measure": {"scores": ["exact_match"], "bootstrap": 200}}))
    assert (
        msgspec.json.encode(measure_run(run.shuffled(1), {"measure": {"scores": ["exact_match"], "bootstrap": 200}}))
        == expected
    )


HASHED = """
import importlib.util, msgspec, sys
spec = importlib.util.spec_from_file_location("fakes", sys.argv[1])
fakes = importlib.util.module_from_spec(spec); spec.loader.exec_module(fakes)
from unswayed.measure.measuring import measure_run
from unswayed.base.ids import content_id
rows = [("abc"[i % 3], "abc"[i % 2], [("k/" + "xyz"[d], d, "same", "abc"[(i * d) % 3]) for d in range(3)],
         {"g": str(i % 4)}) for i in range(30)]
print(content_id(msgspec.to_builtins(measure_run(fakes.FakeRun(rows), {"measure": {"bootstrap": 100}}))))
"""


def test_hash_seed_changes_nothing(fake_run):
    here = os.path.join(os.path.dirname(__file__), "conftest.py")
    ids = {
        subprocess.run(
            [sys.executable, "-c", HASHED, here],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(ids) == 1


def test_results_survive_json(random_run):
    results = measure_run(random_run(), {"measure": {"bootstrap": 50}})
    assert msgspec.json.decode(msgspec.json.encode(results), type=Results) == results


def test_signature_changes_with_everything_that_decides(fake_run, random_run):
    run = random_run(30)
    first = measure_run(run)
    others = [
        measure_run(run, {"measure": {"level": 0.9}}),
        measure_run(run, {"measure": {"weigh": "variants"}}),
        measure_run(run, {"measure": {"worst_of": 2}}),
        measure_run(run, {"measure": {"cluster": "size"}}),
        measure_run(random_run(30, identity="another")),
        measure_run(random_run(30, seed=1)),
    ]
    signatures = {r.average.signature for r in (first, *others)}
    assert len(signatures) == 7
    assert measure_run(run, {"measure": {"scores": ["macro_f1"]}}).average.signature not in signatures
    blocks = [first.whole, *(block for sets in first.sets.values() for block in sets.values())]
    every = [getattr(b, m).signature for b in blocks for m in ("clean", "average", "worst", "drop", "flips")]
    every += [cell.signature for cells in first.grid.values() for cell in cells.values()]
    assert len(set(every)) == len(every)
    for part in ("measure=average:5", "score=accuracy:1", "set=all", "suite=s1", "level=0.95", "worst_of=3"):
        assert part in first.average.signature.split("|")


def test_a_scorers_version_is_in_the_signature(random_run, monkeypatch):
    before = measure_run(random_run(10), {"measure": {"bootstrap": 10}})
    monkeypatch.setattr(scorers.get("accuracy"), "version", 2)
    assert measure_run(random_run(10), {"measure": {"bootstrap": 10}}).clean.signature != before.clean.signature


def test_many_slice_values_are_cut_to_the_largest(fake_run):
    rows = [("a", "a", [("p", 0, "same", "a")], {"who": f"w{i % 60:02}"}) for i in range(63)]
    results = measure_run(fake_run(rows), {"measure": {"bootstrap": 10}})
    assert len(results.sets["who"]) == 50
    assert {"w00", "w01", "w02"} <= set(results.sets["who"])
    assert any("'who' has 60 values" in w for w in results.validity["warnings"])


def test_only_the_wanted_slices(random_run):
    results = measure_run(random_run(), {"measure": {"bootstrap": 10, "groups": ["size"]}})
    assert set(results.sets) == {"operator", "family", "size"}
    with pytest.raises(UnknownName, match="parity"):
        measure_run(random_run(), {"measure": {"bootstrap": 10, "groups": ["party"]}})


def test_a_slice_called_operator_does_not_hide_operators(fake_run):
    rows = [("a", "a", [("p/q", 0, "same", "a")], {"operator": "o2"})]
    by = measure_run(fake_run(rows), {"measure": {"bootstrap": 10}}).sets
    assert set(by["operator"]) == {"p/q"}
    assert set(by["slice operator"]) == {"o2"}


def test_validity_says_what_was_in_the_data(fake_run):
    from unswayed.run.record import NOT_ASKED

    rows = [
        ("a", "a", [("p", 0, "same", fake_run.FAILED), ("p", 1, "same", "A")]),
        ("b", "b", [("p", 0, "same", NOT_ASKED)]),
    ]
    found = measure_run(fake_run(rows, unchanged={"p": 1}), {"measure": {"bootstrap": 10}}).validity
    assert (found["examples"], found["variants"], found["failed"], found["not_asked"]) == (2, 3, 1, 1)
    assert found["operators"] == {"p": 3}
    assert found["unchanged"] == {"p": 1}
    assert found["unseen_labels"] == {"count": 1, "labels": ["A"]}
    text = " ".join(found["warnings"])
    assert "1 of 5 items failed" in text
    assert "not asked yet" in text
    assert "'A'" in text


def test_labels_of_the_manifest_are_not_unseen(fake_run):
    rows = [("a", "b", [("p", 0, "same", "a")])]
    assert (
        measure_run(fake_run(rows, labels=["a", "b"]), {"measure": {"bootstrap": 10}}).validity["unseen_labels"][
            "count"
        ]
        == 0
    )


def test_flips_stream_with_what_was_right(fake_run):
    rows = [
        ("a", "a", [("p", 0, "same", "b"), ("p", 1, "same", "a"), ("p", 2, "same", fake_run.FAILED)]),
        ("a", "b", [("p", 0, "same", "a"), ("p", 1, "changed", "c")]),
        ("a", fake_run.FAILED, [("p", 0, "same", "a")]),
        (None, "b", [("p", 0, "same", "a")]),
    ]
    found = [(f.example.row, f.variant.draw, f.right_before, f.right_after) for f in flips(fake_run(rows))]
    assert found == [(0, 0, True, False), (1, 0, False, True), (1, 1, False, False), (3, 0, None, None)]


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0}, {"bootstrap": 0}, {"seed": -1}])
def test_wrong_settings_are_told(random_run, wrong):
    with pytest.raises(UsageError):
        measure_run(random_run(5), **wrong)


DRAWS = np.random.default_rng(3)


def test_resampling_is_by_example(fake_run):
    """Ten variants that stand or fall together say no more than one: the interval must not shrink."""
    rng = np.random.default_rng(0)
    answers = ["a" if right else "b" for right in rng.random(80) < 0.6]
    one = measure_run(fake_run([("a", "a", [("p", 0, "same", o)]) for o in answers]))
    ten = measure_run(fake_run([("a", "a", [("p", d, "same", o) for d in range(10)]) for o in answers]))
    for name in ("average", "worst", "drop", "flips", "consistency"):
        narrow, wide = getattr(one.whole, name), getattr(ten.whole, name)
        assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low, abs=0.02), name
    by_variant = np.repeat([o == "b" for o in answers], 10).astype(float)
    sample = sample_of(by_variant[:, None], Mean())
    low, high = interval(sample.value, bootstrap([sample], 10_000, 0)[0], sample.n, (0, 1), 0.95)
    assert ten.flip_rate.high - ten.flip_rate.low > 2 * (high - low)


def test_no_flips_of_twenty_is_not_certain(fake_run):
    results = measure_run(fake_run([("a", "a", [("p", d, "same", "a") for d in range(3)]) for _ in range(20)]))
    assert (results.flip_rate.value, results.flip_rate.low) == (0.0, 0.0)
    exact = 1 - 0.05 ** (1 / 20)  # one-sided: flips can't lie below
    assert exact <= results.flip_rate.high < 1.2 * exact
    assert results.clean.low == pytest.approx(1 - results.flip_rate.high)
    assert results.drop.low == pytest.approx(-results.drop.high)
    assert results.drop.low < 0


def test_one_example_says_next_to_nothing(fake_run):
    found = measure_run(fake_run([("a", "a", [("p", 0, "same", "a")])])).average
    assert (found.n, found.value, found.low, found.high) == (1, 1.0, 0.0, 1.0)


def test_wider_at_a_higher_level(random_run):
    narrow, wide = (measure_run(random_run(), {"measure": {"level": level}}).worst for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
