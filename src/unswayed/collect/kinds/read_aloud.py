"""Read aloud: a sentence is shown, the person records it, listens, and sends it or records it again.

Recordings are checked to be audio, made 16 kHz mono, kept under names that we choose, and given to recognisers.
"""

from __future__ import annotations

import io
import math
import os
import re
import time
import wave
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NamedTuple

import msgspec

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError
from unswayed.base.values import Json
from unswayed.collect.assign import NotYours, Person, charge
from unswayed.collect.backends import Transaction
from unswayed.collect.database import Database
from unswayed.collect.kinds import ItemText, TaskKind
from unswayed.collect.people import set_fact
from unswayed.collect.study import Assign, PeopleStudy
from unswayed.storage.files import write_atomically

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

RATE = 16_000
MAX_AUDIO = 40 << 20  # bytes of an upload
MAX_TAKES = 10  # of an item by one person, until one of them is the answer
_FULL = 0.99  # of full scale: louder samples are taken for clipped
_RATES = range(8_000, 192_001)
_BLOCK = 1 << 16  # frames
_NAME = re.compile("[0-9a-f]{32}")
_OWN_FILE = re.compile(r"[0-9a-f]{32}\.wav|\.[0-9a-f]{32}\.wav\.partial-[0-9a-f]+")


class ReadingItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: ItemText


class ReadingAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The id of the take, under which it was sent before, and what the browser says of the microphone."""

    audio: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
    settings: dict[str, bool | int | float | str | None] = {}


class ReadingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    min_seconds: float = 0.5
    max_seconds: float = 60
    least_level: float = -45  # dB below full scale, of the whole recording
    most_clipped: float = 0.01  # share of samples at full scale


class ReadAloud(TaskKind):
    name = "read_aloud"
    item_type, answer_type, options_type = ReadingItem, ReadingAnswer, ReadingOptions
    about = "dialect"
    makes_text = True
    uploads = True
    source = "speech"

    def judgements(self, answer: Json) -> dict[str, Json]:
        return {}


class BadAudio(UsageError):
    """The recording can't be used; the message's name is a phrase of the pages."""


class Recording(NamedTuple):
    content: bytes  # a WAV file, 16 kHz, mono, 16 bits
    seconds: float
    level: float  # dB below full scale


def checked(file: BinaryIO, options: ReadingOptions) -> Recording:
    """The recording as it is kept, or the reason why it is refused. It is read piece by piece: uploads may be large."""
    import numpy as np

    out = io.BytesIO()
    count, power, clipped = 0, 0.0, 0
    with _opened(file, options) as (blocks, rate), wave.open(out, "wb") as slow:
        slow.setnchannels(1)
        slow.setsampwidth(2)
        slow.setframerate(RATE)
        resampler = _resampler(rate)
        for samples, last in blocks:
            count += len(samples)
            power += float(np.sum(samples.astype(np.float64) ** 2))
            clipped += int(np.count_nonzero(np.abs(samples) >= _FULL))
            made = resampler.resample_chunk(samples, last=last)
            slow.writeframes((np.clip(made, -1, 1) * 32767).astype("<i2").tobytes())
    seconds = count / rate
    if not count or seconds < options.min_seconds:
        raise BadAudio("audio_short")
    if seconds > options.max_seconds:
        raise BadAudio("audio_long")
    level = 20 * math.log10(max(math.sqrt(power / count), 1e-9))
    if level < options.least_level:
        raise BadAudio("audio_quiet")
    if clipped / count > options.most_clipped:
        raise BadAudio("audio_clipped")
    return Recording(out.getvalue(), seconds, level)


def _resampler(rate: int) -> Any:
    try:
        import soxr
    except ImportError as error:
        raise MissingExtra("Recording", "collect") from error
    return soxr.ResampleStream(rate, RATE, 1, dtype="float32")


@contextmanager
def _opened(file: BinaryIO, options: ReadingOptions) -> Iterator[tuple[Iterator[tuple[Any, bool]], int]]:
    """A WAV file's samples from -1 to 1, channels mixed to one, in blocks, and its rate."""
    try:
        with wave.open(file, "rb") as sound:
            channels, width, rate = sound.getnchannels(), sound.getsampwidth(), sound.getframerate()
            if width != 2 or channels not in (1, 2) or rate not in _RATES:
                raise BadAudio("audio_bad")
            if sound.getnframes() / rate > options.max_seconds:
                raise BadAudio("audio_long")
            yield _blocks(sound, channels), rate
    except (wave.Error, EOFError, ValueError, RuntimeError) as error:
        raise BadAudio("audio_bad") from error


