"""The pace of requests on a virtual clock: a server with a limit is used fully, and refuses little."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

import pytest

from unswayed.systems.http import Pace

Server = Callable[[float], bool]  # is a request that comes at this time accepted?


def bucket(limit: float, burst: float) -> Server:
    """A token bucket: refills at `limit` a second, and holds `burst` at most."""
    tokens, last = burst, 0.0

    def accepts(now: float) -> bool:
        nonlocal tokens, last
        tokens, last = min(burst, tokens + (now - last) * limit), now
        if tokens < 1:
            return False
        tokens -= 1
        return True

    return accepts


def played(
    pace: Pace, accepts: Server, requests: int, latency: float, retry_after: float = 0.0, threads: int = 8
) -> tuple[float, int]:
    """The seconds that so many requests take, each made again until it is accepted, and how many were refused."""
    now, order, done, refused = 0.0, count(), 0, 0
    left, ready = requests - threads, threads
    events: list[tuple[float, int, object]] = []
    while done < requests:
        while ready and pace.delay(now) == 0.0:
            ready -= 1
            heapq.heappush(events, (now + latency, next(order), pace.send(now)))
        wait = pace.delay(now) if ready else None
        soonest = events[0][0] if events else float("inf")
        now = min(soonest, float("inf") if wait is None else now + wait)
        while events and events[0][0] <= now:
            at, _, sent = heapq.heappop(events)
            if sent is None:
                ready += 1
            elif accepts(at):
                pace.accept()
                done += 1
                ready, left = (ready + 1, left - 1) if left else (ready, left)
            else:
                refused += 1
                pace.refuse(sent, at, retry_after)  # type: ignore[arg-type]
                heapq.heappush(events, (at + max(retry_after, 0.4), next(order), None))
    return now, refused


@pytest.mark.parametrize("retry_after", [0.0, 1.0])
@pytest.mark.parametrize("latency", [0.005, 0.05, 0.3])
@pytest.mark.parametrize("burst", [20, 100])
def test_a_limit_is_found_and_held(burst: int, latency: float, retry_after: float) -> None:
    seconds, refused = played(Pace(), bucket(20, burst), 1408, latency, retry_after)
    assert 1408 / (20 * seconds + burst) >= 0.9
    assert refused / (1408 + refused) <= 0.1


def test_a_limit_that_rises_is_noticed() -> None:
    low, high, switch = bucket(20, 20), bucket(60, 60), 30.0
    seconds, refused = played(Pace(), lambda now: (low if now < switch else high)(now), 4000, 0.05)
    assert seconds < 30 + 3400 / (0.7 * 60)
    assert refused / 4000 <= 0.1


def test_without_refusals_nothing_is_held_back() -> None:
    seconds, refused = played(Pace(), lambda now: True, 800, 0.01)
    assert (seconds, refused) == (pytest.approx(1.0), 0)


def test_a_rate_that_was_given_is_kept() -> None:
    seconds, refused = played(Pace(rate=50), lambda now: True, 501, 0.001)
    assert seconds == pytest.approx(10, rel=0.02)
    assert refused == 0


def test_a_refusal_of_one_request_slows_down_no_other() -> None:
    turn = count()
    seconds, refused = played(Pace(), lambda now: next(turn) % 100 != 50, 4000, 0.01, retry_after=1.0)
    assert refused == pytest.approx(40, abs=1)
    assert seconds < 12, "4,000 answers take 5 seconds, and 40 waits of a second are shared by 8 threads"


def test_refusals_halve_what_is_under_way_and_it_grows_again() -> None:
    pace = Pace()
    sent = [pace.send(0.0) for _ in range(8)]
    for one in sent[:2]:
        pace.refuse(one, 0.1, wait=2.0)
    assert pace.window == 4
    assert pace.delay(0.2) is None, "six are still under way"
    for _ in range(6):
        pace.accept()
    assert pace.delay(0.2) == pytest.approx(1.9), "Retry-After is for all"
    assert 4 < pace.window <= 8
    for at in range(3, 60):
        pace.send(float(at))
        pace.accept()
    assert pace.window == 8
