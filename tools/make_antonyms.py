"""Makes `vary/meaning/data/antonyms.txt`: English words with their opposites, from WordNet's direct antonyms.

Inflected forms get the same form of the opposite. Run it with:
`pip install lemminflect wordfreq`, `apt-get install wordnet-base`, then `python tools/make_antonyms.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from lemminflect import getInflection
from wordfreq import zipf_frequency

OUT = Path(__file__).parents[1] / "src/unswayed/vary/meaning/data/antonyms.txt"
WORDNET = Path("/usr/share/wordnet")
RAREST = 3.0  # Zipf frequency that both words must have
MOST = 3  # opposites of a word
FORMS = {"noun": ("NNS",), "verb": ("VBZ", "VBD", "VBG", "VBN"), "adj": ("JJR", "JJS"), "adv": ("RBR", "RBS")}


def synsets(kind: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Each synset of a part of speech: its place in the file, its words, and its pointers."""
    for line in (WORDNET / f"data.{kind}").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue
        cells = line.split(" | ")[0].split()
        size = int(cells[3], 16)
        words = [word.split("(")[0] for word in cells[4 : 4 + 2 * size : 2]]
        at = 4 + 2 * size
        yield cells[0], words, [cells[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(cells[at]))]


def antonyms(kind: str) -> Iterator[tuple[str, str]]:
    """Pairs of opposite words."""
    known = {place: words for place, words, _ in synsets(kind)}
    for _, words, pointers in synsets(kind):
        for symbol, place, _, ends in pointers:
            if symbol == "!" and place in known:
                yield words[int(ends[:2], 16) - 1], known[place][int(ends[2:], 16) - 1]


def fit(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower() and zipf_frequency(word, "en") >= RAREST


def main() -> None:
    opposites: dict[str, dict[str, float]] = defaultdict(dict)

    def add(word: str, other: str) -> None:
        if word != other and fit(word) and fit(other):
            opposites[word][other] = zipf_frequency(other, "en")

    for kind, forms in FORMS.items():
        for word, other in antonyms(kind):
            if not (fit(word) and fit(other)):
                continue
            add(word, other)
            for form in forms:
                for one, two in zip(getInflection(word, form)[:1], getInflection(other, form)[:1], strict=False):
                    add(one, two)
    notice = [line[4:].strip() for line in (WORDNET / "data.adv").read_text().splitlines() if line.startswith("  ")]
    lines = ["# Made by tools/make_antonyms.py from WordNet 3.0, whose licence asks for this notice:"]
    lines += [f"# {line}".rstrip() for line in notice]
    for word, others in sorted(opposites.items()):
        lines.append(f"{word} {' '.join(sorted(others, key=lambda other: (-others[other], other))[:MOST])}")
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
