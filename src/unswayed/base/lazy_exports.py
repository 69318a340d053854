"""Lazy exports: how a package's `__init__` offers names without importing their modules before they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(
    package: str, table: Mapping[str, str]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """The `__all__`, `__getattr__` and `__dir__` of a package, from a literal table of module → its names.

    Modules are those of unswayed; `name=other` offers a name under another. The stub `__init__.pyi` says the same to
    type checkers, and a test holds the two together. No source is read at run time, so that a package in a zip, or
    without its `.py` files, works too.
    """
    places = {
        name.rpartition("=")[2]: (f"unswayed.{module}", name.partition("=")[0])
        for module, names in table.items()
        for name in names.split()
    }

    def getattr_(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inside = places[name]
        return getattr(import_module(module), inside)

    return sorted(places), getattr_, lambda: sorted(places)
