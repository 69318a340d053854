"""What a source file rests on: itself, the files beside it that it imports, and the models and settings it names."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from unswayed.base.ids import file_hash
from unswayed.base.own_code import installed
from unswayed.base.values import Json

_QUOTED = re.compile(r"""["']([^"'\n]{1,300})["']""")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+([\w, \t(]+)|import[ \t]+([\w., \t]+))", re.M)
_WRITES = re.compile(r"""["'][rb]?[wax]b?\+?["']|\.write|\.dump|\.save|\.to_(?:csv|json|parquet|pickle)|savez?\(""")
# What holds a model is read and not written while a system answers; of other files that is not certain.
_MODELS = re.compile(
    r"\.(joblib|pkl|pickle|skops|onnx|ptl?|pth|bin|safetensors|np[yz]|h5|hdf5|keras|model|gguf|ggml|tflite|ftz|vec|cbm|ubj"
    r"|crf|crfsuite|arpa|spm|bpe|pb|mar|torchscript)",
    re.I,
)
_SETTINGS = re.compile(r"\.(json|jsonl|ya?ml|toml|txt|ini|cfg|tsv|csv|vocab)", re.I)
_FOLDERS = ("config.json", "config.cfg", "system.json", "meta.json", "saved_model.pb", "modules.json", "tokens.txt")
_MOST_SOURCES = 200
_MOST_FILES = 500  # of a model's folder
_LARGE = 4 << 20  # bytes of a source that are read for names


def source_of(file: Path) -> Json:
    """An id of a source file and of what it rests on; of an installed module, of the file alone."""
    own = file_hash(file)
    if installed(file):
        return own
    found = _rests_on(file)
    return [own, found] if found else own


def _rests_on(file: Path) -> list[Json]:
    """Names and hashes of the other sources, and of the files that any of the sources names."""
    waiting, sources, named = [file.resolve()], {file.resolve()}, set[Path]()
    while waiting and len(sources) <= _MOST_SOURCES:
        here = waiting.pop()
        text = _text(here)
        named.update(named_files(text, [here.parent, Path.cwd()]))
        for other in _imported(text, here):
            if other not in sources and not installed(other):
                sources.add(other)
                waiting.append(other)
    top = file.resolve().parent
    return sorted([_shown(f, top), file_hash(f)] for f in (sources | named) - {file.resolve()} if f.is_file())


def _shown(file: Path, top: Path) -> str:
    """The file's name from where the source is, so that a copied folder is the same system."""
    return file.relative_to(top).as_posix() if file.is_relative_to(top) else file.name


def _text(file: Path) -> str:
    try:
        with file.open("rb") as f:
            return f.read(_LARGE).decode("utf-8", "replace")
    except OSError:
        return ""


def named_files(text: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files and model folders that stand in quotes in a source: models, and settings if it writes no files."""
    kinds = (_MODELS,) if _WRITES.search(text) else (_MODELS, _SETTINGS)
    for name in dict.fromkeys(_QUOTED.findall(text)):
        for folder in folders:
            try:
                place = (folder / name).resolve()
                if place.is_file():
                    if any(kind.fullmatch(place.suffix) for kind in kinds):
                        yield place
                    break
                if place.is_dir() and any((place / mark).is_file() for mark in _FOLDERS):
                    yield from _files_in(place)
                    break
            except (OSError, ValueError):  # a text that can't be a path
                break


def _files_in(folder: Path) -> list[Path]:
    found = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return found if len(found) <= _MOST_FILES else []


def _imported(text: str, file: Path) -> Iterator[Path]:
    """The source files that a Python source imports from its own folder or package, or from the current folder."""
    if file.suffix != ".py":
        return
    roots = [file.parent]
    while (roots[-1] / "__init__.py").is_file():
        roots.append(roots[-1].parent)
    for source, names, modules in _IMPORT.findall(text):
        if source.startswith("."):
            level = len(source) - len(source.lstrip("."))
            places = [file.parents[level - 1]] if level <= len(file.parents) else []
            source = source.lstrip(".")
        else:
            places = [*roots, Path.cwd()]
        inside = [f"{source}.{name}" if source else name for name in re.findall(r"\w+", names)] if names else []
        dotted = [source, *inside] if names else [part.split()[0] for part in modules.split(",") if part.split()]
        for module in dotted:
            if module and module.partition(".")[0] not in sys.stdlib_module_names:
                yield from _module(module, places)


def _module(name: str, places: Sequence[Path]) -> Iterator[Path]:
    parts = name.split(".")
    for place in places:
        for file in (place.joinpath(*parts).with_suffix(".py"), place.joinpath(*parts, "__init__.py")):
            if file.is_file():
                yield file.resolve()
                return
