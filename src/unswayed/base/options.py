"""Options as fields of plain structs: declared once, with their help, their check and their default.

The command line, plans in TOML, keywords in Python and the reference page are all made from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, wraps
from inspect import signature
from math import isfinite
from os import PathLike, fspath
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta
from msgspec.inspect import Metadata, type_info

from unswayed.base.chat import Turn
from unswayed.base.errors import UsageError, nearest, option
from unswayed.base.values import Json

Part = TypeVar("Part", bound=msgspec.Struct)
Whole = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
_MAX = 1e300  # so that infinity is none
Positive = Annotated[float, Meta(gt=0, le=_MAX)]
Share = Annotated[float, Meta(ge=0, le=1)]
P = ParamSpec("P")
R = TypeVar("R")
_KINDS = {
    "BoolType": "bool", "IntType": "int", "FloatType": "float", "LiteralType": "choice", "VarTupleType": "list",
    "DictType": "dict",
}  # fmt: skip
_EXPECTED = {"bool": "true or false", "list": "a text or a list of texts", "dict": "a table of names and values"}


def doc(help: str, flag: str = "", metavar: str = "", **more: Any) -> Meta:
    """What is known of an option: `Annotated[Count | None, doc("Run on N examples.", metavar="N")]`.

    `flag` is its name at the command line, where it is not the field's. `more` may be:

    - `shown`: the default, as help shows it. `expects`: what a value must be, where its type does not say it.
    - `pairs`: the marks between a name and its number in texts such as `worst=0.6`.
    - `commas`: a text is a list with commas. `column`: a whole number is the name of a column.
    """
    return Meta(description=help, extra={"flag": flag, "metavar": metavar, **more})


class Option(NamedTuple):
    """A field of a plan as callers know it."""

    path: tuple[str, ...]  # such as ("measure", "level")
    kind: str  # of its values: bool, int, float, str, choice, list or dict
    default: Any
    help: str
    more: Mapping[str, Any]
    choices: tuple[str, ...]
    number: Any  # the type of its numbers, with their bounds
    type: Any  # of the field, as msgspec converts values to it

    @property
    def flag(self) -> str:
        """Its name at the command line."""
        name = self.path[-1].replace("_", "-")
        return str(self.more.get("flag") or (f"--no-{name}" if self.default is True else f"--{name}"))

    @property
    def expects(self) -> str:
        """What a value must be."""
        if told := self.more.get("expects"):
            return str(told)
        if self.choices:
            return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        if self.number is None:
            return _EXPECTED.get(self.kind, "a text")
        n, what = self.number, "a whole number" if self.kind == "int" else "a number"
        if n.ge is not None or n.gt is not None:
            low = f" above {n.gt:g}" if n.ge is None else f" of {n.ge:g} or more"
            high = n.lt if n.le is None else n.le
            return what + (low if high in (None, _MAX) else f" between {n.gt if n.ge is None else n.ge:g} and {high:g}")
        return what

    def as_plan(self, value: object) -> str:
        """How it is given in Python: `plan={"measure": {"level": 0.9}}`."""
        text = value if isinstance(value, str) and value == "…" else repr(value)
        for name in reversed(self.path):
            text = f'{{"{name}": {text}}}'
        return f"plan={text}"


@cache
def options_of(struct: type[msgspec.Struct]) -> dict[tuple[str, ...], Option]:
    """Every option in a struct and in the structs inside it, by path."""
    found: dict[tuple[str, ...], Option] = {}
    hints, defaults = get_type_hints(struct, include_extras=True), struct()
    for name in struct.__struct_fields__:
        hint, default = hints[name], getattr(defaults, name)
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            found |= {(name, *path): o._replace(path=(name, *path)) for path, o in options_of(hint).items()}
            continue
        waiting, parts, about = [type_info(hint)], list[Any](), None
        while waiting:  # optional values and notes lie around the type of a value
            part: Any = waiting.pop()
            if isinstance(part, Metadata):
                about = part if part.extra is not None else about
                waiting.append(part.type)
            else:
                (waiting if hasattr(part, "types") else parts).extend(getattr(part, "types", [part]))
        if about is not None:
            kinds = {
                _KINDS.get(type(part).__name__, "str"): part for part in parts if type(part).__name__ != "NoneType"
            }
            kind = next(kind for kind in ("dict", "list", *kinds) if kind in kinds)
            number = kinds.get("int", kinds.get("float"))
            help = str((about.extra_json_schema or {})["description"])
            choices = tuple(literal_values(hint))
            found[(name,)] = Option((name,), kind, default, help, about.extra or {}, choices, number, hint)
    return found


def literal_values(hint: Any) -> list[str]:
    """The texts that a type lists as `Literal`, in their order."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [value for part in get_args(hint) for value in literal_values(part)]


