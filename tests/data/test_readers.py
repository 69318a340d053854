"""Each reader on what it is made for: forms, fields, odd but sound texts."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import DataError, UnknownName, UsageError
from unswayed.base.ids import content_id
from unswayed.base.values import Example
from unswayed.data import DataKind, ReadOptions, read_examples, readers, task_and_language


def read(path: Path, **options: object) -> list[Example]:
    return list(read_examples(path, ReadOptions(**options)))


@pytest.fixture
def write(tmp_path: Path):
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def rows(path: Path, *records: dict) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_the_registry_lists_the_readers() -> None:
    assert {"hf", "jsonl", "nlu_ed", "parquet", "readin", "slu", "spider", "squad", "table", "text"} <= {
        *readers.names()
    }


class TestText:
    def test_a_text_a_line(self, write) -> None:
        examples = read(write("t.txt", "one\n\nthree\n"))
        assert [(e.row, e.inputs["text"], e.gold) for e in examples] == [
            (0, "one", None),
            (1, "", None),
            (2, "three", None),
        ]

    @pytest.mark.parametrize("content", [b"a\r\nb\r\n", b"a\nb", b"\xef\xbb\xbfa\nb\n"])
    def test_line_breaks_and_byte_order_marks(self, write, content: bytes) -> None:
        assert [e.inputs["text"] for e in read(write("t.txt", content))] == ["a", "b"]

    def test_only_a_line_feed_ends_a_line(self, write) -> None:
        assert [e.inputs["text"] for e in read(write("t.txt", "a\u2028b\x0bc\x85d\n"))] == ["a\u2028b\x0bc\x85d"]

    def test_odd_texts_come_through(self, write) -> None:
        texts = ["a\x00b", "👩🏽‍🚀 up", "שלום עולם", "mixed смешанный 混合", "x" * 10_000_000]
        assert [e.inputs["text"] for e in read(write("t.txt", "\n".join(texts)))] == texts

    def test_has_no_fields(self, write) -> None:
        with pytest.raises(UsageError, match="Leave out gold="):
            read(write("t.txt", "a\n"), gold="label")


class TestJsonl:
    def test_native_form(self, tmp_path) -> None:
        path = rows(tmp_path / "a.jsonl", {"id": 7, "inputs": {"text": "hi"}, "gold": "x", "groups": {"age": 30}})
        assert read(path) == [Example(0, "7", {"text": "hi"}, "x", {"age": "30"})]

    def test_flat_form(self, tmp_path) -> None:
        path = rows(tmp_path / "a.ndjson", {"text": "hi", "label": 1, "who": "me", "n": 3})
        assert read(path) == [Example(0, content_id([{"text": "hi"}, 1]), {"text": "hi"}, 1)]
        assert read(path, groups=("who", "n"))[0].groups == {"who": "me", "n": "3"}

    def test_chosen_fields(self, tmp_path) -> None:
        path = rows(tmp_path / "a.jsonl", {"a": "x", "b": "y", "c": True, "key": "k"})
        assert read(path, input=("b", "a"), gold="c", id="key") == [Example(0, "k", {"b": "y", "a": "x"}, True)]

    @pytest.mark.parametrize(
        ("record", "inputs"),
        [
            ({"premise": "a", "hypothesis": "b", "label": 0}, ["premise", "hypothesis"]),
            ({"sentence1": "a", "sentence2": "b", "label": "0"}, ["sentence1", "sentence2"]),
            ({"question": "a", "context": "b"}, ["question", "context"]),
            ({"utterance": "a", "speaker": "b", "intent": "go"}, ["utterance"]),
            ({"whatever": "a", "label": "b", "n": 1}, ["whatever"]),
        ],
    )
    def test_fields_are_guessed_by_name(self, tmp_path, record: dict, inputs: list[str]) -> None:
        assert list(read(rows(tmp_path / "a.jsonl", record))[0].inputs) == inputs

    @pytest.mark.parametrize("slots", ["O B-place", ["O", "B-place"]])
    def test_intent_and_slots_make_slu(self, tmp_path, slots: object) -> None:
        path = rows(tmp_path / "a.jsonl", {"utterance": "to oslo", "intent": "go", "slots": slots})
        (example,) = read(path)
        assert (example.inputs, example.gold) == ({"text": "to oslo"}, {"intent": "go", "slots": ["O", "B-place"]})
        assert read(path, task="classify")[0].gold == "go"

    @pytest.mark.parametrize(
        "answers",
        [{"text": ["me"], "answer_start": [7]}, [{"text": "me", "answer_start": 7}], [{"text": "me", "start": 7}]],
    )
    def test_answers_make_qa(self, tmp_path, answers: object) -> None:
        path = rows(tmp_path / "a.jsonl", {"question": "who?", "context": "it was me", "answers": answers})
        assert read(path)[0].gold == {"answers": [{"text": "me", "start": 7}]}
        assert task_and_language(path).task == "qa"

    def test_blank_lines_are_passed_over(self, write) -> None:
        assert [e.row for e in read(write("a.jsonl", '\n{"text":"a"}\n\n{"text":"b"}\r\n\n'))] == [0, 1]

    def test_json_files_of_lines_are_taken_and_others_not(self, write) -> None:
        assert len(read(write("a.json", '{"text":"a"}\n{"text":"b"}\n'))) == 2
        with pytest.raises(DataError, match="no reader knows this kind of file"):
            read(write("b.json", '"a text"'))


class TestTable:
    def test_csv(self, write) -> None:
        path = write("a.csv", '\ufefftext,label\n"a, b\nc ""d""",x\ne,y\n')
        assert [(e.inputs["text"], e.gold) for e in read(path)] == [('a, b\nc "d"', "x"), ("e", "y")]

    def test_semicolons(self, write) -> None:
        assert read(write("a.csv", "text;label\na;x\n"))[0].gold == "x"

    def test_tsv_has_no_quoting(self, write) -> None:
        path = write("a.tsv", 'text\tlabel\n"Yes, she said\tx\r\nno "\ty\n')
        assert [(e.inputs["text"], e.gold) for e in read(path)] == [('"Yes, she said', "x"), ('no "', "y")]

    def test_a_cell_of_ten_megabytes_and_nul(self, write) -> None:
        big = "x" * 10_000_000
        assert [e.inputs["text"] for e in read(write("a.csv", f"text,label\n{big},a\nn\x00l,b\n"))] == [big, "n\x00l"]

    def test_an_empty_line_of_one_column_is_an_empty_text(self, write) -> None:
        assert [e.inputs["text"] for e in read(write("a.csv", "text\na\n\nb\n"))] == ["a", "", "b"]

    def test_slots_are_split(self, write) -> None:
        assert read(write("a.csv", "text,intent,slots\nto oslo,go,O B-x\n"))[0].gold["slots"] == ["O", "B-x"]

    def test_no_labels_at_all_is_text(self, write) -> None:
        path = write("a.csv", "text,label\na,\nb,\n")
        assert [e.gold for e in read(path)] == [None, None]
        assert task_and_language(path).task == "text"


