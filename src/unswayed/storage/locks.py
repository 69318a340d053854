"""Locks that the operating system releases when their process ends, however it ends, and that say who holds them."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from unswayed.base.errors import InUse

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

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
