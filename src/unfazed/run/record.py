"""A Run: the outputs of one system on one suite, in a folder of a manifest and a store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from unfazed.core.errors import StoredFileError
from unfazed.core.json import decode
from unfazed.core.store import AnswerStore, keyer
from unfazed.core.suite import Suite
from unfazed.core.values import Example, Output, Variant

_EXAMPLES_A_BLOCK = 200
NOT_ASKED = Output(error="not asked yet")


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Which suite was asked of which system. `identity` is the system's when it was last asked."""

    format: int = 1
    unfazed: str
    suite: str  # path, relative to the run's folder where it can be
    suite_id: str
    system: str
    identity: str


class Run:
    """A run on disk. `Run(path)` opens one for reading; `run_system` makes or continues one."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = _read_manifest(self.path)
        place = Path(self.manifest.suite)
        self.suite = Suite(place if place.is_absolute() else (self.path / place).resolve())
        if self.suite.id != self.manifest.suite_id:
            raise StoredFileError(
                f"{self.suite.path}: the suite changed after {self.path} was run on it. Run again into another folder."
            )

    @property
    def system(self) -> str:
        return self.manifest.system

    @property
    def identity(self) -> str:
        return self.manifest.identity

    def items(self) -> Iterator[tuple[Example, Output, list[tuple[Variant, Output]]]]:
        """Each example with its output, and each of its variants with theirs; streamed."""
        key = keyer(self.identity)
        groups = self.suite.groups()
        with AnswerStore.reader(self.path) as store:
            while block := list(islice(groups, _EXAMPLES_A_BLOCK)):
                keys = [[key(e.inputs), *(key(v.inputs) for v in variants)] for e, variants in block]
                found = store.get([k for group in keys for k in group])
                for (example, variants), group in zip(block, keys, strict=True):
                    clean, *varied = (found.get(k, NOT_ASKED) for k in group)
                    yield example, clean, list(zip(variants, varied, strict=True))

    def used(self) -> dict[str, float]:
        """What answering used over the whole run, such as requests, retries, tokens and cost; empty where not known."""
        with AnswerStore.reader(self.path) as store:
            return store.used()


def _read_manifest(path: Path) -> RunManifest:
    file = path / "run.json"
    try:
        return decode(file.read_bytes(), RunManifest)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoredFileError(f"{path} is not a run: it has no run.json. Make one with `unfazed run`.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoredFileError(
            f"{file}: the run's manifest is damaged ({error}). Run again into another folder."
        ) from error
