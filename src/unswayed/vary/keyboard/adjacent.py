"""A finger lands one key to the side, on the keyboard of the text's language."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import AT_ONCE, Stream, Streams, below
from unswayed.vary.keyboard.layouts import LANGUAGES, OTHER_SCRIPT, Layout, Stroke, layout as layout_named, layout_for
from unswayed.vary.operator import Change, Operator, SingleEdits, Text, Texts
from unswayed.vary.words import checked_rate, common_ends, picked, some

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GUESSES = 8  # places tried for a letter, before all are listed
_FEW_TEXTS = 4  # for which arrays take longer
_PLAIN = 128  # characters of ASCII


class _Table(NamedTuple):
    """The slips of ASCII's characters, one after the other: how many each has, where they begin, and what is noted."""

    counts: NDArray[np.uint64]
    firsts: NDArray[np.uint64]
    news: list[str]
    notes: list[str]


class Slips(dict[str, tuple[str, ...]]):
    """What comes out on a keyboard when one stroke lands on a key beside its own that writes letters too.

    Example: `Slips(layout("en"))["a"]` is `("q", "w", "s", "z")`.
    """

    def __init__(self, board: Layout) -> None:
        super().__init__()
        self.board = board
        self._near: dict[Stroke, tuple[Stroke, ...]] = {}

    def __missing__(self, written: str) -> tuple[str, ...]:
        """What may come out for a letter, with the marks on it; nothing where the keyboard does not write it."""
        run = self.board.run_at(written, 0)
        found = []
        if run and run.end == len(written) and _is_letters(written):
            for k, stroke in enumerate(run.strokes):
                strokes = [(*run.strokes[:k], other, *run.strokes[k + 1 :]) for other in self.near(stroke)]
                found += [new for slipped in strokes if (new := self.board.compose(slipped, written)) != written]
        self[written] = tuple(found)
        return self[written]

    @cached_property
    def table(self) -> _Table:
        import numpy as np

        each = [self[chr(code)] for code in range(_PLAIN)]
        counts = np.array([*map(len, each), 0], np.uint64)  # the last is for all other characters
        news = [new for slips in each for new in slips]
        notes = [f"{chr(code)}→{new} at " for code, slips in enumerate(each) for new in slips]
        return _Table(counts, np.cumsum(counts) - counts, [*news, ""], [*notes, ""])

    def near(self, stroke: Stroke) -> tuple[Stroke, ...]:
        """The strokes beside a stroke that write letters."""
        if stroke not in self._near:
            beside = [Stroke(key, stroke.level) for key in self.board.neighbours(stroke.key)]
            self._near[stroke] = tuple(other for other in beside if _is_letters(self.board.written(other)))
        return self._near[stroke]


@lru_cache(64)
def slips_on(name: str) -> Slips:
    """The slips on the layout of this name."""
    return Slips(layout_named(name))


def _is_letters(text: str) -> bool:
    """Letters and the signs on them, which scripts such as Devanagari and Thai have keys for."""
    return bool(text) and all(unicodedata.category(c)[0] in "LM" for c in text)


