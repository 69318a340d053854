"""P̂aRTE: RTE pairs with paraphrased premises, hypotheses or both, and what five models predicted for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from unfazed.core import DataError, Example, Inputs, Variant
from unfazed.data import Reader, ReadOptions, csv_rows
from unfazed.papers.parte.rte import ENTAILED, NOT_ENTAILED

FILE = "collated_data_and_preds.csv"
SIDES = {"p": "premise", "h": "hypothesis", "ph": "both"}
_NEEDED = (
    *("original_pair_id", "original_pair_premise", "original_pair_hypothesis", "gold_label"),
    *("paraphrased_pair_id", "paraphrased_pair_premise", "paraphrased_pair_hypothesis"),
)
_BEFORE, _AFTER = "_orig_pred", "_para_pred"
_PREDICTED = {"1": ENTAILED, "1.0": ENTAILED, "0": NOT_ENTAILED, "0.0": NOT_ENTAILED, "": None}


class Row(NamedTuple):
    """A row of the CSV: an original pair, the pair that was made of it, and each model's two predictions.

    `side` is what was paraphrased: premise, hypothesis or both. A prediction that is not there is None.
    """

    line: int
    original_id: str
    original: Inputs
    id: str
    paraphrased: Inputs
    side: str
    gold: str
    groups: dict[str, str]
    predictions: dict[str, tuple[str | None, str | None]]


class Parte(Reader):
    """A folder with `collated_data_and_preds.csv`, or, with `--format-in parte`, such a file.

    An example is an original pair; its variants are those made of it, by the sources `parte/premise`,
    `parte/hypothesis` and `parte/both`. The slices are the task and the challenge that the pair comes from.
    """

    has_fields = False

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and (path / FILE).is_file()

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = _file(path)
        for number, rows in enumerate(_originals(self.file).values()):
            first = rows[0]
            self.line = first.line
            yield Example(number, first.original_id, first.original, first.gold, first.groups)

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        for number, rows in enumerate(_originals(_file(path)).values()):
            for row in rows:
                source = f"parte/{row.side}"
                yield Variant(
                    number, row.original_id, 0, source, "paraphrase", "same", row.paraphrased, row.gold, row.id
                )


def read_pairs(file: Path) -> Iterator[Row]:
    """The rows of the CSV, each checked; raises DataError with the line of the first that is wrong."""
    rows = csv_rows(file)
    _, header = next(rows, (0, []))
    absent = [name for name in _NEEDED if name not in header]
    if absent:
        raise DataError(f"the header has no column {', '.join(absent)}, so this is not P̂aRTE's table.", file, 1)
    models = [name.removesuffix(_BEFORE) for name in header if name.endswith(_BEFORE)]
    models = [model for model in models if model + _AFTER in header]
    for line, cells in rows:
        if not cells:
            continue
        if len(cells) != len(header):
            raise DataError(f"this row has {len(cells)} cells, but the header has {len(header)}.", file, line)
        yield _row(dict(zip(header, cells, strict=True)), models, file, line)


def _row(cells: Mapping[str, str], models: list[str], file: Path, line: int) -> Row:
    id, original_id, gold = cells["paraphrased_pair_id"], cells["original_pair_id"], cells["gold_label"]
    stem, _, suffix = id.rpartition("_")
    if stem != original_id or suffix not in SIDES:
        raise DataError(f"{id!r} is not {original_id!r} with _p, _h or _ph, which says what was paraphrased.", file,
                        line)  # fmt: skip
    if gold not in (ENTAILED, NOT_ENTAILED):
        raise DataError(f"gold_label must be {ENTAILED} or {NOT_ENTAILED}, not {gold!r:.40}.", file, line)
    pairs = [
        {field: cells[f"{which}_pair_{field}"] for field in ("premise", "hypothesis")}
        for which in ("original", "paraphrased")
    ]
    groups = {"task": original_id.rpartition("_")[2], "challenge": original_id.partition("_")[0]}
    predictions = {
        model: (_label(cells, model + _BEFORE, file, line), _label(cells, model + _AFTER, file, line))
        for model in models
    }
    return Row(line, original_id, pairs[0], id, pairs[1], SIDES[suffix], gold, groups, predictions)


def _label(cells: Mapping[str, str], column: str, file: Path, line: int) -> str | None:
    value = cells[column].strip()
    if value not in _PREDICTED:
        raise DataError(f"{column} must be 1, 0 or empty, not {value!r:.40}.", file, line)
    return _PREDICTED[value]


def _originals(file: Path) -> dict[str, list[Row]]:
    """The rows by original pair, in the order of the file; raises where two rows disagree about the original."""
    found: dict[str, list[Row]] = {}
    for row in read_pairs(file):
        rows = found.setdefault(row.original_id, [])
        if rows and (row.original, row.gold) != (rows[0].original, rows[0].gold):
            raise DataError(f"{row.original_id} has other texts or another label in line {rows[0].line}.", file,
                            row.line)  # fmt: skip
        if any(row.side == other.side for other in rows):
            raise DataError(f"{row.id} comes twice.", file, row.line)
        rows.append(row)
    return found


def _file(path: Path) -> Path:
    return path / FILE if path.is_dir() else path
