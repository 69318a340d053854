"""NLU-ED (Liu et al., 2019): folders of `;`-separated tables whose utterances have slots as `[time : nine am]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from unfazed.core import DataError, Example
from unfazed.data import Reader, ReadOptions, csv_rows, open_bytes

_COLUMNS = ("scenario", "intent", "answer_annotation")
_SLOT = re.compile(r"\[([^\[\]:]*):([^\[\]]*)\]")


class NluEd(Reader):
    """A folder of such tables, one a file, in the order of their names. The intent is `scenario_intent`."""

    has_fields = False

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and any(_has_header(file) for file in _files(path)[:1])

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        files = _files(path)
        if not files:
            raise DataError("there is no .csv file in this folder, nor in a folder `csv` in it.", path)
        row = 0
        for self.file in files:
            for text, gold in self._rows(self.file):
                yield Example(row, "", {"text": text}, gold)
                row += 1

    def _rows(self, file: Path) -> Iterator[tuple[str, dict[str, object]]]:
        rows = csv_rows(file, ";")
        _, header = next(rows, (0, []))
        absent = [name for name in _COLUMNS if name not in header]
        if absent:
            raise DataError(f"the header has no column {', '.join(absent)}.", file, 1)
        places = [header.index(name) for name in _COLUMNS]
        for self.line, cells in rows:
            if not cells:
                continue
            if len(cells) != len(header):
                raise DataError(f"this row has {len(cells)} cells, but the header has {len(header)}.", file, self.line)
            scenario, intent, annotated = (cells[place].strip() for place in places)
            if not scenario or not intent:
                raise DataError("there is no scenario or no intent in this row.", file, self.line)
            tokens, tags = self._tagged(annotated)
            yield " ".join(tokens), {"intent": f"{scenario}_{intent}", "slots": tags}

    def _tagged(self, annotated: str) -> tuple[list[str], list[str]]:
        """Tokens and BIO tags. A mark written against a slot, as in `[person : robert],`, stays in its token."""
        text, slots, at = "", [], 0
        for found in _SLOT.finditer(annotated):
            name, value = found[1].strip(), " ".join(found[2].split())
            if not re.fullmatch(r"\S+", name) or not value:
                raise DataError(f"the slot {found[0]} has no name or no value.", self.file, self.line)
            text += annotated[at : found.start()]
            slots.append((len(text), len(text) + len(value), name))
            text += value
            at = found.end()
        text += annotated[at:]
        if "[" in text or "]" in text:
            raise DataError(f"a slot must be [name : value]; this is not: {annotated:.80}", self.file, self.line)
        if not text.strip():
            raise DataError("there is no utterance in this row.", self.file, self.line)
        return self._bio(text, slots)

    def _bio(self, text: str, slots: list[tuple[int, int, str]]) -> tuple[list[str], list[str]]:
        tokens, tags = [], []
        last = -1
        for word in re.finditer(r"\S+", text):
            inside = [i for i, (start, end, _) in enumerate(slots) if start < word.end() and word.start() < end]
            if len(inside) > 1:
                raise DataError(f"two slots share the token {word[0]!r}.", self.file, self.line)
            tokens.append(word[0])
            tags.append(f"{'I' if inside[0] == last else 'B'}-{slots[inside[0]][2]}" if inside else "O")
            last = inside[0] if inside else last
        return tokens, tags


def _files(path: Path) -> list[Path]:
    """The tables of a folder; the test set's are in a folder `csv` of it."""
    if path.is_file():
        return [path]
    return sorted(path.glob("*.csv")) or sorted(path.glob("csv/*.csv"))


def _has_header(file: Path) -> bool:
    with open_bytes(file) as lines:
        first = lines.readline(1000).decode("utf-8", "replace")
    return set(_COLUMNS) <= set(first.lstrip("\ufeff").strip().split(";"))
