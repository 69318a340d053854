"""Tagged data: CoNLL's columns in their several layouts, and rows with tokens, tags or entities."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from unswayed.base.errors import DataError, UsageError
from unswayed.base.values import Example
from unswayed.data import ReadOptions, examples_of, find_reader, read_examples, task_and_language

XSID = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "xsid"


def read(path: Path, text: str | bytes, **options: object) -> list[Example]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_examples(path, ReadOptions(**options)))


def tagged(examples: list[Example]) -> list[tuple[str, list[str]]]:
    return [(example.inputs["text"], example.gold["tags"]) for example in examples]


ANNA = ("Anna Berg lebt in Oslo", ["B-PER", "I-PER", "O", "O", "B-LOC"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("iob1", "Anna I-PER\nBerg I-PER\nlebt O\nin O\nOslo I-LOC\n"),
        ("bioes", "Anna B-PER\nBerg E-PER\nlebt O\nin O\nOslo S-LOC\n\n\n\n"),
        ("bilou, tabs, CRLF", "Anna\tB-PER\r\nBerg\tL-PER\r\nlebt\tO\r\nin\tO\r\nOslo\tU-LOC\r\n\r\n"),
        ("trailing spaces, a mark", "\ufeffAnna B-PER \nBerg I-PER \nlebt O \nin O \nOslo B-LOC \n \t \n"),
        ("2003", "-DOCSTART- -X- -X- O\n\nAnna N B-NP B-PER\nBerg N I-NP I-PER\nlebt V B-VP O\nin P B-PP O\n"
                 "Oslo N B-NP B-LOC\n"),
        ("Label Studio", "-DOCSTART- -X- O\nAnna -X- _ B-PER\nBerg -X- _ I-PER\nlebt -X- _ O\nin -X- _ O\n"
                         "Oslo -X- _ B-LOC\n"),
        ("GermEval", "#\thttp://x.org\t[2009-10-17]\n1\tAnna\tB-PER\tO\n2\tBerg\tI-PER\tO\n3\tlebt\tO\tO\n4\tin\tO\tO\n"
                     "5\tOslo\tB-LOC\tO\n"),
        ("CoNLL-U Plus", "# global.columns = ID FORM UPOS NER\n# sent_id = 1\n1\tAnna\tN\tB-PER\n2\tBerg\tN\tI-PER\n"
                         "3-4\tlebtin\t_\t_\n3\tlebt\tV\tO\n4\tin\tP\tO\n4.1\tnull\tX\tO\n5\tOslo\tN\tB-LOC\n"),
    ],
)  # fmt: skip
def test_layouts(tmp_path: Path, name: str, text: str) -> None:
    assert tagged(read(tmp_path / "a.conll", text)) == [ANNA]


def test_the_column_is_said_and_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Anna N B-NP B-PER\nlebt V B-VP O\n\nOslo N B-NP B-LOC\n"
    assert tagged(read(tmp_path / "a.conll", text))[0][1] == ["B-PER", "O"]
    assert "the tags are in column 4 and the words in column 1" in capsys.readouterr().err
    assert tagged(read(tmp_path / "a.conll", text, gold="3"))[0][1] == ["B-NP", "B-VP"]
    assert capsys.readouterr().err == ""
    plus = "# global.columns = ID FORM NER OTHER\n1\tAnna\tB-PER\tB-X\n"
    assert tagged(read(tmp_path / "a.conll", plus, gold="other", input=("FORM",))) == [("Anna", ["B-X"])]
    with pytest.raises(DataError, match=r"several columns hold tags: 3 \(PER\); 4 \(X\)"):
        read(tmp_path / "a.conll", plus)
    with pytest.raises(UsageError, match=r"column from 1 to 4 or one of ID, FORM, NER, OTHER, not 'x'"):
        read(tmp_path / "a.conll", plus, gold="x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n# only a comment\n", "is empty"),
        ("a O\nb O\n\nc O\nd O\n\ne O\nf\n", "a.conll:8: this line has 1 columns, but the first one has 2"),
        ("a O\nb O\n\nc O\nd O\n\ne O\nf PER\n", "a.conll:8: the tag 'PER' in column 2 is not O, B-"),
        ("a NN\nb VB\n", "no column holds tags such as O and B-PER"),
        ("ä O\n".encode() + b"b\xff O\n", "is not UTF-8, but the rows before are. Fix this row."),
        ("a\tO\n\tO\nb\tO\n", "token 2 is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(DataError, match=said.replace("(", r"\(")):
        read(tmp_path / "a.conll", text)


def test_odd_tokens_stay_tokens(tmp_path: Path) -> None:
    text = "#\tO\n🎷\tB-X\nשלום\tI-X\n1 000\tO\n"
    [(words, tags)] = tagged(read(tmp_path / "a.conll", text))
    assert words.split(" ") == ["#", "🎷", "שלום", "1\u00a0000"]
    assert tags == ["O", "B-X", "I-X", "O"]


def test_a_text_file_with_columns_is_not_read_as_texts(tmp_path: Path) -> None:
    for name in ("train.txt", "train.tsv", "eng.testa"):
        assert len(read(tmp_path / name, "Anna B-PER\nlebt O\n\nOslo B-LOC\n")) == 2
    assert [e.inputs["text"] for e in read(tmp_path / "plain.txt", "go B\nstay O\n")] == ["go B", "stay O"]
    assert [e.gold for e in read(tmp_path / "t.tsv", "text\tlabel\na\tO\nb\tB-x\n")] == ["O", "B-x"]


def test_ids_and_groups_come_from_comments(tmp_path: Path) -> None:
    text = "# sent_id = x1\n# domain = news\na O\n\n# sent_id = x2\nb O\n"
    first, second = read(tmp_path / "a.conll", text, id="sent_id", groups=("domain",))
    assert (first.id, first.groups, second.id, second.groups) == ("x1", {"domain": "news"}, "x2", {})


def test_a_sentence_with_an_empty_token_is_left_out_by_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in xSID's Chinese file: the row is lost, and not the other 499."""
    good = "# intent = weather\n1\t今天\tweather\tB-datetime\n2\t下雨\tweather\tO\n\n"
    bad = "# intent = weather\n1\t明天\tweather\tB-datetime\n2\t\tweather\tO\n3\t吗\tweather\tO\n\n"
    file = tmp_path / "zh.conll"
    file.write_text(good * 250 + bad + good * 249, "utf-8")
    examples = list(read_examples(file, ReadOptions(task="slu")))
    assert [e.row for e in examples] == list(range(499))
    assert {e.inputs["text"] for e in examples} == {"今天 下雨"}
    assert f"{file}:1002: token 2 is empty; the sentence was left out." in capsys.readouterr().err
    file.write_text(bad * 25 + good, "utf-8")
    assert len(list(read_examples(file))) == 1
    assert "5 more sentences left out, the first at line 102." in capsys.readouterr().err


