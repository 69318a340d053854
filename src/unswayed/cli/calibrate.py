"""`unswayed calibrate`: fit a simulator to what real people did."""

from __future__ import annotations

from pathlib import Path

import click

from unswayed.base.errors import UsageError
from unswayed.cli._options import fields_option
from unswayed.storage.files import write_atomically

_rows = click.option(
    "--rows",
    type=click.Choice(["all", "even", "odd", "blocks", "other-blocks"]),
    default="all",
    show_default=True,
    help="Rows to fit on. Blocks are hundreds of rows: the 1st, 4th, 5th, 8th and so on, or the others.",
)
_source = click.option("--source", default="", help="Where the texts come from, and their licence; kept in the file.")
_to = click.option("-o", "to", required=True, metavar="FILE", help="The JSON file to write.")


@click.group("calibrate", short_help="Fit a simulator to texts from people.")
def command() -> None:
    """Fit a simulator to texts from people. Only numbers are kept, no text."""


@command.command("keyboard", short_help="Fit profiles of typists for keyboard/pinyin.")
@click.option(
    "--clean", metavar="FILE", help="The texts before: a text or a JSON object a line. A READIN TSV has its own."
)
@click.option(
    "--real", multiple=True, required=True, metavar="FILE", help="One person's typing, line by line. Repeatable."
)
@fields_option
@_rows
@click.option("--engine", default="embedded", show_default=True, help="The input method that ranks the words.")
@click.option("--onto", type=click.Path(dir_okay=False), help="A file of profiles to add these people to.")
@_to
def keyboard_command(
    clean: str | None, real: tuple[str, ...], fields: tuple[str, ...], rows: str, engine: str, onto: str | None, to: str
) -> None:
    """Fit a profile for each REAL file and write them as numbers, for `--param profile=FILE`.

    \b
      unswayed calibrate keyboard --clean c.txt --real person1.txt --real person2.txt -o typists.json
      unswayed vary texts.txt --lang zh --with keyboard/pinyin --param profile=typists.json -o -
    """
    from unswayed.lab.calibration.profiles import fit_pinyin_typists

    made, people = fit_pinyin_typists(clean, real, fields, rows, engine, onto)
    write_atomically(Path(to), made)
    click.echo(f"{people} typists in {to}", err=True)


@command.command("speech", short_help="Fit profiles of speakers for speech/mandarin.")
@click.option("--clean", required=True, metavar="FILE", help="The texts before: a text or a JSON object a line.")
@click.option(
    "--real", multiple=True, required=True, metavar="FILE", help="One speaker's transcripts, line by line. Repeatable."
)
@fields_option
@_rows
@_to
def speech_command(clean: str, real: tuple[str, ...], fields: tuple[str, ...], rows: str, to: str) -> None:
    """Fit a profile for each REAL file and write them as numbers, for `--param profile=FILE`.

    Lines align, or join on `id` where JSON rows have one.

    \b
      unswayed calibrate speech --clean c.txt --real speaker1.txt --real speaker2.txt -o speakers.json
      unswayed vary texts.txt --lang zh --with speech/mandarin --param profile=speakers.json -o -
    """
    from unswayed.lab.calibration.profiles import fit_mandarin_speakers

    write_atomically(Path(to), fit_mandarin_speakers(clean, real, fields, rows))
    click.echo(f"{len(real)} speakers in {to}", err=True)


