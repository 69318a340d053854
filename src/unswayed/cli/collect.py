"""`unswayed collect`: the web app in which people type, speak and judge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unswayed.base.text import counted
from unswayed.cli._options import format_option, items_option, print_messages, print_values, study_file

if TYPE_CHECKING:
    from unswayed.collect.database import Database
    from unswayed.collect.study import PeopleStudy


@click.group("collect", short_help="Collect typing, speech and judgements from people in a web app.")
@click.pass_context
def command(context: click.Context) -> None:
    """A study is a TOML file, a database next to it, and links for the people who take part.

    \b
      unswayed collect new study.toml
      unswayed collect invite study.toml --name anna --stratum sogou
      unswayed collect serve study.toml
      unswayed collect export study.toml -o answers.jsonl
    """
    before = os.umask(0o077)  # what people give is for the owner's eyes
    context.call_on_close(lambda: os.umask(before))


@contextmanager
def _opened(study_file: str) -> Iterator[tuple[PeopleStudy, Database]]:
    """A study and its database, which is closed at the end."""
    from unswayed.collect.database import open_database
    from unswayed.collect.study import read_study

    study = read_study(study_file)
    with open_database(study.place) as database:
        yield study, database


@command.command("new", short_help="Make a study's database, or a study to fill in.")
@study_file
@click.option("--kind", default="retype", show_default=True, help="The kind of task, if STUDY does not exist.")
@click.option("--items", metavar="FILE", help="The items, if STUDY does not exist. Its groups become strata.")
@click.option("--suite", metavar="SUITE", help="The suite that items are made of, if STUDY does not exist.")
def new(study_file: str, kind: str, items: str | None, suite: str | None) -> None:
    """Make the database of STUDY and print the owner's password. If STUDY does not exist, write one to fill in.

    \b
      unswayed collect new study.toml

    With --suite, the study is written and its database made at once: it is ready to serve. Edit it at any time, and run
    `unswayed collect apply`.

    \b
      unswayed collect new study.toml --kind retype --suite suite/
    """
    from unswayed.collect.items import make_study, write_template
    from unswayed.collect.study import read_study

    path = Path(study_file)
    if path.exists() and (items or suite):
        raise click.UsageError(f"{path} exists. --items and --suite are for a study that does not exist yet.")
    if items and suite:
        raise click.UsageError("Choose --items or --suite.")
    if not path.exists():
        write_template(path, kind, Path(items) if items else None, Path(suite) if suite else None)
        if not suite:
            click.echo(f"Fill in {path}, then rerun the same command.", err=True)
            return
        click.echo(f"Study in {path}: put your contact and consent in it, and run `unswayed collect apply`.", err=True)
    database, password, count = make_study(read_study(path))
    database.close()
    click.echo(
        f"{counted(count, 'item')} in {database.name}. The owner's password for /admin, shown this once:", err=True
    )
    click.echo(password)


@command.command("apply", short_help="Apply what changed in a study's file.")
@study_file
@click.option("--dry-run", is_flag=True, help="Show the changes, and make none.")
def apply_command(study_file: str, dry_run: bool) -> None:
    """Show what differs between STUDY and its database, and apply it. A running server takes it up at once.

    \b
      unswayed collect apply study.toml

    A change that would spoil answers is refused, and then nothing is changed. You can add items, correct the gold
    answer of an item, raise `k`, and change texts, quotas and limits at any time. The database keeps each revision.
    """
    from unswayed.base.text import visible
    from unswayed.collect.applied import revision_number
    from unswayed.collect.items import entries
    from unswayed.collect.revisions import apply, changes

    with _opened(study_file) as (study, database):
        items = entries(study)
        found = database.read(lambda tx: changes(tx, study, items))
        for change in found:
            refused = f"  Refused: {change.refused}" if change.refused else ""
            click.echo(visible(f"{change.what}: {change.before} → {change.after}{refused}"))
        if not found:
            click.echo("Nothing changed.", err=True)
        elif not dry_run:
            database.write(lambda tx: apply(tx, study))
            click.echo(f"This is revision {database.read(revision_number)} of the study.", err=True)


@command.command("items", short_help="Make items of a suite, or of a run's answers.")
@click.argument("kind", metavar="KIND")
@click.option(
    "--suite", "suites", multiple=True, metavar="SUITE",
    help="The suite whose texts people are to judge. For plausible, a second one may have simulated versions.",
)  # fmt: skip
@click.option("--run", metavar="RUN", help="The run whose answers, or whose changed answers, people are to judge.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N items, chosen at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="With --limit: the random seed.")
@click.option("--field", "fields", multiple=True, help="An input of the examples. Repeatable. Default: those varied.")
@items_option
def items_command(
    kind: str, suites: tuple[str, ...], run: str | None, limit: int | None, seed: int, fields: tuple[str, ...], to: str
) -> None:
    """Write the items of SUITE for a study of KIND.

    `same_meaning` shows each changed text beside its original, `plausible` two versions of a text by different makers,
    `labels` each altered utterance with its slots and intent.

    \b
      unswayed collect items same_meaning --suite candidates/ -o items.jsonl
      unswayed collect items plausible --suite people/ --suite simulated/ -o items.jsonl
      unswayed collect new study.toml --kind same_meaning --items items.jsonl

    With --run, `plausible` and `labels` take only the variants that changed the system's answer. For `same_meaning`,
    people compare answers, as a judge does: each answer to a variant beside the answer to the original, and each answer
    beside the gold. Answers that are equal, up to case and punctuation, are left out.

    \b
      unswayed collect items same_meaning --run run/ --limit 200 -o items.jsonl

    The key file (`items.key.jsonl`) holds the operator and the example of each item. Annotators do not see it.
    """
    from unswayed.collect.items import some_of, write_entries, write_items

    if bool(suites) == (run is not None) or len(suites) > (2 if kind == "plausible" else 1):
        raise click.UsageError("Choose --suite SUITE or --run RUN; a second --suite is for plausible.")
    if len(suites) == 2:
        from unswayed.papers.readin.plausibility import PAIRS, make_pairs, write_pairs
        from unswayed.storage.suite import Suite

        pairs = make_pairs(Suite(suites[0]), Suite(suites[1]), limit or PAIRS, seed)
        write_pairs(pairs, to)
        count = len(pairs.items)
    elif run is not None:
        from unswayed.collect.run_items import answer_entries, flip_entries
        from unswayed.run.record import Run

        same = kind == "same_meaning"
        found = answer_entries(Run(run), limit, seed) if same else flip_entries(kind, Run(run), fields)
        count = write_entries(found if same else some_of(found, limit, seed), Path(to))
    else:
        count = write_items(kind, Path(suites[0]), Path(to), fields, limit, seed)
    click.echo(f"{counted(count, 'item')} in {to}", err=True)


@command.command("serve", short_help="Serve a study, or a folder of studies.")
@click.argument("place", metavar="STUDY", type=click.Path())
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Any other host needs --certificate or --trusted-proxy."
)
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--base-path", default="", metavar="PATH", help="The path that the study, or all studies, are under.")
@click.option("--certificate", type=click.Path(exists=True, dir_okay=False), help="TLS certificate chain, PEM.")
@click.option("--key", type=click.Path(exists=True, dir_okay=False), help="Its private key, PEM.")
@click.option(
    "--trusted-proxy", "trusted", multiple=True, metavar="CIDR",
    help="The address or network of a proxy in front that does TLS. Repeatable.",
)  # fmt: skip
@click.option(
    "--url", "urls", multiple=True, metavar="URL",
    help="The address that people use, such as https://study.example.org, for links in the owner's pages. Repeatable.",
)  # fmt: skip
def serve_command(
    place: str, host: str, port: int, base_path: str, certificate: str | None, key: str | None,
    trusted: tuple[str, ...], urls: tuple[str, ...],
) -> None:  # fmt: skip
    """Serve STUDY until interrupted. The owner's view is at /admin.

    \b
      unswayed collect serve study.toml
      unswayed collect serve studies/ --base-path /c --port 8931

    If STUDY is a folder, each study in it (NAME.toml or NAME/study.toml) is served under its own path, /c/NAME, with
    its own cookies.
    """
    from unswayed.base.text import visible
    from unswayed.collect.server import serve, studies_at

    studies = studies_at(Path(place), base_path)
    for base, study in studies.items():
        click.echo(f"{visible(study.title)}: http{'s' if certificate else ''}://{host}:{port}{base}/", err=True)
    serve(studies, host, port, certificate, key, trusted, urls)


@command.command("status", short_help="Show the progress of a study.")
@study_file
@format_option
def status(study_file: str, format_: str) -> None:
    """Print how far STUDY is, by stratum and by person, and the agreement between people.

    \b
      unswayed collect status study.toml
    """
    from unswayed.collect.export import agreed, answers_of, exportable
    from unswayed.collect.status import coverage, disk_warning, progress, record

    with _opened(study_file) as (study, database):
        parts = database.read(lambda tx: [[progress(tx)], coverage(tx), record(tx, study)])
        answers = answers_of(study, database)
        if low := disk_warning(study):
            click.echo(low, err=True)
    if (versions := exportable(study, answers)) is not None:
        parts[0][0]["versions"] = versions
    parts.append(agreed(study, answers))
    if format_ in ("json", "jsonl"):
        print_values("json", dict(zip(("progress", "strata", "people", "agreement"), parts, strict=True)))
        return
    print_values(format_, *filter(None, parts))


@command.command("export", short_help="Write people's answers, or their texts as a suite.")
@study_file
@click.option("-o", "to", required=True, metavar="PLACE", help="FILE.jsonl, FILE.parquet, or a folder for a suite.")
@click.option(
    "--as", "form", type=click.Choice(["suite", "answers"]), help="What to write. Default: by the ending of PLACE."
)
@click.option("--logs", is_flag=True, help="Include every key and composition event.")
@click.option("--names", is_flag=True, help="Write people's names. Default: pseudonyms.")
@click.option("--overwrite", is_flag=True, help="Replace an existing suite.")
@click.option("--recogniser", help="The recogniser whose texts the suite takes, if several transcribed the recordings.")
@click.option(
    "--judged", metavar="FILE", help="For a suite: an export of a same_meaning study. Keep what means the same."
)
@click.option("--summary", metavar="FILE", help="Also write a summary of the answers to each item (JSON lines).")
def export_command(
    study_file: str, to: str, form: str | None, logs: bool, names: bool, overwrite: bool, recogniser: str | None,
    judged: str | None, summary: str | None,
) -> None:  # fmt: skip
    """Write every answer of STUDY as a record, counted or not; or people's texts as a suite.

    \b
      unswayed collect export study.toml --as suite -o people/
      unswayed run people/ --system my_module:predict -o run/

    People are named by pseudonyms, which stay the same from export to export. A data sheet of the study is written
    beside PLACE: who took part, what they were told, how far they agree.
    """
    from unswayed.collect.export import answers_of, export, summaries
    from unswayed.collect.forgetting import EXPORT, NAMED, recorded
    from unswayed.collect.people import note
    from unswayed.collect.records import decisions
    from unswayed.collect.sheet import sheet_file, write_sheet
    from unswayed.storage.files import write_json_lines

    if form and (form == "suite") == (Path(to).suffix in (".jsonl", ".parquet")):
        raise click.UsageError("A suite is a folder; answers are FILE.jsonl or FILE.parquet.")
    if judged and Path(to).suffix in (".jsonl", ".parquet"):
        raise click.UsageError("--judged is for a suite: choose a folder with -o.")
    written = [Path(place) for place in (to, sheet_file(Path(to)), summary) if place]
    with _opened(study_file) as (study, database), recorded(database, NAMED if names else EXPORT, *written):
        done = export(study, database, Path(to), logs, overwrite, recogniser, names, Path(judged) if judged else None)
        sheet = write_sheet(study, database, Path(to), names)
        if summary:
            decided, rows = database.read(decisions), summaries(study, answers_of(study, database))
            write_json_lines(Path(summary), [{**row, "decided": decided.get(row["item"])} for row in rows])
        database.write(lambda tx: note(tx, "owner", "exported with names" if names else "exported", to))
    click.echo(f"Data sheet in {sheet}", err=True)
    if isinstance(done, int):
        click.echo(f"{counted(done, 'answer')} in {to}", err=True)
        return
    made = done.suite.manifest
    click.echo(
        f"{counted(made.examples, 'example')} and {counted(made.variants, 'version')} by people in {to}", err=True
    )
    left_out = {
        "have no text": done.incomplete, "lost a labelled word": done.labels_lost,
        "others did not judge to mean the same": done.not_the_same,
    }  # fmt: skip
    print_messages(
        f"Left out: {counted(count, 'version')} that {reason}." for reason, count in left_out.items() if count
    )


@command.command("transcribe", short_help="Transcribe recordings with a speech recogniser.")
@study_file
@click.option(
    "--recogniser",
    required=True,
    help="pocketsphinx, whisper:DIR, sherpa:DIR, command:COMMAND, or what `run --system` takes.",
)
@click.option("--again", is_flag=True, help="Transcribe all recordings again.")
def transcribe_command(study_file: str, recogniser: str, again: bool) -> None:
    """Turn the recordings of STUDY into text, also while it is served.

    \b
      unswayed collect transcribe study.toml --recogniser whisper:model/

    Each recogniser's texts are kept by its name. Once the recogniser has changed, all recordings are transcribed again.
    """
    from unswayed.collect.kinds.read_aloud import transcribe
    from unswayed.systems import Recogniser, open_system

    with _opened(study_file) as (study, database):
        system = open_system(recogniser, Recogniser, language=study.language)
        count = transcribe(study, database, recogniser, system.hear, again, system.identity)
    click.echo(f"{counted(count, 'recording')} transcribed.", err=True)


@command.command("password", short_help="Set a new password for the owner.")
@study_file
def password_command(study_file: str) -> None:
    """Print a new password for the owner's pages of STUDY. The old one and all sessions end.

    \b
      unswayed collect password study.toml
    """
    from unswayed.collect.owner import reset_password

    with _opened(study_file) as (_, database):
        click.echo(database.write(reset_password))


@command.command("backup", short_help="Copy a study's database, also while it is served.")
@study_file
@click.option("-o", "to", required=True, type=click.Path(), metavar="FILE", help="The copy.")
def backup(study_file: str, to: str) -> None:
    """Copy the database of STUDY as it is at one moment: an SQLite file, or what pg_dump writes.

    \b
      unswayed collect backup study.toml -o copy.sqlite
    """

    from unswayed.collect.forgetting import BACKUP, recorded

    with _opened(study_file) as (_, database), recorded(database, BACKUP, to):
        database.backup(Path(to))


@command.command("invite", short_help="Add a person and print their link.")
@study_file
@click.option("--name", "names", multiple=True, required=True, help="A name for the person. Repeatable.")
@click.option("--stratum", default="", help="The person's stratum, if the study has strata.")
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="The URL that the study is served at.")
def invite_command(study_file: str, names: tuple[str, ...], stratum: str, url: str) -> None:
    """Add a person to STUDY and print their link, which is stored nowhere. It works while the study is served, too.

    \b
      unswayed collect invite study.toml --name anna --name ben
    """
    from unswayed.base.text import visible
    from unswayed.collect.people import invite

    with _opened(study_file) as (study, database):
        tokens = database.write(lambda tx: [invite(tx, study, name, stratum) for name in names])
    for name, token in zip(names, tokens, strict=True):
        click.echo(f"{visible(name)}\t{url.rstrip('/')}/i/{token}")


@command.command("exclude", short_help="Stop counting a person's answers.")
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
    from unswayed.collect.people import exclude, include

    if undo == (reason is not None):
        raise click.UsageError("Choose --reason REASON or --undo.")
    with _opened(study_file) as (study, database):
        if undo:
            back = database.write(lambda tx: include(tx, study, person))
            click.echo(f"{back:,} answers count again.", err=True)
        else:
            database.write(lambda tx: exclude(tx, person, reason or ""))


@command.command("forget", short_help="Delete people and everything they gave.")
@study_file
@click.argument("person", required=False)
@click.option(
    "--before", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="Everybody who did nothing since DATE."
)
@click.option("--backups", is_flag=True, help="Also rewrite the backups that `collect backup` made.")
@click.option("--full", is_flag=True, help="PostgreSQL: run VACUUM FULL, which rewrites the tables.")
def forget_command(study_file: str, person: str | None, before: datetime | None, backups: bool, full: bool) -> None:
    """Delete PERSON, their answers, logs and recordings from STUDY, also while it is served.

    \b
      unswayed collect forget study.toml anna
      unswayed collect forget study.toml anna --backups
      unswayed collect forget study.toml --before 2026-01-01

    It prints which exports and backups can still have their data. Delete the exports yourself. --backups removes
    everybody from the backups who is not in the study any more; a dump of PostgreSQL is made anew.

    With --before, it deletes everybody whose last answer is older (or, without answers, whose invitation is), and the
    audit log of that time. Run it regularly to keep data no longer than you promised.

    If the command is interrupted, run it again. Serving the study also finishes it.
    """
    from unswayed.base.text import visible
    from unswayed.collect.forgetting import BACKUP, forget_people

    if (person is None) == (before is None):
        raise click.UsageError("Choose a PERSON, or --before DATE.")
    since = 0.0 if before is None else before.replace(tzinfo=UTC).timestamp()
    with _opened(study_file) as (study, database):
        gone = forget_people(study, database, person, since, backups, full)
    who = "1 person" if len(gone.people) == 1 else f"{len(gone.people):,} people"
    click.echo(
        f"{who}, {counted(gone.answers, 'answer')} and {counted(gone.recordings, 'recording')} deleted.", err=True
    )
    lists: dict[str, Sequence[object]] = {
        "Backups rewritten:": gone.rewritten,
        "These backups can still have them. Delete them, or run the command again with --backups:": [
            copy.place for copy in gone.copies if copy.what == BACKUP
        ],
        "These exports can still have their answers. Delete them:": [
            f"{copy.place} ({copy.what})" for copy in gone.copies if copy.what != BACKUP
        ],
        "These files still contain a deleted name, in items or in what others wrote. Check them:": gone.files,
        "Answers were downloaded from the owner's pages on these days. Delete those files:": gone.downloads,
    }
    for heading, places in lists.items():
        if places:
            click.echo("\n  ".join([heading, *(visible(str(place)) for place in places)]), err=True)
    if gone.database:
        click.echo(gone.database, err=True)
