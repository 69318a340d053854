"""Functions, and fitted objects with `predict`, as systems: what was made in one's own Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any

from unswayed.base.chat import CHAT, as_sent
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.ids import content_id
from unswayed.base.values import Inputs, Json
from unswayed.systems.fingerprint import fingerprint, qualified_name, state_id
from unswayed.systems.system import Failed, System, plain_each


def declared_determinism(system: object) -> bool | None:
    """What a user's function or object says of itself by `unswayed_deterministic`; a method's object speaks for it."""
    for one in (system, getattr(system, "__self__", None)):
        deterministic: bool | None = getattr(one, "unswayed_deterministic", None)
        if deterministic is not None:
            return deterministic
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
        self.deterministic = declared_determinism(function) if deterministic is None else deterministic
        self.name = name or qualified_name(function)
        self.batch_size = batch_size
        named = identity if identity is not None else getattr(function, "unswayed_identity", None)
        # Taken once: calls may change what an instance holds, and that makes no new system.
        self._identity = f"{qualified_name(function)} {fingerprint(function)}" if named is None else str(named)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return plain_each(self.outputs(batch))

    def outputs(self, batch: Sequence[Inputs]) -> Sequence[object]:
        """What the function returns, as it is."""
        if not batch:
            return []
        # Copies, as a function may well edit its inputs in place.
        copies = [dict(as_sent(inputs)) if CHAT in inputs else inputs.copy() for inputs in batch]
        returned = self.function(copies)
        if callable(convert := getattr(returned, "tolist", None)):
            returned = convert()
        asked = f"{len(batch)} input{'s' * (len(batch) > 1)}"
        # A DataFrame goes through its columns and not its rows.
        table = len(getattr(returned, "shape", ())) == 2 and hasattr(returned, "columns")
        if not isinstance(returned, Iterable) or isinstance(returned, (str, bytes, Mapping, Set)) or table:
            hint = " Return one column, such as `list(frame['label'])`." if table else _hint(returned)
            raise SystemBroken(
                f"{self.name} returned {'None' if returned is None else type(returned).__qualname__} for {asked}; "
                f"it must return a list with one output for each input.{hint}"
            )
        whole = returned if isinstance(returned, (list, tuple)) else None
        outputs = list(islice(returned, len(batch) + 1)) if whole is None else whole
        if len(outputs) != len(batch):
            endless = whole is None and len(outputs) > len(batch)  # it may never end
            raise SystemBroken(
                f"{self.name} returned {f'more than {len(batch)}' if endless else len(outputs)} outputs for {asked}; "
                f"it must return one output for each input, in order."
            )
        if outputs and inspect.iscoroutine(outputs[0]):
            raise SystemBroken(f"{self.name} returned coroutines.{max(map(_hint, outputs))}")
        return outputs


def _hint(returned: object) -> str:
    """What may have gone wrong in a function that returned this in place of a list."""
    if returned is None:
        return " Does it end with `return`?"
    if inspect.iscoroutine(returned) or inspect.isasyncgen(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        return " An async function can't be called as it is. Wrap it: `return asyncio.run(answer_all(batch))`."
    if isinstance(returned, (str, bytes, Mapping)):
        return " It gets a list of inputs, such as [{'text': 'turn off the lights'}], and not one of them."
    return ""


class FittedModel(CallableSystem):
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
        pinned = f"{qualified_name(type(model))} {state_id(model)} {content_id(self.fields)}"
        sure = declared_determinism(model)
        sure = _is_repeatable(model) if sure is None else sure
        super().__init__(self._predicted, name or qualified_name(type(model)), identity or pinned, batch_size, sure)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        problems = [self._input_problem(inputs) for inputs in batch]
        found = iter(super().predict([inputs for inputs, lacks in zip(batch, problems, strict=True) if not lacks]))
        return [Failed(lacks, final=True) if lacks else next(found) for lacks in problems]

    def _input_problem(self, inputs: Inputs) -> str | None:
        absent = next((field for field in self.fields if field not in inputs), None)
        if absent is not None:
            return f"the input has no {absent!r}; choose texts with the option fields"
        if not self.fields and len(inputs) != 1:
            return f"there are the texts {', '.join(sorted(inputs))}; choose with the option fields"
        return None

    def _predicted(self, batch: list[Inputs]) -> Any:
        rows = [[inputs[name] for name in self.fields or inputs] for inputs in batch]
        if self._columns is not None:
            import pandas

            return self.model.predict(pandas.DataFrame(rows, columns=self._columns))
        if len(self.fields) < 2:
            return self.model.predict([row[0] for row in rows])
        import numpy as np

        return self.model.predict(np.array(rows, dtype=object))


def _is_repeatable(model: Any) -> bool | None:
    """True for a model that is scikit-learn's own in all its parts and does not guess; None if that is not known."""
    if not callable(params := getattr(model, "get_params", None)):
        return None
    parts = [model, *(part for part in params().values() if callable(part) or hasattr(part, "get_params"))]
    modules = [getattr(part, "__module__", None) or "" for part in parts if not isinstance(part, type)]
    own = all(module.startswith("sklearn.") and module != "sklearn.dummy" for module in modules)
    return True if own else None
