"""The project's name and address stand in one place; nothing tells people to install a name that is not ours yet."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from unswayed.base.project import DISTRIBUTION, REPOSITORY, extra_requirements, install_line, repository_registered
from unswayed.report.ci import write_first_check
from unswayed.storage.untrusted_files import OLD_NAME

ROOT = Path(__file__).parents[2]
MAY_SAY_IT = {"CHANGELOG.md", "NOTICE", "src/unswayed/storage/untrusted_files.py", "tests/collect/earlier/README.md"}


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this is no git checkout")
    return [ROOT / name for name in done.stdout.split("\n") if name and (ROOT / name).is_file()]


def test_the_old_name_stands_where_it_must_and_nowhere_else() -> None:
    said = {
        file.relative_to(ROOT).as_posix()
        for file in tracked()
        if OLD_NAME.encode() in file.read_bytes().lower() or OLD_NAME in file.as_posix()
    }
    assert said == MAY_SAY_IT


def test_nothing_tells_people_to_install_an_unregistered_name() -> None:
    name = DISTRIBUTION.encode()
    by_name = re.compile(
        rb"\b(pip|pipx|uv|uvx)\s+(tool\s+)?(install|run|add)\b[^\n`]*[\s'\"]%s([\[=<>~'\"`]|\s|$)" % name
    )
    told = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in tracked()
        for number, line in enumerate(file.read_bytes().split(b"\n"), 1)
        if by_name.search(line) and b" @ git+" not in line and file != Path(__file__)
    ]
    assert told == []


def test_the_constants_are_the_ones_of_the_package_and_nothing_else_spells_the_address() -> None:
    """Templates and pages are filled from the constants, so no other file has the address or an action of ours."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    spelled = {file.relative_to(ROOT).as_posix() for file in tracked() if REPOSITORY.encode() in file.read_bytes()}
    assert spelled == {"src/unswayed/base/project.py"}
    uses = re.compile(rb"^\s*-? ?uses: ([^\s#]+)", re.M)
    actions = {
        action.decode() for file in tracked() if file.suffix != ".py" for action in uses.findall(file.read_bytes())
    }
    assert {action.split("/")[0] for action in actions} == {"actions", "."}  # of the code host, and a folder
    assert (ROOT / "RELEASING.md").read_text("utf-8").split("\n")[2].startswith("0. **Name and address.**")


def test_an_extra_is_installed_by_the_names_of_its_packages() -> None:
    extras = extra_requirements()
    assert {"hf", "lang", "ray", "zh"} <= extras.keys()
    for extra, wanted in extras.items():
        for name in wanted:
            assert Requirement(name).name != DISTRIBUTION
            assert f"'{name}'" in install_line(extra)
    assert install_line("no-such-extra").startswith("pip install '.[no-such-extra]'")


@pytest.mark.parametrize(("host", "file"), [("github", ".github/workflows/unswayed.yml"), ("gitlab", ".gitlab-ci.yml")])
def test_a_workflow_installs_from_the_address(host: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(
        '{"text": "turn it on", "label": "a"}\n{"text": "play it", "label": "b"}\n' * 5
    )
    write_first_check(tmp_path / "mine.jsonl", "my:f", tmp_path / "one", host, lang="en")
    write_first_check(
        tmp_path / "mine.jsonl", "my:f", tmp_path / "two", host, lang="en", address="https://host.test/x/y"
    )
    ours, theirs = (tmp_path / name / file for name in ("one", "two"))
    assert REPOSITORY in ours.read_text()
    assert ours.read_text().replace(REPOSITORY, "https://host.test/x/y") == theirs.read_text()
    assert "$repository" not in ours.read_text()


def test_an_address_that_nobody_registered_is_one_that_nobody_can_take() -> None:
    assert repository_registered() != REPOSITORY.startswith("https://git.example/")
