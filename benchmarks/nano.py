"""NANO with a small T5 that is made and trained here on FRMT: does it tell dialects, and does the metric gain by it?

Makes the model, trains it with and without the pretraining, and compares both on FRMT's test segments, in minutes. The
ratings are made: a reference with some of its words left out or exchanged, rated by the share that is kept.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import SHARED, Row, needs, say, show

FRMT = SHARED / "frmt"
DIALECTS = {"pt": ("pt-BR", "pt-PT"), "zh": ("zh-CN", "zh-TW")}
FILES = {"pt-BR": "pt-BR", "pt-PT": "pt-PT", "zh-CN": "zh-CN", "zh-TW": "zh-TW_Simplified"}
PRETRAIN = {"rounds": 60, "steps": 100, "batch_size": 32, "lr": 0.001, "dialects": 4.0, "hold": 0.03}
FINETUNE = {"rounds": 16, "steps": 100, "batch_size": 32, "lr": 0.001}
LENGTHS = {"pretrained": 96, "with": 128, "without": 128}


def segments(split: str) -> list[dict[str, str]]:
    """One row a segment and dialect: an id, the tag, the text, and the English."""
    found = []
    for language, tags in DIALECTS.items():
        for bucket in ("lexical", "entity", "random"):
            for tag in tags:
                file = FRMT / f"{bucket}_bucket" / f"{language}_{bucket}_{split}_en_{FILES[tag]}.tsv"
                if not file.exists():
                    continue
                for line, row in enumerate(file.read_text(encoding="utf-8").splitlines()):
                    english, text, *_ = row.split("\t")
                    found.append({"id": f"{language} {bucket} {line}", "tag": tag, "text": text, "english": english})
    return found


def words_of(text: str, tag: str) -> list[str]:
    return list(text) if tag.startswith("zh") else text.split(" ")


def ratings(rows: list[dict[str, str]], seed: int = 0) -> list[dict[str, object]]:
    """References with some words left out or exchanged for others of the language; the score is the share kept."""
    rng = random.Random(seed)
    pool = {tag[:2]: [w for r in rows if r["tag"][:2] == tag[:2] for w in words_of(r["text"], tag)] for tag in FILES}
    made: list[dict[str, object]] = []
    for row in rows:
        words = words_of(row["text"], row["tag"])
        share = rng.random() ** 2
        kept, new = 0, []
        for word in words:
            if rng.random() >= share:
                new.append(word)
                kept += 1
            elif rng.random() < 0.5:
                new.append(rng.choice(pool[row["tag"][:2]]))
        joined = ("" if row["tag"].startswith("zh") else " ").join(new) or words[0]
        made.append(
            {"candidate": joined, "reference": row["text"], "source": row["id"], "language": row["tag"][:2],
             "score": kept / len(words)}
        )  # fmt: skip
    return made


def make_t5(folder: Path, texts: list[str], width: int = 64) -> None:
    import torch
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>", "<extra_id_0>", "candidate:", "reference:", "source:", "language:"]
    special += [*FILES, "pt-any", "zh-any"]
    tokenizer.train_from_iterator(
        texts, trainers.UnigramTrainer(vocab_size=4000, special_tokens=special, unk_token="<unk>")
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(fast), d_model=width, d_kv=16, d_ff=2 * width, num_layers=2, num_decoder_layers=1,
            num_heads=4, dropout_rate=0.0, decoder_start_token_id=0, feed_forward_proj="gated-gelu",
            tie_word_embeddings=False,
        )
    )  # fmt: skip
    with torch.no_grad():
        model.lm_head.weight.mul_(0.05)  # from large logits a small model does not find back
    model.save_pretrained(folder)
    fast.save_pretrained(folder)


def write(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def told(folder: Path, rows: list[dict[str, str]]) -> dict[str, tuple[int, int]]:
    """By language: how many test sentences get a higher score with their own dialect's tag, of how many."""
    from unfazed.papers.dialect.nano.metric import Nano

    nano = Nano(folder)
    found = {}
    for language, (one, other) in DIALECTS.items():
        own = [row for row in rows if row["tag"][:2] == language]
        texts = [row["text"] for row in own]
        right = nano.acceptability(texts, [row["tag"] for row in own])
        wrong = nano.acceptability(texts, [other if row["tag"] == one else one for row in own])
        found[language] = (sum(a > b for a, b in zip(right, wrong, strict=True)), len(own))
    return found


