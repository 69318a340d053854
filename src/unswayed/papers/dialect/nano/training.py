"""Training NANO: the network, and its phases of pretraining and fine-tuning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import count, islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from unswayed.base import Progress, Seeds, Stream, UsageError, content_id, decode_json
from unswayed.lab.training.loop import Checkpoint, Loop
from unswayed.lab.training.models import TrainingSettings
from unswayed.papers.dialect.nano.config import Config, Finetuning, Pretraining
from unswayed.papers.dialect.nano.corpus import (
    ANY,
    Instance,
    RatedCandidate,
    Shards,
    TaggedSentence,
    Tags,
    acceptability,
    judged,
    ratings,
)
from unswayed.score import kendall
from unswayed.storage import write_atomically
from unswayed.systems import ModelFolder
from unswayed.systems.device import beside, require_torch, torch_seed, torch_threads

SCORED = "<extra_id_0>"  # the token whose logit is the score, where the vocabulary has it; else its last one

_TAIL = 16  # tokens at the end that are always kept


class NanoNetwork(nn.Module):
    """The model, its tokenizer, and the settings of its training."""

    def __init__(self, model: Any, tokenizer: Any, settings: TrainingSettings, length: int) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        self.length = length
        self.token = _token(tokenizer, model)
        self.start = int(model.config.decoder_start_token_id or 0)

    def parts(self) -> list[list[nn.Parameter]]:
        return [list(self.parameters())]

    def collate(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """What is too long is cut in the middle: the tag, without which there is nothing to tell, stands at the end."""
        rows = self.tokenizer(list(texts), padding=False, truncation=False)["input_ids"]
        rows = [ids if len(ids) <= self.length else ids[: self.length - _TAIL] + ids[-_TAIL:] for ids in rows]
        ids = torch.full((len(rows), max(map(len, rows))), int(self.tokenizer.pad_token_id or 0))
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        return {"input_ids": ids, "attention_mask": mask}

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        first = torch.full((len(batch["input_ids"]), 1), self.start, device=batch["input_ids"].device)
        logits: Tensor = self.model(**batch, decoder_input_ids=first).logits
        return logits[:, 0, self.token]

    def loss(self, batch: dict[str, Tensor], gold: Tensor, part: int) -> Tensor:
        """The root of the mean square; the small number keeps its slope finite at zero."""
        missed: Tensor = self(batch) - gold
        return (missed.square().mean() + 1e-8).sqrt()

    @torch.no_grad()
    def scores(self, texts: Sequence[str], batch_size: int = 64) -> list[float]:
        """Inputs of like length are scored together; the order of the result is that of the texts."""
        self.eval()
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = [0.0] * len(texts)
        for at in range(0, len(order), batch_size):
            chosen = order[at : at + batch_size]
            batch = beside(self, self.collate([texts[i] for i in chosen]))
            for i, score in zip(chosen, self(batch).tolist(), strict=True):
                found[i] = score
        return found


def load(path: str | Path, settings: TrainingSettings, length: int) -> NanoNetwork:
    """A model and tokenizer saved in a folder, weights as safetensors."""
    folder = ModelFolder(path, "sequence-to-sequence model")
    tokenizer, model = folder.tokenizer(), folder.model("AutoModelForSeq2SeqLM", learns=True)
    return NanoNetwork(model, tokenizer, settings, length)


def _token(tokenizer: Any, model: Any) -> int:
    known = tokenizer.convert_tokens_to_ids(SCORED)
    unknown = tokenizer.unk_token_id
    return int(known) if known is not None and known != unknown else int(model.config.vocab_size) - 1


_BUFFER = 20_000  # sentences that are shuffled together
_DEV_MOST = 2_000
_TOGETHER = 20  # batches that are cut from one stretch of instances, sorted by length
Instances = Callable[[], Iterator[Instance]]
After = Callable[[str, "NanoNetwork", float], None]


class Trained(msgspec.Struct):
    """How the phases went: the dev score after each round, what it is, and the sentences left out by reason."""

    pretrain: list[float] = []
    finetune: list[float] = []
    dropped: dict[str, int] = {}
    tags: list[str] = []
    format: str = ""
    length: int = 256


class _Phase(Loop):
    """One phase. The instances of a round follow from its number, so that a stopped training goes on alike."""

    def __init__(
        self, network: NanoNetwork, instances: Instances, dev: Callable[[NanoNetwork], float], steps: int, seeds: Seeds
    ) -> None:
        self._instances = instances
        self._dev = dev
        self._steps = steps
        self._stream: Iterator[Instance] | None = None
        super().__init__(network, range(steps * network.settings.batch_size), seeds)

    def _epoch(self, epoch: int, rng: np.random.Generator, progress: Progress) -> None:
        if self._stream is None:
            done = epoch * self._steps * self.settings.batch_size
            self._stream = islice(self._instances(), done, None)
        super()._epoch(epoch, rng, progress)

    def _batches(self, rng: np.random.Generator) -> Iterator[list[int]]:
        size = self.settings.batch_size
        return (list(range(at * size, (at + 1) * size)) for at in range(self._steps))

    def collated(self, chosen: list[int]) -> tuple[dict[str, Tensor], Tensor]:
        assert self._stream is not None
        taken = list(islice(self._stream, len(chosen)))
        return self.network.collate([one.text for one in taken]), torch.tensor([one.target for one in taken])

    def score(self, network: NanoNetwork) -> float:
        return self._dev(network)

    def _what(self, epoch: int) -> str:
        return f"round {epoch + 1} of {self.settings.epochs}"


def train(config: Config, after: After | None = None) -> Trained:
    """Pretrains, fine-tunes, or both, and saves the model. Called again after a stop, it goes on.

    `after` is called after every round with the phase, the network and its score on dev.
    """
    require_torch("training NANO", "transformers")
    to = Path(config.to)
    if (to / "nano.json").exists():
        raise UsageError(f"{to} holds a trained model. Choose another folder, or remove it.")
    to.mkdir(parents=True, exist_ok=True)
    found = _so_far(config)
    with torch_threads(config.threads):
        network = load(config.model, _settings(config.pretrain or config.finetune), config.length)
        if config.pretrain:
            _set_dropout(network, config.pretrain.dropout)
            found.pretrain = _pretrain(network, config, config.pretrain, found, after)
        if config.finetune:
            network = NanoNetwork(network.model, network.tokenizer, _settings(config.finetune), config.length)
            _set_dropout(network, config.finetune.dropout)
            found.finetune = _finetune(network, config, config.finetune, after)
            found.format = config.finetune.format
    network.model.save_pretrained(to)
    network.tokenizer.save_pretrained(to)
    write_atomically(to / "nano.json", msgspec.json.format(msgspec.json.encode(found), indent=1))
    for phase in ("pretrain", "finetune"):
        _checkpoint(config, phase).remove()
    return found


def _so_far(config: Config) -> Trained:
    """What the model that is started from has learnt, where it was trained here: its tags and its first curve."""
    file = Path(config.model, "nano.json")
    if not file.exists():
        return Trained(length=config.length)
    before = decode_json(file.read_bytes(), Trained)
    return Trained(before.pretrain, dropped=before.dropped, tags=before.tags, length=config.length)


def _settings(phase: Pretraining | Finetuning | None) -> TrainingSettings:
    assert phase is not None
    return TrainingSettings(
        epochs=phase.rounds, patience=phase.patience, batch_size=phase.batch_size, lr=phase.lr, average=0.0,
        warm_up=phase.warm_up,
    )  # fmt: skip


def _set_dropout(network: NanoNetwork, share: float | None) -> None:
    """Of all layers; some of transformers' keep the share as a number of their own."""
    if share is None:
        return
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, "dropout", None), float):
            vars(module)["dropout"] = share


