"""The list of all operators: what each does, for which languages and tasks, and an example.

Our own are listed from `catalogue.json`, which `make docs` writes: that takes a tenth of the time. If what is
said of operators has changed since, they are imported instead.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from itertools import chain
from zlib import crc32

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.language import knows
from unswayed.base.options import OperatorSpec
from unswayed.base.task import task_named
from unswayed.base.values import Example, Json
from unswayed.vary import operators

_DRAWS = 6  # after which an operator is taken to find nothing in a sentence
_FOLDER = files("unswayed.vary")
# First lines of classes and of what is said of them, their parameters, and the tuples that they share.
_LISTED = re.compile(
    rb"(?m)^(?:class |[A-Z]+ = \(|    (?:languages|meaning|aligned|presets|example) |    def __init__|    \"\"\").*"
)


class BeforeAfter(msgspec.Struct, frozen=True):
    """A text, and what an operator makes of it."""

    before: str
    after: str


class OperatorEntry(msgspec.Struct, frozen=True):
    """An operator as it is listed. `needs` is what it can't do without, such as a server; `labels`, whether it keeps
    the labels of words and spans."""

    name: str
    what: str
    meaning: str
    labels: bool
    presets: list[str]
    languages: list[str]
    parameters: dict[str, Json]
    needs: str = ""
    example: BeforeAfter | None = None


class StoredCatalogue(msgspec.Struct, frozen=True):
    """The entries of our own operators, and the check sum of what they were made from."""

    sources: int
    entries: list[OperatorEntry]


def catalogue(language: str | None = None, task: str | None = None) -> list[OperatorEntry]:
    """Every operator that can be used for this language and task; its example is in the language, made now."""
    aligned = task is not None and task_named(task).aligned
    own = {entry.name: entry for entry in _stored_entries() if operators.is_own(entry.name)}
    found = []
    for name in operators.names():
        entry = own[name] if name in own else entry_of(name)
        if (language is not None and not knows(entry.languages, language)) or (aligned and not entry.labels):
            continue
        if language is not None and not (entry.needs and knows(("en",), language)):
            first = next((known for known in entry.languages if known != "*"), "en")  # in which its own example is
            example = entry.example if knows((first,), language) else None
            example = None if entry.needs else _sample(name, language) or example
            entry = msgspec.structs.replace(entry, example=example)
        found.append(entry)
    return found


def entry_of(name: str) -> OperatorEntry:
    """An operator's entry with its own example, from its class."""
    from unswayed.vary.engine import make_operator
    from unswayed.vary.operator import plain

    cls, needs = operators.get(name), ""
    try:
        make_operator(OperatorSpec(name))
    except UsageError as error:
        needs = str(error).removeprefix(f"{name} needs ").partition(": ")[0].rstrip(".")
    example = BeforeAfter(*cls.example) if hasattr(cls, "example") else None
    params = {key: plain(param.default) for key, param in cls.parameters().items() if key != "protect"}
    presets, languages = [f"@{preset}" for preset in cls.presets], list(cls.languages)
    return OperatorEntry(name, cls.summary(), cls.meaning, cls.aligned, presets, languages, params, needs, example)


def sources_sum() -> int:
    """The check sum of what sources in this folder say of operators; 0 in an installation without sources."""
    folders = [folder for folder in _FOLDER.iterdir() if folder.is_dir()]
    inside = chain.from_iterable(folder.iterdir() for folder in (_FOLDER, *folders))
    sources = sorted((file.name, file.read_bytes()) for file in inside if file.name.endswith(".py"))
    return crc32(b"\0".join(line for _, text in sources for line in _LISTED.findall(text))) if sources else 0


def _stored_entries() -> list[OperatorEntry]:
    try:
        stored = msgspec.json.decode((_FOLDER / "catalogue.json").read_bytes(), type=StoredCatalogue)
    except FileNotFoundError:
        return []
    return stored.entries if sources_sum() in (stored.sources, 0) else []


def _sample(name: str, language: str) -> BeforeAfter | None:
    """What the operator makes of a sentence of the language, or None if there is none or its words stay."""
    from unswayed.vary.engine import Variation, vary

    text = _sentences().get(language) or _sentences().get(language.partition("-")[0])
    if text is None:
        return None
    variation = Variation(operators=(OperatorSpec(name),), task="text", language=language, draws=_DRAWS)
    try:
        variants = vary([Example(0, "sentence", {"text": text})], variation)
        made = next((variant.inputs["text"] for variant in variants if variant.inputs["text"] != text), None)
    except UsageError:  # it takes more than one text, as worked examples do
        return None
    return None if made is None else BeforeAfter(text, made)


@cache
def _sentences() -> dict[str, str]:
    return tomllib.loads((_FOLDER / "sentences.toml").read_text("utf-8"))
