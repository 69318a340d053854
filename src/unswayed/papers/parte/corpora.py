"""P̂aRTE's table of predictions, and the RTE challenges that it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from unswayed.base import DataError, Example, Inputs, Variant
from unswayed.data import Jsonl, Reader, ReadOptions, csv_records, open_bytes
from unswayed.papers.parte.candidates import ENTAILED, NOT_ENTAILED, by_original

FILE = "collated_data_and_preds.csv"
SIDES = {"p": "premise", "h": "hypothesis", "ph": "both"}
_NEEDED = (
    *("original_pair_id", "original_pair_premise", "original_pair_hypothesis", "gold_label"),
    *("paraphrased_pair_id", "paraphrased_pair_premise", "paraphrased_pair_hypothesis"),
)
_BEFORE, _AFTER = "_orig_pred", "_para_pred"
_PREDICTED = {"1": ENTAILED, "1.0": ENTAILED, "0": NOT_ENTAILED, "0.0": NOT_ENTAILED, "": None}


class PredictedPair(NamedTuple):
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


class ParteReader(Reader):
    """A folder with `collated_data_and_preds.csv`, or, with `--format-in parte`, such a file.

    `--format-in parte` also reads `RTE_test_paraphrased.jsonl`, which has all of the good paraphrases of a pair.

    An example is an original pair; its variants are those made of it, by the sources `parte/premise`,
    `parte/hypothesis` and `parte/both`. The slices are the task and the challenge that the pair comes from.
    """

    has_fields = False
    language = "en"

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and (path / FILE).is_file()

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = _file(path)
        if self.file.suffix == ".jsonl":
            for number, (pair, _) in enumerate(by_original(self.file)):
                self.line = pair.line
                yield Example(number, pair.original_id, pair.inputs, pair.gold, pair.groups)
            return
        for number, rows in enumerate(_originals(self.file).values()):
            first = rows[0]
            self.line = first.line
            yield Example(number, first.original_id, first.original, first.gold, first.groups)

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        if path.suffix == ".jsonl":
            for number, (original, made) in enumerate(by_original(path)):
                for draw, pair in made:
                    source = f"parte/{pair.side}"
                    yield Variant(number, original.original_id, draw, source, "paraphrase", "same", pair.inputs,
                                  pair.gold, pair.made_of)  # fmt: skip
            return
        for number, rows in enumerate(_originals(_file(path)).values()):
            for row in rows:
                source = f"parte/{row.side}"
                yield Variant(
                    number, row.original_id, 0, source, "paraphrase", "same", row.paraphrased, row.gold, row.id
                )


def read_pairs(file: Path) -> Iterator[PredictedPair]:
    """The rows of the CSV, each checked; raises DataError with the line of the first that is wrong."""
    for line, cells in csv_records(file, _NEEDED, hint=", so this is not P̂aRTE's table"):
        models = [name.removesuffix(_BEFORE) for name in cells if name.endswith(_BEFORE)]
        yield _row(cells, [model for model in models if model + _AFTER in cells], file, line)


def _row(cells: Mapping[str, str], models: list[str], file: Path, line: int) -> PredictedPair:
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
    return PredictedPair(line, original_id, pairs[0], id, pairs[1], SIDES[suffix], gold, groups, predictions)


def _label(cells: Mapping[str, str], column: str, file: Path, line: int) -> str | None:
    value = cells[column].strip()
    if value not in _PREDICTED:
        raise DataError(f"{column} must be 1, 0 or empty, not {value!r:.40}.", file, line)
    return _PREDICTED[value]


def _originals(file: Path) -> dict[str, list[PredictedPair]]:
    """The rows by original pair, in the order of the file; raises where two rows disagree about the original."""
    found: dict[str, list[PredictedPair]] = {}
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


_LABELS = {"TRUE": ENTAILED, "FALSE": NOT_ENTAILED, "YES": ENTAILED, "NO": NOT_ENTAILED}
_LABELS |= {"UNKNOWN": NOT_ENTAILED}  # RTE3's three-way labels
_GROUPS = ("task", "length")
_ROOT = b"<entailment-corpus"
_PIECE = 1 << 16


class Rte(Reader):
    """An XML file of RTE 1 to 3, or a folder of them; `--format-in rte` also reads P̂aRTE's `RTE_dev.jsonl`.

    Labels are `entailed` and `not_entailed`, texts `premise` and `hypothesis`.
    """

    has_fields = False
    language = "en"

    def accepts(self, path: Path) -> bool:
        return any(_is_rte(file) for file in (_files(path)[:1] if path.is_dir() else [path]))

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        files = _files(path) if path.is_dir() else [path]
        if not files:
            raise DataError("there is no .xml file in this folder.", path)
        row = 0
        for self.file in files:
            rows = self._xml(self.file) if self.file.suffix.lower() == ".xml" else self._jsonl(self.file)
            for id, texts, label, groups in rows:
                inputs = dict(zip(("premise", "hypothesis"), texts, strict=True))
                yield Example(row, id, inputs, label, groups)
                row += 1

    def _xml(self, file: Path) -> Iterator[tuple[str, tuple[str, str], str, dict[str, str]]]:
        for pair in _RteParser(file).pairs():
            self.line = pair["line"]
            stated = pair.get("entailment") or pair.get("value")
            label = _LABELS.get(str(stated).upper())
            if label is None or "id" not in pair:
                raise DataError(f"a pair needs an id and a label such as YES or TRUE, not {stated!r}.", file, self.line)
            missing = next((name for name in ("t", "h") if name not in pair), None)
            if missing:
                raise DataError(f"the pair {pair['id']} has no <{missing}>.", file, self.line)
            groups = {name: pair[name] for name in _GROUPS if name in pair}
            challenge = {"challenge": f"RTE{pair['challenge']}"} if "challenge" in pair else {}
            yield f"{file.stem}_{pair['id']}", (pair["t"], pair["h"]), label, {**groups, **challenge}

    def _jsonl(self, file: Path) -> Iterator[tuple[str, tuple[str, str], str, dict[str, str]]]:
        reader = Jsonl()
        chosen = ReadOptions(input=("sentence1", "sentence2"), gold="gold_label", id="id", groups=("dataset", "task"))
        for example in reader.read(file, chosen):
            self.line = reader.line
            if not isinstance(example.gold, bool):
                raise DataError(f"gold_label must be true or false, not {example.gold!r:.40}.", file, self.line)
            named = {
                "task": example.groups.get("task"),
                "challenge": example.groups.get("dataset", "").partition("_")[0],
            }
            groups = {name: value for name, value in named.items() if value}
            texts = example.inputs["sentence1"], example.inputs["sentence2"]
            yield example.id, texts, ENTAILED if example.gold else NOT_ENTAILED, groups


class _RteParser:
    """Reads pairs piece by piece. Entities that a file declares itself are refused, as they can grow without end."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: list[dict[str, Any]] = []
        self._pair: dict[str, Any] = {}
        self._text: list[str] | None = None
        self._challenge: dict[str, str] = {}
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def pairs(self) -> Iterator[dict[str, Any]]:
        with open_bytes(self._file) as content:
            while True:
                piece = content.read(_PIECE)
                try:
                    self._parser.Parse(piece, not piece)
                except expat.ExpatError as error:
                    told = f"this is not valid XML: {expat.ErrorString(error.code)} at column {error.offset + 1}."
                    raise DataError(told, self._file, error.lineno) from error
                except (LookupError, ValueError) as error:  # of the encoding that the first line names
                    raise DataError(f"this can't be decoded: {error}.", self._file, 1) from error
                yield from self._found
                self._found = []
                if not piece:
                    return

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "entailment-corpus":
            self._challenge = {k: v for k, v in attributes.items() if k == "challenge"}
        elif name == "pair":
            self._pair = {**attributes, **self._challenge, "line": self._parser.CurrentLineNumber}
        elif name in ("t", "h"):
            self._text = []

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        if name in ("t", "h") and self._text is not None:
            self._pair[name] = " ".join("".join(self._text).split())
            self._text = None
        elif name == "pair":
            self._found.append(self._pair)

    def _entity(self, name: str, *_: object) -> None:
        raise DataError(f"the file declares the entity {name!r}, which is not read.", self._file,
                        self._parser.CurrentLineNumber)  # fmt: skip


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xml"))


def _is_rte(file: Path) -> bool:
    if not file.is_file() or file.suffix.lower() != ".xml":
        return False
    with open_bytes(file) as content:
        return _ROOT in content.read(4096)
