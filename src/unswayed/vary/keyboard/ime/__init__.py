"""Pinyin input methods behind one contract, `candidates(keys, n)`: the words that an engine offers for the keys typed.

Each engine is a file here. Learning is off, so the same keys always give the same list. An engine is opened once in each
process, in a temporary user folder of its own that is removed at exit.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import as_file, files
from os.path import commonprefix
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.ids import file_hash
from unswayed.storage.files import write_atomically
from unswayed.vary.chinese import sounds


class Install(NamedTuple):
    """What an engine needs on the machine: Debian packages, and the files by which they are known to be there."""

    packages: str = ""
    files: tuple[str, ...] = ()


ENGINES = {
    "embedded": Install(),
    "google": Install("libgooglepinyin0", ("lib/*/libgooglepinyin.so.0", "lib/*/googlepinyin/data/dict_pinyin.dat")),
    "libime": Install(
        "g++ libboost-dev libfcitx5utils-dev libime-data libime-data-language-model libimecore-dev libimepinyin-dev",
        ("bin/g++", "include/LibIME", "include/Fcitx5/Utils", "share/libime/sc.dict", "lib/*/libime/zh_CN.lm"),
    ),
    "libpinyin": Install("libpinyin15 libpinyin-data", ("lib/*/libpinyin.so.15", "lib/*/libpinyin/data/table.conf")),
    "rime": Install(
        "librime1 rime-data-luna-pinyin rime-data-pinyin-simp",
        ("lib/*/librime.so.1", "share/rime-data/pinyin_simp.schema.yaml", "share/rime-data/luna_pinyin.schema.yaml"),
    ),
    "sunpinyin": Install(
        "g++ libsunpinyin-dev sunpinyin-data", ("bin/g++", "include/sunpinyin-2.0", "lib/*/sunpinyin/data/lm_sc.t3g")
    ),
}
_ROOT = Path("/usr")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
MOST_KNOWN = 50_000  # keys whose offers are kept
_FEW = 3  # offers asked for where the first is wanted: some engines leave out what they can't spell
UNRANKED = 8  # about a page of candidates; what is not on it is typed another way
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
            found = self._look_up(keys, n) if n > 0 and typable(keys) else []
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[keys, n] = found
        return found

    def first(self, keys: str) -> Candidate | None:
        """The first offer for these keys, if there is one."""
        return next(iter(self.candidates(keys, _FEW)), None)

    def rank(self, word: str, syllables: tuple[str, ...]) -> int:
        """The place of a word in the list for its keys typed out, from 0; UNRANKED where it is not near the top."""
        for i, candidate in enumerate(self.candidates("".join(syllables), UNRANKED)):
            if candidate.text == word:
                return i
        return UNRANKED

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
    return f"sudo apt-get install --no-install-recommends {ENGINES[name].packages}"


def lacking(name: str) -> str | None:
    """The first file that an engine needs and that is not on this machine."""
    return next((file for file in ENGINES[name].files if not any(_ROOT.glob(file))), None)


@lru_cache(len(ENGINES))
def engine(name: str) -> Engine:
    """The engine of that name, opened; EngineMissing where the machine lacks it."""
    if name not in ENGINES:
        raise UnknownName("input method", name, ENGINES)
    lacks = lacking(name)
    if lacks:
        raise EngineMissing(name, f"there is no {_ROOT}/{lacks}")
    package = "unswayed.vary.keyboard.ime" if name == "embedded" else "unswayed.lab.ime"
    module = importlib.import_module(f"{package}.{name}")
    opened: Engine = module.open_engine()
    return opened


_SHIMS = files("unswayed.lab.ime") / "shims"


def load(name: str, library: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(library)
    except OSError as error:
        raise EngineMissing(name, str(error)) from error


def data_file(pattern: str) -> Path:
    """A data file of an engine; Debian puts some in a folder named after the machine's architecture."""
    return min(Path("/usr").glob(pattern))


def user_folder(name: str) -> Path:
    """A fresh folder for what an engine insists on writing, removed at exit."""
    place = tempfile.mkdtemp(prefix=f"unswayed-{name}-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


def shim(name: str, flags: list[str]) -> ctypes.CDLL:
    """The engine's C++ shim, compiled into the user's cache the first time and found there afterwards.

    What is found is loaded only if nobody else could have written it and it is what the compiler wrote; otherwise it is
    compiled again.
    """
    source = _SHIMS / f"{name}.cpp"
    mark = blake2b(source.read_bytes() + " ".join([*flags, _compiler(name)]).encode(), digest_size=8).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unswayed" / "ime"
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        cache.chmod(0o700)  # not where it is somebody else's
    if not _only_ours(cache):
        cache = user_folder("ime")  # for this process alone
    built = cache / f"{name}-{mark}.so"
    if not _is_whole(built):
        with as_file(source) as file:
            _compile(name, file, built, flags)
    return load(name, str(built))


def _compiler(name: str) -> str:
    """The compiler's version, so that another one compiles again."""
    try:
        return subprocess.run(["g++", "--version"], check=True, capture_output=True, text=True).stdout  # noqa: S607
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineMissing(name, "there is no g++") from error


def _only_ours(path: Path) -> bool:
    """Can nobody but this user, and root, write there? Links are not followed."""
    try:
        there = path.lstat()
    except OSError:
        return False
    links = stat.S_ISLNK(there.st_mode)
    return not links and there.st_uid in (os.getuid(), 0) and not there.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_whole(built: Path) -> bool:
    """Is this what the compiler wrote? Its hash stands beside it."""
    written = built.with_suffix(".sha256")
    try:
        return _only_ours(built) and _only_ours(written) and written.read_text().strip() == file_hash(built)
    except (OSError, UnicodeDecodeError):
        return False


def _compile(name: str, source: Path, built: Path, flags: list[str]) -> None:
    """Writes beside the place and moves it there, so that two processes may compile at once."""
    partial = built.with_suffix(f".{token_hex(8)}.partial")
    command = ["g++", "-O2", "-std=c++17", "-shared", "-fPIC", str(source), "-o", str(partial), *flags]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        partial.chmod(0o700)
        write_atomically(built.with_suffix(".sha256"), file_hash(partial).encode())
        built.with_suffix(".sha256").chmod(0o600)
        os.replace(partial, built)
    except FileNotFoundError as error:
        raise EngineMissing(name, "there is no g++") from error
    except subprocess.CalledProcessError as error:
        raise EngineMissing(name, f"its shim does not compile: {error.stderr.strip().splitlines()[0]}") from error
    finally:
        partial.unlink(missing_ok=True)


@lru_cache(100_000)
def used_keys(keys: str, text: str) -> int:
    """The keys that these characters take up, each as much of its reading as was typed, and one at least."""
    at = 0
    for c in text:
        if keys[at : at + 1] == "'":
            at += 1
        at += max([len(commonprefix((keys[at : at + 6], sound))) for sound in sounds(c)], default=0) or 1
    return min(at, len(keys))
