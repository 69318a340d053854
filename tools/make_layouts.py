"""Makes `vary/keyboard/layouts/table.jsonl.xz`: keyboard layouts of the world, from CLDR's files and `tools/layouts.toml`.

A layout is its keys by ISO position, each with what it writes plain, with shift, with AltGr and with both, and its dead
keys. Windows' layouts come first, ChromeOS's and macOS's add those that Windows lacks; phones' have no key positions.
Run it with: `python tools/make_layouts.py ../shared/data/cldr_keyboards/keyboards-release-42.tar.gz`.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
import tarfile
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

HERE = Path(__file__).parent
DATA = HERE.parent / "src/unswayed/vary/keyboard/layouts"
PLATFORMS = ("windows", "chromeos", "osx")
LEVELS = ({frozenset()}, {frozenset({"shift"})})
ALTGR = {frozenset({"altR"}), frozenset({"opt"}), frozenset({"ctrl", "alt"})}
LEVELS += (ALTGR, {mods | {"shift"} for mods in ALTGR})
ROWS = {"E": 0, "D": 1, "C": 1, "B": 1}  # the first column of each row's string in layouts.toml


def unescaped(written: str) -> str:
    return re.sub(r"\\u\{([0-9A-Fa-f]+)\}", lambda m: chr(int(m[1], 16)), written)


def level_of(modifiers: str) -> int | None:
    """Which of the four levels a key map describes, if any: what is marked `?` may be held or not."""
    for held in modifiers.split() or [""]:
        must = frozenset(re.sub(r"^(shift|opt)[LR]$", r"\1", m) for m in held.split("+") if m and not m.endswith("?"))
        for level, wanted in enumerate(LEVELS):
            if must in wanted:
                return level
    return None


def printable(text: str) -> bool:
    return bool(text) and not any(unicodedata.category(c) in ("Cc", "Cn", "Co") for c in text)


def read(xml: str) -> dict[str, Any]:
    root = ElementTree.fromstring(xml)
    keys: dict[str, list[str]] = {}
    for table in root.iter("keyMap"):
        level = level_of(table.get("modifiers", ""))
        if level is None:
            continue
        for key in table.iter("map"):
            written = unescaped(key.get("to", ""))
            at = keys.setdefault(key.get("iso", ""), ["", "", "", ""])
            if printable(written) and not at[level] and key.get("iso", "")[0] in "EDCBA":
                at[level] = written
    dead = {}
    for transform in root.iter("transform"):
        before, after = unescaped(transform.get("from", "")), unescaped(transform.get("to", ""))
        if printable(before) and printable(after):
            dead[before] = after
    title = next((name.get("value", "") for name in root.iter("name")), "")
    return {"title": title, "keys": {k: trimmed(v) for k, v in sorted(keys.items()) if any(v)}, "dead": dead}


def trimmed(levels: list[str]) -> list[str]:
    while levels and not levels[-1]:
        levels = levels[:-1]
    return levels


def from_cldr(archive: Path) -> Iterator[dict[str, Any]]:
    with tarfile.open(archive) as files:
        found = sorted(member.name for member in files if "-t-k0-" in member.name)
        for platform in PLATFORMS:
            for name in found:
                if f"/{platform}/" in name:
                    file = files.extractfile(name)
                    assert file is not None
                    locale, variant = Path(name).stem.split("-t-k0-")
                    own = variant.removeprefix(platform).removeprefix("-")
                    yield {
                        "name": f"{locale}-{own}" if own else locale,
                        "source": f"CLDR {platform}",
                        **read(file.read().decode("utf-8")),
                    }


def ours(known: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Layouts that CLDR lacks: rows of keys over a layout that is there."""
    for name, layout in tomllib.loads((HERE / "layouts.toml").read_text("utf-8")).items():
        base = known[layout["over"]]
        keys = {key: list(levels) for key, levels in base["keys"].items()}
        for level, rows in enumerate((layout.get("plain", {}), layout.get("shift", {}))):
            for row, written in rows.items():
                for column, char in enumerate(written.split(), ROWS[row]):
                    at = keys.setdefault(f"{row}{column:02}", [])
                    at += [""] * (level + 1 - len(at))
                    at[level] = "" if char == "∅" else char
        dead = telex() if layout.get("input") == "telex" else base["dead"] | layout.get("dead", {})
        yield {
            "name": name,
            "source": layout["source"],
            "title": layout["title"],
            "keys": dict(sorted(keys.items())),
            "dead": dead,
            **({"input": layout["input"]} if layout.get("input") in ("hangul", "romaji", "kana") else {}),
        }


def telex() -> dict[str, str]:
    """Vietnamese letters by the keys that write them: a letter, its shape doubled or with w, then the tone."""
    tones = {"s": "\u0301", "f": "\u0300", "r": "\u0309", "x": "\u0303", "j": "\u0323"}
    letters = {c: c for c in "aeiouy"} | {"aa": "â", "aw": "ă", "ee": "ê", "oo": "ô", "ow": "ơ", "uw": "ư"}
    keys = {"dd": "đ"} | {typed: letter for typed, letter in letters.items() if typed != letter}
    keys |= {t + key: unicodedata.normalize("NFC", c + tone) for t, c in letters.items() for key, tone in tones.items()}
    return keys | {t[0].upper() + t[1:]: c.upper() for t, c in keys.items()}


def main() -> None:
    archive = Path(sys.argv[1])
    made: dict[str, dict[str, Any]] = {}
    for layout in from_cldr(archive):
        made.setdefault(layout["name"], layout)
    for layout in ours(made):
        made[layout["name"]] = layout
    lines = [json.dumps(made[name], ensure_ascii=False, separators=(",", ":")) for name in sorted(made)]
    packed = lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    (DATA / "table.jsonl.xz").write_bytes(packed)
    with tarfile.open(archive) as files:
        licence = files.extractfile("keyboards/LICENSE.txt")
        assert licence is not None
        (DATA / "LICENSE.txt").write_text(licence.read().decode("utf-8-sig"), "utf-8")
    print(f"{len(made)} layouts, {len(packed):,} bytes")


if __name__ == "__main__":
    main()
