"""What a program may read, as its command shows: the files of its own folders, and the environment variables it names.

Nothing records what a program of another process opens. So the folders of the scripts that a command names count as a
whole, but for files that no source there could mean, and up to a limit. What is beyond that is said.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from unswayed.base.dependencies import Dependencies, content_of_file, current_content, is_recorded_variable, shown_path

SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".sh", ".bash", ".r", ".R", ".jl", ".lua", ".php")
_MODELS = re.compile(
    r".*\.(joblib|pkl|pickle|skops|onnx|ptl?|pth|bin|safetensors|np[yz]|h5|hdf5|keras|model|gguf|ggml|tflite|ftz|vec|cbm"
    r"|ubj|crf|crfsuite|arpa|spm|bpe|pb|mar|torchscript|so|dll|dylib|node|jar|class|wasm|db|sqlite3?)",
    re.I,
)
# What commands and editors leave behind; a log that grows is no other program.
_OUTPUT = re.compile(
    r".*(\.(log|out|err|tmp|pid|lock|swp|bak|html?|md|rst|pdf|png|svg|xml|pyc|whl)|-shm|-journal|~)|unswayed\.toml",
    re.I,
)
_NO_SOURCES = {
    ".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "venv", "env", ".tox", ".nox", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".idea", ".vscode", ".cache", "logs", "site-packages",
}  # fmt: skip
_OURS = ("run.json", "outputs.sqlite", "manifest.json", ".selecting")  # in folders that unswayed writes
_LISTS = re.compile(r"\b(?:glob|iglob|rglob|listdir|iterdir|scandir|readdir|readdirSync|opendir|os\.walk|ls|find)\b")
_VARIABLE = re.compile(
    r"""(?:environ(?:\.get\(|\[)|getenv\(|ENV(?:\[|\.fetch\()|\$ENV\{)\s*["']?(\w+)|process\.env\.(\w+)"""
    r"""|process\.env\[["'](\w+)|\$\{?([A-Z][A-Z0-9_]+)"""
)
_USUAL = {
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "USER",
    "SHELL",
    "TERM",
    "TMPDIR",
    "HOSTNAME",
    "IFS",
    "BASH_SOURCE",
    "PYTHONPATH",
}
_MAX_FILES, _MAX_BYTES, _MAX_SOURCE_BYTES = 2000, 1 << 30, 4 << 20
_ELSEWHERE = "what the program reads outside its own folders"


def program_dependencies(command: Sequence[str], apart: Sequence[Path] = ()) -> Dependencies:
    """The files and variables that decide what a command answers, as they are now. `apart` are files that it does not
    read, such as the data."""
    folders, named = _own_folders(command)
    entries: dict[str, str] = {}
    unseen = [_ELSEWHERE]
    sources, others = list[Path](), list[Path]()
    known = {path.resolve() for path in apart} | _standard_files()
    for folder in folders:
        for here, inside, names in os.walk(folder):
            inside[:] = sorted(name for name in inside if name not in _NO_SOURCES and not _is_ours(Path(here, name)))
            for name in sorted(names):
                file = Path(here, name)
                if len(sources) + len(others) > _MAX_FILES:
                    break
                if not _OUTPUT.fullmatch(name) and file.resolve() not in known and file.is_file():
                    (sources if file.suffix in SCRIPTS or _is_script(file) else others).append(file)
    if len(sources) + len(others) > _MAX_FILES:
        unseen.append(f"files beyond the first {_MAX_FILES:,} of its folders")
    text = "\n".join(_source_text(file) for file in sources)
    lists, left = bool(_LISTS.search(text)), _MAX_BYTES
    explicit = [Path(folder) for folder in named]
    counted = []
    for file in [*sources, *others]:
        # A source, a model or a setting in a dot file counts in any case, other files if a source may mean them.
        suffix = re.escape(file.suffix)
        meant = file in sources or _MODELS.fullmatch(file.name) or file.name.startswith(".") or lists
        meant = meant or any(file.is_relative_to(folder) for folder in explicit)
        if meant or file.name in text or (suffix and re.search(rf"(?<![\w]){suffix}\b", text)):
            counted.append(file)
    for file in counted:
        left -= file.stat().st_size
        if left < 0:
            unseen.append(f"files beyond {_MAX_BYTES >> 30} GB of its folders")
            break
        log = Path(f"{file}-wal")  # of SQLite: what is written there is not in the file yet
        entries[f"file {shown_path(str(file))}"] = content_of_file(str(file))
        if log.is_file() and f"file {shown_path(str(log))}" not in entries:
            entries[f"file {shown_path(str(log))}"] = content_of_file(str(log))
    variables = {name for found in _VARIABLE.findall(text) for name in found if name}
    for name in sorted(variables - _USUAL):
        if is_recorded_variable(name):
            entries[f"variable {name}"] = current_content(f"variable {name}")
    return Dependencies(entries, [], unseen, closed=True)


def written_meanwhile(before: Dependencies, after: Dependencies) -> list[str]:
    """The files that a program seems to have written itself between two looks: neither sources nor models."""
    names = (name for name in before.entries | after.entries if before.entries.get(name) != after.entries.get(name))
    paths = [(name, Path(name.partition(" ")[2])) for name in names if name.startswith("file ")]
    kept = [name for name, path in paths if path.suffix in SCRIPTS or path.name.startswith(".") or _is_script(path)]
    models = [name for name, path in paths if _MODELS.fullmatch(path.name) and name in before.entries]
    return [name for name, _ in paths if name not in kept and name not in models]


def _own_folders(command: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The folders of the scripts that a command names, none inside another; and the folders that it names itself."""
    words = [part for argument in command for part in (argument, argument.partition("=")[2]) if part]
    found, named = list[Path](), list[str]()
    here = Path.cwd()
    for at, word in enumerate(words):
        path = Path(word)
        try:
            if path.is_dir() and at:
                named.append(str(path.resolve()))
                found.append(path.resolve())
            elif path.is_file() and not _is_installed(path) and (path.suffix in SCRIPTS or _is_script(path)):
                found.append(path.resolve().parent)
            elif at and words[at - 1] in ("-m", "-r", "--require", "--import"):
                found += _module_folders(word)
        except (OSError, ValueError):  # a text that can't be a path
            continue
    if any("python" in Path(word).name for word in words[:2]):
        for place in os.environ.get("PYTHONPATH", "").split(os.pathsep):
            if place and Path(place).is_dir() and not _is_installed(Path(place)):
                found.append(Path(place).resolve())
    if any(word in ("-c", "-e", "-p", "--eval") for word in words[1:3]):
        found.append(here)
    outer = [p for p in dict.fromkeys(found) if not any(q != p and p.is_relative_to(q) for q in found)]
    # A script in a folder that holds everything, such as `/` or the home, has no folder of its own.
    return [p for p in outer if p != Path.home() and len(p.parts) > 2], named


def _module_folders(module: str) -> list[Path]:
    """Where `python -m module` or `node -r module` finds it, if that is not installed."""
    if module.startswith("."):
        return [Path(module).resolve().parent]
    top = module.partition(".")[0]
    places = [Path.cwd(), *map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))]
    return [p.resolve() for p in places if (p / top).is_dir() or (p / f"{top}.py").is_file()]


def _is_installed(path: Path) -> bool:
    place = path.resolve()
    return (
        place.is_relative_to("/usr")
        or place.is_relative_to("/bin")
        or "site-packages" in place.parts
        or (place.is_relative_to(Path(sys.base_prefix).resolve()) and not place.is_relative_to(Path.cwd()))
    )


def _is_ours(folder: Path) -> bool:
    return folder.name.endswith(".selecting") or any((folder / name).exists() for name in _OURS)


def _is_script(file: Path) -> bool:
    """Has it no suffix, and begins with `#!`?"""
    if file.suffix:
        return False
    try:
        with file.open("rb") as opened:
            return opened.read(2) == b"#!"
    except OSError:
        return False


def _source_text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MAX_SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _standard_files() -> set[Path]:
    """Where this process writes its output, if that is a file."""
    found = set()
    for number in (1, 2):
        try:
            found.add(Path(os.readlink(f"/proc/self/fd/{number}")).resolve())
        except (OSError, ValueError):
            continue
    return found
