"""What SQuAD's two scores share: normal forms, the gold answers, and questions with and without an answer apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import ClassVar

from unswayed.base.task import Task
from unswayed.base.tasks.qa import normal_answer
from unswayed.base.values import Json
from unswayed.score._scorer import MeanScorer, Scorer


class AnswerScorer(MeanScorer):
    """Extend with `likeness`. Answers of the task qa are read by SQuAD's rules; others as they are, but for spaces and
    capitals, as marks count in a number."""

    part: ClassVar[str] = ""

    def likeness(self, said: str, due: str) -> float:
        """The score of an answer against one gold answer, both in their normal forms."""
        raise NotImplementedError

    def key(self, value: Json, task: Task) -> Hashable:
        texts = texts_of(value)
        return None if texts is None else tuple(map(form_of(task), texts))

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = texts_of(output)
        if said is None or len(said) != 1:
            return 0.0  # guessing twice is not an answer
        answer = form_of(task)(said[0])
        return max((self.likeness(answer, due) for due in due_answers(gold, task)), default=0.0)

    def parts(self, golds: Iterable[Json], task: Task) -> list[Scorer]:
        """Where some questions have no answer, those that have one and those that have none, as SQuAD 2.0 reports."""
        if self.part or task.name != "qa":
            return []
        kinds = {has_answer(gold) for gold in golds if gold is not None}
        return [_part(type(self), name) for name in _KEYS] if len(kinds) == 2 else []


def form_of(task: Task) -> Callable[[str], str]:
    """What makes two answers of a task equal."""
    return normal_answer if task.name == "qa" else normal_form


def due_answers(gold: Json, task: Task) -> Sequence[str]:
    """The normal forms of the gold answers. By SQuAD 2.0's rule, those of which nothing is left don't count, unless
    there is no other; then the right answer is none."""
    forms = list(map(form_of(task), texts_of(gold) or ()))
    return [form for form in forms if form] or [""] if task.name == "qa" else forms


def has_answer(gold: Json) -> bool:
    return any(normal_answer(text) for text in texts_of(gold) or ())


def _answered_key(self: Scorer, gold: Json, task: Task) -> Hashable:
    return self.key(gold, task) if has_answer(gold) else None


def _unanswered_key(self: Scorer, gold: Json, task: Task) -> Hashable:
    return None if has_answer(gold) else self.key(gold, task)


_KEYS = {"HasAns": _answered_key, "NoAns": _unanswered_key}


def _part(scorer: type[AnswerScorer], part: str) -> Scorer:
    """The scorer for questions of one kind; others have no score under it."""
    fields = {"name": f"{scorer.name}({part})", "part": part, "gold_key": _KEYS[part], "__module__": scorer.__module__}
    made: Scorer = type(f"{scorer.__name__}{part}", (scorer,), fields)()
    return made


def texts_of(value: Json) -> tuple[str, ...] | None:
    """The answers in a gold or an output as they stand, or None where there is none to read. An empty list of answers
    says that the question has none, which the empty text is."""
    if isinstance(value, dict):
        value = value.get("answers", value.get("text", value.get("label")))
        if value == []:
            return ("",)
    values = value if isinstance(value, list) else [value]
    texts = [v.get("text") if isinstance(v, dict) else v for v in values]
    readable = [text for text in texts if isinstance(text, (str, int, float)) and text == text]  # NaN is not itself
    found = tuple(map(str, readable))
    return found if found and len(found) == len(texts) else None


def normal_form(text: str) -> str:
    """Lower case, with single spaces between words and none around them."""
    return " ".join(text.split()).casefold()