@command.command("typist", short_help="Fit profiles of typists for keyboard/typist.")
@click.option("--people", metavar="TSV", help="A table with the columns person, sentence, typed and, if logged, keys.")
@click.option("--clean", metavar="FILE", help="The texts before: a text or a JSON object a line.")
@click.option("--real", multiple=True, metavar="FILE", help="One person's typing, line by line. Repeatable.")
@click.option("--by", metavar="FIELD", default="", help="A field of REAL's JSON rows that names who typed each.")
@fields_option
@click.option("--lang", "language", default="en", show_default=True, help="The language of the texts.")
@click.option("--layout", "board", metavar="NAME", help="The keyboard. Default: that of the language.")
@_source
@click.option("--test", is_flag=True, help="Also fit half of the people and classify against the other half.")
@_to
def typist_command(
    people: str | None, clean: str | None, real: tuple[str, ...], by: str, fields: tuple[str, ...], language: str,
    board: str | None, source: str, test: bool, to: str,
) -> None:  # fmt: skip
    """Fit a profile to texts that people typed again and write it as numbers, for `--param profile=FILE`.

    Give --people, or --clean and --real. A table with `keys` (⌫ is backspace) also gives the mode `uncorrected`.

    \b
      unswayed calibrate typist --people people.tsv.gz -o typists.json
      unswayed calibrate typist --clean c.jsonl --real h.jsonl --by person -o typists.json
      unswayed vary texts.txt --lang en --with keyboard/typist --param profile=typists.json -o -
    """
    from unswayed.lab.calibration.profiles import (
        encode_profiles,
        fit_typist_modes,
        read_typed,
        test_profile,
        typed_pairs,
    )
    from unswayed.vary.keyboard.layouts import layout, layout_for

    if bool(people) == bool(clean) or bool(clean) != bool(real):
        raise UsageError("Give --people, or both --clean and --real.")
    rows = read_typed(people) if people else typed_pairs(str(clean), real, fields, by)
    keyboard = layout(board) if board else layout_for(language, " ".join(row.sentence for row in rows[:100]))
    made = fit_typist_modes(rows, keyboard, language, source)
    write_atomically(Path(to), encode_profiles(made))
    for mode, profile in made.modes.items():
        click.echo(f"{mode}: {profile.texts:,} texts in {to}", err=True)
    if test:
        auc = test_profile(rows, keyboard, language)
        click.echo(f"AUC against people who were not fitted: {auc.value:.2f} [{auc.low:.2f}, {auc.high:.2f}]", err=True)


@command.command("listener", short_help="Fit a profile of a recogniser for speech/english.")
@click.option(
    "--clean", required=True, metavar="FILE", help="The texts that were read: a text or a JSON object a line."
)
@click.option("--real", required=True, metavar="FILE", help="What the recogniser wrote, line by line.")
@click.option("--input", "field", metavar="FIELD", help="The field of --clean that has the text.")
@click.option("--heard", metavar="FIELD", help="The field of --real that has the transcript. Default: that of --input.")
@_source
@_to
def listener_command(clean: str, real: str, field: str | None, heard: str | None, source: str, to: str) -> None:
    """Fit a profile to English texts and their transcripts and write it as numbers, for `--param profile=FILE`.

    Lines align. --clean and --real may be the same file of JSON objects.

    \b
      unswayed calibrate listener --clean said.txt --real heard.txt -o listener.json
      unswayed calibrate listener --clean q.jsonl --real q.jsonl --input question --heard asr -o listener.json
      unswayed vary texts.txt --lang en --with speech/english --param profile=listener.json -o -
    """
    from unswayed.lab.calibration.profiles import fit_listener_file

    made, texts = fit_listener_file(clean, real, field, heard or field, source)
    write_atomically(Path(to), made)
    click.echo(f"A listener of {texts:,} texts in {to}", err=True)


@command.command("disfluency", short_help="Count repairs and restarts for spoken/disfluency.")
@click.option("--clean", required=True, metavar="FILE", help="The fluent texts: a text or a JSON object a line.")
@click.option(
    "--real", multiple=True, required=True, metavar="FILE", help="The same with disfluencies, line by line. Repeatable."
)
@fields_option
@_to
def disfluency_command(clean: str, real: tuple[str, ...], fields: tuple[str, ...], to: str) -> None:
    """Count how people repair what they say and write it as numbers, for `--param profile=FILE`.

    Lines align, or join on `id` where JSON rows have one. The file contains counts and function words, no other text.

    \b
      unswayed calibrate disfluency --clean fluent.txt --real said.txt -o disfluencies.json
      unswayed vary texts.txt --lang en --with spoken/disfluency --param profile=disfluencies.json -o -
    """
    from unswayed.lab.calibration.profiles import fit_disfluencies

    write_atomically(Path(to), fit_disfluencies(clean, real, fields))
    click.echo(f"Rates in {to}", err=True)
