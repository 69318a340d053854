"""Error rates against a plain loop, and on suites."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from unswayed.base.values import Example, Variant
from unswayed.measure.files import distances, error_rates, suite_error_rates
from unswayed.storage.suite import Manifest, write_suite

TEXT = st.text("ab花呗\U0001f600", max_size=6)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, before = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=10))
def test_distances_are_levenshteins_over_characters(pairs):
    found = distances([a for a, _ in pairs], [b for _, b in pairs])
    assert found.tolist() == [levenshtein(a, b) for a, b in pairs]


GROUPS = st.lists(
    st.tuples(TEXT.filter(bool), TEXT).flatmap(
        lambda texts: st.tuples(st.just(texts), st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3))
    ),
    min_size=1,
    max_size=8,
)


@given(GROUPS)
def test_average_and_worst_are_those_of_a_loop(groups):
    rates = [
        [sum(map(levenshtein, texts, version)) / sum(map(len, texts)) for version in versions]
        for texts, versions in groups
    ]
    found = error_rates(groups)
    assert found.average.value == pytest.approx(np.mean([np.mean(r) for r in rates]))
    assert found.worst.value == pytest.approx(np.mean([max(r) for r in rates]))
    assert found.average.n == len(groups)


def test_known_rates_and_intervals():
    groups = [(("花呗提额",), [("花呗贴",), ("花呗提额",)]), (("余额宝",), [("余额",), ("余额包了",)])]
    found = error_rates(groups)
    assert found.average.value == pytest.approx((2 / 4 / 2 + (1 / 3 + 2 / 3) / 2) / 2)
    assert found.worst.value == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert found.average.low <= found.average.value <= found.average.high
    assert found.average.signature != found.worst.signature
    assert found.average.signature != error_rates(groups[:1]).average.signature


def test_a_text_without_characters_has_no_rate():
    found = error_rates([(("",), [("x",)]), (("ab",), [("ac",)])])
    assert (found.average.value, found.average.n, found.average.missing) == (0.5, 1, 1)
    nothing = error_rates([])
    assert (nothing.average.value, nothing.average.n) == (None, 0)


def test_a_suite_counts_what_its_task_varies(tmp_path):
    answers = {"answers": [{"text": "context", "start": 7}]}
    example = Example(0, "q", {"question": "abcd", "context": "a long context"}, answers)

    def variant(draw, family, question):
        inputs = {"question": question, "context": "a long context"}
        return Variant(0, "q", draw, f"person/{family}", family, "same", inputs, answers, "")

    variants = [variant(0, "keyboard", "abcx"), variant(1, "keyboard", "abcd"), variant(0, "speech", "xxxx")]
    suite = write_suite(tmp_path / "suite", Manifest(task="qa", language="en"), lambda: [example], lambda: variants)
    keyboard = suite_error_rates(suite, "keyboard")
    assert (keyboard.average.value, keyboard.worst.value) == (0.125, 0.25)
    assert suite_error_rates(suite).worst.value == 1.0


def test_intervals_are_students():
    """As scipy makes them, but never below zero."""
    texts = [("abcdefghij",), ("abcdefghij",), ("abcdefghij",), ("abcdefghij",)]
    versions = [("abcdefghix",), ("abcdefgxxx",), ("abcdefghxx",), ("xxxxxxxxxj",)]
    found = error_rates([(text, [version]) for text, version in zip(texts, versions, strict=True)], 0.8).average
    rates = np.array([0.1, 0.3, 0.2, 0.9])
    by_scipy = stats.t.interval(0.8, 3, rates.mean(), stats.sem(rates))
    assert (found.low, found.high) == pytest.approx(by_scipy)
    wider = error_rates([(text, [version]) for text, version in zip(texts, versions, strict=True)], 0.99).average
    assert wider.low == 0.0
    assert wider.high > found.high
