"""What operators there are for a language and a task, each with an example of what it does."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.language import knows
from unswayed.base.task import task_named
from unswayed.base.values import Example, Json
from unswayed.vary import operators
from unswayed.vary.engine import OperatorSpec, Variation, vary
from unswayed.vary.operator import Operator

_DRAWS = 6  # after which an operator is taken to find nothing in a sentence


class Sample(msgspec.Struct, frozen=True):
    """A text, and what an operator makes of it."""

    before: str
    after: str


class Entry(msgspec.Struct, frozen=True):
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
    example: Sample | None = None


def catalogue(language: str | None = None, task: str | None = None) -> list[Entry]:
    """Every operator that can be used for this language and task; its example is in the language, made now."""
    aligned = task is not None and task_named(task).aligned
    found = []
    for name in operators.names():
        cls = operators.get(name)
        if (language is None or knows(cls.languages, language)) and (cls.aligned or not aligned):
            found.append(_entry(name, cls, language))
    return found


def _entry(name: str, cls: type[Operator], language: str | None) -> Entry:
    needs, example = "", None
    try:
        OperatorSpec(name).make()
    except UsageError as error:
        needs = str(error).removeprefix(f"{name} needs ").partition(": ")[0].rstrip(".")
    own = Sample(*cls.example) if hasattr(cls, "example") else None
    if language is None or (needs and knows(("en",), language)):
        example = own
    elif not needs:
        example = _sample(name, language) or (own if _of(cls, language) else None)
    params = {key: _plain(param.default) for key, param in cls.parameters().items()}
    presets = [f"@{preset}" for preset in cls.presets]
    what = cls.summary()
    return Entry(name, what, cls.meaning, cls.aligned, presets, list(cls.languages), params, needs, example)


def _of(cls: type[Operator], language: str) -> bool:
    """Is the operator's own example in this language? It is in the first that the operator knows."""
    first = next((known for known in cls.languages if known != "*"), "en")
    return knows((first,), language)


def _sample(name: str, language: str) -> Sample | None:
    """What the operator makes of a sentence of the language, or None if there is none or its words stay."""
    text = _sentences().get(language) or _sentences().get(language.partition("-")[0])
    if text is None:
        return None
    variation = Variation(operators=(OperatorSpec(name),), task="text", language=language, draws=_DRAWS)
    try:
        variants = vary([Example(0, "sentence", {"text": text})], variation)
        made = next((variant for variant in variants if variant.inputs["text"] != text), None)
    except UsageError:  # it takes more than one text, as worked examples do
        return None
    return None if made is None or made.inputs["text"] == text else Sample(text, made.inputs["text"])


@cache
def _sentences() -> dict[str, str]:
    return tomllib.loads((files("unswayed.vary") / "sentences.toml").read_text("utf-8"))


def _plain(value: object) -> Json:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
