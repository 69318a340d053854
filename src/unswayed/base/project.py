"""The project's name on package indexes and its address: every install hint, template and page is made from these two.

Neither is registered yet. Until `DISTRIBUTION` is, no text tells anybody to install it by name: somebody else could
take the name and run their code on our users' machines. RELEASING.md begins with registering both.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

DISTRIBUTION = "unswayed"
REPOSITORY = "https://git.example/unswayed/unswayed"  # `.example` belongs to nobody, so that nothing can be put there

_REQUIREMENT = re.compile(r"""(?P<what>[^;]+?)\s*;(?P<marker>.*\bextra\s*==\s*['"](?P<extra>[\w-]+)['"].*)""")


def repository_registered() -> bool:
    """Whether the address is a real one, which can be cloned."""
    return not (urlsplit(REPOSITORY).hostname or "").endswith(".example")


def extra_requirements() -> dict[str, list[str]]:
    """What each extra adds, as its own requirements such as `torch==2.13.0`, from the installed metadata."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        listed = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # a checkout that is not installed
        return {}
    found: dict[str, list[str]] = {}
    for line in listed:
        if (parts := _REQUIREMENT.fullmatch(line)) and not parts["what"].startswith(f"{DISTRIBUTION}["):
            found.setdefault(parts["extra"], []).append(parts["what"].replace(" ", ""))
    return found


def extra_with(package: str) -> str:
    """The first extra that installs a package, such as hf for torch; empty if none does."""
    named = re.compile(rf"{re.escape(package)}(?![\w.-])", re.I)
    extras = {extra: lines for extra, lines in extra_requirements().items() if extra not in ("all", "dev")}
    return next((extra for extra in sorted(extras) if any(map(named.match, extras[extra]))), "")


def install_line(extra: str) -> str:
    """The command that installs what an extra needs, by the names of the packages themselves."""
    wanted = extra_requirements().get(extra)
    if not wanted:
        return f"pip install '.[{extra}]'  in a checkout of {DISTRIBUTION}"
    return f"pip install {' '.join(f'{chr(39)}{name}{chr(39)}' for name in wanted)}"
