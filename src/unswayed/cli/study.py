"""`unswayed study`: the published studies, done again; one subcommand for each registered study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unswayed.cli._options import ENGINE, format_option, place_options, plan_from, plan_options, trust_option


class _Studies(click.Group):
    """A group whose commands are the registered studies."""

    def list_commands(self, context: click.Context) -> list[str]:
        from unswayed.report.study import studies

        return studies.names()

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        from unswayed.cli import debuggable
        from unswayed.report.study import studies

        if name not in studies.names() and ":" not in name:
            return None
        study = studies.get(name)

        def run(data: str | None, only: tuple[str, ...], format_: str, **given: Any) -> None:
            plan_from(None, given)
            made = study()
            click.echo(made.run(Path(data) if data else made.pulled(), only, given).text(format_))

        place, tables = click.Path(exists=True), f"A table. Repeatable. Of: {', '.join(study.tables)}."
        fetched = ", ".join(f"`data pull {name}`" for name in study.corpora)
        where = f"The study's data. Default: where {fetched} put it." if fetched else "The study's data."
        params: list[click.Parameter] = [
            click.Option(["--data"], required=not study.corpora, type=place, metavar="DIR", help=where),
            click.Option(["--only"], multiple=True, metavar="TABLE", help=tables),
        ]
        for o in study.options:
            shown: dict[str, Any] = {"default": False if o.flag else o.default, "show_default": not o.flag}
            names = [f"--{o.name}", *([o.short] if o.short else [])]
            params.append(click.Option(names, help=o.help, type=o.kind, multiple=o.multiple, is_flag=o.flag, **shown))
        made = click.Command(name, callback=run, params=params, help=study.__doc__)
        return debuggable(trust_option(place_options(plan_options(ENGINE)(format_option(made)))))


@click.group("study", cls=_Studies, short_help="Reproduce a published study and compare its tables with the paper's.")
def command() -> None:
    """Reproduce a published study on its data, and print its tables next to the paper's.

    \b
      unswayed study readin --data readin/ --only error-rates --format json
    """
