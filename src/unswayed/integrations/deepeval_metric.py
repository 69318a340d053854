"""A metric for DeepEval: does an app give the same answer when the input is said differently?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from unswayed.base.errors import UsageError, option
from unswayed.base.task import task_named
from unswayed.run.texts import vary_text
from unswayed.score import Comparing

try:
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
except ImportError as error:
    raise UsageError("This metric is for DeepEval. Install it with:  pip install deepeval") from error


class Unswayed(BaseMetric):  # type: ignore[misc]
    """The share of variants of a test case's input to which `app` gives the same answer as `actual_output`.

    `app` maps a text to a text. `extract` and `equivalent` say when two answers are the same, as in `unswayed run`.

    Example: `assert_test(case, [Unswayed(app, "keyboard/adjacent", draws=5, threshold=0.8)])`.
    """

    def __init__(
        self, app: Callable[[str], str], operators: str | Sequence[str] = "@typing", *, draws: int = 3,
        threshold: float = 1.0, seed: int = 0, language: str | None = None, extract: str = "",
        equivalent: str = "contains", rubric: str | None = None,
    ) -> None:  # fmt: skip
        if not callable(app):
            raise UsageError(f"{option('app')} must be a function that answers a text, not {app!r:.60}.")
        self.app, self.operators, self.draws, self.seed, self.language = app, operators, draws, seed, language
        self.threshold = threshold
        self.include_reason, self.async_mode, self.strict_mode = True, True, False
        self.evaluation_model = None
        self._comparing = Comparing(task_named("generate"), extract, equivalent, rubric)

    @property
    def __name__(self) -> str:
        return "Unswayed"

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Asks the app for every variant of the test case's input."""
        before = test_case.actual_output
        if before is None:
            raise UsageError("The test case needs an actual_output: the app's answer to the input as it is.")
        variants = vary_text(test_case.input, self.operators, self.draws, seed=self.seed, language=self.language)
        inputs = {"text": test_case.input}
        texts = [variant.inputs["text"] for variant in variants]
        answers = [before if text == test_case.input else self.app(text) for text in texts]
        verdicts = self._comparing.verdicts([(said, before, inputs) for said in answers])
        known = [same for same in verdicts if same is not None]
        self.score = sum(known) / len(known) if known else 1.0
        self.success = self.score >= self.threshold
        unknown, flipped = verdicts.count(None), verdicts.count(False)
        self.reason = f"{flipped} of {len(verdicts)} variants got another answer."
        if unknown:
            self.reason += f" Of {unknown} the judge said neither yes nor no; they are left out."
        if flipped:
            first = verdicts.index(False)
            text, source, answer = texts[first], variants[first].source, answers[first]
            self.reason += f" For example, {text!r:.200} ({source}) got {answer!r:.200}."
        if not verdicts:
            self.reason = "The operators found nothing to change in the input."
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        return await asyncio.to_thread(self.measure, test_case)

    def is_successful(self) -> bool:
        return self.error is None and bool(self.success)
