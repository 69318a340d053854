"""`unfazed calibrate`: fit a simulator to what real people did."""

from __future__ import annotations

import click


@click.group("calibrate", short_help="Fit a simulator's rates to what real people did.")
def command() -> None:
    """Fit a simulator's rates to what real people did. Only numbers are kept, no text."""


@command.command("keyboard", short_help="Fit profiles of typists for keyboard/pinyin.")
@click.option(
    "--clean", metavar="FILE", help="The texts before: a text or a JSON object a line. A READIN TSV has its own."
)
@click.option(
    "--real", multiple=True, required=True, metavar="FILE", help="One person's typing, line by line. Repeatable."
)
@click.option("--input", "fields", multiple=True, metavar="FIELD", help="A field that holds a text. Repeatable.")
@click.option(
    "--rows", type=click.Choice(["all", "even", "odd"]), default="all", show_default=True, help="Rows to fit on."
)
@click.option("--engine", default="embedded", show_default=True, help="The input method that ranks the words.")
@click.option("--onto", type=click.Path(dir_okay=False), help="A file of profiles to add these people to.")
@click.option("-o", "to", required=True, metavar="FILE", help="The JSON file to write.")
def keyboard_command(
    clean: str | None, real: tuple[str, ...], fields: tuple[str, ...], rows: str, engine: str, onto: str | None, to: str
) -> None:
    """Fit a profile for each REAL file and write them as numbers, for `--param profile=FILE`.

    \b
      unfazed calibrate keyboard --clean c.txt --real person1.txt --real person2.txt -o typists.json
      unfazed vary texts.txt --lang zh --with keyboard/pinyin --param profile=typists.json -o -
    """
    from pathlib import Path

    from unfazed.core.files import write_atomically
    from unfazed.measure.realism.aligned import calibrated_typists

    made, people = calibrated_typists(clean, real, fields, rows, engine, onto)
    write_atomically(Path(to), made)
    click.echo(f"{people} typists in {to}", err=True)


@command.command("speech", short_help="Fit profiles of speakers for speech/mandarin.")
@click.option("--clean", required=True, metavar="FILE", help="The texts before: a text or a JSON object a line.")
@click.option(
    "--real", multiple=True, required=True, metavar="FILE", help="One speaker's transcripts, line by line. Repeatable."
)
@click.option("--input", "fields", multiple=True, metavar="FIELD", help="A field that holds a text. Repeatable.")
@click.option(
    "--rows", type=click.Choice(["all", "even", "odd"]), default="all", show_default=True, help="Rows to fit on."
)
@click.option("-o", "to", required=True, metavar="FILE", help="The JSON file to write.")
def speech_command(clean: str, real: tuple[str, ...], fields: tuple[str, ...], rows: str, to: str) -> None:
    """Fit a profile for each REAL file and write them as numbers, for `--param profile=FILE`.

    Lines align, or join on `id` where JSON rows have one.

    \b
      unfazed calibrate speech --clean c.txt --real speaker1.txt --real speaker2.txt -o speakers.json
      unfazed vary texts.txt --lang zh --with speech/mandarin --param profile=speakers.json -o -
    """
    from pathlib import Path

    from unfazed.core.files import write_atomically
    from unfazed.measure.realism.aligned import calibrated_speakers

    write_atomically(Path(to), calibrated_speakers(clean, real, fields, rows))
    click.echo(f"{len(real)} speakers in {to}", err=True)
