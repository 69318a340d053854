"""The list of Chinese words gives, line by line, what reading the whole of it gives."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.vary.chinese import _LEVELS, APART, WORDS_FILE, Lexicon, lexicon

PHRASES_FILE = WORDS_FILE.with_name("phrases.txt.gz")


def every_word(lines: list[str]) -> Iterator[tuple[str, str, float]]:
    """Each reading, word and log frequency of a list, in order."""
    for line in lines:
        syllable, _, *cells = line.split("\t")
        for rest, row in zip(cells[::2], cells[1::2], strict=True):
            reading = f"{syllable}{APART}{rest}" if rest else syllable
            size = len(reading.split(APART))
            for at in range(0, len(row), size + 1):
                yield reading, row[at : at + size], _LEVELS[row[at + size]]


def lines_of(file: str) -> list[str]:
    return gzip.decompress(WORDS_FILE.with_name(file).read_bytes()).decode().split("\n")


WORDS = list(every_word(lines_of(WORDS_FILE.name)[1:]))
_UNITS = ["hua", "h", "zh", "zhong", "b", "bei", "xi", "x", "an", "a", "r", "shi"]


@pytest.fixture(scope="module")
def fresh() -> Lexicon:
    return Lexicon.read(WORDS_FILE)


def test_a_word_of_several_characters_has_one_reading() -> None:
    longer = [word for _, word, _ in WORDS if len(word) > 1]
    assert len(longer) == len(set(longer))


def test_words_have_the_frequency_and_reading_of_their_commonest_reading(fresh: Lexicon) -> None:
    best: dict[str, tuple[float, str]] = {}
    for reading, word, frequency in WORDS:
        if word not in best or frequency > best[word][0]:
            best[word] = frequency, reading
    for word in [*[word for word in best if len(word) == 1], *list(best)[::-7]]:
        frequency, reading = best[word]
        assert fresh.log_frequency(word) == frequency
        assert fresh.reading(word) == tuple(reading.split(APART))
    assert fresh.frequency == {word: frequency for word, (frequency, _) in best.items()}


@pytest.mark.parametrize("word", ["龘", "中龘", "龘中", "中龘中", "們", "A", "ab"])
def test_what_is_not_in_the_list_has_no_frequency(fresh: Lexicon, word: str) -> None:
    assert fresh.log_frequency(word) == 0.0
    assert fresh.reading(word) is None


def test_every_line_is_found_by_the_characters_that_its_words_begin_with() -> None:
    for file in (WORDS_FILE.name, PHRASES_FILE.name):
        for line in lines_of(file)[1:]:
            assert set(line.split("\t")[1]) == {word[0] for _, word, _ in every_word([line])}


def test_the_highest_frequencies_are_at_the_top_of_the_list() -> None:
    for file in (WORDS_FILE.name, PHRASES_FILE.name):
        highest, *lines = lines_of(file)
        for size, level in enumerate(highest, 1):
            assert max([f for _, word, f in every_word(lines) if len(word) == size], default=0.0) == _LEVELS[level]


@given(units=st.lists(st.sampled_from(_UNITS), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_abbreviations_stand_for_all_words_that_fit_them(units: list[str]) -> None:
    cut = [unit not in lexicon().syllables for unit in units]
    fitting = [
        (-frequency, word)
        for reading, word, frequency in WORDS
        if len(word) == len(units)
        and all(
            syllable.startswith(unit) if short else syllable == unit
            for syllable, unit, short in zip(reading.split(APART), units, cut, strict=True)
        )
    ]
    assert lexicon().abbreviated(units, cut) == sorted(fitting)


def test_commonest_readings_are_those_of_the_whole_table() -> None:
    fresh = Lexicon.read(WORDS_FILE)
    found = fresh.commonest_readings()
    assert {c: frequency for c, (frequency, _) in found.items()} == {
        word: frequency for word, frequency in fresh.frequency.items() if len(word) == 1
    }
    assert all(fresh.reading(c) == (found[c][1],) for c in "的行长乐重都得地")
    assert fresh.commonest_readings() == found, "also once all words are read"
