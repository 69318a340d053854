"""Where models run: the one place that puts networks, tensors and ONNX graphs on a device, in a number format.

Also what else is set for torch: how many threads it has, and what its random numbers come from.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass, replace
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

from unswayed.base.errors import MissingExtra, SystemBroken, UsageError, environment_set, option
from unswayed.base.values import Json

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE, _DTYPE = "UNSWAYED_DEVICE", "UNSWAYED_DTYPE"  # in the environment, so that worker processes have them
_ELSEWHERE = "UNSWAYED_DEVICE_ELSEWHERE"
_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider", "mps": "CoreMLExecutionProvider"}
T = TypeVar("T")
R = TypeVar("R")


class DeviceChoice(NamedTuple):
    """A device and a number format as they were chosen; `auto` is the best device, and float32."""

    device: str = "auto"
    dtype: str = "auto"

    @property
    def kind(self) -> str:
        """cpu, cuda or mps; of `auto`, the first of cuda, mps and cpu that is there."""
        return self.device if self.device != "auto" else found()[0]

    def decides(self) -> list[Json]:
        """What of it changes answers: nothing on a CPU in float32, so that the answers of before are still good."""
        usual = (self.kind, self.number) == ("cpu", "float32")
        return [] if usual else [self.kind, self.number]

    @property
    def number(self) -> str:
        return "float32" if self.dtype == "auto" else self.dtype

    @property
    def suffix(self) -> str:
        """The same at the end of an identity."""
        return "".join(f" {part}" for part in self.decides())

    def options(self) -> dict[str, Json]:
        """What opens a system in another process at the same place."""
        return {name: value for name, value in self._asdict().items() if value != "auto"}

    def torch_device(self) -> Any:
        """The device; raises if it is not there."""
        import torch

        there = found()
        if self.kind in there or self.kind not in DEVICES:
            return torch.device(self.kind)
        if os.environ.get(_ELSEWHERE):  # a worker of another machine answers; here the model is only looked at
            return torch.device("cpu")
        raise unavailable(self.kind, there)

    def onnx_kind(self) -> str:
        """The kind of device that ONNX Runtime uses."""
        return _with_providers()[0] if self.device == "auto" else self.device

    def providers(self) -> list[str]:
        """The providers of ONNX Runtime for this device, the CPU's last."""
        there, kind = _with_providers(), self.onnx_kind()
        if kind not in there and not os.environ.get(_ELSEWHERE):
            raise unavailable(kind, there, "ONNX Runtime")
        if self.dtype not in ("auto", "float32"):
            raise UsageError(f"An ONNX graph has a number format of its own. Leave out {option('dtype')}.")
        return list(dict.fromkeys(_PROVIDERS[k] for k in (kind, "cpu") if k in there))


def _with_providers() -> list[str]:
    """The kinds of device that ONNX Runtime has here, the fastest first."""
    import onnxruntime

    available = onnxruntime.get_available_providers()
    return [kind for kind in ("cuda", "mps", "cpu") if _PROVIDERS[kind] in available]


def unavailable(kind: str, there: Sequence[str], who: str = "PyTorch") -> UsageError:
    """The error of a device that is not there."""
    more = " Is a build for CUDA installed, and the driver running?" if kind == "cuda" else ""
    return UsageError(
        f"{who} finds no {kind} here. Available: {', '.join(there)}.{more} Use {option('device')} auto or cpu."
    )


def chosen() -> DeviceChoice:
    """The place that was chosen for all that is opened now; unless one was, `auto`."""
    return checked(os.environ.get(_DEVICE), os.environ.get(_DTYPE))


def learning() -> DeviceChoice:
    """The place of what is trained here, or was: the device that was chosen, always in float32."""
    return chosen()._replace(dtype="float32")


def checked(device: str | None, dtype: str | None) -> DeviceChoice:
    """The place of these names, `auto` where there is none; raises if a name is not known."""
    for name, value, known in (("device", device, DEVICES), ("dtype", dtype, DTYPES)):
        if value and value not in known:
            raise UsageError(f"{option(name)} must be {', '.join(known[:-1])} or {known[-1]}, not {value!r:.60}.")
    return DeviceChoice(device or "auto", dtype or "auto")


