"""BERTScore over any Hugging Face encoder in a folder: each token with the token of the other text that is likest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unswayed.base import Json, MissingExtra, UsageError
from unswayed.systems import Metric, ModelFolder, Segment
from unswayed.systems.device import learning


class Bertscore(Metric):
    """BERTScore's F1, from the `bert-score` package, without rescaling. `layer` counts from 1; 0 is the last."""

    deterministic = True

    def __init__(self, model: str = "", layer: int = 0, batch: int = 64) -> None:
        if not model or not Path(model, "config.json").exists():
            raise ValueError("model must name the folder of a Hugging Face encoder")
        self._folder, self._layer, self._batch = ModelFolder(model, "encoder"), layer, batch
        self._scorer: Any = None

    def decides(self) -> Json:
        return [self._layer, self._folder.content, *learning().decides()]

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        """An empty text has no tokens to compare: it is like another empty one alone."""
        texts = [(segment.candidate.strip(), (segment.reference or "").strip()) for segment in segments]
        found = [float(a == b) for a, b in texts]
        due = [i for i, (a, b) in enumerate(texts) if a and b]
        if due:
            candidates, references = [texts[i][0] for i in due], [texts[i][1] for i in due]
            _, _, f1 = self._opened().score(candidates, references, batch_size=self._batch)
            for i, score in zip(due, f1.tolist(), strict=True):
                found[i] = float(score)
        return found

    def _opened(self) -> Any:
        if self._scorer is None:
            try:
                from bert_score import BERTScorer
            except ImportError as error:
                raise MissingExtra("the metric bertscore", "hf") from error
            try:
                # The package opens the folder in its own way; what that could run was refused when this was made.
                layers = self._layer or int(self._folder.config["num_hidden_layers"])
                device = str(learning().torch_device())
                self._scorer = BERTScorer(
                    model_type=str(self._folder.path), num_layers=layers, device=device, nthreads=1
                )
            except (OSError, ValueError, KeyError) as error:
                raise UsageError(f"{self._folder.path} is not an encoder that can be loaded: {error}") from error
        return self._scorer
