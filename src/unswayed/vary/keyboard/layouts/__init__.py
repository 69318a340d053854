"""Keyboard layouts of the world: all by name, and the one that writers of a language are likely to have.

The table comes from CLDR, under the licence beside it; `tools/make_layouts.py` makes it.
"""

from __future__ import annotations

import json
import lzma
import tomllib
from functools import lru_cache
from importlib.resources import files

from unswayed.base.errors import UnknownName
from unswayed.vary.keyboard.layouts.layout import Layout, Near, Run, Stroke

__all__ = ["LANGUAGES", "Layout", "Near", "Run", "Stroke", "languages_of", "layout", "layout_for", "names"]

_HERE = files("unswayed.vary.keyboard.layouts")
_CHOSEN = tomllib.loads((_HERE / "languages.toml").read_text("utf-8"))
_OWN = _CHOSEN["own"].split()
_DEFAULTS = {tag: name for name, tags in _CHOSEN["layouts"].items() for tag in tags.split()}
_ALIASES = _CHOSEN["names"]
LANGUAGES = tuple(dict.fromkeys(["en", *_OWN, *(tag for tag in _DEFAULTS if "-" not in tag), "uz-Cyrl"]))


@lru_cache(1)
def _lines() -> dict[str, str]:
    lines = lzma.decompress((_HERE / "table.jsonl.xz").read_bytes()).decode().splitlines()
    return {line[9 : line.index('"', 9)]: line for line in lines}


def names() -> list[str]:
    """All layouts, by name."""
    return sorted(_lines())


def languages_of(name: str) -> list[str]:
    """The languages whose writers are taken to have this layout."""
    return [language for language in LANGUAGES if layout_for(language).name == name]


@lru_cache(64)
def layout(name: str) -> Layout:
    """The layout of this name, such as `de`, `fr-CH` or `en-dvorak`."""
    known = _lines()
    line = known.get(_ALIASES.get(name, name))
    if line is None:
        raise UnknownName("keyboard layout", name, [*known, *_ALIASES], "unswayed list layouts")
    return Layout(**json.loads(line))


@lru_cache(256)
def layout_for(language: str) -> Layout:
    """The layout that writers of a language are likely to have: `de-CH` has one of its own, `de-LU` has that of `de`."""
    parts = language.split("-")
    for n in range(len(parts), 0, -1):
        tag = "-".join(parts[:n])
        if tag in _DEFAULTS or tag in _lines():
            return layout(_DEFAULTS.get(tag, tag))
    raise UnknownName("language with a keyboard layout", language, LANGUAGES)
