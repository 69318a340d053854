"""Records what user code opens, imports and asks the environment for, while it runs in this process.

A `Recorder` listens by Python's audit events. Files that native code opens raise none; those that it maps into memory,
or holds open, are found under `/proc/self`.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType, MethodType, ModuleType
from typing import Any

from unswayed.base.dependencies import (
    Dependencies,
    content_of_variable,
    current_content,
    is_recorded_variable,
    shown_path,
)

_WRITES = os.O_WRONLY | os.O_RDWR
_NO_CONTENT = ("/proc/", "/sys/", "/dev/", "/run/")
_SYSTEM = ("/usr/", "/lib", "/bin/", "/opt/conda/", "/nix/", "/snap/", "/System/", "/Library/")  # native libraries
_MAX_MODULES = 2_000
# Packages that open files by themselves, in native code.
_OPENS_UNHEARD = re.compile(
    "onnxruntime|tensorflow|torch|xgboost|lightgbm|catboost|fasttext|sentencepiece|tokenizers|kenlm|llama_cpp|faiss|h5py|"
    "ctranslate2|annoy|hnswlib|duckdb|pyarrow|polars|cv2|safetensors|sherpa_onnx"
)
NETWORK, PROGRAMS = "what it gets over the network", "what programs that it starts read"
ENVIRONMENT = "which variables count, as it takes the whole environment"


class _Heard:
    """Names that were heard, before their content is looked at."""

    def __init__(self) -> None:
        self.files: dict[str, bool] = {}  # is it a database?
        self.folders: dict[str, None] = {}
        self.variables: dict[str, str] = {}  # with the hash of their values
        self.packages: dict[str, None] = {}  # a file in each
        self.written: set[str] = set()
        self.unseen: set[str] = set()

    @property
    def size(self) -> int:
        every = (self.files, self.folders, self.variables, self.packages, self.written, self.unseen)
        return sum(len(one) for one in every)


class Recorder:
    """Records on what one piece of user code rests: listens within `with recorder:`, in all threads of that code."""

    def __init__(self, modules: Iterable[str]) -> None:
        self.heard = _Heard()
        self.elsewhere = Dependencies()  # what other processes recorded of the same code
        self.modules = [name for name in modules if name in sys.modules]
        self._reported = -1, -1  # how much was heard, and how many modules there were, at the last report
        # What a module read when it was imported before anybody listened is not known.
        missed = {m for m in self.modules if m not in _at_import and _origin(_file_of(m)) == "own" and m != "__main__"}
        self.heard.unseen |= {f"files that {name} read before unswayed listened" for name in missed}

    def __enter__(self) -> Recorder:
        _stack().append(self)
        _listen(1)
        return self

    def __exit__(self, *_: object) -> None:
        _stack().remove(self)
        _listen(-1)

    def news(self) -> Dependencies | None:
        """What was heard by now, if it is more than at the last call."""
        state = self.heard.size, len(sys.modules)
        if state == self._reported:
            return None
        self._reported = state
        return self.record()

    def _whole(self) -> list[_Heard]:
        """What the code itself did, and what its modules did when they were imported."""
        modules, packages = _reachable(self.modules)
        found = _Heard()
        files = dict.fromkeys(file for name in modules if (file := _file_of(name)))
        found.files.update({file: False for file in files if _origin(file) == "own"})
        found.packages.update(dict.fromkeys([*packages, *(file for file in files if _origin(file) == "installed")]))
        return [self.heard, found, *(_at_import[name] for name in modules if name in _at_import)]

    def record(self) -> Dependencies:
        """All that was heard, with its content as it is now."""
        heard = self._whole()
        written = {path for one in heard for path in one.written}
        names = sorted(f"file {shown_path(path)}" for path in written)
        unseen = {what for one in heard for what in one.unseen}
        tops = {_package_of(file) for one in heard for file in list(one.packages)} - {None}
        unseen |= {
            f"files that {top} opens by itself" for _, top in filter(None, tops) if _OPENS_UNHEARD.fullmatch(top)
        }
        files = dict.fromkeys(_mapped_files(), False)
        for one in heard:
            files.update(list(one.files.items()))

        def made_here(path: str) -> bool:
            """Did the code write the file, or make the folder that it is in?"""
            return path in written or any(str(folder) in written for folder in Path(path).parents)

        entries: dict[str, str] = {}
        for path, is_database in files.items():
            if path and not made_here(path):
                name = f"{'database' if is_database else 'file'} {shown_path(path)}"
                # As it was when the code read it last: a file may be another one by now, and what was loaded is not.
                entries[name] = _as_read[path] = _as_read.get(path) or current_content(name)
        for path in dict.fromkeys(path for one in heard for path in list(one.folders)):
            if not made_here(path):
                entries[f"folder {shown_path(path)}"] = current_content(f"folder {shown_path(path)}", names)
        for name, value in {n: v for one in heard for n, v in list(one.variables.items())}.items():
            if name not in _set_variables:
                entries[f"variable {name}"] = value
        for name, _ in sorted(filter(None, tops)):
            entries[f"package {name}"] = current_content(f"package {name}")
        found = Dependencies(dict(sorted(entries.items())), names, sorted(unseen))
        found.add(self.elsewhere)
        return found


_recorders: dict[tuple[str, ...], Recorder] = {}


def recorder_of(thing: Any) -> Recorder | None:
    """The recorder of a user's function, object or class; None for unswayed's own, whose version says what it is."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    if isinstance(thing, MethodType):
        thing = thing.__self__
    named = (
        thing if isinstance(getattr(thing, "__module__", None), str) and hasattr(thing, "__qualname__") else type(thing)
    )
    classes = named.__mro__ if isinstance(named, type) else (named,)
    modules = tuple(
        dict.fromkeys(
            c.__module__ for c in classes if c.__module__.partition(".")[0] not in ("unswayed", "builtins", "abc")
        )
    )
    if not modules:
        return None
    key = (*modules, named.__qualname__)
    if key not in _recorders:
        _recorders[key] = Recorder(modules)
    return _recorders[key]


