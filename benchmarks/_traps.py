"""Where numbers can be wrong in silence: another model, an order, lost answers, more draws, a better system."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

import numpy as np

import unswayed
from benchmarks._measure import Row
from benchmarks._simulated import MadeRun, share
from unswayed.base.errors import StaleAnswers
from unswayed.measure.measuring import measure_run
from unswayed.measure.set_scores import worst_weights
from unswayed.stats import mean_interval
from unswayed.systems.callable import CallableSystem

_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def traps(times: int) -> Iterator[Row]:
    yield from another_model(max(times // 10, 10))
    yield from order(max(times // 10, 10))
    yield from lost(times)
    yield from weights(times)
    yield from more_draws()
    yield from better(times)


def _data(n: int) -> list[dict[str, str]]:
    """Longer texts are the second half."""
    return [{"text": " ".join(_WORDS[: 2 if i < n // 2 else 10]) + f" {i}", "label": "ab"[i % 2]} for i in range(n)]


def another_model(times: int) -> Iterator[Row]:
    """A model that has changed behind a function whose identity does not show it."""
    with TemporaryDirectory() as folder:
        suite = unswayed.make_suite(_data(100), ["spoken/filler_end"], to=f"{folder}/suite")
        for changed in (1.0, 0.5):
            refused = 0
            for seed in range(times):
                rng = np.random.default_rng(seed)
                texts: dict[str, bool] = {}

                def answers(
                    batch: list[dict[str, str]], new: bool, texts: dict[str, bool] = texts,
                    rng: np.random.Generator = rng, changed: float = changed,
                ) -> list[str]:  # fmt: skip
                    other = [texts.setdefault(item["text"], rng.random() < changed) and new for item in batch]
                    return ["b" if one else "a" for one in other]

                for new in (False, True):
                    system = CallableSystem(lambda batch, new=new: answers(batch, new), "model", identity="model")
                    try:
                        unswayed.run_system(suite, system, f"{folder}/{changed}-{seed}")
                    except StaleAnswers:
                        refused += 1
            what = f"reuse, another model gives {changed:.0%} other answers under the same identity: refused"
            yield share(f"another model: {changed:.0%}", what, refused / times, times, least=0.99)


def order(times: int) -> Iterator[Row]:
    """Part of a run, where only long texts lose their answers."""
    n, inside = 120, 0
    with TemporaryDirectory() as folder:
        for seed in range(times):
            suite = unswayed.make_suite(_data(n), ["spoken/filler_end"], seed=seed, to=f"{folder}/s{seed}")

            def answers(batch: list[dict[str, str]]) -> list[str]:
                gold = ["ab"[int("".join(filter(str.isdigit, item["text"]))) % 2] for item in batch]
                hurt = [len(item["text"].split()) > 11 for item in batch]
                return [{"a": "b", "b": "a"}[label] if bad else label for label, bad in zip(gold, hurt, strict=True)]

            run = unswayed.run_system(
                suite, CallableSystem(answers, "m", identity="m"), f"{folder}/r{seed}", plan={"run": {"limit": 40}}
            )
            found = measure_run(run, {"measure": {"stored": False, "sanity": False}}).drop
            inside += found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    what = "a run of 40 of 120 examples, of which the long ones lose their answer: drop covers that of all"
    yield share("order", what, inside / times, times, least=0.93)


def lost(times: int) -> Iterator[Row]:
    """Variants that fail more often where they would be wrong."""
    rng, inside, told, false = np.random.default_rng(3), 0, 0, 0
    n = 200
    for _ in range(times):
        clean = rng.random(n) < 0.95
        varied = clean[:, None] & (rng.random((n, 2)) < 0.7)
        gone = np.column_stack([np.zeros(n, dtype=bool), rng.random((n, 2)) < np.where(varied, 0.1, 0.9)])
        made = MadeRun(clean, varied, ["k/a", "k/a"], lost=gone)
        found = measure_run(made, {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False}})
        bounds = found.average.bounds
        inside += bounds is not None and bounds[0] <= varied.mean() <= bounds[1]
        told += _lost_p(found) < 0.05
        alike = MadeRun(clean, varied, ["k/a", "k/a"], lost=rng.random((n, 3)) < 0.1)
        false += (
            _lost_p(measure_run(alike, {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False}})) < 0.05
        )
    what = "lost answers, wrong ones are lost in 90%: bounds of the average hold what all would give"
    yield share("lost: bounds", what, inside / times, times, least=1.0)
    yield share("lost: told", "the same: variants are said to be lost more often", told / times, times, least=0.99)
    what = "lost answers, clean and varied alike: variants are said to be lost more, or less, often"
    yield share("lost: false", what, false / times, times, most=0.05)


def _lost_p(found: unswayed.Results) -> float:
    lost = found.validity["lost"]
    assert isinstance(lost, dict)
    return float(lost.get("p", 1.0))  # type: ignore[arg-type]


def weights(times: int) -> Iterator[Row]:
    """An answer that was right and is wrong has changed, so that no drop is larger than flips."""
    rng, larger = np.random.default_rng(6), 0
    for _ in range(times):
        clean = rng.random(40) < 0.9
        varied = clean[:, None] & (rng.random((40, 10)) < rng.random(40)[:, None])
        gone = np.column_stack([np.zeros(40, dtype=bool), np.arange(10) >= rng.choice([1, 10], 40)[:, None]])
        found = measure_run(
            MadeRun(clean, varied, ["k/a"] * 10, lost=gone),
            {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False}},
        )
        larger += (found.drop.value or 0) > (found.flip_rate.value or 0) + 1e-9
    what = "weights, examples with 1 and with 10 variants: the drop is larger than the share of changed answers"
    yield share("weights", what, larger / times, times, most=0.0)


def more_draws() -> Iterator[Row]:
    """`worst` of examples with 3, 10 and 30 draws of the same kind."""
    rng = np.random.default_rng(7)
    own = rng.beta(9, 1, 200_000)[:, None]
    means = {}
    for draws in (3, 10, 30):
        scores = np.sort(rng.random((len(own), draws)) < own, axis=1).astype(float)
        means[draws] = float((scores @ worst_weights(draws, 3)[draws, :draws]).mean())
    note = ", ".join(f"{draws} draws: {value:.3f}" for draws, value in means.items())
    apart = 100 * (max(means.values()) - min(means.values()))
    yield Row("worst by draws", "worst of 3 differs between 3, 10 and 30 draws by", apart, "points", more=False,
              asked=0.5, note=note)  # fmt: skip


def better(times: int) -> Iterator[Row]:
    """One answer more is right: does an end of the interval fall?"""
    rng, fell = np.random.default_rng(8), 0
    for _ in range(times):
        n = int(rng.integers(5, 200))
        right = rng.random((n, 3)) < rng.choice([0.5, 0.9, 0.99, 1.0])
        right.flat[rng.integers(0, right.size)] = False
        wrong = np.flatnonzero(~right)
        more = right.copy()
        more.flat[rng.choice(wrong)] = True
        ends, after = (mean_interval(one.mean(axis=1)) for one in (right, more))
        fell += any((b or 0) < (a or 0) - 1e-12 for a, b in zip(ends, after, strict=True))
    what = "gates, one answer more is right: an end of the interval falls"
    yield share("monotone", what, fell / times, times, most=0.0)
