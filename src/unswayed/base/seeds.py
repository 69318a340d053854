"""Random streams that depend on what is varied and on nothing else: not on order, workers or hash seed.

A stream is a chain of BLAKE2b digests that starts from its key. Making one costs about a microsecond, so every
variant of every example has its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate, repeat
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple, TypeVar, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
_SIZE = 64  # bytes of a BLAKE2b digest
AT_ONCE = _SIZE // 8  # numbers that a stream gives before it needs its next digest
_SCALE = 2.0**-53
_number = Struct("<Q").unpack_from  # quicker than `int.from_bytes`, which needs a slice
_numbers = [Struct(f"<{count}Q").unpack_from for count in range(_SIZE // 8 + 1)]
_two = _numbers[2]


class SimulatedPerson(NamedTuple):
    """The simulated person of a draw: their own key, that of all people under the seed, and their number."""

    key: bytes = b""
    people: bytes = b""
    draw: int = 0


_NOBODY = SimulatedPerson()


class Stream:
    """A reproducible source of random numbers; `habit` gives the streams that belong to the simulated person.

    Example: `rng.choice(["um", "uh"])`.
    """

    __slots__ = ("_at", "_block", "_example", "_moments", "_person")

    def __init__(self, key: bytes, person: SimulatedPerson = _NOBODY, example: str = "") -> None:
        self._block = key if len(key) == _SIZE else blake2b(key).digest()
        self._person = person
        self._example = example
        self._moments: blake2b | None = None  # how the keys of the example's moments begin, once one is asked for
        self._at = 0

    @property
    def draw(self) -> int:
        """The number of the draw."""
        return self._person.draw

    @property
    def person(self) -> bytes:
        """What tells the simulated person of the draw from others."""
        return self._person.key

    def bits(self) -> int:
        """64 random bits."""
        at = self._at
        if at == _SIZE:
            self._block = blake2b(self._block).digest()
            at = 0
        self._at = at + 8
        bits: int = _number(self._block, at)[0]
        return bits

    def numbers(self, count: int) -> tuple[int, ...]:
        """The next so many numbers of 64 random bits."""
        # Taking several numbers from a digest in one call is quicker than one by one; a request that goes past the end
        # of the digest takes what is left of it first, so that `numbers(n)` gives what n calls of `bits` give.
        at, found = self._at, ()
        while at + 8 * count > _SIZE:
            left = (_SIZE - at) // 8
            found += _numbers[left](self._block, at)
            self._block, at, count = blake2b(self._block).digest(), 0, count - left
        self._at = at + 8 * count
        return found + _numbers[count](self._block, at)

    def random(self) -> float:
        """A number from 0 up to, not including, 1."""
        at = self._at  # as `bits`, but without calling it, here and in `below`: most operators draw little else
        if at == _SIZE:
            return (self.bits() >> 11) * _SCALE
        self._at = at + 8
        bits: int = _number(self._block, at)[0]
        return (bits >> 11) * _SCALE

    def randoms(self, count: int) -> list[float]:
        """The next so many numbers as `random` gives them."""
        return [(bits >> 11) * _SCALE for bits in self.numbers(count)]

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        at = self._at
        if at == _SIZE:
            return (self.bits() * n) >> 64
        self._at = at + 8
        bits: int = _number(self._block, at)[0]
        # A multiplication and a shift instead of a remainder: as good as uniform for sizes far below 2**64, without the
        # loop of rejections that an exact draw needs, so every draw takes exactly one number. Places of later draws
        # stay known.
        return (bits * n) >> 64

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One of `items`, each as likely as its weight says."""
        totals = list(accumulate(weights))
        at = bisect_right(totals, self.random() * totals[-1])  # the first total above it
        return items[at if at < len(totals) else -1]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """`k` different items in random order, or all of them if there are fewer."""
        # Fisher and Yates, stopped after k items: the rest of the pool is never shuffled.
        pool = list(items)
        k = min(k, len(pool))
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]

    def numpy(self) -> np.random.Generator:
        """A numpy generator for bulk work, seeded from this stream."""
        import numpy as np

        return np.random.Generator(np.random.PCG64(self.bits()))

    def habit(self, word: str) -> Stream:
        """The stream of one simulated person for one word: the same wherever in the suite the word comes up."""
        return self._other(self._person.key, word)

    def moment(self, word: str) -> Stream:
        """The stream of that person for one word within one example: what its texts, such as a pair's, share."""
        h = self._of_moments().copy()
        h.update(coded(word))
        return Stream(h.digest(), self._person, self._example)

    def first_of_moments(self, words: Iterable[str]) -> list[tuple[int, int]]:
        """The first two numbers of each word's `moment`, without making the streams."""
        copy, found = self._of_moments().copy, []
        for word in words:
            h = copy()
            h.update(coded(word))
            found.append(_two(h.digest()))
        return found

    def _of_moments(self) -> blake2b:
        # The key of a moment is the person's, then the example's id with its length, so that no word can run into an
        # id.
        if self._moments is None:
            self._moments = blake2b(self._person.key + coded(f"\0{len(self._example)}:{self._example}\0"))
        return self._moments

    def dealt(self, items: Sequence[T], what: str) -> T:
        """The item that falls to this draw when they are dealt out in turn, in an order that the seed decides."""
        order = self._other(self._person.people, what).sample(items, len(items))
        return order[self._person.draw % len(items)]

    def shared(self, word: str) -> Stream:
        """The stream that all draws of the operator have in common."""
        return self._other(self._person.people, word)

    def _other(self, key: bytes, word: str) -> Stream:
        return Stream(blake2b(key + coded(word)).digest(), self._person, self._example)


