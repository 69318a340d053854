"""Fine-tuning of a Hugging Face model: its lessons in the shared training loop, and the folder that comes out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from unswayed.base.errors import StoredFileError
from unswayed.base.ids import content_id, file_hash
from unswayed.base.json import decode
from unswayed.base.progress import Progress
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example
from unswayed.storage.files import write_atomically
from unswayed.systems.device import learning
from unswayed.systems.hf._lessons import Lesson, Teachable
from unswayed.systems.hf._model import Options
from unswayed.systems.loop import Checkpoint, Loop
from unswayed.systems.training import ModelCard, Place, TrainingSettings

VERSION_OF_TUNING = 1


class TunedCard(ModelCard, frozen=True, kw_only=True):
    """What was trained from what, and the options that the model is to be asked with."""

    options: Options


class Tuned(nn.Module):
    """A model as the training loop takes it. Weights that are one tensor under two names are kept once."""

    def __init__(self, model: Any, settings: TrainingSettings) -> None:
        super().__init__()
        self.model = model
        self.settings = settings

    def parts(self) -> list[list[nn.Parameter]]:
        return [[p for p in self.model.parameters() if p.requires_grad]]

    def loss(self, batch: dict[str, Tensor], gold: dict[str, Tensor], part: int) -> Tensor:
        loss: Tensor = self.model(**batch, **gold).loss
        return loss

    def state_dict(self, *args: Any, **options: Any) -> dict[str, Any]:  # type: ignore[override]
        seen: set[tuple[int, torch.Size]] = set()
        kept = {}
        for name, tensor in super().state_dict(*args, **options).items():
            key = (tensor.data_ptr(), tensor.shape)
            if key not in seen or not tensor.numel():
                kept[name] = tensor
            seen.add(key)
        return kept

    def load_state_dict(self, state: Any, strict: bool = False, assign: bool = False) -> Any:
        return super().load_state_dict(state, strict=False)


class Tuning(Loop):
    """Lessons of one system in, its own score on dev."""

    def __init__(
        self, system: Teachable, settings: TrainingSettings, learnt: Sequence[Example], dev: Sequence[Example]
    ) -> None:
        self.system, self.dev = system, dev
        self._lessons: list[Lesson] = [lesson for n, e in enumerate(learnt) for lesson in system.lessons(n, e)]
        lengths = [len(lesson.row["input_ids"]) for lesson in self._lessons]
        super().__init__(Tuned(system.model, settings), lengths, Seeds(settings.seed, system.name, VERSION_OF_TUNING))

    def collated(self, chosen: list[int]) -> tuple[Any, Any]:
        lessons = [self._lessons[i] for i in chosen]
        batch = self.system.padded([lesson.row for lesson in lessons])
        return batch, self.system.targets(lessons, batch["input_ids"].shape[1])

    def score(self, network: Any) -> float:
        network.eval()
        with torch.inference_mode():
            return self.system.mark(self.dev)


class TunedPlace(Place):
    """A folder as `save_pretrained` leaves it, with a card beside, which is written last."""

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder)
        self.weights = self.folder / "model.safetensors"

    def keep(self, system: Teachable, card: TunedCard) -> None:
        from unswayed.systems.folders import no_bars

        try:
            with no_bars():
                system.model.save_pretrained(self.folder, max_shard_size="1000GB")
                system.tokenizer.save_pretrained(self.folder)
            card = msgspec.structs.replace(card, weights=file_hash(self.weights))
        except OSError as error:
            raise StoredFileError(f"{self.folder}: the model can't be written ({error}).") from error
        write_atomically(self.card, msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")


def tuned(
    system: Teachable, task: str, settings: TrainingSettings, learnt: list[Example], dev: list[Example],
    to: str | Path, overwrite: bool, progress: bool,
) -> TunedCard:  # fmt: skip
    """Trains the system's model and leaves it in a folder; a training that was killed goes on from its last epoch."""
    card = _card(system, task, settings, learnt, dev)
    place = TunedPlace(to)
    if place.holds(plan=card.plan):
        return decode(place.card.read_bytes(), TunedCard)
    place.claim(overwrite)
    training = Tuning(system, settings, learnt, dev)
    checkpoint = Checkpoint(place.checkpoint, card.plan)
    stream = sys.stderr if progress else StringIO()
    with Progress(f"training {system.name}", settings.epochs * len(training._lengths), stream) as counted:
        history = training.run(checkpoint, counted)
    card = msgspec.structs.replace(card, dev_scores=history.scores)
    place.keep(system, card)
    checkpoint.remove()
    return card


def _card(
    system: Teachable, task: str, settings: TrainingSettings, learnt: Sequence[Example], dev: Sequence[Example]
) -> TunedCard:
    import transformers

    data, tested = (content_id([[e.inputs, e.gold] for e in part], 16) for part in (learnt, dev))
    versions = [str(torch.__version__), transformers.__version__]
    decides = [system.name, VERSION_OF_TUNING, task, settings, system.options, system.folder.content, data, tested]
    return TunedCard(
        system=system.name,
        version=VERSION_OF_TUNING,
        task=task,
        settings=settings,
        options=msgspec.structs.replace(system.options, labels=None),
        examples=len(learnt),
        data=data,
        dev_examples=len(dev),
        dev_scores=[],
        plan=content_id([*decides, *versions, *learning().decides()], 16),
    )
