"""Fine-tunes a Hugging Face model from a folder: what each kind learns from an example, and what is saved."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import msgspec

from unswayed.base.edits import Span
from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.ids import content_id, decode, file_hash
from unswayed.base.progress import Progress
from unswayed.base.seeds import Seeds
from unswayed.base.task import task_named
from unswayed.base.values import Example
from unswayed.lab.training.models import ModelCard, ModelPlace, TrainingSettings, changed_settings, split_held_out
from unswayed.systems import ModelFolder, systems
from unswayed.systems.baselines import learnable_examples
from unswayed.systems.device import beside, learning, require_torch, torch_seed, torch_threads
from unswayed.systems.hf import HfOptions, HfSystem, length_groups
from unswayed.systems.hf.classify import HfClassifier
from unswayed.systems.hf.read import HfReader
from unswayed.systems.hf.seq2seq import HfSeq2Seq
from unswayed.systems.hf.tag import HfTagger, word_spans
from unswayed.systems.model_folder import no_bars

# The task → the kind of system that learns it.
BY_TASK = {
    "classify": "hf/classify", "slu": "hf/tag", "tag": "hf/tag", "qa": "hf/read", "translate": "hf/seq2seq",
    "sql": "hf/seq2seq",
}  # fmt: skip
DEFAULTS = TrainingSettings(epochs=5, patience=2, batch_size=32, lr=5e-5, weight_decay=0.01, average=0.0)
_IGNORED = -100  # as transformers marks what no loss is taken of
S = TypeVar("S", bound=HfSystem)


class TunedCard(ModelCard, frozen=True, kw_only=True):
    """What was trained from what, and the options that the model is to be asked with."""

    options: HfOptions


class Lesson(NamedTuple):
    """An encoded text, or a window of it, and what is to be learnt from it."""

    row: dict[str, list[int]]
    gold: dict[str, Any]  # a number or a list of them, by the name that the model's loss knows it by


class Course(Generic[S]):
    """What one kind of system learns. Extend with lessons and a score."""

    outputs: ClassVar[int | None] = None  # of a new head, where that is not the number of labels

    def __init__(self, system: S) -> None:
        self.system = system

    @classmethod
    def labels(cls, examples: Sequence[Example]) -> list[str] | None:
        """The labels to learn, for models that have some."""
        return None

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        raise NotImplementedError

    def targets(self, lessons: Sequence[Lesson]) -> dict[str, Any]:
        """The golds as tensors; what is beyond the end of a shorter one is not looked at."""
        import torch

        found = {}
        for name in lessons[0].gold:
            golds = [lesson.gold[name] for lesson in lessons]
            if isinstance(golds[0], list):
                width = max(map(len, golds))
                golds = [[*gold, *[_IGNORED] * (width - len(gold))] for gold in golds]
            found[name] = torch.tensor(golds)
        return found

    def score(self, dev: Sequence[Example]) -> float:
        """How well the model does, from 0 to 1: the share of examples that it answers right."""
        answers = self.system.answers([example.inputs for example in dev])
        return sum(map(self.is_right, dev, answers)) / len(dev)

    def is_right(self, example: Example, answer: Any) -> bool:
        raise NotImplementedError


class ClassifyCourse(Course[HfClassifier]):
    """Texts and their labels."""

    @staticmethod
    def label(example: Example) -> str:
        return str(task_named("classify").label(example.gold))

    @classmethod
    def labels(cls, examples: Sequence[Example]) -> list[str]:
        return sorted({cls.label(example) for example in examples})

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        gold = {"labels": self.system.labels.index(self.label(example))}
        return [Lesson(self.system.encoded(example.inputs), gold)]

    def is_right(self, example: Example, answer: Any) -> bool:
        return bool(answer == self.label(example))


class TagCourse(Course[HfTagger]):
    """Texts and a tag for each token; a text is right where every tag of it is."""

    @classmethod
    def labels(cls, examples: Sequence[Example]) -> list[str]:
        return sorted({"O", *(tag for example in examples for tag in tokens_and_tags(example)[1])})

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        text, tags = tokens_and_tags(example)
        found = []
        for window in self.system.windows(number, text):
            gold = [_IGNORED] * len(window.row["input_ids"])
            for n, piece in enumerate(window.firsts):
                if piece is not None:
                    gold[piece] = self.system.labels.index(tags[window.start + n])
            found.append(Lesson(window.row, {"labels": gold}))
        return found

    def score(self, dev: Sequence[Example]) -> float:
        pairs = [tokens_and_tags(example) for example in dev]
        found = self.system.tags_of([text for text, _ in pairs])
        return sum(tags == gold for tags, (_, gold) in zip(found, pairs, strict=True)) / len(dev)


class ReadCourse(Course[HfReader]):
    """Questions and where the answers stand; an answer is right where it is one of the golds, letter by letter."""

    outputs = 2

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        """Every window; where the answer is not in it, its first piece is the right one, as in SQuAD 2."""
        placed = [answer for answer in example.gold["answers"] if answer.get("start") is not None]
        if not placed:
            return []
        start, end = placed[0]["start"], placed[0]["start"] + len(placed[0]["text"])
        found = []
        for window in self.system.windows(number, example.inputs):
            places = list(enumerate(window.places))
            first = next((n for n, place in places if place and place[0] <= start < place[1]), None)
            last = next((n for n, place in places if place and place[0] < end <= place[1]), None)
            whole = first is not None and last is not None
            gold = {"start_positions": first if whole else 0, "end_positions": last if whole else 0}
            found.append(Lesson(window.row, gold))
        return found

    def is_right(self, example: Example, answer: Any) -> bool:
        return answer in {gold["text"] for gold in example.gold["answers"]}


class WriteCourse(Course[HfSeq2Seq]):
    """Prompts and the texts to write: a reference, an answer or a query."""

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        gold = example.gold
        if isinstance(gold, dict):
            gold = gold["answers"][0]["text"] if "answers" in gold else gold["sql"]
        text = self.system.cut_text(str(gold[0] if isinstance(gold, list) else gold))
        target = self.system.tokenizer(text_target=text, truncation=True, max_length=self.system.room)["input_ids"]
        return [Lesson(self.system.encoded(example.inputs), {"labels": target})]

    def score(self, dev: Sequence[Example]) -> float:
        """The probability of a right piece after the right ones before it, in the geometric mean."""
        lessons = [lesson for n, example in enumerate(dev) for lesson in self.lessons(n, example)]
        loss, count = 0.0, 0
        sizes = [len(lesson.gold["labels"]) for lesson in lessons]
        lengths = [len(lesson.row["input_ids"]) + n for lesson, n in zip(lessons, sizes, strict=True)]
        for group in length_groups(lengths):
            chosen, pieces = [lessons[i] for i in group], sum(sizes[i] for i in group)
            targets = beside(self.system.model, self.targets(chosen))
            out = self.system.model(**self.system.padded([lesson.row for lesson in chosen]), **targets)
            loss, count = loss + float(out.loss) * pieces, count + pieces
        return math.exp(-loss / max(count, 1))


COURSES: dict[str, type[Course[Any]]] = {
    "hf/classify": ClassifyCourse,
    "hf/tag": TagCourse,
    "hf/read": ReadCourse,
    "hf/seq2seq": WriteCourse,
}


def tokens_and_tags(example: Example) -> tuple[str, list[str]]:
    """A text of which single spaces separate the tokens, and their tags."""
    gold, text = example.gold, example.inputs["text"]
    if "entities" not in gold:
        return text, gold["slots"] if "slots" in gold else gold["tags"]
    spans = [Span(entity["start"], entity["end"], entity["label"]) for entity in gold["entities"]]
    words = word_spans(text)
    tags = ["O"] * len(words)
    for n, (start, end) in enumerate(words):
        inside = next((span for span in spans if span.start < end and start < span.end), None)
        if inside is not None:
            tags[n] = f"{'B' if start <= inside.start else 'I'}-{inside.name}"
    return " ".join(text[a:b] for a, b in words), tags


def tune_model(
    path: str | Path, examples: Iterable[Example], dev: Iterable[Example] | None = None, *, task: str,
    to: str | Path, kind: str | None = None, settings: dict[str, Any] | None = None, overwrite: bool = False,
    progress: bool = False, **options: Any,
) -> TunedCard:  # fmt: skip
    """Trains the model in a folder, with a new head where it has none, and saves it in the folder `to`.

    `kind` is the system that it becomes, such as `hf/classify`, by default that of the task. `settings` are fields of
    TrainingSettings, `options` those of the system. A training that was killed goes on from its last epoch.
    """
    kind = kind or BY_TASK[task]
    require_torch(kind, "transformers", "tokenizers")
    import torch
    import transformers

    from unswayed.lab.training.loop import TUNING, Checkpoint, TuningLoop

    cls, course = systems.get(kind), COURSES[kind]
    assert issubclass(cls, HfSystem)
    chosen = changed_settings(DEFAULTS, settings or {})
    tasks = [known for known in cls.tasks if known != "text"]
    if task not in tasks:
        raise UsageError(f"{kind} learns {' or '.join(tasks)}, not {task!r}.")
    learnt = learnable_examples(kind, examples, task)
    tested = None if dev is None else learnable_examples(kind, dev, task)
    learnt, tested = split_held_out(learnt, tested, lambda example: example.inputs)
    with torch_threads(chosen.threads):
        labels = course.labels(learnt)
        system = cls.__new__(cls)  # it can't be opened before it has a head, which is made here
        system.folder, system.threads = ModelFolder(path), chosen.threads
        system.options = HfOptions.read({**options, **({"labels": labels} if labels else {})})
        head: dict[str, Any] = {"num_labels": course.outputs} if course.outputs else {}
        if labels:
            head = {"id2label": dict(enumerate(labels)), "label2id": {name: i for i, name in enumerate(labels)}}
        with torch_seed(Seeds(chosen.seed, kind, 0).stream("head", 0).bits() >> 1):
            system.model = system.folder.model(cls.auto, True, True, ignore_mismatched_sizes=True, **head)
        data, dev_data = (content_id([[e.inputs, e.gold] for e in part], 16) for part in (learnt, tested))
        versions = [str(torch.__version__), transformers.__version__]
        decides = [kind, TUNING, task, chosen, system.options, system.folder.content, data, dev_data]
        card = TunedCard(
            system=kind,
            version=TUNING,
            task=task,
            settings=chosen,
            options=msgspec.structs.replace(system.options, labels=None),
            examples=len(learnt),
            data=data,
            dev_examples=len(tested),
            dev_scores=[],
            plan=content_id([*decides, *versions, *learning().decides()], 16),
        )
        place = ModelPlace(to)
        place.weights = place.folder / "model.safetensors"  # as save_pretrained leaves it
        if place.holds(plan=card.plan):
            return decode(place.card.read_bytes(), TunedCard)
        place.claim(overwrite)
        loop = TuningLoop(course(system), chosen, learnt, tested)
        checkpoint = Checkpoint(place.checkpoint, card.plan)
        total = chosen.epochs * len(loop.lengths)
        with Progress(f"training {kind}", total, sys.stderr if progress else StringIO()) as counted:
            history = loop.run(checkpoint, counted)
        try:
            with no_bars():
                system.model.save_pretrained(place.folder, max_shard_size="1000GB")
                system.tokenizer.save_pretrained(place.folder)
            card = msgspec.structs.replace(card, dev_scores=history.scores, weights=file_hash(place.weights))
        except OSError as error:
            raise StoredFileError(f"{place.folder}: the model can't be written ({error}).") from error
        # The card is written last, so that a folder that has one is whole.
        place.write_card(card)
        checkpoint.remove()
        return card
