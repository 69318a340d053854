"""Ask, remember, resume: batches of requests to anything that answers, failures asked again, nothing asked twice.

Before stored answers are used, a few of them (canaries) are asked again, so that no answer of an earlier system passes
for today's.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext, suppress
from math import ceil, comb, isclose, log, log1p
from typing import NamedTuple

import msgspec

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import StaleAnswers, SystemBroken, UnswayedError
from unswayed.base.options import Asking
from unswayed.base.own_code import debug_hint, error_place, error_summary, own_traceback
from unswayed.base.progress import notices
from unswayed.base.values import UNREADABLE, BatchOutputs, Failed, Inputs, Json, Output
from unswayed.storage.answer_rows import masked_output
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Key, Keyer
from unswayed.storage.rests_on import Revision
from unswayed.systems.http import Pace, metered
from unswayed.systems.system import System

_WATCHED_SECONDS = 0.2  # of calls, after which it is decided whether they wait,
_WATCHES = 5  # so many times at most,
_BUSY_SHARE = 0.5  # which they do if no more of the time goes into computing, and waiting for a processor
_ALIKE = 3  # equal errors of the first items after which a system counts as broken
# Errors of Python's own that a local function raises again if it is asked the same again.
_CERTAIN = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, NotImplementedError,
    RecursionError, SyntaxError, TypeError, ValueError,
)  # fmt: skip


class Answers(NamedTuple):
    """An output for each request of a batch, what answering used, and what else was found to decide answers."""

    outputs: Sequence[Output]
    used: dict[str, float]
    rests_on: Dependencies | None = None


class Asker:
    """Asks one system in this process; batches may come from several threads.

    `problem` says what is wrong with an output, if anything; such an output is unreadable. `read` gives an output the
    form in which it is stored. Errors that are `fatal` end the asking; all others fail the item.
    `worked` says that the system is known to answer: if it is not, equal errors of the first items end the asking.
    """

    worked = False
    _last_error = ""
    _alike = 0

    def __init__(
        self, system: System, asking: Asking, problem: Callable[[Json, Inputs], str | None] | None = None,
        fatal: type[UnswayedError] = SystemBroken, read: Callable[[Json, Inputs], Json] | None = None,
    ) -> None:  # fmt: skip
        system.concurrency = self.threads = asking.concurrency or system.concurrency
        self._watched = asking.concurrency is None and system.concurrency == 1 and system.threads_if_waiting > 1
        self._wall = self._busy = 0.0  # of the calls that are watched
        self._watches = 0
        system.retries = system.retries if asking.retries is None else asking.retries
        self.system, self.asking, self._problem, self._fatal, self._read = system, asking, problem, fatal, read
        # A system that knows no rate is held to it here, from whichever thread it is called.
        self._pace = None if asking.rate is None or system.limit(asking.rate) else Pace(asking.rate)
        self._lock = threading.Lock()
        self._recorder = system.recorder

    def do(self, batch: Sequence[Inputs]) -> Answers:
        outputs = self.ask(batch)
        return Answers(outputs, self.system.used(), self.system.rests_on(news=True))

    def close(self) -> None:
        self.system.close()

    def ask(self, batch: Sequence[Inputs]) -> Sequence[Output]:
        """An output for each request. What fails in a batch is asked again by itself."""
        if len(batch) == 1:
            return [self._ask_one(batch[0], None)]
        values, shares = self._attempt(batch)
        if isinstance(values, Exception):
            # Each by itself, so that one bad item does not fail its neighbours; stops where all of them fail. The
            # first, the middle and the last come first: a batch is sorted by length, and short texts may fail alike.
            places = list(dict.fromkeys([0, len(batch) // 2, len(batch) - 1, *range(len(batch))]))
            each: dict[int, Output] = {}
            for done, place in enumerate(places):
                failed = done >= self.asking.give_up and all(not o.ok for o in each.values())
                each[place] = each[places[done - 1]] if failed else self._ask_one(batch[place], None)
            return [each[place] for place in range(len(batch))]
        # Most batches have nothing wrong with them and count no tokens: they are checked and kept as a whole.
        apart = shares[0] is not shares[-1]
        if not apart and not any(issubclass(kind, Failed) for kind in set(map(type, values))):
            read = values if self._read is None else list(map(self._read, values, batch))
            if self._problem is None or not any(map(self._problem, read, batch)):
                self.worked = True
                return BatchOutputs(read, shares[0].seconds)
        outputs = [self._checked(v, item, share) for v, item, share in zip(values, batch, shares, strict=True)]
        for i, value in enumerate(values):
            if isinstance(value, Failed) and not value.final:
                outputs[i] = self._ask_one(batch[i], outputs[i])
        return outputs

    def _ask_one(self, item: Inputs, last: Output | None) -> Output:
        """The output of one item, asked until it has one or the retries are used up; `last` is of a first attempt."""
        raised: Exception | None = None
        for attempt in range(1 if last is None else 2, self.system.retries + 2):
            if attempt > 1:
                time.sleep(self.asking.backoff * 2 ** (attempt - 2))
            values, (share,) = self._attempt([item])
            raised = values if isinstance(values, Exception) else None
            if isinstance(values, Exception):
                certain = isinstance(values, _CERTAIN) and type(values).__module__ == "builtins"
                values = [Failed(error_place(values), final=certain)]
            last = msgspec.structs.replace(self._checked(values[0], item, share), attempts=attempt)
            if not isinstance(values[0], Failed) or values[0].final:
                break
        assert last is not None
        if raised is None or self.worked:
            return last
        # Where the first items all fail by the same error, so will the others.
        # Of a bug in the user's code, the same error comes again with every input: three are enough to stop, and to
        # show the input with which it came.
        self._alike = self._alike + 1 if error_summary(raised) == self._last_error else 1
        self._last_error = error_summary(raised)
        if self._alike >= _ALIKE:
            frames, shown = own_traceback(raised), {name: _shorten_text(text) for name, text in item.items()}
            raise SystemBroken(
                f"{self.system.name} raised the same error for the first {_ALIKE} inputs:\n\n{frames}\n\n"
                f"It was called with [{shown!r}]. Fix the error, then rerun the same command.{debug_hint()}"
            ) from raised
        return last

    def _attempt(self, inputs: Sequence[Inputs]) -> tuple[Sequence[Json | Failed] | Exception, list[Output]]:
        """What the system answers, or the error that it raises; and what each of the inputs took, as outputs without
        a value: the seconds of its request, or of the call; its share of the tokens."""
        process = os.getpid()
        with metered() as spent:
            began, busy = time.perf_counter(), _busy_seconds() if self._watched else 0.0
            try:
                if self._pace is not None:
                    # Threads wait for their turn here; the lock makes their waits follow one another.
                    with self._lock:
                        while (wait := self._pace.delay(now := time.monotonic())) != 0.0:
                            time.sleep(wait or 0.0)
                        self._pace.send(now)
                        self._pace.accept()
                try:
                    with self._recorder or nullcontext():
                        outputs = self.system.predict(inputs)
                except (Exception, KeyboardInterrupt):
                    raise
                except BaseException as error:  # a system that calls exit() would end the command, as if all were well
                    raise RuntimeError(f"the system left by {error_place(error)}") from error
                finally:
                    # A system may fork and let the child come back here, where it would store answers a second time.
                    if os.getpid() != process:
                        os._exit(1)  # a fork of the system's that came back; what is under way is its parent's
                if len(outputs) != len(inputs):
                    raise SystemBroken(
                        f"{self.system.name} returned {len(outputs)} outputs for {len(inputs)} inputs "
                        f"(the first: {_shorten_text(' | '.join(inputs[0].values()))!r}). "
                        f"It must return one for each, in order."
                    )
                values: Sequence[Json | Failed] | Exception = outputs
            except Exception as error:
                if isinstance(error, self._fatal):
                    raise
                values = error
            n, whole = len(inputs), time.perf_counter() - began
            took = whole / n if spent.seconds is None else spent.seconds
            if self._watched:
                self._watch(whole, _busy_seconds() - busy)
        if spent.tokens_in is None and spent.tokens_out is None and not spent.reasoning:
            return values, [Output(seconds=took)] * n
        halves = ([None if t is None else t // n + (i < t % n) for t in (spent.tokens_in, spent.tokens_out)]
                  for i in range(n))  # fmt: skip
        thoughts = (spent.reasoning.get(i, "") for i in range(n))
        return values, [
            Output(seconds=took, tokens_in=read, tokens_out=written, reasoning=thought)
            for (read, written), thought in zip(halves, thoughts, strict=True)
        ]

    def _watch(self, wall: float, busy: float) -> None:
        """Allows several threads once calls are seen to wait for something rather than to compute."""
        self._wall, self._busy = self._wall + wall, self._busy + busy
        if self._wall < _WATCHED_SECONDS:
            return
        self._watches += 1
        waits = self._busy < _BUSY_SHARE * self._wall
        if waits:
            self.threads = self.system.threads_if_waiting
        self._watched = not waits and self._watches < _WATCHES
        self._wall = self._busy = 0.0

    def _checked(self, value: Json | Failed, inputs: Inputs, took: Output) -> Output:
        """The value as a stored output; one that can't be read has an error that says so."""
        rest = took.seconds, 1, took.tokens_in, took.tokens_out, took.reasoning
        if isinstance(value, Failed):
            return Output(value.value, value.error, *rest)
        self.worked = True
        value = value if self._read is None else self._read(value, inputs)
        problem = None if self._problem is None else self._problem(value, inputs)
        quoted = repr(_shorten_text(" | ".join(inputs.values()))) if problem else ""
        error = f"{UNREADABLE}{problem} (input: {quoted})" if problem else None
        return Output(value, error, *rest)


