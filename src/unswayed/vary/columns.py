"""Blocks of texts as arrays of characters, and changes to them as arrays of edits, for operators on whole blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from unswayed.base.edits import Edit
from unswayed.vary.operator import Change, Texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPACE = 32


class Characters(NamedTuple):
    """The characters of a block's texts, one after the other: their codes, where each text begins, and its length."""

    codes: NDArray[Any]  # as bytes where all are ASCII
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def owners(self) -> NDArray[np.int64]:
        """The text of each character."""
        import numpy as np

        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def characters_of(texts: Texts) -> Characters:
    """Call it as `texts.once(characters_of)`."""
    import numpy as np

    joined = "".join(texts.strings)
    # Joined texts are coded once: as bytes if all are ASCII, else as UTF-32, in which every character has four bytes
    # and so a place that can be reckoned. Lone surrogates, which no encoding has, must pass.
    ascii = joined.isascii()
    coded = joined.encode("ascii" if ascii else "utf-32-le", "surrogatepass")
    sizes = np.fromiter(map(len, texts.strings), np.int64, len(texts))
    return Characters(np.frombuffer(coded, np.uint8 if ascii else "<u4"), np.cumsum(sizes) - sizes, sizes)


class ManyEdits(Sequence[Change | None]):
    """Changes to a block as columns, where a text may have any number of edits that put one character for another.

    `places` are the characters that change, counted through the whole block, in order; `news` the codes of what comes
    instead. A text without any has no change. `others`, by their place, are changes that are not of this kind. `note`
    gives the note on a text with these edits.
    """

    def __init__(
        self,
        texts: Texts,
        places: NDArray[np.int64],
        news: NDArray[Any],
        note: Callable[[int, Sequence[Edit]], str],
        others: dict[int, Change] | None = None,
    ) -> None:
        self._texts, self._places, self._news, self._note = texts, places, news, note
        self.others = others or {}

    @cached_property
    def _ends(self) -> list[int]:
        """Where the edits of each text end among all."""
        _, starts, sizes = self._texts.once(characters_of)
        ends: list[int] = self._places.searchsorted(starts + sizes).tolist()
        return ends

    def edits_of(self, i: int) -> tuple[Edit, ...]:
        """The edits of one text."""
        if i in self.others:
            return self.others[i].edits
        first, last = self._ends[i - 1] if i else 0, self._ends[i]
        start = int(self._texts.once(characters_of).starts[i])
        both = zip(self._places[first:last].tolist(), self._news[first:last].tolist(), strict=True)
        return tuple([Edit(at - start, at - start + 1, chr(code)) for at, code in both])

    def applied(self) -> list[str | None]:
        """The texts after their edits; None where there is none, or a change of another kind."""
        import numpy as np

        codes, starts, sizes = self._texts.once(characters_of)
        if codes.dtype == np.uint8 and len(self._news) and int(self._news.max()) > 127:
            codes = codes.astype("<u4")
        made = codes.copy()
        made[self._places] = self._news
        text = made.tobytes().decode("ascii" if made.dtype == np.uint8 else "utf-32-le", "surrogatepass")
        ends, edits = (starts + sizes).tolist(), self._ends
        return [
            text[first:last] if many and i not in self.others else None
            for i, (first, last, many) in enumerate(
                zip(starts.tolist(), ends, map(int.__sub__, edits, [0, *edits]), strict=False)
            )
        ]

    @property
    def keeps_tokens(self) -> bool:
        """Does no edit take or put a space, so that every token stays one?"""
        codes = self._texts.once(characters_of).codes
        return not (self._news == _SPACE).any() and not (codes[self._places] == _SPACE).any()

    @cached_property
    def notes(self) -> list[str]:
        """The note on each text; empty where it has no change."""
        return [self[i].note if self._changed(i) else "" for i in range(len(self))]  # type: ignore[union-attr]

    def _changed(self, i: int) -> bool:
        return i in self.others or self._ends[i] > (self._ends[i - 1] if i else 0)

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, at: int) -> Change | None: ...
    @overload
    def __getitem__(self, at: slice) -> list[Change | None]: ...
    def __getitem__(self, at: int | slice) -> Change | list[Change | None] | None:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if at in self.others:
            return self.others[at]
        edits = self.edits_of(at)
        return Change(edits, self._note(at, edits)) if edits else None
