"""Makes `vary/speech/data/english_pairs.txt.xz`: which English words follow each other more often than by chance.

Takes counts of pairs of words from symspellpy's bigram dictionary (MIT licence; from Google Books Ngrams, CC BY 3.0)
and of words from its frequency dictionary, for the words of `spoken/speako`. Run it with `pip install symspellpy==6.10.1`,
then `python tools/make_word_pairs.py`; the same version gives the same bytes.
"""

from __future__ import annotations

import lzma
from collections import defaultdict
from importlib.resources import files
from math import log2
from pathlib import Path

from unswayed.vary.spoken._speako import ears

OUT = Path(__file__).parents[1] / "src/unswayed/vary/speech/data/english_pairs.txt.xz"
LEAST = -1.0  # bits of surprise that a pair must save to be worth its place; less than none is written as none
MOST = 15  # bits, written as one hexadecimal digit
ALL = 18e12  # pairs in the books, listed or not
SEEN = 10_000_000  # pairs seen less often than this are left out
COMMONEST = 20_000  # words, by rank, that are paired


def counts(name: str) -> list[list[str]]:
    return [line.split() for line in files("symspellpy").joinpath(name).read_text("utf-8-sig").splitlines()]


def main() -> None:
    ranks = {
        spelling: rank for rank, spelling in enumerate(word.spelling for word in ears().spoken()) if rank < COMMONEST
    }
    words = {word: int(n) for word, n in counts("frequency_dictionary_en_82_765.txt")}
    pairs = [(a, b, int(n)) for a, b, n in counts("frequency_bigramdictionary_en_243_342.txt")]
    total = sum(words.values())
    known = words.keys() & ranks.keys()
    followers: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for first, second, n in pairs:
        if n < SEEN or not {first, second} <= known:
            continue
        bits = log2(n / ALL) - log2(words[first] / total) - log2(words[second] / total)
        if bits >= LEAST:
            followers[ranks[first]].append((ranks[second], min(MOST, max(0, round(bits)))))
    lines = []
    for first in range(COMMONEST):
        at, row = 0, []
        for second, bits in sorted(followers[first]):
            row.append(f"{bits:x}{second - at:x}")
            at = second
        lines.append(" ".join(row))
    made = lzma.compress("\n".join(lines).encode(), preset=9)
    OUT.write_bytes(made)
    print(f"{OUT.name}: {len(made):,} bytes; {sum(map(len, followers.values())):,} pairs")


if __name__ == "__main__":
    main()