def _blocks(sound: wave.Wave_read, channels: int) -> Iterator[tuple[Any, bool]]:
    import numpy as np

    while True:
        frames = sound.readframes(_BLOCK)
        last = len(frames) < _BLOCK * 2 * channels
        whole = np.frombuffer(frames[: len(frames) // (2 * channels) * 2 * channels], dtype="<i2")
        yield whole.reshape(-1, channels).mean(axis=1).astype(np.float32) / 32768, last
        if last:
            return


def audio_folder(study: PeopleStudy) -> Path:
    return Path(study.file).with_suffix(".audio")


def audio_file(study: PeopleStudy, name: str) -> Path:
    """The file of a recording. The names in a database that somebody sent must not lead to other files."""
    if not _NAME.fullmatch(name):
        raise StoredFileError(f"{study.place}: {name!r:.60} is not the name of a recording. Don't use this database.")
    return audio_folder(study) / f"{name}.wav"


@contextmanager
def folder_locked(study: PeopleStudy, alone: bool = False) -> Iterator[None]:
    """Many store takes at once. While somebody is `alone`, nobody does: then a file without a row is left over."""
    folder = audio_folder(study)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a network file system without locks
            fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        os.close(held)


def keep(study: PeopleStudy, database: Database, person: Person, item: str, take: str, recording: Recording) -> None:
    """Notes a take, then writes its file: at any moment, a file without a row is nobody's."""
    with folder_locked(study):
        oldest = database.write(lambda tx: enter(tx, person, item, take, recording, study.assign))
        file = audio_file(study, take)
        write_atomically(file, recording.content)
        file.chmod(0o600)
        for name in oldest:
            audio_file(study, name).unlink(missing_ok=True)


def sweep(study: PeopleStudy, database: Database) -> int:
    """Deletes recordings without a row, and files that a killed server left unfinished; returns how many there were."""
    if not audio_folder(study).exists():
        return 0
    count = 0
    with folder_locked(study, alone=True):
        known = {f"{name}.wav" for (name,) in database.read(lambda tx: tx.rows("SELECT name FROM audio"))}
        for file in audio_folder(study).iterdir():
            if _OWN_FILE.fullmatch(file.name) and file.name not in known:
                file.unlink(missing_ok=True)
                count += 1
    return count


def may_enter(tx: Transaction, person: Person, item: str, take: str) -> None:
    """Raises unless the person has the item now, and no take of anybody's or of another item has this id."""
    states = tx.rows("SELECT state FROM work WHERE item = ? AND person = ?", item, person.id)
    others = tx.rows("SELECT 1 FROM audio WHERE name = ? AND (item <> ? OR person <> ?)", take, item, person.id)
    if not _NAME.fullmatch(take) or others or not states or states[0][0] not in ("leased", "expired"):
        raise NotYours("This item was not given to you, or has been answered.")


def enter(tx: Transaction, person: Person, item: str, take: str, recording: Recording, rules: Assign) -> list[str]:
    """Notes a take of an item that the person has. The answer says which of several takes it is.

    Of more than `MAX_TAKES`, the oldest are dropped; returns their ids, whose files are still to be deleted.
    """
    may_enter(tx, person, item, take)
    values = (take, item, person.id, round(recording.seconds * 1000), recording.level, time.time())
    if tx.run("INSERT INTO audio VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING", *values):
        charge(tx, person.id, size_of(values[3]), rules)
    sql = "SELECT name FROM audio WHERE item = ? AND person = ? AND name <> ? ORDER BY at"
    others = [name for (name,) in tx.rows(sql, item, person.id, take)]
    return discard(tx, person.id, others[: max(0, len(others) - MAX_TAKES + 1)], rules)


def size_of(milliseconds: int) -> int:
    """Bytes of the file of a take."""
    return 44 + milliseconds * RATE // 1000 * 2


def discard(tx: Transaction, person: str, takes: Sequence[str], rules: Assign) -> list[str]:
    """Drops takes; returns their ids, whose files are still to be deleted."""
    for take in takes:
        for (milliseconds,) in tx.rows("DELETE FROM audio WHERE name = ? RETURNING milliseconds", take):
            charge(tx, person, -size_of(milliseconds), rules)
    return list(takes)


def discard_others(tx: Transaction, person: str, item: str, take: str, rules: Assign) -> list[str]:
    """Drops the takes that the answer is not about; returns their ids, whose files are still to be deleted."""
    sql = "SELECT name FROM audio WHERE item = ? AND person = ? AND name <> ?"
    return discard(tx, person, [name for (name,) in tx.rows(sql, item, person, take)], rules)


def transcribe(
    study: PeopleStudy, database: Database, recogniser: str, hear: Callable[[Path], str], again: bool = False,
    identity: str | None = None,
) -> int:  # fmt: skip
    """Has every answered recording heard that this recogniser has not heard yet, each kept as it comes.

    `recogniser` is its name, `identity` what changes when the recogniser does: then all are heard again.
    """
    if not study.make_kind().uploads:
        raise UsageError(f"A {study.kind} study has no recordings.")
    sql = (
        "SELECT a.name FROM audio a JOIN work w ON w.item = a.item AND w.person = a.person WHERE w.state = 'answered' "
        "AND NOT EXISTS (SELECT 1 FROM heard h WHERE h.name = a.name AND h.recogniser = ?) ORDER BY a.name"
    )
    database.write(lambda tx: _begin(tx, recogniser, identity, again))
    names = [name for (name,) in database.read(lambda tx: tx.rows(sql, recogniser))]
    for name in names:
        text = hear(audio_file(study, name))
        database.write(lambda tx, name=name, text=text: _heard(tx, name, recogniser, text))  # type: ignore[misc]
    return len(names)


def _begin(tx: Transaction, recogniser: str, identity: str | None, again: bool) -> None:
    """Drops what the recogniser heard where that is asked for, or where it was another under the same name."""
    name = f"recogniser {recogniser}"
    earlier = next((value for (value,) in tx.rows("SELECT value FROM facts WHERE name = ?", name)), identity)
    if again or (identity is not None and earlier != identity):
        tx.run("DELETE FROM heard WHERE recogniser = ?", recogniser)
    if identity is not None:
        set_fact(tx, name, identity)


def _heard(tx: Transaction, name: str, recogniser: str, text: str) -> None:
    """A recording that was deleted meanwhile leaves nothing behind."""
    if tx.rows("SELECT 1 FROM audio WHERE name = ?", name):
        sql = "INSERT INTO heard VALUES (?, ?, ?) ON CONFLICT (name, recogniser) DO UPDATE SET text = excluded.text"
        tx.run(sql, name, recogniser, text)
