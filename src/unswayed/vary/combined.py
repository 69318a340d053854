"""Several operators one after the other, under one name: `dialect/singapore+keyboard/typist`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar, cast

from unswayed.base.errors import UsageError
from unswayed.base.language import knows
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Stream
from unswayed.base.values import Json
from unswayed.vary.operator import Change, Operator, PromptOperator, Text

PLUS = "+"


class Combined(Operator):
    """Applies its parts in order, each to what the one before it made.

    The engine does this: each part draws from its own stream, as it does alone. So a draw of the combination is the
    last part applied to the very variant that the first part makes in that draw.
    """

    parts: ClassVar[dict[str, type[Operator]]]  # by name, in their order

    def __init__(self, made: Sequence[Operator]) -> None:
        self.made = list(made)
        self.quick = all(part.quick for part in made)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self.name, self.family, self.made)

    def change(self, text: Text, rng: Stream) -> Change | None:
        raise UsageError(f"{self.name} is applied by the engine: use `unswayed vary`, make_suite or vary_text.")

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        """The parameters of the parts. `rate` is for all parts that know it, `keyboard/adjacent:rate` for that one."""
        found: dict[str, inspect.Parameter] = {}
        for name, part in cls.parts.items():
            found |= part.parameters() | {f"{name}:{key}": known for key, known in part.parameters().items()}
        return found

    @classmethod
    def specs(cls, params: dict[str, Json]) -> list[OperatorSpec]:
        """The parts with their own parameters."""
        found = []
        for name, part in cls.parts.items():
            known = part.parameters()
            own = {key: value for key, value in params.items() if key in known}
            own |= {key[len(name) + 1 :]: value for key, value in params.items() if key.startswith(f"{name}:")}
            found.append(OperatorSpec(name, own))
        return found


def combination(name: str, parts: dict[str, type[Operator]]) -> type[Combined]:
    """The class of a combination; raises where its parts can't go together."""
    for part, cls in parts.items():
        if cls.meaning != "same":
            what = "changes the meaning, so what follows it would be measured against a false gold"
        elif issubclass(cls, PromptOperator) or cls.pool:
            what = "varies the prompt and not the words"
        else:
            continue
        raise UsageError(f"{part} {what}: it can't be part of {name}. Name it apart.")
    first, *others = parts.values()
    languages = first.languages
    for cls in others:
        narrow, wide = (cls, languages) if "*" in languages else (None, cls.languages)
        among = narrow.languages if narrow else languages
        languages = tuple(tag for tag in among if "*" in wide or knows(wide, tag))
    if not languages:
        raise UsageError(f"{name}: no language is known to all of its parts. See `unswayed list operators`.")
    about = {
        "__doc__": f"{', then '.join(parts)}.",
        "__module__": __name__,
        "parts": parts,
        "languages": languages,
        "people": any(cls.people for cls in parts.values()),
        "rewords": any(cls.rewords for cls in parts.values()),
        "unaltered": any(cls.unaltered for cls in parts.values()),
        "aligned": all(cls.aligned for cls in parts.values()),
        "needs": " ".join(filter(None, (cls.needs for cls in parts.values()))),
    }
    return type("Combination", (Combined,), about)


def _opened(name: str, family: str, made: Sequence[Operator]) -> Operator:
    """A combination in another process, which makes the class by its name."""
    from unswayed.vary import operators

    opened = cast(type[Combined], operators.get(name))(made)
    opened.name, opened.family = name, family
    return opened


def split_name(name: str) -> list[str]:
    """The parts of a combination's name; raises where one is named twice or none is."""
    parts = name.split(PLUS)
    if "" in parts:
        raise UsageError(f"{name!r} is not a combination of operators. Write dialect/singapore+keyboard/typist.")
    if len(set(parts)) < len(parts):
        raise UsageError(f"{name!r} names an operator twice. Use each once in a combination.")
    return parts
