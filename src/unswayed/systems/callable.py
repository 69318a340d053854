"""Any Python callable that maps a list of inputs to a list of outputs, as a system; its identity is its source."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from unswayed.base.chat import CHAT, as_sent
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.base.own_code import installed
from unswayed.base.values import Inputs, Json
from unswayed.systems.sources import source_of
from unswayed.systems.system import Failed, System, plain_each

_ID_BYTES = 16
_MOST_LOOKED_AT = 10_000  # objects in which something learnt is looked for


def name_of(function: Callable[..., Any]) -> str:
    """`module:qualname`; for an instance, its class's."""
    if isinstance(function, functools.partial):
        return f"partial of {name_of(function.func)}"
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def fingerprint(function: Callable[..., Any]) -> str:
    """An id that is equal in every process, and changes with the module's source, what was bound, and what the models
    that the function uses have learnt."""
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
    source, known = _source(function.__module__), _globals(function)
    # A file holds many lambdas and inner functions of the same name: their code tells them apart.
    if source and "<" not in function.__qualname__:
        return [source, known] if known else [source]
    return [source, *code_of(function), known]


def _instance(instance: object) -> list[Json]:
    """A class and the state of one of its instances: numbers, texts, tuples of them, and what was learnt."""
    cls = instance if isinstance(instance, type) else type(instance)
    state = {} if isinstance(instance, type) else getattr(instance, "__dict__", {})
    methods = {name: value for name, value in sorted(vars(cls).items()) if isinstance(value, FunctionType)}
    source: Json = _source(cls.__module__) or {
        name: [*code_of(method), _globals(method)] for name, method in methods.items()
    }
    learnt = None if isinstance(instance, System) else _learnt(instance)
    return [source, {str(name): _value(value) for name, value in sorted(state.items())} if learnt is None else learnt]


def _file(module: str) -> Path | None:
    """The file that a module came from; a module typed at a prompt has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _source(module: str) -> Json:
    """An id of the file that a module came from, with what it imports and names that lies beside it."""
    file = _file(module)
    return None if file is None else source_of(file)


def _globals(function: FunctionType) -> dict[str, Json]:
    """What a function refers to: models by what they have learnt, and, at a prompt, also functions and settings."""
    known: dict[str, Json] = {}
    waiting, seen = [function], {function}
    while waiting:
        here = waiting.pop()
        in_file = _file(here.__module__) is not None  # its functions and settings are part of the source
        for name in _names(here.__code__):
            if name in known or name not in here.__globals__:
                continue
            value = here.__globals__[name]
            content = _learnt(value) if in_file else _value(value)
            if content is not None:
                known[name] = content
            inside = isinstance(value, FunctionType) and value not in seen
            if inside and (value.__module__ == here.__module__ or not _file(value.__module__)):
                seen.add(value)
                waiting.append(value)
    return dict(sorted(known.items()))


def _learnt(value: object) -> Json:
    """What an array or a model holds, also in lists, dicts and objects of one's own; None for anything else.

    A cache, a client or a log may change by itself.
    """
    try:
        return _content(value, set())
    except Exception:  # a proxy for something that is not there yet, whatever it raises when it is looked at
        return None


def _content(value: object, seen: set[int]) -> Json:
    if isinstance(value, (type, ModuleType, FunctionType, str, bytes, int, float, type(None))):
        return None
    if id(value) in seen or len(seen) > _MOST_LOOKED_AT:
        return None
    seen.add(id(value))
    if isinstance(value, MethodType):
        learnt = _content(value.__self__, seen)
        return None if learnt is None else [value.__name__, learnt]
    if isinstance(value, System):
        return value.identity
    if (torch := sys.modules.get("torch")) and isinstance(value, torch.nn.Module):
        return _weights(value, torch)
    if type(getattr(value, "model", None)).__module__.startswith("transformers."):  # a pipeline of transformers'
        return _content(value.model, seen)  # type: ignore[attr-defined]
    kind = type(value).__module__.partition(".")[0]
    if kind == "onnxruntime" and Path(graph := str(getattr(value, "_model_path", ""))).is_file():
        return file_hash(Path(graph))
    from unswayed.systems.sklearn import state_id  # which builds on this module

    if kind in ("keras", "tensorflow", "tf_keras") and callable(weights := getattr(value, "get_weights", None)):
        return state_id(weights())
    learns = callable(getattr(value, "predict", None)) or callable(getattr(value, "get_params", None))
    if learns or _is_array(value):
        return state_id(value)
    return _inside(value, seen)


def _is_array(value: object) -> bool:
    """There is none where numpy was not imported, which a worker then need not do either."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _inside(value: object, seen: set[int]) -> Json:
    """What is learnt in what a container, or an object of a class of one's own, holds; None if there is nothing."""
    if isinstance(value, (list, tuple)):
        parts: dict[str, object] = {str(i): part for i, part in enumerate(value[:_MOST_LOOKED_AT])}
    elif isinstance(value, dict):
        parts = {str(name): part for name, part in islice(value.items(), _MOST_LOOKED_AT)}
    elif _own(type(value)):
        parts = dict(getattr(value, "__dict__", {}))
    else:
        return None
    found = {name: learnt for name, part in parts.items() if (learnt := _content(part, seen)) is not None}
    return dict(sorted(found.items())) or None


