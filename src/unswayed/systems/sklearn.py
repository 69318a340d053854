"""Fitted objects with `predict`, as scikit-learn's have, and models in skops files, `sklearn/skops`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.values import Inputs, Json
from unswayed.systems.callable import CallableSystem, code_of, declared, name_of
from unswayed.systems.system import Failed

_ID_BYTES = 16
_AGAIN = "…"  # an object inside itself
_ADDRESSES = ("_stop_words_id",)  # where scikit-learn notes an address in memory


def state_id(thing: object) -> str:
    """Changes with any parameter or learnt value, however deep; not with the order of keys or with addresses."""
    return content_id(_state(thing, set()), _ID_BYTES)


def _state(value: Any, inside: set[int]) -> Json:
    if isinstance(value, (str, int, float, bool, complex, type(None), np.generic)):
        return [type(value).__name__, repr(value)]
    if isinstance(value, bytes):
        return ["bytes", _hash(value)]
    if isinstance(value, (type, BuiltinFunctionType)):
        return f"{value.__module__}:{value.__qualname__}"
    if isinstance(value, FunctionType):
        return [f"{value.__module__}:{value.__qualname__}", code_of(value)]
    if id(value) in inside:
        return _AGAIN
    inside.add(id(value))
    try:
        return _parts(value, inside)
    finally:
        inside.remove(id(value))


def _parts(value: Any, inside: set[int]) -> Json:
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        return ["array", value.dtype.str, list(value.shape), _content(value, inside)]
    if type(value) in (list, tuple):
        return [kind, *(_state(item, inside) for item in value)]
    if type(value) in (set, frozenset):
        return [kind, *_in_order(value, inside)]
    if type(value) is dict:
        return [kind, *_pairs(value, inside)]
    return [f"{type(value).__module__}:{type(value).__qualname__}", _reduced(value, inside)]


def _reduced(value: Any, inside: set[int]) -> Json:
    """What Python itself would copy the object by; nothing is called or loaded."""
    try:
        parts = value.__reduce_ex__(2)
    except Exception:  # a lock, a file: its type must do
        return None
    if isinstance(parts, str):
        return parts
    made, state, items, pairs = parts[:2], *(*parts[2:5], None, None, None)[:3]
    held = [list(items) if items is not None else None, dict(pairs) if pairs is not None else None]
    return [_state(part, inside) for part in (*made, state, *held)]


def _content(array: Any, inside: set[int]) -> Json:
    if array.dtype.names:  # a structure may have gaps, in which anything may stand
        return [[name, _state(np.ascontiguousarray(array[name]), inside)] for name in array.dtype.names]
    if array.dtype.hasobject:
        return [_state(item, inside) for item in array.ravel().tolist()]
    return _hash(np.ascontiguousarray(array).tobytes())


def _in_order(values: Set[Any], inside: set[int]) -> list[Json]:
    return sorted((_state(value, inside) for value in values), key=repr)


def _pairs(mapping: Mapping[Any, Any], inside: set[int]) -> list[Json]:
    kept = ((key, value) for key, value in mapping.items() if key not in _ADDRESSES)
    return sorted(([_state(key, inside), _state(value, inside)] for key, value in kept), key=repr)


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=_ID_BYTES).hexdigest()


class Fitted(CallableSystem):
    """Asks `model.predict`: a list of texts where one text is read, columns where several are.

    A model that was fitted on a DataFrame gets one, with its own columns. Its identity is all that it has learnt.
    """

    def __init__(
        self, model: Any, name: str | None = None, fields: str | Sequence[str] | None = None,
        identity: str | None = None, batch_size: int = 256,
    ) -> None:  # fmt: skip
        self.model = model
        own = getattr(model, "feature_names_in_", None)
        self._columns = None if own is None else [str(column) for column in own]
        self.fields = fields.split(",") if isinstance(fields, str) else list(fields or self._columns or [])
        if self._columns is not None and len(self._columns) != len(self.fields):
            raise UsageError(
                f"There are {len(self.fields)} fields for the {len(self._columns)} columns that "
                f"{type(model).__name__} was fitted on: {', '.join(self._columns)}."
            )
        pinned = f"{name_of(type(model))} {state_id(model)} {content_id(self.fields)}"
        sure = _sure(model) if declared(model) is None else declared(model)
        super().__init__(self._asked, name or name_of(type(model)), identity or pinned, batch_size, sure)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        problems = [self._lacking(inputs) for inputs in batch]
        found = iter(super().predict([inputs for inputs, lacks in zip(batch, problems, strict=True) if not lacks]))
        return [Failed(lacks, final=True) if lacks else next(found) for lacks in problems]

    def _lacking(self, inputs: Inputs) -> str | None:
        absent = next((field for field in self.fields if field not in inputs), None)
        if absent is not None:
            return f"the input has no {absent!r}; choose texts with the option fields"
        if not self.fields and len(inputs) != 1:
            return f"there are the texts {', '.join(sorted(inputs))}; choose with the option fields"
        return None

    def _asked(self, batch: list[Inputs]) -> Any:
        rows = [[inputs[name] for name in self.fields or inputs] for inputs in batch]
        if self._columns is not None:
            import pandas

            return self.model.predict(pandas.DataFrame(rows, columns=self._columns))
        if len(self.fields) < 2:
            return self.model.predict([row[0] for row in rows])
        import numpy as np

        return self.model.predict(np.array(rows, dtype=object))


def _sure(model: Any) -> bool | None:
    """True for a model that is scikit-learn's own in all its parts and does not guess; None if that is not known."""
    if not callable(params := getattr(model, "get_params", None)):
        return None
    parts = [model, *(part for part in params().values() if callable(part) or hasattr(part, "get_params"))]
    modules = [getattr(part, "__module__", None) or "" for part in parts if not isinstance(part, type)]
    own = all(module.startswith("sklearn.") and module != "sklearn.dummy" for module in modules)
    return True if own else None