def successes(folder: Path, rows: list[dict[str, str]]) -> dict[str, np.ndarray]:
    """By language: does the other dialect score above a control that changes the meaning?"""
    from unfazed.core.values import Example
    from unfazed.papers.dialect.nano.metric import Nano
    from unfazed.vary.engine import OperatorSpec, Variation, vary

    nano = Nano(folder)
    found = {}
    for language, (one, other) in DIALECTS.items():
        references = {row["id"]: row["text"] for row in rows if row["tag"] == one}
        dialects = {row["id"]: row["text"] for row in rows if row["tag"] == other}
        variation = Variation(operators=(OperatorSpec("meaning/control"),), task="text", language=language)
        examples = [Example(i, key, {"text": text}) for i, (key, text) in enumerate(references.items())]
        controls = {v.example_id: v.inputs["text"] for v in vary(examples, variation)}
        keys = [key for key in references if key in controls and key in dialects]
        reference = [references[key] for key in keys]
        none, tag = [""] * len(keys), [language] * len(keys)
        dialect = nano.score([dialects[key] for key in keys], reference, none, tag)
        control = nano.score([controls[key] for key in keys], reference, none, tag)
        found[language] = np.array(dialect) > np.array(control)
    return found


def toml(values: dict[str, object]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def long_rows() -> Iterator[Row]:
    from unfazed.core.estimate import binomial_tail
    from unfazed.papers.dialect.nano.config import read_config
    from unfazed.papers.dialect.nano.training import train

    needs(FRMT)
    dev, test = segments("dev"), segments("test")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_t5(folder / "t5", [row["text"] for row in dev])
        write(folder / "sentences.jsonl", dev)
        write(folder / "ratings.jsonl", ratings(dev))
        began = time.process_time()
        phases = {
            "pretrained": ("t5", "[pretrain]\n" + toml({"data": ["sentences.jsonl"], **PRETRAIN})),
            "with": ("pretrained", "[finetune]\n" + toml({"data": ["ratings.jsonl"], **FINETUNE})),
            "without": ("t5", "[finetune]\n" + toml({"data": ["ratings.jsonl"], **FINETUNE})),
        }
        for name, (model, phase) in phases.items():
            (folder / f"{name}.toml").write_text(f'model = "{model}"\nto = "{name}"\nlength = {LENGTHS[name]}\n{phase}')
            found = train(read_config(folder / f"{name}.toml"))
            say(f"{name}: {max(found.pretrain or found.finetune):.3f} on dev")
        spent = f"{time.process_time() - began:.0f} CPU s of training"
        for language, (k, n) in told(folder / "pretrained", test).items():
            what = f"dialects of {language} told by a small T5 with NANO's pretraining, FRMT test"
            yield Row(f"{language}: told", what, 100 * k / n, "%", "chance", 50.0, note=f"{n:,} sentences; {spent}")
        before, after = successes(folder / "without", test), successes(folder / "with", test)
    for language in DIALECTS:
        gained = int((after[language] & ~before[language]).sum())
        lost = int((before[language] & ~after[language]).sum())
        p = binomial_tail(gained, gained + lost)
        yield Row(
            name=f"{language}: success",
            what=f"the other dialect of {language} scores above a change of meaning, FRMT test",
            unit="%",
            ours=100 * float(after[language].mean()),
            peer="the same without NANO",
            theirs=100 * float(before[language].mean()),
            note=f"{len(after[language]):,} segments; {gained} gained to {lost} lost, exact McNemar p = {p:.2g}",
        )


def main() -> None:
    show("nano", long_rows())


if __name__ == "__main__":
    main()
