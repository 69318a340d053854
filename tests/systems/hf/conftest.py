from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs the extra hf")

from samples.tiny_models import mbart, tiny  # noqa: F401
