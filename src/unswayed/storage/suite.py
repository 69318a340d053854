"""A Suite: examples and their variants, in a folder of two Parquet files and a manifest, or in memory.

The folder appears only when it is complete. Nothing in it depends on the time or the machine, so the same plan
gives the same bytes.
"""

from __future__ import annotations

import shutil
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import chain, compress, groupby, islice
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import StoredFileError, UnknownName, UsageError, option
from unswayed.base.ids import canonical, canonical_each, content_id, decode, file_hash
from unswayed.base.registry import VERSION
from unswayed.base.task import Task, task_named, tasks
from unswayed.base.text import data_frame, html_table
from unswayed.base.values import Example, Inputs, Json, Variant
from unswayed.storage.files import as_path, free, growing_folder, refuse_foreign, temporary_folder, unwritable
from unswayed.storage.parquet import (
    ROWS_AT_ONCE,
    joined_columns,
    numbered_columns,
    read_columns,
    read_numbered,
    write_columns,
)
from unswayed.storage.suite_rows import DistinctTexts, Piece, example_columns, pieces_of, variant_columns
from unswayed.storage.untrusted_files import (
    is_as_written,
    is_noted,
    note_down,
    open_hashed,
    read_bounded,
    refuse_old_edition,
    remember_hash,
)

