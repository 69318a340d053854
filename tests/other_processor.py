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
    """The same function, every other result of which is the next number."""

    class Shifted:
        def __call__(self, *given: Any, **more: Any) -> Any:
            result = function(*given, **more)
            if isinstance(result, np.ndarray) and result.dtype.kind == "f":
                flat = result.reshape(-1) if result.flags.c_contiguous else None
                if flat is not None:
                    flat[::2] = np.nextafter(flat[::2], np.inf, dtype=result.dtype)
                return result
            if isinstance(result, float) and np.isfinite(result):  # also numpy's numbers
                return type(result)(np.nextafter(result, np.inf))
            return result

        def __getattr__(self, name: str) -> Any:
            return getattr(function, name)

    return Shifted()


for _name in ("exp", "log", "log2", "log1p", "expm1", "logaddexp", "tanh", "sin", "cos", "power"):
    setattr(np, _name, _shifted(getattr(np, _name)))
