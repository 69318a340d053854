"""The keys under which answers are stored: the system's identity and the request, hashed."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from unswayed.base.ids import canonical, canonical_lines
from unswayed.base.values import Json

Key = bytes
KEY_BYTES = 16


class Keyer:
    """Gives the store's keys of requests. Each time that one is asked again has a number, and an answer of its own."""

    def __init__(self, identity: str) -> None:
        self._start = blake2b(identity.encode("utf-8", "surrogatepass") + b"\0", digest_size=KEY_BYTES)

    def __call__(self, request: Json, repeat: int = 0) -> Key:
        h = self._start.copy()
        h.update(canonical(request))
        if repeat:
            h.update(b"\0%d" % repeat)
        return h.digest()

    def each(self, requests: Iterable[Json]) -> list[Key]:
        """The keys of many requests at once."""
        return self.of_lines(canonical_lines(requests))

    def of_lines(self, lines: Iterable[bytes]) -> list[Key]:
        """The same for requests that are given as canonical JSON."""
        start, keys = self._start.copy, list[Key]()
        for line in lines:
            h = start()
            h.update(line)
            keys.append(h.digest())
        return keys


def keyer(identity: str) -> Keyer:
    """What gives the keys of requests to the system of that identity."""
    return Keyer(identity)


def split_keys(content: bytes) -> list[Key]:
    """The keys in one piece as a list."""
    return [content[at : at + KEY_BYTES] for at in range(0, len(content), KEY_BYTES)]
