"""JSON from outside: whatever is wrong with it, also what the library tells otherwise, is a msgspec.DecodeError."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")


@overload
def decode(content: bytes | str) -> Any: ...
@overload
def decode(content: bytes | str, type: type[T]) -> T: ...
def decode(content: bytes | str, type: Any = Any) -> Any:
    """The value in a text; raises msgspec.DecodeError where it is no such value, not UTF-8 or too deep to follow."""
    try:
        return msgspec.json.decode(content, type=type)
    except UnicodeError as error:
        raise msgspec.DecodeError(f"it is not UTF-8 ({error})") from error
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None
