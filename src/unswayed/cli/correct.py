"""`unswayed correct`: texts as a corrector changes them."""

from __future__ import annotations

import click

from unswayed.cli._options import key_values, stream_option


@click.command("correct", short_help="Correct typos in texts, one text per line.")
@click.argument("texts", metavar="FILE")
@click.option("--with", "corrector", default="mitigate/noisy_channel", show_default=True, help="The corrector.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the corrector. Repeatable.")
@stream_option
def command(texts: str, corrector: str, options: tuple[str, ...], to: str) -> None:
    """Write each line of FILE as CORRECTOR corrects it: Chinese, unless the corrector knows other languages.

    \b
      unswayed correct noisy.txt -o corrected.txt
      unswayed train corrector clean.txt -o corrector/
      unswayed correct noisy.txt --with corrector/ -o corrected.txt
      unswayed score correction --source noisy.txt --gold clean.txt --pred corrected.txt

    CORRECTOR is whatever --system takes: a folder, a function, a program, a URL, asked with {"text": …}; or a class or
    object with the methods of pycorrector's. To correct before another system: --system mitigate/correct:SYSTEM.
    """
    from contextlib import closing
    from pathlib import Path

    from unswayed.data import read_lines, without_break
    from unswayed.mitigate.correct import required_texts
    from unswayed.storage.files import replacing_or_printing
    from unswayed.systems import open_system

    lines = [without_break(line) for line in read_lines(Path(texts))]
    with closing(open_system(corrector, **key_values(options, "--option"))) as opened:
        corrected = required_texts(opened, lines)
    with replacing_or_printing(to) as write:
        write("".join(line + "\n" for line in corrected).encode("utf-8"))
    changed = sum(old != new for old, new in zip(lines, corrected, strict=True))
    click.echo(f"Changed {changed:,} of {len(lines):,} texts.", err=True)
