"""A suite of unswayed as a task of Inspect AI. The data lies beside this file, which holds nothing of it.

    inspect eval task.py --model MODEL

It was copied here by `unswayed export`. Samples carry the example, the operator and the draw in their metadata.
"""

import json
import math
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    SampleScore,
    Score,
    accuracy,
    grouped,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import generate
from pydantic import TypeAdapter

HERE = Path(__file__).parent
FACTS = json.loads((HERE / "unswayed.json").read_text("utf-8"))
AROUND = " \t\r\n.,;:!?\"'`*()[]。，！？“”‘’「」"  # what models put around a label


@task
def unswayed():
    """Every example as it is, and every variant of it."""
    return Task(
        dataset=json_dataset(str(HERE / "samples.jsonl"), _sample),
        solver=generate(),
        scorer={"choice": said_label, "match": said_answer, "bleu": translated, "none": answered}[FACTS["way"]](),
        metadata={name: FACTS[name] for name in ("suite", "unswayed", "words")},
    )


def _sample(record):
    told = ("example_id", "source", "part", "family", "draw", "inputs")
    return Sample(
        id=record["id"],
        input=_messages(record["prompt"]) if FACTS.get("chats") else record["prompt"],
        target=record["targets"],
        metadata={name: record[name] for name in told},
    )


def _messages(prompt):
    return TypeAdapter(list[ChatMessage]).validate_python(json.loads(prompt))


@metric
def _bleu():
    def compute(scores: list[SampleScore]):
        from sacrebleu.metrics import BLEU

        pairs = [(score.score.answer, score.score.metadata["references"]) for score in scores]
        most = max(len(references) for _, references in pairs)
        streams = [[refs[i] if i < len(refs) else None for _, refs in pairs] for i in range(most)]
        return BLEU(tokenize=FACTS["tokenizer"]).corpus_score([said for said, _ in pairs], streams).score

    return compute


def _over_variants(compute, scores):
    scores = [score for score in scores if score.sample_metadata["part"] == "variants"]
    return compute(scores) if scores else math.nan


@metric(name="variants")
def _variants():
    def compute(scores: list[SampleScore]):
        return _over_variants(accuracy(), scores)

    return compute


@metric(name="variants stderr")
def _variants_stderr():
    def compute(scores: list[SampleScore]):
        return _over_variants(stderr(cluster="example_id"), scores)

    return compute


# For the clean samples, for each operator or person, and for all variants together. Variants of one example are alike,
# so errors are of clusters.
_ACCURACY = [
    grouped(accuracy(), "source", all=False),
    grouped(stderr(cluster="example_id"), "source", all=False, name_template="{group_name} stderr"),
    _variants(),
    _variants_stderr(),
]


@scorer(metrics=_ACCURACY)
def said_label():
    words = {word.strip(AROUND).casefold(): word for word in FACTS["words"].values()}

    async def score(state, target):
        said = words.get(state.output.completion.strip(AROUND).casefold())
        if not list(target):
            return _not_scored(said)
        return Score(value=NOANSWER if said is None else CORRECT if said in target else INCORRECT, answer=said)

    return score


@scorer(metrics=_ACCURACY)
def said_answer():
    async def score(state, target):
        said = state.output.completion.strip()
        if not list(target):
            return _not_scored(said)
        right = _normal(said) in [_normal(one) for one in target]
        return Score(value=CORRECT if right else INCORRECT, answer=said)

    return score


@scorer(metrics=[grouped(_bleu(), "source", all=False)])
def translated():
    async def score(state, target):
        said = state.output.completion.strip()
        if not list(target):
            return _not_scored(said)
        return Score(value=0, answer=said, metadata={"references": list(target)})

    return score


@scorer(metrics=[])
def answered():
    async def score(state, target):
        return _not_scored(state.output.completion.strip())

    return score


def _not_scored(said):
    """Kept, but in no metric: Inspect leaves out what is not a number."""
    return Score(value=math.nan, answer=said)


def _normal(text):
    return " ".join(text.split()).casefold()