def _checkpoint(config: Config, phase: str) -> Checkpoint:
    plan = content_id(msgspec.to_builtins(msgspec.structs.replace(config, to="")))
    return Checkpoint(Path(config.to) / f"{phase}.checkpoint", f"{phase} {plan}")


def _run(
    name: str,
    network: NanoNetwork,
    config: Config,
    instances: Instances,
    dev: Callable[[NanoNetwork], float],
    after: After | None,
) -> list[float]:
    def scored(n: NanoNetwork) -> float:
        score = dev(n)
        if after:
            after(name, n, score)
        return score

    settings = network.settings
    steps = (config.pretrain if name == "pretrain" else config.finetune).steps  # type: ignore[union-attr]
    total = settings.epochs * steps * settings.batch_size
    with torch_seed(config.seed), Progress(name, total) as progress:
        phase = _Phase(network, instances, scored, steps, Seeds(config.seed, f"nano/{name}", 1))
        return phase.run(_checkpoint(config, name), progress).scores


def _pretrain(
    network: NanoNetwork, config: Config, phase: Pretraining, found: Trained, after: After | None
) -> list[float]:
    corpus = Shards(phase.data, phase.languages, phase.identify, phase.agree, phase.split)
    kinds: dict[tuple[str, str], TaggedSentence] = {}
    held: list[TaggedSentence] = []
    share = 0.0 if phase.dev else phase.hold
    for sentence in corpus:
        kinds.setdefault((sentence.language, sentence.dialect), sentence)
        if len(held) < _DEV_MOST and _held(sentence.key, share):
            held.append(sentence)
    found.dropped = dict(corpus.dropped)
    if not kinds:
        raise UsageError(f"No sentence is left of {', '.join(phase.data)}: {dict(corpus.dropped)}.")
    tags = Tags(list(kinds.values()), phase.weights)
    found.tags = [*dict.fromkeys([*found.tags, *tags.languages, *tags.dialects])]
    if phase.dev:
        held = list(islice(Shards(phase.dev, phase.languages, phase.identify, phase.agree, phase.split), _DEV_MOST))
    if not held:
        raise UsageError("No sentence is held for dev. Raise `hold`, or name files in `dev`.")
    seeds = Seeds(config.seed, "nano/acceptability", 1)

    def endless() -> Iterator[Instance]:
        for turn in count():
            learnt = (s for s in corpus if not _held(s.key, share))
            for sentence in _shuffled(learnt, seeds.stream("order", turn)):
                yield tags.instance(sentence, seeds.stream(sentence.text, turn), phase.dialects, phase.positive)

    def instances() -> Iterator[Instance]:
        return _alike(endless(), phase.batch_size, seeds.stream("batches", 0))

    return _run("pretrain", network, config, instances, lambda n: sum(told_apart(n, held, tags)) / len(held), after)


