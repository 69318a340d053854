"""A person speaks Mandarin with an accent and a recogniser writes it down: READIN's speech noise, simulated."""

from __future__ import annotations

from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.vary.chinese import han
from unswayed.vary.operator import UNALTERED, Change, Operator, Text
from unswayed.vary.people import GROUPS, new_speaker, speakers
from unswayed.vary.speech._mandarin_speaker import MandarinSpeaker


class Mandarin(Operator):
    """Simulates Mandarin spoken with an accent, and a recogniser that mishears words and writes its own numerals.

    Each draw is one speaker for the whole suite. `accent` is the dialect group: northeastern, jilu, jin, jianghuai,
    southwestern or xiang. By default, each speaker has one of them. `profile` is a file that
    `unswayed calibrate speech` writes.
    """

    languages = ("zh",)
    people = True
    quick = True
    unaltered = True
    presets = ("speech",)
    example = ("新华时评：把优秀返乡农民工打造成乡村振兴生力军", "新华视频，把优秀返乡弄命中打造成乡村振兴胜利就。")

    def __init__(self, accent: str = "", profile: str = "") -> None:
        if accent and accent not in GROUPS:
            raise UnknownName("accent of speech/mandarin", accent, GROUPS)
        self._accent = accent
        self._people = speakers(profile).people
        self._speakers: dict[bytes, MandarinSpeaker] = {}

    def change(self, text: Text, rng: Stream) -> Change | None:
        edits = self._speaker(rng).say(text.text, rng)
        if not edits:
            return UNALTERED if any(map(han, text.text)) else None
        start, end, new = edits[0]
        more = f", {len(edits)} changes in all" if len(edits) > 1 else ""
        return Change(tuple(edits), f"{text.text[start:end]}→{new} at {start}{more}")

    def _speaker(self, rng: Stream) -> MandarinSpeaker:
        """The speaker of this draw, made when first met."""
        found = self._speakers.get(rng.person)
        if found is None:
            stream = rng.habit("who they are")
            stream.bits()  # not used any more; what follows it is
            group = self._accent or stream.weighted(list(GROUPS), [group.share for group in GROUPS.values()])
            found = self._speakers[rng.person] = MandarinSpeaker(new_speaker(self._people, group, stream))
        return found
