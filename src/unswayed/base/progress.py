"""Progress on standard error: a line that redraws itself on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from typing import TextIO


def notices() -> TextIO:
    """Where progress and remarks go: standard error; in a notebook, which shows that as a red box, standard output."""
    return sys.stdout if type(sys.stderr).__module__.startswith("ipykernel") else sys.stderr


class Progress(AbstractContextManager["Progress"]):
    """Counts items of a long piece of work. Quiet for work that ends within a second."""

    def __init__(self, what: str, total: int | None = None, stream: TextIO | None = None) -> None:
        self.what, self.total = what, total
        self.done = 0
        self._skipped = 0
        self._stream = notices() if stream is None else stream
        self._terminal = self._stream.isatty() or (self._stream is not sys.stderr and stream is None)
        self._began = time.monotonic()
        self._next = self._began + (0.2 if self._terminal else 1.0)
        self._gap = 0.2 if self._terminal else 10.0
        self._shown = False

    def skip(self, count: int) -> None:
        """Items that need no work; they count as done but not into the rate."""
        self._skipped += count
        self.done += count

    def add(self, count: int = 1) -> None:
        self.done += count
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._gap
            self._show(now)

    def _show(self, now: float) -> None:
        self._shown = True
        seconds = now - self._began
        rate = (self.done - self._skipped) / seconds if seconds > 0 else 0.0
        of = f"/{self.total:,}" if self.total is not None else ""
        parts = [f"{self.what} {self.done:,}{of}"]
        if self.total:
            parts.append(f"{100 * self.done / self.total:.0f}%")
        if rate:
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
            if self.total is not None and self.done < self.total:
                minutes, rest = divmod(int((self.total - self.done) / rate + 0.5), 60)
                hours, minutes = divmod(minutes, 60)
                parts.append(f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left")
        line = " · ".join(parts)
        self._stream.write(f"\r\x1b[K{line}" if self._terminal else line + "\n")
        self._stream.flush()

    def __exit__(self, *error: object) -> None:
        if self._shown:
            self._show(time.monotonic())
            if self._terminal:
                self._stream.write("\n")
