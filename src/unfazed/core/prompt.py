"""Prompt templates: a file's text with {names} in it. What is put in their place is never looked at as a template."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from unfazed.core.errors import UsageError, nearest
from unfazed.core.ids import content_id

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


class Template:
    """`{premise}` stands for the text of that name, `{{` and `}}` for braces. `where` is for messages."""

    def __init__(self, text: str, where: str = "the prompt") -> None:
        self.where = where
        self.text = text
        self.id = content_id(text)
        self._pieces: list[tuple[bool, str]] = []  # is it a name?
        at = 0
        for found in _PIECE.finditer(text):
            self._pieces.append((False, text[at : found.start()]))
            at = found.end()
            if found[0] in ("{{", "}}"):
                self._pieces.append((False, found[0][0]))
            elif found[1]:
                self._pieces.append((True, found[1]))
            else:
                row = text.count("\n", 0, found.start()) + 1
                raise UsageError(
                    f"{where}, line {row}: {found[0]!r} stands alone. Write {{name}}, or {{{{ for a brace."
                )
        self._pieces.append((False, text[at:]))
        self.names = list(dict.fromkeys(piece for is_name, piece in self._pieces if is_name))

    @classmethod
    def read(cls, path: str, shipped: Path | None = None) -> Template:
        """The template in a file; where there is none, the one of that name in the folder `shipped`."""
        file = Path(path)
        if not file.exists() and shipped is not None and file.name == path and (shipped / path).is_file():
            file = shipped / path
        try:
            return cls(file.read_text(encoding="utf-8-sig").rstrip("\r\n"), str(path))
        except FileNotFoundError as error:
            own = ", ".join(sorted(f.name for f in shipped.glob("*.txt"))) if shipped else ""
            raise UsageError(
                f"There is no prompt {path}." + (f" Those that come along: {own}." if own else "")
            ) from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{path}: the prompt is not UTF-8 text ({error.reason} at byte {error.start}).") from error
        except OSError as error:
            raise UsageError(f"{path}: the prompt can't be read ({error.strerror}).") from error

    def require(self, names: Collection[str]) -> None:
        """Raises where the template wants a text that is not among these."""
        unknown = next((name for name in self.names if name not in names), None)
        if unknown is not None:
            has = ", ".join(f"{{{name}}}" for name in names) or "none"
            near = nearest(unknown, names)
            hint = f" Did you mean {{{near}}}?" if near else ""
            raise UsageError(f"{self.where}: there is no text for {{{unknown}}}.{hint} There is {has}.")

    def fill(self, texts: Mapping[str, str]) -> str:
        self.require(texts.keys())
        return "".join(texts[piece] if is_name else piece for is_name, piece in self._pieces)
