"""How CMRC2018's official script reads answers: what it drops, and what it takes for a word."""

from __future__ import annotations

import re

from unfazed.papers.readin.treebank import words_of

# The script also lists the ellipsis, but as two characters in one, which never equal a single one: it stays.
_DROPPED = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
_HAN_OR_RUN = re.compile(r"[\u4e00-\u9fa5]|[^\u4e00-\u9fa5]+")


def bare(text: str) -> str:
    """The answer in lower case, without spaces around it and without the punctuation that does not count."""
    return text.lower().strip().translate(_DROPPED)


def units(text: str) -> list[str]:
    """A Chinese character is a unit of its own, other text is split into words."""
    return [word for part in _HAN_OR_RUN.findall(bare(text)) for word in words_of(part)]
