"""Makes `src/unswayed/papers/readin/data/characters.txt.xz`: the pinyin, zhuyin, wubi and strokes of Chinese characters.

Needs pypinyin 0.55.0 and pywubi 0.3.0 from PyPI, and the unpacked npm package cnchar-order 3.2.6, all under the MIT
licence:  npm pack cnchar-order@3.2.6 && tar xzf cnchar-order-3.2.6.tgz && python tools/make_characters.py package
A line is a character, its pinyin with the tone's number, its zhuyin, its 86 wubi code and a letter a stroke; what is
not known is empty. The commonest characters by jieba's list come first.
"""

from __future__ import annotations

import lzma
import re
import sys
from pathlib import Path

from pypinyin import Style, pinyin
from pywubi import wubi

from unswayed.vary.chinese import lexicon

TO = Path(__file__).parents[1] / "src/unswayed/papers/readin/data/characters.txt.xz"
BLOCK = [chr(code) for code in (0x3007, *range(0x4E00, 0xA000))]


def main() -> None:
    script = (Path(sys.argv[1]) / "cnchar.order.min.js").read_text("utf-8")
    strokes = dict(re.findall(r'"?([\u3007\u4e00-\u9fff])"?:"([a-z]+)"', script))
    frequency = lexicon().frequency
    lines = []
    for character in sorted(BLOCK, key=lambda c: (-frequency.get(c, -99.0), c)):
        tone, zhuyin = _sound(character, Style.TONE3), _sound(character, Style.BOPOMOFO)
        (code,) = wubi(character)
        row = [tone, zhuyin, code if code.isascii() else "", strokes.get(character, "")]
        if any(row):
            lines.append("\t".join([character, *row]))
    TO.parent.mkdir(exist_ok=True)
    TO.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(lines)} characters, {TO.stat().st_size} bytes")


def _sound(character: str, style: Style) -> str:
    ((found,),) = pinyin(character, style=style, neutral_tone_with_five=True)
    return "" if character in found else found.replace("ü", "v")


if __name__ == "__main__":
    main()
