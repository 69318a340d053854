"""Spoken-language understanding: an intent for the utterance and a BIO tag for each of its tokens."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json


class SluTask(Task):
    """Gold and outputs are `{"intent": str, "slots": [tags]}`; tokens are what single spaces separate in `text`."""

    name = "slu"
    fields = ("text",)
    varied = ("text",)
    scores = ("end_to_end", "intent_accuracy", "slot_f1")
    aligned = True
    tag_field = "slots"

    def fits(self, example: Example) -> bool:
        return isinstance(example.gold, dict) and {"intent", "slots"} <= example.gold.keys()

    def gold_problem(self, example: Example) -> str | None:
        return _problem(example.gold, example.inputs.get("text", ""), "gold")

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        return _problem(output, inputs["text"], "an output")

    def answer(self, output: Json) -> Hashable:
        """Intent and tags without `O`, so that a filler that is tagged `O` is no flip."""
        return (output["intent"], *(tag for tag in output["slots"] if tag != "O"))

    def nothing(self, gold: Json) -> Json:
        return {"intent": "", "slots": ["O"] * len(gold["slots"])}

    def label(self, value: Json) -> str | None:
        intent = value.get("intent") if isinstance(value, dict) else None
        return intent if isinstance(intent, str) else None

    def labelled(self, gold: Json, field: str, text: str, at: int) -> bool:
        return bool(gold) and field == "text" and gold["slots"][text.count(" ", 0, at)] != "O"


def tags_problem(tags: Json, text: str, what: str, name: str) -> str | None:
    """What is wrong with the BIO tags of a text's tokens, if anything."""
    if not isinstance(tags, list) or not all(issubclass(kind, str) for kind in set(map(type, tags))):
        return f"{what}'s {name} must be a list of BIO tags, not {tags!r:.80}"
    tokens = text.split(" ")
    if len(tokens) != len(tags):
        return f"{what} has {len(tags)} tags for {len(tokens)} tokens"
    wrong = {tag for tag in set(tags) if tag != "O" and tag[:2] not in ("B-", "I-")}
    if wrong:
        return f"{what} has the tag {next(filter(wrong.__contains__, tags))!r}, which is not O, B-… or I-…"
    return None


def _problem(value: Json, text: str, what: str) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("intent"), str):
        return f'{what} must be {{"intent": text, "slots": [tags]}}, not {value!r:.80}'
    return tags_problem(value.get("slots"), text, what, "slots")
