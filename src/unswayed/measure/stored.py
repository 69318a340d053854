"""What was measured, kept with its run: `results.json`, and the scores of answers in `scores.sqlite`.

Both are used again only as long as everything that decides them is the same: the suite, the system, its outputs, the
scorers' code, how intervals are made, and the version of unswayed. Both are signed with a secret of this user, so
that what somebody else measured, or made up, is measured again.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from hashlib import blake2b
from math import isfinite
from pathlib import Path

import msgspec
import numpy as np

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import UnswayedError
from unswayed.base.ids import canonical, content_id, decode
from unswayed.base.recorder import recorder_of
from unswayed.base.registry import VERSION
from unswayed.base.task import Task
from unswayed.base.values import Json, Output
from unswayed.measure.against import VERSION as AGAINST
from unswayed.measure.definitions import VERSION as DEFINITIONS
from unswayed.measure.naming import VERSION as NAMING
from unswayed.measure.results import Results
from unswayed.measure.spread import VERSION as SPREAD
from unswayed.measure.validity import SANITY_VERSION as SANITY
from unswayed.run.plan import Engine, MeasurePlan, in_use
from unswayed.run.record import Run
from unswayed.run.scoring import scored_by
from unswayed.score import Comparing, Scorer
from unswayed.stats import Array
from unswayed.storage.answers import AnswerStore
from unswayed.storage.files import write_inside
from unswayed.storage.keys import Keyer
from unswayed.storage.rests_on import RestsOn, Revision
from unswayed.storage.untrusted_files import own_key, read_bounded
from unswayed.systems.asking import canary_count
from unswayed.systems.callable import source_id

RESULTS, SCORES = "results.json", "scores.sqlite"
_FORMAT = 1
_MOST = 8  # measurements of a run that are kept, such as under other scores or levels
_MOST_SCORES = 1_000_000  # answers whose scores are kept


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides the results of a run."""

    suite: str
    system: str
    identity: str
    outputs: str
    repeats: int
    asked_twice: int
    sample: str | None  # which examples of the suite were measured, None for all
    stop_when: list[str]
    scores: list[str]
    compared: str
    measured: dict[str, Json]
    groups: list[str] | None
    versions: dict[str, str]


class _Measurement(msgspec.Struct, frozen=True):
    """One measurement; `id` signs the rest, so that a damaged file, or one from elsewhere, is noticed."""

    decided: Decided
    results: Results
    id: str


class _File(msgspec.Struct, frozen=True):
    format: int
    kept: list[_Measurement]


class Revisions:
    """Which revision of the user's own scorers and rules made the scores that are kept with a run.

    A scorer whose table changed has another revision, under which nothing is kept yet.
    """

    def __init__(self, folder: Path) -> None:
        self._kept = RestsOn(folder / SCORES)
        self._found: dict[str, tuple[Revision, Callable[[], Dependencies | None]]] = {}

    def id(self, code: str, rests_on: Callable[[], Dependencies | None]) -> str:
        """The code's id with its revision; `rests_on` gives what is known by now of what it reads."""
        if code not in self._found:
            now = rests_on()
            if now is None:
                return code
            self._found[code] = self._kept.revision(code, now)[0], rests_on
        revision = self._found[code][0]
        return f"{code} {revision.id}" if revision.id else code

    def of(self, scorer: Scorer, task: Task) -> str | None:
        """The id of a scorer; None if its code is in no file."""
        code, recorder = scorer_id(scorer, task), recorder_of(type(scorer))
        return code if code is None or recorder is None else self.id(code, recorder.record)

    def unseen(self, scorer: Scorer, task: Task) -> bool:
        """Does the scorer do what can't be recorded, such as asking a server?"""
        code = scorer_id(scorer, task)
        return code in self._found and bool(self._found[code][0].rests_on.unseen)

    def note(self) -> None:
        """Notes what was read meanwhile."""
        with suppress(UnswayedError):  # nothing can be written there, so that nothing is kept either
            for revision, rests_on in self._found.values():
                if (now := rests_on()) is not None:
                    self._kept.add(revision, now)


