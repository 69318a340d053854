"""READIN's folders, raw and processed, and the forms its other tasks come in."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.errors import DataError
from unswayed.base.task import task_named
from unswayed.data import ReadOptions, import_corpus, read_examples, task_and_language
from unswayed.papers.readin.reader import read_rows
from unswayed.papers.readin.study import corpora_in
from unswayed.score import scorers

SHARED = Path(__file__).parents[3] / "../shared/data"
needs_readin = pytest.mark.skipif(not (SHARED / "readin").is_dir(), reason="../shared/data is not here")
READIN = ReadOptions(format="readin")


def write_lines(file, *records):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")


def pair(first, second, label="1"):
    return {"sentence1": first, "sentence2": second, "label": label}


@pytest.fixture
def afqmc(tmp_path):
    folder = tmp_path / "afqmc_keyboard"
    write_lines(folder / "test_clean.json", pair("花呗提额", "提额"), pair("还款", "借呗", "0"))
    write_lines(folder / "test_noisy_1.json", pair("华北贴", "提额\n"), pair("还款", "借呗", "0"))
    write_lines(folder / "test_noisy_2.json", pair("花呗提", "提饿"), pair("环款", "戒备", "0"))
    return folder


def test_pairs_align_by_line(afqmc, tmp_path):
    suite = import_corpus(afqmc, tmp_path / "suite")
    assert (suite.manifest.task, suite.manifest.language, suite.manifest.variants) == ("classify", "zh", 4)
    (first, versions), (second, others) = suite.groups()
    assert (first.id, first.gold, first.groups) == ("0", "1", {"pair": "positive"})
    assert second.groups == {"pair": "negative"}
    assert [v.inputs["sentence2"] for v in versions] == ["提额", "提饿"]  # the line break is gone
    assert [(v.source, v.family, v.draw, v.meaning) for v in versions] == [
        ("person/keyboard-1", "keyboard", 0, "same"),
        ("person/keyboard-2", "keyboard", 1, "same"),
    ]
    assert others[0].inputs == second.inputs  # a version without a mistake is a version


def test_segments_join_on_their_ids(tmp_path):
    clean = [{"id": str(i), "zh": f"句子{i}\n", "en": f"Sentence number {i}.\n"} for i in range(3)]
    write_lines(tmp_path / "nmt/clean/test_clean.json", *clean)
    write_lines(tmp_path / "nmt/keyboard/noisy_1.json", *clean)
    write_lines(tmp_path / "nmt/asr/noisy_1.json", clean[2])
    suite = import_corpus(tmp_path / "nmt", tmp_path / "suite")
    assert suite.manifest.task == "translate"
    groups = list(suite.groups())
    assert groups[0][0].inputs == {"source": "句子0"}
    assert groups[0][0].gold == "Sentence number 0."
    assert [[v.family for v in variants] for _, variants in groups] == [
        ["keyboard"],
        ["keyboard"],
        ["keyboard", "speech"],
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (pair("环款", "戒备", "1"), "test_noisy_2.json:2: gold is not that of row 1"),
        ({"sentence1": "环款", "label": "0"}, "test_noisy_2.json:2: there is no field 'sentence2'"),
    ],
)
def test_versions_that_do_not_fit(afqmc, tmp_path, line, message):
    write_lines(afqmc / "test_noisy_2.json", pair("花呗提", "提饿"), line)
    with pytest.raises(DataError, match=message):
        import_corpus(afqmc, tmp_path / "suite")
    assert not (tmp_path / "suite").exists()


def test_a_version_of_nothing(afqmc, tmp_path):
    write_lines(afqmc / "test_noisy_2.json", *[pair("花", "呗")] * 3)
    with pytest.raises(DataError, match="gold is not|row 2 is not in the clean test set"):
        import_corpus(afqmc, tmp_path / "suite")


def test_a_corpus_without_versions(tmp_path):
    (tmp_path / "texts.txt").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no variants. Make some with `unswayed vary`"):
        import_corpus(tmp_path / "texts.txt", tmp_path / "suite")


def test_the_raw_table_has_no_quoting(tmp_path):
    header = "id\tlabel\tclean_sentence1\tclean_sentence2\tnoisy1_sentence1\tnoisy1_sentence2\n"
    file = tmp_path / "keyboard.tsv"
    file.write_text(header + '7\t1\t"花呗\t提额\t"华北\t贴\n', encoding="utf-8")
    ((example, (version,)),) = import_corpus(file, tmp_path / "suite", READIN).groups()
    assert (example.id, example.inputs["sentence1"], version.inputs["sentence1"]) == ("7", '"花呗', '"华北')
    file.write_text(header + "7\t1\t花呗\n", encoding="utf-8")
    with pytest.raises(DataError, match="keyboard.tsv:2: this row has 3 cells, but the header has 6"):
        list(read_examples(file, READIN))
    file.write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(DataError, match="keyboard.tsv:1: the header must have id, label"):
        list(read_examples(file, READIN))


def squad(question, start=2):
    paragraph = {"context": "北京大学在北京", "qas": [{"id": "Q1", "question": question, "answers": []}]}
    paragraph["qas"][0]["answers"].append({"text": "北京", "answer_start": start})
    return {"version": "v1", "data": [{"paragraphs": [paragraph]}]}


@pytest.mark.parametrize("indent", [None, 2])
def test_squad_and_versions_of_its_questions(tmp_path, indent):
    folder = tmp_path / "cmrc"
    folder.mkdir()
    for name, content in {"test_clean": squad("在哪？"), "test_noisy_asr_3": squad("再拿？")}.items():
        text = json.dumps(content, ensure_ascii=False, indent=indent)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    assert task_and_language(folder / "test_clean.json").task == "qa"  # and it is not taken for JSON lines
    ((example, (version,)),) = import_corpus(folder, tmp_path / "suite").groups()
    assert example.gold == {"answers": [{"text": "北京", "start": 0}]}  # 2 is not where it stands; 0 is nearer than 5
    assert (version.inputs["question"], version.source, version.draw) == ("再拿？", "person/speech-3", 2)
    assert version.inputs["context"] == example.inputs["context"]


def test_an_answer_that_stands_nowhere_is_kept(tmp_path):
    content = squad("在哪？")
    content["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["text"] = "上海"
    (tmp_path / "a.json").write_text(json.dumps(content), encoding="utf-8")
    (example,) = read_examples(tmp_path / "a.json")
    assert example.gold == {"answers": [{"text": "上海"}]}
    (tmp_path / "b.json").write_text('{"data": [{"paragraphs": [{"context": 3}]}]}', encoding="utf-8")
    with pytest.raises(DataError, match=r"b.json: this is not a file in SQuAD's form: .*context"):
        list(read_examples(tmp_path / "b.json"))


TABLES = [
    {
        "db_id": "music",
        "table_names_original": ["Singer"],
        "column_names_original": [[-1, "*"], [0, "Name"]],
        "foreign_keys": [],
    }
]


def write_spider(folder, *questions):
    (folder / "tables.json").write_text(json.dumps(TABLES), encoding="utf-8")
    (folder / "dev.json").write_text(json.dumps(questions), encoding="utf-8")


def test_spider(tmp_path):
    several = {"db_id": "music", "question": {"en": "Who?", "zh": "谁？"}, "mr": {"sql": "SELECT name FROM singer"}}
    write_spider(tmp_path, {"db_id": "music", "question": "哪个？", "query": "SELECT name FROM singer"}, several)
    first, second = read_examples(tmp_path)
    assert first.inputs == {"question": "哪个？", "db_id": "music", "schema": "singer(name)"}
    assert first.gold["sql"] == "SELECT name FROM singer"
    assert first.gold["schema"] == {"tables": {"singer": ["name"]}, "keys": {}}
    assert second.inputs["question"] == "谁？"
    *_, english = read_examples(tmp_path / "dev.json", ReadOptions(input=("en",)))
    assert english.inputs["question"] == "Who?"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"db_id": "musik", "question": "谁？", "query": "x"}, "dev.json:1: tables.json has no database 'musik'. Did"),
        ({"db_id": "music", "question": 3, "query": "x"}, "dev.json:1: question must be a text"),
        ({"db_id": "music", "question": "谁？"}, "dev.json:1: there is no SQL"),
        ({"db_id": "music", "question": {"vi": "Ai?"}, "query": "x"}, "no question in 'de', only in vi"),
        (3, "dev.json: this must be a list of objects"),
    ],
)
def test_spider_that_is_not_right(tmp_path, record, message):
    write_spider(tmp_path, record)
    with pytest.raises(DataError, match=message):
        list(read_examples(tmp_path / "dev.json", ReadOptions(input=("de",))))


@needs_readin
def test_the_real_pairs(tmp_path):
    folder = SHARED / "readin/afqmc_keyboard"
    suite = import_corpus(folder, tmp_path / "suite")
    assert (suite.manifest.examples, suite.manifest.variants) == (4316, 3 * 4316)
    raw = import_corpus(folder / "afqmc_test.tsv", tmp_path / "raw", READIN)
    assert raw.id == suite.id  # the raw table and the processed files say the same
    assert sum(1 for _ in read_examples(folder / "train.json", READIN)) == 18_000
    dev = list(read_examples(folder / "dev.json", READIN))
    assert len(dev) == 2_000
    assert not any(text.endswith("\n") for example in dev for text in example.inputs.values())


@needs_readin
def test_the_real_segments(tmp_path):
    suite = import_corpus(SHARED / "readin/nmt", tmp_path / "suite")
    counts = Counter(variant.source for variant in suite.variants())
    assert counts == {
        **{f"person/keyboard-{i}": 974 for i in (1, 2, 3)},
        **{f"person/speech-{i}": 958 for i in (1, 2, 3)},
    }


@pytest.mark.skipif(not (SHARED / "cmrc2018").is_dir(), reason="../shared/data is not here")
@pytest.mark.parametrize(
    ("path", "count", "task"),
    [
        ("cmrc2018/cmrc2018_dev.json", 3219, "qa"),
        ("cmrc2018/cmrc2018_trial.json", 1002, "qa"),
        ("cspider", 1034, "sql"),
    ],
)
def test_the_other_tasks(path, count, task):
    assert sum(1 for _ in read_examples(SHARED / path)) == count
    assert task_and_language(SHARED / path)[:2] == (task, "zh")


# The authors' release: folders clean, keyboard and speech, in each a folder of every task, and JSON lines.
CMRC = {"id": "DEV_0", "context": "北京大学在北京", "question": "在哪？",
        "answers": [{"text": "北京", "answer_start": 5}]}  # fmt: skip
CSPIDER = {"db_id": "music", "question": "有几个歌手？", "query": "SELECT count(*) FROM singer"}


def release(root):
    """One row of each task, clean and as each of two people typed and said it."""
    rows = {"afqmc": pair("花呗", "提额"), "cmrc2018": CMRC, "cspider": CSPIDER,
            "nmt": {"id": "7", "zh": "你好", "en": "Hello there."}}  # fmt: skip
    varied = {"afqmc": "sentence1", "cmrc2018": "question", "cspider": "question", "nmt": "zh"}
    for task, row in rows.items():
        write_lines(root / "clean" / task / "test_clean.json", row)
        for family in ("keyboard", "speech"):
            for person in (1, 2):
                noisy = {**row, varied[task]: f"{family} {person}"}
                write_lines(root / family / task / f"test_noisy_{person}.json", noisy)
    (root / "clean" / "cspider" / "tables.json").write_text(json.dumps(TABLES), encoding="utf-8")
    return root


def test_the_authors_folders_and_json_lines(tmp_path):
    root = release(tmp_path / "casrep" / "READIN")  # "asr" in a folder above says nothing
    found = corpora_in(root)
    assert set(found) == {"afqmc", "cmrc2018", "cspider", "nmt"}
    for name, folder in found.items():
        ((example, versions),) = import_corpus(folder, tmp_path / name, READIN).groups()
        assert [v.source for v in versions] == [f"person/{f}-{n}" for f in ("keyboard", "speech") for n in (1, 2)]
        (said,) = {k for k in example.inputs if example.inputs[k] != versions[0].inputs[k]}
        assert [v.inputs[said] for v in versions] == ["keyboard 1", "keyboard 2", "speech 1", "speech 2"]
        assert all(v.gold == example.gold for v in versions)
    question = next(read_rows(found["cmrc2018"] / "test_clean.json", strip=True))[0]
    assert question.id == "DEV_0"
    assert question.gold == {"answers": [{"text": "北京", "start": 5}]}
    sql = next(read_rows(found["cspider"] / "test_clean.json", strip=True))[0]
    assert (sql.gold["sql"], sql.gold["schema"]["tables"]) == (CSPIDER["query"], {"singer": ["name"]})


@pytest.mark.parametrize(
    ("answers", "gold"),
    [
        (["北京"], [{"text": "北京", "start": 0}]),
        (
            {"text": ["北京", "大学"], "answer_start": [5, 2]},
            [{"text": "北京", "start": 5}, {"text": "大学", "start": 2}],
        ),
    ],
)
def test_answers_in_other_forms(tmp_path, answers, gold):
    write_lines(tmp_path / "a.json", {**CMRC, "answers": answers})
    assert next(read_rows(tmp_path / "a.json", strip=True))[0].gold == {"answers": gold}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**CMRC, "answers": "北京"}, "a.json:1: answers must be a list"),
        ({**CMRC, "answers": [3]}, "a.json:1: an answer must be a text"),
        ({**CMRC, "context": None}, "a.json:1: context must be a text"),
        (CSPIDER, "there is no tables.json next to this file or above it"),
        ({"text": "花呗"}, "this is not a file of READIN: its first row has text"),
    ],
)
def test_rows_that_cannot_be_read(tmp_path, row, message):
    write_lines(tmp_path / "a.json", row)
    with pytest.raises(DataError, match=message):
        list(read_rows(tmp_path / "a.json", strip=True))


def test_the_family_is_said_and_not_guessed(tmp_path):
    """A folder's name has to have the word; part of a word, or a folder above the corpus, does not count."""
    for place in ("asr/casrep", "keyboard/afqmc"):
        folder = tmp_path / place
        write_lines(folder / "test_clean.json", pair("花呗", "提额"))
        write_lines(folder / "test_noisy_1.json", pair("华北", "提额"))
        with pytest.raises(DataError, match="test_noisy_1.json: neither the file's name nor its folder's says how"):
            import_corpus(folder, tmp_path / "suite", READIN)
    write_lines(tmp_path / "keyboard/afqmc/test_noisy_asr_1.json", pair("华北", "提额"))
    (tmp_path / "keyboard/afqmc/test_noisy_1.json").unlink()
    ((_, (version,)),) = import_corpus(tmp_path / "keyboard/afqmc", tmp_path / "suite", READIN).groups()
    assert version.family == "speech"


def test_raw_exact_match():
    raw, official = scorers.get("cmrc_exact_match_raw")(), scorers.get("cmrc_exact_match")()
    gold, task = {"answers": [{"text": "《西游记》"}]}, task_named("qa")
    assert [s.item("西游记", gold, task) for s in (raw, official)] == [0.0, 1.0]
    assert [s.item("《西游记》", gold, task) for s in (raw, official)] == [1.0, 1.0]
