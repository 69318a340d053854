"""One event loop in a thread of its own, for coroutines that are asked for from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from functools import cache
from typing import TypeVar

T = TypeVar("T")


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="unswayed event loop", daemon=True).start()
    return loop


def run_coroutine(coroutine: Awaitable[T]) -> T:
    """What a coroutine returns. Several threads may wait for one each, so that these run side by side."""

    async def awaited() -> T:
        return await coroutine

    future = asyncio.run_coroutine_threadsafe(awaited(), _event_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
