"""Writing files so that a reader sees the old one or the new one, whole."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import mkdtemp

import msgspec

from unfazed.core.errors import StoredFileError, UsageError, option

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


def write_json_lines(path: Path, values: Iterable[object]) -> None:
    """Writes each value as a line of JSON."""
    write_atomically(path, b"".join(msgspec.json.encode(value) + b"\n" for value in values))


@contextmanager
def replacing(path: Path, what: str = "the file") -> Iterator[Callable[[bytes], object]]:
    """A function that writes a file, which takes its place when the block ends and is whole. Only the writing's own
    errors are told as such."""
    with unwritable(path, what):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_of(path)
        file = partial.open("wb")

    def write(content: bytes) -> None:
        try:
            file.write(content)
        except OSError as error:
            raise _unwritable(path, what, error) from error

    try:
        yield write
        with unwritable(path, what):
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(partial, path)
    finally:
        with suppress(OSError):  # what could not be written can't be flushed either
            file.close()
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
def growing(path: Path, what: str = "the file") -> Iterator[Path]:
    """The path at which something else writes a file, which takes its place when the block ends."""
    with unwritable(path, what):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_of(path)
        try:
            yield partial
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)


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
    folder = Path(mkdtemp(prefix="unfazed-"))
    process = os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # a fork of this process must not take away what its parent uses
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def partial_of(path: Path) -> Path:
    """Where a file or folder grows until it is put in place. What killed processes left there is cleared away."""
    for left in path.parent.glob(f".{escape(path.name)}.partial-*"):
        process = left.name.rpartition("-")[2]
        if process.isdigit() and not _runs(int(process)):
            shutil.rmtree(left, ignore_errors=True)
            with suppress(OSError):
                left.unlink(missing_ok=True)
    return path.with_name(f".{path.name}.partial-{os.getpid()}")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def put_in_place(partial: Path, path: Path) -> None:
    """Moves a folder that was written beside its place to it; one that stands there goes.

    Where the system can, the two change places in one step, so that there is never none.
    """
    if path.exists() and _exchanged(partial, path):
        shutil.rmtree(partial, ignore_errors=True)
        return
    old = path.with_name(f".{path.name}.partial-old-{os.getpid()}")
    if path.exists():
        path.rename(old)
    partial.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)