@pytest.mark.skipif(not XSID.is_dir(), reason="the shared corpora are not here")
def test_xsid_is_read_as_slu(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {}
    for file in sorted(XSID.glob("*.conll")):
        examples = list(read_examples(file))
        sizes[file.name.partition(".")[0]] = len(examples)
        assert task_and_language(file).task == "slu"
        assert all(e.inputs["text"].count(" ") + 1 == len(e.gold["slots"]) for e in examples)
    assert sizes == dict.fromkeys(("de", "de-ba", "de-muc", "de-st", "en", "gsw"), 300) | {"no": 3299}
    assert "no.valid.conll:7160: there is no word here; the sentence was left out." in capsys.readouterr().err
    first = next(iter(read_examples(XSID / "de.valid.conll")))
    assert first.gold == {"intent": "weather/find", "slots": ["B-weather/attribute", "O", "B-datetime", "O"]}
    assert next(iter(read_examples(XSID / "de.valid.conll", ReadOptions(task="tag")))).gold == {
        "tags": first.gold["slots"]
    }


WIEN = "Anna in Wien."
PER, LOC = {"start": 0, "end": 4, "label": "PER"}, {"start": 8, "end": 12, "label": "LOC"}


@pytest.mark.parametrize(
    ("record", "gold"),
    [
        ({"tokens": ["Anna", "in", "Wien"], "tags": ["S-PER", "O", "S-LOC"]}, ["B-PER", "O", "B-LOC"]),
        ({"words": ["Anna", "in", "Wien"], "ner_tags": ["I-PER", "O", "I-LOC"]}, ["B-PER", "O", "B-LOC"]),
        ({"text": "Anna  in Wien", "slots": "B-PER O B-LOC"}, ["B-PER", "O", "B-LOC"]),
        ({"text": "Anna in Wien", "slots": ["B-PER", "O", "B-LOC"], "id": 3}, ["B-PER", "O", "B-LOC"]),
        ({"sentence": "Anna in Wien", "tags": ["B-PER", "O", "B-LOC"]}, ["B-PER", "O", "B-LOC"]),
        ({"text": WIEN, "entities": [LOC, PER]}, [PER, LOC]),
        ({"text": WIEN, "entities": [[0, 4, "PER"], [8, 12, "LOC"]]}, [PER, LOC]),
        ({"text": WIEN, "label": [[0, 4, "PER"]]}, [PER]),
        ({"text": WIEN, "ents": [PER], "tokens": [{"id": 0, "start": 0, "end": 4}]}, [PER]),
        ({"text": WIEN, "spans": [PER], "meta": {}}, [PER]),
        ({"text": WIEN, "entities": []}, []),
        ({"id": 1, "text": WIEN, "label": [{"start": 0, "end": 4, "text": "Anna", "labels": ["PER"]}]}, [PER]),
        ({"id": 1, "text": f"😀{WIEN}", "label": [{"start": 2, "end": 6, "text": "Anna", "labels": ["PER"]}]},
         [{"start": 1, "end": 5, "label": "PER"}]),
        ({"id": 1, "data": {"text": WIEN}, "annotations": [
            {"was_cancelled": True, "result": []},
            {"result": [{"type": "choices", "value": {}}, {"type": "labels", "value": {
                "start": 8, "end": 12, "text": "Wien", "labels": ["LOC"]}}]}]}, [LOC]),
    ],
)  # fmt: skip
def test_forms_of_rows(record: dict, gold: list) -> None:
    [example] = examples_of([record])
    assert example.gold == {"tags" if gold and isinstance(gold[0], str) else "entities": gold}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"tokens": ["Anna"], "ner_tags": [1]}, "the tags are numbers, such as 1, without their names"),
        ({"tokens": ["Anna"], "tags": ["O", "O"]}, "there are 2 tags for 1 tokens"),
        ({"tokens": ["Anna", ""], "tags": ["O", "O"]}, "token 2 is empty"),
        ({"tokens": ["Anna"], "tags": ["PER"]}, "the tag 'PER' is not O, B-"),
        ({"tokens": ["Anna"], "tags": [None]}, "a tag must be a text"),
        ({"text": "Anna in Wien", "slots": {"city": "Wien"}}, "slots must be a list"),
        ({"text": "Anna in Wien", "slots": ["O"]}, "there are 1 tags for 3 tokens"),
        ({"text": WIEN, "entities": [{"start": 0, "end": 99, "label": "X"}]}, "from character 0 to 99, but the text"),
        ({"text": WIEN, "entities": [PER, {"start": 2, "end": 7, "label": "X"}]}, "'Anna' and 'na in' overlap"),
        ({"text": WIEN, "entities": [{**PER, "text": "Otto"}]}, "'Otto' does not stand at character 0"),
        ({"data": {"text": WIEN}, "annotations": []}, "this task has no annotation"),
    ],
)
def test_bad_rows_are_refused(record: dict, said: str) -> None:
    with pytest.raises(DataError, match="<examples>:1: .*" + said):
        examples_of([record])


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_spacys_older_pairs_of_text_and_entities(tmp_path: Path, name: str) -> None:
    row = json.dumps([WIEN, {"entities": [[0, 4, "PER"], [8, 12, "LOC"]]}])
    (tmp_path / name).write_text(f"[{row}]" if name == "a.json" else row)
    (example,) = read_examples(tmp_path / name)
    assert (example.inputs["text"], example.gold) == (WIEN, {"entities": [PER, LOC]})


