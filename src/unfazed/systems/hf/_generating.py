"""What models that write share: the prompt, the search for words, and which texts go together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from unfazed.core.errors import UsageError
from unfazed.core.prompt import Template
from unfazed.core.values import Inputs, Json
from unfazed.systems.hf._lessons import Teachable
from unfazed.systems.hf._model import groups

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

    def lacking(self, inputs: Inputs) -> str | None:
        if self.template is None and usual_prompt(inputs) is None:
            return f"there are the texts {', '.join(sorted(inputs))}: say what to read with the option prompt"
        absent = next((name for name in (self.template.names if self.template else ()) if name not in inputs), None)
        return f"the input has no {absent!r}" if absent else None

    def prompt(self, inputs: Inputs) -> str:
        template = self.template or Template(usual_prompt(inputs) or "")
        return self.cut(template.fill(inputs))

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
