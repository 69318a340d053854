"""Languages as BCP 47 tags: what users call them, and which an operator knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from unswayed.base.errors import UsageError, WrongLanguage, nearest, option
from unswayed.base.identify import SEVERAL, UNSURE, installed
from unswayed.base.project import install_line

# Codes of ISO 639 with English names; other names of one language after a slash.
_TABLE = """
aa Afar; ab Abkhazian; ae Avestan; af Afrikaans; ak Akan; als Tosk Albanian; am Amharic; an Aragonese; ar Arabic; arz
Egyptian Arabic; as Assamese; ast Asturian; av Avaric; ay Aymara; az Azerbaijani/Azeri; ba Bashkir; bar Bavarian; be
Belarusian; bg Bulgarian; bi Bislama; bm Bambara; bn Bengali/Bangla; bo Tibetan; br Breton; bs Bosnian; ca Catalan; ce
Chechen; ceb Cebuano; ch Chamorro; ckb Central Kurdish/Sorani; co Corsican; cr Cree; cs Czech; cu Church Slavic; cv
Chuvash; cy Welsh; da Danish; de German/Deutsch; dsb Lower Sorbian; dv Divehi; dz Dzongkha; ee Ewe; el Greek; en
English; eo Esperanto; es Spanish/Castilian; et Estonian; eu Basque; fa Persian/Farsi; ff Fulah; fi Finnish; fil
Filipino; fj Fijian; fo Faroese; fr French/Français; frr Northern Frisian; fy Western Frisian/Frisian; ga Irish; gd
Scottish Gaelic/Gaelic; gl Galician; gn Guarani; grc Ancient Greek; gsw Swiss German/Alemannic; gu Gujarati; gv Manx;
ha Hausa; haw Hawaiian; he Hebrew; hi Hindi; ho Hiri Motu; hr Croatian; hsb Upper Sorbian; ht Haitian Creole/Haitian;
hu Hungarian; hy Armenian; hz Herero; ia Interlingua; id Indonesian; ie Interlingue; ig Igbo; ii Sichuan Yi; ik
Inupiaq; io Ido; is Icelandic; it Italian; iu Inuktitut; ja Japanese; jv Javanese; ka Georgian; kg Kongo; ki Kikuyu;
kj Kuanyama; kk Kazakh; kl Kalaallisut/Greenlandic; km Khmer; kmr Northern Kurdish/Kurmanji; kn Kannada; ko Korean; kr
Kanuri; ks Kashmiri; ku Kurdish; kv Komi; kw Cornish; ky Kyrgyz/Kirghiz; la Latin; lb Luxembourgish; lg Ganda; li
Limburgish; lij Ligurian; lmo Lombard; ln Lingala; lo Lao; lt Lithuanian; lu Luba-Katanga; lv Latvian; mai Maithili;
mg Malagasy; mh Marshallese; mi Maori; mk Macedonian; ml Malayalam; mn Mongolian; mr Marathi; ms Malay; mt Maltese; my
Burmese; na Nauru; nap Neapolitan; nb Norwegian Bokmål/Norwegian/Bokmål; nd North Ndebele; nds Low German/Low Saxon;
ne Nepali; new Newari; ng Ndonga; nl Dutch/Flemish; nn Norwegian Nynorsk/Nynorsk; nr South Ndebele; nso Northern
Sotho; nv Navajo; ny Chichewa/Nyanja; oc Occitan; oj Ojibwa; om Oromo; or Odia/Oriya; os Ossetian; pa Punjabi/Panjabi;
pcm Nigerian Pidgin; pi Pali; pl Polish; pms Piedmontese; pnb Western Punjabi; ps Pashto/Pushto; pt Portuguese; qu
Quechua; rm Romansh; rn Rundi; ro Romanian/Moldovan; ru Russian; rue Rusyn; rw Kinyarwanda; sa Sanskrit; sah Yakut; sc
Sardinian; scn Sicilian; sco Scots; sd Sindhi; se Northern Sami; sg Sango; si Sinhala; sk Slovak; sl
Slovenian/Slovene; sm Samoan; sn Shona; so Somali; sq Albanian; sr Serbian; ss Swati; st Southern Sotho; su Sundanese;
sv Swedish; sw Swahili; ta Tamil; te Telugu; tg Tajik; th Thai; ti Tigrinya; tk Turkmen; tl Tagalog; tlh Klingon; tn
Tswana; to Tongan; tr Turkish; ts Tsonga; tt Tatar; tw Twi; ty Tahitian; ug Uyghur/Uighur; uk Ukrainian; ur Urdu; uz
Uzbek; ve Venda; vec Venetian; vi Vietnamese; vo Volapük; wa Walloon; war Waray; wo Wolof; wuu Wu Chinese; xh Xhosa;
yi Yiddish; yo Yoruba; yue Cantonese; za Zhuang; zh Chinese/Mandarin; zu Zulu
"""
_NAMES = {  # code → names
    code: names.split("/")
    for code, _, names in (entry.partition(" ") for entry in " ".join(_TABLE.split()).split("; "))
}
_CODES = {name.casefold(): code for code, names in _NAMES.items() for name in names}
_OLD = {"no": "nb", "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "hr", "cmn": "zh", "zsm": "ms"}
_SHOWN = 8  # operators in one message
_NAMED = 12  # languages in one message


def language_name(tag: str) -> str:
    """The English name of a tag's language: `German` of `de-AT`; the tag itself where there is none."""
    *others, last = (_NAMES.get(one.split("-")[0], [one])[0] for one in tag.split("+"))
    return f"{', '.join(others)} and {last}" if others else last