def with_values(
    plan: Part, values: Mapping[str, Any], spell: Callable[[Option], str], above: tuple[str, ...] = ()
) -> Part:
    """The plan with values by name, or by section and name; None leaves what is there.

    `spell` gives an option's name in messages. Raises UsageError where a name or a value is wrong.
    """
    known, names = options_of(type(plan)), plan.__struct_fields__
    changed: dict[str, Any] = {}
    for name, value in values.items():
        if name not in names:
            what = f"option of {'.'.join(above)}" if above else "section of a plan"
            near = nearest(str(name), names)
            how = f"Did you mean {near!r}?" if near else f"Known: {', '.join(names)}."
            if not above and (home := next((o for o in known.values() if o.path[-1] == name), None)):
                how = f"It belongs to {home.path[0]}."
            raise UsageError(f"There is no {what} named {name!r}. {how}")
        inner = getattr(plan, name)
        if value is None or value is inner:
            continue
        if not isinstance(inner, msgspec.Struct):
            changed[name] = converted(value, known[(name,)]._replace(path=(*above, name)), spell)
        elif isinstance(value, type(inner)):
            changed[name] = value
        elif isinstance(value, Mapping):
            changed[name] = with_values(inner, value, spell, (*above, name))
        else:
            whole, kind = ".".join((*above, name)), type(inner).__name__
            raise UsageError(f"{whole} must be a table of options, or {kind}(…), not {value!r:.80}.")
    return msgspec.structs.replace(plan, **changed) if changed else plan


def converted(value: Any, option: Option, spell: Callable[[Option], str]) -> Any:
    """A caller's value as one of the option's type; raises UsageError if it is none."""
    try:
        return msgspec.convert(_plain(value, option), option.type)
    except (msgspec.ValidationError, OverflowError):
        raise UsageError(f"{spell(option)} must be {option.expects}, not {value!r:.80}.") from None


def _plain(value: Any, option: Option) -> Any:
    """What a caller may write for a value: one for a list of one, numpy's numbers, texts such as `worst=0.6`."""
    if type(value).__module__ == "numpy":
        value = value.tolist()
    if isinstance(value, PathLike):
        value = fspath(value)
    if option.kind == "dict":
        # Names with their numbers, from a mapping or from texts. The last mark divides a text, since a number has none
        # and a name may have some. A text without a name is for `all`.
        if not (marks := option.more.get("pairs")) or not isinstance(value, (str, Mapping, list, tuple)):
            return value
        if isinstance(value, Mapping):
            pairs = [(str(name), given) for name, given in value.items()]
        else:
            texts = [str(text) for text in ([value] if isinstance(value, str) else value)]
            ends = [max(map(text.rfind, marks)) for text in texts]
            pairs = [(text[: max(end, 0)].strip(), text[end + 1 :]) for text, end in zip(texts, ends, strict=True)]
        found = {}
        for name, given in pairs:
            number = float("nan")
            with suppress(TypeError, ValueError):
                number = number if isinstance(given, bool) else float(given)
            if not isfinite(number):
                whose = f" of {name!r}" if name else ""
                raise UsageError(f"The limit{whose} must be a number, not {given!r:.80}. Write {option.expects}.")
            found[name or "all"] = number
        return found
    if option.kind == "list":
        if isinstance(value, str) and option.more.get("commas"):
            value = [part.strip() for part in value.split(",") if part.strip()]
        alone = isinstance(value, (str, Mapping, type, msgspec.Struct)) or not isinstance(value, Iterable)
        return [_plain(one, option._replace(kind="str")) for one in ([value] if alone else value)]
    if option.more.get("column") and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


class UnexpectedKeyword(UsageError, TypeError):
    """An argument that a function does not have; where a plan has it, the message shows how to write it there."""


