"""One Registry for everything that has a name: operators, systems, scorers, readers, tasks.

A thing's name is its path: `vary/spoken/filler_end.py` holds the operator `spoken/filler_end`. Built-in things
are found by listing files, plug-ins by their entry points; neither is imported before it is asked for.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, cached_property, reduce
from importlib.machinery import PathFinder
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from unswayed.base.errors import MissingExtra, NameClash, UnknownName, UsageError, option
from unswayed.base.project import DISTRIBUTION, extra_with
from unswayed.base.recorder import listening

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

T = TypeVar("T")


class PlugIn(NamedTuple):
    """An entry point of an installed package: `value` is `module:Class`, `owner` the package."""

    name: str
    value: str
    group: str
    owner: str

    def load(self) -> object:
        module, _, attributes = self.value.partition("[")[0].strip().partition(":")
        return reduce(getattr, filter(None, attributes.split(".")), importlib.import_module(module))


@cache
def _installed(path: tuple[str, ...]) -> dict[str, str]:
    """The metadata folder of each package that is installed on the path, by the package's name as folders have it.

    `importlib.metadata` finds the same, but to import it takes longer than to start most commands.
    """
    found: dict[str, str] = {}
    for place in path:
        with suppress(OSError), os.scandir(place or ".") as entries:
            for entry in entries:
                stem, dot, kind = entry.name.rpartition(".")
                if dot and kind in ("dist-info", "egg-info"):
                    found.setdefault(re.sub(r"[-_.]+", "_", stem.partition("-")[0]).lower(), entry.path)
    return found


def _metadata(folder: str, field: str) -> str:
    """A field of a package's metadata, such as its name."""
    for name in ("METADATA", "PKG-INFO"):
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.lower().startswith(f"{field}: "):
                    return line.partition(": ")[2].strip()
                if not line.strip():
                    break
    return ""


@cache
def _plugged_in(path: tuple[str, ...]) -> Sequence[PlugIn]:
    """The entry points of unswayed's groups in all that is installed on the path."""
    others = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions") and finder is not PathFinder]
    if others or any(map(os.path.isfile, path)):  # packages may be in archives, or elsewhere
        from importlib.metadata import entry_points

        every = entry_points()
        groups = [every.select(group=group) for group in every.groups if group.startswith("unswayed.")]
        return [PlugIn(p.name, p.value, p.group, p.dist.name if p.dist else p.value) for its in groups for p in its]
    found = []
    for folder in _installed(path).values():
        with suppress(OSError), open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file:
            text = file.read()
            owner, group = _metadata(folder, "name") if "[unswayed." in text else "", ""
            for line in map(str.strip, text.splitlines() if owner else ()):
                name, equals, value = line.partition("=")
                if line.startswith("["):
                    group = line.strip("[]")
                elif equals and group.startswith("unswayed.") and line[0] not in "#;":
                    found.append(PlugIn(name.strip(), value.strip(), group, owner))
    return found


def _version() -> str:
    """Our version, which is written in one place, the package's metadata."""
    if folder := _installed(tuple(sys.path)).get(DISTRIBUTION):
        return _metadata(folder, "version")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # a checkout that was not installed
        return "0+unknown"


VERSION = _version()


def public_modules(folder: Traversable) -> list[str]:
    """The names of the modules in a package's folder, also in a zip or without sources, but for `_private` ones."""
    found = (file.name.partition(".") for file in folder.iterdir())
    return sorted({name for name, _, suffix in found if suffix in ("py", "pyc") and not name.startswith("_")})


