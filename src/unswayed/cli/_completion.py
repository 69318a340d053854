"""Completion in bash, zsh and fish: commands, options and the names that they take; elsewhere, files."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete

_VARIABLE = "_UNSWAYED_COMPLETE"
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def names(registry: str, module: str) -> Completer:
    """Completes the names in a registry, none of which is loaded for it."""

    def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        known: list[str] = getattr(import_module(module), registry).names()
        return _beginning(begun, known)

    return complete


def operators(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completes operators; after @, presets."""
    from unswayed.vary import operators as registered
    from unswayed.vary.presets import preset_names

    return _beginning(begun, preset_names() if begun.startswith("@") else registered.names())


scorers = names("scorers", "unswayed.score")
readers = names("readers", "unswayed.data")
tasks = names("tasks", "unswayed.base.task")


def systems(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completes what a system's text begins with: `hf:`, `cmd:` and so on, or a registered name."""
    from unswayed.systems import systems as registered
    from unswayed.systems.opening import SCHEMES, SPEECH

    return _beginning(begun, [*(f"{scheme}:" for scheme in (*SCHEMES, *SPEECH)), *registered.names()])


def _beginning(begun: str, known: list[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in known if name.startswith(begun)]


_SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


def complete(command: click.Command) -> int | None:
    """Answers a shell that wants the completion script or completions; None if no shell does."""
    shell, _, wanted = os.environ.get(_VARIABLE, "").partition("_")
    if shell not in _SHELLS or wanted not in ("source", "complete"):
        return None

    class OrFiles(_SHELLS[shell]):  # type: ignore[misc, valid-type]
        """Offers files where there is nothing else: most arguments are paths."""

        def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
            found: list[CompletionItem] = super().get_completions(args, incomplete)
            return found or ([] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")])

    answering = OrFiles(command, {}, "unswayed", _VARIABLE)
    click.echo(answering.source() if wanted == "source" else answering.complete())
    return 0
