"""Writes docs/cli.md from the commands' own help, so that the page can't differ from them."""

from __future__ import annotations

from pathlib import Path

import click

from unswayed.cli import unswayed

PAGE = Path(__file__).with_name("cli.md")


def page() -> str:
    """The whole page: every command and subcommand with its help."""
    parts = ["# Commands\n\nMade by `make docs` from `--help`; do not edit.\n"]
    parts += [_section(command, name) for name, command in _walk(unswayed, "unswayed")]
    return "\n".join(parts)


def _walk(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    found = [(name, command)]
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for sub in command.list_commands(context):
            inner = command.get_command(context, sub)
            assert inner is not None
            found += _walk(inner, f"{name} {sub}")
    return found


def _section(command: click.Command, name: str) -> str:
    with click.Context(command, info_name=name, max_content_width=100, terminal_width=100) as context:
        text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"## {name}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
