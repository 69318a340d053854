"""Torch kept in its place: asked for by name, on a given number of threads, its random state left as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from unfazed.core.errors import MissingExtra


def need(what: str, *modules: str) -> None:
    """Raises MissingExtra unless torch, safetensors and these modules are installed."""
    if any(find_spec(module) is None for module in ("torch", "safetensors", *modules)):
        raise MissingExtra(what, "hf")


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Sums are taken in an order that depends on the number of threads, so it is set, and set back."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch draws from this seed inside, and goes on outside as if nothing had been drawn."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
