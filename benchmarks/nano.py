"""NANO with a small T5 that is made and trained here: does it tell dialects, and does the metric gain by it?

A T5 first learns to compare two texts, from references with words left out or exchanged. From there three metrics
start, with several seeds each: NANO's pretraining on FRMT's Chinese dev sentences and exemplars, the same with the
dialects shuffled (a placebo), and none. All are fine-tuned on people's ratings of MLQE-PE, English to Chinese, and
compared on FRMT's test, at the end and where they agree equally well with people (Kendall). Portuguese is in neither,
as in the paper.
"""

from __future__ import annotations

import csv
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import SHARED, Row, needs, say, show

FRMT, MLQE = SHARED / "frmt", SHARED / "mlqe_pe"
DIALECTS = {"pt": ("pt-BR", "pt-PT"), "zh": ("zh-CN", "zh-TW")}
FILES = {"pt-BR": "pt-BR", "pt-PT": "pt-PT", "zh-CN": "zh-CN", "zh-TW": "zh-TW_Simplified"}
SEEDS = (0, 1, 2)
WAYS = ("nano", "placebo", "none")
BASE = {"rounds": 8, "steps": 100, "batch_size": 64, "lr": 0.003}
PRETRAIN = {
    "rounds": 4, "steps": 100, "batch_size": 64, "lr": 0.003, "dialects": 8.0, "hold": 0.1, "split": False,
    "languages": ["zh"],
}  # fmt: skip
# Where every sentence has the right tag in half of the cases, neither the text nor the tag alone says anything, and so
# small a model finds nothing. It first learns from instances most of which ask for one tag, then from balanced ones.
FIRST = '[pretrain.weights]\n"zh-CN" = 6\n'
FINETUNE = {"rounds": 6, "steps": 50, "batch_size": 64, "lr": 0.003}
LENGTH = 96
TRAIN = 6_000  # of MLQE-PE's ratings; the other thousand are for the test
EVERY = 3  # FRMT's test segments that are scored: every third one
_GAP = re.compile(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])")  # between tokens of Chinese


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
                    found.append(
                        {"id": f"{language} {bucket} {split} {line}", "tag": tag, "text": text, "english": english}
                    )
    return found


def seen() -> list[dict[str, str]]:
    """What may be learnt from: no segment of the test is among it."""
    return segments("dev") + segments("exemplars")


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


def make_t5(folder: Path, texts: list[str], width: int = 32) -> None:
    """A T5 of 0.2 million weights. Its embeddings, which are its output head too, start small, or it does not learn."""
    import torch
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>", "<extra_id_0>", "candidate:", "reference:", "source:", "language:"]
    special += [*FILES, "pt-any", "zh-any"]
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=6000, special_tokens=special))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(fast), d_model=width, d_kv=16, d_ff=2 * width, num_layers=1, num_decoder_layers=1,
            num_heads=2, dropout_rate=0.0, decoder_start_token_id=0, feed_forward_proj="gated-gelu",
            tie_word_embeddings=False,  # transformers ties them all the same, and does not scale what is decoded
        )
    )  # fmt: skip
    with torch.no_grad():
        model.shared.weight.mul_(0.05)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)


