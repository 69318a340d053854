"""Asking servers over HTTP: how fast, and what the requests behind one call of a system took.

The pace is as many requests at once, and as many a second, as a server takes without refusing any. A refusal (429, 503)
halves the requests under way; they grow again by one for each round of answers. Between two refusals a server gives out
what its limit allows, so what it accepted in that time shows the limit: requests are then sent at that rate, which
rises slowly at first and faster the longer nothing is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

import msgspec

_HEEDED, _RECENT = 2, 20  # so many refusals of so many requests slow down the rest
_ENOUGH = 10  # requests accepted between two refusals from which on they show the server's limit
_RISE = 1e-5  # of the rate, times the cube of the seconds since the last refusal
_RAMP = 4.0  # seconds from the least to the most that the limit may be
_ABOVE = 3.0  # how far above what was accepted the rate at a refusal may count
_BACK = 0.85  # of the rate, where a known limit is exceeded at once
_DOUBLES = 1.0  # seconds in which a rate doubles while the limit is not known
_SLOWEST = 0.1  # requests a second
_SOON = 0.001  # seconds


class Pace:
    """Knows no clock: each call has the time, in seconds. Not for several threads at once.

    If `rate` is given, no more requests than that are sent a second. How many are under way at once is the caller's
    choice until one is refused.
    """

    def __init__(self, rate: float | None = None) -> None:
        self.cap = rate
        self.window = float("inf")
        self.under_way = self._most = 0  # now, and at any time
        self._rate: float | None = None  # as of the last refusal; None until there was one,
        self._up = 0.0  # and how much more it may be
        self._known = False  # is that rate the server's limit?
        self._cut = float("-inf")  # when the last refusal was heeded
        self._since = float("inf")  # from when on requests are counted,
        self._accepted = 0  # how many were accepted since,
        self._still = 0.0  # and for how many of these seconds nothing was sent
        self._recent: deque[bool] = deque(maxlen=_RECENT)  # was it refused?
        self._next = float("-inf")  # when the next may be sent
        self._hold = float("-inf")  # until when the server wants to be left alone

    def rate(self, now: float) -> float | None:
        """Requests a second at this time; None if only the number under way is bounded."""
        if self._rate is None:
            return self.cap
        calm = max(0.0, now - max(self._cut, self._hold))
        if self._known:
            grown = (self._rate + self._up * min(calm / _RAMP, 1.0)) * (1 + _RISE * calm**3)
        else:
            grown = self._rate * 2.0 ** min(calm / _DOUBLES, 30)
        return grown if self.cap is None else min(grown, self.cap)

    def delay(self, now: float) -> float | None:
        """Seconds until a request may be sent: 0 for now, None if one must come back first."""
        if self.under_way >= int(min(self.window, 1 << 30)):
            return None
        wait = max(self._hold, self._next) - now
        return wait if wait > _SOON else 0.0

    def send(self, now: float) -> float:
        """Notes a request that is sent now; returns this time, by which `refuse` knows it."""
        self.under_way += 1
        self._most = max(self._most, self.under_way)
        self._since = min(self._since, now)
        rate = self.rate(now)
        if rate is not None:
            self._next = max(self._next, now) + 1 / rate
        return now

    def accept(self) -> None:
        """The request was answered, or failed for another reason than that there were too many."""
        self.under_way -= 1
        self._accepted += 1
        self._recent.append(False)
        if self.window < self._most:
            self.window = min(self.window + 1 / self.window, self._most)

    def refuse(self, sent_at: float, now: float, wait: float = 0.0) -> None:
        """The server takes no more for now; it wants to be left alone for `wait` seconds."""
        self.under_way -= 1
        if sent_at < self._cut:  # it was under way when refusals were last heeded
            return
        self._recent.append(True)
        if sum(self._recent) < _HEEDED:  # one among many answers is about that request
            return
        wait = wait if self._accepted < _ENOUGH else 0.0  # otherwise slowing down is enough, and only this one waits
        # The rate to go on with, and how much more it may be; the server saves up while nothing is sent, or not.
        whole = max(now - self._since, _SOON)
        most = self._accepted / max(whole - self._still, _SOON)
        current = self.rate(now)
        if self._cut == float("-inf") or self._accepted < _ENOUGH:
            back = _BACK if self._known else 0.5
            self._rate, self._up = max(back * (current or max(most, 1 / whole)), _SLOWEST), 0.0
        else:
            self._known = True
            most = (most + min(max(current or 0.0, most), _ABOVE * most)) / 2
            self._rate = max(self._accepted / whole, _SLOWEST)
            self._up = max(0.0, most - self._rate)
        self.window = max(1.0, min(self.window, self._most) / 2)
        self._recent.clear()
        self._cut, self._since, self._accepted = now, now, 0
        self._hold, self._still = now + wait, wait
        self._next = max(self._next, now + 1 / self._rate)


class Spent(msgspec.Struct):
    """What the requests behind one call of a system took: seconds of the last of them, and the tokens of all.

    Whoever sends requests notes it by `spend`, and whoever called the system in the same thread reads it. `seconds` is
    None where no request was answered, tokens are where the server counts none.
    """

    seconds: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    reasoning: dict[int, str] = {}  # what a model thought before an answer, by its place in the batch


_here = local()  # its `spent` is what is noted in this thread, if anything is


@contextmanager
def metered() -> Iterator[Spent]:
    """Notes what is spent in this thread until the end of the block."""
    before, _here.spent = getattr(_here, "spent", None), Spent()
    try:
        yield _here.spent
    finally:
        _here.spent = before


def spend(seconds: float | None = None, tokens_in: float | None = None, tokens_out: float | None = None) -> None:
    """Adds to what is noted in this thread, if anything is."""
    spent: Spent | None = getattr(_here, "spent", None)
    if spent is None:
        return
    if seconds is not None:
        spent.seconds = seconds
    if tokens_in is not None:
        spent.tokens_in = (spent.tokens_in or 0) + int(tokens_in)
    if tokens_out is not None:
        spent.tokens_out = (spent.tokens_out or 0) + int(tokens_out)


def note_reasoning(place: int, text: str) -> None:
    """Notes what a model thought before the answer at this place of the batch, if anything is noted in this thread."""
    spent: Spent | None = getattr(_here, "spent", None)
    if spent is not None:
        spent.reasoning[place] = text
