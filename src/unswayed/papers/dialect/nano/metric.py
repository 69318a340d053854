"""A trained NANO model as a metric: batched scores of candidates against references, sources or both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import msgspec

from unswayed.base import Json, StoredFileError, UsageError, decode_json, file_hash
from unswayed.lab.training.models import TrainingSettings
from unswayed.papers.dialect.nano.config import Format
from unswayed.papers.dialect.nano.corpus import ANY, RatedCandidate, acceptability, judged
from unswayed.papers.dialect.nano.training import Trained, load
from unswayed.systems import Metric, Segment
from unswayed.systems.device import require_torch, torch_threads


class NanoMetric(Metric):
    """A NANO model in a folder, as `unswayed train nano` leaves it: it uses what it was tuned with, and the tag."""

    deterministic = True

    def __init__(self, model: str = "") -> None:
        self._nano = Nano(model)
        form = self._nano.trained.format
        compared = {"reference": ("reference",), "source": ("source",)}.get(form, ("reference", "source"))
        self.uses = (*compared, "tag")
        self.tags = tuple(self._nano.trained.tags) or None
        self._file = Path(model, "model.safetensors")

    def decides(self) -> Json:
        return [self._nano.trained.format, file_hash(self._file)]

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        return self._nano.score(
            [segment.candidate for segment in segments],
            [segment.reference or "" for segment in segments],
            [segment.source or "" for segment in segments],
            [segment.tag or "" for segment in segments],
        )


class Nano:
    """Scores by the input format that the model was fine-tuned with."""

    def __init__(self, folder: str | Path, threads_: int = 1) -> None:
        require_torch("NANO", "transformers")
        file = Path(folder, "nano.json")
        try:
            self.trained = decode_json(file.read_bytes(), Trained)
        except OSError as error:
            raise UsageError(
                f"{folder} holds no trained NANO model: {file} can't be read ({error.strerror})."
            ) from error
        except msgspec.MsgspecError as error:
            raise StoredFileError(f"{file}: this can't be read ({error}). Train again.") from error
        self._network = load(folder, TrainingSettings(), self.trained.length)
        self._threads = threads_

    def score(
        self, candidates: Sequence[str], references: Sequence[str], sources: Sequence[str], tags: Sequence[str]
    ) -> list[float]:
        """A tag is a language (`pt`, which is `pt-any`) or a dialect (`pt-BR`)."""
        if not self.trained.format:
            raise UsageError("This model was only pretrained. Add a [finetune] phase, or use `acceptability`.")
        form = cast(Format, self.trained.format)
        texts = [
            judged(RatedCandidate(candidate, reference, source, tag, 0.0), form, self._tag(tag))
            for candidate, reference, source, tag in zip(candidates, references, sources, tags, strict=True)
        ]
        with torch_threads(self._threads):
            return self._network.scores(texts)

    def acceptability(self, texts: Sequence[str], tags: Sequence[str]) -> list[float]:
        """How well each text fits its tag."""
        pairs = zip(texts, tags, strict=True)
        with torch_threads(self._threads):
            return self._network.scores([acceptability(text, self._tag(tag)) for text, tag in pairs])

    def _tag(self, tag: str) -> str:
        whole = tag if "-" in tag else f"{tag}-{ANY}"
        known = self.trained.tags
        if known and whole not in known and f"{tag.split('-')[0]}-{ANY}" not in known:
            raise UsageError(f"The model never saw the tag {tag!r}. It knows {', '.join(known)}.")
        return whole
