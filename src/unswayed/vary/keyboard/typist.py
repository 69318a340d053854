"""A person types the text again on a keyboard, slips as people do, and may type it right.

On a telephone, thumbs press small keys, and an autocorrection turns non-words into words. Its weights are assumptions:
they were not counted in people's texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_lowercase

import msgspec

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import UsageError
from unswayed.base.ids import content_id
from unswayed.base.seeds import Stream
from unswayed.base.values import Json
from unswayed.vary.hands import Hands
from unswayed.vary.keyboard.layouts import LANGUAGES, layout as layout_named, layout_for
from unswayed.vary.operator import UNALTERED, Change, Operator, Text, in_params
from unswayed.vary.slips import STYLES, Profiles, SlipProfile, in_other_language, profiles
from unswayed.vary.words import cased, checked_choice, word_ranks

_OF_LANGUAGE = {"ru": "ruspellru"}
# Written without spaces, or composed from several keys: slips of letters and spaces are not what happens there.
_OTHERWISE = frozenset(("ja", "ko", "vi", "th", "lo", "km", "my", "bo"))
_NOTED = 5  # slips that a note names
# How much likelier a slip is with thumbs than with ten fingers.
_THUMBS = {"near": 2.5, "far": 0.4, "swap": 0.4, "omit": 1.2, "raised": 0.3, "space_lost": 2.0, "space_twice": 0.3}
_AROUND = "\"'(),.:;?!"
_MAX_OFFERED = 20_000  # rank up to which a word is offered as a correction


class Typist(Operator):
    """Types the text as people do: letters, spaces, capitals and marks go wrong, in half of the texts nothing does.

    `mode` is corrected (what people send) or uncorrected (without backspace). `device` is desk or phone; a phone has
    `autocorrect`, in English. `layout` chooses another keyboard. `profile` is noiseqa (the default), ruspellru (the
    default for Russian), or a file that `unswayed calibrate typist` writes.
    `person` is text (each example is typed by someone else) or draw (each draw is one person). Validated on a keyboard
    in English and Russian; other languages and phones are not validated.
    """

    version = 3
    presets = ("typing",)
    slips = True
    unaltered = True
    languages = tuple(language for language in LANGUAGES if language not in _OTHERWISE)
    example = ("book a table for two at seven", "book a table foor two at sevren")

    def __init__(
        self, mode: str = "corrected", device: str = "desk", autocorrect: bool = True, layout: str = "",
        profile: str = "", person: str = "text",
    ) -> None:  # fmt: skip
        self._mode = checked_choice("mode", mode, "corrected", "uncorrected")
        self._phone = checked_choice("device", device, "desk", "phone") == "phone"
        self._corrects = self._phone and autocorrect
        self._one = checked_choice("person", person, "text", "draw") == "draw"
        self._layout = layout_named(layout) if layout else None
        self._profile = profile
        self._hands: dict[tuple[str, str], Hands] = {}  # by language and layout
        if profile:
            self._profiles_named(profile)

    @classmethod
    def pinned(cls, params: dict[str, Json]) -> dict[str, Json]:
        """An id of the profiles, whose files may change under the same name."""
        names = [str(params["profile"])] if params["profile"] else ["noiseqa", *_OF_LANGUAGE.values()]
        found = [msgspec.json.encode(profiles(name)).decode() for name in names]
        return {"profile_id": content_id("\n".join(found))}

    def change(self, text: Text, rng: Stream) -> Change | None:
        board = self._layout or layout_for(text.language, text.text)
        hands = self._hands.get((text.language, board.name))
        if hands is None:
            main = text.language.split("-")[0]
            if self._corrects and main != "en":
                raise UsageError(
                    f"keyboard/typist corrects on a phone in English only, not in {text.language}. "
                    f"Use {in_params(autocorrect='false')}."
                )
            fitted = self._profiles_named(self._profile or _OF_LANGUAGE.get(main, "noiseqa"))
            found = fitted.modes[self._mode]
            found = found if fitted.language.split("-")[0] == main else in_other_language(found)
            found = on_phone(found, self._corrects) if self._phone else found
            hands = Hands(found, board, word_ranks() if main == "en" else {})
            self._hands[text.language, board.name] = hands
        edits: Sequence[Edit] = hands.type(text.text, rng, rng.habit("") if self._one else None)
        if not edits:
            return UNALTERED
        if self._corrects:
            edits = autocorrected(text.text, list(edits))
        edits = self.allowed(text, edits)
        if not text.keeps(edits):
            edits = [edit for edit in edits if text.keeps([edit])]
            edits = edits if text.keeps(edits) else []
        made = apply(text.text, edits)
        if made == text.text or not made.strip():
            return UNALTERED  # seen and put right: one slip undoes another, nothing is left, or a label would be false
        notes = [f"{text.text[start:end]}→{new} at {start}" for start, end, new in edits[:_NOTED]]
        return Change(tuple(edits), ", ".join(notes))

    def _profiles_named(self, name: str) -> Profiles:
        found = profiles(name)
        if self._mode not in found.modes:
            has = " and ".join(found.modes) or "none"
            raise UsageError(f"The profile {name} has no mode {self._mode}. It has {has}.")
        return found


def on_phone(profile: SlipProfile, autocorrect: bool) -> SlipProfile:
    """The profile of people with a telephone. Its keyboard begins sentences with a capital if it corrects."""
    rates = {kind: min(rate * _THUMBS.get(kind, 1.0), 1.0) for kind, rate in profile.rates.items()}
    choices = {**profile.choices, "near": {"across": 3.0, "along": 2.0}}  # a thumb misses upwards and downwards too
    people = profile.people
    if autocorrect:
        rates["first_capital"] = 0.0
        first = 1 + STYLES.index("first")
        people = [[0.0 if k == first else value for k, value in enumerate(row)] for row in people]
    return msgspec.structs.replace(profile, rates=rates, choices=choices, people=people, noticed=0.0)


def autocorrected(text: str, edits: list[Edit]) -> list[Edit]:
    """The slips after autocorrection: a word that came out as none is replaced by the likeliest word near it."""
    made: list[Edit] = []
    k = 0
    while k < len(edits):
        start, end, new = edits[k]
        if " " in new or " " in text[start:end]:  # spaces came or went, so there is no one word to correct
            made.append(edits[k])
            k += 1
            continue
        low, high = text.rfind(" ", 0, start) + 1, text.find(" ", end)
        high = len(text) if high < 0 else high
        inside = [edit for edit in edits[k:] if low <= edit.start and edit.end <= high]
        k += len(inside)
        typed, at = "", low
        for start, end, new in inside:
            typed, at = typed + text[at:start] + new, end
        typed += text[at:high]
        core = typed.strip(_AROUND)
        found = nearest(core.lower()) if core.isalpha() and core.lower() not in word_ranks() else ""
        corrected = typed.replace(core, cased(found, core), 1)
        if not found:
            made += inside
        elif corrected != text[low:high]:
            made.append(Edit(low, high, corrected))
    return made


@lru_cache(65_536)
def nearest(word: str) -> str:
    """The most frequent word that one slip away is; empty if there is none."""
    halves = [(word[:k], word[k:]) for k in range(len(word) + 1)]
    near = {a + b[1:] for a, b in halves if b}
    near |= {a + b[1] + b[0] + b[2:] for a, b in halves if len(b) > 1}
    near |= {a + c + b[1:] for a, b in halves if b for c in ascii_lowercase}
    near |= {a + c + b for a, b in halves for c in ascii_lowercase}
    known = word_ranks()
    offered = [other for other in near if known.get(other, _MAX_OFFERED) < _MAX_OFFERED and len(other) > 1]
    return min(offered, key=known.__getitem__, default="")
