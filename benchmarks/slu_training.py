"""What the neural models of intents and slots reach on ATIS and SNIPS, and the CPU seconds their training takes."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks._measure import SHARED, Row, needs, show
from unswayed.base.task import task_named
from unswayed.data import read_examples
from unswayed.score import scorers
from unswayed.systems import systems
from unswayed.systems.system import System

DATA = SHARED / "slu"
SCORES = ("slot_f1", "intent_accuracy", "end_to_end")
PAPER = {"atis": (94.9, 97.6, 84.7), "snips": (89.4, 97.1, 76.6)}  # NATURE's Table 4, Bi-RNN, original test set


def scored(system: System, folder: Path) -> list[float]:
    """Slot F1, intent accuracy and end-to-end accuracy, in per cent."""
    examples = list(read_examples(folder))
    outputs, golds = list(system.predict([e.inputs for e in examples])), [e.gold for e in examples]
    made = [scorers.get(name)() for name in SCORES]
    return [100 * float(s.aggregate(s.stats(outputs, golds, task_named("slu")).sum(0))) for s in made]


def train(name: str, model: str, seed: int, folder: Path) -> Row:
    began = time.process_time()
    learn, dev = (read_examples(DATA / name / part) for part in ("train", "valid"))
    system = systems.get(f"slu/{model}").train(learn, dev, seed=seed, to=folder)  # type: ignore[attr-defined]
    seconds = time.process_time() - began
    slots, intents, whole = scored(system, DATA / name / "test")
    paper = PAPER.get(name)
    return Row(
        name=f"{name}: {model}, {seed}",
        what=f"{model} trained on {name.upper()}, seed {seed}: right end to end",
        unit="%",
        ours=whole,
        peer="NATURE's Bi-RNN, its Table 4" if paper else "",
        theirs=paper and paper[2],
        note=f"slot F1 {slots:.1f}, intent {intents:.1f}; {len(system.card.dev_scores)} epochs, {seconds:.0f} CPU s"
        + (f"; the paper's {paper[0]} and {paper[1]}" if paper else ""),
    )


def long_rows(
    data: Sequence[str] = ("atis", "snips"), model: str = "bilstm", seeds: Sequence[int] = (0,), to: str | None = None
) -> Iterator[Row]:
    needs(DATA)
    with tempfile.TemporaryDirectory() as passing:
        for name in data:
            for seed in seeds:
                yield train(name, model, seed, Path(to or passing) / (f"{name}-{model}" + (f"-{seed}" if seed else "")))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="bilstm")
    parser.add_argument("--data", nargs="+", default=["atis", "snips"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument(
        "--to", help="keep the trained models here, as DATA-MODEL for seed 0, DATA-MODEL-SEED for others"
    )
    chosen = parser.parse_args(arguments)
    show("slu_training", long_rows(chosen.data, chosen.model, chosen.seeds, chosen.to))


if __name__ == "__main__":
    main(sys.argv[1:])
