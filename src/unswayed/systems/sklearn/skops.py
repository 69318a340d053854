"""`sklearn/skops`: a scikit-learn model in a skops file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError, option
from unswayed.base.ids import content_id
from unswayed.systems.callable import state_id
from unswayed.systems.sklearn import FittedModel


class SkopsModel(FittedModel):
    """A scikit-learn model from a skops file; types beyond scikit-learn's and numpy's must be trusted by name."""

    def __init__(
        self, path: str | Path, fields: str | Sequence[str] | None = None, trusted: str | Sequence[str] = (),
        batch_size: int = 256,
    ) -> None:  # fmt: skip
        if any(find_spec(module) is None for module in ("sklearn", "skops")):
            raise MissingExtra("A skops file", "sklearn")
        import skops.io

        file, names = Path(path), trusted.split(",") if isinstance(trusted, str) else list(trusted)
        if not file.is_file():
            raise UsageError(f"There is no file {file}. Save a model with skops.io.dump(model, 'model.skops').")
        if file.suffix in (".pkl", ".pickle", ".joblib"):
            raise UsageError(
                f"{file} is a pickle, and to open one can run code. Where you trust it, load it yourself once and save "
                f"the model with skops.io.dump(model, 'model.skops')."
            )
        try:
            unknown = sorted(set(skops.io.get_untrusted_types(file=file)) - set(names))
        except Exception as error:  # whatever a damaged file makes it raise
            raise StoredFileError(f"{file}: this can't be read as a skops file ({str(error)[:300]}).") from error
        if unknown:
            raise UsageError(
                f"{file} holds types that are not trusted: {', '.join(unknown)}. To make them may run code. Where they "
                f"are known to be harmless: {option('option trusted=', 'trusted')}{','.join(unknown)}"
            )
        try:
            model = skops.io.load(file, trusted=names)
        except Exception as error:
            why = f"{type(error).__name__}: {error!s:.300}"
            raise StoredFileError(f"{file}: the model can't be made ({why}).") from error
        if not hasattr(model, "predict"):
            raise UsageError(f"{file} holds a {type(model).__qualname__}, which has no predict.")
        fitted = f"sklearn/skops {state_id(model)} {content_id(fields)}"  # the file itself has ids of its day
        super().__init__(model, f"sklearn:{file}", fields, fitted, batch_size)