@contextmanager
def listening() -> Iterator[None]:
    """Hears what modules read while they are imported."""
    before = set(sys.modules)
    _listen(1)
    try:
        yield
    finally:
        _listen(-1)
        for name in sys.modules.keys() - before:
            _at_import.setdefault(name, _Heard())


_at_import: dict[str, _Heard] = {}  # by module
_as_read: dict[str, str] = {}  # the content of files that were read, by path
_set_variables: set[str] = set()  # by the user's code itself
_lock = threading.Lock()
_listeners = 0
_hooked = False
_threads = threading.local()
_every: list[Recorder] = []  # that listen now, in any thread


def _stack() -> list[Recorder]:
    if not hasattr(_threads, "stack"):
        _threads.stack = _Stack()
    stack: list[Recorder] = _threads.stack
    return stack


class _Stack(list[Recorder]):
    """The recorders of a thread, which are also in the list of all."""

    def append(self, one: Recorder) -> None:
        super().append(one)
        _every.append(one)

    def remove(self, one: Recorder) -> None:
        super().remove(one)
        _every.remove(one)


_environ_type: Any = type(os.environ)
_getitem: Callable[[Any, str], str] = _environ_type.__getitem__
_iter: Callable[[Any], Iterator[str]] = _environ_type.__iter__


def _listen(more: int) -> None:
    """One listener more or less. The audit hook stays for good, as Python has no way to remove one."""
    global _listeners, _hooked
    with _lock:
        if not _hooked:
            _mapped_before.update(_mapped_now())
            sys.addaudithook(_hear)
            _hooked = True
        _listeners += more
        _environ_type.__getitem__ = _asked_variable if _listeners else _getitem
        _environ_type.__iter__ = _asked_variables if _listeners else _iter


def _asked_variable(self: Any, name: str) -> str:
    frame = _asking_frame()
    if frame is None or not isinstance(name, str) or not is_recorded_variable(name):
        return _getitem(self, name)
    if getattr(_threads, "sweep", None) != (id(frame), frame.f_lasti):  # not one of all that it goes through
        value = None
        with suppress(KeyError, UnicodeError):
            value = _getitem(self, name)
        for heard in _hearing(frame):
            heard.variables.setdefault(name, content_of_variable(name, value))
    return _getitem(self, name)


