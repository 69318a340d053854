"""A stream depends on its key and on nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from unswayed.base.seeds import Seeds, Stream, StreamIds

_SHOW = (
    "from unswayed.base.seeds import Seeds; s = Seeds(7, 'a/b', 1);"
    "print(s.stream('x', 0, 'text').bits(), s.stream('x', 1).habit('花呗').bits())"
)


def test_the_hash_seed_changes_nothing() -> None:
    shown = {
        subprocess.run(
            [sys.executable, "-c", _SHOW], env={**os.environ, "PYTHONHASHSEED": h}, capture_output=True, check=True
        ).stdout
        for h in ("0", "1", "424242")
    }
    seeds = Seeds(7, "a/b", 1)
    assert shown == {f"{seeds.stream('x', 0, 'text').bits()} {seeds.stream('x', 1).habit('花呗').bits()}\n".encode()}


def test_every_part_of_the_key_matters() -> None:
    keys = [(0, "a", 1, "x", 0, "t"), (1, "a", 1, "x", 0, "t"), (0, "b", 1, "x", 0, "t"), (0, "a", 2, "x", 0, "t")]
    keys += [(0, "a", 1, "y", 0, "t"), (0, "a", 1, "x", 1, "t"), (0, "a", 1, "x", 0, "u"), (0, "a", 1, "x0", 0, "t")]
    firsts = {Seeds(s, op, v).stream(ex, d, f).bits() for s, op, v, ex, d, f in keys}
    assert len(firsts) == len(keys)


def test_a_moment_is_shared_by_the_texts_of_an_example_and_by_no_other() -> None:
    seeds = Seeds(3, "k/p", 1)
    first = seeds.stream("e1", 0, "one").moment("花呗").bits()
    assert seeds.stream("e1", 0, "two").moment("花呗").bits() == first
    others = [("e2", 0, "花呗"), ("e1", 1, "花呗"), ("e1", 0, "借呗")]
    assert first not in [seeds.stream(e, d, "one").moment(w).bits() for e, d, w in others]


@given(st.lists(st.text(max_size=6), max_size=9), st.text(max_size=6))
def test_the_first_numbers_of_moments_are_those_that_each_gives(words: list[str], id: str) -> None:
    stream = Seeds(3, "k/p", 1).stream(id, 2, "one")
    assert stream.first_of_moments([*words, "\ud800"]) == [stream.moment(w).numbers(2) for w in (*words, "\ud800")]


def test_items_are_dealt_out_in_turn() -> None:
    for seed in range(5):
        seeds = Seeds(seed, "k/p", 1)
        dealt = [seeds.stream("e", draw).dealt("abc", "engine") for draw in range(6)]
        assert sorted(dealt[:3]) == ["a", "b", "c"]
        assert dealt[3:] == dealt[:3]
    orders = {tuple(Seeds(s, "k/p", 1).stream("e", d).dealt("abc", "engine") for d in range(3)) for s in range(40)}
    assert len(orders) == 6


def test_a_habit_is_the_persons_and_the_words_not_the_examples() -> None:
    seeds = Seeds(0, "a", 1)
    assert seeds.stream("x", 2).habit("w").bits() == seeds.stream("y", 2).habit("w").bits()
    assert seeds.stream("x", 2).habit("w").bits() != seeds.stream("x", 3).habit("w").bits()
    assert seeds.stream("x", 2).habit("w").bits() != seeds.stream("x", 2).habit("v").bits()


def test_numbers_are_even() -> None:
    stream = Stream(b"even")
    counts = Counter(stream.below(10) for _ in range(20_000))
    assert set(counts) == set(range(10))
    assert max(abs(c - 2000) for c in counts.values()) < 250  # five standard deviations and more
    assert abs(np.mean([stream.random() for _ in range(20_000)]) - 0.5) < 0.015


def test_weights_are_kept() -> None:
    stream = Stream(b"weights")
    counts = Counter(stream.weighted("abc", [1, 0, 3]) for _ in range(10_000))
    assert counts["b"] == 0
    assert abs(counts["c"] / 10_000 - 0.75) < 0.03


@given(st.lists(st.floats(0, 9) | st.integers(0, 3), min_size=1, max_size=9), st.binary(max_size=2))
def test_a_weighted_item_is_the_first_whose_total_is_above_the_point(weights: list[float], key: bytes) -> None:
    totals = [sum(weights[: i + 1]) for i in range(len(weights))]
    point = Stream(key).random() * totals[-1]
    wanted = next((i for i, total in enumerate(totals) if point < total), len(weights) - 1)
    found = Stream(key).weighted(range(len(weights)), weights)
    assert found == wanted or abs(point - totals[min(found, wanted)]) < 1e-9  # sums may be rounded otherwise


@given(st.lists(st.integers(), max_size=20), st.integers(0, 25))
def test_a_sample_is_of_different_places(items: list[int], k: int) -> None:
    taken = Stream(b"sample").sample(range(len(items)), k)
    assert len(taken) == len(set(taken)) == min(k, len(items))


def test_numpy_streams_repeat() -> None:
    assert Stream(b"n").numpy().random() == Stream(b"n").numpy().random()


@given(st.lists(st.tuples(st.text(max_size=8), st.integers(1, 2**32 - 1)), min_size=1, max_size=9), st.integers(0, 7))
def test_numbers_of_many_streams_are_those_of_each(given: list[tuple[str, int]], nth: int) -> None:
    seeds, ids, sizes = Seeds(7, "a/b", 1), [id for id, _ in given], [size for _, size in given]
    streams = seeds.streams(StreamIds(ids), 3, ["text"] * len(ids))
    alone = [seeds.stream(id, 3, "text") for id in ids]
    for stream in alone:
        for _ in range(nth):
            stream.bits()
    assert streams.below(nth, sizes) == [stream.below(size) for stream, size in zip(alone, sizes, strict=True)]


@given(st.lists(st.tuples(st.text(max_size=8), st.integers(0, 40)), max_size=9))
def test_as_many_first_numbers_of_many_streams_as_asked(given: list[tuple[str, int]]) -> None:
    seeds, ids, counts = Seeds(7, "a/b", 1), [id for id, _ in given], [count for _, count in given]
    numbers, starts = seeds.streams(StreamIds(ids), 3, ["text"] * len(ids)).first(counts)
    for (id, count), start in zip(given, starts.tolist(), strict=True):
        assert tuple(numbers[start : start + count].tolist()) == seeds.stream(id, 3, "text").numbers(count)


def test_a_stream_of_many_goes_on_where_it_was() -> None:
    streams = Seeds(7, "a/b", 1).streams(StreamIds(["x", "\ud800"]), 0, ["text", "other"])
    assert streams[0].bits() != streams[0].bits()
    assert [stream.draw for stream in streams] == [0, 0]
    assert streams[1].bits() == Seeds(7, "a/b", 1).stream("\ud800", 0, "other").bits()


@given(st.lists(st.integers(0, 20), max_size=6))
def test_many_numbers_are_those_that_come_one_by_one(counts: list[int]) -> None:
    at_once, one_by_one = Stream(b"many"), Stream(b"many")
    for count in counts:
        assert at_once.numbers(count) == tuple(one_by_one.bits() for _ in range(count))


@given(st.lists(st.integers(0, 20), max_size=6))
def test_many_random_numbers_are_those_that_come_one_by_one(counts: list[int]) -> None:
    at_once, one_by_one, plain = (Stream(b"many") for _ in range(3))
    for count in counts:
        found = at_once.randoms(count)
        assert found == [one_by_one.random() for _ in range(count)]
        assert found == [(plain.bits() >> 11) / 2**53 for _ in range(count)]
