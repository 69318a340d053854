"""The thesaurus finds in blocks, and by what it remembers, what the plain way finds word by word."""

from __future__ import annotations

import lzma
from math import log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import apply
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.vary.engine import make_operator
from unswayed.vary.english import KIND_OF, Word, forms, tagged, tagger
from unswayed.vary.fitting import (
    OF_PEOPLE,
    PAIRS_FILE,
    Asked,
    Place,
    _bits_after,
    everywhere,
    fits,
    fitting,
    pair_bits,
    vague,
)
from unswayed.vary.operator import Text, Texts
from unswayed.vary.synonyms import rank_synonyms
from unswayed.vary.thesaurus import thesaurus
from unswayed.vary.words import word_ranks

WORDS = (
    *("play", "plays", "the", "a", "new", "cheap", "album", "by", "find"),
    *("finds", "show", "me", "list", "flights", "flight", "from", "to", "boston"),
    *("leaving", "earliest", "now", "early", "turn", "on", "up", "off", "break"),
    *("broke", "law", "plant", "water", "garden", "big", "house", "quickly", "available"),
    *("i", "want", "need", "it", "is", "right", "food"),
)
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
OPERATORS = ("any", "verb", "adjective", "adverb", "stopword")


def plainly_ranked(asked: Asked) -> list[str]:
    """The definition: one word at a time, with nothing remembered."""
    table, words, i = thesaurus(), asked.words, asked.i
    word, kind = words[i], KIND_OF.get(words[i].tag, "")
    lemma = forms().lemma(word.lower, word.tag)
    after = words[i + 1] if i + 1 < len(words) else Word(0, 0, "", "")
    if kind == "r" and i and (words[i - 1].tag == "IN" or words[i - 1].lower == "right"):
        return []
    if kind == "v" and asked.strict and apart(words[i + 1 : i + 6]):
        return []
    particle, people = kind == "v" and after.tag == "RP", after.lower in OF_PEOPLE
    entry, inflect = table._found(word.lower, lemma, kind, particle, people)
    if entry is None:
        return []
    around = mean_direction(words, i)
    shares = entry.shares + 6.0 * (table.vectors[entry.sense_rows] / 127 @ around)
    shares = shares - np.logaddexp.reduce(shares)
    meant = shares[entry.senses]
    scores = np.array(entry.scores) + meant
    scores = scores + 2.0 * (table.vectors[entry.rows] / 127 @ around)
    order = np.argsort(-np.round(scores, 6), kind="stable").tolist()
    least, likely = scores.max() - 4.0, log(0.5 if asked.strict else 0.15)
    said = []
    for n in order:
        candidate = entry.words[n]
        if scores[n] <= least or meant[n] <= likely:
            continue
        if asked.strict and (
            entry.scores[n] <= -2.2
            or not (everywhere(lemma, candidate, after.lower) or table._both(lemma, candidate, kind))
        ):
            continue
        if kind == "v" and vague(lemma, forms().lemma(candidate, word.tag), after.lower):
            continue
        form = forms().inflected(candidate, word.tag) if inflect else candidate
        said += [form] if form else []
    return fitting(asked, [form for form in said if " " not in form]) or fitting(asked, said)


def apart(follows: tuple[Word, ...]) -> bool:
    particles = ("up", "down", "out", "back", "away", "over")
    return any(word.lower in particles for word in follows) or any(word.tag == "RP" for word in follows[1:])


def mean_direction(words: tuple[Word, ...], i: int) -> np.ndarray:
    table = thesaurus()
    rows = []
    for n, word in enumerate(words):
        lemma = forms().lemma(word.lower, word.tag)
        row = table._rows.get(word.lower) or table._rows.get(lemma)
        if n != i and word.tag in KIND_OF and row is not None:
            rows.append(row)
    total = (table.vectors[rows] / 127).sum(0) if rows else np.zeros(32)
    return total / (np.linalg.norm(total) + 1e-9) * min(1.0, log(1 + len(rows)))


