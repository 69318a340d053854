"""The engine applies operators to the right fields, moves labels, and refuses what can't be right."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import pytest

from unswayed.base.edits import Edit
from unswayed.base.errors import CannotKeepLabels, UnknownName, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds, Stream, Streams
from unswayed.base.task import task_named
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, blocks_of, make_operator, vary
from unswayed.vary.operator import Change, Operator, Text, Texts


class Rewrite(Operator):
    """Rewrites whole texts."""

    aligned = False

    def change(self, text: Text, rng: Stream) -> Change | None:
        return Change((Edit(0, len(text.text), "something else"),), "all")


class Same(Operator):
    """Breaks the contract: changes nothing."""

    def change(self, text: Text, rng: Stream) -> Change | None:
        return Change((Edit(0, 1, text.text[0]),), "nothing")


class Middle(Operator):
    """Puts a word in the middle, also where it would break a slot."""

    def change(self, text: Text, rng: Stream) -> Change | None:
        at = text.text.index(" ")
        return Change((Edit(at, at, " um"),), "um")


class Watching(Operator):
    """Notes whether the garbage collector may run while it works."""

    def change(self, text: Text, rng: Stream) -> Change | None:
        return Change((Edit(0, 0, "um "),), str(gc.isenabled()))


class WatchingQuick(Watching):
    """The same, in a moment."""

    quick = True


class Counting(Operator):
    """Notes how many texts it was given at once, and the first number of each text's stream."""

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        numbers = streams.below(0, [1000] * len(texts))
        assert numbers == [stream.below(1000) for stream in streams]
        return [
            Change((Edit(0, 0, "um "),), f"{text.text} {n} of {len(texts)}")
            for text, n in zip(texts, numbers, strict=True)
        ]


def variation(*names: str, **more: object) -> Variation:
    settings = {"task": "classify", "language": "en", **more}
    return Variation(operators=tuple(OperatorSpec(n) for n in names), **settings)  # type: ignore[arg-type]


PAIR = Example(0, "p", {"sentence1": "one two", "sentence2": "three four"}, "1")


def test_all_texts_of_a_pair_are_varied_or_those_asked_for() -> None:
    (both,) = vary([PAIR], variation("spoken/filler_end"))
    assert both.inputs["sentence1"] != "one two"
    assert both.inputs["sentence2"] != "three four"
    assert both.note.startswith("sentence1: ")
    (one,) = vary([PAIR], variation("spoken/filler_end", fields=("sentence2",)))
    assert one.inputs["sentence1"] == "one two"


def test_a_field_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"'title'.*sentence1, sentence2"):
        list(vary([PAIR], variation("spoken/filler_end", fields=("title",))))


def test_answers_move_with_the_context() -> None:
    example = Example(
        0,
        "q",
        {"question": "when ?", "context": "it began in 1999 and ended soon"},
        {"answers": [{"text": "1999", "start": 12}]},
    )
    (made,) = vary([example], variation("spoken/filler_begin", task="qa", fields=("context",)))
    answer = made.gold["answers"][0]
    assert answer["start"] > 12
    assert made.inputs["context"][answer["start"] :].startswith("1999")
    (question,) = vary([example], variation("spoken/filler_begin", task="qa"))
    assert question.inputs["context"] == example.inputs["context"]
    assert question.gold == example.gold


def test_an_operator_that_rewrites_is_refused_where_labels_point_into_the_text() -> None:
    with pytest.raises(CannotKeepLabels, match="rewrites whole texts"):
        variation(f"{__name__}:Rewrite", task="slu").check()
    (made,) = vary([Example(0, "a", {"text": "hello"}, "x")], variation(f"{__name__}:Rewrite"))
    assert made.inputs == {"text": "something else"}


def test_a_change_that_would_break_a_slot_is_not_made() -> None:
    broken = Example(0, "a", {"text": "new york"}, {"intent": "i", "slots": ["B-c", "I-c"]})
    fine = Example(1, "b", {"text": "to york"}, {"intent": "i", "slots": ["O", "B-c"]})
    made = list(vary([broken, fine], variation(f"{__name__}:Middle", task="slu")))
    assert [v.row for v in made] == [1]
    assert made[0].gold["slots"] == ["O", "O", "B-c"]


def test_giving_back_the_original_is_the_operators_error() -> None:
    with pytest.raises(UsageError, match="unchanged"):
        list(vary([Example(0, "a", {"text": "hello"})], variation(f"{__name__}:Same", task="text")))


