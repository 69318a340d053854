"""What stored answers rest on, beside the identity of the system that gave them: kept next to their store, as JSON."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import UnswayedError
from unswayed.base.ids import content_id, decode
from unswayed.storage.files import write_inside
from unswayed.storage.untrusted_files import own_key, read_bounded

SUFFIX = ".dependencies.json"  # in place of the store's own
_FORMAT = 1
_OF_THIS_PROCESS = os.urandom(32)
_MAX_KEPT = 32  # contents that are remembered of one store


class Revision(msgspec.Struct):
    """A system's answers while nothing that they rest on changed. `id` is empty for the first of an identity."""

    identity: str
    id: str
    rests_on: Dependencies
    seal: str = ""  # of this user, on a record that began with the first answer: without it, answers are checked


class _Sidecar(msgspec.Struct):
    format: int
    kept: list[Revision]


class RestsOn:
    """The revisions of one store of answers, the latest last; in memory alone if the store is."""

    def __init__(self, store: Path | None) -> None:
        self._file = None if store is None else store.with_suffix(SUFFIX)
        self._kept: list[Revision] = []
        if self._file is not None:
            # Without the file, or with a damaged one, stored answers are those of a system that nothing is known of.
            with suppress(OSError, UnswayedError, msgspec.MsgspecError):
                found = decode(read_bounded(self._file), _Sidecar)
                self._kept = found.kept if found.format == _FORMAT else []

    def revision(self, identity: str, now: Dependencies | None) -> tuple[Revision, list[str]]:
        """The revision whose content is that of today; and, where it is a new one, what has changed since the last.

        `now` is what the system itself can say of its content.
        """
        known = [kept for kept in self._kept if kept.identity == identity]
        changes: list[str] = []
        for kept in reversed(known):
            found = kept.rests_on.changes(now)
            if not found:
                self._kept.remove(kept)
                self._kept.append(kept)
                return kept, []
            changes = changes or found
        # No two revisions have one id, also where the same content comes again and a record of it was incomplete.
        every = [kept.id for kept in known]
        id = "" if not known else content_id([known[-1].rests_on.current_id(), now and now.entries, every])
        # Files that a system is known to write are no part of any of its revisions.
        written = Dependencies({}, sorted({name for kept in known for name in kept.rests_on.written}))
        return Revision(identity, id, written), changes

    def _key(self) -> bytes | None:
        """The user's secret; for what lives in memory one of this process, as nothing is written for it."""
        return _OF_THIS_PROCESS if self._file is None else own_key()

    def is_sealed(self, revision: Revision) -> bool:
        """Was it all recorded from the first answer on, by this user? Somebody else could have made it up."""
        key = self._key()
        return key is not None and revision.seal == content_id([key.hex(), revision.identity, revision.id], 16)

    def seal(self, revision: Revision) -> None:
        """Says of a revision without answers that its record begins now."""
        key = self._key()
        if key is not None and revision not in self._kept:
            revision.seal = content_id([key.hex(), revision.identity, revision.id], 16)

    def add(self, revision: Revision, found: Dependencies) -> None:
        """Notes what else a revision rests on; on disk before the answers are that rest on it."""
        new = revision.rests_on.add(found)
        if not new or (revision not in self._kept and not found.entries and not found.unseen):
            return
        self._kept = [*(kept for kept in self._kept if kept is not revision), revision][-_MAX_KEPT:]
        if self._file is not None and os.access(self._file.parent, os.W_OK):
            content = msgspec.json.encode(_Sidecar(_FORMAT, self._kept))
            write_inside(self._file, msgspec.json.format(content, indent=1) + b"\n")
