"""Rime with its simplified pinyin schema, as Debian's `librime1` and `rime-data-*` have it."""

from __future__ import annotations

import atexit
import ctypes as c
from functools import cache
from typing import Self

from unswayed.lab.ime import Signatures, as_candidates, load_library, make_user_folder
from unswayed.vary.keyboard.ime import Candidate, EngineMissing, PinyinEngine

_SCHEMA = "pinyin_simp"
_NAMES = ("distribution_name", "distribution_code_name", "distribution_version", "app_name")


class _Traits(c.Structure):
    _fields_ = (
        ("data_size", c.c_int),
        ("shared_data_dir", c.c_char_p),
        ("user_data_dir", c.c_char_p),
        *((name, c.c_char_p) for name in _NAMES),
        ("modules", c.c_void_p),
        ("min_log_level", c.c_int),
        ("log_dir", c.c_char_p),
        ("prebuilt_data_dir", c.c_char_p),
        ("staging_dir", c.c_char_p),
    )


class _Offer(c.Structure):
    _fields_ = (("text", c.c_char_p), ("comment", c.c_char_p), ("reserved", c.c_void_p))


class _Iterator(c.Structure):
    _fields_ = (("ptr", c.c_void_p), ("index", c.c_int), ("candidate", _Offer))


_FUNCTIONS: Signatures = {
    "RimeCreateSession": (c.c_size_t, []),
    "RimeSelectSchema": (c.c_int, [c.c_size_t, c.c_char_p]),
    "RimeProcessKey": (c.c_int, [c.c_size_t, c.c_int, c.c_int]),
    "RimeClearComposition": (c.c_int, [c.c_size_t]),
    "RimeCandidateListBegin": (c.c_int, [c.c_size_t, c.POINTER(_Iterator)]),
    "RimeCandidateListNext": (c.c_int, [c.POINTER(_Iterator)]),
    "RimeCandidateListEnd": (c.c_int, [c.POINTER(_Iterator)]),
}


class Rime(PinyinEngine):
    """Deploys its schema into a fresh user folder, with the user dictionary, its memory, switched off."""

    name = "rime"
    packages = "librime1 rime-data-luna-pinyin rime-data-pinyin-simp"
    files = ("lib/*/librime.so.1", *(f"share/rime-data/{name}.schema.yaml" for name in (_SCHEMA, "luna_pinyin")))

    def __init__(self) -> None:
        super().__init__()
        lib = self._lib = load_library(self.name, "librime.so.1", _FUNCTIONS)
        user = make_user_folder(self.name)
        (user / "default.custom.yaml").write_text(f"patch:\n  schema_list:\n    - schema: {_SCHEMA}\n")
        (user / f"{_SCHEMA}.custom.yaml").write_text("patch:\n  translator/enable_user_dict: false\n")
        traits = self._traits = _Traits(
            shared_data_dir=b"/usr/share/rime-data", user_data_dir=str(user).encode(), min_log_level=3, log_dir=b""
        )
        traits.data_size = c.sizeof(_Traits) - c.sizeof(c.c_int)
        for name in _NAMES:
            setattr(traits, name, b"unswayed" if name != "app_name" else b"rime.unswayed")
        lib.RimeSetup(c.byref(traits))
        lib.RimeInitialize(c.byref(traits))
        if lib.RimeStartMaintenance(1):
            lib.RimeJoinMaintenanceThread()
        atexit.register(lib.RimeFinalize)  # without it the process crashes on its way out
        self._session = lib.RimeCreateSession()
        if not lib.RimeSelectSchema(self._session, _SCHEMA.encode()):
            raise EngineMissing(self.name, f"the schema {_SCHEMA} can't be opened")

    @classmethod
    @cache
    def open(cls) -> Self:
        """One a process, whoever asks: librime can't be set up twice, and ends the process where that is tried."""
        return cls()

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        lib, session = self._lib, self._session
        lib.RimeClearComposition(session)
        for key in keys:
            lib.RimeProcessKey(session, ord(key), 0)
        found: list[str] = []
        offers = _Iterator()
        if lib.RimeCandidateListBegin(session, c.byref(offers)):
            while len(found) < n and lib.RimeCandidateListNext(c.byref(offers)):
                found.append(offers.candidate.text.decode("utf-8", "ignore"))
            lib.RimeCandidateListEnd(c.byref(offers))
        return as_candidates(keys, found)