def _asked_variables(self: Any) -> Iterator[str]:
    frame = _asking_frame()
    if frame is not None:
        _threads.sweep = id(frame), frame.f_lasti
        for heard in _hearing(frame):
            heard.unseen.add(ENVIRONMENT)
    return _iter(self)


def _asking_frame() -> FrameType | None:
    """The frame that asks, past Python's own; None unless it is the user's."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _origin(frame.f_code.co_filename) == "python":
        frame = frame.f_back
    return frame if frame is not None and _origin(frame.f_code.co_filename) == "own" else None


def _hearing(frame: FrameType | None) -> list[_Heard]:
    """Who is to hear of an event: the modules that are being imported, and the recorders of this thread; in a thread
    of the user's own, which none of our frames began, all that listen."""
    found, ours = [], False
    while frame is not None:
        code = frame.f_code
        origin = _origin(code.co_filename)
        ours = ours or origin == "ours"
        if origin == "own" and code.co_name == "<module>":
            found.append(_at_import.setdefault(frame.f_globals.get("__name__", ""), _Heard()))
        frame = frame.f_back
    listening = _stack() if _stack() or ours else list(_every)
    return [*found, *(one.heard for one in listening)]


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if not _listeners or getattr(_threads, "deaf", False):
        return
    _threads.deaf = True  # what is done here raises events too
    try:
        if event == "open":
            path, mode, flags = args
            if isinstance(path, (str, bytes, os.PathLike)):
                writes = any(c in mode for c in "wax+") if isinstance(mode, str) else bool((flags or 0) & _WRITES)
                _heard_file(path, writes)
        elif event in ("os.listdir", "os.scandir") and isinstance(args[0] or ".", (str, bytes, os.PathLike)):
            if sys._getframe(1).f_code.co_filename.startswith("<frozen importlib"):
                return
            folder = os.path.abspath(os.fsdecode(args[0] or "."))
            if _origin(f"{folder}/") == "own" and not folder.startswith(_NO_CONTENT):
                for heard in _hearing(sys._getframe(1)):
                    heard.folders.setdefault(folder)
        elif event == "sqlite3.connect" and isinstance(args[0], (str, bytes, os.PathLike)):
            name = os.fsdecode(args[0]).removeprefix("file:").partition("?")[0]
            if name and name != ":memory:":
                _heard_file(name, False, database=True)
        elif event == "import":
            _at_import.setdefault(args[0], _Heard())
        elif event == "os.mkdir":
            if not os.path.exists(args[0]):  # what stands in a new folder, its maker put there
                _heard_file(args[0], True)
        elif event == "os.rename":
            _heard_file(args[1], True)
        elif event == "os.putenv":
            _set_variables.add(os.fsdecode(args[0]))
        elif event == "socket.connect":
            if not isinstance(args[1], (str, bytes)):  # not one of this machine's own
                _note_unseen(NETWORK)
        elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"):
            _note_unseen(PROGRAMS)
            if event == "subprocess.Popen" and isinstance(args[1], (list, tuple)):
                for named in args[1]:
                    if isinstance(named, (str, bytes, os.PathLike)) and os.path.isfile(named):
                        _heard_file(named, False)
    except Exception:  # whatever goes wrong here must not become an error of the user's
        return
    finally:
        _threads.deaf = False


def _note_unseen(what: str) -> None:
    for heard in _hearing(sys._getframe(2)):
        heard.unseen.add(what)


def _heard_file(path: Any, writes: bool, database: bool = False) -> None:
    name = os.path.abspath(os.fsdecode(path))
    if name.startswith(_NO_CONTENT):
        return
    if name.endswith(".pyc"):
        with suppress(ValueError):
            name = source_from_cache(name)
        if writes or name.endswith(".pyc"):
            return
    origin = _origin(name)
    if origin in ("python", "ours"):
        return
    _as_read.pop(name, None)
    for heard in _hearing(sys._getframe(2)):
        if writes:
            heard.written.add(name)
        elif origin == "installed":
            heard.packages.setdefault(name)
        else:
            heard.files[name] = heard.files.get(name) or database


