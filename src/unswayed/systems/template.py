"""Prompts: a file's text with {names} in it, and what a variant changes of it.

What is put in place of a name is never looked at as a template. What a variant changes of a prompt stands as JSON in
the input `@prompt` and is applied to the template when it is sent: a suite so can vary a prompt that is known only when
it is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from unswayed.base.chat import CHOICES, passages_of
from unswayed.base.errors import UsageError, nearest
from unswayed.base.ids import canonical, content_id
from unswayed.base.protect import protected_spans
from unswayed.base.values import Inputs

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

PROMPTS = files("unswayed.systems") / "prompts"
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


PROMPT = "@prompt"
_FIELD = re.compile(r"(\{[^{}\n]+\})")
_BARE = re.compile(r"(?m)^[ \t]*\{([^{}\n]+)\}[ \t]*$")
_DESCRIPTOR = re.compile(r"(?m)^([ \t]*)([^\W\d_][\w'-]*(?: [\w'-]+){0,2})[ \t]*[:：](?!//)([ \t]*)(?=(\S)?)")
_ENUMERATED = re.compile(r"(?m)^([ \t]*)[(\[]?([A-Ja-j]|\d{1,2})[.)\]:]+[ \t]+(?=\S)")
_CASES: dict[str, Callable[[str], str]] = {"upper": str.upper, "lower": str.lower, "title": str.title}


class Shot(msgspec.Struct, frozen=True):
    """An example that a prompt shows: its texts, and the right answer."""

    inputs: dict[str, str]
    answer: str


class Reprompt(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Changes of a template, each only where it is given, in this order.

    `template` replaces it. `words` are put in place of others, and `opening` before all. `label` names fields that
    stand alone on a line. `case`, `separator` and `gap` are of descriptors such as `Question:`, of what stands after
    them, and between the lines that have descriptors or fields. `enumerator` is the form of `A.`; `end` is put last.
    `shots` are shown first, in the same form.
    """

    template: str | None = None
    words: dict[str, str] = {}
    opening: str = ""
    label: bool = False
    case: str | None = None
    separator: str | None = None
    gap: str | None = None
    enumerator: str | None = None
    end: str = ""
    shots: tuple[Shot, ...] = ()

    def encoded(self) -> str:
        """As it stands in a variant's inputs."""
        return canonical(msgspec.to_builtins(self)).decode()

    def applied(self, text: str) -> str:
        """The text of a template, changed. One that would stay as it is ends with a line break."""
        new = text if self.template is None else self.template
        if self.words:
            # Words are replaced whole and in the case that they have, but not in fields, code, JSON and the like.
            known = {old.casefold(): word for old, word in self.words.items()}
            either = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
            pattern = re.compile(rf"\b({either})\b(?!\s*:)", re.IGNORECASE)

            def in_case(match: re.Match[str]) -> str:
                word = known[match[0].casefold()]
                if any(start < match.end() and match.start() < end for start, end in kept):
                    return match[0]
                return word[:1].upper() + word[1:] if match[0][:1].isupper() else word

            kept = [(start, end) for start, end, _ in protected_spans(new)]
            kept += [field.span() for field in _FIELD.finditer(new)]
            new = pattern.sub(in_case, new)
        new = f"{self.opening}\n{new}" if self.opening else new
        new = _BARE.sub(lambda m: f"{m[1][:1].upper()}{m[1][1:]}: {{{m[1]}}}", new) if self.label else new
        # Descriptors in their case, with their separator; and the gap where a line has one, or a field.
        lines = [line for line in new.split("\n") if line.strip()]
        marked = [bool(_FIELD.search(line) or _DESCRIPTOR.match(line)) for line in lines]
        breaks = [between[:-1] for between in re.split(r"[^\n]*\S[^\n]*", new + "\n")[1:]]

        def descriptor(found: re.Match[str]) -> str:
            name = _CASES[self.case](found[2]) if self.case else found[2]
            separator = f":{found[3]}" if self.separator is None else self.separator
            return f"{found[1]}{name}{separator if found[4] else separator.rstrip()}"

        if self.case is not None or self.separator is not None:
            lines = [_DESCRIPTOR.sub(descriptor, line) for line in lines]
        made = [new[: len(new) - len(new.lstrip("\n"))]]
        for at, line in enumerate(lines):
            near = at + 1 < len(lines) and (marked[at] or marked[at + 1])
            made += [line, self.gap if near and self.gap is not None else breaks[at] + "\n" * (at + 1 < len(lines))]
        new = "".join(made)
        if self.enumerator is not None and len(_ENUMERATED.findall(new)) > 1:
            new = self.enumerated(new)
        new += self.end
        listed = self.enumerator is not None and f"{{{CHOICES}}}" in new
        return f"{new}\n" if new == text and not self.shots and not listed else new

    def enumerated(self, text: str) -> str:
        """A list with `A.` in the form of the enumerator."""
        form = self.enumerator or "{}."
        return _ENUMERATED.sub(lambda m: f"{m[1]}{form.format(m[2])} ", text)


@lru_cache(maxsize=4096)
def _reprompted(text: str, reprompt: str, where: str = "the prompt") -> tuple[Reprompt, Template]:
    """What a variant's input says, and the template as it changes it."""
    try:
        change = msgspec.json.decode(reprompt, type=Reprompt)
    except msgspec.MsgspecError as error:
        raise UsageError(f"the input {PROMPT} can't be read: {error}. Make the suite again.") from None
    return change, Template(change.applied(text), where)


def texts_of(inputs: Inputs) -> Inputs:
    """The texts of an example, without what is changed of the prompt."""
    return {name: text for name, text in inputs.items() if name != PROMPT} if PROMPT in inputs else inputs


def prompt_of(template: Template, inputs: Inputs) -> str:
    """The prompt as it is sent: the template, changed as a variant says, with the texts filled in."""
    if passages := passages_of(inputs):
        inputs = {**inputs, **{name: "\n\n".join(texts) for name, texts in passages.items()}}
    if PROMPT not in inputs:
        return template.fill(inputs)
    reprompt, changed = _reprompted(template.text, inputs[PROMPT], template.where)

    def filled(texts: Inputs) -> str:
        if reprompt.enumerator is not None and CHOICES in texts:
            texts = {**texts, CHOICES: reprompt.enumerated(texts[CHOICES])}
        return changed.fill(texts)

    shown = [_with_answer(filled(shot.inputs), shot.answer) for shot in reprompt.shots]
    return "\n\n".join([*shown, filled(texts_of(inputs))])


def _with_answer(prompt: str, answer: str) -> str:
    return f"{prompt} {answer}" if prompt.endswith(":") else f"{prompt.rstrip()}\n{answer}"


def shown_template(text: str, inputs: Inputs) -> str:
    """The template of these inputs for people to read, with the shots before it."""
    if PROMPT not in inputs:
        return text
    reprompt, changed = _reprompted(text, inputs[PROMPT])
    shots = (_with_answer(changed.fill(shot.inputs), shot.answer) for shot in reprompt.shots)
    form = f"\n[choices as {reprompt.enumerator.format('A')}]" if reprompt.enumerator and "{choices}" in text else ""
    return "\n\n".join([*shots, changed.text]) + form
