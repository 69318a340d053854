"""Google Pinyin, the input method of early Android, as Debian's `libgooglepinyin0` has it."""

from __future__ import annotations

import ctypes as c

from unswayed.lab.ime import find_data_file, load_library, make_user_folder
from unswayed.vary.chinese import lexicon
from unswayed.vary.keyboard.ime import Candidate, Engine, EngineMissing

# Longer keys with many ways to read them, such as `ananananananananan`, make the decoder abort. Nobody types
# so many before choosing; the rest stays to be typed.
_MOST_KEYS, _MOST_CHARACTERS = 16, 16


class Google(Engine):
    name = "google"
    packages = "libgooglepinyin0"
    files = ("lib/*/libgooglepinyin.so.0", "lib/*/googlepinyin/data/dict_pinyin.dat")

    def __init__(self) -> None:
        super().__init__()
        lib = load_library(self.name, "libgooglepinyin.so.0")
        lib.im_open_decoder.restype = c.c_bool
        lib.im_open_decoder.argtypes = [c.c_char_p, c.c_char_p]
        lib.im_search.restype = c.c_size_t
        lib.im_search.argtypes = [c.c_char_p, c.c_size_t]
        lib.im_get_candidate.restype = c.c_void_p
        lib.im_get_candidate.argtypes = [c.c_size_t, c.c_void_p, c.c_size_t]
        lib.im_get_spl_start_pos.restype = c.c_size_t
        lib.im_get_spl_start_pos.argtypes = [c.POINTER(c.POINTER(c.c_uint16))]
        lib.im_set_max_lens.argtypes = [c.c_size_t, c.c_size_t]
        words = find_data_file("lib/*/googlepinyin/data/dict_pinyin.dat")
        user = make_user_folder(self.name) / "user.dat"
        if not lib.im_open_decoder(str(words).encode(), str(user).encode()):
            raise EngineMissing(self.name, f"{words} can't be opened")
        lib.im_set_max_lens(_MOST_KEYS, _MOST_CHARACTERS)
        self._lib, self._buffer = lib, (c.c_uint16 * 128)()

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        lib, typed = self._lib, _cut(keys).encode()
        lib.im_reset_search()
        count = lib.im_search(typed, len(typed))
        starts = c.POINTER(c.c_uint16)()
        syllables = lib.im_get_spl_start_pos(c.byref(starts))
        ends = [starts[i] for i in range(syllables + 1)]
        found = []
        for i in range(min(n, count)):
            if lib.im_get_candidate(i, self._buffer, 127):
                text = bytes(self._buffer).decode("utf-16-le", "ignore").split("\0", 1)[0]
                found.append(Candidate(text, ends[min(len(text), syllables)] or len(typed)))
        return found


def _cut(keys: str) -> str:
    """The keys as far as the decoder takes them, cut after a whole syllable."""
    at, syllables = 0, lexicon().syllables
    while at < len(keys) > _MOST_KEYS:
        end = next((e for e in range(min(len(keys), at + 6), at, -1) if keys[at:e] in syllables), at + 1)
        if end > _MOST_KEYS:
            return keys[:at].rstrip("'")
        at = end
    return keys
