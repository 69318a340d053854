"""Compiled code in the cache is loaded only if it is what the compiler wrote, and nobody else could have changed it."""

from __future__ import annotations

import ctypes
import shutil
import stat
from pathlib import Path

import pytest

from unswayed.lab import ime

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "probe.cpp").write_text('extern "C" int answer() { return 42; }\n')
    (tmp_path / "evil.cpp").write_text('extern "C" int answer() { return 666; }\n')
    monkeypatch.setattr(ime, "_SHIMS", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "unswayed" / "ime"


def built(cache: Path) -> Path:
    (file,) = cache.glob("probe-*.so")
    return file


def test_it_is_compiled_once_and_found_again(cache: Path) -> None:
    assert ime.load_shim("probe", []).answer() == 42
    first = built(cache).stat().st_ino
    ime.load_shim("probe", [])
    assert built(cache).stat().st_ino == first
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


@pytest.mark.parametrize("how", ["another", "cut", "writable", "link"])
def test_a_tampered_one_is_compiled_again(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    loaded: list[bytes] = []
    monkeypatch.setattr(
        ime, "load_library", lambda name, library, functions=None: loaded.append(Path(library).read_bytes())
    )
    ime.load_shim("probe", [])
    file = built(cache)
    right = file.read_bytes()
    if how == "another":
        ime.compile_shim("evil", tmp_path / "evil.cpp", tmp_path / "evil.so", [])
        file.write_bytes((tmp_path / "evil.so").read_bytes())
    elif how == "cut":
        file.write_bytes(right[:100])
    elif how == "writable":
        file.chmod(0o777)
    else:
        file.rename(tmp_path / "elsewhere.so")
        file.symlink_to(tmp_path / "elsewhere.so")
    ime.load_shim("probe", [])
    assert loaded == [right, right]
    assert not file.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o700
    assert ctypes.CDLL(str(file)).answer() == 42
