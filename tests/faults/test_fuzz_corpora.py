"""Every reader of corpora, given files that were valid once: it reads them or says what is wrong, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import NothingEvaluated, UnswayedError
from unswayed.data import ReadOptions, read_examples, readers

from .mutate import fuzz, mutated
from .valid import CORPORA, RTE_JSONL, Kind


def put(folder: Path, kind: Kind) -> None:
    for name, content in kind.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def tried(folder: Path, kind: Kind, name: str, content: bytes) -> None:
    """Reads with one file replaced. Whatever is not an error of ours is a bug, and ours must say where."""
    (folder / name).write_bytes(content)
    told = None
    try:
        kind.read(folder)
    except NothingEvaluated:
        pass  # which is about what the file holds, not about how
    except UnswayedError as error:
        told = str(error)
    finally:
        (folder / name).write_bytes(kind.files[name])
    assert told is None or str(folder) in told, f"it is not said which file this is about: {told}"


def attack(folder: Path, kind: Kind, times: int) -> None:
    """Reads the files as they are, then with one of them damaged, again and again."""
    put(folder, kind)
    kind.read(folder)

    @fuzz(times)
    @given(st.data())
    def damaged(data: st.DataObject) -> None:
        file = data.draw(st.sampled_from(sorted(kind.files)))
        tried(folder, kind, file, data.draw(mutated(kind.files[file])))

    damaged()


@pytest.mark.parametrize("name", CORPORA)
def test_damaged_corpora_are_read_or_refused_by_name(tmp_path: Path, name: str) -> None:
    if name == "excel":
        pytest.importorskip("python_calamine", reason="needs unswayed[excel]")
    attack(tmp_path, CORPORA[name], 60)


def test_every_reader_is_attacked() -> None:
    assert {name.partition(",")[0] for name in CORPORA} == {
        "csv" if name == "table" else name for name in readers.names()
    } | {"tsv"}


def test_a_pair_without_its_task(tmp_path: Path) -> None:
    """What the long run found last: slices that are null."""
    (tmp_path / "a.jsonl").write_bytes(RTE_JSONL.replace(b'"IR"', b"null").replace(b'"RTE1_dev"', b"null"))
    first, second = read_examples(tmp_path / "a.jsonl", ReadOptions(format="rte"))
    assert (first.groups, second.groups) == ({}, {"task": "IE", "challenge": "RTE2"})
