"""*Extract*: the part of an answer that is compared, named by a text such as `number` or `after:Answer:`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from queue import Empty, Queue
from threading import Thread

import msgspec

from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.base.ids import canonical
from unswayed.base.json import decode
from unswayed.base.values import Json

Extract = Callable[[Json], Json]  # None where the part is not there
EXTRACTS = ("number", "choice", "json", "regex:", "last-line", "after:", "none")
REGEX_SECONDS = 10.0  # that a regular expression may take for one answer
_MAX_KNOWN = 10_000  # answers whose matches are remembered

_NUMBER = re.compile(
    r"(?<![\w.,/])[-+−]?(?:[$€£¥]\s?)?"
    r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+,\d{1,2}(?![\d,])|\d*\.?\d+(?:[eE][-+]?\d+)?)(?:\s?/\s?(\d+)(?![\d/]))?"
)
_FINAL_MARK = "####"
_LETTER = r"[\(\[*_`]*\s*([A-J])\s*[\)\]*_`]*"
_CHOICES = (
    re.compile(rf"(?i:answer|choice|option)(?:\s+(?i:is|would be))?\s*[:=]?\s*(?i:option\s+)?{_LETTER}(?![\w'])"),
    re.compile(r"(?i:answer|choice|option)(?:\s+(?i:is|would be))?\s*[:=]?\s*\(?([a-j])\)?[.]?\s*$"),
    re.compile(rf"\s*{_LETTER}(?:[\).:,;\]]|\s*$|\s+[-–])"),
    re.compile(r"[\(\[]([A-J])[\)\]]"),
    re.compile(r"(?<![\w'])([A-J])\W*$"),
    re.compile(r"(?<![\w'])([B-HJ])(?![\w'])"),
)


_AT_START = _CHOICES[2]


def extract_named(spec: str) -> Extract:
    """What a spec names. Raises UsageError where it names nothing."""
    name, _, rest = spec.partition(":")
    if spec in ("", "none"):
        return lambda value: value
    if spec == "number":
        return lambda value: number_in(text_of(value))
    if spec == "choice":
        return lambda value: _choice_in(text_of(value))
    if spec == "last-line":
        return lambda value: next(
            (line.strip() for line in reversed(text_of(value).splitlines()) if line.strip()), None
        )
    if name == "json" or spec.startswith("json."):
        return JsonPath(spec.removeprefix("json").removeprefix("."))
    if name == "regex" and rest:
        search = BoundedRegex(rest)
        return lambda value: search(text_of(value))
    if name == "after" and rest:

        def text_after(value: Json) -> Json:
            text = text_of(value)
            folded = text.casefold()  # whose places are those of the text only where no letter became two
            at = folded.rfind(rest.casefold()) if len(folded) == len(text) else text.rfind(rest)
            return text[at + len(rest) :].strip() if at >= 0 else None

        return text_after
    if name in ("after", "regex"):
        raise UsageError(f"{option('extract')} {name} needs something after the colon, as in {name}:answer.")
    raise UnknownName(f"part to {option('extract')}", spec, EXTRACTS)


def text_of(value: Json) -> str:
    """An answer as text: of a message its content, of anything else that is not text its JSON."""
    if isinstance(value, dict):
        for name in ("content", "text", "answer"):
            if isinstance(value.get(name), str):
                return str(value[name])
    if isinstance(value, str):
        return value
    return "" if value is None else canonical(value).decode()


def number_in(text: str) -> str | None:
    """The number after `####`, or else the last one: `The answer is 7.` has 7. Equal numbers give equal texts."""
    marked = text.rpartition(_FINAL_MARK)[2] if _FINAL_MARK in text else text
    found = list(_NUMBER.finditer(marked)) or list(_NUMBER.finditer(text))
    if not found:
        return None
    last = found[0] if _FINAL_MARK in text and marked != text else found[-1]
    digits = last[1]
    digits = digits.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits) else digits.replace(",", ".")
    value = Fraction(digits) / (int(last[2]) if last[2] and int(last[2]) else 1)
    value = -value if last[0][:1] in "-−" else value
    # As people write it: 7, 0.5, and 1/3 where no decimal is exact.
    rest = value.denominator
    while rest % 2 == 0 or rest % 5 == 0:
        rest //= 2 if rest % 2 == 0 else 5
    if rest != 1 or not 1 < value.denominator <= 10**15:
        return str(value)
    return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


def _choice_in(text: str) -> str | None:
    """The letter of a choice: after the word answer, at the start, in brackets, or standing alone."""
    for pattern in _CHOICES:
        found = [pattern.match(text)] if pattern is _AT_START else list(pattern.finditer(text))
        if found and (match := found[-1]):
            return match[1].upper()
    return None


class JsonPath:
    """The value at a path such as `a.0.b` of the JSON in an answer, with or without words or a fence around it."""

    def __init__(self, path: str) -> None:
        self._steps = [step for step in path.split(".") if step]

    def __call__(self, value: Json) -> Json:
        if isinstance(value, str):
            value = json_in_words(value)
        for step in self._steps:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value


def json_in_words(text: str) -> Json:
    """The JSON that a text is, or else the last fenced or bracketed part that is JSON; None where there is none."""
    fenced = re.findall(r"```\w*\n(.*?)```", text, re.S)
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    ends = max(text.rfind("}"), text.rfind("]")) + 1
    for part in (text, *reversed(fenced), *(text[at:ends] for at in sorted(starts))):
        try:
            return decode(part)
        except msgspec.DecodeError:
            continue
    return None


_REGEX_PROGRAM = """
import json, re, sys
pattern = re.compile(json.loads(sys.stdin.readline()), re.S)
for line in sys.stdin:
    found = pattern.search(json.loads(line))
    print(json.dumps(None if found is None else found[1 if pattern.groups else 0]), flush=True)
"""


class BoundedRegex:
    """The first group, or else the whole match, of a regular expression.

    It is searched for in a process of its own: a pattern with nested repeats may take for ever, and Python can't stop
    that in the same process.
    """

    def __init__(self, pattern: str) -> None:
        self._child: subprocess.Popen[str] | None = None
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(f"{option('extract')} regex:{pattern} is not a regular expression: {error}.") from error
        self.pattern = pattern
        self._known: dict[str, str | None] = {}

    def __call__(self, text: str) -> str | None:
        if text in self._known:
            return self._known[text]
        if self._child is None or self._child.poll() is not None:
            command = [sys.executable, "-I", "-c", _REGEX_PROGRAM]
            self._child = child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
            self._lines = lines = Queue[str]()

            def read() -> None:
                assert child.stdout is not None
                for line in child.stdout:
                    lines.put(line)

            self._reader = Thread(target=read, daemon=True)
            self._reader.start()
            self._write(self.pattern)
        self._write(text)
        try:
            answer = self._lines.get(timeout=REGEX_SECONDS)
        except Empty:
            self.close()
            raise UsageError(
                f"{option('extract')} regex:{self.pattern} takes more than {REGEX_SECONDS:g} seconds on one answer, "
                f"{text!r:.60}. Write it without a repeat inside a repeat."
            ) from None
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        self._known[text] = decode(answer) if answer else None
        return self._known[text]

    def _write(self, text: str) -> None:
        import json  # which escapes lone surrogates and line breaks

        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(text) + "\n")
        self._child.stdin.flush()

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._reader.join()
            with suppress(OSError):  # what was not sent can't be flushed
                self._child.__exit__(None, None, None)
            self._child = None

    def __del__(self) -> None:
        self.close()
