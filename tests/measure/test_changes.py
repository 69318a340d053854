"""The changed answers of a run: which they are, and that as columns they are what they are one by one."""

from __future__ import annotations

import json

import msgspec
import pytest

import unswayed as library
from unswayed.base.values import Example, Output, Variant
from unswayed.measure.changes import Flip, FlipBlock, changed_answers, flips, flips_by_block
from unswayed.measure.measuring import measure_run
from unswayed.report.flips import FlipSample, lines
from unswayed.report.view_columns import Columns, json_pieces
from unswayed.run.plan import MeasurePlan
from unswayed.score import scorers

HOSTILE = (
    "<script>alert(1)</script>",
    "\u202egnp.exe\u202c \x00\x1b[31mred\x1b[0m \x85",
    "lone \ud800 surrogate",
    "a|b`c`*d*\n\t]]><!--",
    "给我换个说法",
    "long " * 200,
)
NAMES = ("row", "example_id", "draw", "source", "family", "meaning", "note", "groups", "inputs", "varied", "gold",
         "varied_gold", "before", "after", "right_before", "right_after", "loss")  # fmt: skip


def plain_line(flip: Flip) -> bytes:
    """A flip as it is written, in the plainest way."""
    e, v = flip.example, flip.variant
    values = (e.row, e.id, v.draw, v.source, v.family, v.meaning, v.note, e.groups, e.inputs, v.inputs, e.gold, v.gold,
              flip.clean.value, flip.varied.value, *flip[4:])  # fmt: skip
    whole = dict(zip(NAMES, values, strict=True))
    try:
        return msgspec.json.encode(whole) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(whole).encode() + b"\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Of 60 examples with slots and intents, typed wrong, by a system that reads the length of a text."""
    place = tmp_path_factory.mktemp("columns")
    rows = [{"text": f"play song number {i}", "label": "abc"[i % 3], "room": "hall" if i % 2 else "attic"}
            for i in range(60)]  # fmt: skip
    suite = library.make_suite(
        rows, ["keyboard/adjacent", "spoken/filler_begin"], language="en", input="text", gold="label", groups=["room"],
        draws=4, to=place / "suite",
    )  # fmt: skip
    return library.run_system(suite, lambda batch: ["abc"[len(i["text"]) % 3] for i in batch], to=place / "run")


def hostile() -> list[Flip]:
    """Answers of several types, in texts that JSON, a page or a line may stumble over."""
    made = []
    for i, text in enumerate(HOSTILE * 2):
        example = Example(i // 2, text, {"text": text, "more": "x"}, [text, 1.5], {text: text} if i % 2 else {})
        varied = {"text": text.swapcase() + " x" * (i % 3), "more": "y" if i % 2 else "x"}
        variant = Variant(i // 2, text, i, text, "f", "changed" if i % 5 == 0 else "same", varied, None, text * i)
        answers = Output({"intent": text, "slots": [text]}), Output(None, text)
        made.append(Flip(example, variant, *answers[:: 1 if i % 2 else -1], i % 3 == 0, None if i % 4 else True, 1 / 3))
    return made


def page_of(blocks) -> bytes:
    columns = Columns()
    for block in blocks:
        columns.add(block)
    return b"".join(json_pieces([columns.flips(), columns.shared()]))


def shown_of(blocks):
    sample = FlipSample(5)
    for block in blocks:
        sample.add(block)
    return sample.cards(), sample.counts, sample.kinds


def one_by_one(made: list[Flip]) -> list[FlipBlock]:
    return [FlipBlock.of([flip]) for flip in made]


def test_the_flips_of_a_run_as_columns_are_its_flips(run):
    blocks = [flips for _, flips in flips_by_block(run)]
    plain = list(flips(run))
    assert len(plain) > 100
    assert max(map(len, (block.cases for block in blocks))) < len(plain)  # some are alike
    assert b"".join(part for block in blocks for part in lines(block)) == b"".join(map(plain_line, plain))
    assert page_of(blocks) == page_of(one_by_one(plain))
    assert shown_of(blocks) == shown_of(one_by_one(plain))


def test_hostile_flips_as_columns_are_the_same_one_by_one():
    plain = hostile()
    whole = FlipBlock.of(plain)
    assert list(whole.each()) == plain
    assert b"".join(lines(whole)) == b"".join(map(plain_line, plain))
    visible = [flip for flip in plain if "\ud800" not in flip.example.id]
    assert page_of([FlipBlock.of(visible)]) == page_of(one_by_one(visible))
    assert shown_of([whole]) == shown_of(one_by_one(plain))


def test_the_losses_of_flips_are_what_the_run_has_in_its_rows(run):
    """Against a plain loop over the stored answers."""
    expected = [
        (e.id, v.source, v.draw, was, right, float(was - right))
        for e, clean, varied in run.items()
        for v, out in varied
        if out.value != clean.value and ((was := clean.value == e.gold), (right := out.value == v.gold))
    ]
    found = [
        (f.example.id, f.variant.source, f.variant.draw, f.right_before, f.right_after, f.loss) for f in flips(run)
    ]
    assert found == expected
    assert {before for *_, before, _, _ in found} == {True, False}


def test_answers_that_two_runs_lost_and_gained_are_those_whose_rightness_differs(run, tmp_path):
    other = library.run_system(run.suite, lambda batch: ["abc"[len(i["text"]) % 2] for i in batch], to=tmp_path / "run")
    expected = []
    for (e, clean_a, varied_a), (_, clean_b, varied_b) in zip(run.items(), other.items(), strict=True):
        both = [("", None, clean_a, clean_b)]
        both += [(v.source, v.draw, a, b) for (v, a), (_, b) in zip(varied_a, varied_b, strict=True)]
        expected += [
            ("lost" if a.value == e.gold else "gained", e.id, *where)
            for *where, a, b in both
            if (a.value == e.gold) != (b.value == e.gold)
        ]
    found = [(c.change, c.example, c.operator, c.draw) for c in changed_answers(run, other, "accuracy", MeasurePlan())]
    assert found == expected
    assert {change for change, *_ in found} == {"lost", "gained"}


def test_runs_that_are_compared_by_the_rule_of_their_task_have_lost_answers(tmp_path):
    """The score is called `match(number then exact)` then, which is no scorer's name."""
    rows = [{"inputs": {"question": f"How much is {i}?"}, "gold": str(i)} for i in range(20)]
    suite = library.make_suite(rows, "keyboard/adjacent", task="generate", language="en", to=tmp_path / "suite")

    def answer(wrong: str):
        return lambda batch: [
            f"That is {wrong if wrong in i['question'] else i['question'].split()[-1]}" for i in batch
        ]

    runs = [library.run_system(suite, answer(wrong), to=tmp_path / f"run{wrong}") for wrong in ("none", "7?")]
    assert measure_run(runs[0], {"measure": {"sanity": False}}).score not in scorers
    compared = library.compare(*runs, plan={"measure": {"sanity": False}})
    lost = [(c.change, c.answer_b, c.gold) for c in compared.iter_flips() if not c.operator]
    assert lost == [("lost", "That is 7?", "17")]
