"""What a function's code says of how it is called: with a batch or with one item, from one thread or from several."""

from __future__ import annotations

import dis
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from logging import Logger
from pathlib import Path, PurePath
from re import Pattern
from typing import Any, Literal

from unswayed.base.own_code import is_installed_code
from unswayed.systems.clients import is_thread_safe_client

Form = Literal["batch", "texts", "text", "messages", "inputs", "names"]

# Names of a parameter that hold one text. A name that is not among them stands for the batch.
_ONE_TEXT = frozenset(
    (
        "text",
        "txt",
        "sentence",
        "utterance",
        "question",
        "query",
        "prompt",
        "message",
        "msg",
        "string",
        "document",
        "passage",
    )
)


def call_form(function: Callable[..., Any]) -> tuple[Form, tuple[str, ...]]:
    """How a function is called, and the names of its required parameters.

    In this order: by the annotation of its only required parameter (`str`: one text; a list of `str`: all texts of a
    batch; any other list: the batch; a mapping: one item's texts by name), by that parameter's name (one of the names
    above, or ending in one, as in `user_message`: one text; `messages`: one chat), by the names of several required
    parameters, each of which then gets the input of that name. An `async def` with any other name gets one text,
    unless the name is a plural. All others get the batch: a list of mappings.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of C code
        return "batch", ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.default is p.empty and p.kind in kinds]
    names = tuple(parameter.name for parameter in required)
    if len(required) > 1:
        return "names", names
    if not required:
        return "batch", names
    annotation, name = _annotation(function, required[0]), names[0].lower().lstrip("_")
    origin = typing.get_origin(annotation) or annotation
    inside = typing.get_args(annotation)
    if annotation is str:
        return "text", names
    if isinstance(origin, type) and origin is not inspect.Parameter.empty and not issubclass(origin, str):
        if issubclass(origin, Mapping):
            return "inputs", names
        if issubclass(origin, Iterable):
            return ("messages" if name == "messages" else "texts" if inside[:1] == (str,) else "batch"), names
    if name == "messages":
        return "messages", names
    if name in _ONE_TEXT or name.rpartition("_")[2] in _ONE_TEXT:
        return "text", names
    plural = name.endswith("s") or name == "batch"
    return ("text" if is_async(function) and not plural else "batch"), names


def is_async(function: Callable[..., Any]) -> bool:
    """Is this an `async def`, also as an object's `__call__` or with arguments bound to it?"""
    while hasattr(function, "func"):
        function = function.func
    return inspect.iscoroutinefunction(inspect.unwrap(_routine(function)))


def _routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is called where this is: itself, or an object's `__call__`."""
    if inspect.isroutine(function):
        return function
    return next((vars(cls)["__call__"] for cls in type(function).__mro__ if "__call__" in vars(cls)), function)


def _annotation(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """What a parameter is annotated with, also where annotations are texts."""
    if not isinstance(parameter.annotation, str):
        return parameter.annotation
    try:
        return typing.get_type_hints(_routine(function)).get(parameter.name)
    except Exception:  # a name that is defined for type checkers only
        return {"str": str, "list[str]": list[str], "List[str]": list[str]}.get(parameter.annotation)


# Values that any thread may read, and that a call can't change.
_PLAIN = (str, bytes, int, float, complex, bool, type(None), tuple, frozenset, range, type, types.ModuleType,
          types.BuiltinFunctionType, Pattern, PurePath, Logger)  # fmt: skip
_CONTAINERS = (list, dict, set)
_ASSIGNS = ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL")
_MAX_FUNCTIONS = 200


def is_thread_safe(function: Callable[..., Any]) -> bool:
    """May a function be called from several threads, as far as its code shows?

    Only a plain function may, whose code and that of its own helpers assigns to no global, outer or attribute, and
    refers to nothing but constants, modules, functions, classes, clients that are made for threads, and containers
    that it does not assign to. A method, an object that can be called, and whatever refers to a model, an array, an
    open file or a connection, may not.
    """
    waiting, seen = [function], set[Any]()
    while waiting:
        here = waiting.pop()
        if here in seen or len(seen) > _MAX_FUNCTIONS:
            continue
        seen.add(here)
        if not isinstance(here, types.FunctionType):
            return False
        codes = list(_codes_in(here.__code__))
        operations = [(op.opname, op.argval) for code in codes for op in dis.get_instructions(code)]
        outer = set(here.__code__.co_freevars)
        if any(name == "STORE_DEREF" and value in outer for name, value in operations):
            return False
        if any(name in _ASSIGNS for name, _ in operations):
            return False
        changes = any(name in ("STORE_SUBSCR", "DELETE_SUBSCR") for name, _ in operations)
        for value in _values_of(here, codes):
            if isinstance(value, types.FunctionType):
                if not _is_installed(value):
                    waiting.append(value)
            elif isinstance(value, _CONTAINERS):
                if changes:
                    return False
            elif not (isinstance(value, _PLAIN) or _is_typing(value) or is_thread_safe_client(value)):
                return False
    return True


_MODEL_PACKAGES = frozenset(
    ("numpy", "torch", "transformers", "sklearn", "onnxruntime", "keras", "tensorflow", "spacy")
)


def refers_to_model(function: Callable[..., Any]) -> bool:
    """Does a function, or an object that can be called, refer to a model or an array by a name of its own?"""
    function = getattr(function, "func", function)
    if isinstance(function, types.FunctionType):
        values = list(_values_of(function, list(_codes_in(function.__code__))))
    else:
        instance = getattr(function, "__self__", function)
        values = [instance, *getattr(instance, "__dict__", {}).values()]
    return any(
        not isinstance(value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType))
        and (type(value).__module__.partition(".")[0] in _MODEL_PACKAGES or hasattr(type(value), "get_params"))
        for value in values
    )


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes_in(const)


def _values_of(function: types.FunctionType, codes: list[types.CodeType]) -> Iterator[object]:
    """What a function refers to: globals by name, what is bound to it, and its defaults."""
    names = {name for code in codes for name in code.co_names}
    yield from (function.__globals__[name] for name in names if name in function.__globals__)
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue


def _is_installed(function: types.FunctionType) -> bool:
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None)
    return file is not None and is_installed_code(Path(file))


def _is_typing(value: object) -> bool:
    return type(value).__module__ in ("typing", "types", "__future__", "enum")