def _busy_seconds() -> float:
    """How long this process has computed, and programs that it started and that have ended; and how long this thread
    has waited for a processor, where the system counts that: on a busy machine, that is no waiting for others."""
    times = os.times()
    busy = time.process_time() + times.children_user + times.children_system
    with suppress(OSError, ValueError, IndexError), open("/proc/thread-self/schedstat", "rb") as file:
        busy += int(file.read().split()[1]) / 1e9
    return busy


def ask(
    system: System, requests: Iterable[Inputs], store: AnswerStore | None = None, asking: Asking | None = None,
    pinned: Callable[[Inputs], Inputs] = lambda inputs: inputs,
) -> list[Output]:  # fmt: skip
    """An output for each request, in order. Only what the store has no answer to is asked, each request once.

    Answers are stored as they come, so that what was stopped goes on where it was. Failures are stored too,
    and are asked again the next time. Before stored answers are used, a few of them are checked. `pinned` gives what of
    a request decides the answer, such as a file's content.
    """
    if store is None:
        with AnswerStore.in_memory() as store:
            return ask(system, requests, store, asking, pinned)
    requests = list(requests)
    revision = settle_revision(system, store)
    key, place = Keyer(system.stored_as), (str(store.file.absolute()), system.stored_as)
    keys = [key(pinned(inputs)) for inputs in requests]
    store.begin(system.stored_as)
    answered = store.answered(keys)
    by_key = dict(zip(keys, requests, strict=True))
    asker = Asker(system, asking or Asking(), fatal=UnswayedError)
    old = [k for k in store.reuse(answered) if answered[k] not in _begun[place]]
    # As many of the stored answers as are due by now are asked again; that raises if the system gives others.
    sure = system.deterministic
    checked = _checked_servers[place] if sure is False else store.checked[system.stored_as]
    wanted = canary_count(store.reused, asker.asking.canary, sure) - checked if old else 0
    if (
        system.known_whole
        and revision.rests_on.whole
        and store.rests_on.is_sealed(revision)
        and not asker.asking.canary
    ):
        wanted, store.known_whole = 0, True
    # Others each time: no number depends on which are checked.
    if chosen := random.SystemRandom().sample(old, min(max(wanted, 0), len(old))):
        store.checked[system.stored_as] += len(chosen)
        _checked_servers[place] += len(chosen)

        def ask_again(inputs: list[Inputs]) -> list[Output]:
            found = sorted(_answer_batches(asker, inputs), key=lambda numbered: numbered[0])
            for _, answers in found:
                store.use(answers.used)
            return [output for _, answers in found for output in answers.outputs]

        stored = store.get(chosen)
        canaries = [Canary(by_key[k], stored[k]) for k in chosen]
        instead = f"To ask everything anew, give {store.file} another name."
        if warning := check_canaries(system.name, canaries, ask_again, sure, str(store.file), instead):
            store.warnings.append(warning)
            print(f"unswayed: {warning}", file=notices())
    due = [k for k in by_key if k not in answered]
    fresh: dict[Key, Output] = {}
    failed_in_a_row = 0
    try:
        for at, answers in _answer_batches(asker, [by_key[k] for k in due]):
            outputs = dict(zip(due[at : at + len(answers.outputs)], answers.outputs, strict=True))
            fresh |= outputs
            store.use(answers.used)
            if answers.rests_on is not None:
                store.rests_on.add(revision, answers.rests_on)
            store.put(outputs.items())
            if system.deterministic is False:
                _begun[place].update(store.own.values())
            for output in answers.outputs:
                failed_in_a_row = 0 if output.ok else failed_in_a_row + 1
            if failed_in_a_row >= asker.asking.give_up:
                raise SystemBroken(f"{system.name} failed on {failed_in_a_row} items in a row: {output.error}")
    finally:
        store.rests_on.add(revision, Dependencies(written=system.written()))
        # What was answered is committed however this ends, since some answers cost money.
        if due:
            store.commit()
    stored = store.get(list(answered))
    return [fresh[k] if k in fresh else stored[k] for k in keys]


