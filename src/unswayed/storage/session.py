"""When answers were given and by whom, and what one time of asking did: what it asked, what it used again."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Session(NamedTuple):
    """A time of asking: its day, and the identity of the system, None where that is not known."""

    day: str
    identity: str | None


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a time of asking did: requests that were asked, stored answers that were used again, and from when.

    Example: `run.session.reused`.

    `checked` of the stored answers were asked again first. `aside` is the file of those that `fresh` put away. `used`
    is what asking used this time, such as requests, tokens and cost; stored answers cost nothing.
    """

    asked: int = 0
    reused: int = 0
    reused_from: tuple[str, str] | None = None
    checked: int = 0
    aside: str | None = None
    warnings: tuple[str, ...] = ()
    used: dict[str, float] = {}

    @property
    def sentence(self) -> str:
        """`asked 120, reused 4,780 answered 2026-11-14`, and what else is to be known."""
        first, last = self.reused_from or ("", "")
        when = "" if not first else f" answered {first}" if first == last else f" answered {first} to {last}"
        told = f"asked {self.asked:,}, reused {self.reused:,}{when}"
        if self.reused:
            told += f" ({self.checked:,} of them checked)" if self.checked else " (none of them checked)"
        return told + (f"; the answers from before are in {self.aside}" if self.aside else "")