@lru_cache(65536)
def _origin(file: str) -> str:
    """Whose file is it: `python`, `ours`, `installed`, or the user's `own`?"""
    if not file or file.startswith("<frozen"):
        return "python"
    if file.startswith("<"):
        return "own"  # a prompt, or made by exec
    stdlib, ours, installed = _places()
    if file.startswith(ours):
        return "ours"
    if (
        f"{os.sep}site-packages{os.sep}" in file
        or f"{os.sep}dist-packages{os.sep}" in file
        or file.startswith(installed)
    ):
        return "installed"
    return "python" if file.startswith(stdlib) else "own"


@lru_cache(1)
def _places() -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    paths = sysconfig.get_paths()
    both = [{paths[name] + os.sep, os.path.realpath(paths[name]) + os.sep} for name in ("stdlib", "purelib")]
    more = {paths["platstdlib"] + os.sep}, {paths["platlib"] + os.sep}
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    return tuple(both[0] | more[0]), ours, tuple(both[1] | more[1])


def _file_of(module: str) -> str:
    file = getattr(sys.modules.get(module), "__file__", None)
    return os.path.abspath(file) if isinstance(file, str) and os.path.isfile(file) else ""


def _reachable(start: Iterable[str]) -> tuple[list[str], list[str]]:
    """The user's modules that these use, as their global names show, and themselves; and a file of each package."""
    waiting, found, packages = list(start), dict.fromkeys(start), dict[str, None]()
    while waiting and len(found) < _MAX_MODULES:
        module = sys.modules.get(waiting.pop())
        for value in list(vars(module).values()) if module else ():
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if not isinstance(name, str) or name in found or not (file := _file_of(name)):
                continue
            origin = _origin(file)
            if origin == "own":
                found[name] = None
                waiting.append(name)
            elif origin == "installed":
                packages[file] = None
    return list(found), list(packages)


@lru_cache(8192)
def _package_of(file: str) -> tuple[str, str] | None:
    """The name of the distribution that a file is of, and its folder there; None for one that no RECORD has."""
    for mark in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        before, found, inside = file.rpartition(mark)
        if found:
            top = inside.partition(os.sep)[0].partition(".")[0]
            return (name, top) if (name := _distribution_named(before + mark, top)) else None
    return None


@lru_cache(1024)
def _distribution_named(site: str, top: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, distribution

    with suppress(PackageNotFoundError, ValueError):  # most are called as their folder
        return str(distribution(top).metadata["Name"])
    for record in sorted(Path(site).glob("*.dist-info/RECORD")):
        with suppress(OSError):
            content = b"\n" + record.read_bytes()
            if f"\n{top}/".encode() in content or f"\n{top}.".encode() in content:
                return record.parent.name.partition("-")[0]
    return None


_mapped_before: set[str] = set()


def _mapped_now() -> set[str]:
    """Files that are mapped into this process, or that it holds open to read, where the system shows them."""
    found = set[str]()
    with suppress(OSError):
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
        found.update(parts[5] for line in lines if len(parts := line.split(None, 5)) == 6)
        for link in os.scandir("/proc/self/fd"):
            with suppress(OSError):
                info = Path("/proc/self/fdinfo", link.name).read_text()
                flags = int(info.partition("flags:")[2].split()[0], 8)
                if flags & os.O_ACCMODE == os.O_RDONLY:  # a file that is written to, such as a log, decides nothing
                    found.add(os.readlink(link.path))
    return found


def _mapped_files() -> list[str]:
    """Those that native code mapped or opened since somebody listens, to read them."""
    _threads.deaf = True
    try:
        new = (path for path in sorted(_mapped_now() - _mapped_before) if path.startswith("/"))
        return [
            path for path in new
            if not path.startswith((*_NO_CONTENT, *_SYSTEM))
            and _origin(path) == "own" and path.endswith(_MAPPED) and os.path.isfile(path)
        ]  # fmt: skip
    finally:
        _threads.deaf = False


# What models and native code are kept in: other open files are this process's own work.
_MAPPED = (".so", ".bin", ".safetensors", ".gguf", ".onnx", ".pt", ".pth", ".npy", ".model", ".mmap", ".arrow", ".dat",
           ".ann", ".index", ".db", ".tflite", ".kenlm", ".arpa", ".ftz", ".data", ".dylib")  # fmt: skip
