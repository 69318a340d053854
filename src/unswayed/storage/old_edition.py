"""Files of the unreleased first editions, which had another name: errors say what they are."""

from __future__ import annotations

from pathlib import Path

from unswayed.base.errors import StoredFileError

OLD_NAME = "unfazed"


def refuse_old_edition(file: Path, content: bytes, remake: str) -> None:
    """Raises if an edition under the old name wrote this manifest; `remake` is the command that makes it anew."""
    if f'"{OLD_NAME}":'.encode() in content[:100_000].replace(b" ", b""):
        raise StoredFileError(
            f"{file}: an unreleased edition of this package, which was called {OLD_NAME}, made this folder. This "
            f"edition can't read it. Make it again with `{remake}`, in another folder."
        )


def old_file_hint(wanted: Path) -> str:
    """For a missing file: where its old name is there, a sentence that says so. Otherwise nothing."""
    old = wanted.with_name(wanted.name.replace("unswayed", OLD_NAME))
    if old != wanted and old.exists():
        return f" There is {old}, from when this package was called {OLD_NAME}: rename it to {wanted.name}."
    return ""
