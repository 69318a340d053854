"""Equal outputs of a block are one, and every item keeps its own."""

from __future__ import annotations

from hypothesis import given, strategies as st

from unswayed.base.values import Example, Output, Variant
from unswayed.measure.table_reader import joined_outputs
from unswayed.run.block import in_blocks

values = st.sampled_from(["a", "b", "", 1, True, 0, False, None, 1.0, -0.0, 0.0])
failures = st.sampled_from(["no", "late"]).map(lambda error: Output(None, error))
outputs = st.one_of(values.map(Output), st.lists(values, max_size=2).map(Output), failures)


def spelled(output: Output) -> str:
    """Tells 1 from True and from 1.0, and 0.0 from -0.0."""
    return repr((output.value, output.error))


@given(st.lists(st.tuples(outputs, st.lists(outputs, max_size=3)), min_size=1, max_size=12))
def test_every_item_keeps_its_output(answered):
    items = [
        (
            Example(i, str(i), {"text": f"{i}"}, "a"),
            clean,
            [
                (Variant(i, str(i), d, "x/y", "x", "same", {"text": f"{i} {d}"}, "a", ""), o)
                for d, o in enumerate(varied)
            ],
        )
        for i, (clean, varied) in enumerate(answered)
    ]
    (plain,), (joined,) = list(in_blocks(items)), list(joined_outputs(in_blocks(items)))
    for column in ("clean_out", "out"):
        found, expected = (
            [spelled(block.outputs[number]) for number in getattr(block, column)] for block in (joined, plain)
        )
        assert found == expected
    simple = [spelled(o) for o in joined.outputs if type(o.value) in (str, int, bool, type(None))]
    assert len(simple) == len(set(simple))
    assert set(joined.clean_out.tolist()) | set(joined.out.tolist()) == set(range(len(joined.outputs)))
