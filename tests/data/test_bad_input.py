"""Every kind of bad input is refused with its place and what to do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unswayed.base.errors import DataError, UnknownName, UsageError
from unswayed.data import ReadOptions, read_examples, task_and_language

GOOD = '{"text":"a","label":"x"}\n'
SIX = "".join(f'{{"text":"t{i}","label":"x"}}\n' for i in range(6))

BAD_FILES = {  # file name → content → what the message says after the folder
    "empty text": ("a.txt", b"", "a.txt: is empty"),
    "only a byte order mark": ("a.txt", b"\xef\xbb\xbf", "a.txt: is empty"),
    "empty jsonl": ("a.jsonl", b"", "a.jsonl: is empty"),
    "only blank lines": ("a.jsonl", b"\n \n", "a.jsonl: is empty"),
    "only a header": ("a.csv", b"text,label\n", "a.csv: is empty"),
    "empty csv": ("a.csv", b"", "a.csv: is empty"),
    "not UTF-8, text": ("a.txt", b"good\nb\xe9d\n", "a.txt:2: byte 2 of this row (byte 7 of the file), 0xe9, is not"),
    "not UTF-8, after a mark": ("a.txt", b"\xef\xbb\xbfgo\n\xff", "a.txt:2: byte 1 of this row (byte 7 of the file)"),
    "not UTF-8, csv": ("a.csv", b"text,label\na,b\nc\xff,d\n", "a.csv:3: byte 2 of this row (byte 17"),
    "not UTF-8, jsonl": ("a.jsonl", GOOD.encode() + b'{"text":"\xff"}', "a.jsonl:2: byte 10 of this row"),
    "UTF-8 that is damaged": ("a.txt", "é\n".encode() + b"b\xe9d\n", "0xe9, is not UTF-8, but the rows before are"),
    "UTF-16 that is cut off": ("a.txt", "hello".encode("utf-16")[:-1], "a.txt:1: this row is not in UTF-16. Choose"),
    "broken JSON": ("a.jsonl", SIX + '{"text": "a"', "a.jsonl:7: this is not valid JSON: Expecting ',' delimiter"),
    "an open string": ("a.jsonl", SIX + '{"text": "a', "valid JSON: Unterminated string starting at column 10."),
    "a broken row in the middle": ("a.jsonl", SIX + "{\n" + GOOD, "a.jsonl:7: this is not valid JSON"),
    "not an object": ("a.jsonl", GOOD + "[1, 2]\n", "a.jsonl:2: a row must be an object {…}, not [1, 2]"),
    "NaN in JSON": ("a.jsonl", GOOD + '{"text":"a","label":NaN}\n', "a.jsonl:2: this is not valid JSON: it holds NaN"),
    "half a character": (
        "a.jsonl",
        GOOD + '{"text":"\\ud83d","label":"x"}',
        r"a.jsonl:2: the text holds half a character, \ud83d",
    ),
    "a missing field": (
        "a.jsonl",
        GOOD + '{"txt":"a","label":"x"}',
        "a.jsonl:2: there is no field 'text'. Did you mean 'txt'?",
    ),
    "a missing label": (
        "a.jsonl",
        GOOD + '{"text":"b","lable":"x"}',
        "a.jsonl:2: there is no field 'label'. Did you mean 'lable'?",
    ),
    "a label that comes late": (
        "a.jsonl",
        '{"text":"a"}\n' + GOOD,
        "a.jsonl:2: this row has a 'label', but the first row has none",
    ),
    "a null label": ("a.jsonl", GOOD + '{"text":"b","label":null}', "a.jsonl:2: gold must be one label"),
    "a null text": ("a.jsonl", '{"text":null,"label":"x"}', "a.jsonl:1: text must be a text, not None"),
    "a number for a text": ("a.jsonl", GOOD + '{"text":3,"label":"x"}', "a.jsonl:2: text must be a text, not 3"),
    "a list for an id": ("a.jsonl", '{"id":[1],"text":"a"}', "a.jsonl:1: an id must be a text or a whole number"),
    "native without inputs": (
        "a.jsonl",
        '{"inputs":{"text":"a"}}\n{"input":{}}',
        "a.jsonl:2: there is no field 'inputs'. Did you mean 'input'?",
    ),
    "native with other inputs": (
        "a.jsonl",
        '{"inputs":{"text":"a"}}\n{"inputs":{"txt":"a"}}',
        "a.jsonl:2: there is no input 'text'. Did you mean 'txt'?",
    ),
    "native inputs of numbers": ("a.jsonl", '{"inputs":{"text":1}}', "a.jsonl:1: text must be a text"),
    "native groups": ("a.jsonl", '{"inputs":{"text":"a"},"groups":[1]}', "a.jsonl:1: groups must be slices by name"),
    "duplicate ids": (
        "a.jsonl",
        '{"id":1,"text":"a"}\n\n{"id":"2","text":"b"}\n{"id":"1","text":"c"}',
        "a.jsonl:4: the id '1' is already that of row 1",
    ),
    "unclear fields": (
        "a.jsonl",
        '{"a":"x","b":"y"}',
        "a.jsonl:1: it is not clear which field holds the text; the fields are: a, b. Choose it with input=",
    ),
    "NaN in a table": ("a.csv", "text,label\na,x\nb,NaN\n", "a.csv:3: label is NaN"),
    "an empty label": ("a.csv", "text,label\na,x\nb,\n", "a.csv:3: gold must be one label"),
    "too few cells": ("a.csv", 'text,label\n"a\nb",x\nc\n', "a.csv:4: this row has 1 cells, but the header has 2"),
    "too many cells": ("a.tsv", "text\tlabel\na\tb\tc\n", "a.tsv:2: this row has 3 cells, but the header has 2"),
    "an open quotation mark": ("a.csv", 'text,label\na,x\n"b,y\nc,z\n', "a.csv:3: the quoting of this row is broken"),
    "a column twice": ("a.csv", "text,text\na,b\n", "a.csv:1: the header has the column 'text' twice"),
    "tags that do not fit": (
        "a.jsonl",
        '{"text":"a b","intent":"go","slots":["O"]}',
        "a.jsonl:1: gold has 1 tags for 2 tokens",
    ),
    "an answer that is not there": (
        "a.jsonl",
        '{"question":"q","context":"c","answers":[{"text":"x","start":0}]}',
        "a.jsonl:1: the answer 'x' does not stand at character 0",
    ),
    "cut parquet": ("a.parquet", b"PAR1 and no more", "a.parquet: this is not a whole Parquet file"),
    "unknown suffix": (
        "a.xyz",
        b"a",
        "a.xyz: no reader knows this kind of file by its name. Choose a reader with format=",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(tmp_path: Path, case: str) -> None:
    name, content, message = BAD_FILES[case]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as error:
        list(read_examples(path))
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}:")
    assert error.value.exit_code == 4


def slu(folder: Path, tokens: str, tags: str, labels: str) -> Path:
    folder.mkdir()
    for name, content in (("seq.in", tokens), ("seq.out", tags), ("label", labels)):
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("a b\nc\n", "O O\nO\n", "x\n"), "label:2: the file ends after 1 lines, but seq.in goes on"),
        (("a b\n", "O O\nO\n", "x\ny\n"), "seq.in:2: the file ends after 1 lines, but seq.out goes on"),
        (("a b\nc d\n", "O O\nO\n", "x\ny\n"), "seq.out:2: 1 tags for the 2 tokens of"),
        (("a b\n\n", "O O\n\n", "x\n\n"), "seq.in:2: there is no utterance on this line"),
        (("a b\nc\n", "O O\nO\n", "x\n \n"), "label:2: there is no intent on this line"),
        (("a b\nc\n", "O O\nX\n", "x\ny\n"), "seq.in:2: gold has the tag 'X', which is not O, B-… or I-…"),
        (("", "", ""), "is empty"),
    ],
)
def test_bad_slu_folders(tmp_path: Path, files: tuple[str, str, str], message: str) -> None:
    with pytest.raises(DataError) as error:
        list(read_examples(slu(tmp_path / "d", *files)))
    assert message in str(error.value)


def test_a_missing_slu_file_is_named(tmp_path: Path) -> None:
    folder = slu(tmp_path / "d", "a\n", "O\n", "x\n")
    (folder / "label").unlink()
    with pytest.raises(DataError, match="label: this file is missing"):
        list(read_examples(folder, ReadOptions(format="slu")))


def test_missing_files_and_folders_of_others(tmp_path: Path) -> None:
    slu(tmp_path / "test", "a\n", "O\n", "x\n")
    with pytest.raises(DataError, match=r"tets: there is no such file or folder. Did you mean .*/test\?"):
        read_examples(tmp_path / "tets")
    with pytest.raises(DataError, match=r"this folder holds test. Name one of them, such as .*/test\."):
        read_examples(tmp_path)
    with pytest.raises(DataError, match="this is a folder, but the reader jsonl reads files"):
        read_examples(tmp_path, ReadOptions(format="jsonl"))
    with pytest.raises(UnknownName, match="Did you mean 'jsonl'"):
        read_examples(tmp_path / "test", ReadOptions(format="jsnol"))


class TestOptions:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "a.jsonl"
        path.write_text('{"text":"a","label":"yes"}\n{"text":"b","label":"yess"}\n')
        return path

    def test_a_label_outside_the_set(self, path: Path) -> None:
        with pytest.raises(DataError, match=r"2: the label 'yess' is not in labels= \(no, yes\). Did you mean 'yes'"):
            list(read_examples(path, ReadOptions(labels=("yes", "no"))))
        assert len(list(read_examples(path, ReadOptions(labels=("yes", "yess"))))) == 2

    def test_labels_of_a_task_without_labels(self, path: Path) -> None:
        with pytest.raises(UsageError, match="The task text has no labels"):
            list(read_examples(path, ReadOptions(labels=("yes",), task="text")))

    @pytest.mark.parametrize("option", [{"input": ("tex",)}, {"gold": "tex"}, {"id": "tex"}, {"groups": ("tex",)}])
    def test_a_chosen_field_that_is_not_there(self, path: Path, option: dict) -> None:
        with pytest.raises(DataError, match=r"jsonl:1: .*no field 'tex' for \w+=( or cluster=)?. Did you mean 'text'"):
            list(read_examples(path, ReadOptions(**option)))

    def test_another_task_than_the_data_has(self, path: Path) -> None:
        with pytest.raises(DataError, match=r"a.jsonl:1: gold must be .*intent.*choose another task with task="):
            list(read_examples(path, ReadOptions(task="slu")))


def test_up_to_five_bad_rows_are_shown_together(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD + '{"text":"b","label":null}\n' * 8)
    with pytest.raises(DataError) as error:
        list(read_examples(path))
    assert [line.split(": ")[0] for line in str(error.value).splitlines()] == [f"{path}:{row}" for row in range(2, 7)]


def test_a_bad_row_later_does_not_hide_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD + '{"text":"b","label":null}\n' + "{\n")
    with pytest.raises(DataError, match=r"a.jsonl:2: gold(.|\n)*a.jsonl:3: this is not valid JSON"):
        list(read_examples(path))


def test_examples_before_the_bad_row_are_handed_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"text":"t{i}"}}\n' for i in range(500)) + "{\n")
    found = []
    with pytest.raises(DataError, match=r"a.jsonl:501: "):
        found.extend(read_examples(path))
    assert len(found) == 500
    assert task_and_language(path).task == "text"


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (float("nan"), "gold is nan, so the label is missing"),
        (b"x", "gold must be a text, a number, a list or an object"),
    ],
)
def test_labels_that_are_no_labels_in_parquet(tmp_path: Path, label: object, message: str) -> None:
    pq.write_table(pa.table({"text": ["a", "b"], "label": pa.array([None, label])}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=f"a.parquet:2: {message}"):
        list(read_examples(tmp_path / "a.parquet", ReadOptions(task="text")))
