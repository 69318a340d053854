"""Any Python callable that maps a list of inputs to a list of outputs, as a system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any

from unfazed.core.errors import SystemBroken
from unfazed.core.values import Inputs, Json
from unfazed.systems.fingerprint import fingerprint, name_of
from unfazed.systems.plain import plain
from unfazed.systems.system import Failed, System


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

    @property
    def identity(self) -> str:
        return self._identity

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        if not batch:
            return []
        # Copies, as a function may well edit its inputs in place.
        outputs = self._listed(self.function([dict(inputs) for inputs in batch]), len(batch))
        return [plain(output) for output in outputs]

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
