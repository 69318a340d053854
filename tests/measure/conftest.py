"""Runs made of plain values, so that measures can be tested without asking a system."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from unswayed.base.task import task_named
from unswayed.base.values import Example, Output, Variant


class FakeRun:
    """`rows` are (gold, clean output, [(operator, draw, meaning, output), …], groups); FAILED stands for no output."""

    FAILED = Output(error="it broke")

    def __init__(self, rows, task="classify", identity="a system", suite="s1", unchanged=None, labels=None):
        manifest = SimpleNamespace(labels=labels, unchanged=unchanged or {}, compared={}, people={})
        self.suite = SimpleNamespace(id=suite, signed=suite, task=task_named(task), manifest=manifest)
        self.system, self.identity = "fake", identity
        self._items = [self._item(i, *row) for i, row in enumerate(rows)]
        self.suite.examples = lambda: iter([example for example, _, _ in self._items])

    def _item(self, i, gold, clean, varied, groups=None):
        example = Example(i, f"e{i}", {"text": f"text {i}"}, gold, groups or {})
        variants = [
            (Variant(i, f"e{i}", draw, op, op.split("/")[0], meaning, {"text": f"{op} {draw} {i}"}, gold, ""), out(o))
            for op, draw, meaning, o in varied
        ]
        return example, out(clean), variants

    def items(self):
        return iter(self._items)

    def shuffled(self, seed):
        rng = np.random.default_rng(seed)
        other = FakeRun([])
        other.__dict__.update(self.__dict__)
        other._items = [(e, c, [v[j] for j in rng.permutation(len(v))]) for e, c, v in self._items]
        other._items = [other._items[j] for j in rng.permutation(len(self._items))]
        return other


def out(value):
    return value if isinstance(value, Output) else Output(value)


@pytest.fixture(scope="session")
def fake_run():
    return FakeRun


@pytest.fixture(scope="session")
def random_run():
    """A run of random labels under two operators, with slices and failures."""

    def make(n=40, seed=0, right=0.7, fail=0.05, classes=3, draws=3, identity="a system", changed=True):
        shape, rng = np.random.default_rng(seed), np.random.default_rng([seed, 1])
        names = [f"c{i}" for i in range(classes)]

        def answer(gold):
            if rng.random() < fail:
                return FakeRun.FAILED
            return gold if rng.random() < right else names[rng.integers(classes)]

        rows = []
        for i in range(n):
            gold = names[shape.integers(classes)]
            varied = [
                (op, draw, "same", answer(gold))
                for op in ("keys/near", "spoken/filler")
                for draw in range(draws)
                if shape.random() < 0.8
            ]
            varied += [("meaning/not", 0, "changed", answer(gold))] if changed and shape.random() < 0.5 else []
            rows.append((gold, answer(gold), varied, {"parity": str(i % 2), "size": "big" if i % 5 == 0 else "small"}))
        return FakeRun(rows, identity=identity)

    return make
