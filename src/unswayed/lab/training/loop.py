"""The one training loop: steps, averaged weights, a score on dev after each epoch, and checkpoints to go on from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from unswayed.base.errors import StoredFileError, UsageError, option
from unswayed.base.ids import decode
from unswayed.base.progress import Progress
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example
from unswayed.lab.training.models import TrainingSettings
from unswayed.storage.files import write_atomically
from unswayed.systems.device import beside, home, learning, out_of_memory, placed, torch_seed

if TYPE_CHECKING:
    from unswayed.lab.training.tuning import Course

Tensors = dict[str, Tensor]
TUNING = 1  # version of fine-tuning, of which random numbers are drawn
_KEY = "unswayed"  # the only entry of the metadata, whose order would otherwise change from run to run


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of whole numbers, with zeros after the shorter ones."""
    out = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return torch.from_numpy(out)


def packed(tensors: Tensors, text: bytes) -> bytes:
    """The content of a file, the same for the same tensors and text."""
    from safetensors.torch import save

    # Weights that a network uses in two places are written twice: safetensors takes no shared ones.
    seen: set[int] = set()
    apart = {}
    for name, tensor in tensors.items():
        tensor = home(tensor).contiguous()
        apart[name] = tensor.clone() if tensor.data_ptr() in seen else tensor
        seen.add(tensor.data_ptr())
    return save(apart, metadata={_KEY: text.decode()})


