"""Asks a system about every request of a suite that has no answer yet, and stores the answers as they come."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import Interrupted, NothingEvaluated, SystemBroken, UsageError, option
from unswayed.base.options import options_in_plan
from unswayed.base.progress import Progress
from unswayed.base.values import BatchOutputs, Output
from unswayed.run.answering import Answering, asker_of, placed_options, reference_of, require_prompt, shared_rate
from unswayed.run.checking import asked_again, stored_answers
from unswayed.run.due import Due, Requests
from unswayed.run.job import Job, Until, check_repeats, write_manifest
from unswayed.run.order import Order
from unswayed.run.plan import Plan, PlanLike, plan_of
from unswayed.run.record import Run, RunManifest, refuse_other
from unswayed.run.spending import CostEstimate, Purse, Spending, checked_budget, judge_cost, sample_size, total
from unswayed.run.workers import Here, Lost, Pool, open_pool
from unswayed.score import judge_used
from unswayed.storage.answers import AnswerStore, Asked, MemoryStores, Place
from unswayed.storage.files import as_path
from unswayed.storage.keys import Key
from unswayed.storage.suite import Suite
from unswayed.systems.asking import Answers, Canary, canary_count, check_canaries
from unswayed.systems.device import elsewhere as device_elsewhere
from unswayed.systems.opening import open_system
from unswayed.systems.system import System


@options_in_plan(Plan, "run", "engine")
def run_system(
    suite: Suite | str | Path, system: System | Callable[..., Any] | str, to: str | Path | None = None, *,
    name: str | None = None, plan: PlanLike = None,
) -> Run:  # fmt: skip
    """Makes or continues the run in folder `to`. Answers that are there are used again, after a few were checked.

    Without `to`, the run is in memory; if it is interrupted, the exception's `partial` is what was answered.

    Example: `unswayed.run_system(suite, predict, "run/")`.

    `system` is a function from a list of inputs to a list of outputs, or a text as in `open_system`. An engine of
    several workers opens it in each of them, so it must be one that can be named: a text, or a module's function.
    `name` is what reports and comparisons call it. All other options are in `plan`, such as
    `{"run": {"limit": 500, "asking": {"concurrency": 8}}}`. `run.session` says how many requests were asked and how
    many answers were reused.
    """
    if not isinstance(suite, (Suite, str, os.PathLike)):
        raise UsageError(f"A suite is expected, or the path of its folder, not {type(suite).__name__}.")
    made = plan_of(plan, name=name)
    with (
        nullcontext(system)
        if isinstance(system, System)
        else closing(open_system(system, **made.run.options)) as opened
    ):
        suite = suite if isinstance(suite, Suite) else Suite(suite)
        return start_run(
            suite, opened, None if to is None else as_path(to, "to"), made, spending=Spending(made.run.budget)
        )


def start_run(
    suite: Suite, system: System, folder: Path | None, plan: Plan, until: Until | None = None,
    spending: Spending | None = None,
) -> Run:  # fmt: skip
    """The same for a system that is open. `until` ends the run early; `spending` has a judge and its prices."""
    if folder is not None:
        refuse_other(folder, suite)
    elif system.prices is not None or (system.reference and system.reference[0].startswith(("http://", "https://"))):
        kept = f"Set {option('o', 'to')} to a folder to keep them, so that nothing is paid twice."
        print(f"unswayed: answers are in memory only. {kept}", file=sys.stderr)
    place: Place = folder or MemoryStores(AnswerStore.in_memory(), AnswerStore.in_memory())
    asked, spending = plan.run, spending or Spending()
    checked_budget(spending.budget, system.prices)
    check_repeats(asked.repeats, system)
    job = Job(suite, place, asked.asking, asked.limit, asked.fresh, until, asked.repeats, spending, asked.name)
    # What was made in this process is asked in it, unless this very plan asks for workers.
    engine = plan.engine if system.reference is None else plan.engine_in_use
    if engine.here:
        system.prepare(suite)
        require_prompt(suite, system)
        asker = asker_of(system, suite, job.asking)

        def here(worked: bool) -> Pool:
            asker.worked = worked
            return Here(asker, system.concurrency)

        return _run(job, system, here)
    reference, options = reference_of(system)
    options, stored = placed_options(engine, options), suite.on_disk()
    # Once more, to know it; what was given need not load for that.
    with device_elsewhere(), closing(open_system(reference, **options)) as known:
        known.prepare(suite)
        require_prompt(suite, known)
        answering = Answering(
            system=reference,
            options=options,
            identity=known.identity,
            suite=os.path.realpath(stored.name),
            manifest=stored.manifest,
            asking=shared_rate(job.asking, engine),
        )

    def elsewhere(worked: bool) -> Pool:
        return open_pool(engine, msgspec.structs.replace(answering, worked=worked), known.concurrency)

    return _run(job, known, elsewhere)


def _run(job: Job, system: System, pool: Callable[[bool], Pool]) -> Run:
    with AnswerStore.writer(job.place, job.fresh) as store:
        engine = _Engine(job, system, store)
        try:
            with engine.progress, _counting(store, system), _staying():
                engine.run(pool)
        except BaseException as error:
            interrupted = isinstance(error, KeyboardInterrupt)
            if interrupted:
                store.commit()
            resume = "; rerun to resume." if isinstance(job.place, Path) else "."
            stopped = Interrupted(f"Stopped. {engine.kept}{resume}") if interrupted else error
            if engine.manifest is not None and isinstance(job.place, MemoryStores):
                with suppress(AttributeError):
                    stopped.partial = engine.open_run()  # type: ignore[attr-defined]
            if interrupted:
                raise stopped from None
            raise
        told = store.reuse_summary()
        run = engine.open_run(told)
    run.estimate = engine.estimate
    return run


def _requests(job: Job) -> int:
    """How many there are in the suite, those included that are the same."""
    return job.suite.manifest.examples * (1 + job.repeats) + job.suite.manifest.variants


@contextmanager
def _counting(store: AnswerStore, system: System) -> Iterator[None]:
    """Whatever happens, what was used up to then is counted."""
    try:
        yield
    finally:
        store.use(system.used())


@contextmanager
def _staying() -> Iterator[None]:
    """Comes back to the folder that the command was given in, wherever a system went meanwhile."""
    here = os.getcwd()
    try:
        yield
    finally:
        os.chdir(here)


class _Engine:
    """What is still to be asked goes out to a pool; what comes back is stored."""

    def __init__(self, job: Job, system: System, store: AnswerStore) -> None:
        self.job, self.suite, self.asking = job, job.suite, job.asking
        self.system, self.store = system, store
        self.order = Order(self.suite, job.limit)
        whole = len(self.order.places) == self.suite.manifest.examples
        self.progress = Progress("asked", _requests(job) if whole else None)
        self.failed_in_a_row, self.failed = 0, 0
        self.again: deque[Requests] = deque()  # each request of a batch under which workers died, by itself
        self.manifest: RunManifest | None = None
        self.purse = Purse(job.spending, system.prices, job.place, store.most_tokens())
        told = job.spending.only_estimate or system.prices is not None
        self.sample = sample_size(len(self.order.places)) if told else 0  # examples after which the cost is told
        self.estimate: CostEstimate | None = None
        self.size = self.asking.batch_size or system.batch_size
        self.due = Due(
            self.suite, self.order, system, store, self.progress,
            repeats=job.repeats, early=job.until is not None, sample=self.sample, size=self.size,
        )  # fmt: skip
        self.began = time.monotonic()
        store.begin(system.identity)

    def run(self, open_pool: Callable[[bool], Pool]) -> None:
        wanted = self.asking.canary
        if self.purse.limit is not None:  # a check may ask each twice
            checks = canary_count(self.store.size, wanted, self.system.deterministic)
            wanted = min(checks, self.purse.requests(self.store.used()) // 2)
        canaries = stored_answers(self.suite, self.order, self.system, self.store, wanted)
        batches = self.due.batches()
        first = None if canaries else next(batches, None)
        if first is None and not canaries:
            return self.finish()  # for nothing, no worker is started
        batches = batches if first is None else chain([first], batches)
        with open_pool(bool(canaries) or self.due.answers) as pool:
            if canaries:
                self.check(pool, canaries)
            self.write_manifest(None)
            if canaries and self.look():
                return self.finish()
            waiting: dict[int, Requests] = {}
            try:
                self.ask(pool, batches, waiting)
            except BaseException:
                for number, answers in pool.finished():  # what came while something else went wrong is kept too
                    self.put(waiting[number], answers, len(_failed(answers)))
                raise
        return self.finish()

    def open_run(self, session: Asked | None = None) -> Run:
        """The run as it is by now."""
        assert self.manifest is not None
        place = self.job.place
        if isinstance(place, MemoryStores):
            return Run.in_memory(self.manifest, self.suite, place, session)
        return Run(place, session)

    def finish(self) -> None:
        self.store.commit()
        if self.job.spending.only_estimate and self.sample < len(self.order.places):
            return self.write_manifest(None)
        asked = len(self.order.places)
        self.write_manifest(None)
        if self.purse.limit is not None:
            sample = self.open_run().sample
            complete = asked if sample is None else sample.examples
            asked = min(asked, self.purse.judgeable(complete))
        return self.write_manifest(asked, over=asked < len(self.order.places))

    def judge(self) -> None:
        """Has a judge, if there is one, see what is complete by now."""
        judge = self.job.spending.judge
        if judge is None or not self.sample:
            return
        self.store.commit()
        run = self.open_run()
        complete = len(self.order.places) if run.sample is None else run.sample.examples
        if complete:
            with suppress(NothingEvaluated):
                judge(run)
            self.purse.saw(complete)

    def tell(self) -> None:
        """Says what the rest will cost, once the sample is answered."""
        self.judge()
        self.store.commit()
        groups = self.order.groups()
        known = [self.due.took(group) for group in islice(groups, self.sample)]
        each = (self.due.keys(group) for group in groups)
        due = sum(len(keys) - len(self.store.answered(keys)) for keys in each)
        costs = [0.0 if self.purse.prices is None else self.purse.prices.cost(*took[1:]) for took in known]
        many = [took[0] for took in known]
        rest = len(self.order.places) - self.sample
        judged = judge_used(self.job.place) if self.job.spending.judge else {}
        share = rest / self.purse.judged if self.purse.judged else 0.0
        cost = judge_cost(judged, self.purse.judge_prices)
        seconds = (time.monotonic() - self.began) * due / self.store.asked if self.store.asked else None
        counted = any(took[1] or took[2] for took in known)
        self.estimate = CostEstimate(
            examples=self.sample,
            requests=due,
            tokens_in=total([float(took[1]) for took in known], many, due, "tokens in") if counted else None,
            tokens_out=total([float(took[2]) for took in known], many, due, "tokens out") if counted else None,
            cost=total(costs, many, due, "cost") if counted and self.purse.prices else None,
            judge_calls=round(judged.get("judge calls", 0.0) * share),
            judge_cost=None if cost is None else cost * share,
            spent=None if self.purse.prices is None else self.purse.spent,
            seconds=seconds,
        )
        if due and not self.job.spending.only_estimate:
            print(f"unswayed: {self.estimate.sentence}", file=sys.stderr)

    def look(self) -> bool:
        """May the run end? The examples that are complete then are those that are measured."""
        if self.purse.limit is not None:
            self.judge()
        if self.job.until is None:
            return False
        self.store.commit()
        run = self.open_run()
        examples = len(self.order.places) if run.sample is None else run.sample.examples
        with suppress(NothingEvaluated):
            if examples > 1 and self.job.until.hold(run):
                self.order.places = self.order.places[:examples]
                if not self.store.asked:
                    self.due.pass_over()
                return True
        return False

    def write_manifest(self, asked: int | None, over: bool = False) -> None:
        self.manifest = write_manifest(self.job, self.system, asked, self.purse, over)

    def check(self, pool: Pool, canaries: list[Canary]) -> None:
        """Raises where the system no longer gives the answers that are stored."""
        self.store.checked[self.system.identity] += len(canaries)
        ask = partial(asked_again, pool, self.size, self.asking.give_up, self.store)
        instead = f"To ask everything anew, use {option('fresh')}; the stored answers are then kept aside."
        sure = self.system.deterministic
        warning = check_canaries(self.system.name, canaries, ask, sure, str(self.store.file), instead)
        self.store.warnings += [warning] if warning else []

    def ask(self, pool: Pool, batches: Iterator[Requests], waiting: dict[int, Requests]) -> None:
        held = False  # until the sample is answered
        while True:
            while pool.room and not held and self.affords(waiting):
                alone = bool(self.again)
                batch = self.again.popleft() if alone else next(batches, None)
                if batch is None:
                    break
                if batch:
                    waiting[pool.give(batch.inputs, alone)] = batch
                held = not batch
            if pool.idle and not self.again and held:
                held = False
                self.tell()
                if self.job.spending.only_estimate:
                    return
                continue
            if pool.idle:
                return
            number, result = pool.take()
            self.settle(waiting.pop(number), result)
            if self.due.looks and self.progress.done >= self.due.looks[0]:
                self.due.looks.popleft()
                batches = iter(()) if self.look() else batches

    def affords(self, waiting: dict[int, Requests]) -> bool:
        """May one more batch be sent, as far as the budget goes?"""
        if self.purse.limit is None:
            return True
        each = 1 + self.job.repeats + self.suite.manifest.variants / max(1, self.suite.manifest.examples)
        return self.purse.affords(sum(map(len, waiting.values())) + self.size - 1, self.progress.done / each)

    def settle(self, batch: Requests, result: Answers | Lost) -> None:
        """Keeps answers. Where workers died, each request is asked by itself, and the one they die of has failed."""
        if not isinstance(result, Lost):
            self.keep(batch, result)
        elif len(batch) > 1:
            self.again.extend(batch.cut(at, at + 1) for at in range(len(batch)))
        else:
            self.keep(batch, Answers([Output(None, f"the worker that was asked this died: {result.reason}")], {}))

    def put(self, batch: Requests, answers: Answers, failed: int) -> None:
        self.store.use(answers.used)
        self.purse.pay(answers.used.get("cost", 0.0), answers.outputs, self.system.name)
        self.failed += failed
        self.store.put_block(batch.keys, answers.outputs)

    def keep(self, batch: Requests, answers: Answers) -> None:
        failed = _failed(answers)
        before = self.failed_before([batch.keys[place] for place in failed])
        self.put(batch, answers, len(failed))
        self.due.in_flight.difference_update(batch.keys)
        self.progress.add(len(batch))
        if not failed:
            self.failed_in_a_row = 0
            return
        for key, output in zip(batch.keys, answers.outputs, strict=True):
            if key not in before:
                self.failed_in_a_row = 0 if output.error is None else self.failed_in_a_row + 1
        if self.failed_in_a_row >= self.asking.give_up:
            self.store.commit()
            raise SystemBroken(
                f"{self.system.name} failed on {self.failed_in_a_row} items one after another. The last error: "
                f"{str(answers.outputs[-1].error).rstrip(' .')}. Fix it, then rerun the same command. "
                f"{self.kept}."
            )

    @property
    def kept(self) -> str:
        """How many new answers the store has; errors are none."""
        answers = self.store.asked - self.failed
        lost = f", {self.failed:,} requests failed" if self.failed else ""
        where = self.job.place if isinstance(self.job.place, Path) else "the exception's `partial`"
        return f"{answers:,} new answer{' is' if answers == 1 else 's are'} kept in {where}{lost}"

    def failed_before(self, failed: list[Key]) -> set[Key]:
        """What failed now and in an earlier session of a system that answers: that is no sign of a broken one."""
        return self.store.tried(failed) if failed and self.due.answers else set()


def _failed(answers: Answers) -> list[int]:
    """The places of outputs that are failures."""
    if isinstance(answers.outputs, BatchOutputs):
        return []
    return [place for place, output in enumerate(answers.outputs) if output.error is not None]
