"""English speech sounds, one character each, and how an unknown word is said.

Each letter of an unknown word gets no, one or two phones, by a model of which follow which: a back-off 5-gram over
letters joined with their phones, learnt from CMUdict by `tools/make_speako.py`.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from functools import cache
from importlib.resources import files

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
# Sounds that are easily added or lost, but at the beginning of a word.
WEAK = frozenset(("AH", "IH", "HH", "S", "Z", "T", "D"))
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


ORDER = 5
START, END = "^", "\xa1"
FILE = "speako_letters.tsv.gz"
# A letter with its phones is a token, one character from FIRST on in the order of the file's first line. Costs are
# tenths of a nat, characters from NONE on; back-offs may be below zero and are characters around ZERO. So no token can
# be taken for a cost, and the lines are searched as they are.
FIRST, NONE, ZERO = 0xA2, 0x20, 0x40
UNSEEN = 150  # the cost of a token that never occurred
_BEAM = 8


class Model:
    """What tokens cost after others."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens: dict[str, list[tuple[str, str]]] = {}  # of each letter: the token and its phones
        for i, token in enumerate(tokens):
            letter, _, phones = token.partition(":")
            self.tokens.setdefault(letter, []).append((chr(FIRST + i), phones))
        self.after: dict[str, str] = {}  # of each history: its back-off, then pairs of a token and its cost

    def cost(self, history: str, token: str) -> int:
        """What a token costs after a history, or after as much of it as was seen with the token."""
        cost = 0
        while True:
            known = self.after.get(history)
            if known:
                at = known.find(token, 1)
                if at > 0:
                    return cost + ord(known[at + 1]) - NONE
                cost += ord(known[0]) - ZERO
            if not history:
                return cost + UNSEEN
            history = history[1:]


def sound_of(word: str) -> str:
    """The phones of a word, one character each; "" where it has no letters. Letters without a vowel are spelled out."""
    letters = letters_of(word)
    spelled_out = "".join(LETTERS[letter] for letter in letters)
    if len(letters) == 1 or not set(letters) & set("aeiouy"):
        return spelled_out
    return decode(letters, _model()) or spelled_out


def decode(letters: str, model: Model) -> str:
    """The phones of the likeliest way to say the letters."""
    ways = [(0, START, "")]
    for letter in letters:
        best: dict[str, tuple[int, str, str]] = {}
        for cost, history, phones in ways:
            for token, more in model.tokens[letter]:
                total = cost + model.cost(history, token)
                tail = (history + token)[1 - ORDER :]
                if tail not in best or total < best[tail][0]:
                    best[tail] = (total, tail, phones + more)
        ways = sorted(best.values())[:_BEAM]
    return min((cost + model.cost(history, END), phones) for cost, history, phones in ways)[1]


@cache
def _model() -> Model:
    return read_model(gzip.decompress(files("unswayed.vary.spoken").joinpath("data", FILE).read_bytes()).decode())


def read_model(text: str) -> Model:
    """Line 1: tokens as `letter:phones`. Then a history, a tab, its back-off, and pairs of token and cost."""
    head, *lines = text.split("\n")
    model = Model(head.split(" "))
    model.after = dict(line.split("\t", 1) for line in lines if line)
    return model
