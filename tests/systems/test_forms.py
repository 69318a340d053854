"""Whoever mistypes a system is shown every form that there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from unswayed.base.errors import UsageError
from unswayed.systems.opening import SCHEMES, open_system

PAGE = (Path(__file__).parents[2] / "docs" / "systems.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "https"])
def test_every_form_is_shown_and_documented(scheme: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_system("no such system")
    shown = "http(s)://" if scheme == "http" else f"{scheme}:"
    assert f"\n  {shown}" in str(caught.value)
    assert f"`{scheme}:" in PAGE or scheme == "http"
