"""What `make` installs is pinned, and what the metrics' environments install is pinned with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from unswayed.papers.dialect.metrics.environment import LOCKS, PACKAGES

ROOT = Path(__file__).parent.parent


def pins(text: str) -> list[Requirement]:
    return [Requirement(line.removesuffix("\\").strip()) for line in re.findall(r"^\w.*", text, re.M)]


def plain(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def test_every_dependency_has_a_tested_version() -> None:
    pinned = {plain(pin.name): pin for pin in pins((ROOT / "constraints.txt").read_text())}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    for requirement in map(Requirement, wanted):
        if requirement.name != "unswayed":
            (version,) = pinned[plain(requirement.name)].specifier
            assert version.operator == "=="
            assert requirement.specifier.contains(version.version), f"{requirement} is pinned to {version}"
    assert "--constraint constraints.txt" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("name", [*PACKAGES, "cuda"])
def test_every_package_of_an_environment_has_hashes(name: str) -> None:
    text = (LOCKS / f"{name}.txt").read_text()
    blocks = re.findall(r"^\w.*\n(?:    .*\n)*", text, re.M)
    assert len(blocks) > 10
    for block in blocks:
        assert re.fullmatch(r"[\w.-]+==[\w.]+(?: ; [^\\]+)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", block)
    if name in PACKAGES:
        pinned = {plain(pin.name): pin for pin in pins(text)}
        for requirement in map(Requirement, PACKAGES[name]):
            (version,) = pinned[plain(requirement.name)].specifier
            assert requirement.specifier.contains(version.version)
