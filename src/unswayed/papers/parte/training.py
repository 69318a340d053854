"""The study's own models: trained here on RTE's development pairs, each with several seeds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from unswayed.base import Example, UsageError, option_name
from unswayed.data import ReadOptions, read_examples
from unswayed.lab.training.tuning import tune_model
from unswayed.papers.parte.nli import Nli
from unswayed.systems import System, minilm_folder, open_system, systems

TRAIN_FILE = "RTE_dev.jsonl"
# The models that can be trained, and the paper's model that each is set beside.
MODELS = {"bow": "cbow", "bilstm": "bilstm", "minilm": "bert", "baseline": ""}
OWN = "own-"  # before the name of a column of one of these
_MINILM = {"lr": 1e-4, "epochs": 4, "patience": 4}


class Recipe(NamedTuple):
    """What to train, of which data, and where to leave it."""

    model: str
    data: Path
    to: Path
    vectors: str
    seeds: range
    epochs: int | None = None


def train_file(folder: Path) -> Path:
    """RTE's development pairs: in the folder, or where the authors' repository has them."""
    places = (folder / TRAIN_FILE, folder / "RTE_data" / TRAIN_FILE)
    return next((place for place in places if place.is_file()), places[0])


def models_in(text: str) -> list[str]:
    """The models of `bow,bilstm`; raises for one that is not known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = next((name for name in names if name not in MODELS), None)
    if unknown is not None:
        raise UsageError(f"{option_name('train')} takes any of {', '.join(MODELS)}, not {unknown!r}.")
    return list(dict.fromkeys(names))


def trained(recipe: Recipe) -> list[System]:
    """One system for each seed; the baseline, in which nothing is random, only once. Finished trainings are reused."""
    if not recipe.data.exists():
        raise UsageError(
            f"There is nothing to train on: {recipe.data} is not there. Set {option_name('train-data')} to RTE's "
            f"development pairs."
        )
    examples = list(read_examples(recipe.data, ReadOptions(format="rte", task="classify")))
    if recipe.model == "baseline":
        folder = recipe.to / "0"
        Nli.train(examples).save(folder, overwrite=True)
        return [open_system(str(folder))]
    return [_one(recipe, examples, seed) for seed in recipe.seeds]


def _one(recipe: Recipe, examples: Sequence[Example], seed: int) -> System:
    folder = recipe.to / str(seed)
    print(f"{OWN}{recipe.model}, seed {seed}: {folder}", file=sys.stderr)
    settings = {"seed": seed, "epochs": recipe.epochs, "threads": 1}
    if recipe.model == "minilm":
        given = {**_MINILM, **{name: value for name, value in settings.items() if value is not None}}
        tune_model(
            minilm_folder(), examples, None, task="classify", to=folder, settings=given, progress=True, max_length=128
        )
    else:
        systems.get(f"nli/{recipe.model}").train(  # type: ignore[attr-defined]
            examples, None, vectors=recipe.vectors, to=folder, progress=True, **settings
        )
    return open_system(str(folder))
