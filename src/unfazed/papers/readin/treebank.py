"""Words as the Penn Treebank's rules separate them, as far as SQL and short answers need it."""

from __future__ import annotations

import re

_ALONE = re.compile(r'\.{2,}|--|`+|[;@#$%&?!*\[\](){}<>"«»“”‘’„]')
_SEPARATOR = re.compile(r"[:,](?!\d)")  # a comma before a digit belongs to a number
_LAST_STOP = re.compile(r"(?<=[^.])\.(?=[\])}>\"'»”’\s]*$)")


def words_of(text: str) -> list[str]:
    """The words of a text. `=`, `+`, `/` and single `-` are not separated from what they touch."""
    for pattern in (_LAST_STOP, _SEPARATOR, _ALONE):
        text = pattern.sub(r" \g<0> ", text)
    return text.split()