class Registry(Generic[T]):
    """The classes of one kind by name. `base` is the class that each of them extends."""

    def __init__(
        self,
        kind: str,
        base: type[T],
        package: str | None = None,
        folders: bool = False,
        besides: Sequence[str] = (),
        more: Sequence[str] = (),
    ) -> None:
        """`more` are other packages with files of this kind; with `folders`, their names begin the names of the files.

        `besides` are folders, or names, that are not of this kind, or have a registry of their own.
        """
        self.kind, self.base = kind, base
        self.package, self.folders, self.besides, self.more = package, folders, besides, more
        self.group = f"unswayed.{kind}s"
        self._loaded: dict[str, type[T]] = {}

    def names(self) -> list[str]:
        return sorted(self._sources)

    def __contains__(self, name: str) -> bool:
        return name in self._sources

    def is_own(self, name: str) -> bool:
        """Is it built in, and no plug-in's?"""
        return isinstance(self._sources.get(name), str)

    def get(self, name: str) -> type[T]:
        """The class of that name; `module:Class` reaches one that is not registered."""
        if name not in self._loaded:
            source = self._sources.get(name)
            if isinstance(source, str):
                own = [c for c in vars(importlib.import_module(source)).values() if inspect.isclass(c)]
                own = [c for c in own if c.__module__ == source and not c.__name__.startswith("_")]
                classes = [c for c in own if issubclass(c, self.base)]
                if len(classes) != 1:
                    raise UsageError(f"{source} must define exactly one {self.base.__name__}; it has {len(classes)}.")
                cls = classes[0]
            elif source is not None:
                try:
                    with listening():
                        loaded = source.load()
                    cls = self._check_class(loaded, source.value)
                except (ImportError, AttributeError) as error:
                    lacks = (getattr(error, "name", None) or "").partition(".")[0]
                    if source.owner == DISTRIBUTION and lacks and (extra := extra_with(lacks)):
                        raise MissingExtra(f"The {self.kind} {name!r}", extra) from error
                    what = f"The {self.kind} {name!r} ({source.value}) can't be loaded: {error}."
                    raise UsageError(f"{what} Reinstall or remove the plug-in {source.owner}.") from error
            elif (known := name.partition(":")[0]) in self._sources:
                apart = f" Set its parameters with {option('param', 'params')}." if self.kind == "operator" else ""
                raise UsageError(f"The {self.kind} {known!r} takes nothing after its name: {name!r}.{apart}")
            elif ":" in name:
                cls = self._check_class(import_reference(name), name)
            else:
                raise UnknownName(self.kind, name, self.names(), f"unswayed list {self.kind}s")
            self._loaded[name] = cls
        return self._loaded[name]

    @cached_property
    def _sources(self) -> dict[str, str | PlugIn]:
        """By name, the module of a built-in thing, or the entry point of a plug-in."""
        packages = [("", package, files(package)) for package in (self.package, *self.more) if package]
        if self.folders:
            (_, root, place), *more = packages
            packages = [
                (f"{folder.name}/", f"{root}.{folder.name}", folder)
                for folder in place.iterdir()
                if folder.is_dir() and not folder.name.startswith("_") and folder.name not in self.besides
            ]
            packages += [(f"{package.rpartition('.')[2]}/", package, place) for _, package, place in more]
        found: dict[str, str | PlugIn] = {
            f"{prefix}{name}": f"{package}.{name}"
            for prefix, package, place in packages
            for name in public_modules(place)
            if f"{prefix}{name}" not in self.besides
        }
        owners = dict.fromkeys(found, "unswayed")
        for point in (point for point in _plugged_in(tuple(sys.path)) if point.group == self.group):
            owner = point.owner
            if owners.get(point.name) == owner:  # it was found by folder: the metadata are older than the checkout
                continue
            if point.name in owners:
                what = f"The {self.kind} {point.name!r} is claimed by both {owners[point.name]} and {owner}."
                raise NameClash(f"{what} Uninstall one of them, or rename the entry point.")
            owners[point.name], found[point.name] = owner, point
        return found

    def _check_class(self, cls: object, where: str) -> type[T]:
        """The class of a plug-in; raises if it lacks a method that it must extend, or has one with other arguments."""
        if not (inspect.isclass(cls) and issubclass(cls, self.base)):
            base = f"unswayed.{self.base.__module__.split('.')[1]}.{self.base.__name__}"
            raise UsageError(f"{where} is not a class that extends {base}. See docs/extending.md.")
        owner = next((c for c in cls.__mro__ if "needed" in vars(c)), self.base)
        for group in getattr(cls, "needed", ()):
            if all(getattr(cls, name) is getattr(owner, name) for name in group):
                shown = " or ".join(f"{name}{_arguments(getattr(owner, name))}" for name in group)
                raise UsageError(f"{where} must have a method {shown}. See docs/extending.md.")
        ours = next(c for c in cls.__mro__ if c.__module__.startswith("unswayed."))
        for name, known in inspect.getmembers(ours, inspect.isfunction):
            own = getattr(cls, name)
            if name.startswith("__") or own is known or not inspect.isfunction(own):
                continue
            try:
                inspect.signature(own).bind(*inspect.signature(known).parameters)
            except TypeError:
                wrong = f"{where}: the method {name} must take {_arguments(known)}, not {_arguments(own)}."
                raise UsageError(wrong) from None
        return cls


def _arguments(function: Callable[..., Any]) -> str:
    return f"({', '.join(inspect.signature(function).parameters)})"


def import_reference(reference: str) -> object:
    """The object that `package.module:name` points to; modules are also found from the current directory."""
    module_name, _, attribute = reference.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        with listening():
            found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            raise  # the module is there; something that it imports is not
        how = "Run from the folder that holds it, or install its package."
        raise UsageError(f"There is no module {module_name!r} here or installed. {how}") from error
    for part in attribute.split("."):
        if not part or not hasattr(found, part):
            names = sorted(name for name, value in vars(found).items() if callable(value) and not name.startswith("_"))
            offer = f"It offers: {', '.join(names[:10])}." if names else "It offers nothing that can be called."
            what = f"{reference!r} names no function. Add one, as in {module_name}:predict."
            raise UsageError(f"{f'{module_name!r} has no {attribute!r}.' if attribute else what} {offer}")
        found = getattr(found, part)
    return found
