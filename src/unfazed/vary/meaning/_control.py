"""What the controls share: of all ways to change the meaning, one is chosen."""

from __future__ import annotations

from collections.abc import Callable

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.meaning._languages import deleted, inserted, replaced
from unfazed.vary.meaning._table import LANGUAGES, Found
from unfazed.vary.operator import Change, Operator, Text

WAYS: dict[str, Callable[[str, str, Stream], list[Found]]] = {
    "replace": replaced,
    "insert": lambda language, text, rng: inserted(language, text),
    "delete": lambda language, text, rng: deleted(language, text),
}


class Control(Operator):
    """Extend with `ways`, which are tried in order."""

    languages = LANGUAGES
    meaning = "changed"
    ways: tuple[str, ...]

    def change(self, text: Text, rng: Stream) -> Change | None:
        language = text.language.split("-")[0]
        for way in self.ways:
            found = [one for one in WAYS[way](language, text.text, rng) if _sound(text, one.edits)]
            if found:
                kind = rng.choice(sorted({one.kind for one in found}))
                chosen = rng.choice([one for one in found if one.kind == kind])
                return Change(tuple(sorted(chosen.edits)), f"{way}, {chosen.kind}: {chosen.note}")
        return None


def _sound(text: Text, edits: tuple[Edit, ...]) -> bool:
    """Does something change, and does something stay?"""
    changes = any(text.text[start:end] != new for start, end, new in edits)
    return changes and len(text.text.strip()) > sum(end - start for start, end, _ in edits)
