"""Models that write, never at random: `hf/seq2seq` and `hf/causal`; the prompt and the search for words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from unswayed.base.errors import UsageError
from unswayed.base.values import Example, Inputs, Json
from unswayed.systems.device import beside
from unswayed.systems.hf._lessons import Lesson, Teachable, gold_text, padded_labels
from unswayed.systems.hf._model import groups
from unswayed.systems.reprompt import prompt_of, texts_of
from unswayed.systems.template import Template

# Texts of a task → the prompt where none is given.
_PROMPTS = {
    ("source",): "{source}",
    ("text",): "{text}",
    ("db_id", "question", "schema"): "{question}\n{schema}",
    ("db_id", "question"): "{question}",
    ("context", "question"): "{context}\n{question}",
}


def usual_prompt(inputs: Inputs) -> str | None:
    """The prompt for these texts where none is given; None where it can't be told."""
    names = tuple(sorted(inputs))
    return _PROMPTS.get(names) or (f"{{{names[0]}}}" if len(names) == 1 else None)


class GeneratingSystem(Teachable):
    """The likeliest words, never drawn at random. The tasks are those whose outputs are texts."""

    tasks = ("translate", "sql", "qa", "text")
    side = "right"  # where shorter texts are padded

    @cached_property
    def template(self) -> Template | None:
        return None if self.options.prompt is None else Template(self.options.prompt)

    @property
    def prompts(self) -> dict[str, str]:
        return {"prompt": self.template.text} if self.template else {}

    def lacking(self, inputs: Inputs) -> str | None:
        inputs = texts_of(inputs)
        if self.template is None and usual_prompt(inputs) is None:
            return f"there are the texts {', '.join(sorted(inputs))}; give the option prompt"
        absent = next((name for name in (self.template.names if self.template else ()) if name not in inputs), None)
        return f"the input has no {absent!r}" if absent else None

    def prompt(self, inputs: Inputs) -> str:
        template = self.template or Template(usual_prompt(texts_of(inputs)) or "")
        return self.cut(prompt_of(template, inputs))

    @cached_property
    def tokenizer(self) -> Any:
        tokenizer = self.folder.tokenizer()
        for side, code in (("src_lang", self.options.source_language), ("tgt_lang", self.options.target_language)):
            if code is not None:
                if tokenizer.convert_tokens_to_ids(code) in (None, tokenizer.unk_token_id):
                    raise UsageError(f"The tokenizer of {self.folder.path} knows no language {code!r}.")
                setattr(tokenizer, side, code)
        return tokenizer

    def encoded(self, inputs: Inputs) -> dict[str, list[int]]:
        return dict(self.tokenizer(self.prompt(inputs), truncation=True, max_length=self.reads))

    @property
    def reads(self) -> int:
        """Pieces of a prompt that are read."""
        return self.room

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        rows = [self.encoded(inputs) for inputs in batch]
        found: list[Json] = [""] * len(batch)
        for group in groups([len(row["input_ids"]) for row in rows]):
            texts = self.written(self.padded([rows[i] for i in group], self.side))
            for i, text in zip(group, texts, strict=True):
                found[i] = text.strip()
        return found

    def padded(self, rows: Sequence[dict[str, list[int]]], side: str = "right") -> dict[str, Any]:
        return {name: t for name, t in super().padded(rows, side).items() if name != "token_type_ids"}

    def written(self, padded: dict[str, Any]) -> list[str]:
        out = self.model.generate(
            **padded,
            max_new_tokens=self.options.max_new_tokens,
            num_beams=self.options.beams,
            do_sample=False,
            pad_token_id=self.tokenizer.pad_token_id,
            **self.forced(),
        )
        texts: list[str] = self.tokenizer.batch_decode(self.new(out, padded), skip_special_tokens=True)
        return texts

    def forced(self) -> dict[str, int]:
        """The piece that an answer must begin with, for models that are told their language so."""
        code = self.options.target_language
        return {} if code is None else {"forced_bos_token_id": int(self.tokenizer.convert_tokens_to_ids(code))}

    def new(self, out: Any, padded: dict[str, Any]) -> Any:
        """What was written, without what was read."""
        return out


class Seq2Seq(GeneratingSystem):
    """For mBART and its kin give source_language and target_language as the tokenizer has them."""

    name = "hf/seq2seq"
    auto = "AutoModelForSeq2SeqLM"

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        wanted = self.cut(gold_text(example.gold))
        target = self.tokenizer(text_target=wanted, truncation=True, max_length=self.room)["input_ids"]
        return [Lesson(self.encoded(example.inputs), target)]

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        golds = [lesson.gold for lesson in lessons]
        return {"labels": padded_labels(golds, max(map(len, golds)))}

    def mark(self, dev: Sequence[Example]) -> float:
        """The probability of a right piece after the right ones before it, in the geometric mean."""
        lessons = [lesson for n, example in enumerate(dev) for lesson in self.lessons(n, example)]
        loss, count = 0.0, 0
        for group in groups([len(lesson.row["input_ids"]) + len(lesson.gold) for lesson in lessons]):
            chosen = [lessons[i] for i in group]
            pieces = sum(len(lesson.gold) for lesson in chosen)
            targets = beside(self.model, self.targets(chosen, 0))
            out = self.model(**self.padded([lesson.row for lesson in chosen]), **targets)
            loss, count = loss + float(out.loss) * pieces, count + pieces
        return math.exp(-loss / max(count, 1))


class Causal(GeneratingSystem):
    """Prompts end at the same place, so they are padded on the left."""

    name = "hf/causal"
    auto = "AutoModelForCausalLM"
    side = "left"

    @property
    def reads(self) -> int:
        return max(self.room - self.options.max_new_tokens, 1)

    def new(self, out: Any, padded: dict[str, Any]) -> Any:
        return out[:, padded["input_ids"].shape[1] :]

    def encoded(self, inputs: dict[str, str]) -> dict[str, list[int]]:
        self.tokenizer.truncation_side = "left"  # what stands last is what it goes on from
        row = super().encoded(inputs)
        if not row["input_ids"]:
            begin = self.tokenizer.bos_token_id
            row = {"input_ids": [self.tokenizer.eos_token_id if begin is None else begin], "attention_mask": [1]}
        return row