def told_apart(network: NanoNetwork, sentences: Sequence[TaggedSentence], tags: Tags) -> list[float]:
    """For each sentence 1 where its own tag scores above every sibling's, 0.5 for a tie. Chance with one is 0.5.

    Siblings are the other dialects of its language, or, where there are none, the other languages.
    """
    texts: list[str] = []
    sizes = []
    for sentence in sentences:
        right, wrong = _rivals(sentence, tags)
        texts += [acceptability(sentence.text, tag) for tag in (right, *wrong)]
        sizes.append(1 + len(wrong))
    scores = iter(network.scores(texts))
    found = []
    for size in sizes:
        own, *others = islice(scores, size)
        best = max(others, default=float("-inf"))
        found.append(1.0 if own > best else 0.5 if own == best else 0.0)
    return found


def _rivals(sentence: TaggedSentence, tags: Tags) -> tuple[str, list[str]]:
    siblings = [t for t in tags.dialects if t.startswith(f"{sentence.language}-") and t != sentence.dialect]
    if sentence.dialect in tags.dialects and siblings:
        return sentence.dialect, siblings
    own = f"{sentence.language}-{ANY}"
    return own, [tag for tag in tags.languages if tag != own]


def _finetune(network: NanoNetwork, config: Config, phase: Finetuning, after: After | None) -> list[float]:
    given = ratings(phase.data)
    share = 0.0 if phase.dev else phase.hold
    held = ratings(phase.dev) if phase.dev else [r for r in given if _held(_key(r), share)]
    learnt = [r for r in given if not _held(_key(r), share)]
    if len(held) < 2 or not learnt:
        raise UsageError(f"There are {len(learnt)} ratings to learn from and {len(held)} for dev; more are needed.")
    texts = [judged(rating, phase.format) for rating in held]
    people = np.array([rating.score for rating in held])
    seeds = Seeds(config.seed, "nano/ratings", 1)

    def instances() -> Iterator[Instance]:
        for turn in count():
            for rating in _shuffled(learnt, seeds.stream("order", turn)):
                yield Instance(judged(rating, phase.format), rating.score)

    def agreement(n: NanoNetwork) -> float:
        return kendall(np.array(n.scores(texts)), people) or 0.0

    return _run("finetune", network, config, instances, agreement, after)


def _key(rating: RatedCandidate) -> str:
    """What two ratings of one segment share, so that a segment is learnt from or held, never both."""
    return rating.source or rating.reference


def _held(text: str, share: float) -> bool:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") < share * 2**64


def _shuffled(items: Iterable[Any], rng: Stream) -> Iterator[Any]:
    """In random order, as far as a buffer reaches: the next is any of it, and its place is filled again."""
    buffer: list[Any] = []
    for item in items:
        if len(buffer) < _BUFFER:
            buffer.append(item)
            continue
        at = rng.below(_BUFFER)
        yield buffer[at]
        buffer[at] = item
    yield from rng.sample(buffer, len(buffer))


def _alike(instances: Iterator[Instance], size: int, rng: Stream) -> Iterator[Instance]:
    """Instances of like length in one batch, so that little of it is padding, and the batches in random order.

    Not for ratings: a short candidate is often a bad one, and from batches of one length little is learnt.
    """
    while stretch := sorted(islice(instances, size * _TOGETHER), key=lambda one: len(one.text)):
        batches = [stretch[at : at + size] for at in range(0, len(stretch), size)]
        for batch in rng.sample(batches, len(batches)):
            yield from batch


def dropped_line(found: Trained) -> str:
    """What was left out, in words."""
    counted = Counter(found.dropped)
    return "; ".join(f"{reason}: {n:,}" for reason, n in sorted(counted.items()))