def settle_revision(system: System, store: AnswerStore) -> Revision:
    """Which revision of the system answers: that of stored answers if what they rest on is unchanged, else a new one.

    So answers that rest on another content are never used for today's.
    """
    found, system.revision = system.rests_on(), ""
    revision, changes = store.rests_on.revision(system.identity, found)
    system.revision = revision.id
    if all(session.identity != system.stored_as for session in store.sessions().values()):
        store.rests_on.seal(revision)
    if found is not None:
        store.rests_on.add(revision, found)
    store.unseen |= set(revision.rests_on.unseen)
    if changes:
        more = f", and {len(changes) - _SHOWN_CHANGES} more" if len(changes) > _SHOWN_CHANGES else ""
        warning = f"{', '.join(changes[:_SHOWN_CHANGES])}{more}: answers of {system.name} from before are not reused."
        store.warnings.append(warning)
    return revision


def _answer_batches(asker: Asker, requests: Sequence[Inputs]) -> Iterator[tuple[int, Answers]]:
    """Where each batch begins, with its answers as they come; several at once where the system takes that."""
    size = asker.asking.batch_size or asker.system.batch_size
    batches = {at: requests[at : at + size] for at in range(0, len(requests), size)}
    if asker.system.concurrency == 1 or len(batches) < 2:
        yield from ((at, asker.do(batch)) for at, batch in batches.items())
        return
    pool = ThreadPoolExecutor(asker.system.concurrency)
    try:
        coming = {pool.submit(asker.do, batch): at for at, batch in batches.items()}
        for future in as_completed(coming):
            yield coming[future], future.result()
    finally:
        # Nothing that is under way is waited for: an interrupted command ends now.
        pool.shutdown(wait=False, cancel_futures=True)


