"""Writing files so that a reader sees the old one or the new one, whole; and locks.

The operating system releases a lock when its process ends, however it ends, and the lock says who holds it.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from typing import Any, BinaryIO

import msgspec

from unswayed.base.errors import InUse, StoredFileError, UsageError, option

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_HERE, _EXCHANGE = -100, 2  # renameat2's: paths from the current folder; both names change places


def as_path(path: object, argument: str) -> Path:
    """The path that an argument holds."""
    if isinstance(path, (str, os.PathLike)):
        return Path(path)
    raise UsageError(f"{option(argument)} must be a path, not {path!r:.60}.")


def write_atomically(path: Path, content: bytes) -> None:
    """Writes beside the place and moves it there; a full disk or a read-only folder leaves nothing behind."""
    with replacing(path) as write:
        write(content)


def write_inside(path: Path, content: bytes) -> None:
    """As `write_atomically`, in a folder that somebody may have sent: a link or a pipe there is replaced, not followed,
    since it could lead to any file."""
    with unwritable(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.unlink()
    write_atomically(path, content)


def write_json_lines(path: Path, values: Iterable[object]) -> None:
    """Writes each value as a line of JSON."""
    write_atomically(path, b"".join(msgspec.json.encode(value) + b"\n" for value in values))


@contextmanager
def replacing(path: Path, what: str = "the file") -> Iterator[Callable[[bytes], object]]:
    """A function that writes a file, which takes its place when the block ends and is whole. Only the writing's own
    errors are told as such. A link is followed; a device or a pipe is written to as it is."""
    with unwritable(path, what):
        path = followed(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        special = path.exists() and not path.is_file() and not path.is_dir()
        partial, file = (None, path.open("wb")) if special else _new_file(path)

    def write(content: bytes) -> None:
        try:
            file.write(content)
        except OSError as error:
            raise _unwritable(path, what, error) from error

    try:
        yield write
        with unwritable(path, what):
            file.flush()
            if partial:
                os.fsync(file.fileno())
                os.replace(partial, path)
    finally:
        with suppress(OSError):  # what could not be written can't be flushed either
            file.close()
        if partial:
            partial.unlink(missing_ok=True)


@contextmanager
def replacing_or_printing(to: str | Path) -> Iterator[Callable[[bytes], object]]:
    """The same for the value of -o, where `-` is standard output."""
    if to == "-":
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
    else:
        with replacing(Path(to)) as write:
            yield write


@contextmanager
def growing(path: Path, what: str = "the file", new: bool = False) -> Iterator[Path]:
    """The path, of an empty file, at which something else writes a file, which takes its place when the block ends.

    A `new` one never takes the place of another: where one is there by then, the error's cause is a FileExistsError.
    """
    with unwritable(path, what):
        path = followed(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial, file = _new_file(path)
        try:
            yield partial
            (os.link if new else os.replace)(partial, path)
        finally:
            file.close()
            _remove(partial)


@contextmanager
def growing_folder(path: Path, what: str, refuse: Callable[[], None]) -> Iterator[Path]:
    """A new folder to be filled, which takes the place of the one at `path`, if any, when the block ends.

    `refuse` raises where what is there may not be replaced. Raises InUse where another process fills a folder for the
    same place. What killed processes left is cleared away.
    """
    path = followed(path)
    with unwritable(path, what):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = Lock(_lock_of(path), path)
    with lock:
        refuse()
        with unwritable(path, what):
            for left in _left(path) if lock.sure else ():
                _remove(left)
            partial = _beside(path)
            partial.mkdir()
        try:
            yield partial
            refuse()
            with unwritable(path, what):
                # Where the system can, the two change places in one step, so that there is never none. What stood there
                # has the partial name then, and goes with it.
                rename: Any = None
                with suppress(AttributeError, OSError):
                    rename = ctypes.CDLL(None).renameat2 if path.exists() else None
                one, other = os.fsencode(partial), os.fsencode(path)
                if rename is None or rename(_HERE, one, _HERE, other, _EXCHANGE) != 0:
                    old = _beside(path)
                    if path.exists():
                        path.rename(old)
                    partial.rename(path)
                    shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def clear_left(path: Path) -> None:
    """Removes what killed processes left of a folder, where the one that is there is kept as it is."""
    path = followed(path)
    lock = _lock_of(path)
    if lock.exists() or _left(path):
        with suppress(OSError, InUse), Lock(lock, path) as held:
            for left in _left(path) if held.sure else ():
                _remove(left)


def clear_unfinished(path: Path) -> None:
    """Removes the files that killed processes left unfinished beside a path. Nobody holds a lock on them."""
    for left in filter(Path.is_file, _left(path)):
        with suppress(OSError), left.open("r+b") as found:
            if take(found.fileno()):
                _remove(left)


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def followed(path: Path) -> Path:
    """The path that links lead to, also where nothing is there yet."""
    return Path(os.path.realpath(path)) if path.is_symlink() or not path.name else path


def free(folder: Path) -> bool:
    """Is nothing there, or an empty folder?"""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def refuse_foreign(folder: Path, what: str, files: Collection[str]) -> None:
    """Raises where a folder holds anything but these files, so that nothing is replaced that unswayed did not write."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_dir() and not file.is_symlink():
            own = any(f.startswith(f"{name}/") for f in files)
        else:
            own = name in files and not file.is_symlink()
        if not own:
            raise UsageError(
                f"{folder} holds {what}, but also {file.relative_to(folder)}, which unswayed did not write. "
                f"Move it away, or choose another folder with {option('o', 'to')}."
            )


