"""`unfazed train`: small systems that learn on this machine, to test with or to start from."""

from __future__ import annotations

from pathlib import Path

import click

_DEV_FOLDERS = ("valid", "dev", "validation")


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
    from unfazed.data import ReadOptions, read_examples, task_and_language
    from unfazed.systems.baselines.intent import Intent

    options = ReadOptions(task=task)
    kind = task_and_language(data, options)
    system = Intent.train(read_examples(data, options), kind.task, seed=seed)
    system.save(Path(to))
    click.echo(f"Trained system in {to}", err=True)


@command.command("slu", short_help="A neural model of intents and slots.")
@click.argument("data", metavar="DATA")
@click.option(
    "--model",
    type=click.Choice(["bilstm", "birnn", "stackprop", "jointbert"]),
    default="bilstm",
    show_default=True,
    help="What to train.",
)
@click.option("--encoder", metavar="FOLDER", help="A Hugging Face encoder to stand on; jointbert needs one.")
@click.option("--dev", metavar="DATA", help="What decides which epoch is kept. Without it, a tenth is held out.")
@click.option("--epochs", type=int, help="Epochs at most. The model's own number if not given.")
@click.option("--patience", type=int, help="Epochs without a better score on dev before it stops.")
@click.option("--lr", type=float, help="Learning rate. The model's own if not given.")
@click.option("--batch-size", type=int, help="Utterances a step.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of weights, order and dropout.")
@click.option("--threads", type=int, default=1, show_default=True, help="Threads; another number, other weights.")
@click.option("--overwrite", is_flag=True, help="Replace what FOLDER holds.")
@click.option("-o", "to", required=True, metavar="FOLDER", help="Where to save the trained system.")
def slu(data: str, model: str, encoder: str | None, dev: str | None, to: str, **options: bool | float | None) -> None:
    """Train a model of intents and slots on DATA: a file, or a folder that holds train/ and valid/.

    Minutes of one core for bilstm. A killed training goes on from its last epoch when the same command is given again.

    \b
      unfazed train slu shared/data/slu/atis -o model/
      unfazed run suite/ --system model/ -o run/
    """
    from unfazed.data import ReadOptions, read_examples
    from unfazed.systems import systems

    reading = ReadOptions(task="slu")
    learn, test = _parts(Path(data), dev)
    system = systems.get(f"slu/{model}").train(  # type: ignore[attr-defined]
        read_examples(learn, reading),
        None if test is None else read_examples(test, reading),
        encoder=encoder,
        to=to,
        progress=True,
        **options,
    )
    scores = system.card.dev_scores
    click.echo(f"Trained system in {to}: {max(scores):.1%} end to end on dev, {len(scores)} epochs", err=True)


def _parts(data: Path, dev: str | None) -> tuple[Path, Path | None]:
    """What to learn from, and what to choose the best epoch by."""
    if not (data / "train").is_dir():
        return data, Path(dev) if dev else None
    beside = next((data / name for name in _DEV_FOLDERS if (data / name).is_dir()), None)
    return data / "train", Path(dev) if dev else beside