def test_usage_is_checked_before_any_work() -> None:
    with pytest.raises(UsageError, match="twice"):
        variation("spoken/filler_end", "spoken/filler_end").check()
    with pytest.raises(UsageError, match="No operator"):
        variation().check()
    with pytest.raises(UnknownName, match=r"parameter of keyboard/adjacent.*'rate'"):
        make_operator(OperatorSpec("keyboard/adjacent", {"raet": 1}))


def test_a_rate_changes_about_that_share() -> None:
    text = "the quick brown fox jumps over the lazy dog " * 50
    spec = OperatorSpec("keyboard/adjacent", {"rate": 0.1})
    (made,) = vary([Example(0, "a", {"text": text})], Variation(operators=(spec,), task="text", language="en"))
    letters = sum(c.isalpha() for c in text)
    changed = sum(a != b for a, b in zip(text, made.inputs["text"], strict=True))
    assert 0.07 < changed / letters < 0.13


@pytest.mark.parametrize("rate", [2, "half"])
def test_a_wrong_parameter_is_wrong_usage(rate: object) -> None:
    with pytest.raises(UsageError, match=r"keyboard/adjacent can't be made with .*rate"):
        make_operator(OperatorSpec("keyboard/adjacent", {"rate": rate}))


def test_the_garbage_collector_waits_for_quick_operators_only() -> None:
    examples = [Example(i, str(i), {"text": "turn on"}, "a") for i in range(3)]
    watching = [f"{__name__}:{name}" for name in ("Watching", "WatchingQuick")]
    notes = [[v.note for v in vary(examples, variation(name))] for name in watching]
    assert notes == [["True"] * 3, ["False"] * 3]
    assert gc.isenabled()


def test_few_texts_are_varied_at_once_where_they_are_long_so_that_memory_stays_small() -> None:
    texts = ["short"] * 20 + ["a" * 700_000] * 5 + ["b" * 3_000_000, "short"]
    examples = [Example(i, str(i), {"text": text}, "a") for i, text in enumerate(texts)]
    blocks = list(blocks_of(examples))
    assert [len(block) for block in blocks] == [22, 2, 2, 1]
    assert [example for block in blocks for example in block] == examples
    assert [len(block) for block in blocks_of(examples[:20], 8)] == [8, 8, 4]
    assert list(blocks_of([])) == []


def test_an_operator_for_blocks_is_given_blocks_and_a_block_of_one_for_a_single_text() -> None:
    examples = [Example(i, str(i), {"text": f"turn on {i}"}, "a") for i in range(20)]
    name = f"{__name__}:Counting"
    notes = [v.note for v in vary(examples, variation(name))]
    assert all(note.endswith(" of 20") for note in notes)
    seeds, operator = Seeds(0, name, 1), make_operator(OperatorSpec(name))
    for example, note in zip(examples, notes, strict=True):
        change = operator.change(Text(example.inputs["text"]), seeds.stream(example.id, 0, "text"))
        assert change is not None
        assert change.note == note.replace(" of 20", " of 1")


def test_texts_that_were_made_one_by_one_are_a_block() -> None:
    task = task_named("slu")
    gold = {"intent": "i", "slots": ["O", "B-a"]}
    texts = [Text("turn on", "en", gold, "text", task), Text("an", "de", {"intent": "i", "slots": ["O"]}, "text", task)]
    block = Texts.of(texts)
    assert list(block) == texts
    assert (block.strings, block.language, block.tags) == (["turn on", "an"], "", [["O", "B-a"], ["O"]])
    assert Texts.of(texts[:1]).language == "en"
    assert [text.language for text in block.some([1])] == ["de"]
    assert len(Texts.of([])) == 0


def test_a_stream_that_gave_a_number_is_none_of_many() -> None:
    stream = Seeds(0, "x", 1).stream("e", 0)
    assert Streams.of([stream])[0] is stream
    stream.bits()
    with pytest.raises(ValueError, match="gave a number"):
        Streams.of([stream])


def test_an_operator_with_both_forms_is_refused_where_it_is_written() -> None:
    with pytest.raises(UsageError, match="Both has both `change` and `change_many`. Keep one"):

        class Both(Counting):
            def change(self, text: Text, rng: Stream) -> Change | None:
                return None
