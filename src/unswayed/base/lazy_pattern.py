"""Regular expressions that are compiled when they are first used: those of a module that most commands import."""

from __future__ import annotations

import re
from typing import Any, cast


class _LazyPattern:
    """Compiles when a method is asked for the first time, and keeps the method."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._how = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._how), name)
        setattr(self, name, value)
        return value


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, for all that is done with its methods. Long ones take milliseconds to compile."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
