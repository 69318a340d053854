"""Extractive question answering: the answer is a stretch of the context."""

from __future__ import annotations

import re
import string
from collections.abc import Hashable, Sequence

from unswayed.base.edits import Edit, apply, move_spans
from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json


class QaTask(Task):
    """Gold is `{"answers": [{"text": …, "start": …}, …]}` into `context`; an output is the answer's text.

    An empty list of answers says that the context has none; the right output is then empty.
    """

    name = "qa"
    fields = ("question", "context")
    varied = ("question",)
    scores = ("exact_match", "f1")
    aligned = True

    def fits(self, example: Example) -> bool:
        return isinstance(example.gold, dict) and "answers" in example.gold

    def own_gold(self, gold: Json) -> Json:
        """SQuAD's `{"text": […], "answer_start": […]}`, a text, or a list of either kind of answer, as `answers`."""
        if isinstance(gold, dict) and isinstance(gold.get("text"), list):
            starts = gold.get("answer_start") or [None] * len(gold["text"])
            return {"answers": [{"text": text, "start": at} for text, at in zip(gold["text"], starts, strict=False)]}
        if not isinstance(gold, (str, list)):
            return gold
        answers: list[Json] = []
        for one in gold if isinstance(gold, list) else [gold]:
            answers.append({"text": one} if isinstance(one, str) else one)
            if isinstance(one, dict) and "answer_start" in one:
                answers[-1] = {"text": one.get("text"), "start": one["answer_start"]}
        return {"answers": answers}

    def gold_problem(self, example: Example) -> str | None:
        answers = example.gold.get("answers") if isinstance(example.gold, dict) else None
        if not isinstance(answers, list):
            return "gold must be {'answers': [{'text': …, 'start': …}, …]}"
        context = example.inputs.get("context", "")
        for answer in answers:
            if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
                return f"an answer must be {{'text': …, 'start': …}}, not {answer!r:.80}"
            start = answer.get("start")
            found = type(start) is int and start >= 0 and context.startswith(answer["text"], start)
            if start is not None and not found:
                return f"the answer {answer['text']!r:.40} does not stand at character {start} of the context"
        return None

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        return None if isinstance(output, str) else f"an output must be the answer's text, not {output!r:.80}"

    def nothing(self, gold: Json) -> Json:
        return "\N{REPLACEMENT CHARACTER}"  # the empty text is the right answer where there is none

    def right(self, gold: Json) -> Json:
        return gold["answers"][0]["text"] if gold["answers"] else ""

    def answer(self, output: Json) -> Hashable:
        return normal_answer(output)

    def marked(self, gold: Json, field: str, text: str) -> list[tuple[int, int]]:
        if field != "context" or not gold:
            return []
        return [(a["start"], a["start"] + len(a["text"])) for a in gold["answers"] if a.get("start") is not None]

    def move(self, gold: Json, field: str, text: str, edits: Sequence[Edit]) -> tuple[str, Json]:
        new_text = apply(text, edits)
        spans = iter(move_spans(self.marked(gold, field, text), edits))
        if field != "context":
            return new_text, gold
        answers = []
        for answer in gold["answers"]:
            if answer.get("start") is not None:
                start, end = next(spans)
                answer = {**answer, "text": new_text[start:end], "start": start}
            answers.append(answer)
        return new_text, {**gold, "answers": answers}


_MARKS = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normal_answer(text: str) -> str:
    """An answer as SQuAD compares it: lower case, without ASCII's marks, without articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_MARKS)).split())
