"""What requests took: quantiles of seconds with intervals, tokens, and how much longer varied inputs take."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.base.values import Example, Output, Variant
from unswayed.measure.requests import Serving


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
