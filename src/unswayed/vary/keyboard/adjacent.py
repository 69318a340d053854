"""A finger lands one key to the side, on the keyboard of the text's language."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import AT_ONCE, Stream, Streams, below
from unswayed.vary.columns import ManyEdits, characters_of
from unswayed.vary.keyboard.layouts import LANGUAGES, OTHER_SCRIPT, Layout, Stroke, layout as layout_named, layout_for
from unswayed.vary.operator import Change, Operator, SingleEdits, Text, Texts
from unswayed.vary.words import checked_rate, common_ends, picked, some

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GUESSES = 8  # places tried for a letter, before all are listed
_NOTED = 5  # slips that a note names
_FEW_TEXTS = 4  # for which arrays take longer
_PLAIN = 128  # characters of ASCII


class _Table(NamedTuple):
    """The slips of ASCII's characters, one after the other: how many each has, where they begin, and what is noted."""

    counts: NDArray[np.uint64]
    firsts: NDArray[np.uint64]
    news: list[str]
    codes: NDArray[np.uint32]  # of what comes out, if it is one character
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
        codes = np.array([ord(new) if len(new) == 1 else 0 for new in [*news, ""]], np.uint32)
        return _Table(counts, np.cumsum(counts) - counts, [*news, ""], codes, [*notes, ""])

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
                both = zip(every, rng.randoms(len(every)), strict=True)
                places = [place for place, number in both if number < self.rate]
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
        notes = [f"{written[start:end]}→{new} at {start}" for start, end, new in edits[:_NOTED]]
        return Change(tuple(edits), ", ".join(notes))

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        slips = slips_on(self._layout or layout_for(texts.language).name) if texts.language else None
        one_by_one = len(texts) < _FEW_TEXTS or self.words < 1 or (self.rate and self.keep_facts)
        if slips is None or one_by_one or slips.board.input or slips.board.name in OTHER_SCRIPT:
            return [self._change_one(text, rng) for text, rng in zip(texts, streams, strict=True)]
        return self._any_letters(texts, streams, slips) if self.rate else self._one_letter(texts, streams, slips)

    def _one_letter(self, texts: Texts, streams: Streams, slips: Slips) -> SingleEdits:
        """What `_change_one` does to the one letter of plain texts, in the same draws."""
        import numpy as np

        # All texts at once, as arrays: the letters of a block are one array of codes, the draws of all streams another,
        # and a slip is a row of a table that has those of all ASCII characters. Text by text, `unswayed vary` on
        # 100,000 texts takes 1.25 to 1.45 times as much CPU time.
        codes, starts, sizes = texts.once(_plain_letters)
        starts = np.where(sizes > 0, starts, len(codes) - 1)
        table, at, rows = slips.table, np.zeros(len(texts), np.int64), np.arange(len(texts))
        counts, tried = _guess(at, rows, streams.numbers, (codes, starts, sizes.astype(np.uint64)), table)
        # The number after the guess that counted decides what comes out, as the next draw of the stream would.
        chosen = table.firsts[codes[starts + at]] + below(streams.numbers[rows, tried + 1], counts)
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

    def _any_letters(self, texts: Texts, streams: Streams, slips: Slips) -> ManyEdits:
        """What `_change_one` does to the letters of plain texts at the rate, in the same draws."""
        import numpy as np

        # Text by text, blocks take 6 to 15 times as long, the more the more letters change.
        codes, starts, sizes = texts.once(_plain_letters)
        table = slips.table
        letters = np.flatnonzero(table.counts[codes] > 0)  # each of which draws a number
        firsts = letters.searchsorted(starts)
        many = letters.searchsorted(starts + sizes) - firsts
        # As many numbers as letters decide which slip; then one for each that does decides what comes out. Where none
        # does, one letter is guessed. The few texts that draw more numbers than these go one by one.
        expected = np.ceil(many * self.rate + 2 * np.sqrt(many * self.rate * (1 - self.rate))).astype(np.int64)
        wanted = many + np.minimum(np.maximum(expected, _GUESSES), np.maximum(many, _GUESSES)) + 1
        numbers, begins = streams.first(wanted)
        owners = np.repeat(np.arange(len(texts)), many)
        nth = np.arange(len(letters)) - np.repeat(firsts, many)
        slipped = (numbers[begins[owners] + nth] >> np.uint64(11)) * 2.0**-53 < self.rate
        places, owners = letters[slipped], owners[slipped]
        each = np.bincount(owners, minlength=len(texts))
        nth = np.arange(len(places)) - np.repeat(np.cumsum(each) - each, each)
        drawn = begins[owners] + many[owners] + nth
        # guesses, for texts in which no letter slipped
        none = np.flatnonzero((each == 0) & (many > 0))
        rows = np.lib.stride_tricks.sliding_window_view(numbers, AT_ONCE)[(begins + many)[none]]
        area = codes, starts[none], sizes[none].astype(np.uint64)
        its = np.zeros(len(none), np.int64)
        counts, tried = _guess(its, np.arange(len(none)), rows, area, table)
        found = counts > 0
        places = np.append(places, (starts[none] + its)[found])
        owners = np.append(owners, none[found])
        drawn = np.append(drawn, ((begins + many)[none] + tried + 1)[found])
        order = np.argsort(places, kind="stable")
        places, owners, drawn = places[order], owners[order], drawn[order]
        old = codes[places]
        kinds = table.firsts[old] + below(numbers[np.minimum(drawn, len(numbers) - 1)], table.counts[old])
        # one by one: texts that are not plain, in which no guess found a letter, whose draws go on, or may damage things
        apart = [i for i, spans in texts.protected.items() if self.spares(spans)] if self.protect != "none" else []
        apart += owners[table.codes[kinds] == 0].tolist()
        apart += np.flatnonzero((each > wanted - many) & (each > 0)).tolist() + none[~found].tolist()
        apart += [i for i, text in enumerate(texts.strings) if text and not text.isascii()]
        others = {i: change for i in set(apart) if (change := self._change_one(texts[i], streams[i]))}
        stay = np.ones(len(texts), bool)
        stay[list(apart)] = False
        kept = stay[owners]

        def note(i: int, edits: Sequence[Edit]) -> str:
            written = texts.strings[i]
            return ", ".join([f"{written[start:end]}→{new} at {start}" for start, end, new in edits[:_NOTED]])

        return ManyEdits(texts, places[kept], table.codes[kinds[kept]], note, others)

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


