"""Augmentation doubles the data, keeps every label, and depends on the seed and the examples alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.edits import slots_of
from unswayed.base.errors import CannotKeepLabels, DataError, UnknownName, UsageError, WrongLanguage
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.data import read_examples
from unswayed.mitigate.augment import augment, write_examples
from unswayed.papers.nature.strategies import STRATEGIES, Context, TfIdf, strategies
from unswayed.vary.engine import make_operator
from unswayed.vary.operator import Operator

ATIS = Path(__file__).resolve().parents[2] / "../shared/data/slu/atis"
SLU = [
    Example(i, f"e{i}", {"text": text}, {"intent": "play", "slots": ["O", "O", "B-genre", "O", "B-artist", "I-artist"]})
    for i, text in enumerate(
        f"play {some} {genre} by miles davis" for some in ("some", "any") for genre in ("jazz", "rock")
    )
]


def made(*names: str, data: list[Example] = SLU) -> list[Operator]:
    return strategies(names, lambda: data)


def copies(examples: list[Example]) -> list[Example]:
    return [example for example in examples if "augmented" in example.groups]


def test_each_example_is_followed_by_its_copy() -> None:
    found = list(augment(SLU, made(*STRATEGIES)))
    assert [e.row for e in found] == list(range(8))
    assert [e.inputs for e in found[::2]] == [e.inputs for e in SLU]
    assert [e.id for e in found[:2]] == ["e0", "e0+1"]
    assert all(
        a.inputs != b.inputs and a.gold["intent"] == b.gold["intent"]
        for a, b in zip(found[::2], found[1::2], strict=True)
    )
    assert all(e.groups["augmented_note"] for e in copies(found))


def test_the_seed_and_the_examples_alone_decide() -> None:
    operators = made("keyboard", "misspelling", "antonym", "tfidf", "context")
    here = {e.id: e.inputs for e in augment(SLU, operators, 3)}
    assert {e.id: e.inputs for e in augment(SLU[::-1], operators[::-1], 3)} == here
    assert {e.id: e.inputs for e in augment(SLU, operators, 4)} != here


def test_labels_are_kept_where_a_word_gives_way_to_its_opposite() -> None:
    data = [Example(0, "a", {"text": "find a song"}, "positive")]
    (copy,) = copies(list(augment(data, made("antonym"))))
    assert (copy.inputs, copy.gold) == ({"text": "lose a song"}, "positive")


def test_any_operators_and_tasks_and_several_copies() -> None:
    data = [Example(0, "a", {"sentence1": "one two", "sentence2": "three four"}, "1", {"age": "60+"})]
    found = list(augment(data, [make_operator(OperatorSpec("spoken/filler_end"))], copies=3))
    assert [e.id for e in found] == ["a", "a+1", "a+2", "a+3"]
    assert all(e.gold == "1" and e.groups["age"] == "60+" for e in found)


def test_what_nothing_can_alter_has_no_copy_and_is_counted() -> None:
    unchanged: Counter[str] = Counter()
    data = [Example(0, "a", {"text": "qqq"}, "x"), Example(1, "b", {"text": "find it"}, "x")]
    assert [e.id for e in augment(data, made("antonym"), unchanged=unchanged)] == ["a", "b", "b+1"]
    assert unchanged.total() == 1


def test_wrong_use_is_told() -> None:
    with pytest.raises(UnknownName, match="strategy or operator named 'keybord'.*'keyboard'"):
        made("keybord")
    with pytest.raises(UsageError, match="twice"):
        list(augment(SLU, made("keyboard", "keyboard/adjacent")))
    with pytest.raises(UsageError, match="No operator"):
        list(augment(SLU, []))
    with pytest.raises(DataError, match="no examples"):
        list(augment([], made("keyboard")))
    with pytest.raises(WrongLanguage):
        list(augment(SLU, made("misspelling"), language="zh"))
    with pytest.raises(UsageError, match="which you did not choose"):
        strategies(["keyboard"], lambda: SLU, "model/")
    rewriting = type("Rewriting", (Operator,), {"aligned": False, "name": "x"})()
    with pytest.raises(CannotKeepLabels):
        list(augment(SLU, [rewriting]))


def test_tfidf_takes_words_that_say_little_and_gives_words_that_say_as_little() -> None:
    texts = [f"the answer of {name} is the word" for name in "abcdefghij"]
    data = [Example(i, str(i), {"text": text}) for i, text in enumerate(texts)]
    notes = [e.groups["augmented_note"] for e in copies(list(augment(data, [TfIdf(texts)])))]
    old = Counter(pair.split("→")[0] for note in notes for pair in note.split(", "))
    assert sum(old[name] for name in "abcdefghij") == 0, "the word that says most in a text stays"
    assert old["the"] > 0


def test_context_gives_words_that_stood_between_the_same_two() -> None:
    texts = ["play some jazz now", "play any jazz now"]
    data = [Example(0, "a", {"text": "Play SOME jazz now"})]
    (copy,) = copies(list(augment(data, [Context(texts)])))
    assert copy.inputs == {"text": "Play ANY jazz now"}
    assert copies(list(augment([Example(0, "a", {"text": "unheard of words"})], [Context(texts)]))) == []


def test_a_masked_language_model_serves_context(tiny_bert: Path) -> None:
    operators = strategies(["context"], lambda: SLU, str(tiny_bert))
    found = list(augment(SLU, operators, copies=2))
    assert len(found) == 12
    assert {e.groups["augmented"] for e in copies(found)} == {"augment/masked"}
    assert all(len(e.inputs["text"].split(" ")) == 6 for e in found)
    vocabulary = set((tiny_bert / "vocab.txt").read_text().split()) | {"miles", "davis"}
    assert {word for e in found for word in e.inputs["text"].split()} <= vocabulary - {"##s", "42", "[UNK]"}
    assert [e.inputs for e in augment(SLU, operators, copies=2)] == [e.inputs for e in found]
    with pytest.raises(UsageError, match="no masked language model in nowhere"):
        strategies(["context"], lambda: SLU, "nowhere")


def test_atis_is_doubled_and_every_slot_can_be_found_again(tmp_path: Path) -> None:
    if not ATIS.is_dir():
        pytest.skip("the real corpora (../shared/data/slu) are not here")
    train = list(read_examples(ATIS / "train"))
    counts = write_examples(augment(train, made(*STRATEGIES, data=train)), tmp_path / "augmented.jsonl")
    found = list(read_examples(tmp_path / "augmented.jsonl"))
    assert len(found) == counts.total() == 2 * len(train)
    assert all(count > len(train) / 10 for count in counts.values()), "no strategy is left out"
    assert len(counts) == 1 + len(STRATEGIES)
    for before, after in zip(found[::2], found[1::2], strict=True):
        slots = [[name for name, _, _ in slots_of(e.gold["slots"])] for e in (before, after)]
        assert slots[0] == slots[1]
        assert before.gold["intent"] == after.gold["intent"]
        assert len(after.inputs["text"].split(" ")) == len(after.gold["slots"])