def found() -> list[str]:
    """The kinds of device that torch has here, the fastest first."""
    if find_spec("torch") is None:
        return ["cpu"]
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [kind for kind, is_there in there.items() if is_there]


def using(device: str | None = None, dtype: str | None = None) -> AbstractContextManager[None]:
    """While this is open, models are opened on this device and in this number format, also in worker processes.

    Example: `with using("cuda", "bfloat16"): system = unswayed.open_system("hf:model/")`.
    """
    checked(device, dtype)
    return environment_set({_DEVICE: device or None, _DTYPE: dtype or None})


def elsewhere() -> AbstractContextManager[None]:
    """While this is open, a device that is not there is no error: workers of another machine have it."""
    return environment_set({_ELSEWHERE: "1"})


def placed(network: Any, place: DeviceChoice) -> Any:
    """The network on its device."""
    return network.to(place.torch_device())


def beside(network: Any, batch: Any) -> Any:
    """Tensors, in whatever holds them, on the device of the network that reads them."""
    first = next(network.parameters(), None)
    if first is None:
        return batch

    def moved(value: Any) -> Any:
        if hasattr(value, "to") and hasattr(value, "dtype"):
            return value.to(first.device)
        if isinstance(value, Mapping):
            return {name: moved(one) for name, one in value.items()}
        if isinstance(value, (list, tuple)):
            parts = [moved(one) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: moved(getattr(value, f.name)) for f in fields(value)})
        return value

    return moved(batch)


def require_torch(what: str, *modules: str) -> None:
    """Raises MissingExtra unless torch, safetensors and these modules are installed."""
    if any(find_spec(module) is None for module in ("torch", "safetensors", *modules)):
        raise MissingExtra(what, "hf")


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Sums are taken in an order that depends on the number of threads, so it is set, and set back."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Torch draws from this seed inside, and goes on outside as if nothing had been drawn."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def home(tensor: Any) -> Any:
    """A tensor where every program can read it: on the CPU."""
    return tensor.detach().cpu()


def out_of_memory(error: BaseException) -> bool:
    """Did a device, or ONNX Runtime on it, have too little memory?"""
    known = ("OutOfMemoryError", "MemoryError")
    said = str(error).lower()
    return type(error).__name__ in known or (
        isinstance(error, RuntimeError) and ("out of memory" in said or "failed to allocate memory" in said)
    )


def speech_place() -> tuple[str, str]:
    """The device and number format for CTranslate2, which runs Whisper models: on a CPU, 8-bit numbers by default."""
    import ctranslate2

    place, there = chosen(), ["cpu", *(["cuda"] if ctranslate2.get_cuda_device_count() else [])]
    kind = there[-1] if place.device == "auto" else place.device
    if kind not in there:
        raise unavailable(kind, there, "CTranslate2")
    return kind, ("int8" if kind == "cpu" else "float16") if place.dtype == "auto" else place.dtype


class Halving:
    """Asks a model for as many items at once as fit into its device's memory; what fits is remembered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.most: int | None = None  # items at once; None until they were too many

    def over(self, work: Callable[[Sequence[T]], Sequence[R]], items: Sequence[T]) -> list[R]:
        """What `work` gives for the items, in order."""
        done: list[R] = []
        while len(done) < len(items):
            some = items[len(done) : len(done) + (self.most or len(items))]
            try:
                done += work(some)
            except Exception as error:
                if not out_of_memory(error):
                    raise
                if len(some) == 1:
                    raise SystemBroken(
                        f"{self.name}: one text alone needs more memory than the device has ({str(error)[:200]}). "
                        f"Use {option('dtype')} float16, a smaller model, or {option('device')} cpu."
                    ) from error
                if self.most is None:
                    note = f"{len(some)} texts at once need too much memory. The batch size is halved until they fit."
                    print(f"unswayed: {self.name}: {note}", file=sys.stderr)
                self.most = len(some) // 2
                if (torch := sys.modules.get("torch")) and torch.cuda.is_available():
                    torch.cuda.empty_cache()
        return done