def coded(text: str) -> bytes:
    """A text as part of a key, also one that is not valid Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class Streams(Sequence[Stream]):
    """The streams of many texts in one draw. Each is made when it is asked for, and the first numbers of all at once.

    Example: `streams.below(0, [len(text) for text in texts])`.
    """

    __slots__ = ("_digests", "_ids", "_made", "_numbers", "_person")

    def __init__(self, digests: list[bytes], person: SimulatedPerson, ids: Sequence[str]) -> None:
        self._digests, self._person, self._ids = digests, person, ids
        self._made: dict[int, Stream] = {}
        self._numbers: NDArray[np.uint64] | None = None

    @classmethod
    def of(cls, streams: Sequence[Stream]) -> Streams:
        """Streams of one draw that were made one by one and gave no number yet."""
        if any(stream._at for stream in streams):
            raise ValueError("a stream that gave a number can't be one of many")
        person, ids = streams[0]._person if streams else _NOBODY, [stream._example for stream in streams]
        found = cls([stream._block for stream in streams], person, ids)
        found._made.update(enumerate(streams))
        return found

    def __len__(self) -> int:
        return len(self._digests)

    @overload
    def __getitem__(self, at: int) -> Stream: ...
    @overload
    def __getitem__(self, at: slice) -> list[Stream]: ...
    def __getitem__(self, at: int | slice) -> Stream | list[Stream]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        made = self._made.get(at)
        if made is None:
            made = self._made[at] = Stream(self._digests[at], self._person, self._ids[at])
        return made

    def __iter__(self) -> Iterator[Stream]:
        if not self._made:
            self._made = dict(enumerate(map(Stream, self._digests, repeat(self._person), self._ids)))
        return map(self.__getitem__, range(len(self)))

    @property
    def numbers(self) -> NDArray[np.uint64]:
        """The first 64-bit numbers of each stream, `AT_ONCE` of them, a row for each stream."""
        if self._numbers is None:
            import numpy as np

            # One buffer for all digests: `frombuffer` reads it in place, so no number becomes an object of Python.
            self._numbers = np.frombuffer(b"".join(self._digests), "<u8").reshape(-1, AT_ONCE)
        return self._numbers

    def first(self, counts: Sequence[int] | NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """At least as many first numbers of each stream as asked; and where those of each begin."""
        import numpy as np

        blocks = (np.maximum(np.asarray(counts), 1) - 1) // AT_ONCE  # that follow the first
        if not blocks.any():
            return self.numbers.ravel(), np.arange(len(self)) * AT_ONCE
        every: list[bytes] = []
        add, hashed = every.append, blake2b
        for digest, more in zip(self._digests, blocks.tolist(), strict=True):
            add(digest)
            for _ in range(more):
                digest = hashed(digest).digest()
                add(digest)
        return np.frombuffer(b"".join(every), "<u8"), (np.cumsum(blocks + 1) - blocks - 1) * AT_ONCE

    def moments(self, word: str) -> NDArray[np.uint64]:
        """The first numbers of each stream's `moment` for a word, a row for each stream."""
        import numpy as np

        begin, end, digests = blake2b(self._person.key), coded("\0" + word), []
        for id in self._ids:
            h = begin.copy()
            h.update(coded(f"\0{len(id)}:{id}") + end)
            digests.append(h.digest())
        return np.frombuffer(b"".join(digests), "<u8").reshape(-1, AT_ONCE)

    def below(self, nth: int, sizes: Sequence[int]) -> list[int]:
        """What `Stream.below` gives in each stream as its number `nth`, from 0, where `sizes` has an n for each."""
        import numpy as np

        found: list[int] = below(self.numbers[:, nth], np.array(sizes, np.uint64)).tolist()
        return found