def options_in_plan(plan: type[msgspec.Struct], *sections: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function whose further options are in its argument `plan`, and whose error for another keyword shows how.

    `sections` are those of the plan that the function uses, in the order in which a name is looked for.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = signature(function).parameters

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if other := next((name for name in kwargs if name not in known), None):
                name = function.__name__
                every = [o for section in sections for path, o in options_of(plan).items() if path[0] == section]
                every += [o._replace(path=o.path[:-1]) for o in every]  # tables of options, such as run.asking
                names = {key: o for o in reversed(every) for key in (o.flag.lstrip("-").replace("-", "_"), o.path[-1])}
                if other in names:
                    value = kwargs[other]
                    plain = value is None or isinstance(value, (str, int, float, list, tuple, dict))
                    shown = names[other].as_plan(value if plain else "…")
                    raise UnexpectedKeyword(f"{name}() takes {other} in its plan: {shown}.")
                near = nearest(other, [*known, *names])
                hint = "" if near is None else f" Did you mean {near if near in known else names[near].as_plan('…')}?"
                raise UnexpectedKeyword(f"{name}() has no argument {other!r}.{hint}")
            return function(*args, **kwargs)

        return call

    return decorate


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a user says about their data; what they leave out is guessed.

    Example: `unswayed.ReadOptions(input=("utterance",), gold="intent")`.
    """

    format: Annotated[str | None, doc("The data's format. Guessed from its name.", "--format-in", "READER")] = None
    task: Annotated[str | None, doc("The task: text, classify, slu, qa, … Guessed from the data.")] = None
    input: Annotated[tuple[str, ...], doc("A field that holds a text. Repeatable.", metavar="FIELD", column=True)] = ()
    gold: Annotated[str | None, doc("The field that holds the right answer.", metavar="FIELD", column=True)] = None
    id: Annotated[
        str | None, doc("The field that holds an id. Without one, ids come from content.", metavar="FIELD", column=True)
    ] = None
    groups: Annotated[
        tuple[str, ...], doc("A field to slice results by. Repeatable.", "--group", "FIELD", column=True)
    ] = ()
    labels: Annotated[
        tuple[str, ...] | None,
        doc("Allowed labels. Any other label is an error.", metavar="A,B,…", commas=True, column=True),
    ] = None
    turn: Annotated[
        Turn,
        doc("For chats: the messages to vary. users: all that the user says; all: also the system prompt. What the "
            "assistant says is never varied."),
    ] = "last-user"  # fmt: skip
    encoding: Annotated[
        str | None, doc("A file's encoding, such as GBK. Default: UTF-8, else detected.", metavar="NAME")
    ] = None
    sheet: Annotated[str | None, doc("The sheet of a workbook. Default: the only one.", metavar="NAME")] = None

    def chosen_fields(self) -> dict[str, tuple[str, ...]]:
        """The fields that the caller chose, by the option that did, in the caller's spelling."""
        chosen = {
            option("input"): self.input,
            option("gold"): (self.gold,) if self.gold else (),
            option("id"): (self.id,) if self.id else (),
            f"{option('group', 'groups')} or {option('cluster')}": self.groups,
        }
        return {name: fields for name, fields in chosen.items() if fields}


class OperatorSpec(msgspec.Struct, frozen=True):
    """An operator by name, with its parameters.

    Example: `unswayed.OperatorSpec("keyboard/adjacent", {"rate": 0.1})`.
    """

    name: str
    params: dict[str, Json] = {}


class Asking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a system is asked. None leaves a choice to the system.

    Example: `unswayed.Asking(concurrency=8, retries=3, rate=20)`.
    """

    batch_size: Annotated[Count | None, doc("Inputs per call. Default: depends on the system.")] = None
    concurrency: Annotated[Count | None, doc("Calls at the same time. Default: depends on the system.")] = None
    rate: Annotated[
        Positive | None, doc("Send at most N requests a second. Default: as many as the server takes.", metavar="N")
    ] = None
    retries: Annotated[Whole | None, doc("Retries for a failed item.", shown="2; URLs: 6")] = None
    canary: Annotated[
        Whole | None,
        doc("Stored answers to check again before any is reused; 0: none.", metavar="N", shown="32; with gates, more"),
    ] = None
    backoff: Annotated[Positive, doc("Seconds before the first retry of an item; doubled each time.")] = 0.1
    give_up: Annotated[Count, doc("Items that fail in a row before the run stops.")] = 20