FORMAT = 1
LANGUAGE = "language"  # the group that holds an example's own language, where rows are in several
MEMORY_BYTES = 256 << 20  # of texts of a suite that stays in memory
_SHOWN = 5  # variants in a notebook
_MOST_MANIFEST = 64 << 20  # bytes
_COLUMNS = {
    "examples.parquet": {"row": "int", "id": "str", "inputs": "str", "gold": "str", "groups": "str"},
    "variants.parquet": {
        "row": "int", "example_id": "str", "draw": "int", "source": "str", "family": "str", "meaning": "str",
        "inputs": "str", "gold": "str", "note": "str",
    },
}  # fmt: skip


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a suite is and what it was made from. `plan` is everything that decided its variants."""

    format: int = FORMAT
    unswayed: str = VERSION
    task: str
    language: str
    labels: list[str] | None = None
    seed: int | None = None
    draws: int | None = None
    operators: list[dict[str, Json]] = []
    presets: list[dict[str, Json]] = []  # what each preset that was asked for meant: its operators, and those left out
    set: dict[str, str] = {}  # how variants were chosen, where not all were kept: its name, and who selected them
    cluster: str | None = None  # the field, among the groups, whose examples belong together
    compared: dict[str, str] = {}  # extract and equivalent, where the data decides what of an answer counts
    people: dict[str, str] = {}  # source, or * for all → what of a variant names the person: draw, source or note
    plan: str = ""
    made: dict[str, dict[str, Json]] = {}  # the sections `data` and `vary` of the plan, where not by default
    examples: int = 0
    languages: dict[str, int] = {}  # how many examples are in each, where the rows are in several languages
    variants: int = 0
    unchanged: dict[str, int] = {}
    distinct: dict[str, tuple[int, int]] = {}  # operators that repeat a text: how many texts differ, of how many
    left_out: dict[str, int] = {}  # kind of fact → slips that would have turned one into another
    ties: int | None = None  # of a hard set: choices in which several candidates were equally hard
    content: str = ""
    hashes: dict[str, str] = {}
    # Source that is one person → what such people are called, such as speaker
    roles: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    # The person whose texts are the examples themselves, if that is one
    reference: str | msgspec.UnsetType = msgspec.UNSET
    # What operators of the user's own read while they made it; unswayed's have versions.
    rests_on: Dependencies | msgspec.UnsetType = msgspec.UNSET


Tables = dict[str, list[list[list[Any]]]]  # by table, some rows at a time, as one list for each column


class Suite:
    """Examples and their variants. `Suite(path)` opens and verifies one on disk; `unswayed.make_suite` makes one.

    Example: `for variant in unswayed.Suite("suite/"): …`.

    `len(suite)` is the number of variants, and iterating gives them; `suite.groups()` gives each example with its own.
    """

    path: Path | None  # the folder; None in memory
    _tables: Tables | None = None
    _saved: Suite | None = None

    def __init__(self, path: str | Path) -> None:
        self.path = as_path(path, "path")
        self.manifest = _read_manifest(self.path)
        self.verify()

    @classmethod
    def in_memory(cls, manifest: Manifest, tables: Tables) -> Suite:
        """A suite that is in no file."""
        suite = cls.__new__(cls)
        suite.path, suite.manifest, suite._tables = None, manifest, tables
        return suite

    @property
    def name(self) -> str:
        """What messages call it: its folder, where it has one."""
        return "the suite in memory" if self.path is None else str(self.path)

    def on_disk(self) -> Suite:
        """The same in a folder, for other processes: one in memory is in a temporary folder until this process ends."""
        if self.path is not None:
            return self
        if self._saved is None:
            self._saved = self.save(temporary_folder() / "suite")
        return self._saved

    @property
    def task(self) -> Task:
        return task_named(self.manifest.task)

    @property
    def id(self) -> str:
        return self.manifest.content

    @property
    def signed(self) -> str:
        """The id as it stands in signatures, where the selector of a hard set is named too."""
        selector = self.manifest.set.get("selector")
        return self.id if selector is None else f"{self.id} (hard for {selector})"

    def __len__(self) -> int:
        return self.manifest.variants

    def __iter__(self) -> Iterator[Variant]:
        return self.variants()

    def __repr__(self) -> str:
        m = self.manifest
        of = f"{m.variants:,} variants of {m.examples:,} examples"
        return f"<Suite {self.path or 'in memory'}: {of}, {m.task}, {m.language}>"

    def _repr_html_(self) -> str:
        """The first variants beside their originals, for notebooks."""
        return html_table(self._columns(_SHOWN), repr(self)[1:-1], _SHOWN, len(self))

    def to_pandas(self) -> Any:
        """The variants as a pandas DataFrame, each beside its original; needs the extra `pandas`."""
        return data_frame("pandas", self._columns())

    def to_polars(self) -> Any:
        """The same as a polars DataFrame; needs the extra `polars`."""
        return data_frame("polars", self._columns())

    def _columns(self, most: int | None = None) -> dict[str, list[Any]]:
        pairs = ((example, variant) for example, variants in self.groups() for variant in variants)
        rows = [
            (e.id, v.source, v.draw, *changed_texts(e.inputs, v.inputs), v.note, v.gold) for e, v in islice(pairs, most)
        ]
        names = ("example", "operator", "draw", "before", "after", "change", "gold")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def save(self, to: str | Path, overwrite: bool = False) -> Suite:
        """Copies the suite to folder `to`, for example one that was made in a temporary folder."""
        to = as_path(to, "to")
        if self._tables is not None:
            _write(to, lambda hashes: replace(self.manifest, hashes=hashes), self._tables, overwrite)
            return Suite(to)
        assert self.path is not None
        with (
            growing_folder(to, "the suite", lambda: refuse_existing(to, overwrite)) as partial,
            unwritable(to, "the suite"),
        ):
            for name, expected in self.manifest.hashes.items():  # and nothing else that somebody put there
                with open_hashed(self.path / name, expected) as file, (partial / name).open("wb") as new:
                    shutil.copyfileobj(file, new, 1 << 20)
            _write_manifest(partial, self.manifest)
        return Suite(to)

    @classmethod
    def load(cls, path: str | Path) -> Suite:
        """The same as `Suite(path)`: the suite in a folder, after checking that its files are whole."""
        return cls(path)

    @classmethod
    def known(cls, path: str | Path, manifest: Manifest) -> Suite:
        """The suite of a manifest that was verified before, as by the process that started this one.

        Only the hashes of its files are checked; the content id follows from them.
        """
        suite = cls.__new__(cls)
        suite.path, suite.manifest = as_path(path, "path"), _read_manifest(Path(path))
        if suite.manifest != manifest:
            raise StoredFileError(f"{path}: this is another suite than the one that was verified.")
        suite._check_hashes()
        return suite

    def sources(self) -> dict[str, int]:
        """How many variants each operator or person made, the most first."""
        counts = Counter(source for (source,) in self.columns("variants", "source"))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def examples(self, chosen: Iterable[bool] | None = None) -> Iterator[Example]:
        """All examples, or those that are chosen by place."""
        rows = self.columns("examples")
        for row, id, inputs, gold, groups in rows if chosen is None else compress(rows, chosen):
            try:
                yield Example(row, id, _texts(inputs), _value(gold), _texts(groups))
            except _ODD as error:
                raise self.odd("examples.parquet", f"example {id!r:.60}", error) from error

    def variants(self) -> Iterator[Variant]:
        for number, example_id, draw, source, family, meaning, inputs, gold, note in self.columns("variants"):
            try:
                if meaning not in ("same", "changed"):
                    raise msgspec.ValidationError(f"its meaning is {meaning!r:.60}, not same or changed")
                yield Variant(number, example_id, draw, source, family, meaning, _texts(inputs), _value(gold), note)
            except _ODD as error:
                raise self.odd("variants.parquet", f"a variant of {example_id!r:.60}", error) from error

    def groups(self) -> Iterator[tuple[Example, list[Variant]]]:
        """Each example with its variants, as both files are in the examples' order."""
        by_row = groupby(self.variants(), key=lambda v: v.row)
        row, variants = next(by_row, (None, iter(())))
        for example in self.examples():
            if row == example.row:
                own = list(variants)
                if any(variant.example_id != example.id for variant in own):
                    raise self.odd("variants.parquet", f"row {row}", "it has a variant of another example")
                yield example, own
                row, variants = next(by_row, (None, iter(())))
            else:
                yield example, []
        if row is not None:
            raise self.odd("variants.parquet", f"row {row}", "its variants do not follow the order of the examples")

    def verify(self) -> None:
        """Raises if a file is not the one that the manifest was written for, or the manifest is not of its content.

        The content id is made from what the files hold. Both happen once per process, and again after a file changed.
        The content is read once per user; later, its files' hashes tell that it is the same.
        """
        if self.path is None:
            return  # it is what this process made
        facts = canonical([self.manifest.hashes, _decisive(self.manifest)])
        if facts not in _verified and is_noted(_claim(self.manifest)):
            _verified[facts] = self.manifest.content, self.manifest.examples, self.manifest.variants
        if facts not in _verified:
            content = _content(self.manifest)
            counts = dict.fromkeys(_COLUMNS, 0)
            for name in _COLUMNS:
                for columns in self.lists(name.removesuffix(".parquet")):
                    content.update(canonical_each(zip(*columns, strict=True)))
                    counts[name] += len(columns[0])
            _verified[facts] = content.hexdigest(), counts["examples.parquet"], counts["variants.parquet"]
        else:
            self._check_hashes()
        if _verified[facts] != (self.manifest.content, self.manifest.examples, self.manifest.variants):
            raise StoredFileError(
                f"{self.path / 'manifest.json'}: its content id or its counts are not those of the suite's files. "
                f"Make the suite again."
            )
        note_down(_claim(self.manifest))

    def columns(self, table: str, *names: str) -> Iterator[tuple[Any, ...]]:
        """The rows of `examples` or `variants` as they are stored, where texts and golds are JSON; of some columns, or
        all."""
        for lists in self.lists(table, *names):
            yield from zip(*lists, strict=True)

    def lists(self, table: str, *names: str) -> Iterator[list[list[Any]]]:
        """The same as columns, some rows at a time."""
        name = f"{table}.parquet"
        if self._tables is not None:
            at = [list(_COLUMNS[name]).index(column) for column in names or _COLUMNS[name]]
            for columns in self._tables[table]:
                for row in range(0, len(columns[0]), ROWS_AT_ONCE):
                    yield [columns[i][row : row + ROWS_AT_ONCE] for i in at]
            return
        assert self.path is not None
        yield from read_columns(self.path / name, _COLUMNS[name], self.manifest.hashes[name], names or None)

    def numbered(self, table: str, *repeated: str) -> Iterator[dict[str, Any]]:
        """The same by name, where what comes again and again, in the columns `repeated`, is numbered."""
        name = f"{table}.parquet"
        if self._tables is not None:
            for columns in self.lists(table):
                yield numbered_columns(columns, _COLUMNS[name], repeated)
            return
        assert self.path is not None
        yield from read_numbered(self.path / name, _COLUMNS[name], self.manifest.hashes[name], repeated)

    def _check_hashes(self) -> None:
        assert self.path is not None
        for name, expected in self.manifest.hashes.items():
            if not is_as_written(self.path / name, expected):
                with open_hashed(self.path / name, expected):
                    pass

    def odd(self, name: str, where: str, what: object) -> StoredFileError:
        """The error that says what is wrong with a file, and where."""
        place = name if self.path is None else self.path / name
        return StoredFileError(f"{place}: {where}: {what}. Make the suite again.")


