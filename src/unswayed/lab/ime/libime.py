"""libime, the engine of Fcitx 5, behind a small C++ shim that is compiled the first time it is used."""

from __future__ import annotations

import ctypes as c

from unswayed.lab.ime import Signatures, as_candidates, find_data_file, load_shim
from unswayed.vary.keyboard.ime import Candidate, EngineMissing, PinyinEngine

_FLAGS = ["-I/usr/include/LibIME", "-I/usr/include/Fcitx5/Utils", "-lIMEPinyin", "-lIMECore", "-lFcitx5Utils"]
_FUNCTIONS: Signatures = {
    "unswayed_open": (c.c_void_p, [c.c_char_p, c.c_char_p]),
    "unswayed_candidates": (c.c_char_p, [c.c_void_p, c.c_char_p, c.c_int]),
}


class LibIme(PinyinEngine):
    name = "libime"
    packages = (
        "g++ libboost-dev libfcitx5utils-dev libime-data libime-data-language-model libimecore-dev libimepinyin-dev"
    )
    files = ("bin/g++", "include/LibIME", "include/Fcitx5/Utils", "share/libime/sc.dict", "lib/*/libime/zh_CN.lm")

    def __init__(self) -> None:
        super().__init__()
        words, model = find_data_file("share/libime/sc.dict"), find_data_file("lib/*/libime/zh_CN.lm")
        self._lib = load_shim(self.name, _FLAGS, _FUNCTIONS)
        self._handle = self._lib.unswayed_open(str(words).encode(), str(model).encode())
        if not self._handle:
            raise EngineMissing(self.name, "its dictionary or language model can't be opened")

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        lines = self._lib.unswayed_candidates(self._handle, keys.encode(), n).decode("utf-8", "ignore")
        return as_candidates(keys, lines.split("\n"))
