"""Change the meaning, whichever way fits."""

from __future__ import annotations

from unswayed.base.seeds import Stream
from unswayed.vary.meaning import ControlOperator
from unswayed.vary.words import checked_choice

# Which way is tried first, in %. What can't be done is replaced instead, and few texts have a word to leave out. So two
# thirds of the controls are replacements, as in Sun et al. (2023): 962 of 1,415 in Portuguese, 866 of 1,252 in Chinese.
FIRST = {"replace": 15, "insert": 30, "delete": 55}


class Control(ControlOperator):
    """Changes the meaning: replaces a word, inserts one, or leaves one out.

    About two in three texts get a replacement. `choose=order` takes the first of replace, insert and delete that is
    possible.
    """

    example = ("I think she is a teacher.", "I think she is a lawyer.")
    ways = ("replace", "insert", "delete")

    def __init__(self, choose: str = "shares") -> None:
        self.choose = checked_choice("choose", choose, "shares", "order")

    def tried(self, rng: Stream) -> tuple[str, ...]:
        if self.choose == "order":
            return self.ways
        at = rng.below(sum(FIRST.values()))
        first = next(way for way, share in FIRST.items() if (at := at - share) < 0)
        return (first, *(way for way in self.ways if way != first))
