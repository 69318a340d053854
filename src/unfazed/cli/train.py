"""`unfazed train`: small systems that learn on this machine, to test with or to start from."""

from __future__ import annotations

import click


@click.group("train", short_help="Train a small system on your data.")
def command() -> None:
    """Train a system that runs here. Use it with `unfazed run … --system FOLDER`."""


@command.command("intent", short_help="A linear classifier of labels or intents, and slots where there are some.")
@click.argument("data", metavar="DATA")
@click.option("--task", help="classify or slu. Guessed from the data.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the training order.")
@click.option("-o", "to", required=True, metavar="FOLDER", help="Where to save the trained system.")
def intent(data: str, task: str | None, seed: int, to: str) -> None:
    """Train the embedded classifier on DATA: seconds for a few thousand examples, no extra needed.

    \b
      unfazed train intent train.jsonl -o model/
      unfazed run suite/ --system model/ -o run/
    """
    from pathlib import Path

    from unfazed.data import ReadOptions, read_examples, task_and_language
    from unfazed.systems.baselines.intent import Intent

    options = ReadOptions(task=task)
    kind = task_and_language(data, options)
    system = Intent.train(read_examples(data, options), kind.task, seed=seed)
    system.save(Path(to))
    click.echo(f"Trained system in {to}", err=True)
