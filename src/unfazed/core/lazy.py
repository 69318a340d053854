"""How a package's `__init__` offers names without importing the modules that hold them before they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def door(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package that offers names of these modules, separated by spaces.

    `apply:apply_edits` offers the module's `apply` under a name that is clear outside it.
    """
    places: dict[str, tuple[str, str]] = {}
    for module, names in modules.items():
        for entry in names.split():
            inside, _, outside = entry.partition(":")
            places[outside or inside] = (module, inside)

    def getattr_(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inside = places[name]
        return getattr(import_module(module), inside)

    return getattr_, lambda: sorted(places)
