"""Words that sound alike: goldens, policies, exact search against brute force, and tables that can be made again."""

from __future__ import annotations

import gzip
import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from unswayed.base.errors import UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, vary
from unswayed.vary.operator import Text
from unswayed.vary.spoken import _speako
from unswayed.vary.spoken._speako import (
    CODES,
    COMMON,
    NAME,
    ONLY_SAID,
    WEAK,
    Ears,
    Index,
    Nearest,
    Query,
    SpokenWord,
    _model,
    _one_word,
    akin,
    decode,
    ears,
    letters_of,
    sound_of,
)
from unswayed.vary.spoken.speako import Speako
from unswayed.vary.words import WORD_RANKS, common_names, word_ranks

ROOT = Path(__file__).parents[3]
DATA = ROOT / "src/unswayed/vary/spoken/data"
SLU = ROOT.parent / "shared/data/slu"
PHONES = {code: phone for phone, code in CODES.items()}
STREAMS = Seeds(0, "spoken/speako", 1)


def heard(word: str) -> tuple[str | None, int, str | None]:
    return tuple(ears().heard(word))  # type: ignore[return-value]


def said(text: str, seed: str = "e", **params: str) -> str | None:
    change = Speako(**params).change(Text(text), STREAMS.stream(seed, 0))  # type: ignore[arg-type]
    if change is None:
        return None
    [(start, end, new)] = change.edits
    return text[:start] + new + text[end:]


@cache
def rows() -> list[list[str]]:
    text = gzip.decompress((DATA / "speako_words.tsv.gz").read_bytes()).decode()
    return [line.split("\t") for line in text.splitlines()]


def test_the_list_of_words_alone_is_of_the_same_words() -> None:
    assert list(word_ranks().items()) == [(row[0], rank) for rank, row in enumerate(rows())]
    assert common_names() == {row[0] for row in rows() if row[1] == "n"}
    assert gzip.decompress(WORD_RANKS.read_bytes()).decode() == maker().ranks("\n".join(map("\t".join, rows())))


@cache
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_speako", ROOT / "tools/make_speako.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# What words are taken for


@pytest.mark.parametrize(
    ("word", "near", "distance"),
    [
        ("watch", "which", 1),  # the paper's example
        ("decent", "recent", 1),
        ("boston", "austin", 1),
        ("show", "so", 1),
        ("phoenix", "phonics", 1),
        ("flights", "flight", 1),
        ("leaving", "living", 1),
        ("westchester", "winchester", 3),
    ],
)
def test_the_nearest_word(word: str, near: str, distance: int) -> None:
    assert heard(word)[:2] == (near, distance)


@pytest.mark.parametrize(
    ("word", "homophone"),
    [
        ("for", "four"),
        ("four", "for"),
        ("to", "two"),
        ("descent", "dissent"),
        ("morning", "mourning"),
        ("eight", "ate"),
        ("their", "there"),
        ("will", "we'll"),
        ("louis", "lewis"),
        ("the", None),  # thee is far too rare
        ("in", None),
        ("its", None),  # it's is the same letters
        ("st", None),  # street is what it stands for
    ],
)
def test_homophones(word: str, homophone: str | None) -> None:
    assert heard(word)[2] == homophone


@pytest.mark.parametrize(
    ("word", "near"), [("finestone", "firestone"), ("hasselhoff", None), ("batio", "patio"), ("sxsw", None)]
)
def test_unknown_words(word: str, near: str | None) -> None:
    assert word not in {row[0] for row in rows()}
    assert heard(word)[0] == near


def test_what_is_far_off_is_not_heard() -> None:
    assert heard("philadelphia")[0] is None
    for spelling, _, sounds, near, distance, _ in rows():
        longest = max(map(len, sounds.split(" ")))
        assert int(distance) <= max(1, 0.4 * longest), spelling
        assert (near == "") == (distance == "0")