def below(numbers: NDArray[np.uint64], sizes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`(number * size) >> 64` of arrays, for sizes under 2**32. The products have 96 bits, so two halves are added."""
    import numpy as np

    half = np.uint64(32)
    return ((numbers >> half) * sizes + ((numbers & np.uint64(0xFFFFFFFF)) * sizes >> half)) >> half


class StreamIds:
    """The ids of many texts' examples, coded once for all draws and operators as the keys of streams have them."""

    __slots__ = ("coded", "ids")

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        try:
            self.coded = list(map(str.encode, [f"{len(id)}:{id}" for id in ids]))
        except UnicodeEncodeError:
            self.coded = [f"{len(id)}:{id}".encode("utf-8", "surrogatepass") for id in ids]


class Seeds:
    """Makes the streams of one operator under one seed."""

    def __init__(self, seed: int, operator: str, version: int) -> None:
        # Seed, operator and version are hashed once for all streams; each stream goes on from a copy of that state.
        self._prefix = blake2b(f"{seed}\0{operator}\0{version}\0".encode())
        self._people: dict[int, SimulatedPerson] = {}

    def stream(self, example_id: str, draw: int, field: str = "") -> Stream:
        """The stream of one variant, from (seed, operator, version, example id, draw) and the field varied."""
        h = self._prefix.copy()
        h.update(coded(f"{len(example_id)}:{example_id}\0{draw}\0{field}"))
        return Stream(h.digest(), self._people.get(draw) or self._person(draw), example_id)

    def streams(self, ids: StreamIds, draw: int, fields: Sequence[str]) -> Streams:
        """The same for many texts of one draw, each with the id of its example and its field."""
        copy, digests = self._prefix.copy, []
        tails = {field: coded(f"\0{draw}\0{field}") for field in set(fields)}
        for begin, tail in zip(ids.coded, map(tails.__getitem__, fields), strict=True):
            h = copy()
            h.update(begin + tail)
            digests.append(h.digest())
        return Streams(digests, self._people.get(draw) or self._person(draw), ids.ids)

    def _person(self, draw: int) -> SimulatedPerson:
        own, all_ = self._prefix.copy(), self._prefix.copy()
        own.update(f"person\0{draw}\0".encode())
        all_.update(b"people\0")
        self._people[draw] = person = SimulatedPerson(own.digest(), all_.digest(), draw)
        return person
