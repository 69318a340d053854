"""What a system changes by itself: repeats against loops, and what the variants change beyond that."""

from __future__ import annotations

from itertools import combinations
from statistics import mean, variance

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.base.task import task_named
from unswayed.base.values import Estimate
from unswayed.measure.repeats import Repeats, measure_repeats, summed_up
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
    assert found.flips.signature == "measure=repeats.flips:1|repeats=2|set=all"


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
    assert said.endswith("beyond chance.")
    alike = measured(fake_run, [("x", "x", ["x", "y"], ["y", "x"]), ("x", "x", ["x", "x"], ["x", "x"])] * 30)
    assert alike.sentences(share)[0].endswith("which may be chance.")
    steady = measured(fake_run, [("x", "x", ["x", "x"], ["y"])] * 3)
    assert steady.sentences(share) == ["The system gave the same answers when it ran again on the same texts."]
