"""Read aloud: a sentence is shown, the person records it, listens, and sends it or records it again."""

from __future__ import annotations

from typing import Annotated

import msgspec

from unfazed.collect.kinds import MAX_TEXT, About, Kind
from unfazed.core.values import Json


class ReadingItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT)]


class ReadingAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name that the server gave the recording, and what the browser says of the microphone."""

    audio: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
    settings: dict[str, bool | int | float | str | None] = {}


class ReadingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    min_seconds: float = 0.5
    max_seconds: float = 60
    least_level: float = -45  # dB below full scale, of the whole recording


class ReadAloud(Kind):
    name = "read_aloud"
    item_type, answer_type, options_type = ReadingItem, ReadingAnswer, ReadingOptions
    about = About(
        "dialect", "Which language or dialect did you grow up with, and where?", "您从小说哪种方言？在哪里长大？"
    )
    makes_text = True
    uploads = True
    source = "speech"

    def judgements(self, answer: Json) -> dict[str, Json]:
        return {}
