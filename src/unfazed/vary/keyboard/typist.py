"""A person types the text again on a keyboard, slips as people do, and may type it right."""

from __future__ import annotations

from pathlib import Path

import msgspec

from unfazed.core.edits import apply
from unfazed.core.errors import UsageError
from unfazed.core.ids import content_id
from unfazed.core.seeds import Stream
from unfazed.core.values import Json
from unfazed.vary.keyboard._hands import Hands
from unfazed.vary.keyboard.layouts import LANGUAGES, layout_for
from unfazed.vary.keyboard.layouts import layout as layout_named
from unfazed.vary.operator import UNALTERED, Change, Operator, Text
from unfazed.vary.slips import profiles
from unfazed.vary.words import checked_choice

_DATA = Path(__file__).parent / "data"
SHIPPED = ("noiseqa", "aalto")
# Written without spaces, or composed from several keys: slips of letters and spaces are not what happens there.
_OTHERWISE = frozenset(("ja", "ko", "vi", "th", "lo", "km", "my", "bo"))


def profile_file(name: str) -> str:
    """The file of a profile that ships, or the file itself."""
    return str(_DATA / f"typing_{name}.json") if name in SHIPPED else name


class Typist(Operator):
    """Types the text as people do: letters, spaces, capitals and marks go wrong, in half of the texts nothing does.

    `mode` is corrected (what people send) or uncorrected (without backspace). `layout` chooses another keyboard.
    `profile` is noiseqa (the default), aalto (for non-commercial research), or a file. Slips were counted in English;
    in other languages they are not validated.
    """

    presets = ("typing",)
    unaltered = True
    languages = tuple(language for language in LANGUAGES if language not in _OTHERWISE)
    example = ("find a restaurant for tomorrow night", "find a restaurant for tomrrow night")

    def __init__(self, mode: str = "corrected", layout: str = "", profile: str = "noiseqa") -> None:
        checked_choice("mode", mode, "corrected", "uncorrected")
        found = profiles(profile_file(profile)).modes
        if mode not in found:
            raise UsageError(f"The profile {profile} has no mode {mode}. It has {' and '.join(found)}.")
        self._profile = found[mode]
        self._layout = layout_named(layout) if layout else None
        self._hands: dict[str, Hands] = {}

    @classmethod
    def pinned(cls, params: dict[str, Json]) -> dict[str, Json]:
        """An id of the profile's file, which may change under the same name."""
        found = profiles(profile_file(str(params["profile"])))
        return {"profile_id": content_id(msgspec.json.encode(found).decode())}

    def change(self, text: Text, rng: Stream) -> Change | None:
        hands = self._hands.get(text.language)
        if hands is None:
            board = self._layout or layout_for(text.language)
            hands = self._hands[text.language] = Hands(self._profile, board)
        edits = hands.type(text.text, rng)
        if not edits:
            return UNALTERED
        if not apply(text.text, edits).strip():
            return None
        notes = [f"{text.text[start:end]}→{new} at {start}" for start, end, new in edits[:5]]
        return Change(tuple(edits), ", ".join(notes))