def decided_by(
    run: object, used: Sequence[Scorer], plan: MeasurePlan, comparing: Comparing, revisions: Revisions | None
) -> Decided | None:
    """What decides the results of a run in a folder; None if that can't be known, so that nothing is kept."""
    if not isinstance(run, Run) or revisions is None or own_key() is None:
        return None
    codes = [revisions.of(scorer, run.suite.task) for scorer in used]
    scores = [code for code in codes if code is not None]
    compared = comparing.decides
    if len(scores) < len(codes) or compared is None or any(revisions.unseen(one, run.suite.task) for one in used):
        return None
    compared = revisions.id(compared, comparing.rests_on)
    others = msgspec.structs.replace(plan, scores=(), sanity=True, agreement=None)
    measured = msgspec.json.decode(msgspec.json.encode(others))
    del measured["groups"], measured["stored"]  # the others that were replaced change no number
    if plan.reference is None:
        del measured["reference"]
    against = {"against": str(AGAINST)} if plan.reference or run.suite.manifest.reference else {}
    with AnswerStore.reader(run.place) as store:
        outputs = store.content()
    return Decided(
        suite=run.suite.signed,
        system=run.system,
        identity=run.identity,
        outputs=outputs,
        repeats=run.manifest.repeats,
        asked_twice=run.manifest.asked_twice,
        sample=run.sample.sentence if run.sample else None,
        stop_when=run.manifest.stop_when,
        scores=scores,
        compared=compared,
        measured=measured,
        groups=None if plan.groups is None else list(plan.groups),
        versions={
            "unswayed": VERSION,
            "measures": str(DEFINITIONS),
            "sanity": str(SANITY),
            "naming": str(NAMING),
            "spread": str(SPREAD),
            "numpy": np.__version__,
            **against,
        },
    )


def scorer_id(scorer: Scorer, task: Task) -> str | None:
    """A scorer with its version and its task; of code that is not in unswayed, also the content of its files.

    None if the code is in no file, as at a prompt.
    """
    files = {}
    for cls in (*type(scorer).__mro__, *type(task).__mro__):
        if cls.__module__.partition(".")[0] in ("unswayed", "builtins"):
            continue
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        if file is None or not Path(file).is_file():
            return None
        files[cls.__module__] = source_id(Path(file))  # also of what it imports or names beside it
    if scorer.decides is None:
        return None
    more = [scorer.decides] if scorer.decides else []
    return f"{scorer.name}:{scorer.version} {task.name} {content_id([type(scorer).__qualname__, files, *more])}"


def find(run: Run, decided: Decided) -> Results | None:
    """The results that were measured before, if nothing that decides them has changed."""
    kept = next((kept for kept in _read(Path(run.name) / RESULTS) if kept.decided == decided), None)
    return None if kept is None or kept.id != _id(kept.decided, kept.results) else kept.results


def keep(run: Run, decided: Decided, results: Results) -> None:
    """Stores results with their run, beside those of the same outputs under other settings."""
    if not os.access(run.name, os.W_OK):
        return
    others = [kept for kept in _read(Path(run.name) / RESULTS) if kept.decided.outputs == decided.outputs]
    others = [kept for kept in others if kept.decided != decided]
    try:
        new = _Measurement(decided, results, _id(decided, results))
        content = msgspec.json.encode(_File(_FORMAT, [new, *others[: _MOST - 1]]))
    except UnicodeEncodeError:  # a lone surrogate in a reason or a name: such results are measured each time
        return
    with suppress(UnswayedError):  # a full disk: the results are measured again next time
        write_inside(Path(run.name) / RESULTS, msgspec.json.format(content, indent=1) + b"\n")


def _id(decided: Decided, results: Results) -> str:
    return blake2b(canonical([decided, results]), digest_size=16, key=own_key() or b"").hexdigest()


def _read(file: Path) -> list[_Measurement]:
    """What a file holds; nothing if it is absent, damaged or of another format, since all can be measured again."""
    try:
        found = decode(read_bounded(file), _File)
    except (OSError, UnswayedError, msgspec.MsgspecError):
        return []
    return found.kept if found.format == _FORMAT else []


