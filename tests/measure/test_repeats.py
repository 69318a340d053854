"""What a system changes by itself: repeats against loops, and what the variants change beyond that."""

from __future__ import annotations

from itertools import combinations
from statistics import mean, variance

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.base.task import task_named
from unswayed.base.values import Estimate, Example, Output, Variant
from unswayed.measure.repeats import Repeats, Serving, measure_repeats, summed_up
from unswayed.measure.run_table import PairCodes
from unswayed.measure.spill import Spill
from unswayed.measure.table_reader import read_table
from unswayed.run.block import in_blocks
from unswayed.score import scorers

LABEL = st.sampled_from("xyz")
ROWS = st.lists(
    st.tuples(LABEL, LABEL, st.lists(LABEL, min_size=2, max_size=2), st.lists(LABEL, min_size=1, max_size=3)),
    min_size=2,
    max_size=8,
)  # gold, the clean answer, its repeats, and answers to variants


def measured(fake_run, rows) -> Repeats:
    task, scorer = task_named("classify"), scorers.get("accuracy")()

    def table(answers):
        run = fake_run(
            [
                (gold, clean, [("p", n, "same", answer) for n, answer in enumerate(given)])
                for (gold, clean, *_), given in zip(rows, answers, strict=True)
            ]
        )
        return read_table(in_blocks(run.items()), task, PairCodes([scorer], task), Spill())

    again = summed_up(table([repeats for _, _, repeats, _ in rows]), 2, scorer)
    return measure_repeats(again, table([varied for *_, varied in rows]), scorer, 0.95, "measure=flips:3|set=all")


@given(ROWS)
def test_repeats_are_their_definitions(fake_run, rows) -> None:
    found = measured(fake_run, rows)
    own = [mean(answer != clean for answer in repeats) for _, clean, repeats, _ in rows]
    flips = [mean(answer != clean for answer in varied) for _, clean, _, varied in rows]
    assert found.disagreement.value == pytest.approx(mean(own))
    assert found.flips.value == pytest.approx(mean(flips) - mean(own))
    kept, varied_kept = [], []
    for _, clean, repeats, varied in rows:
        size = min(len(repeats), len(varied))
        for answers, into in ((repeats, kept), (varied, varied_kept)):
            into.append(mean(all(a == clean for a in chosen) for chosen in combinations(answers, size)))
    assert found.agreement.value == pytest.approx(mean(kept))
    assert found.consistency.value == pytest.approx(mean(varied_kept) - mean(kept))
    cleans = [[float(answer == gold) for answer in (clean, *repeats)] for gold, clean, repeats, _ in rows]
    averages = [mean(float(answer == gold) for answer in varied) for gold, _, _, varied in rows]
    assert found.drop.value == pytest.approx(mean(map(mean, cleans)) - mean(averages))
    assert found.clean_sd == pytest.approx(np.sqrt(sum(map(variance, cleans))) / len(rows))
    assert found.steady == (mean(own) == 0)
    assert found.of == max(min(2, len(varied)) for *_, varied in rows)


def test_signatures_name_the_number_of_repeats(fake_run) -> None:
    found = measured(fake_run, [("x", "x", ["x", "y"], ["y"])] * 3)
    assert found.flips.signature == "measure=repeats.flips:2|repeats=2|set=all"


def test_without_any_answer_twice_nothing_is_known(fake_run) -> None:
    failed = fake_run.FAILED
    found = measured(fake_run, [("x", "x", [failed, failed], ["x"])] * 3)
    assert (found.disagreement.value, found.flips.value, found.drop.n) == (None, None, 3)
    assert found.sentences(Estimate(0.5, 0.4, 0.6, 3, 0, "")) == []