@pytest.mark.parametrize(
    ("a", "b", "distance", "one"),
    [
        ("colour", "color", 0, True),
        ("favourites", "favorites", 0, True),
        ("organised", "organized", 0, True),
        ("centre", "center", 1, True),
        ("travelling", "traveling", 1, True),
        ("programme", "program", 0, True),
        ("defence", "defense", 0, True),
        ("grey", "gray", 0, True),
        ("it's", "its", 0, True),
        ("boys'", "boys", 0, True),
        ("hillary", "hilary", 0, True),
        ("we're", "were", 1, False),
        ("to", "too", 0, False),
        ("four", "for", 0, False),
        ("prise", "prize", 0, False),
        ("filing", "filling", 1, False),
        ("night", "knight", 0, False),
    ],
)
def test_two_spellings_of_one_word(a: str, b: str, distance: int, one: bool) -> None:
    assert _one_word(a, b, distance) is one
    assert _one_word(b, a, distance) is one


def test_the_table_keeps_its_promises() -> None:
    table = rows()
    assert len(table) > 50_000
    for spelling, kind, sounds, near, distance, homophone in table:
        for rank, off in ((near, int(distance)), (homophone, 0)):
            if rank:
                other, other_kind, other_sounds = table[int(rank)][:3]
                assert not _one_word(spelling, other, off), (spelling, other)
                assert other_kind != ONLY_SAID, (spelling, other)
                assert kind != COMMON or other_kind == COMMON, (spelling, other)
                pairs = [(a, b) for a in sounds.split() for b in other_sounds.split()]
                assert min(Levenshtein.distance(a, b) for a, b in pairs) == off, (spelling, other)


def test_the_tables_are_small_and_plain() -> None:
    files = sorted(DATA.glob("speako*"))
    assert sum(file.stat().st_size for file in files) < 2_000_000
    for file in (f for f in files if f.suffix == ".gz"):
        assert file.read_bytes()[4:8] == b"\0\0\0\0", "no time in it, so that the same table is the same bytes"
        gzip.decompress(file.read_bytes()).decode("utf-8")


def test_sounds_that_are_alike() -> None:
    assert akin("S", "F")
    assert akin("D", "DH")
    assert akin("CH", "SH")
    assert akin("M", "B")
    assert akin("IY", "OW")
    assert not akin("W", "B")
    assert not akin("Z", "N")
    assert not akin("K", "IY")
    assert all(akin(a, b) == akin(b, a) for a in CODES for b in CODES)


# The search, against one that looks at everything


def brute_cost(sound: str, other: str) -> tuple[int, int]:
    """(edits, edits that are not between like sounds) by a table of pairs, written without regard to speed."""

    def gap(phones: str, i: int) -> tuple[int, int]:
        return 1, int(i == 0 or PHONES[phones[i]] not in WEAK)

    best = {(0, 0): (0, 0)}
    for i in range(len(sound) + 1):
        for j in range(len(other) + 1):
            ways = []
            if i:
                ways.append((best[i - 1, j], gap(sound, i - 1)))
            if j:
                ways.append((best[i, j - 1], gap(other, j - 1)))
            if i and j:
                a, b = PHONES[sound[i - 1]], PHONES[other[j - 1]]
                ways.append((best[i - 1, j - 1], (int(a != b), int(a != b and not akin(a, b)))))
            if ways:
                best[i, j] = min((x + dx, y + dy) for (x, y), (dx, dy) in ways)
    return best[len(sound), len(other)]


def brute(query: Query, entries: list[tuple[str, int, bool]]) -> Nearest | None:
    answers = [
        Nearest(*brute_cost(query.sound, sound), rank)
        for sound, rank, common in entries
        if rank not in query.skip and (common or not query.common)
    ]
    return min((a for a in answers if 0 < a.distance <= query.within), default=None)


_sounds = st.text(st.sampled_from("AHNUTR"), min_size=1, max_size=7)
_entries = st.lists(st.tuples(_sounds, st.integers(0, 20), st.booleans()), max_size=30)
_queries = st.builds(
    Query, st.text(st.sampled_from("AHNUTRm"), min_size=1, max_size=9), st.integers(1, 5),
    st.frozensets(st.integers(0, 20), max_size=4), st.booleans(),
)  # fmt: skip