# Stored answers that this process asked again, by file and identity. A server is paid by the request: a file of its
# answers that is opened again and again, as a judge's is, is not checked each time.
_checked_servers: Counter[tuple[str, str]] = Counter()
_begun: defaultdict[tuple[str, str], set[int]] = defaultdict(set)  # and its sessions of this process, never checked


_SHOWN_CHANGES = 3
_CANARIES = 32  # without a gate
_MIN_CANARIES = 8  # of stores so small that their share would be fewer
CANARY_SHARE = 0.05  # of the stored answers, and of a budget, that checks may take
_MIN_WAVERING_CANARIES = 32  # fewer could not tell another system from one that does not repeat itself
_LEVEL = 0.05
_NEAR, _TINY = 1e-4, 1e-5  # floats of the same model differ by this much between batches and processors


class Canary(NamedTuple):
    """A request with its stored answer, to be asked again."""

    inputs: Inputs
    stored: Output


def canary_count(stored: int, wanted: int | None, deterministic: bool | None, margin: float | None = None) -> int:
    """How many of so many stored answers are asked again; `wanted` is what the user chose.

    Of gates, `margin` is the smallest difference that counts: so many are asked that a change of half of it is among
    them at 95%.
    """
    if wanted is None:
        least = _MIN_WAVERING_CANARIES if deterministic is False else _MIN_CANARIES
        wanted = _CANARIES if margin is None else max(_CANARIES, ceil(log(_LEVEL) / log1p(-min(margin, 1.0) / 2)))
        wanted = max(least, min(wanted, int(CANARY_SHARE * stored)))
    return min(wanted, stored)