_verified: dict[bytes, tuple[str, int, int]] = {}  # by hashes and decisive facts: the content id, and the counts
_texts = msgspec.json.Decoder(dict[str, str]).decode
_value = msgspec.json.Decoder().decode
_ODD = (msgspec.MsgspecError, UnicodeError, RecursionError)


def _claim(manifest: Manifest) -> bytes:
    """What is noted of a suite once it was verified."""
    said = [manifest.content, manifest.examples, manifest.variants]
    return canonical([VERSION, manifest.hashes, _decisive(manifest), said])


def _decisive(manifest: Manifest) -> list[Json]:
    """What the content id covers beside the rows."""
    facts: list[Json] = [FORMAT, manifest.task, manifest.language, cast(Json, manifest.labels)]
    return [facts, dict(manifest.set), dict(manifest.compared)]


def _content(manifest: Manifest) -> blake2b:
    content = blake2b(digest_size=16)
    facts, *chosen = _decisive(manifest)
    content.update(canonical(facts))
    for choice in filter(None, chosen):
        content.update(canonical(choice))
    return content


def changed_texts(before: Inputs, after: Inputs) -> tuple[str, str]:
    """The inputs that differ, or all if none does, before and after, each as one text."""
    names = [name for name in after if before.get(name) != after[name]] or list(after)
    return " | ".join(before.get(name, "") for name in names), " | ".join(after[name] for name in names)


