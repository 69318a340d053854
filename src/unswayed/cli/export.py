"""`unswayed export`: suites and runs in the forms of the tools that a team already uses."""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import key_values


@click.command("export", short_help="Export a suite or a run to another tool.")
@click.argument("what", metavar="SUITE|RUN")
@click.option(
    "--as",
    "tool",
    required=True,
    metavar="TOOL",
    help="lm_eval, inspect_ai, promptfoo, datasets, conll, mlflow or a plug-in's.",
)
@click.option("-o", "to", metavar="TO", help="The folder to make; for mlflow, where its server or store is.")
@click.option("--name", help="For lm_eval: the tasks' name.")
@click.option(
    "--prompt",
    metavar="FILE",
    help="For lm_eval, inspect_ai and promptfoo: the prompt, with {INPUT} where a text of that name goes.",
)
@click.option("--answers", metavar="SAID=LABEL,…", help="For the same three: words that a model says for labels.")
@click.option("--experiment", metavar="NAME", help="For mlflow: the experiment to log to.  [default: unswayed]")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An exporter's option. Repeatable.")
@click.option("--overwrite", is_flag=True, help="Replace another export that is there.")
def command(what: str, tool: str, to: str | None, overwrite: bool, options: tuple[str, ...], **given: Any) -> None:
    """Write SUITE as plain files that another harness or library reads, or log RUN to a tracking server.

    \b
      unswayed export suite/ --as lm_eval -o tasks/       # lm_eval --include_path tasks/ --tasks NAME
      unswayed export suite/ --as inspect_ai -o inspect/  # inspect eval inspect/task.py --model MODEL
      unswayed export suite/ --as promptfoo -o promptfoo/ # promptfoo eval -c promptfooconfig.json -r PROVIDER
      unswayed export suite/ --as datasets -o dataset/    # datasets.load_dataset("dataset/")
      unswayed export run/ --as mlflow -o http://127.0.0.1:5000

    Nothing of the other tool needs to be installed to write its files. What a model answered there comes back with
    `unswayed run SUITE --system logged:LOGS`.
    """
    from unswayed.report.export import export

    named = {name: value for name, value in given.items() if value is not None}
    said = export(what, tool, to, overwrite, **named, **key_values(options, "--option"))
    click.echo(said, err=True)
