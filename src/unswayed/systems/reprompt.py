"""What a variant changes of a prompt: JSON in the input `@prompt`, which is applied to the template when it is sent.

A suite so can vary a prompt that is known only when it is run. Nothing here looks into the texts that are filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import msgspec

from unswayed.base.choices import CHOICES
from unswayed.base.errors import UsageError
from unswayed.base.ids import canonical
from unswayed.base.values import Inputs
from unswayed.systems.template import Template

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
        new = _outside_fields(new, lambda part: _replaced(part, self.words)) if self.words else new
        new = f"{self.opening}\n{new}" if self.opening else new
        new = _BARE.sub(lambda m: f"{m[1][:1].upper()}{m[1][1:]}: {{{m[1]}}}", new) if self.label else new
        new = self._laid_out(new)
        if self.enumerator is not None and len(_ENUMERATED.findall(new)) > 1:
            new = self.enumerated(new)
        new += self.end
        listed = self.enumerator is not None and f"{{{CHOICES}}}" in new
        return f"{new}\n" if new == text and not self.shots and not listed else new

    def _laid_out(self, text: str) -> str:
        """Descriptors in their case, with their separator; and the gap where a line has one, or a field."""
        lines = [line for line in text.split("\n") if line.strip()]
        marked = [bool(_FIELD.search(line) or _DESCRIPTOR.match(line)) for line in lines]
        breaks = [between[:-1] for between in re.split(r"[^\n]*\S[^\n]*", text + "\n")[1:]]
        if self.case is not None or self.separator is not None:
            lines = [_DESCRIPTOR.sub(self._descriptor, line) for line in lines]
        made = []
        for at, line in enumerate(lines):
            near = at + 1 < len(lines) and (marked[at] or marked[at + 1])
            made += [line, self.gap if near and self.gap is not None else breaks[at] + "\n" * (at + 1 < len(lines))]
        return text[: len(text) - len(text.lstrip("\n"))] + "".join(made)

    def _descriptor(self, found: re.Match[str]) -> str:
        name = _CASES[self.case](found[2]) if self.case else found[2]
        separator = f":{found[3]}" if self.separator is None else self.separator
        return f"{found[1]}{name}{separator if found[4] else separator.rstrip()}"

    def enumerated(self, text: str) -> str:
        """A list with `A.` in the form of the enumerator."""
        form = self.enumerator or "{}."
        return _ENUMERATED.sub(lambda m: f"{m[1]}{form.format(m[2])} ", text)


def _outside_fields(text: str, change: Callable[[str], str]) -> str:
    parts = _FIELD.split(text)
    return "".join(part if at % 2 else change(part) for at, part in enumerate(parts))


def _replaced(text: str, words: dict[str, str]) -> str:
    """Words replaced by others, whole and in the case that they have."""
    known = {old.casefold(): new for old, new in words.items()}
    found = re.compile(
        r"\b(" + "|".join(map(re.escape, sorted(known, key=len, reverse=True))) + r")\b(?!\s*:)", re.IGNORECASE
    )

    def other(match: re.Match[str]) -> str:
        new = known[match[0].casefold()]
        return new[:1].upper() + new[1:] if match[0][:1].isupper() else new

    return found.sub(other, text)


@lru_cache(maxsize=4096)
def _read(text: str) -> Reprompt:
    try:
        return msgspec.json.decode(text, type=Reprompt)
    except msgspec.MsgspecError as error:
        raise UsageError(f"the input {PROMPT} can't be read: {error}. Make the suite again.") from None


@lru_cache(maxsize=4096)
def _template(text: str, reprompt: str, where: str) -> Template:
    return Template(_read(reprompt).applied(text), where)


def texts_of(inputs: Inputs) -> Inputs:
    """The texts of an example, without what is changed of the prompt."""
    return {name: text for name, text in inputs.items() if name != PROMPT} if PROMPT in inputs else inputs


def template_for(template: Template, inputs: Inputs) -> Template:
    """The template that these inputs are put into."""
    return _template(template.text, inputs[PROMPT], template.where) if PROMPT in inputs else template


def prompt_of(template: Template, inputs: Inputs) -> str:
    """The prompt as it is sent: the template, changed as a variant says, with the texts filled in."""
    if PROMPT not in inputs:
        return template.fill(inputs)
    reprompt, changed, texts = _read(inputs[PROMPT]), template_for(template, inputs), texts_of(inputs)

    def filled(texts: Inputs) -> str:
        if reprompt.enumerator is not None and CHOICES in texts:
            texts = {**texts, CHOICES: reprompt.enumerated(texts[CHOICES])}
        return changed.fill(texts)

    shown = [_answered(filled(shot.inputs), shot.answer) for shot in reprompt.shots]
    return "\n\n".join([*shown, filled(texts)])


def _answered(prompt: str, answer: str) -> str:
    return f"{prompt} {answer}" if prompt.endswith(":") else f"{prompt.rstrip()}\n{answer}"


def shown_template(text: str, inputs: Inputs) -> str:
    """The template of these inputs for people to read, with the shots before it."""
    if PROMPT not in inputs:
        return text
    reprompt, changed = _read(inputs[PROMPT]), Template(_read(inputs[PROMPT]).applied(text))
    shots = (_answered(changed.fill(shot.inputs), shot.answer) for shot in reprompt.shots)
    form = f"\n[choices as {reprompt.enumerator.format('A')}]" if reprompt.enumerator and "{choices}" in text else ""
    return "\n\n".join([*shots, changed.text]) + form
