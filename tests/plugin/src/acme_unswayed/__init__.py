"""A plug-in as anybody might write one; the tests install it for real."""

from unswayed.base.edits import Edit
from unswayed.report.export import FolderExporter
from unswayed.vary.operator import Change, Operator


class Shout(Operator):
    """Says it in capitals."""

    example = ("play jazz", "PLAY JAZZ")

    def change(self, text, rng):
        loud = text.text.upper()
        if loud == text.text or len(loud) != len(text.text):
            return None
        return Change((Edit(0, len(loud), loud),), "capitals")


class Sheet(FolderExporter):
    """A line for each example."""

    def __init__(self, end="."):
        self._end = end

    def write(self, suite, folder):
        lines = [" | ".join(example.inputs.values()) + self._end for example in suite.examples()]
        (folder / "sheet.txt").write_text("\n".join(lines))
        return "Read FOLDER/sheet.txt", {"lines": len(lines)}
