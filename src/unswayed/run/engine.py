"""Asks a system about every request of a suite that has no answer yet, and stores the answers as they come."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import Interrupted, NothingEvaluated, StoredFileError, SystemBroken, UsageError, option
from unswayed.base.options import options_in_plan
from unswayed.base.progress import Progress, notices
from unswayed.base.registry import VERSION
from unswayed.base.secrets import without_known
from unswayed.base.values import BatchOutputs, Output
from unswayed.run.answering import (
    Answering,
    ask_again,
    asker_of,
    placed_options,
    require_prompt,
    stored_canaries,
)
from unswayed.run.order import ASKED_TWICE, Order, PendingRequests, RequestBatch, seed_of
from unswayed.run.plan import Plan, PlanLike, plan_of
from unswayed.run.record import PROMPT_FILE, Run, RunManifest, refuse_other
from unswayed.run.spending import CostEstimate, Purse, Spending, checked_budget, judge_cost, sample_size, total
from unswayed.run.workers import InProcessPool, Pool, WorkerCrash, open_pool
from unswayed.score import judge_used
from unswayed.storage.answers import AnswerStore, Asked, MemoryStores, Place
from unswayed.storage.files import as_path, write_inside
from unswayed.storage.suite import Suite
from unswayed.systems.asking import CANARY_SHARE, Answers, canary_count, check_canaries, settle_revision
from unswayed.systems.device import elsewhere as device_elsewhere
from unswayed.systems.opening import open_system
from unswayed.systems.system import System

_SHORT_CALL, _LONG_CALL = 0.25, 1.0  # seconds in which calls grow, and from which on they shrink


class Until(NamedTuple):
    """Rules by which a run ends early, as texts, and whether they all hold for a run as it is now."""

    rules: tuple[str, ...]
    hold: Callable[[Run], bool]


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
    suite, folder = suite if isinstance(suite, Suite) else Suite(suite), None if to is None else as_path(to, "to")
    opened = system if isinstance(system, System) else open_system(system, **made.run.options)
    with nullcontext() if opened is system else closing(opened):
        return start_run(suite, opened, folder, made, spending=Spending(made.run.budget))


def start_run(
    suite: Suite, system: System, folder: Path | None, plan: Plan, until: Until | None = None,
    spending: Spending | None = None,
) -> Run:  # fmt: skip
    """The same for a system that is open. `until` ends the run early; `spending` has a judge and its prices."""
    if folder is not None:
        refuse_other(folder, suite)
    elif system.prices is not None or (system.reference and system.reference[0].startswith(("http://", "https://"))):
        kept = f"Set {option('o', 'to')} to a folder to keep them, so that nothing is paid twice."
        print(f"unswayed: answers are in memory only. {kept}", file=notices())
    place: Place = folder or MemoryStores(AnswerStore.in_memory(), AnswerStore.in_memory())
    asked, spending = plan.run, spending or Spending()
    checked_budget(spending.budget, system.prices)
    if asked.repeats and system.deterministic:
        raise UsageError(
            f"{system.name} is declared deterministic: it gives the same answer to the same input. "
            f"Leave out {option('repeats')}, or declare it otherwise."
        )
    extract = plan.measure.extract or suite.manifest.compared.get("extract", "") or suite.task.compared[0]
    system.part_compared = extract not in ("", "none")
    # What was made in this process is asked in it, unless this very plan asks for workers.
    engine = plan.engine if system.reference is None else plan.engine_in_use
    if engine.here:
        system.prepare(suite)
        require_prompt(suite, system)
        asker = asker_of(system, suite, asked.asking)

        def pool_here(worked: bool) -> Pool:
            asker.worked = worked
            return InProcessPool(asker, system.concurrency)

        return _run(suite, system, place, plan, until, spending, pool_here)
    if system.reference is None:
        raise UsageError(
            f"{system.name or type(system).__name__} can't be opened in worker processes: it was made in this one. "
            f"Name it, as in module:function, a saved model's folder, cmd:COMMAND or a URL, or use one worker."
        )
    reference, options = system.reference
    options, stored, asking = placed_options(engine, options), suite.on_disk(), asked.asking
    if asking.rate is not None:
        if engine.workers is None:
            raise UsageError(f"{option('rate')} is shared out among the workers. Set how many: {option('workers')}.")
        asking = msgspec.structs.replace(asking, rate=asking.rate / engine.workers)
    # Once more, to know it; what was given need not load for that.
    with device_elsewhere(), closing(open_system(reference, **options)) as known:
        known.part_compared = system.part_compared
        known.prepare(suite)
        require_prompt(suite, known)
        answering = Answering(
            system=reference,
            options=options,
            identity=known.identity,
            suite=os.path.realpath(stored.name),
            manifest=stored.manifest,
            asking=asking,
            part_compared=known.part_compared,
        )

    def pool_elsewhere(worked: bool) -> Pool:
        return open_pool(engine, msgspec.structs.replace(answering, worked=worked), known.concurrency)

    return _run(suite, known, place, plan, until, spending, pool_elsewhere)


def _run(
    suite: Suite, system: System, place: Place, plan: Plan, until: Until | None, spending: Spending,
    open_pool: Callable[[bool], Pool],
) -> Run:  # fmt: skip
    """Runs to the end. Whatever happens, what was answered and used up to then is kept; in memory, by the exception."""
    here = os.getcwd()
    with AnswerStore.writer(place, plan.run.fresh) as store:
        engine = _Engine(suite, system, store, place, plan, until, spending)
        try:
            with engine.progress:
                engine.run(open_pool)
        except BaseException as error:
            stopped = error
            if isinstance(error, KeyboardInterrupt):
                store.commit()
                resume = "; rerun to resume" if isinstance(place, Path) else ""
                stopped = Interrupted(f"Stopped. {engine.kept}{resume}.")
            if engine.manifest is not None and isinstance(place, MemoryStores):
                with suppress(AttributeError):
                    stopped.partial = engine.open_run()  # type: ignore[attr-defined]
            if stopped is not error:
                raise stopped from None
            raise
        finally:
            store.use(system.used())
            os.chdir(here)  # wherever a system went meanwhile
        session = store.reuse_summary()
    run = engine.open_run(session)
    run.estimate, run.rests_on = engine.estimate, engine.revision.rests_on
    return run


class _Engine:
    """What is still to be asked goes out to a pool; what comes back is stored."""

    def __init__(
        self, suite: Suite, system: System, store: AnswerStore, place: Place, plan: Plan, until: Until | None,
        spending: Spending,
    ) -> None:  # fmt: skip
        self.suite, self.system, self.store, self.place = suite, system, store, place
        asked = self.asked = plan.run
        self.until, self.spending = until, spending
        self.revision, self.margin = settle_revision(system, store), plan.margin
        self.order = Order(suite, asked.limit)
        whole = len(self.order.places) == suite.manifest.examples
        unsure = not (asked.repeats or system.deterministic or self.spending.only_estimate)
        self.twice = min(ASKED_TWICE, len(self.order.places)) if unsure else 0
        # Also those that are the same.
        requests = suite.manifest.examples * (1 + asked.repeats) + self.twice + suite.manifest.variants
        self.progress = Progress("asked", requests if whole else None)
        self.failed_in_a_row, self.failed = 0, 0
        self.again: deque[RequestBatch] = deque()  # each request of a batch under which workers died, by itself
        self.rest: RequestBatch | None = None  # of a batch that was too large for now
        self.manifest: RunManifest | None = None
        self.purse = Purse(spending, system.prices, place, store.most_tokens())
        if spending.judge and isinstance(place, Path) and (place / "run.json").exists():
            with suppress(StoredFileError):  # a run that was stopped: its judge saw the examples that it measured
                self.purse.saw(Run(place).manifest.asked or 0)
        priced = spending.only_estimate or system.prices is not None
        self.sample = sample_size(len(self.order.places)) if priced else 0  # examples after which the cost is told
        self.estimate: CostEstimate | None = None
        self.size = asked.asking.batch_size or system.batch_size
        self.grows = system.grows and asked.asking.batch_size is None
        self.call_size = 1 if self.grows else self.size  # requests in a call by now, where that grows
        self.pending = PendingRequests(
            suite, self.order, system, store, self.progress,
            repeats=asked.repeats, twice=self.twice, early=until is not None, sample=self.sample, size=self.size,
        )  # fmt: skip
        self.began = time.monotonic()
        store.begin(system.stored_as)

    def run(self, open_pool: Callable[[bool], Pool]) -> None:
        chosen = self.asked.asking.canary
        wanted = canary_count(self.store.size, chosen, self.system.deterministic, self.margin)
        if self.purse.limit is not None:  # a check may ask each twice
            wanted = min(wanted, self.purse.requests(self.store.used(), CANARY_SHARE if chosen is None else 1.0) // 2)
        recorded = self.revision.rests_on.whole and self.store.rests_on.is_sealed(self.revision)
        if self.system.known_whole and recorded and not chosen:
            wanted, self.store.known_whole = 0, True
        canaries = stored_canaries(self.order, self.system, self.store, wanted)
        batches = self.pending.batches()
        first = None if canaries else next(batches, None)
        if first is None and not canaries:
            return self.finish()  # for nothing, no worker is started
        batches = batches if first is None else chain([first], batches)
        with open_pool(bool(canaries) or self.pending.answers) as pool:
            if canaries:  # raises where the system no longer gives the answers that are stored
                self.store.checked[self.system.stored_as] += len(canaries)
                ask = partial(ask_again, pool, self.size, self.asked.asking.give_up, self.pay)
                instead = f"To ask everything anew, use {option('fresh')}; the stored answers are then kept aside."
                sure = self.system.deterministic
                warning = check_canaries(self.system.name, canaries, ask, sure, str(self.store.file), instead)
                self.store.warnings += [warning] if warning else []
            self.write_manifest(None)
            if canaries and self.look():
                return self.finish()
            waiting: dict[int, RequestBatch] = {}
            try:
                self.ask(pool, batches, waiting)
            except BaseException:
                for number, answers in pool.finished():  # what came while something else went wrong is kept too
                    self.put(waiting[number], answers)
                raise
        return self.finish()

    def open_run(self, session: Asked | None = None) -> Run:
        """The run as it is by now."""
        assert self.manifest is not None
        if isinstance(self.place, Path):
            return Run(self.place, session)
        return Run.in_memory(self.manifest, self.suite, self.place, session)

    def finish(self) -> None:
        self.store.rests_on.add(self.revision, Dependencies(written=self.system.written()))
        self.store.commit()
        self.write_manifest(None)
        every = len(self.order.places)
        if self.spending.only_estimate and self.sample < every:
            return
        asked = every
        if self.purse.limit is not None:
            sample = self.open_run().sample
            asked = min(every, self.purse.judgeable(every if sample is None else sample.examples))
        self.write_manifest(asked, over=asked < every)

    def judge(self) -> None:
        """Has a judge, if there is one, see what is complete by now."""
        judge = self.spending.judge
        if judge is None or not self.sample:
            return
        self.store.commit()
        run = self.open_run()
        complete = len(self.order.places) if run.sample is None else run.sample.examples
        if self.purse.limit is not None:  # the first by itself, then as many as can be paid for
            affordable = self.purse.judgeable(complete) if self.purse.judged else min(complete, 1)
            if affordable <= self.purse.judged:
                return
            if affordable < complete:
                complete = affordable
                self.write_manifest(complete)
                run = self.open_run()
        if complete:
            with suppress(NothingEvaluated):
                judge(run)
            self.purse.saw(complete)
            self.write_manifest(None)

    def tell(self) -> None:
        """Says what the rest will cost, once the sample is answered."""
        self.judge()
        self.store.commit()
        groups = self.order.groups()
        # How many requests of each example are answered, and the tokens that they took.
        stored = [self.store.get(self.pending.keys(group)).values() for group in islice(groups, self.sample)]
        many = [len(outputs) for outputs in stored]
        tokens_in = [float(sum(o.tokens_in or 0 for o in outputs)) for outputs in stored]
        tokens_out = [float(sum(o.tokens_out or 0 for o in outputs)) for outputs in stored]
        each = (self.pending.keys(group) for group in groups)
        due = sum(len(keys) - len(self.store.answered(keys)) for keys in each)
        prices, both = self.purse.prices, zip(tokens_in, tokens_out, strict=True)
        costs = [0.0 if prices is None else prices.cost(*took) for took in both]
        rest = len(self.order.places) - self.sample
        judged = judge_used(self.place) if self.spending.judge else {}
        share = rest / self.purse.judged if self.purse.judged else 0.0
        cost = judge_cost(judged, self.purse.judge_prices)
        seconds = (time.monotonic() - self.began) * due / self.store.asked if self.store.asked else None
        counted = any(tokens_in) or any(tokens_out)
        self.estimate = CostEstimate(
            examples=self.sample,
            requests=due,
            tokens_in=total(tokens_in, many, due, "tokens in") if counted else None,
            tokens_out=total(tokens_out, many, due, "tokens out") if counted else None,
            cost=total(costs, many, due, "cost") if counted and prices else None,
            judge_calls=round(judged.get("judge calls", 0.0) * share),
            judge_cost=None if cost is None else cost * share,
            spent=None if prices is None else self.purse.spent,
            seconds=seconds,
        )
        if due and not self.spending.only_estimate:
            print(f"unswayed: {self.estimate.sentence}", file=notices())

    def look(self) -> bool:
        """May the run end? The examples that are complete then are those that are measured."""
        if self.purse.limit is not None:
            self.judge()
        if self.until is None:
            return False
        self.store.commit()
        run = self.open_run()
        examples = len(self.order.places) if run.sample is None else run.sample.examples
        with suppress(NothingEvaluated):
            if examples > 1 and self.until.hold(run):
                self.order.places = self.order.places[:examples]
                for window in () if self.store.asked else self.pending.windows(1):
                    self.pending.of(window)  # counts what is used again, and asks nothing
                return True
        return False

    def write_manifest(self, asked: int | None, over: bool = False) -> None:
        """Says what the run did: `asked` examples, or, while that is not known yet, None; `over` the budget."""
        suite, folder, system = self.suite, self.place, self.system
        shown = ""
        if isinstance(folder, Path):
            place = Path(suite.on_disk().name).resolve()
            try:
                shown = os.path.relpath(place, folder.resolve())
            except ValueError:  # another drive
                shown = str(place)
        self.manifest = manifest = RunManifest(
            unswayed=VERSION,
            suite=shown,
            suite_id=suite.id,
            system=self.asked.name or system.name,
            identity=system.stored_as,
            order=seed_of(suite),
            limit=self.asked.limit,
            asked=asked,
            stop_when=list(self.until.rules) if self.until else [],
            repeats=self.asked.repeats,
            asked_twice=self.twice,
            budget=self.purse.limit,
            stopped="budget" if over else "",
            prices=self.purse.prices,
            judge_prices=self.purse.judge_prices,
            settings=system.settings(),
            prompts={name: without_known(text) for name, text in system.prompts.items()},
        )
        if not isinstance(folder, Path):
            return
        if "prompt" in manifest.prompts:  # also as a file, with which the run can be made again
            write_inside(folder / PROMPT_FILE, f"{manifest.prompts['prompt']}\n".encode("utf-8", "surrogatepass"))
        write_inside(folder / "run.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")

    def ask(self, pool: Pool, batches: Iterator[RequestBatch], waiting: dict[int, RequestBatch]) -> None:
        each = 1 + self.asked.repeats + self.suite.manifest.variants / max(1, self.suite.manifest.examples)
        purse, held = self.purse, False  # until the sample is answered
        # A judge sees the first example as soon as it is complete, then twice as many, and so on: what it costs is
        # known before it has cost much.
        judged_at = each if purse.limit is not None and self.spending.judge else None
        while True:
            while pool.room and not held:
                under_way = 0 if purse.limit is None else sum(map(len, waiting.values())) + self.size - 1
                if not purse.affords(under_way, self.progress.done / each):
                    break
                alone = bool(self.again)
                batch = self.again.popleft() if alone else self.rest or next(batches, None)
                if batch is None:
                    break
                if not alone:
                    rest = batch.cut(self.call_size) if len(batch) > self.call_size else None
                    batch, self.rest = batch if rest is None else batch.cut(0, self.call_size), rest
                if batch:
                    waiting[pool.give(batch.inputs, alone)] = batch
                held = not batch
            if pool.idle and not self.again and not self.rest and held:
                held = False
                self.tell()
                if self.spending.only_estimate:
                    return
                continue
            if pool.idle:
                return
            number, result = pool.take()
            batch = waiting.pop(number)
            if not isinstance(result, WorkerCrash):
                self.keep(batch, result)
                self.fit_calls(len(batch), result)
            elif len(batch) > 1:  # each request is asked by itself, and the one that workers die of has failed
                self.again.extend(batch.cut(at, at + 1) for at in range(len(batch)))
            else:
                error = f"the worker that was asked this died: {result.reason}"
                self.keep(batch, Answers([Output(None, error)], {}))
            if judged_at is not None and self.progress.done >= judged_at:
                self.judge()
                judged_at = self.progress.done + max(each, each * purse.judged)
            if self.pending.looks and self.progress.done >= self.pending.looks[0]:
                self.pending.looks.popleft()
                if self.look():
                    batches, self.rest = iter(()), None

    def fit_calls(self, asked: int, answers: Answers) -> None:
        """Larger batches as long as a call takes little time, smaller ones where it takes long: a run that is stopped
        loses what is under way."""
        if not self.grows:
            return
        outputs = answers.outputs
        seconds = asked * (outputs.seconds if isinstance(outputs, BatchOutputs) else outputs[0].seconds)
        if seconds > _LONG_CALL:
            self.call_size = max(1, self.call_size // 2)
        elif asked >= self.call_size and seconds < _SHORT_CALL:
            self.call_size = min(self.size, self.call_size * (4 if seconds < _SHORT_CALL / 4 else 2))

    def pay(self, answers: Answers) -> None:
        """Counts what answers took, and notes what they rest on."""
        self.store.use(answers.used)
        self.purse.pay(answers.used.get("cost", 0.0), answers.outputs, self.system.name)
        if answers.rests_on is not None:
            self.store.rests_on.add(self.revision, answers.rests_on)
            self.store.unseen |= set(answers.rests_on.unseen)

    def put(self, batch: RequestBatch, answers: Answers) -> None:
        self.pay(answers)
        self.failed += len(_failures(answers))
        self.store.put_block(batch.keys, answers.outputs)

    def keep(self, batch: RequestBatch, answers: Answers) -> None:
        failed = _failures(answers)
        again = failed and self.pending.answers  # what failed in an earlier session, too, is no sign of a broken system
        before = self.store.tried([batch.keys[at] for at in failed]) if again else set()
        self.put(batch, answers)
        self.pending.in_flight.difference_update(batch.keys)
        self.progress.add(len(batch))
        if not failed:
            self.failed_in_a_row = 0
            return
        for key, output in zip(batch.keys, answers.outputs, strict=True):
            if key not in before:
                self.failed_in_a_row = 0 if output.answered else self.failed_in_a_row + 1
        if self.failed_in_a_row >= self.asked.asking.give_up:
            self.store.commit()
            last = str(answers.outputs[-1].error).rstrip(" .")
            raise SystemBroken(
                f"{self.system.name} failed on {self.failed_in_a_row} items one after another. The last error: {last}. "
                f"Fix it, then rerun the same command. {self.kept}."
            )

    @property
    def kept(self) -> str:
        """How many new answers the store has; errors are none."""
        answers = self.store.asked - self.failed
        lost = f", {self.failed:,} requests failed" if self.failed else ""
        where = self.place if isinstance(self.place, Path) else "the exception's `partial`"
        return f"{answers:,} new answer{' is' if answers == 1 else 's are'} kept in {where}{lost}"


def _failures(answers: Answers) -> list[int]:
    """The places of outputs that are failures."""
    if isinstance(answers.outputs, BatchOutputs):  # which has none
        return []
    return [place for place, output in enumerate(answers.outputs) if output.error is not None]
