"""What engines share: loading a library with a clear error, a temporary user folder, compiled shims, and used keys."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from hashlib import blake2b
from os.path import commonprefix
from pathlib import Path

from unfazed.vary.chinese import sounds
from unfazed.vary.keyboard.ime import EngineMissing

_SHIMS = Path(__file__).parent / "shims"


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
    place = tempfile.mkdtemp(prefix=f"unfazed-{name}-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


def shim(name: str, flags: list[str]) -> ctypes.CDLL:
    """The engine's C++ shim, compiled into the user's cache the first time and found there afterwards."""
    source = _SHIMS / f"{name}.cpp"
    mark = blake2b(source.read_bytes() + " ".join(flags).encode(), digest_size=8).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unfazed" / "ime"
    built = cache / f"{name}-{mark}.so"
    if not built.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _compile(name, source, built, flags)
    return load(name, str(built))


def _compile(name: str, source: Path, built: Path, flags: list[str]) -> None:
    """Writes beside the place and moves it there, so that two processes may compile at once."""
    partial = built.with_suffix(f".{os.getpid()}.partial")
    command = ["g++", "-O2", "-std=c++17", "-shared", "-fPIC", str(source), "-o", str(partial), *flags]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
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
