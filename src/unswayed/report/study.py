"""What a study is: named tables, each a function from a context to what the paper prints; and the pages of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec
from markupsafe import Markup

from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.base.ids import content_id, decode
from unswayed.base.registry import VERSION, Registry
from unswayed.base.text import one_line
from unswayed.base.values import Json
from unswayed.report.html import own_file, template
from unswayed.report.tables import Figure, Row, cell, column_names, escaped, markdown, render, table
from unswayed.storage.files import write_atomically
from unswayed.systems.process import files_in

Given = Mapping[str, Any]  # the values of the study's own options
_WRITTEN = ("models", "runs", "scores", "suites", "tables", "study.html", "study.json", "study.md")
_FIGURE = "figure"  # marks, in a file, a cell that is set as a number is


class SectionTable(NamedTuple):
    """A table of a section: its caption and its rows."""

    caption: str
    rows: Sequence[Row]


class Picture(NamedTuple):
    """A chart of a section: its caption and the SVG element."""

    caption: str
    svg: Markup


class Section(NamedTuple):
    """A part of a study: what it says, its tables, its pictures. Pictures are for pages only."""

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[SectionTable] = ()
    pictures: Sequence[Picture] = ()


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The sections as one Markdown text."""
    parts = [f"# {escaped(title)}"]
    for section in sections:
        parts += [f"## {escaped(section.title)}", *map(escaped, section.sentences)]
        for caption, rows in section.tables:
            parts += [f"**{escaped(caption)}**", markdown(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_text(sections: Sequence[Section], width: int | None = None) -> str:
    """The sections as plain text for a terminal."""
    parts = []
    for section in sections:
        parts += [one_line(section.title).upper(), *map(one_line, section.sentences)]
        for caption, rows in section.tables:
            parts += [one_line(caption), table(rows, width)]
    return "\n\n".join(part for part in parts if part)


def as_page(title: str, sections: Sequence[Section]) -> str:
    """The page's text; every string of a section is escaped by the template."""
    shown = []
    for title_, sentences, tables, pictures in sections:
        filled = []
        for caption, rows in tables:
            heads = column_names(rows)
            cells = [[cell(row.get(head)) for head in heads] for row in rows]
            filled.append({"caption": caption, "heads": heads, "rows": cells})
        shown.append({"title": title_, "sentences": sentences, "pictures": pictures, "tables": filled})
    return template("study.html.jinja").render(css=own_file("report.css"), title=title, sections=shown)


class Option(NamedTuple):
    """An option that a study adds to its command: `--NAME VALUE`, or `--NAME` alone for a flag."""

    name: str
    help: str
    default: str | int | float | None = None
    multiple: bool = False
    short: str | None = None
    kind: type[str | int | float] | None = None  # what the value is, where no default says so
    flag: bool = False

    @property
    def key(self) -> str:
        return self.name.replace("-", "_")


def chosen_for(given: str | int | None, *names: str, known: Collection[str] | None = None) -> float | None:
    """The number in `10,snips=4,jointbert/snips=1` of the first of these names that has one, or else that of all.

    A name that is not among those `known` is an error.
    """
    found: dict[str, float] = {}
    for part in str(given or "").split(","):
        name, _, number = part.rpartition("=")
        if part.strip():
            try:
                found[name.strip()] = float(number)
            except ValueError:
                raise UsageError(f"{part!r} is not a number, nor NAME=NUMBER.") from None
    for name in found:
        if name and known is not None and name not in known:
            raise UnknownName("model or data set", name, known)
    return next((found[name] for name in (*names, "") if name in found), None)


class StudyContext:
    """What the tables of a study are made of. Extend it with what they share, each made when it is first needed."""

    def __init__(self, data: Path, given: Given, to: Path, chosen: Sequence[str]) -> None:
        self.data, self.given, self.to, self.chosen = data, given, to, chosen

    @property
    def inputs(self) -> Sequence[Path]:
        """The files and folders that decide the tables, besides those that options name."""
        return [self.data]

    def deciding(self, table: str, option: str) -> Any:
        """What of an option's value decides a table: all of it, unless a study knows better."""
        return self.given.get(option.replace("-", "_"))


class Printed(NamedTuple):
    """A table for programs, its sections for people, and sentences for the top of the page."""

    value: Json
    sections: Sequence[Section] = ()
    findings: Sequence[str] = ()


class StudyTable(NamedTuple):
    """How a table is made, and the options that decide it (None: all of them).

    A quick table alone leaves no folder behind: it is kept only where other tables are.
    """

    make: Callable[[Any], Printed]
    options: tuple[str, ...] | None = None
    quick: bool = False


class Study:
    """Extend, and register with the entry point `unswayed.studies`. The docstring is the command's help."""

    title: ClassVar[str]
    tables: ClassVar[Mapping[str, StudyTable]]
    options: ClassVar[tuple[Option, ...]] = ()
    corpora: ClassVar[tuple[str, ...]] = ()  # those that `unswayed data pull` fetches, where no folder is given
    context: ClassVar[type[StudyContext]] = StudyContext

    def pulled(self) -> Path:
        """Where `unswayed data pull` leaves the study's data: the folder of its one corpus, or that of all of them."""
        from unswayed.data import cache_folder

        cache = cache_folder()
        if not any((cache / name).is_dir() for name in self.corpora):
            wanted = " and ".join(f"`unswayed data pull {name}`" for name in self.corpora)
            raise UsageError(f"Set {option('data')} to the study's data{f', or fetch it: {wanted}' if wanted else ''}.")
        return cache / self.corpora[0] if len(self.corpora) == 1 else cache

    def run(self, data: Path, only: Sequence[str] = (), given: Given | None = None) -> Outcome:
        """Makes the chosen tables, all where none is named, and writes the pages of every table that is kept.

        A table that an earlier run kept stays on the pages as long as the data and the options that decide it are
        those of today; otherwise the pages leave it out, and a message says so.
        """
        for name in only:
            if name not in self.tables:
                raise UnknownName("table in this study", name, self.tables)
        chosen = [name for name in self.tables if name in (only or self.tables)]
        values: dict[str, Any] = {o.key: o.default for o in self.options}
        for key, value in (given or {}).items():
            if key in values and value is not None and value != "" and value != () and value is not False:  # 0 is one
                values[key] = value
        to = Path(str(values.get("to") or type(self).__name__.lower()))
        context = self.context(Path(data), values, to, chosen)
        made = {name: self.tables[name].make(context) for name in chosen}
        if not (to / "tables").exists() and all(self.tables[name].quick for name in chosen):
            return Outcome(self, made)
        # `tables/NAME.json` for each table, and the pages of all that belong to the data and options of today
        seen, every = list(_traces(context.inputs, to)), dict[str, Printed]()
        for name, kind in self.tables.items():
            # the basis stands for all that decides a table: data, options, the files that they name, this version
            names = [o.name for o in self.options if o.name != "to"] if kind.options is None else kind.options
            values = {one: context.deciding(name, one) for one in names}
            named = [path for value in values.values() for path in _paths_in(value)]
            basis = content_id([type(self).__name__, VERSION, values, seen, list(_traces(named, to))], 16)
            file = to / "tables" / f"{name}.json"
            if name in made:
                write_atomically(file, msgspec.json.encode(_stored(made[name], basis)) + b"\n")
            try:
                stored = decode(file.read_bytes(), dict[str, Any])
                if stored["basis"] == basis:
                    every[name] = _restored(stored)
                    continue
            except FileNotFoundError:
                continue
            except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
                pass  # not a table that this version wrote
            print(
                f"{file} was made with other data, options or another version, so the pages leave {name} out. "
                f"Make it again with {option('only')}{'' if option('only').endswith('=') else ' '}{name}.",
                file=sys.stderr,
            )
        whole = msgspec.json.encode(Outcome(self, every).value)
        write_atomically(to / "study.json", msgspec.json.format(whole, indent=2) + b"\n")
        write_atomically(to / "study.md", as_markdown(self.title, _sections(every)).encode())
        write_atomically(to / "study.html", as_page(self.title, _sections(every)).encode("utf-8", "xmlcharrefreplace"))
        print(f"The study is in {to / 'study.html'}, study.md and study.json", file=sys.stderr)
        return Outcome(self, made)

    def joined(self, tables: Mapping[str, Json]) -> Json:
        """What programs get: the tables by name, unless a study puts them together otherwise."""
        return dict(tables)

    def lines(self, value: Json) -> list[Json]:
        """The same as rows of JSON lines."""
        return [{"name": name, "value": one} for name, one in value.items()]


class Outcome(NamedTuple):
    """The tables that a study made just now."""

    study: Study
    tables: Mapping[str, Printed]

    @property
    def value(self) -> Any:
        findings = [sentence for one in self.tables.values() for sentence in one.findings]
        joined = self.study.joined({name: one.value for name, one in self.tables.items()})
        return joined | {"findings": findings} if findings else joined

    def text(self, format_: str) -> str:
        """As `table`, `md`, `json` or `jsonl`. A single table stands for itself in JSON."""
        if format_ == "md":
            return as_markdown(self.study.title, _sections(self.tables))
        if format_ == "table":
            return as_text(_sections(self.tables))
        if format_ == "jsonl":
            return render(self.study.lines(self.value), "jsonl")
        whole = self.value
        return render(next(iter(whole.values())) if list(whole) == list(self.tables)[:1] else whole, "json")


def _sections(tables: Mapping[str, Printed]) -> list[Section]:
    findings = [sentence for one in tables.values() for sentence in one.findings]
    first = [Section("What was found", findings)] if findings else []
    return first + [section for one in tables.values() for section in one.sections]


def _stored(printed: Printed, basis: str) -> dict[str, Json]:
    def cells(row: Mapping[str, Any]) -> dict[str, Json]:
        return {head: {_FIGURE: str(cell)} if isinstance(cell, Figure) else cell for head, cell in row.items()}

    sections = [
        {
            "title": str(section.title),
            "sentences": [str(sentence) for sentence in section.sentences],
            "tables": [[str(caption), [cells(row) for row in rows]] for caption, rows in section.tables],
            "pictures": [[str(caption), str(svg)] for caption, svg in section.pictures],
        }
        for section in printed.sections
    ]
    return {"basis": basis, "value": printed.value, "findings": list(printed.findings), "sections": sections}


def _restored(stored: Mapping[str, Any]) -> Printed:
    def row(cells: Mapping[str, Any]) -> dict[str, Any]:
        return {head: Figure(cell[_FIGURE]) if isinstance(cell, dict) else cell for head, cell in cells.items()}

    sections = [
        Section(
            one["title"],
            one["sentences"],
            [SectionTable(caption, [row(cells) for cells in rows]) for caption, rows in one["tables"]],
            [Picture(caption, Markup(svg)) for caption, svg in one["pictures"]],  # noqa: S704  as it was written
        )
        for one in stored["sections"]
    ]
    return Printed(stored["value"], sections, stored["findings"])


def _paths_in(value: Any) -> Iterator[Path]:
    """The files that an option names: `FILE`, `FILE,FILE`, `NAME=FILE`, `NAME:FILE`, `cmd:COMMAND`, `module:name`."""
    for text in value if isinstance(value, (list, tuple)) else [value]:
        if (command := str(text).partition("cmd:")[2]) or (command := str(text).partition("command:")[2]):
            yield from map(Path, files_in(command))
        for part in str(text).split(",") if text else ():
            place = part.rpartition("=")[2].strip()
            module, colon, rest = place.partition(":")
            here = Path(module.replace(".", "/") + ".py")
            with suppress(ImportError, ValueError, OSError):
                yield from (path for path in (Path(place), Path(rest), here) if str(path) != "." and path.exists())
                if colon and (spec := find_spec(module)) and spec.origin:
                    yield Path(spec.origin)


def _traces(paths: Sequence[Path], to: Path) -> Iterator[Json]:
    """Which files there are, how large and how old; without those that the study itself wrote."""
    own = to.resolve()
    for path in paths:
        inside = path.resolve() in own.parents
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            whole = file.resolve()
            written = own in whole.parents and (inside or whole.relative_to(own).parts[0] in _WRITTEN)
            if file.is_file() and not written:
                yield [str(whole), file.stat().st_size, file.stat().st_mtime_ns]


studies: Registry[Study] = Registry("study", Study)
studies.group = "unswayed.studies"
