"""What holds of every export: nothing is overwritten by accident, and no name or text is taken for code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from unswayed.base.errors import StoredFileError, UnknownName, UnswayedError, UsageError
from unswayed.cli.export import command
from unswayed.report.export import export, exporters, safe_names
from unswayed.report.export.lm_eval import yaml
from unswayed.storage.suite import Suite

from .conftest import build

FOLDERS = ("datasets", "inspect_ai", "lm_eval")
CODE = Path(__file__).parents[3] / "src/unswayed/report/export/_beside"


def files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_exporters_are_named_after_what_reads_them() -> None:
    assert exporters.names() == ["conll", "datasets", "inspect_ai", "lm_eval", "mlflow", "promptfoo"]


@pytest.mark.parametrize("tool", FOLDERS)
def test_same_suite_same_bytes(classify: Suite, tmp_path: Path, tool: str) -> None:
    for place in ("a", "b"):
        export(classify.path, tool, tmp_path / place)
    assert files(tmp_path / "a") == files(tmp_path / "b")


@pytest.mark.parametrize("tool", FOLDERS)
def test_what_is_there_stays_unless_it_may_go(classify: Suite, tmp_path: Path, tool: str) -> None:
    to = tmp_path / "out"
    to.mkdir()
    export(classify.path, tool, to)  # an empty folder is free
    before = files(to)
    with pytest.raises(UsageError, match="overwrite="):
        export(classify.path, tool, to)
    (to / "more").write_text("x")
    with pytest.raises(UsageError, match="also more, which unswayed did not write"):
        export(classify.path, tool, to, overwrite=True)
    assert files(to) == {**before, "more": b"x"}
    (to / "more").unlink()
    export(classify.path, tool, to, overwrite=True)
    assert files(to) == before
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="not an export"):
        export(classify.path, tool, mine, overwrite=True)
    assert files(mine) == {"thesis.txt": b"x"}


@pytest.mark.parametrize("tool", FOLDERS)
def test_nothing_is_left_where_writing_fails(classify: Suite, tmp_path: Path, tool: str) -> None:
    (classify.path / "variants.parquet").write_bytes(b"PAR1 cut off")
    with pytest.raises(UnswayedError):
        export(classify.path, tool, tmp_path / "out")
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UnswayedError):
        export(classify.path, tool, blocked / "out")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["file", "suite"]


def test_code_beside_the_data_is_fixed(classify: Suite, tmp_path: Path) -> None:
    export(classify.path, "lm_eval", tmp_path / "lm")
    export(classify.path, "inspect_ai", tmp_path / "inspect")
    for made, ours in (
        ("lm/unswayed_lm_eval.py", "unswayed_lm_eval.py"),
        ("inspect/task.py", "unswayed_inspect_ai.py"),
    ):
        assert (tmp_path / made).read_bytes() == (CODE / ours).read_bytes()


def test_the_command_says_what_to_do_next(classify: Suite, tmp_path: Path) -> None:
    told = CliRunner().invoke(
        command, [str(classify.path), "--as", "lm_eval", "--name", "homes", "-o", str(tmp_path / "t")]
    )
    assert told.exit_code == 0
    assert f"lm_eval --include_path {tmp_path / 't'} --tasks homes" in told.stderr
    assert "Controls are run but not scored" in told.stderr


@pytest.mark.parametrize(
    ("tool", "options", "problem"),
    [
        ("lm-eval", {}, "Did you mean 'lm_eval'"),
        ("lm_eval", {"nam": "x"}, "Did you mean 'name'"),
        ("lm_eval", {"name": "a/b"}, "'a/b' can't be one"),
        ("lm_eval", {"answers": "on=lamps"}, "'lamps' is not a label"),
        ("lm_eval", {"answers": "x=lights,X=music"}, "alike"),
        ("inspect_ai", {"prompt": "no.txt"}, "There is no prompt"),
    ],
)
def test_wrong_options_are_told(
    classify: Suite, tmp_path: Path, tool: str, options: dict[str, str], problem: str
) -> None:
    with pytest.raises((UsageError, UnknownName), match=re.escape(problem)):
        export(classify.path, tool, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_exported_is_told(translate: Suite, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="prompt=.*{source}"):
        export(translate.path, "lm_eval", tmp_path / "out")
    slu = build(
        tmp_path / "slu", "slu", [({"text": "play jazz"}, {"intent": "play", "slots": ["O", "B-genre"]})], sources={}
    )
    with pytest.raises(UsageError, match="can't answer the task slu"):
        export(slu.path, "inspect_ai", tmp_path / "out")
    with pytest.raises(UsageError, match="with to="):
        export(slu.path, "datasets")
    with pytest.raises(StoredFileError, match="not a suite"):
        export(tmp_path, "datasets", tmp_path / "out")
    marks = build(tmp_path / "marks", "classify", [({"text": "a"}, "x"), ({"text": "b"}, "x.")], sources={})
    with pytest.raises(UsageError, match="differ in marks alone"):
        export(marks.path, "inspect_ai", tmp_path / "out")
    named = build(tmp_path / "named", "classify", [({"text": "a"}, "x")], sources={"clean": "same"})
    with pytest.raises(UsageError, match="a source is called 'clean'"):
        export(named.path, "lm_eval", tmp_path / "out")


@given(st.lists(st.text(), unique=True))
def test_names_are_safe_and_no_two_are_alike(names: list[str]) -> None:
    safe = safe_names(names, r"[^A-Za-z0-9_]+")
    assert list(safe) == names
    assert all(re.fullmatch(r"[A-Za-z0-9_]{1,100}", name) for name in safe.values())
    assert len({name.casefold() for name in safe.values()}) == len(names)


def test_plain_names_stay_readable() -> None:
    assert safe_names(["clean", "keyboard/adjacent"], r"[^A-Za-z0-9_]+") == {
        "clean": "clean",
        "keyboard/adjacent": "keyboard_adjacent",
    }


values = st.recursive(
    st.text() | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@given(st.dictionaries(st.from_regex(r"[a-z_]{2,9}", fullmatch=True), values, max_size=4))
def test_yaml_says_what_it_was_told(value: dict[str, object]) -> None:
    import yaml as reader

    value = {f"k_{key}": item for key, item in value.items()}
    assert (reader.safe_load(yaml(value)) or {}) == value