class TestParquet:
    def test_flat_and_native(self, tmp_path) -> None:
        pq.write_table(pa.table({"text": ["a", "b"], "label": [1, 0]}), tmp_path / "flat.parquet")
        assert [(e.inputs, e.gold) for e in read(tmp_path / "flat.parquet")] == [({"text": "a"}, 1), ({"text": "b"}, 0)]
        native = [{"id": "1", "inputs": {"text": "a b"}, "gold": {"intent": "go", "slots": ["O", "O"]}}]
        pq.write_table(pa.Table.from_pylist(native), tmp_path / "native.parquet")
        assert read(tmp_path / "native.parquet")[0].gold == {"intent": "go", "slots": ["O", "O"]}

    def test_many_rows(self, tmp_path) -> None:
        count = 40_000
        pq.write_table(pa.table({"text": [f"t{i}" for i in range(count)]}), tmp_path / "a.parquet")
        examples = read(tmp_path / "a.parquet")
        assert [e.row for e in examples] == list(range(count))
        assert examples[-1].inputs == {"text": f"t{count - 1}"}


class TestSlu:
    def test_trailing_spaces_and_joined_intents(self, tmp_path) -> None:
        (tmp_path / "seq.in").write_text("to oslo \nhome\n")
        (tmp_path / "seq.out").write_text("O B-city \nO \n")
        (tmp_path / "label").write_text("go#see \nstay\n")
        first, second = read(tmp_path)
        assert (first.inputs, first.gold) == ({"text": "to oslo"}, {"intent": "go#see", "slots": ["O", "B-city"]})
        assert (second.row, second.gold["intent"]) == (1, "stay")


