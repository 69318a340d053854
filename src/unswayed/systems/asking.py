"""Ask, remember, resume: batches of requests to anything that answers, failures asked again, nothing asked twice."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from math import isfinite
from typing import NamedTuple, Protocol

import msgspec

from unswayed.base.errors import SystemBroken, UnswayedError, UsageError, option
from unswayed.base.own_code import debug_hint, error_place, error_summary, own_traceback
from unswayed.base.values import UNREADABLE, BatchOutputs, Failed, Inputs, Json, Output
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Key, Keyer
from unswayed.systems.canary import Kept, check, how_many, lot
from unswayed.systems.http import Pace, Spent, metered

_ALIKE = 3  # equal errors of the first items after which a system counts as broken
# Errors of Python's own that a local function raises again if it is asked the same again.
_CERTAIN = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, NotImplementedError,
    RecursionError, SyntaxError, TypeError, ValueError,
)  # fmt: skip


class Answerer(Protocol):
    """Anything that answers, as far as asking goes; every `System` is such."""

    name: str
    batch_size: int
    concurrency: int
    retries: int

    @property
    def identity(self) -> str: ...
    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]: ...
    def used(self) -> dict[str, float]: ...
    def close(self) -> None: ...


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How a system is asked. None leaves a choice to the system. `rate` is the most requests a second.

    Example: `unswayed.Asking(concurrency=8, retries=3, rate=20)`.
    """

    batch_size: int | None = None
    concurrency: int | None = None
    retries: int | None = None
    backoff: float = 0.1  # seconds before the first retry of an item; doubled each time
    give_up: int = 20  # items that fail one after another before the system counts as broken
    canary: int | None = None  # stored answers that are asked again before any is used; None: 1%, 8 to 200 of them
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.rate is not None and not (self.rate > 0 and isfinite(self.rate)):
            raise UsageError(f"{option('rate')} must be a number above 0, of requests a second, not {self.rate!r}.")

    def apply(self, system: Answerer) -> None:
        """Sets what was chosen on the system itself."""
        system.concurrency = self.concurrency or system.concurrency
        system.retries = system.retries if self.retries is None else self.retries


class Answers(NamedTuple):
    """An output for each request of a batch, and what answering used."""

    outputs: Sequence[Output]
    used: dict[str, float]


def _no_limit(rate: float) -> bool:
    return False