class KeptScores:
    """Scores of answers, kept with runs: only pairs of output and gold that are new are scored, on the engine.

    Only those of scorers that are `stored`, whose rows do not depend on other answers (`apart`), are kept.
    """

    def __init__(self, runs: Iterable[object], engine: Engine | None = None) -> None:
        folders = dict.fromkeys(run.path for run in runs if isinstance(run, Run) and run.path is not None)
        self._engine, self._stack = engine or in_use(), ExitStack()
        opened = {folder: _open(folder / SCORES) for folder in folders}
        self._stores = [store for store in opened.values() if store is not None]
        self._revisions = [Revisions(folder) for folder, store in opened.items() if store is not None]

    def __enter__(self) -> KeptScores:
        self._stats = self._stack.enter_context(scored_by(self._engine))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        for revisions in self._revisions:
            revisions.note()
        for store in self._stores:
            with suppress(UnswayedError, sqlite3.Error):
                store.close()

    def __call__(self, scorer: Scorer, pairs: Sequence[tuple[Json, Json]], task: Task) -> Array:
        stored = scorer.apart and scorer.stored and len(pairs) > 0
        codes = [one.of(scorer, task) for one in self._revisions] if stored else []
        if not codes or codes[0] is None:
            return self._stats(scorer, pairs, task)
        key = Keyer(f"{VERSION} {' '.join(dict.fromkeys(filter(None, codes)))}")
        keys = [_key(key, pair) for pair in pairs]
        known: dict[bytes, list[float]] = {}
        for store in self._stores:
            with suppress(UnswayedError, sqlite3.Error):  # what can't be read is scored again
                for k, output in store.get([k for k in keys if k not in known]).items():
                    value, floats = output.value, isinstance(output.value, list)
                    floats = floats and all(isinstance(x, float) for x in value[1:])
                    if floats and value[:1] == [_sum(k, value[1:])]:  # it is what was written under that key
                        known[k] = value[1:]
        if len({len(row) for row in known.values()}) > 1:  # not what this scorer wrote
            return self._stats(scorer, pairs, task)
        if known and any(one.unseen(scorer, task) for one in self._revisions):
            # What it does can't all be recorded, so a few scores are made again, others each time.
            place = {k: i for i, k in enumerate(keys) if k in known}
            chosen = random.SystemRandom().sample(list(place), canary_count(len(place), None, None))
            again = self._stats(scorer, [pairs[place[k]] for k in chosen], task)
            if not np.allclose(again, [known[k] for k in chosen], rtol=1e-4, atol=1e-5, equal_nan=True):
                print(f"unswayed: {scorer.name} scores otherwise than before: all is scored again.", file=sys.stderr)
                known = {}
        new = list({k: pair for k, pair in zip(keys, pairs, strict=True) if k not in known}.items())
        if new:
            rows = self._stats(scorer, [pair for _, pair in new], task)
            made = {k: row for (k, _), row in zip(new, rows.tolist(), strict=True)}
            known |= made
            for store in self._stores:
                with suppress(UnswayedError, sqlite3.Error):  # a full disk
                    if store.size < _MOST_SCORES:
                        store.put(
                            (k, Output([_sum(k, row), *row])) for k, row in made.items() if all(map(isfinite, row))
                        )
        return np.array([known[k] for k in keys], dtype=np.float64)


def _open(file: Path) -> AnswerStore | None:
    """The store in a file; None if nothing can be written there. One that is damaged is made anew."""
    if not os.access(file.parent, os.W_OK) or own_key() is None:
        return None
    for _ in range(2):
        try:
            return AnswerStore.shared(file)
        except UnswayedError:
            with suppress(OSError):
                for suffix in ("", "-wal", "-shm", "-journal"):
                    file.with_name(file.name + suffix).unlink(missing_ok=True)
    return None


def _sum(key: bytes, row: list[float]) -> int:
    signed = blake2b(key + msgspec.json.encode(row), digest_size=6, key=own_key() or b"")
    return int.from_bytes(signed.digest(), "big")


def _key(key: Callable[[Json], bytes], pair: tuple[Json, Json]) -> bytes:
    try:
        return key(list(pair))
    except UnicodeEncodeError:  # a lone surrogate, which JSON can't hold
        return key(ascii(pair))
