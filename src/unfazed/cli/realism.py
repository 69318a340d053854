"""`unfazed realism`: is simulated noise like people's?"""

from __future__ import annotations

import click

from unfazed.cli._options import format_option


@click.command("realism", short_help="Tell whether simulated noise is like people's.")
@click.option("--clean", required=True, metavar="FILE", help="The texts before: a text or a JSON object a line.")
@click.option("--real", multiple=True, required=True, metavar="FILE", help="What a person made of them. Repeatable.")
@click.option(
    "--simulated", multiple=True, required=True, metavar="FILE", help="What a simulation made of them, aligned too."
)
@click.option("--input", "fields", multiple=True, metavar="FIELD", help="A field that holds a text. Repeatable.")
@click.option(
    "--system", "systems", multiple=True, metavar="SYSTEM", help="A system to compare the harm on. Repeatable."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Decides folds and resamples.")
@click.option("--homophones/--no-homophones", default=True, help="Judge random homophones too, for comparison.")
@format_option
def command(
    clean: str, real: tuple[str, ...], simulated: tuple[str, ...], fields: tuple[str, ...], systems: tuple[str, ...],
    seed: int, homophones: bool, format_: str,
) -> None:  # fmt: skip
    """Train a judge to tell SIMULATED from REAL; say how far it gets, and how the two look.

    \b
      unfazed realism --clean c.txt --real h1.txt --real h2.txt --simulated s.txt --format json

    The AUC is 0.5 where the judge can't tell and 1 where it always can. Beside it stand each person against the others
    and random homophones against people. With --system, accuracy and flips under both are compared too.
    """
    from unfazed.measure.realism.compare import realism
    from unfazed.report.tables import render

    found = realism(clean, real, simulated, fields, systems, seed, homophones)
    click.echo(render(found, "json") if format_ in ("json", "jsonl") else _tables(found, format_))


def _tables(found: dict[str, object], format_: str) -> str:
    from unfazed.measure.realism.compare import rows_of
    from unfazed.report.tables import render

    return "\n\n".join(render(rows, format_) for rows in rows_of(found))
