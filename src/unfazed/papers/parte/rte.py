"""RTE: textual entailment as the PASCAL challenges published it, and as P̂aRTE republishes it in JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from unfazed.core import DataError, Example
from unfazed.data import Jsonl, Reader, ReadOptions, open_bytes

ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"
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
        for pair in _Parser(file).pairs():
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
        chosen = ReadOptions(inputs=("sentence1", "sentence2"), gold="gold_label", id="id", groups=("dataset", "task"))
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


class _Parser:
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
