"""A fake accelerator: torch's meta device, which holds shapes and no numbers, in place of whatever is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.systems.device import DeviceChoice


class Watched(TorchDispatchMode):
    """Notes each operation of large tensors of two devices, and how many there were on meta alone."""

    def __init__(self) -> None:
        super().__init__()
        self.mixed: list[str] = []
        self.on_meta = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [t for t in tree_leaves((args, kwargs or {})) if isinstance(t, torch.Tensor) and t.dim()]
        kinds = {t.device.type for t in tensors}
        if len(kinds) > 1 and "copy" not in str(func):
            self.mixed.append(f"{func}: {kinds}")
        self.on_meta += kinds == {"meta"}
        return func(*args, **(kwargs or {}))


def use_meta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is chosen is meta."""
    monkeypatch.setattr(DeviceChoice, "torch_device", lambda self: torch.device("meta"))


def watched(work: Callable[[], object]) -> Watched:
    """What `work` did until it wanted a number, of which meta has none."""
    with Watched() as watch:
        try:
            work()
        except (NotImplementedError, RuntimeError, UsageError, SystemBroken) as error:
            if "meta" not in f"{error} {error.__cause__}":
                raise
    assert not watch.mixed, watch.mixed[:5]
    assert watch.on_meta
    return watch
