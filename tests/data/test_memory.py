"""Examples given in Python pass the same checks as those of a file."""

from __future__ import annotations

import pytest

from unswayed.base.errors import DataError, UsageError
from unswayed.base.values import Example
from unswayed.data import ReadOptions, examples_of, likely_groups
from unswayed.run.making import make_suite


def test_mappings_and_examples_are_numbered_anew() -> None:
    flat, native = examples_of([{"text": "a", "label": "x"}, Example(9, "kept", {"text": "b"}, "y")])
    assert (flat.row, flat.inputs, flat.gold) == (0, {"text": "a"}, "x")
    assert (native.row, native.id) == (1, "kept")


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "there are no examples"),
        ([{"text": "a", "label": "x"}, {"text": "b", "label": None}], "<examples>:2: gold must be one label"),
        ([{"text": "a", "label": float("nan")}], "<examples>:1: gold is nan"),
        ([{"text": "a\ud800"}], r"<examples>:1: a text holds half a character, \\ud800"),
        ([{"id": "1", "text": "a"}, {"id": 1, "text": "b"}], "<examples>:2: the id '1' is already that of row 1"),
    ],
)
def test_bad_records_are_named(records: list[dict], message: str) -> None:
    with pytest.raises(DataError, match=message):
        examples_of(records)


def test_options_choose_fields() -> None:
    (example,) = examples_of([{"a": "x", "b": "y"}], ReadOptions(input=("b",), gold="a"))
    assert (example.inputs, example.gold) == ({"b": "y"}, "x")


ROWS = [
    {"utterance": "turn off the lights", "intent": "lights", "region": "north"},
    {"utterance": "play some jazz", "intent": "music", "region": None},
]


def frame(kind: str) -> object:
    import datasets
    import pandas
    import pyarrow

    if kind.startswith("polars"):
        polars = pytest.importorskip("polars")
        return polars.DataFrame(ROWS) if kind == "polars" else polars.LazyFrame(ROWS)
    names = datasets.ClassLabel(names=["music", "lights"])
    text = datasets.Value("string")
    features = datasets.Features({"utterance": text, "intent": names, "region": text})
    kinds = {
        "pandas": pandas.DataFrame(ROWS, index=[7, 7]),
        "pandas, its own types": pandas.DataFrame(ROWS).convert_dtypes().astype({"intent": "category"}),
        "datasets": datasets.Dataset.from_list(ROWS, features=features),
        "arrow": pyarrow.Table.from_pylist(ROWS),
    }
    return kinds[kind]


@pytest.mark.parametrize("kind", ["pandas", "pandas, its own types", "polars", "polars, lazy", "datasets", "arrow"])
def test_a_table_is_read_as_its_records_are(kind: str) -> None:
    options = ReadOptions(groups=("region",))
    assert examples_of(frame(kind), options) == examples_of(ROWS, options)
    with pytest.raises(DataError, match=r">:1: there is no field 'text' for input=.*utterance, intent, region"):
        examples_of(frame(kind), ReadOptions(input=("text",)))


def test_missing_values_are_none() -> None:
    import pandas

    frame = pandas.DataFrame({"text": ["a", "b"], "label": [1.5, float("nan")], "tags": [["x"], None]})
    assert [e.gold for e in examples_of(frame)] == [1.5, None]
    assert [e.gold for e in examples_of(frame.convert_dtypes())] == [1.5, None]


def test_texts() -> None:
    import pandas

    for texts in (["a b", "c"], iter(["a b", "c"]), pandas.Series(["a b", "c"])):
        assert [e.inputs for e in examples_of(texts)] == [{"text": "a b"}, {"text": "c"}]


@pytest.mark.parametrize("wrong", ["a text", {"text": "a"}, 3])
def test_what_is_no_data(wrong: object) -> None:
    with pytest.raises(UsageError, match="data must be a path, a list of texts or records, a DataFrame"):
        examples_of(wrong)
    with pytest.raises(DataError, match="this must be a text, a mapping or an Example, not int"):
        examples_of([1])


@pytest.mark.parametrize("kind", ["pandas", "polars", "datasets"])
def test_columns_of_few_values_are_slices(kind: str) -> None:
    rows = [
        {
            "message": f"text {i}",
            "queue": "ab"[i % 2],
            "region": "nsew"[i % 4],
            "vip": i % 3 == 0,
            "price": i / 2,
            "n": i,
        }
        for i in range(40)
    ]
    library = pytest.importorskip(kind)
    frame = library.Dataset.from_list(rows) if kind == "datasets" else library.DataFrame(rows)
    assert likely_groups(frame, {"message", "queue", None}) == ("region", "vip")
    assert likely_groups(frame, {"message", "queue", "vip"}) == ("region",)
    assert likely_groups(rows, {"message", "queue"}) == ("region", "vip")  # a list of records is a table too
    assert likely_groups([*rows, {"message": "m"}], set()) == ()  # not all records have them
    assert likely_groups(iter(rows), set()) == likely_groups(["a text"] * 20, set()) == ()


def test_two_columns_of_a_name_that_is_read_are_refused() -> None:
    import pandas

    frame = pandas.DataFrame([["a", "b", "x", 1, 2]], columns=["text", "text", "label", "n", "n"])
    with pytest.raises(DataError, match="2 columns are named 'text'. Rename or drop all but one"):
        examples_of(frame)
    assert examples_of(frame.iloc[:, 1:])[0].inputs == {"text": "b"}


def test_whole_numbers_beside_a_missing_one_are_labels() -> None:
    import pandas

    frame = pandas.DataFrame({"text": ["a", "b", "c"], "label": [1, None, 0]})
    with pytest.raises(DataError, match="<DataFrame>:2: gold must be one label"):
        examples_of(frame)
    assert [e.gold for e in examples_of(frame.dropna().astype({"label": int}))] == [1, 0]


def test_texts_and_labels_of_numpy() -> None:
    import numpy

    assert examples_of(numpy.array(["a b", "c"]))[0].inputs == {"text": "a b"}
    record = {"text": numpy.str_("a b"), "label": numpy.int64(3)}
    assert examples_of([record])[0].gold == 3


def test_columns_that_are_numbered() -> None:
    import pandas

    suite = make_suite(pandas.DataFrame([["turn it off", "x"]]), "keyboard/adjacent", input=0, gold=1)
    assert next(suite.examples()).gold == "x"


def test_streams_and_columns_of_datasets() -> None:
    import datasets

    data = datasets.Dataset.from_list(ROWS)
    assert likely_groups(data.to_iterable_dataset(), ()) == likely_groups(data, ())
    assert examples_of(data.to_iterable_dataset()) == examples_of(data)
    assert [e.inputs["text"] for e in examples_of(data["utterance"])] == [row["utterance"] for row in ROWS]
    assert examples_of(data.with_format("numpy")) == examples_of(data)
