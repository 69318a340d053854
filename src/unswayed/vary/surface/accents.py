"""Accents left out, as people do who type in a hurry or on another keyboard."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Text
from unswayed.vary.surface import LONGEST, SurfaceOperator, base, fixed_places

_CLUSTER = re.compile(
    "[A-Za-z\u00c0-\u024f\u1e00-\u1fff\u0370-\u03ff\u0400-\u04ff\u0590-\u05ff\u0600-\u06ff\u0900-\u097f]"
    "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u093c]*"
)
# Letters that Unicode does not take apart.
_PLAIN = {"ł": "l", "đ": "d", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h",
    "ŋ": "n", "ə": "e"}  # fmt: skip
# What a language writes for its own letters where it can't write them.
_SPELLED = {
    "de": {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"},
    "da": {"æ": "ae", "ø": "oe", "å": "aa"},
    "nb": {"æ": "ae", "ø": "oe", "å": "aa"},
    "nn": {"æ": "ae", "ø": "oe", "å": "aa"},
    "sv": {"å": "aa", "ä": "ae", "ö": "oe"},
    "fi": {"ä": "ae", "ö": "oe"},
    "et": {"ä": "ae", "ö": "oe", "ü": "ue", "õ": "o"},
    "eo": {"ĉ": "cx", "ĝ": "gx", "ĥ": "hx", "ĵ": "jx", "ŝ": "sx", "ŭ": "ux"},
}
# Letters, not accents: without the mark, another letter stands there that nobody takes for it.
_KEPT = {"es": "ñ", "gl": "ñ", "eu": "ñ", "fil": "ñ", "tl": "ñ", "ru": "й", "uk": "йї", "be": "йў", "bg": "й",
    "kk": "й", "mk": "ѓќ", "sr": "ћђ"}  # fmt: skip
_FINAL = {"it": "àèéìòù"}  # at the end of a word with an apostrophe: *perche'*
_ALEF = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا"}


class Accents(SurfaceOperator):
    """Writes letters without their accents, or as German *ue* for *ü*.

    `kind` is dropped (*fur*) or spelled (*fuer*; German, the Nordic languages, Estonian, Esperanto, and Italian
    *perche'*). By default it is drawn, except in German and Italian, where it is spelled. Spanish keeps *ñ*, and
    Russian *й*, which have keys of their own. Arabic loses vowel signs and the hamza on alef, Hebrew its points,
    Hindi the nukta. With `rate` 1, the default, all letters change.
    """

    version = 2
    languages = ("es", "fr", "pt", "de", "en", "it", "ca", "gl", "eu", "oc", "ro", "pl", "cs", "sk", "hu", "tr", "az",
        "vi", "sv", "da", "nb", "nn", "no", "fi", "et", "lv", "lt", "sl", "hr", "bs", "sr", "is", "fo", "ga", "cy",
        "sq", "mt", "eo", "nl", "lb", "fil", "tl", "yo", "ku", "el", "ru", "be", "ar", "fa", "he", "hi")  # fmt: skip
    alters = ("grapheme",)
    kinds = ("dropped", "spelled")
    presets = ("surface", "typing")
    example = ("¿Dónde está la estación más próxima?", "¿Donde esta la estacion mas proxima?")

    def __init__(self, kind: str = "any", rate: float = 1.0) -> None:
        super().__init__(kind, rate)

    def order_in(self, language: str) -> Sequence[str]:
        # Germans write *fuer*, Italians *e'*; *wurde* for *würde* and *e* for *è* are other words
        return ("spelled", "dropped") if base(language) in ("de", "it") else ()

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written, language = text.text[:LONGEST], base(text.language)
        language = "nb" if language == "no" else language
        fixed = fixed_places(written)
        places = []
        for match in _CLUSTER.finditer(written):
            if match[0].isascii() or match.start() in fixed:
                continue
            before, after = written[max(0, match.start() - 1) : match.start()], written[match.end() : match.end() + 1]
            whole, new = unicodedata.normalize("NFC", match[0]), plain(match[0], language)
            if kind == "spelled" and not after.isalnum() and whole.lower() in _FINAL.get(language, ()):
                new = f"{unicodedata.normalize('NFD', whole)[0]}'"
            elif kind == "spelled":
                new = _SPELLED.get(language, {}).get(whole.lower())
                new = new.capitalize() if new and whole.isupper() else new
            if new is not None and new != match[0]:
                capitals = after.isupper() or (before.isupper() and not after.islower())
                capitals = capitals and len(new) > 1 and match[0].isupper()
                places.append([Edit(match.start(), match.end(), new.upper() if capitals else new)])
        return places


def plain(letter: str, language: str) -> str | None:
    """The letter without its marks, or None where they are no accent."""
    whole = unicodedata.normalize("NFC", letter)
    if whole.lower() in _KEPT.get(language, ""):
        return None
    if whole[0] in _ALEF and language == "ar":
        return _ALEF[whole[0]]
    known = _PLAIN.get(whole.lower())
    if known is not None:
        return known.capitalize() if whole.isupper() else known
    bare = "".join(c for c in unicodedata.normalize("NFD", letter) if unicodedata.category(c) != "Mn")
    if bare.lower() in _PLAIN:  # ǿ
        bare = _PLAIN[bare.lower()]
    return bare or None
