"""Input methods of others, behind the contract of `vary/keyboard/ime`: oracles for the built-in one.

Here is what they share: C libraries are loaded, C++ shims are compiled, and what an engine insists on writing goes to a
temporary folder of its own, which is removed at exit.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import as_file, files
from os.path import commonprefix
from pathlib import Path
from secrets import token_hex
from typing import Any

from unswayed.base.ids import file_hash
from unswayed.storage.files import write_atomically
from unswayed.vary.chinese import sounds
from unswayed.vary.keyboard.ime import Candidate, EngineMissing

Signatures = Mapping[str, tuple[Any, Sequence[Any]]]  # of C functions: what each returns, and its arguments
_SHIMS = files("unswayed.lab.ime") / "shims"


def load_library(name: str, library: str, functions: Signatures | None = None) -> ctypes.CDLL:
    """A C library by its file's name, with these functions declared; EngineMissing where it can't be loaded."""
    try:
        loaded = ctypes.CDLL(library)
    except OSError as error:
        raise EngineMissing(name, str(error)) from error
    for function, (result, arguments) in (functions or {}).items():
        getattr(loaded, function).restype, getattr(loaded, function).argtypes = result, arguments
    return loaded


def find_data_file(pattern: str) -> Path:
    """A data file of an engine; Debian puts some in a folder named after the machine's architecture."""
    return min(Path("/usr").glob(pattern))


def make_user_folder(name: str) -> Path:
    """A fresh folder for what an engine insists on writing, removed at exit."""
    place = tempfile.mkdtemp(prefix=f"unswayed-{name}-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


def load_shim(name: str, flags: list[str], functions: Signatures | None = None) -> ctypes.CDLL:
    """The engine's C++ shim, compiled into the user's cache the first time and found there afterwards.

    What is found is loaded only if nobody else could have written it and it is what the compiler wrote; otherwise it is
    compiled again. So it is by another version of the compiler.
    """
    source = _SHIMS / f"{name}.cpp"
    try:
        version = subprocess.run(["g++", "--version"], check=True, capture_output=True, text=True).stdout  # noqa: S607
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineMissing(name, "there is no g++") from error
    mark = blake2b(source.read_bytes() + " ".join([*flags, version]).encode(), digest_size=8).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unswayed" / "ime"
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        cache.chmod(0o700)  # not where it is somebody else's
    if not _is_private(cache):
        cache = make_user_folder("ime")  # for this process alone
    built = cache / f"{name}-{mark}.so"
    written = built.with_suffix(".sha256")
    try:
        whole = _is_private(built) and _is_private(written) and written.read_text().strip() == file_hash(built)
    except (OSError, UnicodeDecodeError):
        whole = False
    if not whole:
        with as_file(source) as file:
            compile_shim(name, file, built, flags)
    return load_library(name, str(built), functions)


def _is_private(path: Path) -> bool:
    """Can nobody but this user, and root, write there? Links are not followed."""
    try:
        there = path.lstat()
    except OSError:
        return False
    links = stat.S_ISLNK(there.st_mode)
    return not links and there.st_uid in (os.getuid(), 0) and not there.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def compile_shim(name: str, source: Path, built: Path, flags: list[str]) -> None:
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
def count_used_keys(keys: str, text: str) -> int:
    """The keys that these characters take up, each as much of its reading as was typed, and one at least."""
    at = 0
    for c in text:
        if keys[at : at + 1] == "'":
            at += 1
        at += max([len(commonprefix((keys[at : at + 6], sound))) for sound in sounds(c)], default=0) or 1
    return min(at, len(keys))


def as_candidates(keys: str, texts: Iterable[str]) -> list[Candidate]:
    """Offers of an engine that does not say how many keys each takes up."""
    return [Candidate(text, count_used_keys(keys, text)) for text in texts if text]
