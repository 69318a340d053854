"""A folder of the first editions is named as such, and how to make it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unswayed
from unswayed.base.errors import StoredFileError
from unswayed.storage.old_edition import OLD_NAME


@pytest.mark.parametrize(
    ("file", "kind", "command"), [("manifest.json", "Suite", "unswayed vary"), ("run.json", "Run", "unswayed run")]
)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_old_manifest_says_what_made_it(
    file: str, kind: str, command: str, indent: int | None, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(json.dumps({"format": 3, OLD_NAME: "0.1.0", "task": "classify"}, indent=indent))
    with pytest.raises(StoredFileError, match=rf"called {OLD_NAME}, made this folder.*`{command}`"):
        getattr(unswayed, kind)(tmp_path)


def test_a_text_with_the_old_name_is_no_old_manifest(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 3, "labels": [OLD_NAME]}))
    with pytest.raises(StoredFileError, match="damaged"):
        unswayed.Suite(tmp_path)