def test_a_dataframe_with_tokens_and_tags() -> None:
    frame = pd.DataFrame({"tokens": [["Anna", "lebt"], ["in", "Oslo"]], "tags": [["B-PER", "O"], ["O", "B-LOC"]]})
    assert tagged(examples_of(frame)) == [("Anna lebt", ["B-PER", "O"]), ("in Oslo", ["O", "B-LOC"])]


def test_a_row_with_labels_of_its_own_is_no_tagged_row() -> None:
    [example] = examples_of([{"text": "a b", "tags": ["news", "sport"], "label": "x"}])
    assert example.gold == "x"
    [example] = examples_of([{"tokens": ["a", "b"]}])
    assert (example.inputs, example.gold) == ({"text": "a b"}, None)


def test_integer_tags_get_their_names_from_a_saved_dataset(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    names = datasets.Sequence(datasets.ClassLabel(names=["O", "B-PER", "I-PER"]))
    features = datasets.Features({"tokens": datasets.Sequence(datasets.Value("string")), "ner_tags": names})
    made = datasets.Dataset.from_dict({"tokens": [["Anna", "Berg", "lebt"]], "ner_tags": [[1, 2, 0]]}, features)
    made.save_to_disk(tmp_path / "d")
    assert tagged(list(read_examples(tmp_path / "d"))) == [("Anna Berg lebt", ["B-PER", "I-PER", "O"])]
    assert tagged(examples_of(made)) == [("Anna Berg lebt", ["B-PER", "I-PER", "O"])]
    made.to_parquet(tmp_path / "d.parquet")
    assert tagged(list(read_examples(tmp_path / "d.parquet"))) == [("Anna Berg lebt", ["B-PER", "I-PER", "O"])]
    (tmp_path / "a.jsonl").write_text(json.dumps({"tokens": ["Anna"], "ner_tags": [1]}))
    with pytest.raises(DataError, match="read the folder that Dataset.save_to_disk makes"):
        list(read_examples(tmp_path / "a.jsonl"))


def test_the_reader_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("Anna B-PER\nlebt O\n\nOslo B-LOC\n")
    assert type(find_reader(tmp_path / "x", ReadOptions())).__name__ == "ConllReader"
