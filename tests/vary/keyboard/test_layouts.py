"""Keyboard layouts: what they write, against X's own tables, and that text comes back as it was typed."""

from __future__ import annotations

import ctypes
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import UnknownName
from unswayed.vary.keyboard.layouts import (
    LANGUAGES,
    SPACE,
    TO_KATAKANA,
    Layout,
    Stroke,
    hangul_keys,
    hangul_text,
    kana_text,
    key_hand,
    key_position,
    key_row,
    keys_touch,
    layout,
    layout_for,
    layout_names,
    romaji_keys,
)

SAMPLES = {
    "de": "Größe über Äpfel, Café",
    "fr": "Où êtes-vous, ça va près de l’été",
    "ru": "Съешь ещё этих мягких французских булок",
    "ar": "مرحبا بكم في مدينتنا",
    "he": "שלום עולם",
    "el": "Καλημέρα, πώς είστε;",
    "th": "สวัสดีครับ ขอบคุณ",
    "hi": "नमस्ते, आप कैसे हैं",
    "ko": "안녕하세요 값이 얼마예요 ㅋㅋ",
    "ja": "こんにちは、カメラをかいました",
    "ja-kana": "がっこうでパンをたべた",
    "vi-telex": "Tiếng Việt được viết ở đây",
    "pl-extended": "Zażółć gęślą jaźń",
    "tr": "İstanbul'da ılık bir gün",
    "cs": "Příliš žluťoučký kůň",
    "uk-extended": "Привіт, її ґанок",
}


def test_there_are_layouts_for_many_languages() -> None:
    assert len(layout_names()) >= 250
    assert len(LANGUAGES) >= 100
    for language in LANGUAGES:
        assert layout_for(language).keys, language


def test_the_page_has_every_language() -> None:
    page = (Path(__file__).parents[3] / "docs/typing.md").read_text("utf-8")
    for language in LANGUAGES:
        board = layout_for(language)
        shown = f"| `{board.name}` | {board.title} |"
        assert any(f"`{language}`" in line and shown in line for line in page.splitlines()), language
    assert f"all {len(layout_names())}" in page


def test_a_language_has_the_layout_of_its_writers() -> None:
    assert layout_for("de-AT").name == "de"
    assert layout_for("de-CH").name == "de-CH"
    assert layout_for("pt-BR").name == "pt"
    assert layout_for("pt-PT").name == "pt-PT"
    assert layout_for("es-MX").name == "es-419"
    assert layout_for("nl").name == "en-extended"
    assert layout("azerty") is layout("azerty")
    assert layout("qwertz").name == "de"


def test_an_unknown_layout_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no keyboard layout named 'de-noe'. Did you mean 'de-neo'\? .*list layouts"):
        layout("de-noe")
    with pytest.raises(UnknownName, match="language with a keyboard layout"):
        layout_for("tlh")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_text_comes_back_from_its_strokes(name: str, form: str) -> None:
    board, text = layout(name), unicodedata.normalize(form, SAMPLES[name])
    typed = list(board.runs(text))
    for run in typed:
        assert board.compose(run.strokes, text[run.start : run.end]) == text[run.start : run.end]
    letters = {i for i, c in enumerate(text) if unicodedata.category(c)[0] in "LM"}
    covered = {i for run in typed for i in range(run.start, run.end)}
    assert letters <= covered, [text[i] for i in letters - covered]


def test_dead_keys_are_strokes_of_their_own() -> None:
    german = layout("de")
    assert german.strokes("é") == (Stroke("E12"), Stroke("D03"))
    assert german.compose([Stroke("E12"), Stroke("D04")]) == "´r"
    assert german.compose([Stroke("E12"), Stroke("D03", 1)]) == "É"
    assert german.strokes("^") == (Stroke("E00"), Stroke(SPACE))
    assert german.strokes("€") == (Stroke("D03", 2),)
    assert german.strokes("я") is None
    assert layout("pl-extended").strokes("Ą") == (Stroke("C01", 3),)


