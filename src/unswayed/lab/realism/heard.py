"""Texts and their transcripts, and the profile of a listener that is fitted to them."""

from __future__ import annotations

import msgspec

from unswayed.base.errors import DataError, UsageError, option
from unswayed.lab.calibration.listener import fit_listener
from unswayed.lab.realism.aligned import read_aligned

_LEAST = 100  # texts: fewer say little about rare words


def fit_heard(clean: str, real: str, field: str | None, heard: str | None, source: str) -> tuple[bytes, int]:
    """The file's content, and how many texts it was fitted on."""
    if clean == real and field == heard:
        both = f"{option('clean')} and {option('real')}"
        fields = f"{option('input')} and {option('heard')}"
        raise UsageError(f"{both} are the same texts. Name their fields with {fields}.")
    texts = [text.strip() for text in read_aligned(clean, [field] if field else ()).texts()]
    others = [text.strip() for text in read_aligned(real, [heard] if heard else ()).texts()]
    if len(texts) != len(others):
        raise DataError(f"it has {len(others)} texts, but {clean} has {len(texts)}. Lines must align.", real)
    if len(texts) < _LEAST:
        raise UsageError(f"A listener needs at least {_LEAST} texts. {clean} has {len(texts)}.")
    profile = fit_listener(texts, others, source)
    return msgspec.json.format(msgspec.json.encode(profile)) + b"\n", profile.texts
