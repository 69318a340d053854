"""The commands of `unswayed collect` about the people who take part: invite, exclude, forget."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from unswayed.cli._options import study_file


@click.command("invite", short_help="Add a person and print their link.")
@study_file
@click.option("--name", "names", multiple=True, required=True, help="A name for the person. Repeatable.")
@click.option("--stratum", default="", help="The person's stratum, if the study has strata.")
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="The URL that the study is served at.")
def invite_command(study_file: str, names: tuple[str, ...], stratum: str, url: str) -> None:
    """Add a person to STUDY and print their link, which is stored nowhere. It works while the study is served, too.

    \b
      unswayed collect invite study.toml --name anna --name ben
    """
    from unswayed.collect.database import open_database
    from unswayed.collect.people import invite
    from unswayed.collect.study import read_study

    study = read_study(study_file)
    with open_database(study.place) as database:
        tokens = database.write(lambda tx: [invite(tx, study, name, stratum) for name in names])
    for name, token in zip(names, tokens, strict=True):
        click.echo(f"{name}\t{url.rstrip('/')}/i/{token}")


@click.command("exclude", short_help="Stop counting a person's answers.")
@study_file
@click.argument("person")
@click.option("--reason", help="The reason, which the export includes.")
@click.option("--undo", is_flag=True, help="Count the person's answers again.")
def exclude_command(study_file: str, person: str, reason: str | None, undo: bool) -> None:
    """Keep PERSON's answers but stop counting them. Their items go to other people.

    \b
      unswayed collect exclude study.toml anna --reason "left early"
      unswayed collect exclude study.toml anna --undo

    With --undo, answers count again, except where others have taken their places since.
    """
    from unswayed.collect.database import open_database
    from unswayed.collect.people import exclude, include
    from unswayed.collect.study import read_study

    if undo == (reason is not None):
        raise click.UsageError("Choose --reason REASON or --undo.")
    study = read_study(study_file)
    with open_database(study.place) as database:
        if undo:
            back = database.write(lambda tx: include(tx, study, person))
            click.echo(f"{back:,} answers count again.", err=True)
        else:
            database.write(lambda tx: exclude(tx, person, reason or ""))


@click.command("forget", short_help="Delete people and everything they gave.")
@study_file
@click.argument("person", required=False)
@click.option(
    "--before", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="Everybody who did nothing since DATE."
)
def forget_command(study_file: str, person: str | None, before: datetime | None) -> None:
    """Delete PERSON, their answers, logs and recordings from STUDY. Delete older backups and exports yourself.

    \b
      unswayed collect forget study.toml anna
      unswayed collect forget study.toml --before 2026-01-01

    With --before, it deletes everybody whose last answer is older (or, without answers, whose invitation is), and the
    audit log of that time. Run it regularly to keep data no longer than you promised.
    """
    from unswayed.collect.backends import Transaction
    from unswayed.collect.database import open_database
    from unswayed.collect.kinds.read_aloud import audio_file
    from unswayed.collect.people import Forgotten, forget, forget_before, note
    from unswayed.collect.study import read_study

    if (person is None) == (before is None):
        raise click.UsageError("Choose a PERSON, or --before DATE.")

    def job(tx: Transaction) -> tuple[int, Forgotten]:
        if before is None:
            people, gone = 1, forget(tx, person or "")
        else:
            people, gone = forget_before(tx, before.replace(tzinfo=UTC).timestamp())
        note(tx, "owner", f"forgot {people:,} people")
        return people, gone

    study = read_study(study_file)
    with open_database(study.place) as database:
        people, gone = database.write(job)
        for name in gone.recordings:
            audio_file(study, name).unlink(missing_ok=True)
        database.scrub()
    click.echo(f"{people:,} people and {gone.answers:,} answers deleted.", err=True)
