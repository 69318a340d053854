"""Runs against llama.cpp's server, which is killed and started again; what it says is held beside PyTorch."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from unswayed.run.making import make_suite
from unswayed.run.record import Run
from unswayed.systems.template import Template

pytest.importorskip("xllamacpp", reason="llama.cpp's server is not installed here")
pytest.importorskip("gguf", reason="gguf is not installed here")
pytest.importorskip("torch", reason="the model is trained with the extra hf")

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[3] / "docs" / "http.md"
SECTION = "## Your own language model, behind a server\n"
UNSWAYED = [sys.executable, "-m", "unswayed"]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
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


def section() -> str:
    """The part of the page that these tests hold to be true."""
    return PAGE.read_text(encoding="utf-8").split(SECTION)[1].split("\n## ")[0]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the section's files and suite."""
    place = tmp_path_factory.mktemp("page")
    for _, text in _FENCE.findall(section()):
        first, _, rest = text.partition("\n")
        if first.startswith("# file: "):
            (place / first.removeprefix("# file: ")).write_text(rest, encoding="utf-8")
    for command in commands("console"):
        subprocess.run(command, cwd=place, check=True, capture_output=True)
    return place


def commands(kind: str) -> list[list[str]]:
    """The section's own calls of unswayed."""
    blocks = [text for found, text in _FENCE.findall(section()) if found == kind]
    lines = [line.removeprefix("$ ") for text in blocks for line in text.splitlines()]
    return [[*UNSWAYED, *shlex.split(line)[1:]] for line in lines if line.startswith("unswayed ")]


@pytest.fixture(scope="module")
def llama(page: Path) -> Llama:
    rows = [json.loads(line) for line in (page / "said.jsonl").read_text().splitlines()]
    prompt = Template.read(str(page / "lights.txt"))
    model = Llama([(prompt.fill({"text": row["text"]}), row["label"]) for row in rows])
    model.save(page / "tiny.gguf")
    return model


def test_the_page_is_true(page: Path, llama: Any, served: Callable[[Path], Any]) -> None:
    server = served(page / "tiny.gguf")
    asked = []
    for command in commands("sh"):
        told = [part.replace("http://127.0.0.1:8080/v1", server.url) for part in command]
        done = subprocess.run(told, cwd=page, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        asked += re.findall(r"Used: .*?requests (\d+)", done.stderr)
    assert len(asked) == 2
    assert int(asked[1]) - int(asked[0]) == 32  # of the run in all: the second time only stored answers are checked
    same_as_torch(page / "run", llama, page)


def test_a_server_that_comes_back_in_time_costs_nothing(
    page: Path, llama: Any, served: Callable[[Path], Any], tmp_path: Path
) -> None:
    many(page, tmp_path)
    server = served(page / "tiny.gguf")
    running = subprocess.Popen(run(server, page, tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    killed_at_work(server, running)
    assert running.poll() is None  # it waits
    server.start()
    _, told = running.communicate(timeout=120)
    assert running.returncode == 0, told.decode()
    assert int(re.findall(rb"retries (\d+)", told)[0]) > 0
    same_as_torch(tmp_path / "run", llama, page)


def test_a_server_that_stays_away_leaves_a_run_that_goes_on(
    page: Path, llama: Any, served: Callable[[Path], Any], tmp_path: Path
) -> None:
    many(page, tmp_path)
    server = served(page / "tiny.gguf")
    command = [*run(server, page, tmp_path), "--retries", "0", "--canary", "0"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    killed_at_work(server, running)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 3, told.decode()
    first = outputs(tmp_path / "run")
    lacking = [text for text, said in first.items() if said is None]
    assert 0 < len(lacking) < len(first)
    # Each of the 8 clean inputs is asked a second time, and what of that failed is asked for, too.
    lacking += [
        e.inputs["text"] for e, _, again in Run(tmp_path / "run").repeated() for _, said in again if not said.ok
    ]
    server.start()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    same_as_torch(tmp_path / "run", llama, page)
    second = outputs(tmp_path / "run")
    assert server.written() == sum(llama.length(second[text]) for text in lacking)  # and was asked nothing else


def many(page: Path, place: Path) -> None:
    make_suite(page / "said.jsonl", ["keyboard/adjacent", "spoken/filler_end"], draws=60, seed=3, to=place / "suite")


def run(server: Any, page: Path, place: Path) -> list[str]:
    told = ["run", str(place / "suite"), "--system", server.url, "--model", "tiny", "-o", str(place / "run")]
    return [*UNSWAYED, *told, "--prompt", str(page / "lights.txt"), "--concurrency", "2"]


def killed_at_work(server: Any, running: subprocess.Popen[bytes]) -> None:
    """Kills the server once it has written a few answers."""
    while (server.written() or 0) < 40:
        assert running.poll() is None, "the run was over too soon"
        time.sleep(0.005)
    server.kill()


def outputs(folder: Path) -> dict[str, Any]:
    """Text → what the model said of it, or None."""
    found = {}
    for example, output, variants in Run(folder).items():
        for asked, said in ((example, output), *variants):
            found[asked.inputs["text"]] = said.value if said.ok else None
    return found


def same_as_torch(folder: Path, llama: Any, page: Path) -> None:
    prompt = Template.read(str(page / "lights.txt"))
    found = outputs(folder)
    assert found == {text: llama.answer(prompt.fill({"text": text})) for text in found}
    assert set(found.values()) == {"lights", "music"}
