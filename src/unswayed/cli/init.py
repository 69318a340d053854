"""`unswayed init`: the files of a first check."""

from __future__ import annotations

import click


@click.command("init", short_help="Write a plan, a CI workflow and a test for your data.")
@click.argument("data", metavar="DATA")
@click.option("--system", required=True, metavar="SYSTEM", help="The system to test (same syntax as `run --system`).")
@click.option("--host", type=click.Choice(["github", "gitlab", "none"]), default="github", show_default=True,
              help="The code host to write a workflow for.")  # fmt: skip
@click.option("--lang", default="", metavar="CODE", help="Language of the texts.  [default: found from the texts]")
@click.option("--input", multiple=True, metavar="FIELD", help="Field with a text, if it is not found. Repeatable.")
@click.option("--gold", default="", metavar="FIELD", help="Field with the right answer, if it is not found.")
@click.option("-o", "folder", default=".", show_default=True, metavar="FOLDER", help="Folder of your project.")
@click.option("--source", default="", metavar="ADDRESS",
              help="Git address from which CI installs unswayed.  [default: the project's]")  # fmt: skip
@click.option("--run", metavar="RUN", help="A first run of the plan, whose results set the limit of its gate.")
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
def command(
    data: str, system: str, host: str, lang: str, input: tuple[str, ...], gold: str, folder: str, source: str,
    run: str | None, overwrite: bool,
) -> None:  # fmt: skip
    """Write unswayed.toml, a CI workflow and a test for DATA and SYSTEM.

    \b
      unswayed init mine.jsonl --system my_module:predict
      unswayed run --plan unswayed.toml -o run/
      unswayed init mine.jsonl --system my_module:predict --run run/ --overwrite
      unswayed init tickets.csv --input body --gold queue --system my_module:predict

    The workflow checks each pull request against the main branch and comments on it. With --run, the gate's limit is
    the upper end of that run's interval, and a comment in the plan says what so many examples can show. The runs'
    folders are added to .gitignore.
    """
    from unswayed.base.project import REPOSITORY, repository_registered
    from unswayed.report.ci import write_first_check

    started = write_first_check(data, system, folder, host, overwrite, lang, source, run, input, gold)
    click.echo(f"{data}: task {started.task}, language {started.language}.", err=True)
    for file in started.files:
        click.echo(f"Wrote {file}", err=True)
    if host != "none" and not source and not repository_registered():
        click.echo(
            f"The workflow installs from {REPOSITORY}, which is not registered yet. Put the address of your copy "
            "there, or run this again with --source ADDRESS --overwrite.",
            err=True,
        )
    click.echo(f"The gate: {started.gate}.", err=True)
    click.echo("Try it: unswayed run --plan unswayed.toml -o run/", err=True)