@given(st.lists(SENTENCES, min_size=1, max_size=4), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_many_words_are_ranked_as_each_is(texts: list[str], sure: bool, strict: bool) -> None:
    asked = [
        Asked(text, tagged(text), i, sure, strict)
        for text in texts
        for i, word in enumerate(tagged(text))
        if word.tag in KIND_OF
    ]
    assert rank_synonyms(asked) == [plainly_ranked(one) for one in asked]
    assert rank_synonyms(asked) == rank_synonyms(asked)


@given(SENTENCES, st.sampled_from(WORDS), st.data())
@settings(max_examples=150, deadline=None)
def test_a_candidate_is_tagged_by_its_neighbours_as_in_the_whole_sentence(
    text: str, candidate: str, data: st.DataObject
) -> None:
    words = tagged(text)
    i = data.draw(st.integers(0, len(words) - 1))
    changed = [word.lower for word in words]
    place = Place.of(changed, tagger().tags(changed), i)
    changed[i] = candidate
    tag, old = tagger().tags(changed)[i], words[i].tag
    expected = tag == old or (KIND_OF.get(tag) == KIND_OF.get(old) and tagger().could_be(candidate, old))
    beside = candidate in (place.before, place.after)
    assert fits(words[i].lower, old, candidate, place, sure=False, strict=False) == (expected and not beside)


@pytest.mark.parametrize("kind", OPERATORS)
def test_blocks_give_what_single_texts_give(kind: str) -> None:
    texts = [" ".join(WORDS[n % 17 : n % 17 + 9 : 1 + n % 2]) for n in range(40)]
    operator, seeds = make_operator(OperatorSpec(f"spoken/synonym_{kind}")), Seeds(3, "x", 1)
    block = Texts.of([Text(text) for text in texts])
    together = operator.change_many(block, seeds.streams(block.ids, 0, [""] * 40))
    alone = [operator.change(Text(text), seeds.stream(str(n), 0)) for n, text in enumerate(texts)]
    assert list(together) == alone


def test_pairs_are_as_the_table_has_them() -> None:
    words, rows = list(word_ranks()), lzma.decompress(PAIRS_FILE.read_bytes()).decode().split("\n")
    count = 0
    for first, row in enumerate(rows):
        second = 0
        for cell in row.split():
            second += int(cell[1:], 16)
            assert pair_bits(words[first], words[second]) == int(cell[0], 16)
            count += 1
    assert count == sum(len(_bits_after(first)) for first in range(len(rows)))
    assert pair_bits(words[-1], "the") == pair_bits("zzyzx", "the") == pair_bits("the", "zzyzx") == 0


MADE = {
    "any": [
        "give me the cheap flights from boston that leave early in the morning",
        "Could you find the latest album? I want to listen to it quickly.",
        "turn off the huge lights in the kitchen now",
    ],
    "verb": [
        "give me the cheap flights from boston that leave early in the morning",
        "Could you find the new album? I want to tune to it quickly.",
        "switch off the big lights in the kitchen now",
    ],
    "adjective": [
        "show me the inexpensive flights from boston that leave early in the morning",
        "Could you find the recent album? I want to listen to it quickly.",
        "turn off the large lights in the kitchen now",
    ],
    "adverb": [
        "show me the cheap trips from boston that leave early in the morning",
        "Could you find the new album? I want to listen to it fast.",
        None,
    ],
    "stopword": [
        "show us the cheap flights from boston that leave early in the morning",
        "Could you find the new album? We want to listen to it quickly.",
        "turn off the big lights within the kitchen now",
    ],
}


@pytest.mark.parametrize("kind", OPERATORS)
def test_the_same_words_as_ever(kind: str) -> None:
    """What version 1 of these operators, and version 2 of `any`, has always made of these texts."""
    texts = (
        "show me the cheap flights from boston that leave early in the morning",
        "Could you find the new album? I want to listen to it quickly.",
        "turn off the big lights in the kitchen now",
    )
    operator, seeds = make_operator(OperatorSpec(f"spoken/synonym_{kind}")), Seeds(0, f"spoken/synonym_{kind}", 1)
    made = []
    for text in texts:
        change = operator.change(Text(text), seeds.stream(text, 0))
        made.append(change and apply(text, change.edits))
    assert made == MADE[kind]
