"""`hf/seq2seq`: a model that reads a prompt and writes a text, by the likeliest words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

from unswayed.base.errors import UsageError
from unswayed.base.values import Inputs, Json
from unswayed.systems.hf import HfSystem, length_groups, usual_prompt
from unswayed.systems.system import missing_input
from unswayed.systems.template import Template, prompt_of, texts_of


class HfSeq2Seq(HfSystem):
    """The likeliest words, never drawn at random. The tasks are those whose outputs are texts.

    For mBART and its kin give source_language and target_language as the tokenizer has them.
    """

    name = "hf/seq2seq"
    auto = "AutoModelForSeq2SeqLM"
    tasks = ("translate", "sql", "qa", "text")
    reads = ("input_ids", "attention_mask")
    continues: ClassVar[bool] = False  # does it go on from the prompt, so that what it gives begins with the prompt?

    @cached_property
    def template(self) -> Template | None:
        return None if self.options.prompt is None else Template(self.options.prompt)

    @property
    def prompts(self) -> dict[str, str]:
        return {"prompt": self.template.text} if self.template else {}

    def input_problem(self, inputs: Inputs) -> str | None:
        inputs = texts_of(inputs)
        if self.template is None and usual_prompt(inputs) is None:
            return f"there are the texts {', '.join(sorted(inputs))}; give the option prompt"
        return missing_input(inputs, self.template.names if self.template else ())

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
        template = self.template or Template(usual_prompt(texts_of(inputs)) or "")
        prompt = self.cut_text(prompt_of(template, inputs))
        room = max(self.room - self.options.max_new_tokens, 1) if self.continues else self.room
        return dict(self.tokenizer(prompt, truncation=True, max_length=room))

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        # Models that are told their language so begin an answer with a piece for it.
        code = self.options.target_language
        forced = {} if code is None else {"forced_bos_token_id": int(self.tokenizer.convert_tokens_to_ids(code))}
        told = {"max_new_tokens": self.options.max_new_tokens, "num_beams": self.options.beams, "do_sample": False}
        rows = [self.encoded(inputs) for inputs in batch]
        found: list[Json] = [""] * len(batch)
        for group in length_groups([len(row["input_ids"]) for row in rows]):
            padded = self.padded([rows[i] for i in group], "left" if self.continues else "right")
            written = self.model.generate(**padded, **told, **forced, pad_token_id=self.tokenizer.pad_token_id)
            written = written[:, padded["input_ids"].shape[1] :] if self.continues else written
            texts = self.tokenizer.batch_decode(written, skip_special_tokens=True)
            for i, text in zip(group, texts, strict=True):
                found[i] = text.strip()
        return found
