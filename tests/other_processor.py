"""A pytest plugin that lets numpy compute as another processor might: the last bit of exp, log and their kin differs.

`PYTHONPATH=tests python -m pytest -p other_processor tests/measure` shows the tests that hang on that bit. Matrix
products differ with OPENBLAS_CORETYPE=Prescott, PyTorch with ATEN_CPU_CAPABILITY=default, and Python's own math with
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _shifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but that every other number that it gives is the next one."""

    class Shifted:
        def __call__(self, *given: Any, **more: Any) -> Any:
            result = function(*given, **more)
            if not isinstance(result, np.ndarray | np.floating) or result.dtype not in (np.float64, np.float32):
                return result
            odd = np.asarray(result).view(f"i{result.dtype.itemsize}") & 1 == 1  # by the number, not by its place
            shifted = np.where(odd & np.isfinite(result), np.nextafter(result, np.inf, dtype=result.dtype), result)
            if "out" in more:
                result[...] = shifted
                return result
            return shifted if isinstance(result, np.ndarray) else result.dtype.type(shifted)

        def __getattr__(self, name: str) -> Any:
            return getattr(function, name)

    return Shifted()


for _name in ("exp", "log", "log2", "log1p", "expm1", "logaddexp", "tanh", "sin", "cos", "power"):
    setattr(np, _name, _shifted(getattr(np, _name)))
