"""A plug-in as anybody might write one; the tests install it for real."""

from unfazed.core.edits import Edit
from unfazed.vary.operator import Change, Operator


class Shout(Operator):
    """Says it in capitals."""

    example = ("play jazz", "PLAY JAZZ")

    def change(self, text, rng):
        loud = text.text.upper()
        if loud == text.text or len(loud) != len(text.text):
            return None
        return Change((Edit(0, len(loud), loud),), "capitals")
