"""The public corpora that `pull` knows: where each is, under which licence, and what its files must be."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath

import msgspec

from unfazed.core.errors import UnknownName

_FILE = Path(__file__).with_name("_catalogue.toml")


class CorpusFile(msgspec.Struct, frozen=True, array_like=True):
    """A file of a corpus: where it goes, its size and its SHA-256."""

    path: str
    size: int
    sha256: str

    def __post_init__(self) -> None:
        parts = PurePosixPath(self.path).parts
        if not parts or ".." in parts or self.path.startswith("/") or "\\" in self.path:
            raise ValueError(f"{self.path!r} would lead out of the corpus's own folder")


class Corpus(msgspec.Struct, frozen=True):
    """A corpus that can be fetched. `base` is the URL below which its files are."""

    name: str
    description: str
    licence: str
    homepage: str
    base: str
    files: tuple[CorpusFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def corpora() -> list[Corpus]:
    """All known corpora, by name."""
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return [msgspec.convert({"name": name, **entry}, Corpus) for name, entry in sorted(entries.items())]


def corpus_named(name: str) -> Corpus:
    known = {corpus.name: corpus for corpus in corpora()}
    if name not in known:
        raise UnknownName("corpus", name, known)
    return known[name]
