"""What fits simulated people to real ones and judges them: calibration, realism, input methods as oracles."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, {"lab.realism.compare": "looks=typing_errors"})
