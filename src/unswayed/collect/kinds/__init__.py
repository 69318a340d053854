"""What a kind of task is: the items it shows, the answers it takes, and what makes an answer doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec

from unswayed.base.edits import Edit
from unswayed.base.errors import DataError
from unswayed.base.registry import Registry
from unswayed.base.seeds import Stream
from unswayed.base.task import Task
from unswayed.base.values import Example, Json, Variant

MAX_TEXT = 20_000  # characters of one text in an item or an answer
ItemText = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT)]


class Flag(NamedTuple):
    """A doubt about an answer. Where `again`, the answer is kept but does not count, and the person is asked again."""

    name: str
    again: bool = False


class Delivery(NamedTuple):
    """What the server knows of an answer apart from its content."""

    log: list[dict[str, Json]]
    elapsed: float  # seconds since the item was first shown for this attempt
    shows: int  # how often it was shown for this attempt
    draft: Sequence[dict[str, Json]] = ()  # the part of the log that came before the answer


class SuiteItem(NamedTuple):
    """An item made of a suite: its id, what people see, and where it comes from."""

    id: str
    content: dict[str, Json]
    origin: dict[str, Json]


class TaskKind:
    """Extend and put in `collect/kinds/NAME.py`, with `pages/kinds/NAME.html` and `static/kinds/NAME.js`."""

    name: ClassVar[str]
    item_type: ClassVar[type[msgspec.Struct]]
    answer_type: ClassVar[type[msgspec.Struct]]
    options_type: ClassVar[type[msgspec.Struct]]
    about: ClassVar[str] = ""  # a fact that people are asked for if the study asks nothing; the pages have its question
    level: ClassVar[Literal["nominal", "interval"]] = "nominal"  # of `judgements`, for agreement
    makes_text: ClassVar[bool] = False  # is the answer another form of the item's text?
    uploads: ClassVar[bool] = False  # is the answer a recording, sent beforehand?
    source: ClassVar[str] = ""  # family of the variants made of its answers
    control_gold: ClassVar[Json] = None  # the right answer to an item that its key file calls a control

    def __init__(self, options: dict[str, Json], language: str = "en") -> None:
        self.options: Any = msgspec.convert(options, self.options_type)
        self.language = language

    @classmethod
    def item(cls, facts: Json) -> Any:
        """The item, or an error that says what is wrong with it."""
        try:
            return msgspec.convert(facts, cls.item_type)
        except msgspec.ValidationError as error:
            raise DataError(f"this is not an item of a {cls.name} study: {error}") from error

    @classmethod
    def from_suite(cls, example: Example, variants: Sequence[Variant], fields: Sequence[str]) -> Iterator[SuiteItem]:
        """The items of one example: its texts, for people who make others of them."""
        if not cls.makes_text:
            raise DataError(f"a {cls.name} study can't be made of a suite; it takes items.path")
        for field in fields:
            origin = {"example": example.id, "field": field}
            yield SuiteItem(f"{example.id}/{field}", {"text": example.inputs[field]}, origin)

    def unit(self, id: str, content: dict[str, Json], origin: dict[str, Json]) -> str:
        """Items of the same unit go to the same person: here the texts of one example."""
        return str(origin.get("example") or id) if self.makes_text else id

    def on_a_page(self) -> int:
        """How many items of a unit are shown together, at most."""
        return 1

    def shown(self, item: Any, rng: Stream) -> dict[str, Json]:
        """What is drawn by lot when an item is shown, such as sides; it is stored with the answer."""
        return {}

    def answer(self, facts: Json, item: Any, shown: dict[str, Json]) -> Any:
        """The answer, or a ValidationError that says what is wrong with it."""
        return msgspec.convert(facts, self.answer_type)

    def flags(self, item: Any, answer: Any, delivery: Delivery) -> list[Flag]:
        return []

    def details(self, asked: Json, log: list[dict[str, Json]]) -> list[Json]:
        """What the log of an answer shows of how it came about."""
        return []

    def moved(self, task: Task, gold: Json, field: str, text: str, answer: Json) -> tuple[str, Json]:
        """The text that an answer makes of another, and gold that fits it; raises LabelsLost where none does."""
        if not task.aligned or gold is None:
            return answer["text"], gold
        return task.move(gold, field, text, shortest_edits(text, answer["text"]))

    def judgements(self, answer: Json) -> dict[str, Json]:
        """What an answer says, question by question, for agreement and gold."""
        return dict(answer)

    def right(self, gold: Json, answer: Json) -> bool:
        """Does the answer say what the gold says, in every question that the gold answers?"""
        answers = self.judgements(answer)
        return all(answers.get(name) == value for name, value in gold.items())

    def summary(self, answers: Sequence[Json]) -> dict[str, Json]:
        """What all answers to an item say together."""
        return {}


def shortest_edits(text: str, typed: str) -> list[Edit]:
    """What a person changed."""
    from rapidfuzz.distance import Levenshtein

    return [
        Edit(op.src_start, op.src_end, typed[op.dest_start : op.dest_end])
        for op in Levenshtein.opcodes(text, typed)
        if op.tag != "equal"
    ]


kinds: Registry[TaskKind] = Registry("kind", TaskKind, "unswayed.collect.kinds")
kinds.group = "unswayed.collect_kinds"