def test_geometry_is_of_a_keyboard_with_set_in_rows() -> None:
    assert [key_position(key) for key in ("E01", "D01", "C01", "B01")] == [(1.0, 0), (1.5, 1), (1.75, 2), (2.25, 3)]
    assert keys_touch("C04", "C05")
    assert keys_touch("C01", "D01")
    assert not keys_touch("C01", "C03")
    assert keys_touch(SPACE, "B05")  # the bar is wide
    assert not keys_touch(SPACE, "B00")
    assert [key_hand(key) for key in ("D05", "D06", SPACE)] == ["left", "right", "either"]
    assert key_row("E05") == 0
    assert key_row(SPACE) == 4


@pytest.mark.parametrize("name", ["en", "fr", "ja", "pt"])
def test_to_be_beside_is_mutual(name: str) -> None:
    board = layout(name)
    for key in board.keys:
        near = board.neighbours(key)
        assert key not in near
        assert near
        assert all(key in board.neighbours(other) for other in near)


syllable = st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3)


@given(st.text(syllable, min_size=1, max_size=8))
def test_every_syllable_comes_back_from_its_jamo(text: str) -> None:
    assert hangul_text(hangul_keys(text)) == text


def test_jamo_are_composed_as_an_input_method_does() -> None:
    assert hangul_keys("값이") == "ㄱㅏㅂㅅㅇㅣ"
    assert hangul_text("ㄱㅏㅂㅅㅣ") == "갑시"
    assert hangul_text("ㄱㅏㄴㅏ") == "가나"
    assert hangul_text("ㅋㅋㅏ") == "ㅋ카"
    assert hangul_text("ㅏㄱ!ㄸ") == "ㅏㄱ!ㄸ"
    assert hangul_text("ㄱㅗㅏㄸㅏ") == "과따"


@pytest.mark.parametrize(
    ("kana", "keys"),
    [
        ("がっこう", "gakkou"),
        ("しんよう", "shinnyou"),
        ("しんぶん", "shinbunn"),
        ("ちゃんと", "chanto"),
        ("ファイル", "fairu"),
        ("パーティー", "pa-thi-"),
        ("まっちゃ", "maccha"),
        ("あっ", "axtu"),
    ],
)
def test_kana_are_typed_as_romaji(kana: str, keys: str) -> None:
    assert romaji_keys(kana) == keys
    assert kana_text(keys).translate(TO_KATAKANA) == kana.translate(TO_KATAKANA)


def test_keys_that_make_no_kana_stay_as_letters() -> None:
    assert kana_text("gqkkou") == "ｇｑっこう"
    assert kana_text("konitiha") == "こにちは"
    assert romaji_keys("漢") is None


# What X has and CLDR's Windows layouts have not: the key that American keyboards lack (B00), Devanagari's digits, which
# Windows writes as 1 2 3, the ligatures of lam and alef, which Windows writes as two letters, quotes, and
# whether ^ and ~ are dead keys. No letter of Neo differs; its dead keys and modifiers are not in our table.
KNOWN = {
    "fr": "E00.1",
    "ru": "B00.0 B00.1",
    "ar": "D05.1 D07.1 C05.1 C12.1 B00.0 B00.1 B05.0 B05.1 B07.1",
    "he": "B00.0 B00.1",
    "el": "D02.1 B00.0 B00.1",
    "th": "B00.0 B00.1",
    "hi": "E01.0 E02.0 E03.0 E03.1 E04.0 E04.1 E05.0 E05.1 E06.0 E06.1 E07.0 E07.1 E08.0 E08.1 E09.0 E10.0 B00.0 B00.1",
    "uk-extended": "E00.1 C12.0 C12.1 B00.0 B00.1",
    "fa-extended": "E00.1 E04.1 B00.0 B00.1 B02.1",
    "pl-extended": "E00.1 B00.0 B00.1",
    "tr": "E03.1",
    "en": "B00.0 B00.1",
    "de-neo": "E00.1 D12.1 B00.0 B00.1",
}
X = {
    "de": "de", "fr": "fr", "ru": "ru", "ar": "ara", "he": "il", "el": "gr", "th": "th", "hi": "in", "tr": "tr",
    "es": "es", "pt": "br", "pt-PT": "pt", "it": "it", "sv": "se", "uk-extended": "ua", "cs": "cz", "en": "us",
    "pl-extended": "pl", "bg": "bg", "hu": "hu", "fa-extended": "ir", "ja-kana": "jp:kana", "de-neo": "de:neo",
}  # fmt: skip


