"""What a combination of operators does beyond the sum of its parts, and the size of the claim."""

from __future__ import annotations

import numpy as np

from unswayed import make_suite, measure_run, run_system
from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.stats.means import mean_interval
from unswayed.vary import operators
from unswayed.vary.operator import Change, Operator, Text


def test_more_than_the_sum_of_its_parts_is_measured() -> None:
    """A system that fails only where both parts have been: neither alone does harm."""

    def predict(batch: list[dict[str, str]]) -> list[str]:
        return ["b" if item["text"].endswith(" x y") else "a" for item in batch]

    class Ends(Operator):
        word = ""

        def change(self, text: Text, rng: Stream) -> Change:
            return Change((Edit(len(text.text), len(text.text), f" {self.word}"),), self.word)

    class X(Ends):
        word = "x"

    class Y(Ends):
        word = "y"

    operators._loaded |= {"test/x": X, "test/y": Y}
    operators._sources["test/x"] = operators._sources["test/y"] = "test"
    try:
        rows = [{"text": f"text number {i}", "label": "a"} for i in range(60)]
        suite = make_suite(rows, "test/x+test/y", language="en", task="classify")
        assert {v.source for v in suite} == {"test/x", "test/y", "test/x+test/y"}
        results = measure_run(run_system(suite, predict))
        for measure in ("drop", "flips"):
            effect = results.combined["test/x+test/y"][measure]
            assert (effect.value, effect.parts) == (1.0, {"test/x": 0.0, "test/y": 0.0})
            assert effect.beyond.value == 1.0
            assert effect.beyond.low is not None
            assert effect.beyond.low > 0
        assert "more than the sum of its parts" in repr(results)
    finally:
        for name in ("test/x", "test/y", "test/x+test/y"):
            operators._loaded.pop(name, None)
            operators._sources.pop(name, None)


def test_parts_that_only_add_up_are_seldom_called_more_or_less() -> None:
    """The interval of the excess, simulated: it misses zero in at most 5% of studies where zero is the truth."""
    rng, missed, studies, examples = np.random.default_rng(3), 0, 300, 100
    for _ in range(studies):
        clean = rng.random(examples) < 0.95

        def drop(chance: float, clean: np.ndarray = clean) -> np.ndarray:
            return clean - (clean[:, None] & (rng.random((examples, 3)) >= chance)).mean(1)

        low, high = mean_interval(drop(0.13) - drop(0.05) - drop(0.08), (-2.0, 2.0), 0.95, kind="contrast")
        assert low is not None
        assert high is not None
        missed += not low <= 0 <= high
    assert missed <= 0.05 * studies
