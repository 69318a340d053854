"""Pinyin input methods behind one contract, `candidates(keys, n)`: the words that an engine offers for the keys typed.

The built-in engine is a file here; the input methods of others, its oracles, are files in `lab/ime`. Learning is off, so
the same keys always give the same list. An engine is opened once in each process.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.registry import Registry

_ROOT = Path("/usr")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
MAX_CACHED_KEYS = 50_000  # keys whose offers are remembered
_FIRST_OFFERS = 3  # offers asked for where the first is wanted: some engines leave out what they can't spell
UNRANKED = 8  # about a page of candidates; what is not on it is typed another way
MAX_KEYS = 60  # keys typed before a choice; engines have buffers of their own, and nobody types on and on


class Candidate(NamedTuple):
    """What an engine offers: the text, and how many of the keys it stands for."""

    text: str
    used: int


class PinyinEngine:
    """Extend with `_look_up`; the guard for odd keys and the memory of what was asked are here.

    `packages` are the Debian packages that the engine needs, `files` the files below /usr by which they are known to be
    there.
    """

    name: ClassVar[str]
    packages: ClassVar[str] = ""
    files: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self._offers = lru_cache(MAX_CACHED_KEYS)(lambda keys, n: self._look_up(keys, n) if is_typable(keys) else [])

    @classmethod
    def open(cls) -> Self:
        """The engine with its lists read; EngineMissing where that fails."""
        return cls()

    def candidates(self, keys: str, n: int = 10) -> list[Candidate]:
        """At most `n` offers for these keys, best first. Keys are a to z and the apostrophe; others give none."""
        return self._offers(keys, n) if n > 0 else []

    def first(self, keys: str) -> Candidate | None:
        """The first offer for these keys, if there is one."""
        return next(iter(self.candidates(keys, _FIRST_OFFERS)), None)

    def rank(self, word: str, syllables: tuple[str, ...]) -> int:
        """The place of a word in the list for its keys typed out, from 0; UNRANKED where it is not near the top."""
        offers = self.candidates("".join(syllables), UNRANKED)
        return next((i for i, offer in enumerate(offers) if offer.text == word), UNRANKED)

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        raise NotImplementedError


engines: Registry[PinyinEngine] = Registry("engine", PinyinEngine, __name__, more=("unswayed.lab.ime",))


class EngineMissing(UsageError):
    """Shows the line that installs the engine."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"The input method {name} can't be used here ({why}). Install it with:  {install_line(name)}")


def is_typable(keys: str) -> bool:
    """Can these keys be handed to an engine? Letters, and apostrophes only between letters."""
    return (
        len(keys) <= MAX_KEYS
        and keys[:1] in _LETTERS
        and keys[-1:] in _LETTERS
        and "''" not in keys
        and _LETTERS.issuperset(keys.replace("'", ""))
    )


def install_line(name: str) -> str:
    """The command that installs what an engine needs."""
    return f"sudo apt-get install --no-install-recommends {engines.get(name).packages}"


def missing_file(name: str) -> str | None:
    """The first file that an engine needs and that is not on this machine."""
    return next((file for file in engines.get(name).files if not any(_ROOT.glob(file))), None)


@lru_cache(16)
def open_engine(name: str) -> PinyinEngine:
    """The engine of that name, opened; EngineMissing where the machine lacks it."""
    if name not in engines:
        raise UnknownName("input method", name, engines.names())
    absent = missing_file(name)
    if absent:
        raise EngineMissing(name, f"there is no {_ROOT}/{absent}")
    return engines.get(name).open()
