"""`unswayed data`: public corpora, fetched to a cache with their licence shown."""

from __future__ import annotations

import click


@click.group("data", short_help="Fetch a known public corpus to a local cache.")
def command() -> None:
    """Fetch known public corpora. `unswayed list corpora` shows which."""


@command.command("pull", short_help="Fetch a corpus, check it, and print where it is.")
@click.argument("name", metavar="NAME")
@click.option("--cache", type=click.Path(file_okay=False), help="Where to keep it.  [default: ~/.cache/unswayed/data]")
@click.option("--mirror", metavar="URL", help="Another place to fetch from; files are checked all the same.")
def pull_command(name: str, cache: str | None, mirror: str | None) -> None:
    """Fetch corpus NAME unless it is there already, check every file's SHA-256, and print its folder.

    \b
      unswayed vary $(unswayed data pull snips)/test --task slu --with spoken/filler_end -o suite/

    The corpus's licence is shown and is yours to keep to. A file that can't be fetched whole and unchanged is an
    error, and no part of it stays.
    """
    from unswayed.base.progress import Progress
    from unswayed.data import corpus_named, pull

    found = corpus_named(name)
    click.echo(f"{found.name}: {found.description}\nLicence: {found.licence}\nFrom: {found.homepage}", err=True)
    with Progress("bytes", found.size) as progress:
        folder = pull(name, cache, mirror, progress.add)
    click.echo(folder)