def write_suite(
    path: str | Path | None, manifest: Manifest, examples: Callable[[], Iterable[Example]],
    variants: Callable[[], Iterable[Variant]], overwrite: bool = False, unchanged: dict[str, int] | None = None,
    ties: Callable[[], int] | None = None, rests_on: Dependencies | None = None,
) -> Suite:  # fmt: skip
    """Writes a suite; rows must be in the examples' order. An existing one is replaced only on request."""
    return write_pieces(
        path, manifest, examples, lambda: pieces_of(variants()), overwrite, unchanged, ties, rests_on=rests_on
    )


def write_pieces(
    path: str | Path | None, manifest: Manifest, examples: Callable[[], Iterable[Example]],
    variants: Callable[[], Iterable[Piece]], overwrite: bool = False, unchanged: dict[str, int] | None = None,
    ties: Callable[[], int] | None = None, left_out: dict[str, int] | None = None,
    rests_on: Dependencies | None = None,
) -> Suite:  # fmt: skip
    """Writes a suite of variants that are encoded already; without a path, it stays in memory.

    `unchanged` is read after the last variant: how many examples each operator found nothing to change in. So are
    `left_out`: slips that were left out; `ties`: in how many choices of a hard set several candidates were equally
    hard; and `rests_on`. A suite of more than 256 MB does not stay in memory: it is in a temporary folder as long as
    it is used.
    """
    if ":" in manifest.task:
        raise UsageError(
            f"The task {manifest.task!r} is code, which a suite can't name: others open it. Install it as a "
            f"plug-in under the entry point unswayed.tasks, and use its name."
        )
    content = _content(manifest)
    spoken: Counter[str] = Counter()
    counts = dict.fromkeys(("examples", "variants"), 0)

    def counted(table: str, batches: Iterator[list[list[Any]]]) -> Iterator[list[list[Any]]]:
        for columns in batches:
            counts[table] += len(columns[0])
            yield columns

    rows = languages_counted(examples(), spoken) if "+" in manifest.language else examples()
    texts, made_variants = DistinctTexts(), variant_columns(variants(), content.update)
    if (manifest.draws or 1) > 1:
        made_variants = texts.watch(made_variants)
    parts = {
        "examples": counted("examples", joined_columns(example_columns(rows, content.update))),
        "variants": counted("variants", joined_columns(made_variants)),
    }

    def whole_manifest(hashes: dict[str, str]) -> Manifest:
        """The manifest with what is known once the last variant was written."""
        return replace(
            manifest, **counts, content=content.hexdigest(), hashes=hashes, unchanged=dict(unchanged or {}),
            left_out=dict(manifest.left_out if left_out is None else left_out), ties=ties and ties(),
            languages=dict(spoken.most_common()), distinct=texts.report() if manifest.operators else {},
            rests_on=rests_on if rests_on is not None and rests_on.entries else manifest.rests_on,
        )  # fmt: skip

    if path is not None:
        made = _write(Path(path), whole_manifest, parts, overwrite)
        note_down(_claim(made))
        return Suite.known(path, made)
    tables: Tables = {}
    room = MEMORY_BYTES
    for table, batches in parts.items():
        tables[table] = []
        for columns in batches:
            tables[table].append(columns)
            room -= sum(sum(map(len, column)) for column in columns if type(column[0]) is str)
            if room < 0:
                folder = temporary_folder()
                rest = {name: chain(tables.get(name, ()), more) for name, more in parts.items()}
                suite = Suite.known(folder / "suite", _write(folder / "suite", whole_manifest, rest))
                weakref.finalize(suite, shutil.rmtree, folder, ignore_errors=True)
                return suite
    return Suite.in_memory(whole_manifest({}), tables)