@given(_entries, st.lists(_queries, min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_search_finds_what_brute_force_finds(entries: list[tuple[str, int, bool]], queries: list[Query]) -> None:
    assert Index(entries).nearest(queries) == [brute(query, entries) for query in queries]


@given(st.text(st.sampled_from(sorted(CODES.values())), min_size=1, max_size=12), st.booleans())
@settings(max_examples=25, deadline=None)
def test_search_is_exact_in_the_shipped_vocabulary(sound: str, common: bool) -> None:
    assert_exact([Query(sound, 5, frozenset(), common)])


@pytest.mark.skipif(not SLU.exists(), reason="the corpora of ../shared/data/slu are not here")
@pytest.mark.slow
def test_search_is_exact_for_every_unknown_word_of_atis_and_snips() -> None:
    known = {row[0] for row in rows()}
    texts = [file.read_text(encoding="utf-8") for file in SLU.glob("*/*/seq.in")]
    unknown = sorted({w for text in texts for w in text.split() if re.fullmatch("[a-z]+", w)} - known)
    assert len(unknown) > 3_000
    assert_exact([Query(sound_of(word), max(1, 2 * len(sound_of(word)) // 5)) for word in unknown])


def assert_exact(queries: list[Query]) -> None:
    """Distances by rapidfuzz to every pronunciation; then `brute_cost` among those at the least distance."""
    entries = [
        (sound, rank, row[1] == COMMON)
        for rank, row in enumerate(rows())
        if row[1] != ONLY_SAID
        for sound in row[2].split(" ")
    ]
    sounds = [sound for sound, _, _ in entries]
    allowed = np.array([common for _, _, common in entries])
    found = ears()._words._index.nearest(queries)
    for at in range(0, len(queries), 64):
        block = queries[at : at + 64]
        distances = cdist([q.sound for q in block], sounds, scorer=Levenshtein.distance, dtype=np.uint8)
        for i, (query, row, answer) in enumerate(zip(block, distances, found[at : at + 64], strict=True)):
            row[(row == 0) | (query.common & ~allowed)] = 255
            if row.min() > query.within:
                assert answer is None
                continue
            assert answer
            assert answer.distance == row.min()
            if i % 8 == 0:  # ties take long
                ties = np.flatnonzero(row == row.min())
                assert answer == min(Nearest(*brute_cost(query.sound, sounds[j]), entries[j][1]) for j in ties)


# How unknown words are said


def test_letters_are_said_as_cmudict_says_them() -> None:
    make = maker()
    words = {w: s for w, s in make.dictionary().items() if make.held_out(w) and re.fullmatch("[a-z]{2,}", w)}
    chosen = sorted(words)[::4]
    errors = total = 0
    for word in chosen:
        wrong, length = min((Levenshtein.distance(decode(word, _model()), s), len(s)) for s in words[word])
        errors, total = errors + wrong, total + length
    assert len(chosen) > 1_000
    assert 1 - errors / total > 0.905  # of phones; no held-out word was learnt from


def test_what_has_no_vowel_is_spelled_out() -> None:
    assert [PHONES[c] for c in sound_of("tv")] == ["T", "IY", "V", "IY"]
    assert [PHONES[c] for c in sound_of("q")] == ["K", "Y", "UW"]
    assert sound_of("...") == ""


@given(st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_every_string_of_letters_has_a_sound(letters: str) -> None:
    sound = sound_of(letters)
    assert sound
    assert set(sound) <= set(CODES.values())
    assert sound == sound_of(letters)


# The tables can be made again


@pytest.mark.slow
def test_a_sample_of_the_table_is_made_again() -> None:
    make = maker()
    words = make.vocabulary(make.dictionary(), _model())
    assert [[w.spelling, w.kind, " ".join(w.sounds)] for w in words] == [row[:3] for row in rows()]
    ranks = range(0, len(words), 100)
    made = make.table(words, ranks)
    assert made == ["\t".join(rows()[rank]) + "\n" for rank in ranks]


def test_the_model_of_letters_is_made_the_same_way_twice() -> None:
    make = maker()
    few = dict(list(make.dictionary().items())[::150])
    first, second = make.letters_table(few), make.letters_table(dict(reversed(few.items())))
    assert first == second
    assert decode("test", make.read_model(first))


def test_offensive_words_are_left_out() -> None:
    make = maker()
    assert make.left_out("bollocks")
    assert make.left_out("bollocks's")
    assert not make.left_out("flight")
    assert not [row[0] for row in rows() if make.left_out(row[0])]


# The operator


def test_case_and_punctuation_are_kept() -> None:
    assert said("Watch,") == "Which,"
    assert said('"WATCH!"') == '"WHICH!"'
    assert said("(watch)") == "(which)"
    assert said("ＷＡＴＣＨ") == "WHICH"
    assert said("I") == "Eye"
    assert said("Eye") == "I"
    assert said("“boston’s”", homophones="avoid") is not None
    assert said("café") == said("cafe")


@pytest.mark.parametrize(
    "text", ["7", "1999", "7:30 !", "...", "m80", "'s", "דבר", "名字", "🙂", "", " ", "a" * 31, "x@y.de"]
)
def test_what_is_no_word_is_not_chosen(text: str) -> None:
    assert said(text) is None


def test_what_is_left_of_a_contraction_is_not_chosen() -> None:
    assert {said("what s 5", seed=str(i)) for i in range(20)} == {"white s 5"}
    assert {said("7 'll 5", seed=str(i)) for i in range(20)} == {None}


def test_another_word_is_chosen_where_nothing_sounds_like_the_first() -> None:
    assert {said("hasselhoff watch", seed=str(i)) for i in range(20)} == {"hasselhoff which"}
    assert said("hasselhoff") is None


def test_homophones_can_be_avoided() -> None:
    assert said("four") == "for"
    assert said("four", homophones="avoid") == "far"
    with pytest.raises(UsageError, match="allow"):
        Speako(homophones="never")


def test_each_word_is_as_likely_as_any() -> None:
    text = "watch boston show 7"
    made = [said(text, seed=str(i)) for i in range(900)]
    counts = [made.count(t) for t in ("which boston show 7", "watch austin show 7", "watch boston so 7")]
    assert sum(counts) == 900
    assert min(counts) > 240


def test_a_slot_keeps_its_tags() -> None:
    gold = {"intent": "flight", "slots": ["O", "O", "B-from", "O", "B-to", "I-to"]}
    example = Example(0, "e", {"text": "flights from boston to san jose"}, gold)
    variation = Variation(operators=(OperatorSpec("spoken/speako"),), task="slu", language="en", draws=40)
    variants = list(vary([example], variation))
    assert len(variants) == 40
    assert all(v.gold == gold for v in variants)
    assert any("austin" in v.inputs["text"] for v in variants)
    assert "sounds alike, distance 1)" in next(v.note for v in variants if "austin" in v.inputs["text"])


_texts = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(["watch", "Boston,", "sxsw", "I", "hasselhoff", "7", "don't", "what's", "naïve", "TV"]),
    ),
    max_size=8,
).map(" ".join)


@given(st.lists(_texts, min_size=1, max_size=4), st.sampled_from(["allow", "avoid"]))
@settings(max_examples=150, deadline=None)
def test_one_word_changes(texts: list[str], homophones: str) -> None:
    operator = Speako(homophones)  # type: ignore[arg-type]
    for i, text in enumerate(texts):
        change = operator.change(Text(text), STREAMS.stream(str(i), 0))
        if change is None:
            continue
        [(start, end, new)] = change.edits
        assert new.strip() == new != text[start:end]
        assert not re.search(r"\s", text[start:end])
        assert letters_of(new)
        assert len((text[:start] + new + text[end:]).split()) == len(text.split())


def test_nothing_is_lost_when_the_kept_answers_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_speako, "_MAX_KEPT", 0)
    texts = ["hasselhoff", "boston", "sxsw", "zzyzx", "watch"]
    heard = [_speako.ears().heard(text) for text in texts]
    assert [_speako.ears().heard(text) for text in texts] == heard


def test_a_vocabulary_of_one_word_has_no_neighbours() -> None:
    alone = Ears("a\tc\tA\t\t0\t\n")
    assert alone.heard("a") == (None, 0, None)
    assert alone._words.hear([SpokenWord("b", NAME, ("BBBBBB",))]) == [(None, 0, None)]
