"""Pinyin input methods behind one contract, `candidates(keys, n)`: what one would offer for the keys typed.

Each engine is a file here. Learning is off, so the same keys always give the same list. An engine is opened once a
process, in a temporary user folder of its own that is removed at exit.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import NamedTuple

from unfazed.core.errors import UnknownName, UsageError

# Name → the Debian packages that bring it.
ENGINES = {
    "embedded": "",
    "google": "libgooglepinyin0",
    "libime": "libimepinyin-dev libimecore-dev libfcitx5utils-dev libboost-dev libime-data libime-data-language-model g++",
    "libpinyin": "libpinyin15 libpinyin-data",
    "rime": "librime1 rime-data-luna-pinyin rime-data-pinyin-simp",
    "sunpinyin": "libsunpinyin-dev sunpinyin-data g++",
}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
LONGEST = 60  # keys typed before a choice; engines have buffers of their own, and nobody types on and on


class Candidate(NamedTuple):
    """What an engine offers: the text, and how many of the keys it stands for."""

    text: str
    used: int


class Engine:
    """Extend with `_look_up`; the guard for odd keys and the memory of what was asked are here."""

    name: str

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], list[Candidate]] = {}

    def candidates(self, keys: str, n: int = 10) -> list[Candidate]:
        """At most `n` offers for these keys, best first. Keys are a to z and the apostrophe; others give none."""
        found = self._known.get((keys, n))
        if found is None:
            found = self._look_up(keys, n) if 0 < n and typable(keys) else []
            if len(self._known) > 200_000:
                self._known.clear()
            self._known[keys, n] = found
        return found

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        raise NotImplementedError


class EngineMissing(UsageError):
    """Shows the line that installs the engine."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"The input method {name} can't be used here ({why}). Install it with:  {install_line(name)}")


def typable(keys: str) -> bool:
    """Can these keys be handed to an engine? Letters, and apostrophes only between letters."""
    return (
        len(keys) <= LONGEST
        and keys[:1] in _LETTERS
        and keys[-1:] in _LETTERS
        and "''" not in keys
        and _LETTERS.issuperset(keys.replace("'", ""))
    )


def install_line(name: str) -> str:
    return f"sudo apt-get install --no-install-recommends {ENGINES[name]}"


@lru_cache(len(ENGINES))
def engine(name: str) -> Engine:
    """The engine of that name, opened; EngineMissing where the machine lacks it."""
    if name not in ENGINES:
        raise UnknownName("input method", name, ENGINES)
    module = importlib.import_module(f"unfazed.vary.keyboard.ime.{name}")
    opened: Engine = module.open_engine()
    return opened