class Adjacent(Operator):
    """Replaces letters by the letter of a key beside theirs, on the keyboard of the text's language.

    With `rate` 0, the default, one letter changes. Otherwise each letter changes with that probability, and at least
    one. `words` limits the mistakes to that share of the words, so that they come together. `layout` chooses another
    keyboard, such as `fr-CH` or `en-dvorak`. `unswayed list layouts` shows all.
    """

    languages = LANGUAGES
    quick = True
    presets = ("typing",)
    slips = True
    example = ("play some jazz by miles davis", "plsy some jazz by miles davis")

    def __init__(self, rate: float = 0.0, words: float = 1.0, layout: str = "") -> None:
        self.rate, self.words = checked_rate(rate), checked_rate(words)
        self._layout = layout_named(layout).name if layout else ""

    def _change_one(self, text: Text, rng: Stream) -> Change | None:
        slips, written = slips_on(self._layout or layout_for(text.language, text.text).name), text.text
        if slips.board.input:
            edits = self._together(text, slips, rng)
        else:
            # The places of the letters that slip: at the rate, or else of a random one, each as likely as any.
            places = list[tuple[int, int]]()
            if self.rate and self.words == 1:
                every = _slip_places(written, range(len(written)), slips)
                places = [place for place in every if rng.random() < self.rate]
            elif self.rate:
                letters = [i for start, end in some(text.tokens, self.words, rng) for i in range(start, end)]
                places = _slip_places(written, [letters[k] for k in picked(len(letters), self.rate, rng)], slips)
            for _ in range(_GUESSES if written and not places else 0):
                if places := _slip_places(written, (rng.below(len(written)),), slips):  # in most texts at once
                    break
            if not places and (every := _slip_places(written, range(len(written)), slips)):
                places = [rng.choice(every)]
            edits = [Edit(start, end, rng.choice(slips[written[start:end]])) for start, end in places]
        edits = self.allowed(text, edits) if self.rate else edits
        if not edits:
            return None
        composed = written.isascii() or unicodedata.is_normalized("NFC", written)
        if not composed and unicodedata.is_normalized("NFD", written):  # letters and marks apart, as the text has them
            edits = [Edit(start, end, unicodedata.normalize("NFD", new)) for start, end, new in edits]
        notes = [f"{written[start:end]}→{new} at {start}" for start, end, new in edits[:5]]
        return Change(tuple(edits), ", ".join(notes))

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        slips = slips_on(self._layout or layout_for(texts.language).name) if texts.language else None
        one_by_one = self.rate or len(texts) < _FEW_TEXTS
        if slips is None or one_by_one or slips.board.input or slips.board.name in OTHER_SCRIPT:
            return [self._change_one(text, rng) for text, rng in zip(texts, streams, strict=True)]
        import numpy as np

        # What `_change_one` does to the one letter of plain texts, in the same draws.
        # All texts at once, as arrays: the letters of a block are one array of codes, the draws of all streams another,
        # and a slip is a row of a table that has those of all ASCII characters. Text by text, `unswayed vary` on
        # 100,000 texts takes 1.25 to 1.45 times as much CPU time.
        codes, starts, sizes = texts.once(_plain_letters)
        table, numbers = slips.table, streams.numbers
        # As `_change_one` does one after another: the first guess that finds a letter counts. As many are made as leave
        # a number for what comes out; each time for the texts that still have none, which soon are few.
        at, tried = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
        counts, waiting = np.zeros(len(texts), np.uint64), np.arange(len(texts))
        for guess in range(AT_ONCE - 1):
            at[waiting] = its = below(numbers[waiting, guess], sizes[waiting]).astype(np.int64)
            counts[waiting] = slipping = table.counts[codes[starts[waiting] + its]]
            tried[waiting] = guess
            waiting = waiting[slipping == 0]
            if not len(waiting):
                break
        rows = np.arange(len(texts))
        # The number after the guess that counted decides what comes out, as the next draw of the stream would.
        chosen = table.firsts[codes[starts + at]] + below(numbers[rows, tried + 1], counts)
        others = {}
        places: list[int] = at.tolist()
        kinds: list[int] = chosen.tolist()
        news: list[str | None] = [table.news[kind] for kind in kinds]
        for i in np.flatnonzero(counts == 0).tolist():  # no letter was found, or the text is not plain
            news[i] = None
            if change := self._change_one(texts[i], streams[i]):
                others[i] = change
        return SingleEdits(
            OneEach(places, (at + 1).tolist(), news),
            lambda: [f"{table.notes[kind]}{place}" for kind, place in zip(kinds, places, strict=True)],
            others,
        )

    def _together(self, text: Text, slips: Slips, rng: Stream) -> list[Edit]:
        """Slips among keys that write syllables together: what comes out is composed again."""
        words = some(text.tokens, self.words, rng) if self.rate and self.words < 1 else text.tokens
        letters = [run for run in slips.board.runs(text.text) if _is_letters(text.text[run.start : run.end])]
        runs = [run for run in letters if any(start <= run.start < end for start, end in words)]
        keys = [(n, k) for n, run in enumerate(runs) for k, stroke in enumerate(run.strokes) if slips.near(stroke)]
        chosen: dict[int, list[int]] = defaultdict(list)
        for n, k in some(keys, self.rate, rng):
            chosen[n].append(k)
        edits = []
        for n, places in chosen.items():
            run, strokes = runs[n], list(runs[n].strokes)
            for k in places:
                strokes[k] = rng.choice(slips.near(strokes[k]))
            before = text.text[run.start : run.end]
            after = slips.board.compose(strokes, before)
            if before != after:  # the part that changed
                head, tail = common_ends(before, after)
                edits.append(Edit(run.start + head, run.end - tail, after[head : len(after) - tail]))
        return edits


def _plain_letters(texts: Texts) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]]:
    """The letters of texts, where each begins, and how many each has. Those of texts that are not ASCII are no letters,
    and nor is the one at the end, which stands for the letters of empty texts."""
    import numpy as np

    joined = "".join(texts.strings)
    # Joined texts are coded once: as bytes if all are ASCII, else as UTF-32, in which every character has four bytes
    # and so a place that can be reckoned. Lone surrogates, which no encoding has, must pass.
    ascii = joined.isascii()
    coded = joined.encode("ascii" if ascii else "utf-32-le", "surrogatepass")
    codes = np.append(np.frombuffer(coded, np.uint8 if ascii else "<u4"), np.uint8(_PLAIN))
    sizes = np.array(list(map(len, texts.strings)), np.int64)
    starts = np.cumsum(sizes) - sizes
    if not ascii:
        plain = np.array([text.isascii() for text in texts.strings])
        codes[:-1][~np.repeat(plain, sizes)] = _PLAIN
    return codes, np.where(sizes > 0, starts, len(codes) - 1), sizes.astype(np.uint64)


def _slip_places(text: str, at: Iterable[int], slips: Slips) -> list[tuple[int, int]]:
    """Where letters stand that may slip, with the marks on them that are typed together with them."""
    if text.isascii():
        return [(i, i + 1) for i in at if slips[text[i]]]
    places, end = [], 0
    for i in at:
        if i < end:
            continue
        end = i + 1
        while end < len(text) and "\u0300" <= text[end] <= "\u036f":
            end += 1
        if end > i + 1 and not slips[text[i:end]]:
            end = i + 1
        if slips[text[i:end]]:
            places.append((i, end))
    return places
