"""`unswayed view`: a page in which every answer can be read."""

from __future__ import annotations

import click


@click.command("view", short_help="Read every answer in one HTML page.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("-o", "to", default="view.html", show_default=True, metavar="FILE", help="The HTML file to write.")
@click.option("--serve", is_flag=True, help="Also serve the page on this machine until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65535), default=8930, show_default=True, help="Port of --serve.")
def command(runs: tuple[str, ...], to: str, serve: bool, port: int) -> None:
    """Write one page with every answer of RUN, the changed ones first, with filters and search.

    \b
      unswayed view run/
      unswayed view before/ after/ -o view.html
      unswayed view monday/ tuesday/ today/ --serve

    The page works from disk, without a network. With two or more runs, it compares the last with the first and
    shows the measures of all of them over time.
    """
    from unswayed.report.view import serve_page, write_view

    page = write_view(list(runs), to)
    click.echo(f"View in {page}", err=True)
    if serve:
        serve_page(page, port, lambda address: click.echo(f"Serving on {address} (Ctrl-C stops it)", err=True))
