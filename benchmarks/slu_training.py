"""What the neural models of intents and slots reach on ATIS and SNIPS, and the CPU seconds their training takes."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from unfazed.core.task import task_named
from unfazed.data import read_examples
from unfazed.score import scorers
from unfazed.systems import systems
from unfazed.systems.system import System

DATA = Path(__file__).parents[1] / "../shared/data/slu"
SCORES = ("slot_f1", "intent_accuracy", "end_to_end")
PAPER = {"atis": (94.9, 97.6, 84.7), "snips": (89.4, 97.1, 76.6)}  # NATURE's Table 4, Bi-RNN, original test set


def scored(system: System, folder: Path) -> list[float]:
    """Slot F1, intent accuracy and end-to-end accuracy, in per cent."""
    examples = list(read_examples(folder))
    outputs, golds = list(system.predict([e.inputs for e in examples])), [e.gold for e in examples]
    made = [scorers.get(name)() for name in SCORES]
    return [100 * float(s.aggregate(s.stats(outputs, golds, task_named("slu")).sum(0))) for s in made]


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="bilstm")
    parser.add_argument("--data", nargs="+", default=["atis", "snips"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument(
        "--to", help="keep the trained models here, as DATA-MODEL for seed 0, DATA-MODEL-SEED for others"
    )
    chosen = parser.parse_args(arguments)
    if not DATA.exists():
        print(f"needs the SLU files in {DATA}")
        return
    print("| data | model | seed | slot F1 | intent | end to end | epochs | CPU s |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as passing:
        for name in chosen.data:
            for seed in chosen.seeds:
                folder = Path(chosen.to or passing) / (f"{name}-{chosen.model}" + (f"-{seed}" if seed else ""))
                train(name, chosen.model, seed, folder)
            if name in PAPER:
                print(f"| {name} | paper's Bi-RNN | | {' | '.join(f'{p:.1f}' for p in PAPER[name])} | | |", flush=True)


def train(name: str, model: str, seed: int, folder: Path) -> None:
    began = time.process_time()
    learn, dev = (read_examples(DATA / name / part) for part in ("train", "valid"))
    system = systems.get(f"slu/{model}").train(learn, dev, seed=seed, to=folder)  # type: ignore[attr-defined]
    seconds = time.process_time() - began
    found = " | ".join(f"{score:.1f}" for score in scored(system, DATA / name / "test"))
    print(f"| {name} | {model} | {seed} | {found} | {len(system.card.dev_scores)} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
