"""Google Pinyin, the input method of early Android, as Debian's `libgooglepinyin0` has it."""

from __future__ import annotations

import ctypes as c

from unswayed.lab.ime import Signatures, find_data_file, load_library, make_user_folder
from unswayed.vary.chinese import lexicon
from unswayed.vary.keyboard.ime import Candidate, EngineMissing, PinyinEngine

# Longer keys with many ways to read them, such as `ananananananananan`, make the decoder abort. Nobody types
# so many before choosing; the rest stays to be typed.
_MAX_KEYS, _MAX_CHARACTERS = 16, 16
_FUNCTIONS: Signatures = {
    "im_open_decoder": (c.c_bool, [c.c_char_p, c.c_char_p]),
    "im_search": (c.c_size_t, [c.c_char_p, c.c_size_t]),
    "im_get_candidate": (c.c_void_p, [c.c_size_t, c.c_void_p, c.c_size_t]),
    "im_get_spl_start_pos": (c.c_size_t, [c.POINTER(c.POINTER(c.c_uint16))]),
    "im_set_max_lens": (c.c_int, [c.c_size_t, c.c_size_t]),
}


class Google(PinyinEngine):
    name = "google"
    packages = "libgooglepinyin0"
    files = ("lib/*/libgooglepinyin.so.0", "lib/*/googlepinyin/data/dict_pinyin.dat")

    def __init__(self) -> None:
        super().__init__()
        lib = load_library(self.name, "libgooglepinyin.so.0", _FUNCTIONS)
        words = find_data_file("lib/*/googlepinyin/data/dict_pinyin.dat")
        user = make_user_folder(self.name) / "user.dat"
        if not lib.im_open_decoder(str(words).encode(), str(user).encode()):
            raise EngineMissing(self.name, f"{words} can't be opened")
        lib.im_set_max_lens(_MAX_KEYS, _MAX_CHARACTERS)
        self._lib, self._buffer = lib, (c.c_uint16 * 128)()

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        # The keys as far as the decoder takes them, cut after a whole syllable.
        at, typable, syllables = 0, keys, lexicon().syllables
        while at < len(keys) > _MAX_KEYS:
            end = next((e for e in range(min(len(keys), at + 6), at, -1) if keys[at:e] in syllables), at + 1)
            if end > _MAX_KEYS:
                typable = keys[:at].rstrip("'")
                break
            at = end
        lib, typed = self._lib, typable.encode()
        lib.im_reset_search()
        count = lib.im_search(typed, len(typed))
        starts = c.POINTER(c.c_uint16)()
        spelled = lib.im_get_spl_start_pos(c.byref(starts))
        ends = [starts[i] for i in range(spelled + 1)]
        found = []
        for i in range(min(n, count)):
            if lib.im_get_candidate(i, self._buffer, 127):
                text = bytes(self._buffer).decode("utf-16-le", "ignore").split("\0", 1)[0]
                found.append(Candidate(text, ends[min(len(text), spelled)] or len(typed)))
        return found
