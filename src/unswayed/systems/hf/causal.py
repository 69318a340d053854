"""`hf/causal`: a language model that goes on from a prompt, by the likeliest words."""

from __future__ import annotations

from typing import Any

from unswayed.systems.hf.seq2seq import HfSeq2Seq


class HfCausal(HfSeq2Seq):
    """Prompts end at the same place, so they are padded on the left."""

    name = "hf/causal"
    auto = "AutoModelForCausalLM"
    side = "left"

    @property
    def prompt_room(self) -> int:
        return max(self.room - self.options.max_new_tokens, 1)

    def without_prompt(self, written: Any, padded: dict[str, Any]) -> Any:
        return written[:, padded["input_ids"].shape[1] :]

    def encoded(self, inputs: dict[str, str]) -> dict[str, list[int]]:
        self.tokenizer.truncation_side = "left"  # what stands last is what it goes on from
        row = super().encoded(inputs)
        if not row["input_ids"]:
            begin = self.tokenizer.bos_token_id
            row = {"input_ids": [self.tokenizer.eos_token_id if begin is None else begin], "attention_mask": [1]}
        return row