@contextmanager
def unwritable(path: Path, what: str = "the file") -> Iterator[None]:
    """Tells an error of the file system as one of ours, with the path that was to be written."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, what, error) from error


def _unwritable(path: Path, what: str, error: OSError) -> StoredFileError:
    told = error.strerror or str(error)
    return StoredFileError(
        f"{path}: {what} can't be written ({told}). Make room or get access, or choose another {option('o', 'to')}."
    )


def temporary_folder() -> Path:
    """A new folder that stays until this process ends."""
    folder = Path(mkdtemp(prefix="unswayed-"))
    process = os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # a fork of this process must not take away what its parent uses
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _beside(path: Path) -> Path:
    """A new name beside a path. It is random: in two containers, two processes may have the same number."""
    return path.with_name(f".{path.name}.partial-{token_hex(8)}")


def _left(path: Path) -> list[Path]:
    """What is being written, or was left unfinished, beside a path."""
    found = path.parent.glob(f".{escape(path.name)}.partial-*")
    return [left for left in found if re.fullmatch("[0-9a-f]+", left.name.rpartition("-")[2]) and not left.is_symlink()]


def _new_file(path: Path) -> tuple[Path, BinaryIO]:
    """A file that grows until it is put in place, locked as long as it is open. Those that nobody holds are removed."""
    clear_unfinished(path)
    while True:
        partial = _beside(path)
        file = partial.open("xb")
        take(file.fileno())
        if partial.exists():  # or else another process took it for an abandoned one, before it was locked
            return partial, file
        file.close()


def _remove(left: Path) -> None:
    """A file or folder that was left unfinished, with what SQLite may keep beside it."""
    if left.is_dir():
        shutil.rmtree(left, ignore_errors=True)
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            left.with_name(left.name + end).unlink(missing_ok=True)


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # in somebody else's folder, a link could lead to any file of ours
_open: set[int] = set()  # descriptors of locks that this process holds


def _let_go() -> None:
    """A fork must not keep what its parent holds: the lock would outlive it."""
    for held in _open:
        with suppress(OSError):
            os.close(held)
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


class Lock:
    """A lock on `file`, which is made for it and removed with it.

    Another process is kept out wherever it runs: also in another container, where process numbers are the same, and on
    another machine that mounts the same network file system. A file system without locks is warned of.
    """

    def __init__(self, file: Path, place: Path) -> None:
        self._file = file
        while True:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _NO_LINK, 0o666)
            try:
                taken = take(descriptor)
                if taken is False:
                    holder = ""
                    with suppress(OSError):
                        said = file.read_bytes()[:300].decode(errors="replace").strip()
                        holder = f" ({said})" if said.isprintable() and said else ""
                    raise InUse(f"Another process is writing to {place}{holder}. Wait for it, or use another folder.")
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(descriptor), os.stat(file)):  # or its last holder removed it meanwhile
                        break
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
        if taken is None:
            print(
                f"unswayed: the file system of {place} has no locks. Make sure that no other process writes there.",
                file=sys.stderr,
            )
        self.sure = taken is True
        self._descriptor: int | None = descriptor
        _open.add(descriptor)
        from socket import gethostname  # here, as it takes a while to import

        now = datetime.fromtimestamp(time.time(), UTC)
        holder = f"process {os.getpid()} on {gethostname()} since {now:%Y-%m-%d %H:%M:%S} UTC"
        with suppress(OSError):  # a full disk; what is to be written here will say so
            os.ftruncate(descriptor, 0)
            os.write(descriptor, holder.encode())

    def close(self) -> None:
        """Removes the file before the lock goes, so that nobody takes a lock on a file that is about to vanish."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor in _open:  # not in a fork
            assert descriptor is not None
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
            _open.discard(descriptor)
            os.close(descriptor)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def take(descriptor: int) -> bool | None:
    """Locks an open file; False where somebody else holds it, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a network file system that was mounted without them
        return None
    return True