class _Names(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("rules", "model", "layout", "variant", "options")]


@pytest.fixture(scope="module")
def xkb() -> ctypes.CDLL:
    """Debian's library that reads the layouts of xkb-data."""
    try:
        library = ctypes.CDLL("libxkbcommon.so.0")
    except OSError:
        pytest.skip("libxkbcommon0 and xkb-data are not installed")
    library.xkb_context_new.restype = library.xkb_keymap_new_from_names.restype = ctypes.c_void_p
    library.xkb_keymap_new_from_names.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Names), ctypes.c_int]
    library.xkb_keymap_key_by_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    symbols = ctypes.POINTER(ctypes.POINTER(ctypes.c_uint32))
    library.xkb_keymap_key_get_syms_by_level.argtypes = [ctypes.c_void_p, *[ctypes.c_uint32] * 3, symbols]
    library.xkb_keymap_unref.argtypes = [ctypes.c_void_p]
    return library


def in_x(xkb: ctypes.CDLL, name: str) -> dict[str, str]:
    """What each key writes in X, by its place and level; `dead` if it writes nothing yet."""
    place, _, variant = name.partition(":")
    asked = _Names(b"evdev", b"pc105", place.encode(), variant.encode(), b"")
    keymap = xkb.xkb_keymap_new_from_names(xkb.xkb_context_new(0), ctypes.byref(asked), 0)
    assert keymap, f"xkb-data has no {name}"
    written = {}
    for key in [f"{r}{c:02}" for r, last in (("E", 12), ("D", 12), ("C", 12), ("B", 11)) for c in range(last + 1)]:
        code = xkb.xkb_keymap_key_by_name(
            keymap, {"E00": b"TLDE", "C12": b"BKSL", "B00": b"LSGT"}.get(key, b"A" + key.encode())
        )
        for level in (0, 1):
            found = ctypes.POINTER(ctypes.c_uint32)()
            count = xkb.xkb_keymap_key_get_syms_by_level(keymap, code, 0, level, ctypes.byref(found))
            buffer = ctypes.create_string_buffer(64)
            for i in range(count):
                if xkb.xkb_keysym_to_utf8(ctypes.c_uint32(found[i]), buffer, 64) > 0:
                    written[f"{key}.{level}"] = buffer.value.decode()
                else:
                    xkb.xkb_keysym_get_name(ctypes.c_uint32(found[i]), buffer, ctypes.c_size_t(64))
                    written[f"{key}.{level}"] = "dead" if buffer.value.startswith(b"dead_") else ""
    xkb.xkb_keymap_unref(keymap)
    return written


def ours(board: Layout) -> dict[str, str]:
    found = {f"{key}.{level}": board.written(Stroke(key, level)) for key in board.keys for level in (0, 1)}
    return {place: "dead" if written + " " in board.dead else written for place, written in found.items()}


@pytest.mark.parametrize("name", X)
def test_keys_write_what_they_write_in_x(xkb: ctypes.CDLL, name: str) -> None:
    theirs, here = in_x(xkb, X[name]), ours(layout(name))
    if name == "ja-kana":  # X's keys are katakana, and have Latin marks where JIS has none
        here = {place: c.translate(TO_KATAKANA) for place, c in here.items() if c.translate(TO_KATAKANA) != c}
        theirs = {place: c for place, c in theirs.items() if "ァ" <= c <= "ヶ"}
    places = [place for place in {*theirs, *here} if place[0] != "A" and (theirs.get(place) or here.get(place))]
    differ = {place for place in places if theirs.get(place, "") != here.get(place, "")}
    assert differ == set(KNOWN.get(name, "").split()), {p: (here.get(p), theirs.get(p)) for p in differ}
    assert len(places) >= 50
