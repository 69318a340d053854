"""Which rows of a file in several languages an operator does not vary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from unswayed.base.language import UNSURE, knows
from unswayed.vary import operators

_MOST_SHOWN = 6  # languages of an operator in one message


def in_other_languages(names: Iterable[str], languages: Mapping[str, int]) -> Iterator[str]:
    """A sentence on each operator that leaves out rows of a mixed file, whose languages are counted."""
    for name in names:
        known = operators.get(name).languages
        others = {language: count for language, count in languages.items() if not knows(known, language)}
        if others:
            listed = ", ".join(f"{n:,} {'unsure' if tag == UNSURE else 'in ' + tag}" for tag, n in others.items())
            varies = f"it varies {', '.join(known)}" if len(known) <= _MOST_SHOWN else "which it does not vary"
            count = f"{sum(others.values()):,} of {sum(languages.values()):,}"
            yield f"{name}: {count} examples left out ({listed}; {varies})"
