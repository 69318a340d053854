"""`unswayed realism`: is simulated noise like people's?"""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import fields_option, format_option, print_values


@click.command("realism", short_help="Compare simulated noise with human noise.")
@click.option("--clean", required=True, metavar="FILE", help="The texts before: a text or a JSON object a line.")
@click.option(
    "--real", multiple=True, required=True, metavar="FILE", help="What a person made of them, aligned. Repeatable."
)
@click.option(
    "--simulated",
    multiple=True,
    required=True,
    metavar="FILE",
    help="What a simulation made of them: aligned too, or what `vary -o -` prints. Repeatable.",
)
@click.option("--lang", "language", metavar="LANG", help="The language of the texts.  [default: identified]")
@click.option(
    "--channel",
    type=click.Choice(["typing", "speech"]),
    default="typing",
    show_default=True,
    help="How the texts were noised, which decides the baseline.",
)
@fields_option
@click.option(
    "--by", default="", metavar="FIELD", help="A field of CLEAN that names the person or article: test on other ones."
)
@click.option(
    "--documents", default="", metavar="FIELD", help="A field of CLEAN with the document that each text should find."
)
@click.option(
    "--system", "systems", multiple=True, metavar="SYSTEM", help="A system to compare the harm on. Repeatable."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Decides folds and resamples.")
@click.option("--baselines/--no-baselines", default=True, help="Judge doing nothing and a stress test too.")
@format_option
def command(clean: str, real: tuple[str, ...], simulated: tuple[str, ...], format_: str, **given: Any) -> None:
    """Train a classifier to tell SIMULATED from REAL, and report how far it gets, how both look and what they cost.

    \b
      unswayed realism --clean c.txt --real h1.txt --real h2.txt --simulated s.txt --lang en --format json
      unswayed realism --clean c.jsonl --real h.jsonl --simulated s.jsonl --input question --by article

    The AUC is 0.5 if the classifier can't tell them apart, and 1 if it always can. For comparison, the same AUC is
    printed for each person against the others, for the unchanged texts, and for a stress test such as
    keyboard/adjacent. Harm is the change in accuracy and in answers of a built-in retriever, or a classifier where
    rows have labels, and of each --system. Chinese and languages written in an alphabet with spaces can be compared.
    """
    from unswayed.lab.realism.compare import realism, rows_of

    found = realism(clean, real, simulated, **given)
    if format_ in ("json", "jsonl"):
        print_values("json", found)
    else:
        print_values(format_, *rows_of(found))
