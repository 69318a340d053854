"""Sets by the names that people write: an operator, a family or slice=value, with * for each of several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from unswayed.base.errors import UnknownName
from unswayed.storage.suite import Suite

Named = tuple[str, str]  # the kind ("operator", "family" or a slice's name) and the name
Known = Mapping[str, Iterable[str]]  # the names that there are, by kind
ALL: Named = ("", "")
_WHOLE = ("", "all")


def spelled(name: Named) -> str:
    """A set as people write it."""
    return "all" if name == ALL else name[1] if name[0] in ("operator", "family") else "=".join(name)


def labelled(name: Named) -> str:
    """A set as differences and signatures have it: `all`, `operator=keyboard/adjacent`, `domain=home`."""
    return "all" if name == ALL else "=".join(name)


def split_measure(text: str) -> tuple[str, str]:
    """The set and the measure of `[SET:]MEASURE`. A measure has no colon, so a set's name may have some."""
    set_, _, measure = text.rpartition(":")
    return set_.strip(), measure.strip()


def split_limit(text: str, marks: str) -> tuple[str, str]:
    """What comes before and after the last of `marks`; a number has none of them, so the names before it may."""
    at = max(map(text.rfind, marks))
    return text[: max(at, 0)].strip(), text[at + 1 :].strip()


def sets_named(text: str, known: Known) -> list[Named]:
    """The sets that a text names: one or, with *, each of several; raises if there is none.

    `operator=` and `family=` tell apart what has the same name. Without them, an operator comes before a family.
    """
    if text in _WHOLE:
        return [ALL]
    levels = [[(name, (kind, name)) for name in known.get(kind, ())] for kind in ("operator", "family")]
    levels.append([(labelled((kind, name)), (kind, name)) for kind, names in known.items() for name in names])
    for level in levels:
        exact = [named for called, named in level if called == text]
        if found := exact or [named for called, named in level if _matches(text, called)]:
            return found
    raise _unknown(text, known)


def _matches(pattern: str, name: str) -> bool:
    parts = map(re.escape, pattern.split("*"))
    return "*" in pattern and re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


def _unknown(text: str, known: Known) -> UnknownName:
    slices = [kind for kind in known if kind not in ("operator", "family")]
    key, equals, value = text.partition("=")
    if not equals:
        return UnknownName("operator or family", text, {*known.get("operator", ()), *known.get("family", ())})
    if key in ("operator", "family"):
        return UnknownName(key, value, known.get(key, ()))
    if key in known:
        return UnknownName(f"value of the slice {key!r}", value, known[key])
    return UnknownName("slice", key, slices)


def sets_of(suite: Suite) -> dict[str, list[str]]:
    """The operators, families and slices of a suite, by kind."""
    found: dict[str, dict[str, None]] = {"operator": {}, "family": {}}
    for kind, name in _names(suite):
        found.setdefault(kind, {})[name] = None
    return {kind: sorted(names) for kind, names in found.items()}


def _names(suite: Suite) -> Iterator[Named]:
    for example, variants in suite.groups():
        yield from ((slice_key(key), value) for key, value in example.groups.items())
        for variant in variants:
            yield "operator", variant.source
            yield "family", variant.family


def slice_key(key: str) -> str:
    """How a slice is called in results, where "operator" and "family" are something else."""
    return f"slice {key}" if key in ("operator", "family") else key
