"""Tensors and a JSON text in one safetensors file, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import msgspec
from torch import Tensor

from unfazed.core.errors import StoredFileError, UsageError
from unfazed.core.files import write_atomically
from unfazed.core.json import decode

Tensors = dict[str, Tensor]
_KEY = "unfazed"  # the only entry of the metadata, whose order would otherwise change from run to run


def packed(tensors: Tensors, text: bytes) -> bytes:
    """The content of a file, the same for the same tensors and text."""
    from safetensors.torch import save

    return save(_apart(tensors), metadata={_KEY: text.decode()})


def _apart(tensors: Tensors) -> Tensors:
    """Weights that a network uses in two places are written twice: safetensors takes no shared ones."""
    seen: set[int] = set()
    found = {}
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        found[name] = tensor.clone() if tensor.data_ptr() in seen else tensor
        seen.add(tensor.data_ptr())
    return found


def read_packed(file: Path) -> tuple[Tensors, bytes]:
    """The tensors and the text; raises StoredFileError where the file is not one that was written here."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as stored:
            text = (stored.metadata() or {})[_KEY]
            return {name: stored.get_tensor(name) for name in stored.keys()}, text.encode()  # noqa: SIM118
    except (OSError, SafetensorError, KeyError) as error:
        raise StoredFileError(f"{file}: this can't be read ({error}). Train again, or remove it.") from error


class _Held(msgspec.Struct):
    plan: str
    state: msgspec.Raw


class Checkpoint:
    """Where a training of one plan can go on from. A checkpoint of another plan is refused."""

    def __init__(self, file: Path, plan: str) -> None:
        self.file, self.plan = file, plan

    def read(self) -> tuple[Tensors, bytes] | None:
        if not self.file.exists():
            return None
        tensors, text = read_packed(self.file)
        held = decode(text, _Held)
        if held.plan != self.plan:
            raise UsageError(
                f"{self.file.parent} holds an unfinished training on other data or with other options. "
                f"Choose another place, say overwrite, or remove it."
            )
        return tensors, bytes(held.state)

    def write(self, tensors: Tensors, state: bytes) -> None:
        text = msgspec.json.encode(_Held(self.plan, msgspec.Raw(state)))
        write_atomically(self.file, packed(tensors, text))

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)