def _own(cls: type) -> bool:
    """Is it a class of the user's, and not of a package that was installed?"""
    file = _file(cls.__module__)
    return cls.__module__ == "__main__" if file is None else not installed(file)


def _weights(network: Any, torch: Any) -> Json:
    digest = blake2b(digest_size=_ID_BYTES)
    for name, tensor in sorted(network.state_dict().items()):
        if callable(getattr(tensor, "detach", None)):
            plain_bytes = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode() + plain_bytes.tobytes())
    return [name_of(type(network)), digest.hexdigest()]


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
    if (learnt := _learnt(value)) is not None:
        return learnt
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
    if (learnt := _learnt(value)) is not None:
        return learnt
    raise UsageError(
        f"{name} is bound to a {type(value).__qualname__}, whose content can't be identified. "
        f"Name it: unswayed.open_system(…, identity='my-model-v1')."
    )


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:
        return False


def declared(system: object) -> bool | None:
    """What a user's function or object says of itself by `unswayed_deterministic`; a method's object speaks for it."""
    for one in (system, getattr(system, "__self__", None)):
        said: bool | None = getattr(one, "unswayed_deterministic", None)
        if said is not None:
            return said
    return None


class CallableSystem(System):
    """Asks `function(list of input mappings)`.

    Its identity is the hash of the function's module, of the files beside it that it imports or names, such as
    "model.joblib", and of what the arrays and models that it uses have learnt: an edited module, another file or a
    retrained model is a new system. Packages that were installed are not looked at. Set `identity`, or
    `unswayed_identity` on the function, where something else decides. `deterministic` says that the same input always
    has the same answer, or that it may not; so does `unswayed_deterministic` on the function or its object.
    """

    prompted = True

    def __init__(
        self, function: Callable[[list[Inputs]], Any], name: str | None = None, identity: str | None = None,
        batch_size: int = 64, deterministic: bool | None = None,
    ) -> None:  # fmt: skip
        self.function = function
        self.deterministic = declared(function) if deterministic is None else deterministic
        self.name = name or name_of(function)
        self.batch_size = batch_size
        said = identity if identity is not None else getattr(function, "unswayed_identity", None)
        # Taken once: calls may change what an instance holds, and that makes no new system.
        self._identity = f"{name_of(function)} {fingerprint(function)}" if said is None else str(said)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return plain_each(self.outputs(batch))

    def outputs(self, batch: Sequence[Inputs]) -> Sequence[object]:
        """What the function returns, as it is."""
        if not batch:
            return []
        # Copies, as a function may well edit its inputs in place.
        copies = [dict(as_sent(inputs)) if CHAT in inputs else inputs.copy() for inputs in batch]
        return self._listed(self.function(copies), len(batch))

    def _listed(self, returned: object, asked: int) -> Sequence[object]:
        """What the function returned as a list of the right length, or the error that says how it is not."""
        if callable(convert := getattr(returned, "tolist", None)):
            returned = convert()
        if not isinstance(returned, Iterable) or isinstance(returned, (str, bytes, Mapping, Set)) or _table(returned):
            raise SystemBroken(
                f"{self.name} returned {'None' if returned is None else type(returned).__qualname__} for "
                f"{_inputs(asked)}; it must return a list with one output for each input.{_hint(returned)}"
            )
        whole = returned if isinstance(returned, (list, tuple)) else None
        outputs = list(islice(returned, asked + 1)) if whole is None else whole
        if len(outputs) != asked:
            more = whole is None and len(outputs) > asked  # it may never end
            got = f"more than {asked}" if more else len(outputs)
            raise SystemBroken(
                f"{self.name} returned {got} outputs for {_inputs(asked)}; "
                f"it must return one output for each input, in order."
            )
        if outputs and inspect.iscoroutine(outputs[0]):
            raise SystemBroken(f"{self.name} returned coroutines.{max(map(_hint, outputs))}")
        return outputs


def _table(value: object) -> bool:
    """Is it a DataFrame, which goes through its columns and not its rows?"""
    return len(getattr(value, "shape", ())) == 2 and hasattr(value, "columns")


def _hint(returned: object) -> str:
    """What may have gone wrong in a function that returned this in place of a list."""
    if returned is None:
        return " Does it end with `return`?"
    if inspect.iscoroutine(returned) or inspect.isasyncgen(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        return " An async function can't be called as it is. Wrap it: `return asyncio.run(answer_all(batch))`."
    if _table(returned):
        return " Return one column, such as `list(frame['label'])`."
    if isinstance(returned, (str, bytes, Mapping)):
        return " It gets a list of inputs, such as [{'text': 'turn off the lights'}], and not one of them."
    return ""


def _inputs(count: int) -> str:
    return "1 input" if count == 1 else f"{count} inputs"
