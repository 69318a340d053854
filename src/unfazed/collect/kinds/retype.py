"""Retype: a sentence is shown, and the person types it with their own input method, with nothing to take back."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from unfazed.collect.kind import MAX_TEXT, Flag, Given, Kind
from unfazed.collect.typing_errors import typing_errors
from unfazed.core.values import Json

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT)]


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Text


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Text


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer slower than `slack` times the floor is significantly slower: it is kept, and asked for again."""

    chars_per_minute: float = 40
    slack: float = 0.75
    least_similar: float = 0.3  # share of the text's length; less than this is not an attempt at it


class Retype(Kind):
    name = "retype"
    item_type, answer_type, options_type = Item, Answer, Options
    about = {  # noqa: RUF012
        "en": ("ime", "Which keyboard or input method do you type with, and which version?"),
        "zh": ("ime", "您使用哪种输入法？请写明名称和版本"),
    }
    makes_text = True
    source = "keyboard"

    def flags(self, item: Item, answer: Answer, given: Given) -> list[Flag]:
        found = []
        seconds = typing_seconds(given.log)
        if typed(given.log) != answer.text:
            found.append(Flag("log differs from text", again=True))
        elif seconds > given.elapsed + 5:
            found.append(Flag("log is longer than the time that passed", again=True))
        floor = self.options.chars_per_minute * self.options.slack
        if seconds and len(answer.text) * 60 / seconds < floor:
            found.append(Flag("slow", again=True))
        if not similar(item.text, answer.text, self.options.least_similar):
            found.append(Flag("another text", again=True))
        kinds_of_event = {event.get("e") for event in given.log}
        found += [Flag(name) for event, name in _EVENTS.items() if event in kinds_of_event]
        if given.shows > 1:
            found.append(Flag("shown again"))
        return found

    def details(self, asked: Json, log: list[dict[str, Json]]) -> list[Json]:
        """Each wrong stretch, with READIN's labels where the log shows them."""
        return msgspec.to_builtins(typing_errors(asked["text"], log))  # type: ignore[no-any-return]

    def judgements(self, answer: Json) -> dict[str, Json]:
        return {}


_EVENTS = {"block": "tried to change", "restore": "changed and restored"}


def typed(log: list[dict[str, Any]]) -> str:
    """The text that the log's commits make: nothing in it is ever taken back."""
    return "".join(str(event.get("d", "")) for event in log if event.get("e") == "commit")


def typing_seconds(log: list[dict[str, Any]]) -> float:
    """From the first key to the last commit, by the log's own clock in milliseconds."""
    times = [float(event["t"]) for event in log if isinstance(event.get("t"), int | float)]
    ends = [float(e["t"]) for e in log if e.get("e") == "commit" and isinstance(e.get("t"), int | float)]
    return max(0.0, (max(ends) - min(times)) / 1000) if times and ends else 0.0


def similar(text: str, answer: str, least: float) -> bool:
    """An attempt at the text has about its length; which characters come out is what we want to know."""
    return min(len(text), len(answer)) >= least * max(len(text), len(answer))
