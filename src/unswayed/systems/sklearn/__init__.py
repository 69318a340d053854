"""Fitted models with `predict`, as scikit-learn's have, in one's own Python; those in files are `sklearn/skops`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unswayed.base.errors import UsageError
from unswayed.base.ids import content_id
from unswayed.base.values import Inputs, Json
from unswayed.systems.callable import CallableSystem, declared_determinism, qualified_name, state_id
from unswayed.systems.system import Failed, missing_input, predict_readable


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
        if sure is None and callable(params := getattr(model, "get_params", None)):
            # A model that is scikit-learn's own in all its parts gives the same answer again, unless it guesses.
            parts = [model, *(part for part in params().values() if callable(part) or hasattr(part, "get_params"))]
            modules = [getattr(part, "__module__", None) or "" for part in parts if not isinstance(part, type)]
            own_parts = all(module.startswith("sklearn.") and module != "sklearn.dummy" for module in modules)
            sure = True if own_parts else None
        name = name or qualified_name(type(model))
        super().__init__(self._predicted, name, identity or pinned, batch_size, sure, takes="batch")

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return predict_readable(batch, self._input_problem, super().predict)

    def _input_problem(self, inputs: Inputs) -> str | None:
        if lacks := missing_input(inputs, self.fields):
            return f"{lacks}; choose texts with the option fields"
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