def _plain_letters(texts: Texts) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """The letters of texts, where each begins, and how many each has. Those of texts that are not ASCII are no letters,
    and nor is the one at the end, which stands for the letters of empty texts."""
    import numpy as np

    every, starts, sizes = texts.once(characters_of)
    codes = np.append(every, every.dtype.type(_PLAIN))
    if every.dtype != np.uint8:
        plain = np.array([text.isascii() for text in texts.strings])
        codes[:-1][~np.repeat(plain, sizes)] = _PLAIN
    return codes, starts, sizes


def _guess(
    at: NDArray[np.int64],
    waiting: NDArray[np.int64],
    numbers: NDArray[np.uint64],
    area: tuple[NDArray[Any], NDArray[np.int64], NDArray[np.uint64]],
    table: _Table,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Guesses a place in each text, which it writes to `at`: how many slips there are, and which guess found it."""
    import numpy as np

    # As `_change_one` does one after another: the first guess that finds a letter counts. As many are made as leave
    # a number for what comes out; each time for the texts that still have none, which soon are few.
    codes, starts, sizes = area
    counts, tried = np.zeros(len(at), np.uint64), np.zeros(len(at), np.int64)
    for guess in range(AT_ONCE - 1):
        at[waiting] = its = below(numbers[waiting, guess], sizes[waiting]).astype(np.int64)
        counts[waiting] = slipping = table.counts[codes[starts[waiting] + its]]
        tried[waiting] = guess
        waiting = waiting[slipping == 0]
        if not len(waiting):
            break
    return counts, tried


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
