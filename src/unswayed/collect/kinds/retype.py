"""Retype: a sentence is shown, and the person types it with their own input method, with nothing to take back."""

from __future__ import annotations

import msgspec

from unswayed.base.values import Json
from unswayed.collect.kinds import Delivery, Flag, ItemText, TaskKind
from unswayed.collect.typing_log import distance, typed, typing_errors, typing_seconds, without_keys


class RetypeItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: ItemText


class RetypeAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: ItemText


class RetypeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer slower than `slack` times the floor is significantly slower: it is kept, and asked for again."""

    chars_per_minute: float = 40
    slack: float = 0.75
    most_per_minute: float = 1500  # characters; nobody types faster
    most_distance: float = 0.5  # by letters, from 0 to 1; farther is not an attempt at the text
    gold_distance: float = 0.2  # of an answer that is right


class Retype(TaskKind):
    name = "retype"
    item_type, answer_type, options_type = RetypeItem, RetypeAnswer, RetypeOptions
    about = "ime"
    makes_text = True
    source = "keyboard"

    def flags(self, item: RetypeItem, answer: RetypeAnswer, delivery: Delivery) -> list[Flag]:
        flags, log, seconds = [], delivery.log, typing_seconds(delivery.log)
        if typed(log) != answer.text or log[: len(delivery.draft)] != list(delivery.draft):
            flags.append(Flag("log differs from text", again=True))
        elif seconds > delivery.elapsed + 5:
            flags.append(Flag("log is longer than the time that passed", again=True))
        elif without_keys(log):
            flags.append(Flag("no keys", again=True))
        elif len(answer.text) * 60 > self.options.most_per_minute * max(seconds, 0.01):
            flags.append(Flag("too fast", again=True))
        if seconds and len(answer.text) * 60 / seconds < self.options.chars_per_minute * self.options.slack:
            flags.append(Flag("slow", again=True))
        if distance(item.text, answer.text) > self.options.most_distance:
            flags.append(Flag("another text", again=True))
        kinds_of_event = {event.get("e") for event in log}
        flags += [Flag(name) for event, name in _EVENTS.items() if event in kinds_of_event]
        if delivery.shows > 1:
            flags.append(Flag("shown again"))
        return flags

    def details(self, asked: Json, log: list[dict[str, Json]]) -> list[Json]:
        """Each wrong stretch, with READIN's labels where the log shows them."""
        return msgspec.to_builtins(typing_errors(asked["text"], log))  # type: ignore[no-any-return]

    def judgements(self, answer: Json) -> dict[str, Json]:
        return {}

    def right(self, gold: Json, answer: Json) -> bool:
        """Near enough to the right text, by letters: slips are what the study is about."""
        return bool(distance(gold["text"], answer["text"]) <= self.options.gold_distance)


_EVENTS = {"block": "tried to change", "restore": "changed and restored"}
