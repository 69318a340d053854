"""The sample that ships with the package: things people say to an assistant at home, with intents and slots."""

from __future__ import annotations

from pathlib import Path

from unfazed.core.errors import UnknownName

_SAMPLES = Path(__file__).parent / "samples"


def sample_path(name: str) -> Path:
    """Where a shipped sample is: `home_train` or `home_test`."""
    known = {file.stem: file for file in _SAMPLES.glob("*.jsonl")}
    if name not in known:
        raise UnknownName("sample", name, known)
    return known[name]
