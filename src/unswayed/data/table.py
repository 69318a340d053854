"""Tables in text: comma-separated with a header, or tab-separated with a header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from unswayed.base.errors import DataError
from unswayed.base.values import Example
from unswayed.data._encoding import suffix_of
from unswayed.data._fields import Fields
from unswayed.data._reader import Reader, ReadOptions, read_lines, without_break
from unswayed.data.conll import looks_like_conll

_LONGEST_CELL = (1 << 31) - 1  # the csv module's own limit is 128 kB

NumberedRow = tuple[int, list[str]]  # the line that a row begins on, and its cells


class Tabular(Reader):
    """CSV with quoting, by `,` or `;`; TSV without any, so that a quotation mark is only that."""

    suffixes = (".csv", ".tsv", ".tab")

    def accepts(self, path: Path) -> bool:
        return super().accepts(path) and not (path.suffix.lower() == ".tsv" and looks_like_conll(path))

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        is_csv = suffix_of(path) == ".csv"
        if is_csv:
            rows = csv_rows(path, encoding=options.encoding)
        else:
            texts = map(without_break, read_lines(path, options.encoding))
            rows = ((line, text.split("\t") if text else []) for line, text in enumerate(texts, 1))
        _, header = next(rows, (0, []))
        refuse_repeated(header, path)
        self.fields = fields = Fields(options, cells=True)
        row = 0
        for line, cells in rows:
            if not cells and len(header) > 1:
                continue  # a blank line; where there is one column, it is an empty text
            self.line = line
            cells = cells or [""]
            if len(cells) != len(header):
                cause = (
                    "A cell that holds the separator or a line break must stand in quotation marks."
                    if is_csv
                    else "A tab-separated cell can't hold a tab or a line break; use CSV or JSONL for such texts."
                )
                raise DataError(
                    f"this row has {len(cells)} cells, but the header has {len(header)} ({', '.join(header)}). {cause}",
                    path,
                    line,
                )
            record = {name: cell for name, cell in zip(header, cells, strict=True) if name}
            yield fields.example(row, record, path, line)
            row += 1


def csv_rows(path: Path, delimiter: str | None = None, encoding: str | None = None) -> Iterator[NumberedRow]:
    """The rows of a CSV file, whose delimiter is guessed from its header unless given."""
    csv.field_size_limit(_LONGEST_CELL)
    if delimiter is None:
        first = next(read_lines(path, encoding), "")
        delimiter = ";" if ";" in first and "," not in first else ","
    rows = csv.reader(read_lines(path, encoding), delimiter=delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(f"the quoting of this row is broken ({error}). Double each \" inside a quoted cell.",
                            path, line) from error  # fmt: skip
        yield line, cells
        line = rows.line_num + 1


def csv_records(
    path: Path, needed: Sequence[str], delimiter: str | None = None, hint: str = ""
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file below its header: the line of each, and its cells by column.

    Raises where a `needed` column is not there; `hint` ends that message.
    """
    rows = csv_rows(path, delimiter)
    _, header = next(rows, (0, []))
    absent = [name for name in needed if name not in header]
    if absent:
        raise DataError(f"the header has no column {', '.join(absent)}{hint}.", path, 1)
    for line, cells in rows:
        if cells and len(cells) != len(header):
            raise DataError(f"this row has {len(cells)} cells, but the header has {len(header)}.", path, line)
        if cells:
            yield line, dict(zip(header, cells, strict=True))


def refuse_repeated(header: Sequence[str], path: Path) -> None:
    """Raises if two columns of a header have the same name."""
    twice = next((name for name, count in Counter(header).items() if count > 1 and name), None)
    if twice is not None:
        raise DataError(f"the header has the column {twice!r} twice. Rename one of them.", path, 1)
