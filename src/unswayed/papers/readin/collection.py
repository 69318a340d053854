"""Studies in which people make READIN's data again: the paper's design as files for the collection app."""

from __future__ import annotations

from pathlib import Path

from unswayed.base import UsageError
from unswayed.collect import study_template

# What the paper's typists used, and the dialect groups of China that its speakers came from.
METHODS = {
    "microsoft": ("Microsoft Pinyin", "微软拼音"),
    "qq": ("QQ Pinyin", "QQ拼音"),
    "sogou": ("Sogou Pinyin", "搜狗拼音"),
}
ORIGINS = {
    "mandarin": ("Mandarin", "官话"),
    "jin": ("Jin", "晋语"),
    "wu": ("Wu, such as Shanghainese", "吴语（如上海话）"),
    "hui": ("Hui", "徽语"),
    "gan": ("Gan", "赣语"),
    "xiang": ("Xiang", "湘语"),
    "min": ("Min, such as Hokkien", "闽语（如闽南话）"),
    "hakka": ("Hakka", "客家话"),
    "yue": ("Yue, such as Cantonese", "粤语（如广东话）"),
    "pinghua": ("Pinghua", "平话"),
}
_ORIGIN = ("Which dialect is spoken where you grew up?", "您在哪种方言区长大？")
KINDS = {
    "retype": ("ime", ("Which input method do you use?", "您使用哪种输入法？"), METHODS),
    "read_aloud": ("origin", _ORIGIN, ORIGINS),
}


def study_of(kind: str, path: Path, suite: str) -> str:
    """A study in which three people each enter a suite's texts, by keyboard or by voice, as READIN's did.

    Each of the three is of another stratum: another input method, or another dialect group. Typists are asked where
    they come from too.
    """
    if kind not in KINDS:
        raise UsageError(f"READIN's data are typed (retype) or spoken (read_aloud), not {kind!r}.")
    by, text, answers = KINDS[kind]
    made = study_template(path, kind, suite=suite, language="zh")
    made = made.replace('# strata = ["sogou", "baidu", "gboard"]      #', f"strata = {_listed(answers)}      #")
    made = made.replace('# by = "ime"     ', f'by = "{by}"')
    made += _question(by, text, answers)
    return made if by == "origin" else made + _question("origin", _ORIGIN, ORIGINS)


def _listed(answers: dict[str, tuple[str, str]]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in answers) + "]"


def _question(name: str, text: tuple[str, str], answers: dict[str, tuple[str, str]]) -> str:
    rows = ", ".join(f'{key} = {{en = "{en}", zh = "{zh}"}}' for key, (en, zh) in answers.items())
    return f'\n[[questions]]\nname = "{name}"\ntext = {{en = "{text[0]}", zh = "{text[1]}"}}\nanswers = {{{rows}}}\n'
