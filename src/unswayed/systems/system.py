"""The contract of whatever answers: inputs in, outputs out as plain JSON, an identity that pins it down, prices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import UsageError, option
from unswayed.base.recorder import Recorder, recorder_of
from unswayed.base.values import Failed, Inputs, Json

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

__all__ = ["Failed", "Prices", "System", "SystemAround", "plain", "plain_each", "prices_of"]


_MILLION = 1_000_000
Predict = Callable[[list[Inputs]], Sequence[Json | Failed]]


class Prices(msgspec.Struct, frozen=True):
    """What a million tokens cost that a model reads, and that it writes."""

    tokens_in: float
    tokens_out: float

    def cost(self, tokens_in: float | None, tokens_out: float | None) -> float:
        """Of so many tokens; those that are not known cost nothing."""
        return (self.tokens_in * (tokens_in or 0) + self.tokens_out * (tokens_out or 0)) / _MILLION


def prices_of(price_in: object, price_out: object, whose: str = "") -> Prices | None:
    """Prices as options give them, None where there are none; what one of them alone leaves out costs nothing."""
    given = {f"{whose}price-in": price_in, f"{whose}price-out": price_out}
    for name, price in given.items():
        number = isinstance(price, (int, float)) and not isinstance(price, bool)
        if price is not None and not (number and 0 <= float(price) < float("inf")):  # type: ignore[arg-type]
            raise UsageError(f"{option(name)} must be a number of 0 or more, for a million tokens, not {price!r:.60}.")
    if price_in is None and price_out is None:
        return None
    return Prices(float(price_in or 0), float(price_out or 0))  # type: ignore[arg-type]


class System:
    """Extend, and put in `systems/FOLDER/NAME.py` or behind the entry point `unswayed.systems`.

    Example: `class Mine(System)` with a method `predict(self, batch)` that returns an output for each.
    """

    name: str = ""
    batch_size: int = 64
    concurrency: int = 1  # batches that may be asked for at once, from threads
    threads_if_waiting: int = 1  # and how many, once it is seen that calls wait for others and do not compute
    grows: bool = False  # do batches begin small, and grow as long as a call takes little time?
    given_prompt: bool = False  # does each request come with a filled prompt, as the input of that name?
    retries: int = 2  # how often an item that failed, not finally, is asked again
    deterministic: bool | None = None  # False where the same input may have another answer; None if that is not known
    prompted: bool = False  # has it no prompt of its own, so that a filled one can be an input?
    part_compared: bool = False  # is only a part of each answer compared? Then whole replies are wanted, not labels
    reference: tuple[str, dict[str, Json]] | None = None  # what opens it again in another process, where that is known
    prices: Prices | None = None  # of tokens, for systems that count them and know both

    revision: str = ""  # of the files and programs that it rests on, as the store of its answers knows them
    known_whole: bool = False  # does its identity, with what is recorded while it answers, show all that decides?

    _identity: str  # for systems whose identity is known when they are made

    @property
    def identity(self) -> str:
        """Changes whenever the answers could: part of the key under which outputs are stored."""
        return self._identity

    @property
    def stored_as(self) -> str:
        """What its answers are stored under: the identity, and which revision it is where there were several."""
        return f"{self.identity} {self.revision}" if self.revision else self.identity

    @property
    def recorder(self) -> Recorder | None:
        """What records on which files its own code rests; None for unswayed's systems."""
        return recorder_of(type(self))

    def rests_on(self, news: bool = False) -> Dependencies | None:
        """The files, packages and variables that decide answers, as found so far; None for systems that have none of
        their own, and, with `news`, if nothing was found since this was asked last."""
        return None if self.recorder is None else self.recorder.news() if news else self.recorder.record()

    def written(self) -> list[str]:
        """Of what it rests on, the files that it has written itself meanwhile, where nothing records that it does."""
        return []

    @property
    def prompts(self) -> dict[str, str]:
        """Texts that are put around inputs, such as the template `prompt`: kept with a run, shown in its report."""
        return {}

    def prepare(self, suite: Suite) -> None:
        """Called with the suite before the first of its requests; may refuse it."""

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        """One output for each input, in order. Raising fails the whole batch; `Failed` fails one item."""
        raise NotImplementedError

    def losses(self, batch: Sequence[Inputs], golds: Sequence[Json]) -> Sequence[float] | None:
        """How far from each gold the system is, greater is worse, also where its answer is right; None if unknown."""
        return None

    def used(self) -> dict[str, float]:
        """What answering has used since this was asked last, such as requests and tokens, for those that know."""
        return {}

    def limit(self, rate: float) -> bool:
        """Sends no more requests a second than this; False for systems that send none themselves."""
        return False

    def settings(self) -> dict[str, Json]:
        """What decides how an answer is drawn, such as temperature and seed, for those that know; kept with the run."""
        return {}

    def close(self) -> None:
        """Lets go of processes, files and memory."""

    @classmethod
    def opened(cls, spec: str, options: Mapping[str, Any]) -> Self | None:
        """Extend in kinds of system, such as metrics, that have words of their own for opening one."""
        return None

    @classmethod
    def adapted(cls, system: System) -> Self:
        """Extend in kinds of system that any other can be made into."""
        raise UsageError(f"{system.name} is no {cls.__name__.lower()}.")

    @classmethod
    def load(cls, folder: Path) -> System:
        """The system that was saved in a folder, for those that can be."""
        raise UsageError(f"{cls.__name__} can't be opened from a folder such as {folder}.")


