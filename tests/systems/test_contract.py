"""What holds of every kind of system, and of each that is registered."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from samples import SAMPLES, WITH_WEIGHTS

from unswayed.base.ids import canonical
from unswayed.systems import systems
from unswayed.systems.callable import CallableSystem
from unswayed.systems.metrics import metrics
from unswayed.systems.process import ProcessSystem
from unswayed.systems.system import Failed, System

MODULE = """
def predict(batch):
    return [{"letters": len(inputs["text"]), "first": inputs["text"][:1]} for inputs in batch]
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "output": len(request["inputs"]["text"])}), flush=True)
"""
HOSTILE = [
    "",
    " ",
    "?!",
    "\n",
    "two\nlines",
    "tab\there",
    "🙂👩‍👩‍👧",
    "שלום עולם",
    "مرحبا",
    "\x00",
    "  two  spaces ",
    "x" * 1_000_000,
]
HOSTILE += ["word " * 200_000, '{"id": 0}', "\u2028", "ﷺ"]
PLAIN = ["play some jazz", "will it rain on monday", "rain", "play", "one two three four five six"]


def _callable(folder: Path) -> System:
    (folder / "asked_module.py").write_text(MODULE)
    namespace: dict[str, Callable[..., object]] = {}
    exec(compile(MODULE, "<prompt>", "exec"), {"__name__": "asked_module"}, namespace)
    return CallableSystem(namespace["predict"])


def _process(folder: Path) -> System:
    (folder / "program.py").write_text(PROGRAM)
    return ProcessSystem([sys.executable, str(folder / "program.py")], concurrency=2)


KINDS: dict[str, Callable[[Path], System]] = {"callable": _callable, "process": _process}
KINDS |= {name: lambda _, name=name: SAMPLES[name].make() for name in SAMPLES}  # type: ignore[misc]
INPUTS = {name: sample.inputs for name, sample in SAMPLES.items()}


@pytest.fixture(params=sorted(KINDS))
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[System]:
    made = KINDS[request.param](tmp_path)
    made.asked_with = INPUTS.get(request.param, lambda text: {"text": text})  # type: ignore[attr-defined]
    yield made
    made.close()


def answers(system: System, texts: list[str]) -> list[object]:
    """Outputs that compare: the same failure is the same answer."""
    outputs = system.predict([system.asked_with(text) for text in texts])
    return [("failed", o.error) if isinstance(o, Failed) else o for o in outputs]


def test_every_registered_system_has_a_sample() -> None:
    """A new system or metric is tested the day it is added: put it into tests/samples."""
    assert {*systems.names(), *metrics.names()} - WITH_WEIGHTS == set(SAMPLES)


def test_has_a_name_and_sizes(system: System) -> None:
    assert system.name
    assert system.batch_size >= 1
    assert system.concurrency >= 1


def test_same_inputs_same_outputs(system: System) -> None:
    assert answers(system, PLAIN) == answers(system, PLAIN)


def test_outputs_are_json(system: System) -> None:
    assert all(canonical(output) for output in system.predict([system.asked_with(text) for text in PLAIN]))


def test_order_and_size_of_the_batch_do_not_matter(system: System) -> None:
    together = answers(system, PLAIN * 20)
    assert together == answers(system, PLAIN) * 20
    assert together[:5] == answers(system, PLAIN[::-1])[::-1]
    assert together[:5] == [answers(system, [text])[0] for text in PLAIN]


def test_an_empty_batch_has_no_outputs(system: System) -> None:
    assert list(system.predict([])) == []


def test_inputs_are_left_as_they_are(system: System) -> None:
    batch = [system.asked_with("play some jazz")]
    system.predict(batch)
    assert batch == [system.asked_with("play some jazz")]


def test_hostile_texts_do_not_break_it(system: System) -> None:
    outputs = system.predict([system.asked_with(text) for text in HOSTILE])
    assert [o for o in outputs if isinstance(o, Failed)] == []
    assert len(outputs) == len(HOSTILE)
    assert answers(system, PLAIN) == answers(system, PLAIN)


def test_closing_twice_is_fine(system: System) -> None:
    system.predict([system.asked_with("once")])
    system.close()
    system.close()


IDENTITIES = """
import importlib.util, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], str(Path(sys.argv[1]).parents[1])]
spec = importlib.util.spec_from_file_location("contract", sys.argv[1])
contract = importlib.util.module_from_spec(spec)
spec.loader.exec_module(contract)
for kind, make in sorted(contract.KINDS.items()):
    system = make(Path(sys.argv[2]))
    print(kind, system.identity, sep="\\t")
    system.close()
"""


@pytest.mark.slow
def test_identities_are_the_same_in_every_process(tmp_path: Path) -> None:
    seen = []
    for seed in ("0", "1"):
        command = [sys.executable, "-c", IDENTITIES, __file__, str(tmp_path)]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        lines = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.splitlines()
        seen.append(dict(line.split("\t") for line in lines))
    assert seen[0] == seen[1]
    assert set(seen[0]) == set(KINDS)
    assert all(seen[0].values())


def test_kinds_have_different_identities(tmp_path: Path) -> None:
    made = [make(tmp_path) for make in KINDS.values()]
    assert len({system.identity for system in made}) == len(made)
    for system in made:
        system.close()