def check_canaries(
    name: str, canaries: Sequence[Canary], ask: Callable[[list[Inputs]], list[Output]], deterministic: bool | None,
    place: str, instead: str,
) -> str | None:  # fmt: skip
    """Raises if a system no longer gives the stored answers; `place` names the store, `instead` says what to do.

    A system that is not known to be deterministic is asked twice. If its two answers of today differ, it is another
    system only if the stored ones differ from today's more often than that: then None or a warning is returned.
    """
    inputs = [canary.inputs for canary in canaries]
    first = [masked_output(output) for output in ask(inputs)]
    if not any(output.ok for output in first):
        raise SystemBroken(
            f"{name} failed when stored answers were checked, on all {len(first)} inputs: {first[0].error} "
            f"Fix it, then rerun the same command."
        )
    differ = [i for i, canary in enumerate(canaries) if not same_answer(canary.stored, first[i])]
    if not differ:
        return None
    second = first if deterministic else [masked_output(output) for output in ask(inputs)]
    both = list(zip(first, second, strict=True))
    wavering = [i for i, (a, b) in enumerate(both) if not same_answer(a, b) and (a.ok or b.ok)]
    moved = sum(1 for i in differ if i not in wavering)
    unsettled = moved + sum(1 for i in wavering if i not in differ)
    # A sign test: the chance of so many that moved, where moving and wavering by chance are equally likely.
    tail = float(sum(comb(unsettled, k) for k in range(moved, unsettled + 1)) / 2**unsettled)
    now, was = first[differ[0]], canaries[differ[0]]
    asked = _shorten_text(repr(" | ".join(was.inputs.values())), 120)
    before = _shorten_text(repr(was.stored.value), 120)
    answer = _shorten_text(repr(now.value), 120) if now.ok else f"a failure ({_shorten_text(str(now.error), 120)})"
    told = (
        f"{len(differ)} of {len(canaries)} stored answers that were checked are not what {name} answers today: "
        f"{asked} was {before}, now it is {answer}."
    )
    certain = not wavering and deterministic is not False
    if certain or tail < _LEVEL:
        raise StaleAnswers(f"{place}: {told} {instead}")
    repeats = f"it repeats itself on {len(canaries) - len(wavering)} of {len(canaries)}"
    return f"{told} They are used all the same, since the system is not deterministic ({repeats})."


def same_answer(one: Output, other: Output) -> bool:
    """Are these the same answer, apart from the last digits of its numbers?"""
    both = one.answered and other.answered and one.ok == other.ok
    return both and _same_value(one.value, msgspec.json.decode(msgspec.json.encode(other.value)))


def _same_value(one: Json, other: Json) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same_value(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_value, one, other))
    numbers = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in (one, other)]
    if all(numbers) and any(isinstance(value, float) for value in (one, other)):
        return isclose(one, other, rel_tol=_NEAR, abs_tol=_TINY)
    return type(one) is type(other) and bool(one == other)


def _shorten_text(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 3] + "…"