def write(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def real_ratings() -> list[dict[str, object]]:
    """MLQE-PE: machine translations into Chinese, their post-edits as references, and people's mean ratings."""
    with (MLQE / "train.enzh.df.short.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    mt, edited = (
        [_GAP.sub("", line.strip()) for line in (MLQE / name).read_text(encoding="utf-8").splitlines()]
        for name in ("train.mt", "train.pe")
    )
    return [
        {"candidate": candidate, "reference": reference, "source": row["original"], "language": "zh",
         "score": float(row["mean"]) / 100}
        for row, candidate, reference in zip(rows, mt, edited, strict=True)
    ]  # fmt: skip


def shuffled(rows: list[dict[str, str]], seed: int) -> list[dict[str, str]]:
    """The same Chinese sentences, their dialects shuffled."""
    own = [row for row in rows if row["tag"] in DIALECTS["zh"]]
    tags = [row["tag"] for row in own]
    random.Random(seed).shuffle(tags)
    return [{**row, "tag": tag} for row, tag in zip(own, tags, strict=True)]


def pretrained(folder: Path, way: str, seed: int, data: str) -> str:
    """The folder's name of a model with the two steps of pretraining."""
    phase = "[pretrain]\n" + toml({"data": [data], **PRETRAIN})
    trained(folder, f"{way}-first-{seed}", "base", phase + FIRST, seed)
    trained(folder, f"{way}-{seed}", f"{way}-first-{seed}", phase, seed)
    return f"{way}-{seed}"


def told(folder: Path, rows: list[dict[str, str]]) -> float:
    """The share of Chinese test sentences that get a higher score with their own dialect's tag."""
    from unswayed.papers.dialect.nano.metric import Nano

    nano = Nano(folder)
    one, other = DIALECTS["zh"]
    own = [row for row in rows if row["tag"] in (one, other)]
    texts = [row["text"] for row in own]
    right = nano.acceptability(texts, [row["tag"] for row in own])
    wrong = nano.acceptability(texts, [other if row["tag"] == one else one for row in own])
    return sum(a > b for a, b in zip(right, wrong, strict=True)) / len(own)


def compared(rows: list[dict[str, str]]) -> dict[str, list[tuple[str, str, str]]]:
    """By language: a reference, the same in the other dialect, and a control that changes the meaning."""
    from unswayed.base.options import OperatorSpec
    from unswayed.base.values import Example
    from unswayed.vary.engine import Variation, vary

    found = {}
    for language, (one, other) in DIALECTS.items():
        references = {row["id"]: row["text"] for row in rows if row["tag"] == one}
        dialects = {row["id"]: row["text"] for row in rows if row["tag"] == other}
        variation = Variation(
            operators=(OperatorSpec("meaning/control", {"choose": "order"}),), task="text", language=language
        )
        examples = [Example(i, key, {"text": text}) for i, (key, text) in enumerate(references.items())]
        controls = {v.example_id: v.inputs["text"] for v in vary(examples, variation)}
        keys = [key for key in references if key in controls and key in dialects][::EVERY]
        found[language] = [(references[key], dialects[key], controls[key]) for key in keys]
    return found


def toml(values: dict[str, object]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def trained(folder: Path, name: str, model: str, phase: str, seed: int, after: Any = None) -> None:
    from unswayed.papers.dialect.nano.config import read_config
    from unswayed.papers.dialect.nano.training import train

    file = folder / f"{name}.toml"
    file.write_text(f'model = "{model}"\nto = "{name}"\nlength = {LENGTH}\nseed = {seed}\n{phase}')
    found = train(read_config(file), after)
    say(f"{name}: {max(found.finetune or found.pretrain):.3f} on dev")


Curve = list[dict[str, Any]]  # after each round: Kendall on dev and on test, and by language which segments succeed


def curve_of(folder: Path, name: str, model: str, seed: int, trials: Mapping[str, Any], test: list[Any]) -> Curve:
    """A fine-tuning on people's ratings, looked at after every round."""
    from unswayed.papers.dialect.nano.corpus import RatedCandidate, judged
    from unswayed.score import kendall

    rated = [RatedCandidate(r["candidate"], r["reference"], "", "zh", r["score"]) for r in test]
    people = np.array([rating.score for rating in rated])
    curve: Curve = []

    def after(phase: str, network: Any, dev: float) -> None:
        success = {}
        for language, rows in trials.items():
            sides = [
                network.scores(
                    [judged(RatedCandidate(row[side], row[0], "", language, 0.0), "reference") for row in rows]
                )
                for side in (1, 2)
            ]
            success[language] = [int(a > b) for a, b in zip(*sides, strict=True)]
        agreed = kendall(np.array(network.scores([judged(rating, "reference") for rating in rated])), people) or 0.0
        curve.append({"dev": dev, "kendall": agreed, **success})

    trained(folder, name, model, "[finetune]\n" + toml({"data": ["real.jsonl"], **FINETUNE}), seed, after)
    return curve


def of_seed(folder: Path, seed: int) -> dict[str, Any]:
    """All that one seed gives: how well dialects are told, and a curve for each of the three metrics."""
    import torch

    torch.set_num_threads(1)
    test = segments("test")
    trials, ratings_ = compared(test), real_ratings()[TRAIN:]
    found: dict[str, Any] = {}
    for way in WAYS:
        model = "base"
        if way != "none":
            data = "sentences.jsonl" if way == "nano" else f"shuffled-{seed}.jsonl"
            if way == "placebo":
                write(folder / data, shuffled(seen(), seed))
            model = pretrained(folder, way, seed, data)
            found[f"told {way}"] = told(folder / model, test[::EVERY])
        found[way] = curve_of(folder, f"{way}-metric-{seed}", model, seed, trials, ratings_)
    return found


def at_end(curve: Curve) -> dict[str, Any]:
    """The round that is kept: the best on dev."""
    return max(curve, key=lambda one: one["dev"])


def nearest(curve: Curve, kendall: float) -> dict[str, Any]:
    """The round whose agreement with people is nearest to this."""
    return min(curve, key=lambda one: abs(one["kendall"] - kendall))


def at_equal(one: Curve, other: Curve) -> tuple[dict[str, Any], dict[str, Any]]:
    """The end of the metric that agrees less with people, and the round of the other that agrees as much."""
    a, b = at_end(one), at_end(other)
    return (a, nearest(other, a["kendall"])) if a["kendall"] <= b["kendall"] else (nearest(one, b["kendall"]), b)


def over_seeds(pairs: Sequence[tuple[Sequence[int], Sequence[int] | None]], within: bool = False) -> str:
    """The mean of shares, or of paired differences, over seeds, with an interval that includes training."""
    from unswayed.stats import Estimate, over_trainings

    found = []
    for one, other in pairs:
        values = np.array(one, float) - (0 if other is None else np.array(other, float))
        mean, wide = float(values.mean()), 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5
        found.append(Estimate(mean, mean - wide, mean + wide, len(values), 0, ""))
    whole = over_trainings(found, within=(0, 1) if within else None)
    return f"{whole.value:.3f} [{whole.low:.3f}, {whole.high:.3f}]"


def results() -> list[dict[str, Any]]:
    """What every seed gives."""
    needs(FRMT)
    needs(MLQE)
    dev, real = seen(), real_ratings()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_t5(folder / "t5", [row["text"] for row in dev] + [str(row["candidate"]) for row in real])
        write(folder / "made.jsonl", [*ratings(dev), *ratings(dev, 1)])
        write(folder / "sentences.jsonl", dev)
        write(folder / "real.jsonl", real[:TRAIN])
        trained(folder, "base", "t5", "[finetune]\n" + toml({"data": ["made.jsonl"], **BASE}), 0)
        return [of_seed(folder, seed) for seed in SEEDS]


def long_rows() -> Iterator[Row]:
    began = time.monotonic()
    found = results()
    yield from summed(found, f"{len(found)} seeds; {time.monotonic() - began:.0f} s")


def summed(found: list[dict[str, Any]], spent: str) -> Iterator[Row]:
    shares = {way: float(np.mean([one[f"told {way}"] for one in found])) for way in ("nano", "placebo")}
    what = "dialects of zh told by a small T5 with NANO's pretraining, FRMT test"
    yield Row("zh: told", what, 100 * shares["nano"], "%", "shuffled dialects", 100 * shares["placebo"], note=spent)
    yield Row("zh: told, linear", what, 100 * shares["nano"], "%", "logistic regression of characters", 100 * linear())
    for way in WAYS:
        kendalls = [at_end(one[way])["kendall"] for one in found]
        what = f"Kendall with people on MLQE-PE's test ratings, {way}"
        yield Row(f"kendall: {way}", what, float(np.mean(kendalls)), "tau", note=" ".join(f"{k:.3f}" for k in kendalls))
    yield from (difference(found, language, way) for language in DIALECTS for way in ("placebo", "none"))


def linear() -> float:
    """How well a linear model of runs of up to three characters tells the dialects of zh, from the same sentences."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    learnt, tested = ([row for row in rows if row["tag"] in DIALECTS["zh"]] for rows in (seen(), segments("test")))
    grams = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=2, sublinear_tf=True, lowercase=False)
    model = make_pipeline(grams, LogisticRegression(C=10, max_iter=500))
    model.fit([row["text"] for row in learnt], [row["tag"] for row in learnt])
    return float(model.score([row["text"] for row in tested], [row["tag"] for row in tested]))


def difference(found: list[dict[str, Any]], language: str, way: str) -> Row:
    """NANO's success against another way's, at the end and at equal Kendall."""
    ends = [(at_end(one["nano"]), at_end(one[way])) for one in found]
    same = [at_equal(one["nano"], one[way]) for one in found]
    own, other = (over_seeds([(end[side][language], None) for end in ends], within=True) for side in (0, 1))
    final, equal = (over_seeds([(a[language], b[language]) for a, b in pairs]) for pairs in (ends, same))
    apart = max(abs(a["kendall"] - b["kendall"]) for a, b in same)
    return Row(
        name=f"{language}: success against {way}",
        what=f"the other dialect of {language} scores above a change of meaning, with NANO, FRMT test",
        unit="%",
        ours=100 * float(np.mean([np.mean(a[language]) for a, _ in ends])),
        peer={"placebo": "shuffled dialects", "none": "no pretraining"}[way],
        theirs=100 * float(np.mean([np.mean(b[language]) for _, b in ends])),
        note=f"{len(ends[0][0][language])} segments; {own} and {other}; difference {final}; at equal Kendall (within "
        f"{apart:.3f}) {equal}",
    )


def main() -> None:
    show("nano", long_rows())


if __name__ == "__main__":
    main()
