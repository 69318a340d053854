"""`unswayed data`: public corpora, fetched to a cache with their licence shown."""

from __future__ import annotations

import click


@click.group("data", short_help="Fetch a known public corpus, or make data of production traces.")
def command() -> None:
    """Fetch known public corpora, which `unswayed list corpora` shows, or make data of what your users asked."""


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


@command.command("traces", short_help="Make data of production traces: each input once, sampled, masked.")
@click.argument("export", metavar="EXPORT")
@click.option("-o", "to", required=True, metavar="FILE", help="The .jsonl file to write.")
@click.option("--sample", type=int, metavar="N", help="Keep N inputs, chosen at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the sample.")
@click.option("--mask", multiple=True, metavar="KIND", help="email, url, ip, iban, phone, number or all. Repeatable.")
@click.option("--mask-pattern", "pattern", multiple=True, metavar="REGEX", help="Also mask what this matches.")
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
def traces_command(
    export: str,
    to: str,
    sample: int | None,
    seed: int,
    mask: tuple[str, ...],
    pattern: tuple[str, ...],
    overwrite: bool,
) -> None:
    """Make data of EXPORT, a .jsonl or .json file of traces: what people asked, each input once.

    \b
      unswayed data traces export.jsonl -o mine.jsonl
      unswayed data traces export.jsonl --sample 500 --seed 7 --mask all -o mine.jsonl
      unswayed vary mine.jsonl --turn users --with @typing -o suite/

    Exports of LangSmith and Langfuse, lines of {"messages": [...]} and lines with a question, query, input or prompt
    are read. A chat keeps its messages up to the user's last one. Answers are left out, as they are no gold. --mask
    replaces what looks like personal data by something of the same kind. It can't find names and addresses: read the
    file before you share it.
    """
    from pathlib import Path

    import msgspec

    from unswayed.base.errors import UsageError, option
    from unswayed.data import read_traces
    from unswayed.storage.files import write_atomically

    if Path(to).exists() and not overwrite:
        raise UsageError(f"{to} exists already. Choose another file, or replace it with {option('overwrite')}.")
    found = read_traces(export, sample, seed, mask, pattern)
    write_atomically(Path(to), msgspec.json.Encoder().encode_lines(found.rows))
    first, *rest = found.sentences
    for line in (f"{first} in {to}", *rest):
        click.echo(line, err=True)
