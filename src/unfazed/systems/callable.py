"""Any Python callable that maps a list of inputs to a list of outputs, as a system; its identity is its source."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

from unfazed.core.errors import SystemBroken, UsageError
from unfazed.core.ids import content_id, file_hash
from unfazed.core.values import Inputs, Json
from unfazed.systems.system import Failed, System, plain

_ID_BYTES = 16


def name_of(function: Callable[..., Any]) -> str:
    """`module:qualname`; for an instance, its class's."""
    if isinstance(function, functools.partial):
        return f"partial of {name_of(function.func)}"
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def fingerprint(function: Callable[..., Any]) -> str:
    """An id that is equal in every process, and changes when the module's source or what was bound does."""
    return content_id(_parts(function), _ID_BYTES)


def _parts(function: Callable[..., Any]) -> list[Json]:
    name = name_of(function)
    if isinstance(function, functools.partial):
        bound = [*function.args, *(x for pair in sorted(function.keywords.items()) for x in pair)]
        return [name, _parts(function.func), [_bound(value, name) for value in bound]]
    if isinstance(function, MethodType):
        return [name, *_instance(function.__self__)]
    if isinstance(function, FunctionType):
        return [name, *_function(function)]
    if isinstance(function, (type, BuiltinFunctionType)):
        return [name, _source(function.__module__)]
    return [name, *_instance(function)]


def _function(function: FunctionType) -> list[Json]:
    source = _source(function.__module__)
    # A file holds many lambdas and inner functions of the same name: their code tells them apart.
    if source and "<" not in function.__qualname__:
        return [source]
    known = {} if source else _globals(function)
    return [source, *code_of(function), known]


def _instance(instance: object) -> list[Json]:
    """A class and the settings of one of its instances: numbers, texts and tuples of them."""
    cls = instance if isinstance(instance, type) else type(instance)
    state = {} if isinstance(instance, type) else getattr(instance, "__dict__", {})
    call = vars(cls).get("__call__")
    source = _source(cls.__module__) or (_code(call.__code__) if isinstance(call, FunctionType) else None)
    return [source, {str(name): _value(value) for name, value in sorted(state.items())}]


def _source(module: str) -> str | None:
    """The hash of the file that a module came from; a module typed at a prompt has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return file_hash(Path(file)) if file and Path(file).is_file() else None


def _globals(function: FunctionType) -> dict[str, Json]:
    """At a prompt, the functions and settings that a function refers to are part of it."""
    found: dict[str, Json] = {}
    waiting = [function]
    while waiting:
        here = waiting.pop()
        for name in _names(here.__code__):
            value = here.__globals__.get(name)
            if name in found or name not in here.__globals__:
                continue
            found[name] = _value(value)
            if isinstance(value, FunctionType) and not _source(value.__module__):
                waiting.append(value)
    return dict(sorted(found.items()))


def _value(value: object) -> Json:
    """A setting, by content where it can't change by itself; of all else, such as a list that grows, the type."""
    if isinstance(value, (str, int, float, bool, type(None))):
        return [type(value).__name__, repr(value)]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, tuple):
        return ["tuple", *map(_value, value)]
    if isinstance(value, frozenset):  # its order is the hash seed's
        return ["frozenset", *sorted(map(_value, value), key=repr)]
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, FunctionType):
        return [f"{value.__module__}:{value.__qualname__}", _code(value.__code__)]
    return f"{type(value).__module__}.{type(value).__qualname__}"


def code_of(function: FunctionType) -> list[Json]:
    """What a function does, with what it was bound to."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    bound = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *cells]
    return [_code(function.__code__), [_value(value) for value in bound]]


def _code(code: CodeType) -> list[Json]:
    """A code object without what differs between processes: no addresses, no file names, no line numbers."""
    return [code.co_code.hex(), [_value(const) for const in code.co_consts], list(code.co_names)]


def _names(code: CodeType) -> list[str]:
    """The names that code refers to, also in the comprehensions and functions inside it."""
    inner = [name for const in code.co_consts if isinstance(const, CodeType) for name in _names(const)]
    return [*code.co_names, *inner]


def _bound(value: object, name: str) -> Json:
    if isinstance(value, (str, int, float, bool, type(None), bytes, tuple, frozenset, FunctionType)):
        return _value(value)
    raise UsageError(
        f"{name} is bound to a {type(value).__qualname__}, whose content can't be identified. "
        f"Name it: CallableSystem(…, identity='my-model-v1')."
    )


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:
        return False


class CallableSystem(System):
    """Asks `function(list of input mappings)`.

    Its identity is the hash of the function's module, so an edited module is a new system. What the module
    imports is not looked at; say `identity`, or set `unfazed_identity` on the function, where that decides.
    """

    def __init__(
        self,
        function: Callable[[list[Inputs]], Any],
        name: str | None = None,
        identity: str | None = None,
        batch_size: int = 64,
    ) -> None:
        self.function = function
        self.name = name or name_of(function)
        self.batch_size = batch_size
        said = identity if identity is not None else getattr(function, "unfazed_identity", None)
        # Taken once: calls may change what an instance holds, and that makes no new system.
        self._identity = f"{name_of(function)} {fingerprint(function)}" if said is None else str(said)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return [plain(output) for output in self.outputs(batch)]

    def outputs(self, batch: Sequence[Inputs]) -> Sequence[object]:
        """What the function returns, as it is."""
        if not batch:
            return []
        # Copies, as a function may well edit its inputs in place.
        return self._listed(self.function([dict(inputs) for inputs in batch]), len(batch))

    def _listed(self, returned: object, asked: int) -> Sequence[object]:
        """What the function returned as a list of the right length, or the error that says how it is not."""
        if callable(convert := getattr(returned, "tolist", None)):
            returned = convert()
        if not isinstance(returned, Iterable) or isinstance(returned, (str, bytes, Mapping, Set)):
            raise SystemBroken(
                f"{self.name} returned {type(returned).__qualname__} for {_inputs(asked)}; "
                f"it must return a list with one output for each input."
            )
        whole = returned if isinstance(returned, (list, tuple)) else None
        outputs = list(islice(returned, asked + 1)) if whole is None else whole
        if len(outputs) != asked:
            got = (
                len(outputs) if whole is not None or len(outputs) < asked else f"more than {asked}"
            )  # it may never end
            raise SystemBroken(
                f"{self.name} returned {got} outputs for {_inputs(asked)}; "
                f"it must return one output for each input, in order."
            )
        return outputs


def _inputs(count: int) -> str:
    return "1 input" if count == 1 else f"{count} inputs"
