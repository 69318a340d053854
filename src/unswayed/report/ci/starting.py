"""The files of a first check: a plan for your data, a workflow for the code host, and a test."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from unswayed.base.errors import UsageError, option
from unswayed.base.project import DISTRIBUTION, REPOSITORY
from unswayed.base.registry import VERSION
from unswayed.data import open_source
from unswayed.storage.files import write_atomically

_PLACE = files("unswayed.report.ci")
_FILES = {
    "github": {".github/workflows/unswayed.yml": "workflow.yml"},
    "gitlab": {".gitlab-ci.yml": "gitlab.yml"},
    "none": {},
}


class Started(NamedTuple):
    """The files that were written, and what was found in the data."""

    files: list[Path]
    task: str
    language: str


def write_first_check(
    data: str | Path, system: str, folder: str | Path = ".", host: str = "github", overwrite: bool = False,
    lang: str = "", address: str = "",
) -> Started:  # fmt: skip
    """Writes a plan, a workflow and a test for data and a system of your own. Existing files are kept, and named.

    `address` is the git address that CI installs from; by default the project's.
    """
    place, source = Path(folder), Path(data)
    kind = open_source(source, language=lang or None).kind
    values = {
        "data": json.dumps(str(source), ensure_ascii=False),
        "task": json.dumps(kind.task),
        "language": json.dumps(kind.language),
        "system": json.dumps(system, ensure_ascii=False),
        "distribution": DISTRIBUTION,
        "repository": address or REPOSITORY,
        "tag": f"v{VERSION}",
    }
    wanted = {"unswayed.toml": "plan.toml", "tests/test_unswayed.py": "test.txt", **_FILES[host]}
    there = [name for name in wanted if (place / name).exists()]
    if there and not overwrite:
        raise UsageError(
            f"{', '.join(there)} is there already. Use {option('overwrite')} to replace it, or choose another folder."
        )
    for name, template in wanted.items():
        text = Template((_PLACE / template).read_text("utf-8")).substitute(values)
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place / name, text.encode())
    return Started([place / name for name in wanted], kind.task, kind.language)
