"""Hugging Face folders: the layout that `datasets` writes, made here with pyarrow."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from unswayed.base.errors import DataError
from unswayed.data import read_examples

CLASS = {"names": ["no", "yes"], "_type": "ClassLabel"}
TAGS = {"names": ["O", "B-x"], "_type": "ClassLabel"}


def save(folder: Path, shards: list[dict], features: dict) -> Path:
    folder.mkdir(parents=True)
    names = [f"data-{i:05}-of-{len(shards):05}.arrow" for i in range(len(shards))]
    for name, columns in zip(names, shards, strict=True):
        table = pa.table(columns)
        with pa.OSFile(str(folder / name), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
            out.write_table(table, max_chunksize=2)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    return folder


def test_shards_are_one_after_the_other_and_classes_have_names(tmp_path) -> None:
    shards = [{"text": ["a", "b", "c"], "label": [0, 1, 1]}, {"text": ["d"], "label": [0]}]
    folder = save(tmp_path / "d", shards, {"text": {"dtype": "string", "_type": "Value"}, "label": CLASS})
    found = [(e.row, e.inputs["text"], e.gold) for e in read_examples(folder)]
    assert found == [(0, "a", "no"), (1, "b", "yes"), (2, "c", "yes"), (3, "d", "no")]


@pytest.mark.parametrize(
    "feature", [{"feature": TAGS, "_type": "List"}, {"feature": TAGS, "_type": "Sequence"}, [TAGS]]
)
def test_lists_of_classes_have_names(tmp_path, feature: object) -> None:
    shard = {"text": ["to oslo"], "intent": [1], "slots": [[0, 1]]}
    folder = save(tmp_path / "d", [shard], {"intent": CLASS, "slots": feature})
    assert next(read_examples(folder)).gold == {"intent": "yes", "slots": ["O", "B-x"]}


def test_a_split_is_asked_for_by_path(tmp_path) -> None:
    for split in ("train", "test"):
        save(tmp_path / "d" / split, [{"text": [split]}], {})
    (tmp_path / "d" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert next(read_examples(tmp_path / "d" / "test")).inputs == {"text": "test"}
    with pytest.raises(DataError, match=r"holds the splits train, test.*d/test"):
        next(read_examples(tmp_path / "d"))
    with pytest.raises(DataError, match=r"Did you mean .*d/train"):
        next(read_examples(tmp_path / "d" / "trian"))


def test_an_unlabelled_row_and_one_without_a_name_are_named(tmp_path) -> None:
    folder = save(tmp_path / "a", [{"text": ["a", "b", "c"], "label": [0, 1, -1]}], {"label": CLASS})
    with pytest.raises(DataError, match=r"a:3: gold must be one label.*not None"):
        list(read_examples(folder))
    folder = save(tmp_path / "b", [{"text": ["a", "b", "c"], "label": [0, 1, 9]}], {"label": CLASS})
    with pytest.raises(DataError, match=r"b:3: label 9 has no name in dataset_info.json"):
        list(read_examples(folder))


def test_damaged_folders(tmp_path) -> None:
    folder = save(tmp_path / "a", [{"text": ["a"] * 100}], {})
    file = folder / "data-00000-of-00001.arrow"
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"data-00000-of-00001.arrow: this Arrow file is damaged or cut off"):
        list(read_examples(folder))
    file.unlink()
    with pytest.raises(DataError, match=r"state.json names data-00000-of-00001.arrow, which is not here"):
        list(read_examples(folder))
    (folder / "dataset_info.json").unlink()
    with pytest.raises(DataError, match=r"dataset_info.json: this file is missing"):
        list(read_examples(folder))
