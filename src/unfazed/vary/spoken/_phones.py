"""English speech sounds, one character each, and which spellings are of one word, not of two that sound alike."""

from __future__ import annotations

import re
import unicodedata

# ARPAbet as in CMUdict, without stress: too few words differ in nothing else.
_ARPABET = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
CODES = dict(zip(_ARPABET.split(), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm", strict=True))
VOWELS = frozenset(p for p in CODES if p[0] in "AEIOU")
_PLACES = {"lips": "P B F V M W", "teeth": "T D TH DH S Z N L", "palate": "CH JH SH ZH R Y", "throat": "K G NG HH"}
_MANNERS = {
    "stop": "P B T D K G",
    "affricate": "CH JH",
    "fricative": "F V TH DH S Z SH ZH HH",
    "nasal": "M N NG",
    "glide": "L R W Y",
}
WEAK = frozenset(
    ("AH", "IH", "HH", "S", "Z", "T", "D")
)  # sounds that are easily added or lost, but at the beginning of a word
_VOICELESS = frozenset(("P", "T", "K", "CH", "F", "TH", "S", "SH", "HH"))
_LETTERS = """
a EY, b B IY, c S IY, d D IY, e IY, f EH F, g JH IY, h EY CH, i AY, j JH EY, k K EY, l EH L, m EH M, n EH N, o OW,
p P IY, q K Y UW, r AA R, s EH S, t T IY, u Y UW, v V IY, w D AH B AH L Y UW, x EH K S, y W AY, z Z IY
"""
# What letters are called, for what is spelled out.
LETTERS = {item[0]: "".join(CODES[p] for p in item[1:]) for item in map(str.split, _LETTERS.split(","))}


def _features(phone: str) -> tuple[str, str, bool]:
    place = next(name for name, phones in _PLACES.items() if phone in phones.split())
    manner = next(name for name, phones in _MANNERS.items() if phone in phones.split())
    return place, manner, phone in _VOICELESS


def akin(a: str, b: str) -> bool:
    """Are two phones easily taken for each other?

    Two vowels are; consonants of one manner that share place or voice; and those of two manners at one place and voice,
    but glides (*l r w y*) only with glides and nasals only with nasals and stops.
    """
    if a in VOWELS or b in VOWELS:
        return a in VOWELS and b in VOWELS
    (place, manner, voice), (place2, manner2, voice2) = _features(a), _features(b)
    if manner == manner2:
        return place == place2 or voice == voice2
    apart = {manner, manner2}
    if "glide" in apart or ("nasal" in apart and "stop" not in apart):
        return False
    return place == place2 and voice == voice2


def letters_of(word: str) -> str:
    """The word in plain small letters: accents, apostrophes, hyphens and other marks dropped."""
    return re.sub("[^a-z]", "", unicodedata.normalize("NFKD", word).lower())


_PAIRS = (
    "axe/ax, cheque/check, cosy/cozy, doughnut/donut, draught/draft, grey/gray, gaol/jail, goodbye/goodby, "
    "jewellery/jewelry, kerb/curb, light/lite, manoeuvre/maneuver, mould/mold, moult/molt, mum/mom, night/nite, "
    "okay/ok, plough/plow, pyjamas/pajamas, sceptic/skeptic, sceptical/skeptical, smoulder/smolder, storey/story, "
    "speciality/specialty, sulphur/sulfur, though/tho, through/thru, tyre/tire, whiskey/whisky, yoghurt/yogurt"
)
_SAME = dict(pair.split("/") for pair in _PAIRS.split(", "))
_RULES = [
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(?<=[a-z]{2})our(?![cgnt])", "or"),  # colour, favourite; not hour, journey
        (r"(?<=[a-z]{3})is(?=(e|ed|es|er|ers|ing|ation|ations)$)", "iz"),  # organise; not rise, prise
        (r"(?<=l)ys(?=(e|ed|es|er|ers|ing)$)", "yz"),  # analyse
        (r"(?<=[a-z][bcdfgkpt])re(?=s?$)", "er"),  # centre
        (r"(?<=[a-z]og)ue(?=s?$)", ""),  # dialogue
        (r"^(.*[aeiouy][^aeiouy]+[aeiouy])ll", r"\1l"),  # travelling, enroll; not filling
        (r"[ao]e(?=[a-z]{3})", "e"),  # oestrogen, paediatric
        (r"(?<=[a-z]{2}en)c(?=e[sd]?$)", "s"),  # defence
        (r"(?<=gra)mme(?=s?$)", "m"),  # programme
        (r"(?<=dg)e(?=ment)|(?<=ag)e(?=ing$)|(?<=[a-z]{3})e(?=able$)", ""),  # judgement, ageing, likeable
    )
]


def spelling_key(letters: str) -> str:
    """Equal for two spellings of one word, such as *colour* and *color*, and seldom for anything else."""
    if letters in _SAME:
        return _SAME[letters]
    for pattern, new in _RULES:
        letters = pattern.sub(new, letters)
    return letters