@pytest.mark.parametrize("split", [("train", 4478, 13084), ("valid", 500, 700), ("test", 893, 700)], ids=lambda s: s[0])
def test_the_real_corpora_are_read_whole(split: tuple[str, int, int]) -> None:
    slu = Path(__file__).resolve().parents[2] / "../shared/data/slu"
    if not slu.is_dir():
        pytest.skip("the real corpora (../shared/data/slu) are not here")
    name, atis, snips = split
    assert sum(1 for _ in read_examples(slu / "atis" / name)) == atis
    assert sum(1 for _ in read_examples(slu / "snips" / name)) == snips
    assert task_and_language(slu / "snips" / name) == DataKind("slu", "en", True)


class TestKind:
    def test_given_wins_over_guessed(self, tmp_path) -> None:
        path = rows(tmp_path / "a.jsonl", {"text": "你好吗", "label": "x"})
        assert task_and_language(path)[:3] == DataKind("classify", "zh", True)[:3]
        assert task_and_language(path, ReadOptions(task="text"), "zh-TW") == DataKind("text", "zh-TW", False)

    def test_the_data_is_not_read_to_its_end(self, write) -> None:
        path = write("a.jsonl", '{"text":"a"}\n' * 300 + "not json\n")
        assert task_and_language(path).task == "text"

    def test_an_unknown_task_is_named(self, write) -> None:
        with pytest.raises(UnknownName, match="Did you mean 'classify'"):
            read(write("a.txt", "a\n"), task="clasify")


class TestIds:
    def test_the_same_row_again_gets_a_number(self, tmp_path) -> None:
        same = {"text": "a", "label": "x"}
        ids = [e.id for e in read(rows(tmp_path / "a.jsonl", same, {"text": "b", "label": "x"}, same, same))]
        assert ids[2:] == [f"{ids[0]}-2", f"{ids[0]}-3"]
        assert len(set(ids)) == 4

    def test_reading_twice_gives_the_same(self, tmp_path) -> None:
        path = rows(tmp_path / "a.jsonl", *({"text": f"t{i}"} for i in range(500)))
        assert read(path) == read(path)


_texts = st.text(st.characters(codec="utf-8"))
_golds = st.one_of(
    st.none(),
    _texts,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.recursive(
        st.none() | _texts | st.floats(allow_nan=False, allow_infinity=False),
        lambda x: st.lists(x) | st.dictionaries(_texts, x),
    ),
)


@st.composite
def examples(draw: st.DrawFn) -> list[Example]:
    names = draw(st.lists(_texts, min_size=1, max_size=3, unique=True))
    ids = draw(st.lists(_texts.filter(bool), min_size=1, max_size=8, unique=True))
    inputs = st.fixed_dictionaries(dict.fromkeys(names, _texts))
    return [
        Example(i, id, draw(inputs), draw(_golds), draw(st.dictionaries(_texts, _texts))) for i, id in enumerate(ids)
    ]


@given(examples())
def test_what_is_written_natively_is_read_back(written: list[Example]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_bytes(msgspec.json.Encoder().encode_lines(written))
        assert read(path, task="text") == written