def _write(
    path: Path, manifest: Callable[[dict[str, str]], Manifest], tables: Mapping[str, Iterable[list[list[Any]]]],
    overwrite: bool = False,
) -> Manifest:  # fmt: skip
    """Writes the files of a suite from batches of columns; `manifest` is called with their hashes."""
    with growing_folder(path, "the suite", lambda: refuse_existing(path, overwrite)) as partial:
        for name, columns in _COLUMNS.items():
            write_columns(partial / name, columns, tables[name.removesuffix(".parquet")])
        hashes = {name: file_hash(partial / name) for name in _COLUMNS}
        made = manifest(hashes)
        with unwritable(path, "the suite"):
            _write_manifest(partial, made)
    for name, expected in hashes.items():
        remember_hash(path / name, expected)
    return made


def languages_counted(examples: Iterable[Example], counts: Counter[str]) -> Iterator[Example]:
    """The examples, of which the languages of their own are counted as they pass."""
    for example in examples:
        counts[example.groups.get(LANGUAGE, "und")] += 1
        yield example


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    (folder / "manifest.json").write_bytes(text + b"\n")


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Raises unless `path` is free, an empty folder, or a suite, and nothing else, that may be overwritten."""
    if free(path):
        return
    try:
        _read_manifest(path)
    except StoredFileError as error:
        raise UsageError(
            f"{path} exists and is not a suite. Choose another folder with {option('o', 'to')}."
        ) from error
    if not overwrite and path.name == "suite" and (path.parent / "run.json").exists():
        raise UsageError(
            f"{path.parent} holds a run on other data, or on other variants. "
            f"Choose another folder with {option('o', 'to')}."
        )
    if not overwrite:
        raise UsageError(
            f"{path} holds another suite. Use {option('overwrite')}, or choose another folder with {option('o', 'to')}."
        )
    refuse_foreign(path, "a suite", ("manifest.json", *_COLUMNS))


def _read_manifest(path: Path) -> Manifest:
    file = path / "manifest.json"
    try:
        content = read_bounded(file, _MOST_MANIFEST)
        refuse_old_edition(file, content, "unswayed vary")
        manifest = decode(content, Manifest)
    except FileNotFoundError as error:
        raise StoredFileError(
            f"{path} is not a suite: it has no manifest.json. Make one with `unswayed vary`."
        ) from error
    except NotADirectoryError as error:
        raise StoredFileError(f"{path} is a file; a suite is a folder. Make one with `unswayed vary`.") from error
    except msgspec.MsgspecError as error:
        raise StoredFileError(f"{file}: the manifest is damaged ({error}). Make the suite again.") from error
    if manifest.format != FORMAT:
        raise StoredFileError(f"{file}: the suite has format {manifest.format}; this version reads {FORMAT}.")
    if manifest.task not in tasks:  # also module:Class: opening a suite must not run somebody's code
        raise StoredFileError(f"{file}: {UnknownName('task', manifest.task, tasks.names(), 'unswayed list tasks')}")
    if manifest.hashes.keys() != _COLUMNS.keys():
        raise StoredFileError(f"{file}: the manifest must have the hashes of {' and '.join(_COLUMNS)}, and no others.")
    return manifest


def plan_id(*decides: Json) -> str:
    """The id of everything that decides a suite's content."""
    return content_id([FORMAT, VERSION, *decides], size=16)
