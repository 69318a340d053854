"""A suite as prompts with their right answers, which is what harnesses of language models take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Literal

import msgspec

from unswayed.base.chat import CHAT, as_sent, is_chat
from unswayed.base.errors import UsageError, option
from unswayed.base.ids import canonical
from unswayed.base.language import by_script
from unswayed.base.task.translate import references_of
from unswayed.base.values import Example, Inputs, Variant
from unswayed.report.export import FolderExporter
from unswayed.score import texts_of
from unswayed.score.bleu import TOKENIZERS
from unswayed.storage.suite import Suite
from unswayed.systems.prompted import parsed_answers
from unswayed.systems.template import PROMPTS, Template, prompt_of

Way = Literal["choice", "match", "bleu", "none"]

# A task's main score → how a harness can tell that an answer is right.
_WAYS: dict[str, Way] = {"accuracy": "choice", "exact_match": "match", "bleu": "bleu"}
_INSTRUCTIONS: dict[Way, str] = {
    "choice": "Answer with one of: {words}.\nAnswer:",
    "match": "Give the answer and nothing else.\nAnswer:",
}
CLEAN = "clean"
_PARTS = {"same": "variants", "changed": "controls"}  # of a suite, by meaning


class Prompt(msgspec.Struct, frozen=True):
    """One prompt; of a chat, its messages as JSON. Without `targets` it is asked and not scored."""

    id: int
    prompt: str
    targets: list[str]
    example_id: str
    source: str  # an operator's or a person's name, or `clean`
    part: str  # clean, variants or controls
    family: str
    draw: int
    inputs: str  # as JSON, by which an answer finds its way back


class PromptExporter(FolderExporter):
    """An export of prompts. `prompt` is a template's file; `answers`, as SAID=LABEL,…, are words for its labels."""

    def __init__(self, prompt: str | None = None, answers: str | None = None) -> None:
        self.prompt, self.answers = prompt, answers


class Prompted:
    """The prompts of a suite. A variant that equals its example has none: the clean answer stands for it.

    `chats` says whether the tool takes messages.
    """

    def __init__(self, suite: Suite, prompt: str | None, answers: str | None, chats: bool = False) -> None:
        first, task = next(suite.examples(), None), suite.task
        if first is None:
            raise UsageError(f"{suite.name} has no examples.")
        if is_chat(first.inputs) and (prompt is not None or not chats):
            raise UsageError(
                f"{suite.name} holds chats, which are messages and need no {option('prompt')}."
                if chats
                else f"{suite.name} holds chats. Export it for inspect_ai or promptfoo, which take messages."
            )
        self.suite = suite
        self.way: Way = _WAYS.get(task.scores[0], "none") if task.scores else "none"
        if self.way == "none" and (problem := task.output_problem("text", first.inputs)):
            raise UsageError(
                f"{suite.name}: a language model's text can't answer the task {task.name} ({problem}). "
                f"Export it for datasets, or ask your system with `unswayed run`."
            )
        self.words = _words(suite, answers) if self.way == "choice" else {}
        self._template = None if prompt is None else Template.read(prompt, PROMPTS)
        if self._template is not None:
            self._template.require(first.inputs)
        elif self.way == "bleu":
            names = " ".join(f"{{{name}}}" for name in first.inputs)
            raise UsageError(
                f"Translations need {option('prompt')}: a file that says how to ask for one, with {names} in it."
            )

    @property
    def tokenizer(self) -> str:
        """How BLEU splits the references, as in the scorer `bleu`."""
        golds = (example.gold for example in self.suite.examples())
        return TOKENIZERS.get(by_script(text for gold in golds for text in references_of(gold)), "13a")

    def sources(self) -> dict[str, str]:
        """Who made the suite's items → which part these are; clean first, then in the order of the alphabet."""
        found = {variant.source: _PARTS[variant.meaning] for _, variants in self._groups() for variant in variants}
        if CLEAN in found:
            raise UsageError(f"{self.suite.name}: a source is called {CLEAN!r}, as the examples themselves would be.")
        return {CLEAN: CLEAN, **dict(sorted(found.items()))}

    def controls_note(self) -> str:
        """A sentence that goes before how to use an export with controls; empty if there are none."""
        none = "controls" not in self.sources().values()
        return "" if none else "Controls are run but not scored, as their right answer is not known. "

    def items(self) -> Iterator[Prompt]:
        number = count(1)
        for example, variants in self._groups():
            things: list[Example | Variant] = [example, *variants]
            for thing in things:
                variant, targets = thing if isinstance(thing, Variant) else None, list[str]()
                if thing.gold is not None and self.way == "choice":
                    label = self.suite.task.label(thing.gold)
                    targets = [self.words[label]] if label is not None else []
                elif thing.gold is not None and self.way != "none":
                    targets = list(dict.fromkeys(texts_of(thing.gold) or ()))
                yield Prompt(
                    id=next(number),
                    prompt=self._prompt(thing.inputs),
                    targets=targets,
                    example_id=example.id,
                    source=variant.source if variant else CLEAN,
                    part=_PARTS[variant.meaning] if variant else CLEAN,
                    family=variant.family if variant else CLEAN,
                    draw=variant.draw if variant else 0,
                    inputs=canonical(thing.inputs).decode(),
                )

    def _groups(self) -> Iterator[tuple[Example, list[Variant]]]:
        for example, variants in self.suite.groups():
            yield example, [variant for variant in variants if variant.inputs != example.inputs]

    def _prompt(self, inputs: Inputs) -> str:
        if self._template is not None:
            return prompt_of(self._template, inputs)
        if CHAT in inputs and is_chat(inputs):
            return canonical(as_sent(inputs)["messages"]).decode()
        texts = list(inputs.values()) if len(inputs) == 1 else [f"{name}: {text}" for name, text in inputs.items()]
        asked = _INSTRUCTIONS.get(self.way, "").replace("{words}", ", ".join(self.words.values()))
        return "\n\n".join([*texts, asked] if asked else texts)


def _words(suite: Suite, answers: str | None) -> dict[str, str]:
    """Labels → what a model says for them; the label itself where nobody said otherwise."""
    label = suite.task.label
    golds = {label(e.gold) for e in suite.examples()} | {label(v.gold) for v in suite.variants()}
    labels = list(dict.fromkeys([*(suite.manifest.labels or ()), *sorted(g for g in golds if g is not None)]))
    if not labels:
        raise UsageError(
            f"{suite.name} has no labels. Make it again with {option('labels')}, or from data that has gold."
        )
    said = {str(output): word.strip() for word, output in parsed_answers(answers).items()} if answers else {}
    words = {label: said.get(label, label) for label in labels}
    if wrong := next((label for label in said if label not in words), None):
        raise UsageError(f"{option('answers')}: {wrong!r} is not a label of {suite.name}; it has {', '.join(labels)}.")
    spoken = [word.strip().casefold() for word in words.values()]
    if "" in spoken or len(set(spoken)) < len(spoken):
        raise UsageError(
            f"Labels that are empty or alike can't be answered with. Set words for them with {option('answers')}."
        )
    return words
