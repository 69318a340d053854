"""Measures the published answers again and writes the pictures and tables of docs/findings.md.

    python tools/make_findings.py [TABLE ...] [--texts NAME=FILE ...]

It makes all tables, or those named, and needs ../shared/data. tools/peer_texts.py writes texts of other simulators.

Pictures stand alone on white, so that they can be read on pages of any colour.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from unswayed.papers.findings.study import Findings
from unswayed.report import Printed, as_markdown

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
PAGE, PICTURES = ROOT / "docs" / "findings.md", ROOT / "docs" / "pictures"
MOST_ROWS = 30  # of a table on the page; longer ones are in what the command writes
DRAWN = {  # by table: the section with the picture (the start of its title), and its file
    "sdqa": ("English", "accents"),
    "norsid": ("", "dialects"),
    "judge": ("", "judge"),
    "rocs": ("", "reddit"),
    "simulated": ("", "simulated"),
    "small": ("", "small_models"),
}


def draw(name: str, printed: Printed) -> None:
    start, file = DRAWN.get(name, ("-", ""))
    section = next((one for one in printed.sections if one.title.startswith(start) and one.pictures), None)
    if section is not None:
        svg = str(section.pictures[0].svg).replace("currentColor", "#222")
        head, _, rest = svg.partition("</desc>")
        (PICTURES / f"{file}.svg").write_text(f'{head}</desc><rect width="100%" height="100%" fill="#fff"/>{rest}\n')


def tables(name: str, printed: Printed) -> str:
    """The tables of a study's sections, without what the page says in its own words."""
    start, _ = DRAWN.get(name, ("", ""))
    shown = [one for one in printed.sections if one.title.startswith(start)]
    bare = [
        one._replace(sentences=(), pictures=(), tables=[t for t in one.tables if len(t.rows) <= MOST_ROWS])
        for one in shown
    ]
    text = as_markdown("x", [one for one in bare if one.tables]).partition("\n\n")[2]
    return re.sub(r"^## .*\n\n", "", text, flags=re.M).strip()


def main(words: list[str]) -> None:
    at = words.index("--texts") if "--texts" in words else len(words)
    study = Findings()
    with TemporaryDirectory() as to:
        made = study.run(DATA, words[:at], {"to": to, "texts": tuple(words[at + 1 :])}).tables
    page = PAGE.read_text(encoding="utf-8")
    for name, printed in made.items():
        draw(name, printed)
        mark = re.compile(rf"(?<=^<!-- {name} -->\n).*?(?=^<!-- end -->)", re.M | re.S)
        page = mark.sub(f"\n{tables(name, printed)}\n\n".replace("\\", r"\\"), page, count=1)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