def language_tag(said: str) -> str:
    """The tag that a user means by `de`, `DE`, `de_AT` or `German`; raises UsageError for what is no language.

    Rows in several languages are `de+fr`, or `mul` where the languages are to be found.
    """
    name = " ".join(said.split())
    if "+" in name:
        return "+".join(dict.fromkeys(map(language_tag, name.split("+"))))
    if name.casefold() in _CODES:
        return _CODES[name.casefold()]
    head, *rest = re.split("[-_]", name)
    head = _OLD.get(head.lower(), head.lower())
    fits = all(re.fullmatch("[A-Za-z0-9]{2,8}", part) for part in rest)
    if fits and (head in _NAMES or (head in (SEVERAL, UNSURE) and not rest)):
        return "-".join([head, *map(_subtag, rest)])
    known = nearest(name.casefold(), _CODES) or (head if head in _NAMES else nearest(head, _NAMES))
    code = _CODES.get(known or "", known)
    hint = f" Did you mean {code!r} ({_NAMES[code][0]})?" if code else ""
    how = "a tag such as de or pt-BR, a name such as German, or mul for rows in several languages"
    raise UsageError(f"{option('lang', 'language')} {said!r} is not a known language.{hint} Use {how}.")


def _subtag(part: str) -> str:
    """A script as `Hant`, a region as `BR`, anything else in lower case."""
    return part.title() if len(part) == 4 and part.isalpha() else part.upper() if len(part) == 2 else part.lower()


def knows(languages: Sequence[str], language: str) -> bool:
    """`en` knows `en-IN`; `pt-BR` does not know `pt` or `pt-PT`; `*` knows all. Of `de+fr`, one is enough."""
    if "+" in language:
        return any(knows(languages, one) for one in language.split("+"))
    return any(known == "*" or language == known or language.startswith(known + "-") for known in languages)


def require_language(
    name: str, languages: Sequence[str], language: str, guessed: bool, instead: Iterable[str] = (),
) -> None:  # fmt: skip
    """Raises where the operator `name` does not know the language; `instead` are operators that do."""
    if knows(languages, language):
        return
    more = len(languages) - _NAMED
    known = ", ".join(languages) if more <= 1 else f"{', '.join(languages[:_NAMED])} and {more} more languages"
    if language == UNSURE:
        raise WrongLanguage(f"{name} varies {known}, but it is not clear which language the texts are in. {_how()}")
    how = f"{language!r} ({language_name(language)}{', identified from the texts' if guessed else ''})"
    names = list(instead)
    others = f"{', '.join(names[:_SHOWN])}{', …' if len(names) > _SHOWN else ''}"
    use = f"Use one that does, such as {others}" if names else "Choose another operator (`unswayed list operators`)"
    wrong = f", or set {option('lang', 'language')} if the language is wrong" if guessed else ""
    raise WrongLanguage(f"{name} varies {known}, but the data's language is {how}. {use}{wrong}.")


def _how() -> str:
    say = f"Set {option('lang', 'language')}, for example to en"
    return f"{say}." if installed() else f"{say}, or install what identifies it:  {install_line('lang')}"
