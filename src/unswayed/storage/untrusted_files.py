"""Files that others may have sent or published, opened so that nothing in them acts, and what is known to be sound.

Only regular files are opened, small ones are read up to a bound, and a file with a known hash is read through the same
handle that was hashed. What this user verified before is noted, signed with the user's secret.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b, file_digest
from importlib.util import find_spec
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.base.ids import decode, file_hash

T = TypeVar("T")
MOST_BYTES = 256 << 20  # of a file that is read whole
MOST_LINE = 256 << 20
_MOST_LINES = 2 << 30  # bytes of a file of JSON lines that is held in memory
_SETTLED = 2.0  # seconds after its last change from which on a file's times tell a later change

_Stamp = tuple[int, ...]
_hashes: dict[_Stamp, str] = {}
_written: set[_Stamp] = set()  # by this process, which knows what is in them


def open_regular(path: Path) -> BufferedReader:
    """The open file. A device, a pipe or a folder raises StoredFileError at once; a missing file, OSError."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)  # a pipe without a writer would hang without O_NONBLOCK
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StoredFileError(f"{path}: this is not a regular file. Replace it with one.")
    return open(handle, "rb")


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """What a file holds; StoredFileError where that is more than `most` bytes."""
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise StoredFileError(f"{path}: the file is larger than {most >> 20} MB, which no sound one is.")
    return content


def bounded_lines(file: BinaryIO, path: Path, most: int = MOST_LINE) -> Iterator[bytes]:
    """Each line with its line break; StoredFileError where one has more than `most` bytes."""
    for number in count(1):
        line = file.readline(most + 1)
        if not line:
            return
        if len(line) > most:
            raise StoredFileError(f"{path}: line {number} is longer than {most >> 20} MB. Is this a file of text?")
        yield line


def read_json_lines(path: Path, type: type[T]) -> Iterator[tuple[int, T]]:
    """Each line's number and its value of this type; empty lines are skipped, and a bad one is named."""
    try:
        lines = read_bounded(path, _MOST_LINES).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{path}: "), path) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield number, decode(line, type)
            except msgspec.MsgspecError as error:
                raise DataError(f"this is not a JSON object of the right form: {error}.", path, number) from error


@contextmanager
def open_hashed(path: Path, expected: str) -> Iterator[BinaryIO]:
    """The open file, after checking its SHA-256. It raises too if the file changes while the block reads it.

    A file is hashed once per process, and again after it changed.
    """
    try:
        file = open_regular(path)
    except OSError as error:
        raise StoredFileError(f"{path}: the file is missing or can't be read ({error.strerror}).") from error
    with file:
        before = _stamp(os.fstat(file.fileno()))
        found = _hashes.get(before) or file_digest(file, "sha256").hexdigest()
        if time.time() - max(before[-2:]) / 1e9 > _SETTLED:  # two changes within one tick of the clock look the same
            _hashes[before] = found
        if found != expected:
            raise StoredFileError(f"{path}: the file changed after its manifest was written. Make it again.")
        file.seek(0)
        yield file
        if _stamp(os.fstat(file.fileno())) != before:
            raise StoredFileError(f"{path}: the file changed while it was read. Run the command again.")


def remember_hash(path: Path, sha256: str) -> None:
    """Notes the hash of a file that this process wrote, so that it is not read for it again."""
    with suppress(OSError):
        stamp = _stamp(os.stat(path))
        _hashes[stamp] = sha256
        _written.add(stamp)


def is_as_written(path: Path, sha256: str) -> bool:
    """Is a file as this process wrote it, with that hash? Others are to be opened and hashed."""
    with suppress(OSError):
        stamp = _stamp(os.stat(path))
        return stamp in _written and _hashes.get(stamp) == sha256
    return False


def is_own(file: BinaryIO) -> bool:
    """Did this process write the open file?"""
    return _stamp(os.fstat(file.fileno())) in _written


def _stamp(there: os.stat_result) -> _Stamp:
    return there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns


def state_folder() -> Path:
    """Where unswayed keeps what is this user's own on this machine; RuntimeError if the user has no home."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "unswayed"


@lru_cache
def own_key() -> bytes | None:
    """A secret of this user on this machine, made on first use; None where it can't be kept.

    What is signed with it was made here, which somebody else's file can't pretend to be.
    """
    with suppress(OSError, RuntimeError):
        file = state_folder() / "key"
        if not file.exists():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
                new.write(os.urandom(32))
        key = file.read_bytes()
        return key if len(key) == 32 else None
    return None


_MOST_BYTES = 1 << 18  # of notes, which are some 8,000; then they begin anew


def is_noted(fact: bytes) -> bool:
    """Was this found to be true before, by this user on this machine?"""
    note = _note(fact)
    return note is not None and note in _notes()


def note_down(fact: bytes) -> None:
    """Notes what was found to be true."""
    note = _note(fact)
    if note is None or note in (known := _notes()):
        return
    full = (len(known) + 1) * (len(note) + 1) > _MOST_BYTES
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if full else os.O_APPEND)
    with suppress(OSError, RuntimeError), open(os.open(_file(), flags, 0o600), "ab") as file:
        file.write(note + b"\n")


def _note(fact: bytes) -> bytes | None:
    key = own_key()
    if key is None:
        return None
    return blake2b(fact, digest_size=16, key=key, person=b"verified").hexdigest().encode()


def _notes() -> set[bytes]:
    with suppress(OSError, RuntimeError, StoredFileError):
        return set(read_bounded(_file(), 2 * _MOST_BYTES).split(b"\n"))
    return set()


def _file() -> Path:
    return state_folder() / "verified"


def packaged_folder(
    package: str, inside: str, hashes: Mapping[str, str], missing: str, whose: str = "the published"
) -> Path:
    """The folder `inside` an installed package, once its files have these SHA-256 hashes. `missing` says what to do
    where the package is not installed."""
    spec = find_spec(package.replace("-", "_"))  # finds a top-level package without running it
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise UsageError(missing)
    folder = Path(places[0]) / inside
    for name, expected in hashes.items():
        if not (folder / name).is_file() or file_hash(folder / name) != expected:
            raise StoredFileError(f"{folder / name}: this is not {whose} file, so it is not used.")
    return folder


OLD_NAME = "unfazed"  # of the unreleased first editions; errors say what their files are


def refuse_old_edition(file: Path, content: bytes, remake: str) -> None:
    """Raises if an edition under the old name wrote this manifest; `remake` is the command that makes it anew."""
    if f'"{OLD_NAME}":'.encode() in content[:100_000].replace(b" ", b""):
        raise StoredFileError(
            f"{file}: an unreleased edition of this package, which was called {OLD_NAME}, made this folder. This "
            f"edition can't read it. Make it again with `{remake}`, in another folder."
        )