_DEPTH = 100


class SystemAround(System):
    """A system that asks another one, which it prepares and closes. Extend with `predict`, and with `identity` where
    the answers are no longer those of the other."""

    def __init__(self, system: System) -> None:
        self.system, self.name = system, system.name
        self.batch_size, self.concurrency, self.retries = system.batch_size, system.concurrency, system.retries
        self.grows, self.threads_if_waiting = system.grows, system.threads_if_waiting
        self.deterministic, self.prices = system.deterministic, system.prices
        self.known_whole = system.known_whole

    @property
    def identity(self) -> str:
        return self.system.identity

    @property
    def recorder(self) -> Recorder | None:
        return self.system.recorder

    def rests_on(self, news: bool = False) -> Dependencies | None:
        return self.system.rests_on(news)

    def written(self) -> list[str]:
        return self.system.written()

    @property
    def prompts(self) -> dict[str, str]:
        return self.system.prompts

    def prepare(self, suite: Suite) -> None:
        self.system.part_compared = self.part_compared
        self.system.prepare(suite)

    def used(self) -> dict[str, float]:
        return self.system.used()

    def limit(self, rate: float) -> bool:
        return self.system.limit(rate)

    def settings(self) -> dict[str, Json]:
        return self.system.settings()

    def close(self) -> None:
        self.system.close()


def missing_input(inputs: Inputs, names: Iterable[str] | None) -> str | None:
    """That inputs lack one of these names, as a failure says it; None where they have them all."""
    absent = next((name for name in names or () if name not in inputs), None)
    return None if absent is None else f"the input has no {absent!r}"


def predict_readable(
    batch: Sequence[Inputs], problem_of: Callable[[Inputs], str | None], predict: Predict
) -> list[Json | Failed]:
    """An output for each input: inputs that have a problem fail with it, all others are asked together."""
    problems = [problem_of(inputs) for inputs in batch]
    readable = [inputs for inputs, problem in zip(batch, problems, strict=True) if not problem]
    outputs = iter(predict(readable) if readable else ())
    return [Failed(problem, final=True) if problem else next(outputs) for problem in problems]


class _NotPlain(Exception):
    pass


def plain(value: object) -> Json | Failed:
    """The output as JSON values; arrays and numbers of numpy and its kin are converted, NaN is a failure."""
    if type(value) is str and value.isascii():  # most outputs are labels
        return value
    if isinstance(value, Failed):
        return value
    try:
        return _plain(value, "the output", 0)
    except _NotPlain as problem:
        return Failed(str(problem), final=True)


def plain_each(values: Sequence[object]) -> list[Json | Failed]:
    """The outputs of a batch as JSON values."""
    if set(map(type, values)) == {str} and all(map(str.isascii, values)):  # type: ignore[arg-type]
        return list(values)  # as labels are
    return [plain(value) for value in values]


def _plain(value: object, where: str, depth: int) -> Json:
    if value is None or type(value) is bool:
        return value
    if isinstance(value, str):
        text = str.__str__(value)  # the characters, also of a str Enum
        try:
            if not text.isascii():
                text.encode()
        except UnicodeEncodeError as error:
            raise _NotPlain(
                f"{where} holds half a surrogate pair at character {error.start}, which is not a text"
            ) from None
        return text
    if isinstance(value, float):
        if not isfinite(value):
            raise _NotPlain(f"{where} is {'NaN' if isnan(value) else 'infinite'}")
        return float(value)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise _NotPlain(f"{where} is a whole number of more than 64 bits")
        return int(value)
    if depth == _DEPTH:
        raise _NotPlain(f"{where:.200} is nested more than {_DEPTH} deep, or holds itself")
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            raise _NotPlain(f"{where} has a key of type {type(odd).__qualname__}; keys must be texts")
        return {_plain(k, where, 0): _plain(v, f"{where}[{k!r:.40}]", depth + 1) for k, v in value.items()}
    # What numpy, torch and their kin say an array or number is; asked by name, so that none is imported.
    for method in ("tolist", "item"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return _plain(convert(), where, depth + 1)
    raise _NotPlain(f"{where} is of type {type(value).__module__}.{type(value).__qualname__}, which is not JSON")
