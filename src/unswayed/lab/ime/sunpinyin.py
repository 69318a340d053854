"""SunPinyin, behind a small C++ shim that is compiled the first time it is used."""

from __future__ import annotations

import ctypes as c

from unswayed.lab.ime import Signatures, as_candidates, load_shim, make_user_folder
from unswayed.vary.keyboard.ime import Candidate, EngineMissing, PinyinEngine

_FUNCTIONS: Signatures = {
    "unswayed_open": (c.c_int, [c.c_char_p]),
    "unswayed_candidates": (c.c_char_p, [c.c_char_p, c.c_int]),
}


class SunPinyin(PinyinEngine):
    name = "sunpinyin"
    packages = "g++ libsunpinyin-dev sunpinyin-data"
    files = ("bin/g++", "include/sunpinyin-2.0", "lib/*/sunpinyin/data/lm_sc.t3g")

    def __init__(self) -> None:
        super().__init__()
        self._lib = load_shim(self.name, ["-I/usr/include/sunpinyin-2.0", "-lsunpinyin"], _FUNCTIONS)
        if not self._lib.unswayed_open(str(make_user_folder(self.name)).encode()):
            raise EngineMissing(self.name, "its session can't be opened")

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        lines = self._lib.unswayed_candidates(keys.encode(), n).decode("utf-8", "ignore")
        return as_candidates(keys, lines.split("\n"))