def read_packed(file: Path) -> tuple[Tensors, bytes]:
    """The tensors and the text; raises StoredFileError where the file is not one that was written here."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as stored:
            text = (stored.metadata() or {})[_KEY]
            return {name: stored.get_tensor(name) for name in stored.keys()}, text.encode()  # noqa: SIM118
    except (OSError, SafetensorError, KeyError) as error:
        raise StoredFileError(f"{file}: this can't be read ({error}). Train again, or remove it.") from error


class _CheckpointText(msgspec.Struct):
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
        held = decode(text, _CheckpointText)
        if held.plan != self.plan:
            raise UsageError(
                f"{self.file.parent} holds an unfinished training on other data or with other options. "
                f"Choose another folder, use {option('overwrite')}, or delete it."
            )
        return tensors, bytes(held.state)

    def write(self, tensors: Tensors, state: bytes) -> None:
        text = msgspec.json.encode(_CheckpointText(self.plan, msgspec.Raw(state)))
        write_atomically(self.file, packed(tensors, text))

    def fits(self) -> bool:
        """Is there one, of this plan?"""
        try:
            return self.read() is not None
        except UsageError:
            return False

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)


_TOGETHER = 20  # batches that are cut from one stretch of the shuffled data, so that their texts are of like length
_WARM_UP = 200  # steps at most, and a tenth of all, where the settings have no number
_LOWEST = 0.02  # of the learning rate, at the end
_CLIP = 5.0


class History(msgspec.Struct):
    """How far a training has come."""

    scores: list[float] = []  # end to end on dev, an epoch each
    best: int = -1  # the epoch whose weights are kept


class Loop:
    """Trains a network, which ends with the averaged weights of the epoch that did best on dev.

    Extend with how examples become a batch, and with the score.
    """

    def __init__(self, network: Any, lengths: Sequence[int], seeds: Seeds) -> None:
        """`lengths` are those of the examples; the network has `settings`, `parts()` and `loss(batch, gold, part)`."""
        self.network = network = placed(network, learning())
        self.settings: TrainingSettings = network.settings
        self.history = History()
        self._seeds = seeds
        self.lengths = lengths
        self._averaged = deepcopy(network) if self.settings.average else network
        self._best: Tensors = {}
        self._optimisers = [
            torch.optim.AdamW(part, lr=self.settings.lr, weight_decay=self.settings.weight_decay, fused=True)
            for part in network.parts()
        ]

    def collated(self, chosen: list[int]) -> tuple[Any, Any]:
        """The batch and the gold of these examples, as the network's loss takes them."""
        raise NotImplementedError

    def score(self, network: Any) -> float:
        """How well a network does on dev, from 0 to 1."""
        raise NotImplementedError

    def run(self, checkpoint: Checkpoint | None, progress: Progress) -> History:
        """Goes on from the checkpoint, if there is one, and leaves one after each epoch."""
        if checkpoint and (stored := checkpoint.read()):
            self._restore(*stored)
            progress.skip(len(self.history.scores) * len(self.lengths))
        history, most, patience = self.history, self.settings.epochs, self.settings.patience
        while (epoch := len(history.scores)) < most:
            if epoch and (epoch - 1 - history.best >= patience or history.scores[history.best] == 1.0):
                break
            # All that is random in an epoch follows from its number, so that a checkpoint need not hold it.
            stream = self._seeds.stream("epoch", epoch)
            try:
                with torch_seed(stream.bits() >> 1):
                    self._epoch(epoch, stream.numpy(), progress)
            except RuntimeError as error:
                if not out_of_memory(error):
                    raise
                raise UsageError(
                    f"The device has too little memory for this training. Use a smaller {option('batch-size')}, or "
                    f"{option('device')} cpu."
                ) from error
            history.scores.append(self.score(self._averaged))
            if history.best < 0 or history.scores[-1] > history.scores[history.best]:
                history.best = len(history.scores) - 1
                self._best = {name: t.detach().clone() for name, t in self._averaged.state_dict().items()}
            progress.what = f"{self._what(epoch)}, dev {self.history.scores[-1]:.1%}"
            if checkpoint:
                # All that training goes on from.
                found = {f"network.{name}": t for name, t in self.network.state_dict().items()}
                if self._averaged is not self.network:
                    found |= {f"averaged.{name}": t for name, t in self._averaged.state_dict().items()}
                found |= {f"best.{name}": t for name, t in self._best.items()}
                for n, optimiser in enumerate(self._optimisers):
                    for parameter, state in optimiser.state_dict()["state"].items():
                        found |= {f"optimiser{n}.{parameter}.{name}": t for name, t in state.items()}
                checkpoint.write(found, msgspec.json.encode(history))
        self.network.load_state_dict(self._best)
        self.network.eval()
        return self.history

    def _what(self, epoch: int) -> str:
        return f"epoch {epoch + 1} of {self.settings.epochs}"

    def _epoch(self, epoch: int, rng: np.random.Generator, progress: Progress) -> None:
        self.network.train()
        # Examples in random order, those of like length together, and the batches in random order again.
        size, order = self.settings.batch_size, rng.permutation(len(self.lengths)).tolist()
        batches = []
        for start in range(0, len(order), size * _TOGETHER):
            stretch = sorted(order[start : start + size * _TOGETHER], key=lambda i: self.lengths[i])
            batches += [stretch[at : at + size] for at in range(0, len(stretch), size)]
        steps = len(batches) * self.settings.epochs
        warm_up = min(_WARM_UP, steps / 10) if self.settings.warm_up is None else self.settings.warm_up
        for n, k in enumerate(rng.permutation(len(batches)).tolist(), epoch * len(batches)):
            chosen = batches[k]
            batch, gold = beside(self.network, self.collated(chosen))
            for part, optimiser in enumerate(self._optimisers):
                # The learning rate goes up in the first steps, then down along a cosine.
                warm, turn = warm_up or 1.0, (1 + math.cos(math.pi * n / steps)) / 2
                rate = min(1.0, (n + 1) / warm) * (_LOWEST + (1 - _LOWEST) * turn)
                for group in optimiser.param_groups:
                    group["lr"] = self.settings.lr * rate
                optimiser.zero_grad()
                self.network.loss(batch, gold, part).backward()
                nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], _CLIP)
                optimiser.step()
            if self._averaged is not self.network:
                # Weights that move slowly behind the trained ones: their mean over the last steps, nearly.
                keep = min(self.settings.average, (2 + n) / (11 + n))
                with torch.no_grad():
                    for behind, ahead in zip(self._averaged.parameters(), self.network.parameters(), strict=True):
                        behind.lerp_(ahead, 1 - keep)
            progress.add(len(chosen))

    def _restore(self, tensors: Tensors, history: bytes) -> None:
        self.history = msgspec.json.decode(history, type=History)
        self.network.load_state_dict(_with_prefix("network.", tensors))
        if self._averaged is not self.network:
            self._averaged.load_state_dict(_with_prefix("averaged.", tensors))
        self._best = _with_prefix("best.", tensors)
        for n, optimiser in enumerate(self._optimisers):
            states: dict[int, Tensors] = {}
            for name, tensor in _with_prefix(f"optimiser{n}.", tensors).items():
                parameter, _, key = name.partition(".")
                states.setdefault(int(parameter), {})[key] = tensor
            optimiser.load_state_dict(optimiser.state_dict() | {"state": states})


def _with_prefix(prefix: str, tensors: Tensors) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}


class TunedNetwork(nn.Module):
    """A model of transformers' as the loop takes it. Weights that are one tensor under two names are kept once."""

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


class TuningLoop(Loop):
    """The lessons of a course, with its own score on dev."""

    def __init__(
        self, course: Course[Any], settings: TrainingSettings, learnt: Sequence[Example], dev: Sequence[Example]
    ) -> None:
        self.course, self.dev = course, dev
        self._lessons = [lesson for n, example in enumerate(learnt) for lesson in course.lessons(n, example)]
        lengths = [len(lesson.row["input_ids"]) for lesson in self._lessons]
        system = course.system
        super().__init__(TunedNetwork(system.model, settings), lengths, Seeds(settings.seed, system.name, TUNING))

    def collated(self, chosen: list[int]) -> tuple[Any, Any]:
        lessons = [self._lessons[i] for i in chosen]
        return self.course.system.padded([lesson.row for lesson in lessons]), self.course.targets(lessons)

    def score(self, network: Any) -> float:
        network.eval()
        with torch.inference_mode():
            return self.course.score(self.dev)
