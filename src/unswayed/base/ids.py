"""JSON decoded from outside, encoded the same on every machine, and ids made of it: the same content has the same id
in every order.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

T = TypeVar("T")
_encoder = msgspec.json.Encoder(order="deterministic")


@overload
def decode(content: bytes | str) -> Any: ...
@overload
def decode(content: bytes | str, type: type[T]) -> T: ...
def decode(content: bytes | str, type: Any = Any) -> Any:
    """The value in a text; whatever is wrong with it, also what the library tells otherwise, is a msgspec.DecodeError:
    that it is no such value, not UTF-8, or too deep to follow.
    """
    try:
        return msgspec.json.decode(content, type=type)
    except UnicodeError as error:
        raise msgspec.DecodeError(f"it is not UTF-8 ({error})") from error
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None


def canonical(value: Any) -> bytes:
    """JSON bytes that are equal exactly when the values are: keys sorted, no spaces."""
    return _encoder.encode(value)


def canonical_each(values: Iterable[Any]) -> bytes:
    """The canonical bytes of each value, one after the other."""
    return _encoder.encode_lines(values).replace(b"\n", b"")  # no line break stands in JSON itself


def json_texts(values: Iterable[Any], name: str | None = None) -> list[str]:
    """The canonical bytes of each value as a text; with `name`, of an object that has the value under that name."""
    lines = _encoder.encode_lines(values).decode()
    if name is None:
        return lines.split("\n")[:-1]
    begin = f"{{{canonical(name).decode()}:"
    return (begin + lines.replace("\n", f"}}\n{begin}")).split("\n")[:-1]


def canonical_lines(values: Iterable[Any]) -> list[bytes]:
    """The canonical bytes of each value by themselves."""
    return _encoder.encode_lines(values).split(b"\n")[:-1]


def content_id(value: Any, size: int = 8) -> str:
    """A hex id of `size` bytes for any JSON value."""
    return blake2b(canonical(value), digest_size=size).hexdigest()


def content_ids(values: Iterable[Any]) -> list[str]:
    """The same for many values."""
    found = []
    copy = blake2b(digest_size=8).copy  # quicker than a new one for each
    for line in canonical_lines(values):
        h = copy()
        h.update(line)
        found.append(h.hexdigest())
    return found


def file_hash(path: Traversable) -> str:
    """The SHA-256 of a file, read in pieces."""
    h = sha256()
    with path.open("rb") as f:
        while piece := f.read(1 << 20):
            h.update(piece)
    return h.hexdigest()
