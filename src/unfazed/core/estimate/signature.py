"""Signatures: a readable line on every number that changes when anything that decides the number changes."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from unfazed.core.estimate.intervals import Resampling
from unfazed.core.version import VERSION


def sign(fields: Mapping[str, object], settings: Resampling | None = None, **more: object) -> str:
    """`name=value` joined by bars: the fields, how intervals are made, `more`, and the version of unfazed."""
    how = {} if settings is None else {"level": settings.level, "bootstrap": settings.bootstrap, "seed": settings.seed}
    pairs = {**fields, **how, **more, "unfazed": VERSION}
    return "|".join(f"{name}={_plain(str(value))}" for name, value in pairs.items())


def digest(*arrays: npt.NDArray[Any]) -> str:
    """An id of the numbers in some arrays, for a signature."""
    h = blake2b(digest_size=8)
    for array in arrays:
        h.update(repr((array.dtype.str, array.shape)).encode())
        h.update(np.ascontiguousarray(array).tobytes())
    return h.hexdigest()


def _plain(text: str) -> str:
    """A text that can stand in a signature: one line, and no bar that would end the field."""
    escaped = text.replace("%", "%25").replace("|", "%7C")
    return "".join(c if c.isprintable() else f"%{ord(c):02X}" for c in escaped)
