"""Prompt templates: a file's text with {names} in it. What is put in their place is never looked at as a template."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from unswayed.base.errors import UsageError, nearest
from unswayed.base.ids import content_id

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}\n]+)\}")
_LITERAL = re.compile(r"\{([^{}\n]+)\}")
_NAME = re.compile(r"\s*[^\W\d][\w \-]*\s*")  # what is meant as a name: not JSON, not a list
_PART = re.compile(r"\s*(\w+)\s*[.:!\[]")  # as Python writes a part of a text, which a template has not


class Template:
    """`{premise}` stands for the text of that name. Other braces, as in `{"answer": 1}`, are text.

    In a template that has `{{`, that and `}}` stand for single braces. `where` is for messages.
    """

    def __init__(self, text: str, where: str = "the prompt") -> None:
        self.where = where
        self.text = text
        self.id = content_id(text)
        self._pieces: list[tuple[bool, str]] = []  # may it be a name?
        at = 0
        for found in (_PIECE if "{{" in text else _LITERAL).finditer(text):
            self._pieces.append((False, text[at : found.start()]))
            at = found.end()
            self._pieces.append((True, found[1]) if found[1] else (False, found[0][0]))
        self._pieces.append((False, text[at:]))
        self._braced = dict.fromkeys(piece for may_be_name, piece in self._pieces if may_be_name)
        self.names = [name for name in self._braced if _NAME.fullmatch(name)]

    def has(self, name: str) -> bool:
        """Is there a place for the text of that name?"""
        return name in self._braced

    @classmethod
    def read(cls, path: str, shipped: Traversable | None = None) -> Template:
        """The template in a file; where there is none, the one of that name in the folder `shipped`."""
        file: Traversable = Path(path)
        if not Path(path).exists() and shipped is not None and file.name == path and (shipped / path).is_file():
            file = shipped / path
        try:
            return cls(file.read_text(encoding="utf-8-sig").rstrip("\r\n"), str(path))
        except FileNotFoundError as error:
            own = ", ".join(sorted(f.name for f in shipped.iterdir() if f.name.endswith(".txt"))) if shipped else ""
            raise UsageError(f"There is no prompt {path}." + (f" Bundled prompts: {own}." if own else "")) from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{path}: the prompt is not UTF-8 text ({error.reason} at byte {error.start}).") from error
        except OSError as error:
            raise UsageError(f"{path}: the prompt can't be read ({error.strerror}).") from error

    def require(self, names: Collection[str]) -> None:
        """Raises where the template wants a text that is not among these."""
        parts = (name for name in self._braced if (part := _PART.match(name)) and part[1] in names)
        unknown = next((name for name in (*self.names, *parts) if name not in names), None)
        if unknown is not None:
            has = ", ".join(f"{{{name}}}" for name in names) or "none"
            near = nearest(unknown.strip(), names)
            hint = f" Did you mean {{{near}}}?" if near else ""
            row = self.text[: self.text.index(f"{{{unknown}}}")].count("\n") + 1
            raise UsageError(
                f"{self.where}, line {row}: there is no text for {{{unknown}}}.{hint} There is {has}. "
                f"To write braces as they are, double them: {{{{{unknown}}}}}."
            )

    def fill(self, texts: Mapping[str, str]) -> str:
        self.require(texts.keys())
        return "".join(texts.get(piece, f"{{{piece}}}") if braced else piece for braced, piece in self._pieces)
