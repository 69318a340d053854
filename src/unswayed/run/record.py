"""A Run: the outputs of one system on one suite, in a folder of a manifest and a store, or in memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import StoredFileError, UsageError, option
from unswayed.base.ids import decode
from unswayed.base.text import data_frame, html_table
from unswayed.base.values import Inputs, Json, Output, Variant
from unswayed.run.block import Answered
from unswayed.run.order import Order
from unswayed.run.spending import CostEstimate, judge_cost
from unswayed.score import Comparing, comparing_for, judge_used
from unswayed.storage.answers import AnswerStore, Asked, MemoryStores, Place
from unswayed.storage.files import as_path, unwritable, write_atomically, write_inside
from unswayed.storage.keys import Keyer
from unswayed.storage.rests_on import SUFFIX as RESTS_ON
from unswayed.storage.suite import Suite, changed_texts
from unswayed.storage.untrusted_files import read_bounded, refuse_old_edition
from unswayed.systems.system import Prices
from unswayed.systems.template import PROMPT, shown_template, texts_of

_EXAMPLES_A_BLOCK = 200
_SHOWN = 5  # answers in a notebook
_LONGEST_PATH = 4096
PROMPT_FILE, RUBRIC_FILE, PLAN_FILE = "prompt.txt", "rubric.txt", "plan.json"
_ASKED = ("outputs.sqlite", "outputs.sqlite-wal", f"outputs{RESTS_ON}", PROMPT_FILE, RUBRIC_FILE, PLAN_FILE)
_KEPT = (*_ASKED, "results.json")  # files of a run that its copy has
_OWN = {*_ASKED, "outputs.sqlite-shm", "lock", "suite"}  # what a run that was stopped at once leaves
_COLUMNS = ("example", "operator", "draw", "before", "after", "change", "answer_before", "answer_after", "gold",
            "error", "flipped")  # fmt: skip
NOT_ASKED = Output(error="not asked yet")


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Which suite was asked of which system. `identity` is the system's when it was last asked."""

    format: int = 1
    unswayed: str
    suite: str  # path, relative to the run's folder where it can be
    suite_id: str
    system: str
    identity: str
    order: int | None = None  # the seed of the order of asking; None for older runs, which asked in the data's order
    limit: int | None = None  # examples that were to be asked
    asked: int | None = None  # examples that were, the first in the order; None until asking has ended
    stop_when: list[str] = []  # the rules by which it could end early
    repeats: int = 0  # how many more times each clean input was to be asked
    asked_twice: int = 0  # how many clean inputs, the first in the order, were to be asked once more where that is 0
    budget: float | None = None  # what it may cost
    stopped: str = ""  # `budget` if that ended it
    prices: Prices | None = None  # of a million tokens
    judge_prices: Prices | None = None
    settings: dict[str, Json] = {}  # how the system draws its answers, such as temperature and seed
    prompts: dict[str, str] = {}  # what the system puts around inputs, whole: the template `prompt`, a system message


class Sample(NamedTuple):
    """The examples of a run that are measured where not all of its suite were asked: a random sample of them.

    `chosen` is by place in the suite. `why` is `limit` where no more were to be asked, `enough` where a rule for an
    early end held, `budget` where a budget was spent, `stopped` where the run was stopped.
    """

    chosen: npt.NDArray[np.bool_]
    examples: int
    of: int
    why: str
    rules: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        said = f"Measured on {self.examples:,} of {self.of:,} examples, "
        ends = {
            "limit": "chosen at random.",
            "enough": f"a random sample: the run ended early, when {' and '.join(self.rules)} was reached.",
            "stopped": "a random sample: the run was stopped.",
            "budget": "a random sample: the run stopped when its budget was spent.",
        }
        return said + ends[self.why]


