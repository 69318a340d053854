"""Asks a few stored answers again before any is used, so that no answer of an earlier system passes for today's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from math import ceil, comb, isclose
from typing import NamedTuple

import msgspec

from unswayed.base.errors import StaleAnswers, SystemBroken
from unswayed.base.values import Inputs, Json, Output
from unswayed.storage.answer_rows import masked_output
from unswayed.storage.keys import Key

_LEAST, _SHARE, _MOST = 8, 0.01, 200
_LEAST_WAVERING = 32  # fewer could not tell another system from one that does not repeat itself
_LEVEL = 0.05
_NEAR, _TINY = 1e-4, 1e-5  # floats of the same model differ by this much between batches and processors


class Kept(NamedTuple):
    """A request with its stored answer."""

    inputs: Inputs
    stored: Output


def how_many(stored: int, wanted: int | None, deterministic: bool | None) -> int:
    """How many of so many stored answers are asked again; `wanted` is what the user chose."""
    if wanted is None:
        least = _LEAST_WAVERING if deterministic is False else _LEAST
        wanted = max(least, min(_MOST, ceil(_SHARE * stored)))
    return min(wanted, stored)


def lot(seed: int, key: Key) -> bytes:
    """What requests are sorted by, so that the seed decides which come first."""
    return blake2b(key, digest_size=8, key=f"canary {seed}".encode()[:64]).digest()


def check(
    name: str, kept: Sequence[Kept], ask: Callable[[list[Inputs]], list[Output]], deterministic: bool | None,
    place: str, instead: str,
) -> str | None:  # fmt: skip
    """Raises if a system no longer gives the stored answers; `place` names the store, `instead` says what to do.

    A system that is not known to be deterministic is asked twice. If its two answers of today differ, it is another
    system only if the stored ones differ from today's more often than that: then None or a warning is returned.
    """
    inputs = [one.inputs for one in kept]
    first = [masked_output(output) for output in ask(inputs)]
    if not any(output.ok for output in first):
        raise SystemBroken(
            f"{name} failed when stored answers were checked, on all {len(first)} inputs: {first[0].error} "
            f"Fix it, then rerun the same command."
        )
    differ = [i for i, one in enumerate(kept) if not same(one.stored, first[i])]
    if not differ:
        return None
    second = first if deterministic else [masked_output(output) for output in ask(inputs)]
    wavering = [i for i, (one, other) in enumerate(zip(first, second, strict=True)) if not _repeated(one, other)]
    moved = sum(1 for i in differ if i not in wavering)
    by_chance = sum(1 for i in wavering if i not in differ)
    shown = _shown(kept[differ[0]], first[differ[0]])
    told = f"{len(differ)} of {len(kept)} stored answers that were checked are not what {name} answers today: {shown}."
    certain = not wavering and deterministic is not False
    if certain or _tail(moved, moved + by_chance) < _LEVEL:
        raise StaleAnswers(f"{place}: {told} {instead}")
    repeats = f"it repeats itself on {len(kept) - len(wavering)} of {len(kept)}"
    return f"{told} They are used all the same, since the system is not deterministic ({repeats})."


def _tail(changed: int, of: int) -> float:
    """The chance of at least so many out of these where both kinds are equally likely."""
    return float(sum(comb(of, k) for k in range(changed, of + 1)) / 2**of)


def same(one: Output, other: Output) -> bool:
    """Are these the same answer, apart from the last digits of its numbers?"""
    return one.ok and other.ok and _same(one.value, msgspec.json.decode(msgspec.json.encode(other.value)))


def _repeated(one: Output, other: Output) -> bool:
    return same(one, other) or not (one.ok or other.ok)


def _same(one: Json, other: Json) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    numbers = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in (one, other)]
    if all(numbers) and any(isinstance(value, float) for value in (one, other)):
        return isclose(one, other, rel_tol=_NEAR, abs_tol=_TINY)
    return type(one) is type(other) and bool(one == other)


def _shown(kept: Kept, today: Output) -> str:
    answer = _short(repr(today.value)) if today.ok else f"a failure ({_short(str(today.error))})"
    return f"{_short(repr(' | '.join(kept.inputs.values())))} was {_short(repr(kept.stored.value))}, now it is {answer}"


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "…"