def test_sentences_say_whether_it_is_beyond_chance(fake_run) -> None:
    share = Estimate(0.9, 0.8, 1.0, 60, 0, "")
    wavers = measured(fake_run, [("x", "x", ["x", "y"], ["y", "y"])] * 60)
    (said,) = wavers.sentences(share)
    assert said.startswith("50.0% of answers change when the same text is asked again, 90.0% when it is varied")
    assert said.endswith("beyond chance (p < 0.001).")
    alike = measured(fake_run, [("x", "x", ["x", "y"], ["y", "x"]), ("x", "x", ["x", "x"], ["x", "x"])] * 30)
    assert alike.sentences(share)[0].endswith("which may be chance (p = 1.000).")
    steady = measured(fake_run, [("x", "x", ["x", "x"], ["y"])] * 3)
    assert steady.sentences(share) == ["The system gave the same answers when it ran again on the same texts."]


def item(row: int, clean: Output, *varied: Output, text: str = ""):
    variants = [
        (Variant(row, f"e{row}", n, "p", "p", "same", {"text": text or f"v{n}"}, "x", ""), output)
        for n, output in enumerate(varied)
    ]
    return Example(row, f"e{row}", {"text": "clean"}, "x"), clean, variants


def took(seconds: float, read: int = 10, written: int = 2) -> Output:
    return Output("x", seconds=seconds, tokens_in=read, tokens_out=written)


def watched(*items, repeats=()):
    serving = Serving(0.95)
    assert list(serving.watch(items)) == list(items)
    list(serving.watch(repeats, repeats=True))
    return serving.report("measure=flips:3|suite=s")


def test_tokens_and_answers_are_counted_by_kind() -> None:
    found = watched(item(0, took(1.0), took(2.0), took(3.0)), item(1, took(1.0, 5, 1), took(2.0)))
    assert (found.clean.answers, found.clean.tokens_in, found.clean.tokens_out) == (2, 15, 3)
    assert (found.varied.answers, found.varied.tokens_in, found.varied.tokens_out) == (3, 30, 6)
    assert [row["requests"] for row in found.rows()] == ["clean", "varied"]


def test_equal_variants_are_one_request_and_those_that_equal_their_example_are_none() -> None:
    found = watched(item(0, took(1.0), took(2.0), took(2.0), text="alike"), item(1, took(1.0), took(9.0), text="clean"))
    assert (found.clean.answers, found.varied.answers) == (2, 1)


def test_what_was_not_answered_took_nothing_and_repeats_are_clean() -> None:
    failed, refused = Output(error="no answer"), Output(error="too long", tokens_in=7)
    found = watched(item(0, took(1.0), failed, refused), repeats=[item(0, took(0.0), took(3.0), took(5.0))])
    assert (found.varied.answers, found.varied.tokens_in) == (1, 7)
    assert (found.clean.answers, found.clean.p50.value) == (3, 3.0)  # the answer itself is not counted twice


def test_quantiles_and_the_difference_are_numpys_with_the_intervals_around_them() -> None:
    rng = np.random.default_rng(5)
    clean, varied = rng.exponential(1.0, 300), rng.exponential(1.5, (300, 2))
    found = watched(*(item(i, took(c), *map(took, v)) for i, (c, v) in enumerate(zip(clean, varied, strict=True))))
    for side, seconds in ((found.clean, clean), (found.varied, varied.ravel())):
        assert side.p50.value == pytest.approx(np.quantile(seconds, 0.5))
        assert side.p95.value == pytest.approx(np.quantile(seconds, 0.95))
        assert side.p50.low < side.p50.value < side.p50.high < side.p95.low
        assert side.p50.n == 300  # examples, not requests
    assert found.slower.value == pytest.approx((varied.mean(axis=1) - clean).mean())
    assert 0 < found.slower.low < found.slower.high
    assert found.slower.signature == "measure=seconds slower:1|suite=s"


def test_without_answers_there_is_no_quantile() -> None:
    found = watched(item(0, Output(error="no"), Output(error="no")))
    assert (found.clean.p50, found.varied.p95, found.slower) == (None, None, None)
