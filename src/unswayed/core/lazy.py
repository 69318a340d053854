"""How a package's `__init__` offers names without importing the modules that hold them before they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path


def door(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package: the names that its file imports under `if TYPE_CHECKING`.

    So type checkers and users see the same names, and each name stands in one place.
    """

    @cache
    def places() -> dict[str, tuple[str, str]]:
        import ast  # only if a name is used: `import unswayed` is fast

        parts = ast.parse(Path(file).read_bytes()).body
        checked = next(part.body for part in parts if isinstance(part, ast.If))
        imports = [part for part in checked if isinstance(part, ast.ImportFrom)]
        return {name.asname or name.name: (part.module or "", name.name) for part in imports for name in part.names}

    def getattr_(name: str) -> object:
        if name.startswith("__") or name not in places():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inside = places()[name]
        return getattr(import_module(module), inside)

    return getattr_, lambda: sorted(places())
