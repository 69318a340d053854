"""One way to say where work is done, for every command that can share it out."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import pytest
from commands import unswayed

from tests.run.every_step import every_step
from unswayed.base.errors import UsageError
from unswayed.base.values import Example
from unswayed.cli import unswayed as whole
from unswayed.mitigate.augment import augment
from unswayed.run.plan import Engine, in_use, using
from unswayed.run.workers import mapped_on
from unswayed.vary.operator import Change, Operator, Text

DOCS = Path(__file__).parents[2] / "docs" / "scale.md"


def command(folder: Path, words: list[str]) -> str:
    done = unswayed(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_step_gives_the_same_bytes_from_workers(tmp_path: Path) -> None:
    here = every_step(tmp_path / "here", command, [])
    there = every_step(tmp_path / "there", command, ["--workers", "2"])
    assert {name for name in here if here[name] != there[name]} == set()
    parents = [set((tmp_path / name / "parents.log").read_text().split()) for name in ("here", "there")]
    assert not parents[0] & parents[1], "commands ask the systems themselves here, and only their workers do there"


def commands_of(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for word in group.list_commands(context):
        found = group.get_command(context, word)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands_of(found, f"{name} {word}")
        else:
            yield f"{name} {word}".strip(), found


def test_the_docs_name_every_command_that_takes_an_engine() -> None:
    assert isinstance(whole, click.Group)
    taking = {
        re.sub(r"^(study) .*", r"\1", name)
        for name, found in commands_of(whole)
        if {"--engine", "--workers"} <= {word for option in found.params for word in option.opts}
    }
    said = re.search(r"These commands take `--engine` and `--workers`:\s+([^.]*)\.", DOCS.read_text(encoding="utf-8"))
    assert said is not None
    assert set(re.findall(r"`([^`]+)`", said[1])) == taking


def test_an_engine_is_in_use_for_a_while() -> None:
    assert in_use() == Engine()
    with using(Engine(workers=3)):
        assert in_use() == Engine(workers=3)
    assert in_use() == Engine()


class Held(Operator):
    """Has something that only its process has."""

    name = "held"

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def change(self, text: Text, rng: object) -> Change | None:
        return None


def test_what_cannot_be_sent_is_told_before_any_worker_starts() -> None:
    rows = [Example(0, "a", {"text": "turn on the lights"}, "on")]
    with pytest.raises(UsageError, match="can't be sent to worker processes: .*Use one worker"):
        list(augment(rows, [Held()], mapped=partial(mapped_on, Engine(workers=2))))
