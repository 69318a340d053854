"""Writing files so that a reader sees the old one or the new one, whole."""

from __future__ import annotations

import os
from pathlib import Path

from unfazed.core.errors import StoredFileError


def write_atomically(path: Path, content: bytes) -> None:
    """Writes beside the place and moves it there; a full disk or a read-only folder leaves nothing behind."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise StoredFileError(f"{path}: the file can't be written ({error.strerror or error}).") from error
    finally:
        partial.unlink(missing_ok=True)