class Asker:
    """Asks one system in this process; batches may come from several threads.

    `problem` says what is wrong with an output, if anything; such an output is unreadable. `read` gives an output the
    form in which it is stored. Errors that are `fatal` end the asking; all others fail the item.
    `worked` says that the system is known to answer: if it is not, equal errors of the first items end the asking.
    """

    worked = False
    _last = ""
    _alike = 0

    def __init__(
        self, system: Answerer, asking: Asking, problem: Callable[[Json, Inputs], str | None] | None = None,
        fatal: type[UnswayedError] = SystemBroken, read: Callable[[Json, Inputs], Json] | None = None,
    ) -> None:  # fmt: skip
        asking.apply(system)
        self.system, self.asking, self._problem, self._fatal, self._read = system, asking, problem, fatal, read
        self._turns = None
        if asking.rate is not None and not getattr(system, "limit", _no_limit)(asking.rate):
            self._turns = _Turns(asking.rate)

    def do(self, batch: Sequence[Inputs]) -> Answers:
        outputs = self.ask(batch)
        return Answers(outputs, self.system.used())

    def close(self) -> None:
        self.system.close()

    def ask(self, batch: Sequence[Inputs]) -> Sequence[Output]:
        """An output for each request. What fails in a batch is asked again by itself."""
        if len(batch) == 1:
            return [self.ask_again(batch[0], None)]
        values: Sequence[Json | Failed] | None = None
        with metered() as spent:
            began = time.perf_counter()
            try:
                values = self.predict(batch)
            except Exception as error:
                if isinstance(error, self._fatal):
                    raise
            seconds = (time.perf_counter() - began) / len(batch)
            shares = _shared_out(spent, seconds, len(batch))
        if values is None:
            return self.ask_each(batch)
        together = self.checked_together(values, batch, shares)
        if together is not None:
            return together
        outputs = [self.checked(v, item, share) for v, item, share in zip(values, batch, shares, strict=True)]
        for i, value in enumerate(values):
            if isinstance(value, Failed) and not value.final:
                outputs[i] = self.ask_again(batch[i], outputs[i])
        return outputs

    def ask_each(self, batch: Sequence[Inputs]) -> list[Output]:
        """Each by itself, so that one bad item does not fail its neighbours; stops where all of them fail.

        The first, the middle and the last come first: a batch is sorted by length, and short texts may fail alike.
        """
        places = list(dict.fromkeys([0, len(batch) // 2, len(batch) - 1, *range(len(batch))]))
        outputs: dict[int, Output] = {}
        for done, place in enumerate(places):
            failed = done >= self.asking.give_up and all(not o.ok for o in outputs.values())
            outputs[place] = outputs[places[done - 1]] if failed else self.ask_again(batch[place], None)
        return [outputs[place] for place in range(len(batch))]

    def ask_again(self, item: Inputs, last: Output | None) -> Output:
        first = 1 if last is None else 2
        raised: Exception | None = None
        for attempt in range(first, self.system.retries + 2):
            if attempt > 1:
                time.sleep(self.asking.backoff * 2 ** (attempt - 2))
            with metered() as spent:
                began = time.perf_counter()
                try:
                    value, raised = self.predict([item])[0], None
                except Exception as error:
                    if isinstance(error, self._fatal):
                        raise
                    value, raised = Failed(error_place(error), final=_certain(error)), error
                (share,) = _shared_out(spent, time.perf_counter() - began, 1)
            last = msgspec.structs.replace(self.checked(value, item, share), attempts=attempt)
            if not isinstance(value, Failed) or value.final:
                break
        assert last is not None
        if raised is not None and not self.worked:
            self.compare(raised, item)
        return last

    def compare(self, error: Exception, item: Inputs) -> None:
        """Raises where the first items all fail by the same error: so will the others."""
        this = error_summary(error)
        self._alike = self._alike + 1 if this == self._last else 1
        self._last = this
        if self._alike >= _ALIKE:
            raise SystemBroken(
                f"{self.system.name} raised the same error for the first {_ALIKE} inputs:\n\n{own_traceback(error)}\n\n"
                f"It was called with [{_shortened(item)}]. Fix the error, then rerun the same command.{debug_hint()}"
            ) from error

    def predict(self, inputs: Sequence[Inputs]) -> Sequence[Json | Failed]:
        process = os.getpid()
        if self._turns is not None:
            self._turns.wait()
        try:
            values = self.system.predict(inputs)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # a system that calls exit() would end the command, as if all were well
            raise RuntimeError(f"the system left by {error_place(error)}") from error
        finally:
            if os.getpid() != process:
                os._exit(1)  # a fork of the system's that came back; what is under way is its parent's
        if len(values) != len(inputs):
            raise SystemBroken(
                f"{self.system.name} returned {len(values)} outputs for {len(inputs)} inputs "
                f"(the first: {_quote(inputs[0])}). It must return one for each, in order."
            )
        return values

    def checked(self, value: Json | Failed, inputs: Inputs, took: Output) -> Output:
        """The value as a stored output; one that can't be read has an error that says so."""
        if isinstance(value, Failed):
            return Output(None, value.error, took.seconds, 1, took.tokens_in, took.tokens_out)
        self.worked = True
        value = value if self._read is None else self._read(value, inputs)
        problem = None if self._problem is None else self._problem(value, inputs)
        error = f"{UNREADABLE}{problem} (input: {_quote(inputs)})" if problem else None
        return Output(None if problem else value, error, took.seconds, 1, took.tokens_in, took.tokens_out)

    def checked_together(
        self, values: Sequence[Json | Failed], batch: Sequence[Inputs], shares: Sequence[Output]
    ) -> BatchOutputs | None:
        """The same for a batch of a system that counts no tokens; None where something is wrong with any of it."""
        took = shares[0]
        if took.tokens_in is not None or took.tokens_out is not None:
            return None
        if any(issubclass(kind, Failed) for kind in set(map(type, values))):
            return None
        values = values if self._read is None else list(map(self._read, values, batch))
        if self._problem is not None and any(map(self._problem, values, batch)):
            return None
        self.worked = True
        return BatchOutputs(values, took.seconds)


def _shared_out(spent: Spent, seconds: float, items: int) -> list[Output]:
    """For each item of a batch what it took: the seconds of its request, or of the call; its share of the tokens."""
    took = seconds if spent.seconds is None else spent.seconds
    if spent.tokens_in is None and spent.tokens_out is None:
        return [Output(seconds=took)] * items
    halves = ([None if n is None else n // items + (i < n % items) for n in (spent.tokens_in, spent.tokens_out)]
              for i in range(items))  # fmt: skip
    return [Output(seconds=took, tokens_in=read, tokens_out=written) for read, written in halves]


class _Turns:
    """Holds calls of a system that knows no rate to so many a second, from whichever thread."""

    def __init__(self, rate: float) -> None:
        self._pace, self._lock = Pace(rate), threading.Lock()

    def wait(self) -> None:
        with self._lock:
            while (wait := self._pace.delay(now := time.monotonic())) != 0.0:
                time.sleep(wait or 0.0)
            self._pace.send(now)
            self._pace.accept()


def ask(
    system: Answerer, requests: Iterable[Inputs], store: AnswerStore | None = None, asking: Asking | None = None,
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
    key, place = Keyer(system.identity), (str(store.file.absolute()), system.identity)
    keys = [key(pinned(inputs)) for inputs in requests]
    store.begin(system.identity)
    answered = store.answered(keys)
    by_key = dict(zip(keys, requests, strict=True))
    due = {k: inputs for k, inputs in by_key.items() if k not in answered}
    asker = Asker(system, asking or Asking(), fatal=UnswayedError)
    old = [k for k in store.reuse(answered) if answered[k] not in _begun[place]]
    if old:
        _check(asker, store, {k: by_key[k] for k in old})
    size = asker.asking.batch_size or system.batch_size
    pending = list(due.items())
    batches = [pending[at : at + size] for at in range(0, len(pending), size)]
    fresh: dict[Key, Output] = {}
    failed_in_a_row = 0
    try:
        for batch, answers in _answered(asker, batches):
            outputs = dict(zip((k for k, _ in batch), answers.outputs, strict=True))
            fresh |= outputs
            store.use(answers.used)
            store.put(outputs.items())
            if getattr(system, "deterministic", None) is False:
                _begun[place].update(store.own.values())
            for output in answers.outputs:
                failed_in_a_row = 0 if output.ok else failed_in_a_row + 1
            if failed_in_a_row >= asker.asking.give_up:
                raise SystemBroken(f"{system.name} failed on {failed_in_a_row} items in a row: {output.error}")
    finally:
        if batches:
            store.commit()
    stored = store.get(list(answered))
    return [fresh[k] if k in fresh else stored[k] for k in keys]


Batch = list[tuple[Key, Inputs]]


# Stored answers that this process asked again, by file and identity. A server is paid by the request: a file of its
# answers that is opened again and again, as a judge's is, is not checked each time.
_checked_servers: Counter[tuple[str, str]] = Counter()
_begun: defaultdict[tuple[str, str], set[int]] = defaultdict(set)  # and its sessions of this process, never checked


def _check(asker: Asker, store: AnswerStore, old: dict[Key, Inputs]) -> None:
    """Asks as many of the stored answers again as are due by now; raises if the system gives others."""
    system, identity = asker.system, asker.system.identity
    sure: bool | None = getattr(system, "deterministic", None)
    place = str(store.file.absolute()), identity
    done = _checked_servers[place] if sure is False else store.checked[identity]
    due = how_many(store.reused, asker.asking.canary, sure) - done
    chosen = sorted(old, key=lambda key: lot(0, key))[: max(due, 0)]
    if not chosen:
        return
    store.checked[identity] += len(chosen)
    _checked_servers[place] += len(chosen)
    stored = store.get(chosen)
    size = asker.asking.batch_size or system.batch_size

    def ask_again(inputs: list[Inputs]) -> list[Output]:
        batches = [[(b"", one) for one in inputs[at : at + size]] for at in range(0, len(inputs), size)]
        found = {id(batch): answers for batch, answers in _answered(asker, batches)}
        for answers in found.values():
            store.use(answers.used)
        return [output for batch in batches for output in found[id(batch)].outputs]

    kept = [Kept(old[key], stored[key]) for key in chosen]
    instead = f"To ask everything anew, give {store.file} another name."
    if warning := check(system.name, kept, ask_again, sure, str(store.file), instead):
        store.warnings.append(warning)
        print(f"unswayed: {warning}", file=sys.stderr)


def _answered(asker: Asker, batches: list[Batch]) -> Iterator[tuple[Batch, Answers]]:
    """Each batch with its answers as they come; several at once where the system takes that."""
    if asker.system.concurrency == 1 or len(batches) < 2:
        for batch in batches:
            yield batch, asker.do([inputs for _, inputs in batch])
        return
    pool = ThreadPoolExecutor(asker.system.concurrency)
    try:
        coming: dict[Future[Answers], Batch] = {
            pool.submit(asker.do, [inputs for _, inputs in batch]): batch for batch in batches
        }
        for future in as_completed(coming):
            yield coming[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _certain(error: Exception) -> bool:
    return isinstance(error, _CERTAIN) and type(error).__module__ == "builtins"


def _shortened(inputs: Inputs) -> str:
    """The inputs as Python writes them, long texts cut."""
    return repr({name: text if len(text) <= 60 else text[:57] + "…" for name, text in inputs.items()})


def _quote(inputs: Inputs) -> str:
    text = " | ".join(inputs.values())
    return repr(text if len(text) <= 60 else text[:57] + "…")
