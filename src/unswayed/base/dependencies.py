"""What user code rests on: files, folders, packages and environment variables, by name, with a hash of their content.

They are kept with what the code made, and compared before that is used again.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from unswayed.base.ids import content_id, file_hash

ABSENT = "absent"
_SECRET = re.compile(r".*(?:KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH)", re.I)  # a new key makes no new system
_MAX_FILE_BYTES = 64 << 30
_MAX_NAMES = 20_000  # of a folder that is listed


class Dependencies(msgspec.Struct):
    """Names of files, folders, packages and variables, each with a hash of its content as it was.

    `written` are files that the code also writes, such as logs, which are not compared. `unseen` says what of its work
    can't be recorded. If they are `closed`, there are no others: a file that is not named is a new one.
    """

    entries: dict[str, str] = {}
    written: list[str] = []
    unseen: list[str] = []
    closed: bool = False

    def add(self, other: Dependencies) -> bool:
        """Takes in what another process, or a later look, has recorded; returns whether anything was new."""
        before = len(self.entries), len(self.written), len(self.unseen), self.closed
        self.written = sorted({*self.written, *other.written})
        self.unseen = sorted({*self.unseen, *other.unseen})
        # The first content counts: answers rest on it.
        both = {**other.entries, **self.entries}
        self.entries = {name: content for name, content in both.items() if name not in set(self.written)}
        self.closed = self.closed or other.closed
        return before != (len(self.entries), len(self.written), len(self.unseen), self.closed)

    def changes(self, today: Dependencies | None = None) -> list[str]:
        """What is not as it was, such as `words.txt has changed`. `today` is what is known of the same code by now."""
        new = today.entries.keys() - self.entries.keys() - set(self.written) if today and today.closed else set()
        found = []
        for name, was in [*self.entries.items(), *((name, ABSENT) for name in sorted(new))]:
            now = current_content(name, self.written)
            if now != was:
                kind, _, what = name.partition(" ")
                shown = {"package": f"the package {what}", "variable": f"the environment variable {what}"}
                how = "is gone" if now == ABSENT else "is new" if was == ABSENT else "has changed"
                found.append(f"{shown.get(kind, what)} {'has other files' if kind == 'folder' else how}")
        return found

    def current_id(self) -> str:
        """An id of the present content of all that is named."""
        return content_id({name: current_content(name, self.written) for name in self.entries})

    @property
    def whole(self) -> bool:
        """Is everything recorded that decides the results?"""
        return bool(self.entries) and not self.unseen


def current_content(name: str, written: Sequence[str] = ()) -> str:
    """The present hash of what an entry names; of a folder, of the names of its files but for those `written`."""
    kind, _, what = name.partition(" ")
    if kind == "file":
        return content_of_file(what)
    if kind == "database":
        return _content_of_database(what)
    if kind == "folder":
        return _content_of_folder(what, written)
    if kind == "package":
        return _content_of_package(what)
    return content_of_variable(what, os.environ.get(what))


def content_of_variable(name: str, value: str | None) -> str:
    """A short hash, from which no value can be told."""
    return ABSENT if value is None else content_id([name, value], 4)


def is_recorded_variable(name: str) -> bool:
    """Those that hold keys are not: with another key, a system is the same."""
    return not _SECRET.match(name)


_hashes: dict[str, tuple[tuple[int, int, int, int], str]] = {}


def content_of_file(name: str) -> str:
    """The hash of a file, which is read again only if its size, times or inode changed."""
    try:
        path = Path(name).resolve()
        found = path.stat()
        if not path.is_file() or found.st_size > _MAX_FILE_BYTES:
            return ABSENT
        if not found.st_size and name.endswith("-wal"):  # SQLite makes an empty one where it only reads
            return ABSENT
        stamp = found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
        if _hashes.get(str(path), (None,))[0] != stamp:
            _hashes[str(path)] = stamp, file_hash(path)[:32]
        return _hashes[str(path)][1]
    except (OSError, ValueError):
        return ABSENT


_HASH_FILES = """
import hashlib, os, sys
h = hashlib.sha256()
for name in (sys.argv[1], sys.argv[1] + "-wal"):
    if os.path.isfile(name):
        with open(name, "rb") as file:
            while piece := file.read(1 << 20): h.update(piece)
print(h.hexdigest()[:32])
"""


def _content_of_database(name: str) -> str:
    """The hash of a SQLite database and its log, taken in another process: to open and close the file in this one would
    drop the locks of connections that it has."""
    if not os.path.isfile(name):
        return ABSENT
    command = [sys.executable, "-I", "-S", "-c", _HASH_FILES, os.path.abspath(name)]
    import subprocess

    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter
    return done.stdout.strip() or ABSENT


def _content_of_folder(name: str, written: Sequence[str]) -> str:
    """Of the names in a folder, but for what the code writes there, and Python and SQLite."""
    try:
        with os.scandir(name) as found:
            names = sorted(entry.name for _, entry in zip(range(_MAX_NAMES), found, strict=False))
    except OSError:
        return ABSENT
    left = ("__pycache__", ".pyc", "-wal", "-shm", "-journal", ".log", ".tmp", "~", ".swp")
    own = {path for path in written if path.startswith("file ")}
    before = "" if name == "." else f"{name}/"
    return content_id([one for one in names if not one.endswith(left) and f"file {before}{one}" not in own], 16)


@lru_cache(4096)
def _content_of_package(name: str) -> str:
    """Its version, and the hashes that its RECORD has of its files; not what an installer adds on each machine."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(name)
    except (PackageNotFoundError, ValueError):
        return ABSENT
    lines = (found.read_text("RECORD") or "").splitlines()
    own = sorted(
        line for line in lines if not line.startswith("..") and ".pyc," not in line and ".dist-info/" not in line
    )
    return f"{found.version} {content_id(own, 8)}"


def shown_path(path: str) -> str:
    """From the current folder where it is inside it, so that a checkout elsewhere has the same names."""
    here = os.getcwd()
    return path[len(here) + 1 :] if path.startswith(here + os.sep) else "." if path == here else path
