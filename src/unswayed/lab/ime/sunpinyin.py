"""SunPinyin, behind a small C++ shim that is compiled the first time it is used."""

from __future__ import annotations

import ctypes as c

from unswayed.lab.ime import count_used_keys, load_shim, make_user_folder
from unswayed.vary.keyboard.ime import Candidate, Engine, EngineMissing

_INCLUDE = "/usr/include/sunpinyin-2.0"


class SunPinyin(Engine):
    name = "sunpinyin"
    packages = "g++ libsunpinyin-dev sunpinyin-data"
    files = ("bin/g++", "include/sunpinyin-2.0", "lib/*/sunpinyin/data/lm_sc.t3g")

    def __init__(self) -> None:
        super().__init__()
        lib = self._lib = load_shim(self.name, [f"-I{_INCLUDE}", "-lsunpinyin"])
        lib.unswayed_open.argtypes = [c.c_char_p]
        lib.unswayed_candidates.restype = c.c_char_p
        lib.unswayed_candidates.argtypes = [c.c_char_p, c.c_int]
        if not lib.unswayed_open(str(make_user_folder(self.name)).encode()):
            raise EngineMissing(self.name, "its session can't be opened")

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        lines = self._lib.unswayed_candidates(keys.encode(), n).decode("utf-8", "ignore").split("\n")
        return [Candidate(text, count_used_keys(keys, text)) for text in lines if text]
