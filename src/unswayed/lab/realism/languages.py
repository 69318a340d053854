"""Which languages typing and speech can be compared in, by script, and what each comparison looks at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, NamedTuple

from unswayed.base.errors import UsageError, WrongLanguage, option
from unswayed.base.identify import UNSURE, identify
from unswayed.base.language import language_name, language_tag
from unswayed.lab.realism.features import Named, named_features
from unswayed.lab.realism.letters import letter_features, lexicon_of, words_of
from unswayed.vary.keyboard.layouts import LANGUAGES, Layout, layout_for

Channel = Literal["typing", "speech"]
CHANNELS: tuple[Channel, ...] = ("typing", "speech")
_HAN = re.compile(r"[\u3400-\u9fff]")
# Written without spaces, or in blocks of several letters: neither way of counting fits them.
_NEITHER = re.compile(r"[\u3040-\u30ff\uac00-\ud7af\u1100-\u11ff\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff]")
_LOOKED_AT = 2_000  # texts
_WORDS_ALONE = ("letters", "speech")

Features = Callable[[str, str], Named]


class Script(NamedTuple):
    """How texts are compared: by Chinese characters or letters. The language is `und` where it is not known."""

    name: Literal["han", "letters"]
    language: str

    channel: Channel = "typing"

    def features(self, clean: Sequence[str]) -> Features:
        """What gives the named numbers of a clean text and of what became of it. All clean texts tell known words."""
        if self.name == "han":
            return named_features
        lexicon, board = lexicon_of(clean, self.language), keyboard_of(self.language)
        return lambda before, after: letter_features(before, after, lexicon, board)

    def seen(self, texts: Sequence[str]) -> list[str]:
        """The texts as they are compared: of speech in an alphabet the words alone, since a recogniser's capitals and
        marks are its settings."""
        return [" ".join(words_of(t)) for t in texts] if (self.name, self.channel) == _WORDS_ALONE else list(texts)

    def baseline(self) -> str:
        """The operator that is judged beside: a stress test for the same language and channel, or none."""
        if self.name == "han":
            return "keyboard/homophone"
        if self.channel == "speech":
            return "spoken/speako" if self.language.split("-")[0] == "en" else ""
        return "keyboard/adjacent" if keyboard_of(self.language) is not None else ""


@cache
def keyboard_of(language: str) -> Layout | None:
    """The keyboard of a language, if it has one."""
    return layout_for(language) if language.split("-")[0] in LANGUAGES else None


def script_of(texts: Sequence[str], language: str | None = None, channel: Channel = "typing") -> Script:
    """The script of these texts, and their language: the one that was named, or what they look like.

    Raises WrongLanguage where texts can't be compared, or are not in the script of the language.
    """
    sample = " ".join(texts[:_LOOKED_AT])
    han, neither = len(_HAN.findall(sample)), len(_NEITHER.findall(sample))
    letters = sum(map(str.isalpha, sample)) - han - neither
    said = language_tag(language) if language else None
    if neither > max(han, letters) / 5 or not han + letters:
        which = language_name(said or identify(texts[:_LOOKED_AT], rows=False).language)
        raise WrongLanguage(
            f"Noise in {which} can't be compared: unswayed counts slips in Chinese, and in alphabets whose words are "
            f"separated by spaces."
            if han + letters + neither
            else "The texts have no letters, so there is nothing to compare."
        )
    name: Literal["han", "letters"] = "han" if han > letters else "letters"
    if said is not None and (said.split("-")[0] == "zh") != (name == "han"):
        seen = "Chinese characters" if name == "han" else "an alphabet"
        raise WrongLanguage(f"{option('lang', 'language')} is {language!r}, but most texts are in {seen}.")
    if said is None:
        said = "zh" if name == "han" else identify(texts[:_LOOKED_AT], rows=False).language or UNSURE
    return Script(name, said, channel)


def require_chinese(texts: Sequence[str], command: str, instead: str) -> None:
    """Raises where a fit that knows Chinese alone is given other texts."""
    if script_of(texts).name != "han":
        raise WrongLanguage(
            f"`{command}` fits Chinese, and most of these texts are in an alphabet. Use `{instead}` for them."
        )


def require_noise(clean: Sequence[str], noisy: Sequence[str], person: int) -> None:
    """Raises where somebody changed nothing, so that there is nothing to fit."""
    if list(clean) == list(noisy):
        raise UsageError(
            f"All texts of person {person} ({option('real')}) equal the clean ones: there is nothing to fit."
        )