class Run:
    """The outputs of a system on a suite. `Run(path)` opens one on disk; `unswayed.run_system` makes or continues one.

    Example: `unswayed.Run("run/").flips()`.

    `len(run)` is the number of variants, and iterating gives each with its output; `run.items()` gives each example
    with its output and all of these.
    """

    path: Path | None  # its folder; None in memory
    place: Place  # the folder, or what it has in memory for one
    estimate: CostEstimate | None = None  # what it would cost, where that was told when it was made
    rests_on: Dependencies | None = None  # what its answers rest on beside the identity, where it was just made
    _plan: dict[str, dict[str, Json]] | None = None  # in memory

    def __init__(self, path: str | Path, session: Asked | None = None) -> None:
        self.path = self.place = as_path(path, "path")
        self.session = session  # what was asked and used again, where this run was just made or continued
        file = self.path / "run.json"
        try:
            content = read_bounded(file)
            refuse_old_edition(file, content, "unswayed run")
            self.manifest = decode(content, RunManifest)
        except (FileNotFoundError, NotADirectoryError) as error:
            told = "is not a run: it has no run.json. Make one with `unswayed run`."
            raise StoredFileError(f"{self.path} {told}") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            told = f"the run's manifest is damaged ({error}). Run again into another folder."
            raise StoredFileError(f"{file}: {told}") from error
        place = Path(self.manifest.suite)
        if "\0" in self.manifest.suite or len(self.manifest.suite) > _LONGEST_PATH:
            raise StoredFileError(f"{file}: {self.manifest.suite!r:.60} is not the path of a suite.")
        self.suite = Suite(place if place.is_absolute() else (self.path / place).resolve())
        if self.suite.id != self.manifest.suite_id:
            raise StoredFileError(
                f"{self.suite.path}: the suite changed after {self.path} was run on it. Run again into another folder."
            )

    @classmethod
    def in_memory(cls, manifest: RunManifest, suite: Suite, place: Place, session: Asked | None = None) -> Run:
        """A run without a folder of its own; its answers are in memory, or in the folder of another."""
        run = cls.__new__(cls)
        run.path, run.place, run.manifest, run.suite, run.session = None, place, manifest, suite, session
        return run

    @property
    def name(self) -> str:
        """What messages call it: its folder, where it has one."""
        return "the run in memory" if self.path is None else str(self.path)

    @property
    def system(self) -> str:
        return self.manifest.system

    @property
    def plan(self) -> dict[str, dict[str, Json]]:
        """The plan that it was made by, as far as it is not by default; empty where that is not known."""
        if self.path is None:
            return self._plan or {}
        try:
            return decode(read_bounded(self.path / PLAN_FILE), dict[str, dict[str, Any]])
        except (OSError, StoredFileError, msgspec.MsgspecError, UnicodeDecodeError):
            return {}

    def keep_plan(self, plan: dict[str, dict[str, Json]], rubric: str) -> None:
        """Keeps what is needed to make the run again: its plan, and a judge's rubric whole."""
        if self.path is None:
            self._plan = plan
            return
        write_inside(self.path / PLAN_FILE, msgspec.json.format(msgspec.json.encode(plan), indent=2) + b"\n")
        if rubric:
            write_inside(self.path / RUBRIC_FILE, f"{rubric}\n".encode("utf-8", "surrogatepass"))

    @property
    def identity(self) -> str:
        return self.manifest.identity

    def __len__(self) -> int:
        return len(self.suite)

    def __iter__(self) -> Iterator[tuple[Variant, Output]]:
        return (answered for _, _, varied in self.items() for answered in varied)

    def __repr__(self) -> str:
        of = f"{len(self):,} variants of {self.suite.manifest.examples:,} examples"
        return f"<Run {self.path or 'in memory'}: {self.system} on {of}>"

    def _repr_html_(self) -> str:
        """The first answers, for notebooks."""
        return html_table(self._columns(most=_SHOWN), repr(self)[1:-1], _SHOWN, len(self))

    def to_pandas(self) -> Any:
        """A row for each variant: its texts and the system's answers, before and after. Needs the extra `pandas`."""
        return data_frame("pandas", self._columns())

    def to_polars(self) -> Any:
        """The same as a polars DataFrame. Needs the extra `polars`."""
        return data_frame("polars", self._columns())

    def flips(self) -> Any:
        """The variants after which the answer differs, as a pandas DataFrame. Needs the extra `pandas`."""
        return data_frame("pandas", self._columns(only_flips=True))

    def _columns(self, only_flips: bool = False, most: int | None = None) -> dict[str, list[Any]]:
        rows: list[tuple[Any, ...]] = []
        comparing = self._comparing
        for example, clean, varied in comparing.watch(self.items()):
            answer = comparing.answer(clean)
            for variant, output in varied:
                flip = comparing.flip(example.row, answer, comparing.varied(example, variant, output))
                if flip != 1 and only_flips:
                    continue
                before, after = changed_texts(*self.shown(example.inputs, variant.inputs))
                rows.append((example.id, variant.source, variant.draw, before, after, variant.note, clean.value,
                             output.value, variant.gold, output.error, None if flip < 0 else flip == 1))  # fmt: skip
            if most is not None and len(rows) >= most:
                break
        return {name: [row[i] for row in rows[:most]] for i, name in enumerate(_COLUMNS)}

    def shown(self, before: Inputs, after: Inputs) -> tuple[Inputs, Inputs]:
        """An example's inputs and a variant's for people to read: where the prompt differs, both have the whole one."""
        if PROMPT not in after:
            return before, after
        template = self.manifest.prompts.get("prompt", "")
        texts = texts_of(after)
        return {**before, "prompt": template}, {**texts, "prompt": shown_template(template, after)}

    @cached_property
    def _comparing(self) -> Comparing:
        return comparing_for(self.suite).cache_in_run(self.place)

    def save(self, to: str | Path) -> Run:
        """Copies the run, with its suite, to folder `to`, for example one that is in memory."""
        to = as_path(to, "to")
        if to.exists() and (not to.is_dir() or any(to.iterdir())):
            raise UsageError(f"{to} exists. Choose another folder with {option('o', 'to')}.")
        with unwritable(to, "the run"):
            to.mkdir(parents=True, exist_ok=True)
            if isinstance(self.place, MemoryStores):
                self.place.answers.save(to / "outputs.sqlite")
                (to / PLAN_FILE).write_bytes(msgspec.json.encode(self.plan))
            else:
                files = [self.place / name for name in _KEPT]  # nothing else that somebody put there, such as a link
                for file in files:
                    if file.is_file() and not file.is_symlink():
                        shutil.copyfile(file, to / file.name)
        self.suite.save(to / "suite")
        manifest = msgspec.structs.replace(self.manifest, suite="suite")
        write_atomically(to / "run.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        return Run(to)

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """The same as `Run(path)`: the run in a folder, after checking that the files of its suite are whole."""
        return cls(path)

    def items(self) -> Iterator[Answered]:
        """Each example with its output, and each of its variants with theirs; streamed."""
        key = Keyer(self.identity)
        groups = self.suite.groups()
        with AnswerStore.reader(self.place) as store:
            while block := list(islice(groups, _EXAMPLES_A_BLOCK)):
                keys = key.each(inputs for e, own in block for inputs in (e.inputs, *(v.inputs for v in own)))
                found = store.get(keys)
                outputs = iter([found.get(k, NOT_ASKED) for k in keys])
                for example, variants in block:
                    clean = next(outputs)
                    yield example, clean, list(zip(variants, outputs, strict=False))  # as many as there are variants

    def repeated(self) -> Iterator[Answered]:
        """Each example that was asked again, with its output and, in place of variants, itself with that of each
        repeat."""
        key, manifest, chosen = Keyer(self.identity), self.manifest, None
        if not manifest.repeats:
            chosen = np.zeros(self.suite.manifest.examples, dtype=bool)
            chosen[Order(self.suite, manifest.asked_twice).places] = True
        examples, times = self.suite.examples(chosen), range(1, (manifest.repeats or 1) + 1)
        with AnswerStore.reader(self.place) as store:
            while block := list(islice(examples, _EXAMPLES_A_BLOCK)):
                keys = [[key(e.inputs, repeat) for repeat in (0, *times)] for e in block]
                found = store.get([k for group in keys for k in group])
                for e, group in zip(block, keys, strict=True):
                    clean, *again = (found.get(k, NOT_ASKED) for k in group)
                    same = [Variant(e.row, e.id, at, "repeat", "repeat", "same", e.inputs, e.gold, "") for at in times]
                    yield e, clean, list(zip(same, again, strict=True))

    @cached_property
    def sample(self) -> Sample | None:
        """What is measured of a run that did not ask the whole suite; None for one that did.

        Of a run that was stopped, these are the first examples in the order of asking, up to one that is not complete:
        those after it were complete sooner than others, so that they are not a random sample.
        """
        manifest, of = self.manifest, self.suite.manifest.examples
        if manifest.order is None or manifest.asked == of:
            return None
        order = Order(self.suite, manifest.limit)
        places = order.places
        asked = 0 if manifest.asked is None else manifest.asked
        if manifest.asked is None:  # from the first in the order, those that have an output for each of their requests
            key, groups = Keyer(self.identity), order.groups()
            with AnswerStore.reader(self.place) as store:
                while block := list(islice(groups, _EXAMPLES_A_BLOCK)):
                    keys = [key.each(group) for group in block]
                    for own, group in zip(keys, block, strict=True):
                        own += [key(group[0], repeat) for repeat in range(1, manifest.repeats + 1)]
                    tried = store.tried([k for group in keys for k in group])
                    complete = list(takewhile(tried.issuperset, keys))
                    asked += len(complete)
                    if len(complete) < len(keys):
                        break
        if asked == of:
            return None
        chosen = np.zeros(of, dtype=bool)
        chosen[places[:asked]] = True
        why = "limit" if asked == len(places) else "stopped" if manifest.asked is None else "enough"
        why = manifest.stopped or why
        return Sample(chosen, asked, of, why, tuple(manifest.stop_when))

    def used(self) -> dict[str, float]:
        """What answering used over the whole run, such as requests, retries, tokens and cost; empty where not known."""
        with AnswerStore.reader(self.place) as store:
            used = store.used() | judge_used(self.place)
        cost = judge_cost(used, self.manifest.judge_prices or self.manifest.prices)
        return used if cost is None else used | {"judge cost": cost}


def refuse_other(folder: Path, suite: Suite | None = None) -> None:
    """Raises where a folder is no place for a run, or, if the suite is known, holds a run on another one."""
    if (folder / "run.json").exists():
        if suite is not None and Run(folder).manifest.suite_id != suite.id:
            raise UsageError(f"{folder} holds a run on another suite. Choose another folder with {option('o', 'to')}.")
    elif folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file. Choose another folder with {option('o', 'to')}.")
    elif folder.exists() and any(f.name not in _OWN for f in folder.iterdir()):
        raise UsageError(f"{folder} exists and is not a run. Choose another folder with {option('o', 'to')}.")
