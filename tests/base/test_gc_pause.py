"""The collector is off only while it is put off, and stays as its owner set it."""

from __future__ import annotations

import gc

import pytest

from unswayed.base.gc_pause import collecting_later


def test_it_goes_on_afterwards_also_after_an_error() -> None:
    assert gc.isenabled()
    with collecting_later():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), collecting_later():
        raise KeyError
    assert gc.isenabled()


def test_whoever_turned_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with collecting_later():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
