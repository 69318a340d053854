"""Whatever a system returns, as plain JSON values, or the reason why that can't be."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan

from unfazed.core.values import Json
from unfazed.systems.system import Failed

_DEPTH = 100


class _NotPlain(Exception):
    pass


def plain(value: object) -> Json | Failed:
    """The output as JSON values; arrays and numbers of numpy and its kin are converted, NaN is a failure."""
    if type(value) is str and value.isascii():  # most outputs are labels
        return value
    if isinstance(value, Failed):
        return value
    try:
        return _plain(value, "the output", 0)
    except _NotPlain as problem:
        return Failed(str(problem), final=True)


def _plain(value: object, where: str, depth: int) -> Json:
    if value is None or type(value) is bool:
        return value
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, float):
        return _number(float(value), where)
    if isinstance(value, int):
        return _whole(int(value), where)
    if depth == _DEPTH:
        raise _NotPlain(f"{where:.200} is nested more than {_DEPTH} deep, or holds itself")
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(k, where): _plain(v, f"{where}[{k!r:.40}]", depth + 1) for k, v in value.items()}
    return _plain(_converted(value, where), where, depth + 1)


def _converted(value: object, where: str) -> object:
    """What numpy, torch and their kin say an array or number is; asked by name, so that none is imported."""
    for method in ("tolist", "item"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    raise _NotPlain(f"{where} is of type {type(value).__module__}.{type(value).__qualname__}, which is not JSON")


def _text(value: str, where: str) -> str:
    text = str.__str__(value)  # the characters, also of a str Enum
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise _NotPlain(
                f"{where} holds half a surrogate pair at character {error.start}, which is not a text"
            ) from None
    return text


def _number(value: float, where: str) -> float:
    if isfinite(value):
        return value
    raise _NotPlain(f"{where} is {'NaN' if isnan(value) else 'infinite'}")


def _whole(value: int, where: str) -> int:
    if -(1 << 63) <= value < 1 << 64:
        return value
    raise _NotPlain(f"{where} is a whole number of more than 64 bits")


def _key(key: object, where: str) -> str:
    if isinstance(key, str):
        return _text(key, where)
    raise _NotPlain(f"{where} has a key of type {type(key).__qualname__}; keys must be texts")
