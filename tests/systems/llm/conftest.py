"""A small Llama that learns the examples of the page in seconds, as a GGUF file, and llama.cpp's own server for it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("xllamacpp", reason="llama.cpp's server is not installed here")
pytest.importorskip("gguf", reason="gguf is not installed here")
pytest.importorskip("torch", reason="the model is trained with the extra hf")

MARKS = ["<|end|>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
SERVER = """
import os, sys, time, xllamacpp
parent = os.getppid()
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_parallel, params.n_ctx, params.warmup, params.endpoint_metrics = 2, 512, False, True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
while os.getppid() == parent:
    time.sleep(1)
"""
PARTS = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}  # fmt: skip


class Llama:
    """A model in torch, with the answers that it gives, and the same weights as a file for llama.cpp."""

    def __init__(self, taught: Sequence[tuple[str, str]]) -> None:
        from unswayed.systems.device import torch_seed, torch_threads

        self.tokenizer = _tokenizer([said + answer for said, answer in taught])
        with torch_seed(0), torch_threads(1):
            self.model = _trained(self.tokenizer, taught)

    def answer(self, prompt: str) -> str:
        import torch

        asked = torch.tensor([self.tokenizer.encode(f"<|user|>{prompt}<|end|><|assistant|>").ids])
        told = {"max_new_tokens": 16, "do_sample": False, "attention_mask": torch.ones_like(asked)}
        written = self.model.generate(asked, **told)[0, asked.shape[1] :].tolist()
        return str(self.tokenizer.decode(written))

    def length(self, answer: str) -> int:
        """The tokens of an answer, with the one that ends it."""
        return len(self.tokenizer.encode(answer).ids) + 1

    def save(self, file: Path) -> None:
        import gguf

        c, writer = self.model.config, gguf.GGUFWriter(str(file), "llama")
        writer.add_context_length(c.max_position_embeddings)
        writer.add_embedding_length(c.hidden_size)
        writer.add_block_count(c.num_hidden_layers)
        writer.add_feed_forward_length(c.intermediate_size)
        writer.add_head_count(c.num_attention_heads)
        writer.add_head_count_kv(c.num_key_value_heads)
        writer.add_layer_norm_rms_eps(c.rms_norm_eps)
        writer.add_vocab_size(c.vocab_size)
        self._write_tokenizer(writer, gguf.TokenType)
        names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
        for n in range(c.num_hidden_layers):
            names |= {f"model.layers.{n}.{theirs}": f"blk.{n}.{ours}" for theirs, ours in PARTS.items()}
        heads = {"q_proj.weight": c.num_attention_heads, "k_proj.weight": c.num_key_value_heads}
        for name, weights in self.model.state_dict().items():
            turned = _turned(weights, heads.get(name.rsplit(".", 2)[-2] + ".weight"))
            writer.add_tensor(names[name.removesuffix(".weight")] + ".weight", turned.contiguous().numpy())
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    def _write_tokenizer(self, writer: Any, kinds: Any) -> None:
        numbers = self.tokenizer.get_vocab()
        pieces = sorted(numbers, key=numbers.__getitem__)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list(pieces)
        writer.add_token_types([kinds.CONTROL if piece in MARKS else kinds.NORMAL for piece in pieces])
        writer.add_token_merges([" ".join(merge) for merge in json.loads(self.tokenizer.to_str())["model"]["merges"]])
        writer.add_eos_token_id(0)
        writer.add_add_bos_token(False)
        writer.add_chat_template(TEMPLATE)


def _tokenizer(texts: Sequence[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    told = {"vocab_size": 400, "special_tokens": MARKS, "initial_alphabet": letters, "show_progress": False}
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(**told))
    return tokenizer


def _trained(tokenizer: Any, taught: Sequence[tuple[str, str]], steps: int = 150) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256, rms_norm_eps=1e-5,
        bos_token_id=None, eos_token_id=0, pad_token_id=0, tie_word_embeddings=False,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    rows = [
        (tokenizer.encode(f"<|user|>{said}<|end|><|assistant|>").ids, tokenizer.encode(f"{answer}<|end|>").ids)
        for said, answer in taught
    ]
    width = max(len(said) + len(answer) for said, answer in rows)
    ids = torch.tensor([[*said, *answer, *[0] * (width - len(said) - len(answer))] for said, answer in rows])
    gold = torch.tensor(
        [[*[-100] * len(said), *answer, *[-100] * (width - len(said) - len(answer))] for said, answer in rows]
    )
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(steps):  # padding comes after all that counts, so it needs no mask
        optimizer.zero_grad()
        model(input_ids=ids, labels=gold).loss.backward()
        optimizer.step()
    return model.eval()


def _turned(weights: Any, heads: int | None) -> Any:
    """llama.cpp turns neighbouring numbers of a head together where transformers turns its two halves."""
    if heads is None:
        return weights
    rows, columns = weights.shape
    return weights.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


class Served:
    """llama.cpp's server in a process of its own, always at the same port."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", SERVER, str(self.file), str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.written() is None:
            assert self.process.poll() is None, "llama.cpp's server did not start"
            time.sleep(0.02)

    def written(self) -> float | None:
        """Tokens that it has written since it was started; None while it is not there."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return None
        return float(next(line for line in lines if line.startswith("llamacpp:tokens_predicted_total")).split()[1])

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture(scope="session")
def taught() -> type[Llama]:
    return Llama


@pytest.fixture
def served() -> Iterator[Callable[[Path], Served]]:
    made: list[Served] = []

    def make(file: Path) -> Served:
        made.append(Served(file))
        made[-1].start()
        return made[-1]

    yield make
    for server in made:
        server.kill()
