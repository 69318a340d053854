"""Random sets: each example has as many variants as there are draws, by operators drawn for it alone."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings, strategies as st

from unswayed.base.edits import Edit
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Variant
from unswayed.run.plan import Engine
from unswayed.run.varying import vary_on
from unswayed.vary.engine import Variation, Varier, vary
from unswayed.vary.operator import Change, Operator, Text

TEXTS = [Example(i, f"e{i}", {"text": f"play song {i}"}) for i in range(600)]


class Often(Operator):
    """Changes every text that is not empty, and counts its calls."""

    asked = 0

    def change(self, text: Text, rng: Stream) -> Change | None:
        type(self).asked += 1
        return Change((Edit(0, 0, f"{rng.below(9)} "),), "a digit") if text.text else None


class Seldom(Often):
    """Changes texts with an x only."""

    asked = 0

    def change(self, text: Text, rng: Stream) -> Change | None:
        return super().change(text, rng) if "x" in text.text else None


class Never(Often):
    """Finds nothing to change."""

    asked = 0

    def change(self, text: Text, rng: Stream) -> Change | None:
        return None


CLASSES = {"often": Often, "seldom": Seldom, "never": Never}


def made(
    names: list[str], examples: list[Example], draws: int = 1, seed: int = 0
) -> tuple[list[Variant], Counter[str]]:
    operators = []
    for name in names:
        operator = CLASSES[name]()
        operator.name, operator.family = name, "test"
        operators.append(operator)
    variation = Variation(operators=(), task="text", language="en", draws=draws, seed=seed, set="random")
    return Varier(variation, operators).block(examples)


@given(
    texts=st.lists(st.sampled_from(["", "a", "x", "a x"]), max_size=8),
    names=st.lists(st.sampled_from(list(CLASSES)), min_size=1, unique=True),
    draws=st.integers(1, 4),
    seed=st.integers(0, 9),
)
@settings(deadline=None)
def test_each_example_has_a_variant_a_draw_wherever_any_operator_can(
    texts: list[str], names: list[str], draws: int, seed: int
) -> None:
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]
    variants, unchanged = made(names, examples, draws, seed)
    able = [
        e.row
        for e in examples
        if e.inputs["text"] and ("often" in names or ("seldom" in names and "x" in e.inputs["text"]))
    ]
    assert [(v.row, v.draw) for v in variants] == [(row, draw) for row in able for draw in range(draws)]
    assert unchanged["set/random"] == len(examples) - len(able)
    assert all(v.source != "never" for v in variants)
    assert made(names[::-1], examples, draws, seed)[0] == variants, "the order in which operators are named is nothing"


def test_only_drawn_operators_are_asked() -> None:
    Often.asked = 0
    variants, _ = made(["often", "never"], TEXTS, draws=2)
    assert Often.asked == len(variants) == 1200


def random_set(examples: list[Example], workers: int = 1, seed: int = 0) -> list[Variant]:
    names = ("keyboard/adjacent", "spoken/filler_begin", "spoken/filler_end")
    variation = Variation(
        operators=tuple(map(OperatorSpec, names)), task="text", language="en", draws=3, seed=seed, set="random"
    )
    return list(vary_on(Engine(workers=workers), examples, variation, Counter(), Counter()))


def test_order_and_workers_change_nothing_and_the_seed_does() -> None:
    here = random_set(TEXTS)
    assert random_set(TEXTS, workers=2) == here
    by_key = {(v.example_id, v.draw): v for v in random_set(TEXTS[::-1])}
    assert by_key == {(v.example_id, v.draw): v for v in here}
    assert [v.source for v in random_set(TEXTS, seed=1)] != [v.source for v in here]


def test_operators_are_drawn_evenly() -> None:
    counts = Counter(v.source for v in random_set(TEXTS))
    assert all(540 < count < 660 for count in counts.values()), "1,800 draws, three operators: within 3 sigma of 600"


def test_a_variant_is_the_one_that_its_operator_makes_alone() -> None:
    spec = (OperatorSpec("spoken/filler_end"),)
    variation = Variation(operators=spec, task="text", language="en", draws=3, distinct=False)  # as random sets draw
    alone = {(v.row, v.draw): v for v in vary(TEXTS, variation)}
    drawn = [v for v in random_set(TEXTS) if v.source == "spoken/filler_end"]
    assert drawn == [alone[v.row, v.draw] for v in drawn]
