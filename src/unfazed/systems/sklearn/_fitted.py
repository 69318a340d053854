"""A fitted object with `predict`, such as a scikit-learn Pipeline, as a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unfazed.core.errors import UsageError
from unfazed.core.ids import content_id
from unfazed.core.values import Inputs, Json
from unfazed.systems.callable import CallableSystem
from unfazed.systems.fingerprint import name_of
from unfazed.systems.sklearn._state import state_id
from unfazed.systems.system import Failed


class Fitted(CallableSystem):
    """Asks `model.predict`: a list of texts where one text is read, columns where several are.

    A model that was fitted on a DataFrame gets one, with its own columns. Its identity is all that it has learnt.
    """

    def __init__(
        self,
        model: Any,
        name: str | None = None,
        fields: str | Sequence[str] | None = None,
        identity: str | None = None,
        batch_size: int = 256,
    ) -> None:
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
        super().__init__(self._asked, name or name_of(type(model)), identity or pinned, batch_size)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        problems = [self._lacking(inputs) for inputs in batch]
        found = iter(super().predict([inputs for inputs, lacks in zip(batch, problems, strict=True) if not lacks]))
        return [Failed(lacks, final=True) if lacks else next(found) for lacks in problems]

    def _lacking(self, inputs: Inputs) -> str | None:
        absent = next((field for field in self.fields if field not in inputs), None)
        if absent is not None:
            return f"the input has no {absent!r}: say what to read with the option fields"
        if not self.fields and len(inputs) != 1:
            return f"there are the texts {', '.join(sorted(inputs))}: say which with the option fields"
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
