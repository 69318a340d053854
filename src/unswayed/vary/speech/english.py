"""A person reads an English text aloud and a recogniser writes it down, words misheard and all."""

from __future__ import annotations

import msgspec

from unswayed.base.edits import Edit
from unswayed.base.errors import UnknownName
from unswayed.base.ids import content_id
from unswayed.base.seeds import Stream
from unswayed.base.values import Json
from unswayed.vary.operator import UNALTERED, Change, Operator, Text
from unswayed.vary.people import ACCENTS, listener
from unswayed.vary.speech._english_speaker import PIECE, EnglishSpeaker


class English(Operator):
    """Simulates English read aloud, and a recogniser that mishears words and has its own capitals, marks and numbers.

    Each draw is one speaker for the whole suite. `accent` is american, british, indian, chinese or spanish; by default,
    each speaker has one of them. `profile` is noiseqa (the default), topicalchat_a, topicalchat_b, or a file that
    `unswayed calibrate listener` writes. `plain` writes small letters without marks.
    """

    languages = ("en",)
    people = True
    unaltered = True
    presets = ("speech",)
    example = (
        "Which player was criticized for not jumping into the pile?",
        "which player was criticized are not jumping into the piled",
    )

    def __init__(self, accent: str = "", profile: str = "noiseqa", plain: bool = False) -> None:
        if accent and accent not in ACCENTS:
            raise UnknownName("accent of speech/english", accent, ACCENTS)
        self._accent, self._plain = accent, plain
        self._profile = listener(profile)
        self._speakers: dict[int, EnglishSpeaker] = {}

    @classmethod
    def pinned(cls, params: dict[str, Json]) -> dict[str, Json]:
        """An id of the profile's file, which may change under the same name."""
        return {"profile_id": content_id(msgspec.json.encode(listener(str(params["profile"]))).decode())}

    def change(self, text: Text, rng: Stream) -> Change | None:
        if not PIECE.search(text.text):
            return None
        edits = self._speaker(rng).say(text.text, text.marked, rng)
        if not edits:
            return UNALTERED
        if not text.keeps(edits):
            edits = _kept(text, edits)
            if not edits:
                return None
        start, end, new = edits[0]
        more = f", {len(edits)} changes in all" if len(edits) > 1 else ""
        return Change(tuple(edits), f"{text.text[start:end]}→{new} at {start}{more}")

    def _speaker(self, rng: Stream) -> EnglishSpeaker:
        """The speaker of this draw and their recogniser, made when first met."""
        stream = rng.habit("who they are")
        mark = stream.bits()
        found = self._speakers.get(mark)
        if found is None:
            accent = self._accent or stream.choice(list(ACCENTS))
            found = self._speakers[mark] = EnglishSpeaker(self._profile, accent, self._plain)
        return found


def _kept(text: Text, edits: list[Edit]) -> list[Edit]:
    """The edits that leave all labels true, added one by one."""
    kept: list[Edit] = []
    for edit in edits:
        if text.keeps([*kept, edit]):
            kept.append(edit)
    return kept
