"""Files of simulated people's rates, as `unfazed calibrate` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from unfazed.core.errors import DataError
from unfazed.core.json import decode

T = TypeVar("T")


def read_people(path: Path | str, kind: type[T], what: str) -> T:
    """The people in a file of `unfazed calibrate WHAT`."""
    try:
        return decode(Path(path).read_bytes(), kind)
    except OSError as error:
        raise DataError(error.strerror or str(error), path) from error
    except msgspec.DecodeError as error:
        raise DataError(f"this is not a file of `unfazed calibrate {what}`: {error}", path) from error
