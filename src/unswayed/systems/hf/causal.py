"""`hf/causal`: a language model that goes on from a prompt, by the likeliest words."""

from __future__ import annotations

from unswayed.systems.hf.seq2seq import HfSeq2Seq


class HfCausal(HfSeq2Seq):
    """Prompts end at the same place, so they are padded on the left."""

    name = "hf/causal"
    auto = "AutoModelForCausalLM"
    continues = True

    def encoded(self, inputs: dict[str, str]) -> dict[str, list[int]]:
        self.tokenizer.truncation_side = "left"  # what stands last is what it goes on from
        row = super().encoded(inputs)
        if not row["input_ids"]:
            begin = self.tokenizer.bos_token_id
            row = {"input_ids": [self.tokenizer.eos_token_id if begin is None else begin], "attention_mask": [1]}
        return row
