"""libpinyin, the engine of IBus and GNOME, as Debian's `libpinyin15` has it."""

from __future__ import annotations

import ctypes as c

from unswayed.lab.ime import Signatures, as_candidates, find_data_file, load_library, make_user_folder
from unswayed.vary.keyboard.ime import Candidate, EngineMissing, PinyinEngine

# Pinyin; letters may stand for syllables; `xian` may be xi'an. Not: adjusting to what was chosen before.
_OPTIONS = 1 << 1 | 1 << 3 | 1 << 7 | 1 << 8
_FUNCTIONS: Signatures = {
    "pinyin_init": (c.c_void_p, [c.c_char_p, c.c_char_p]),
    "pinyin_set_options": (c.c_bool, [c.c_void_p, c.c_uint32]),
    "pinyin_alloc_instance": (c.c_void_p, [c.c_void_p]),
    "pinyin_reset": (c.c_bool, [c.c_void_p]),
    "pinyin_parse_more_full_pinyins": (c.c_size_t, [c.c_void_p, c.c_char_p]),
    "pinyin_guess_sentence": (c.c_bool, [c.c_void_p]),
    "pinyin_guess_candidates": (c.c_bool, [c.c_void_p, c.c_size_t, c.c_uint]),
    "pinyin_get_n_candidate": (c.c_bool, [c.c_void_p, c.POINTER(c.c_uint)]),
    "pinyin_get_candidate": (c.c_bool, [c.c_void_p, c.c_uint, c.POINTER(c.c_void_p)]),
    "pinyin_get_candidate_string": (c.c_bool, [c.c_void_p, c.c_void_p, c.POINTER(c.c_char_p)]),
}
_SORT = 0x2 | 0x4 | 0x8 | 0x10  # by phrase length, pinyin length, frequency, with the whole sentence first


class LibPinyin(PinyinEngine):
    name = "libpinyin"
    packages = "libpinyin15 libpinyin-data"
    files = ("lib/*/libpinyin.so.15", "lib/*/libpinyin/data/table.conf")

    def __init__(self) -> None:
        super().__init__()
        lib = self._lib = load_library(self.name, "libpinyin.so.15", _FUNCTIONS)
        place = find_data_file("lib/*/libpinyin/data/table.conf").parent
        user = make_user_folder(self.name)
        versions = (place / "table.conf").read_text(encoding="utf-8").splitlines()[:2]
        (user / "user.conf").write_text("\n".join(versions) + "\n", encoding="utf-8")  # it complains of its absence
        context = lib.pinyin_init(str(place).encode(), str(user).encode())
        if not context:
            raise EngineMissing(self.name, f"its data in {place} can't be opened")
        lib.pinyin_set_options(context, _OPTIONS)
        self._instance = lib.pinyin_alloc_instance(context)

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        lib, instance = self._lib, self._instance
        lib.pinyin_reset(instance)
        if not lib.pinyin_parse_more_full_pinyins(instance, keys.encode()):
            return []
        lib.pinyin_guess_sentence(instance)
        lib.pinyin_guess_candidates(instance, 0, _SORT)
        count, offer, text = c.c_uint(), c.c_void_p(), c.c_char_p()
        lib.pinyin_get_n_candidate(instance, c.byref(count))
        found = []
        for i in range(min(n, count.value)):
            lib.pinyin_get_candidate(instance, i, c.byref(offer))
            lib.pinyin_get_candidate_string(instance, offer, c.byref(text))
            found.append((text.value or b"").decode("utf-8", "ignore"))
        return as_candidates(keys, found)
