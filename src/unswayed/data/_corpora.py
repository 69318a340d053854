"""The public corpora that `pull` fetches into the cache, whole and unchanged or not at all; and the shipped samples."""

from __future__ import annotations

import atexit
import errno
import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

import msgspec

from unswayed.base.errors import PullError, UnknownName, UsageError, option
from unswayed.base.ids import file_hash
from unswayed.base.registry import VERSION

_CATALOGUE = files("unswayed.data") / "_catalogue.toml"


class CorpusFile(msgspec.Struct, frozen=True, array_like=True):
    """A file of a corpus: where it goes, its size and its SHA-256; `at` is its place below `base`, if another.

    Where the catalogue knows neither size nor hash, a file is checked by its number of `characters`.
    """

    path: str
    size: int
    sha256: str
    at: str = ""
    characters: int = 0

    def __post_init__(self) -> None:
        for path in (self.path, self.at or self.path):
            parts = PurePosixPath(path).parts
            if not parts or ".." in parts or path.startswith("/") or "\\" in path:
                raise ValueError(f"{path!r} would lead out of the corpus's own folder")
        if not self.sha256 and not self.characters:
            raise ValueError(f"{self.path!r} has nothing to check it by")

    @property
    def most(self) -> int:
        """Bytes at most: a character of UTF-8 has four."""
        return self.size or 4 * self.characters

    def fault(self, path: Path) -> str:
        """What is wrong with the content of a file; empty if it is the one that the catalogue means."""
        if self.sha256:
            found = file_hash(path)
            return "" if found == self.sha256 else f"SHA-256 {found}, not {self.sha256}"
        try:
            count = len(path.read_bytes().decode("utf-8"))
        except UnicodeDecodeError:
            return "not a text in UTF-8"
        return "" if count == self.characters else f"{count:,} characters, not {self.characters:,}"


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
        """Bytes; of files whose size is not known, those of their characters."""
        return sum(file.size or file.characters for file in self.files)


def corpora() -> list[Corpus]:
    """All known corpora, by name."""
    entries = tomllib.loads(_CATALOGUE.read_text(encoding="utf-8"))
    return [msgspec.convert({"name": name, **entry}, Corpus) for name, entry in sorted(entries.items())]


def corpus_named(name: str) -> Corpus:
    """The public corpus of that name."""
    known = {corpus.name: corpus for corpus in corpora()}
    if name not in known:
        raise UnknownName("corpus", name, known)
    return known[name]


_PIECE_BYTES = 1 << 16


def pull(
    name: str, cache: str | Path | None = None, mirror: str | None = None,
    progress: Callable[[int], None] = lambda count: None, timeout: float = 30.0,
) -> Path:  # fmt: skip
    """The folder of a corpus, after fetching those of its files that are not there yet or not right.

    `cache` is the folder that holds all corpora; `mirror` a URL to take the files from instead, as MIRROR/NAME/…;
    `progress` hears of bytes as they are done; `timeout` is how many seconds a server may be silent.
    """
    corpus = corpus_named(name)
    mirror = mirror or os.environ.get("UNSWAYED_MIRROR")
    base = f"{mirror.rstrip('/')}/{corpus.name}" if mirror else corpus.base.rstrip("/")
    if urlsplit(base).scheme not in ("http", "https"):
        raise UsageError(f"A mirror must be an http or https URL, not {mirror!r}.")
    folder = (Path(cache) if cache else cache_folder()) / corpus.name
    for file in corpus.files:
        target = folder / file.path
        if target.is_file() and file.size in (0, target.stat().st_size) and not file.fault(target):
            progress(file.size or file.characters)
            continue
        from urllib.request import Request, urlopen  # slow to import, and seldom needed

        url = f"{base}/{quote(file.path if mirror else file.at or file.path)}"
        partial = _partial_path(target)
        try:
            with _disk_problems(target):
                target.parent.mkdir(parents=True, exist_ok=True)
            got = 0
            request = Request(url, headers={"User-Agent": f"unswayed/{VERSION}"})  # noqa: S310  only http(s) comes here
            with _network_problems(url, timeout):
                response = urlopen(request, timeout=timeout)  # noqa: S310
            # A disk may turn out to be full only when what was buffered is written on closing, so `out` closes inside.
            with response, _disk_problems(partial), partial.open("wb") as out:
                announced = response.headers.get("Content-Length")
                while got <= file.most:  # it stops one piece after the file has become too long
                    with _network_problems(url, timeout):
                        piece = response.read(_PIECE_BYTES)
                    if not piece:
                        break
                    out.write(piece)
                    got += len(piece)
                    progress(len(piece))
            if announced and announced.isdigit() and got < int(announced) and got <= file.most:
                raise PullError(f"{url}: the connection was cut after {got:,} of {int(announced):,} bytes. Try again.")
            if fault := file.fault(partial):
                what = f"the file is not the one that was expected ({fault}). It changed"
                how = f"Try again, or choose another {option('mirror')}."
                raise PullError(f"{url}: {what} at its source or on the way; nothing was kept. {how}")
            with _disk_problems(target):
                os.replace(partial, target)
        finally:
            with suppress(OSError):  # where nothing could be written, there is nothing to take away
                partial.unlink()
    return folder


def cache_folder() -> Path:
    """`$UNSWAYED_CACHE`, or `~/.cache/unswayed/data`."""
    given = os.environ.get("UNSWAYED_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "unswayed" / "data"


def _partial_path(target: Path) -> Path:
    """Where a file grows before it is whole: in the same folder, so that putting it in place is one step."""
    return target.with_name(f".{target.name}.partial-{os.getpid()}")


@contextmanager
def _network_problems(url: str, timeout: float) -> Iterator[None]:
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    another = f"choose another server with {option('mirror')}."
    try:
        yield
    except HTTPError as error:
        error.close()
        what = f"the server answered {error.code} {error.reason}. The file may have moved"
        raise PullError(f"{url}: {what}: try again later, or {another}") from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        what = f"no answer ({str(reason) or type(reason).__name__}). Check the network"
        if isinstance(reason, TimeoutError):
            what = f"the server was silent for {timeout:g} seconds. Try again later"
        raise PullError(f"{url}: {what}, or {another}") from error


@contextmanager
def _disk_problems(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what = "the disk is full. Free some space, or set UNSWAYED_CACHE to a folder on another disk."
        else:
            what = f"can't be written ({error.strerror}). Set UNSWAYED_CACHE to a folder that can."
        raise PullError(f"{path.parent}: {what}") from error


_unpacked = ExitStack()  # from a zip, into a temporary folder
atexit.register(_unpacked.close)
_SAMPLES = files("unswayed.data") / "samples"


def sample_path(name: str) -> Path:
    """Where a shipped sample is: `home_train` or `home_test`."""
    known = {file.name.removesuffix(".jsonl"): file for file in _SAMPLES.iterdir() if file.name.endswith(".jsonl")}
    if name not in known:
        raise UnknownName("sample", name, known)
    return _unpacked.enter_context(as_file(known[name]))