class Skops(Fitted):
    """A scikit-learn model from a skops file; types beyond scikit-learn's and numpy's must be trusted by name."""

    def __init__(
        self, path: str | Path, fields: str | Sequence[str] | None = None, trusted: str | Sequence[str] = (),
        batch_size: int = 256,
    ) -> None:  # fmt: skip
        if any(find_spec(module) is None for module in ("sklearn", "skops")):
            raise MissingExtra("A skops file", "sklearn")
        file = Path(path)
        names = trusted.split(",") if isinstance(trusted, str) else list(trusted)
        model = _loaded(file, names)
        if not hasattr(model, "predict"):
            raise UsageError(f"{file} holds a {type(model).__qualname__}, which has no predict.")
        fitted = f"sklearn/skops {state_id(model)} {content_id(fields)}"  # the file itself has ids of its day
        super().__init__(model, f"sklearn:{file}", fields, fitted, batch_size)


def _loaded(file: Path, trusted: list[str]) -> Any:
    import skops.io

    if not file.is_file():
        raise UsageError(f"There is no file {file}. Save a model with skops.io.dump(model, 'model.skops').")
    if file.suffix in (".pkl", ".pickle", ".joblib"):
        raise UsageError(
            f"{file} is a pickle, and to open one can run code. Where you trust it, load it yourself once and save the "
            f"model with skops.io.dump(model, 'model.skops')."
        )
    try:
        unknown = sorted(set(skops.io.get_untrusted_types(file=file)) - set(trusted))
    except Exception as error:  # whatever a damaged file makes it raise
        raise StoredFileError(f"{file}: this can't be read as a skops file ({str(error)[:300]}).") from error
    if unknown:
        raise UsageError(
            f"{file} holds types that are not trusted: {', '.join(unknown)}. To make them may run code. Where they are "
            f"known to be harmless: {option('option trusted=', 'trusted')}{','.join(unknown)}"
        )
    try:
        return skops.io.load(file, trusted=trusted)
    except Exception as error:
        raise StoredFileError(f"{file}: the model can't be made ({type(error).__name__}: {error!s:.300}).") from error
