"""One small valid file, or folder of files, of everything that is read; and what reads it, as the commands do."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.parquet as pq

from unswayed.data import ReadOptions, find_reader, read_examples


class Kind(NamedTuple):
    """Files by their paths, and a function that reads them from the folder they are in."""

    files: Mapping[str, bytes]
    read: Callable[[Path], object]


def rows(*records: object) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def workbook(*sheets: list[list[object]], names: tuple[str, ...] = ()) -> bytes:
    """An .xlsx file, as small as it can be; a formula is (its text, its value)."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    count = range(1, len(sheets) + 1)

    def cell(value: object) -> str:
        if isinstance(value, tuple):
            return f"<c><f>{value[0]}</f><v>{value[1]}</v></c>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>' if value else "<c/>"

    types = "".join(f'<Override PartName="/s{i}.xml" ContentType="{kind}.worksheet+xml"/>' for i in count)
    listed = "".join(f'<sheet name="{names[i - 1] if names else i}" sheetId="{i}" r:id="r{i}"/>' for i in count)
    links = "".join(f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="s{i}.xml"/>' for i in count)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/w.xml" ContentType='
        f'"{kind}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{links}</Relationships>',
    }
    for i, lines in enumerate(sheets, 1):
        body = "".join(f"<row>{''.join(map(cell, line))}</row>" for line in lines)
        parts[f"xl/s{i}.xml"] = f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def corpus(name: str = "", format: str | None = None, **options: Any) -> Callable[[Path], object]:
    """Reads all examples and variants."""
    reading = ReadOptions(format=format, **options)

    def read(folder: Path) -> object:
        place = folder / name
        found = list(read_examples(place, reading))
        return found, list(find_reader(place, reading).variants(place, reading))

    return read


def parquet(columns: dict[str, list[Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def arrow(columns: dict[str, list[Any]]) -> bytes:
    out = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()


NATIVE = rows(
    {"id": "1", "inputs": {"text": "wake me at nine"}, "gold": "alarm", "groups": {"domain": "home"}},
    {"id": "2", "inputs": {"text": "让我听爵士乐 🎷"}, "gold": "music", "groups": {}},
    {"id": "3", "inputs": {"text": "שלום"}, "gold": "alarm", "groups": {"domain": "out"}},
)
SLU = rows(
    {"text": "to oslo today", "intent": "go", "slots": "O B-city O"},
    {"text": "play it", "intent": "music", "slots": ["O", "O"]},
)
TABLE = b'text,label,id\n"one, two",a,1\n"he said ""no""\nand left",b,2\nthree,a,3\n'
RTE = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<entailment-corpus challenge="2">\n'
    b'<pair id="1" entailment="YES" task="IR"><t>All cats\n sleep &amp; dream.</t><h>Cats sleep.</h></pair>\n'
    b'<pair id="2" value="FALSE" task="IE"><t>Snow is white.</t><h>Snow is red.</h></pair>\n</entailment-corpus>\n'
)
RTE_JSONL = rows(
    {"id": "a", "sentence1": "A", "sentence2": "B", "gold_label": True, "dataset": "RTE1_dev", "task": "IR"},
    {"id": "b", "sentence1": "C", "sentence2": "D", "gold_label": False, "dataset": "RTE2_dev", "task": "IE"},
)
PARTE = (
    b"id,original_pair_premise,original_pair_hypothesis,gold_label,original_pair_id,paraphrased_pair_premise,"
    b"paraphrased_pair_hypothesis,paraphrased_pair_id,bert_para_pred,bert_orig_pred\n"
    b"1,All cats sleep.,Cats sleep.,entailed,RTE1_25_IR,Every cat sleeps.,Cats sleep.,RTE1_25_IR_p,1,0\n"
    b"2,All cats sleep.,Cats sleep.,entailed,RTE1_25_IR,Every cat sleeps.,A cat sleeps.,RTE1_25_IR_ph,1.0,\n"
)
PAIRS = [
    {"sentence1": "花呗提额", "sentence2": "提额", "label": "1"},
    {"sentence1": "还款", "sentence2": "借呗", "label": "0"},
]
SEGMENTS = [{"id": "1", "zh": "句子\n", "en": "A sentence.\n"}, {"id": "2", "zh": "二", "en": "Two."}]
READIN_TSV = (
    "id\tlabel\tclean_sentence1\tclean_sentence2\tnoisy1_sentence1\tnoisy1_sentence2\n"
    "0\t1\t花呗\t提额\t华北\t提额\n1\t0\t还款\t借呗\t还款\t戒备\n"
).encode()
FRMT = {"pt-BR": "A bus.\tUm ônibus.\nA train.\tUm trem.\n", "pt-PT": "A bus.\tUm autocarro.\nA train.\tUm comboio.\n"}
SQUAD = json.dumps(
    {
        "version": "x",
        "data": [
            {
                "title": "t",
                "paragraphs": [
                    {
                        "context": "Snow is white. Coal is black.",
                        "qas": [
                            {"question": "Snow?", "id": "q1", "answers": [{"text": "white", "answer_start": 8}]},
                            {"question": "Coal?", "id": 2, "answers": [{"text": "black", "answer_start": 99}]},
                        ],
                    }
                ],
            }
        ],
    }
).encode()
TABLES = json.dumps(
    [
        {
            "db_id": "shop",
            "table_names_original": ["item", "sale"],
            "column_names_original": [[-1, "*"], [0, "id"], [0, "name"], [1, "item_id"]],
            "foreign_keys": [[3, 1]],
            "primary_keys": [1],
            "column_types": ["text", "number", "text", "number"],
            "table_names": ["item", "sale"],
            "column_names": [[-1, "*"], [0, "id"], [0, "name"], [1, "item id"]],
        }
    ]
).encode()
SPIDER = json.dumps(
    [
        {"db_id": "shop", "question": "How many items?", "query": "SELECT count(*) FROM item"},
        {"db_id": "shop", "question": {"zh": "名字？", "en": "Names?"}, "mr": {"sql": "SELECT name FROM item"}},
    ]
).encode()
NLU_ED = (
    b"answerid;scenario;intent;answer_annotation;answer_from_anno;answer_from_user\n"
    b'1;alarm;set;"wake me at [time : nine  am] [date : today]";"";""\n2;alarm;off;"no [person : bob], now";"";""\n'
)
INDIAN = (
    b"feature\tdialect_sentence\tmatched_standard_sentence\nfocus\tI was there only\tI was right there\n"
    b"habit\tShe is knowing it\tShe knows it\n"
)
HF = {
    "d/data-00000-of-00001.arrow": arrow({"text": ["a", "b"], "label": [0, 1], "tags": [[0], [1, 0]]}),
    "d/state.json": json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}).encode(),
    "d/dataset_info.json": json.dumps(
        {
            "features": {
                "label": {"names": ["no", "yes"], "_type": "ClassLabel"},
                "tags": {"feature": {"names": ["O", "B"], "_type": "ClassLabel"}, "_type": "List"},
            }
        }
    ).encode(),
}

CONLL = (
    b"-DOCSTART- -X- -X- O\n\nAnna NNP B-NP I-PER\nBerg NNP I-NP I-PER\nlives VBZ B-VP O\nin IN B-PP O\n"
    b"Oslo NNP B-NP I-LOC\n. . O O\n\n# # O O\n1 CD O O\n"
)
CONLL_U = (
    "# global.columns = ID FORM UPOS NER\n# sent_id = s1\n1-2\tImHaus\t_\t_\n1\tIm\tADP\tO\n2\tHaus\tNOUN\tO\n"
    "3\tMüller\tPROPN\tS-ORG\n\n# sent_id = s2\n1\tBad\tPROPN\tB-LOC\n2\tEms\tPROPN\tE-LOC\n\n"
).encode()
XSID = (
    b"# id = 1\n# intent = weather/find\n# text = Regnet es heute?\n1\tRegnet\tweather/find\tB-weather\n"
    b"2\tes\tweather/find\tO\n3\theute\tweather/find\tB-datetime\n\n"
    b"# id = 2\n# intent = alarm/set\n1\tweck\talarm/set\tO\n2\tmich\talarm/set\tO\n"
)
TOKENS = rows(
    {"id": "1", "tokens": ["Anna", "lives", "in", "Oslo"], "ner_tags": ["B-PER", "O", "O", "B-LOC"]},
    {"id": "2", "tokens": ["🎷", "שלום"], "ner_tags": ["O", "O"]},
)
ENTITIES = rows(
    {"text": "Anna lives in Oslo.", "entities": [{"start": 0, "end": 4, "label": "PER"}, [14, 18, "LOC"]]},
    {"text": "Nobody 🎷", "entities": []},
)
STUDIO = rows(
    {
        "id": 7,
        "data": {"text": "🎷 Anna in Oslo"},
        "annotations": [
            {"result": [{"type": "labels", "value": {"start": 3, "end": 7, "text": "Anna", "labels": ["PER"]}}]}
        ],
    }
)
SQUAD_2 = SQUAD.replace(
    b'"qas": [', b'"qas": [{"question": "Who?", "id": "q0", "answers": [], "is_impossible": true}, '
)

CHINESE = "我想查一下花呗的额度\n怎么提前还款给银行\n今天北京的天气怎么样\n" * 3

CORPORA: dict[str, Kind] = {
    "jsonl": Kind({"a.jsonl": NATIVE}, corpus("a.jsonl")),
    "jsonl, flat": Kind({"a.jsonl": rows({"text": "a", "label": 1}, {"text": "b", "label": 2})}, corpus("a.jsonl")),
    "jsonl, slots": Kind({"a.jsonl": SLU}, corpus("a.jsonl")),
    "jsonl, answers": Kind(
        {"a.jsonl": rows({"question": "q", "context": "c d", "answers": {"text": ["c"], "answer_start": [0]}})},
        corpus("a.jsonl"),
    ),
    "json": Kind({"a.json": b'[{"text": "one", "label": "x"},\n {"text": "two", "label": "y"}]'}, corpus("a.json")),
    "json, in an object": Kind(
        {"a.json": b'{"v": 1, "data": [{"text": "a", "label": "x"}]}'}, corpus("a.json", "json")
    ),
    "jsonl, gzip": Kind({"a.jsonl.gz": gzip.compress(NATIVE, mtime=0)}, corpus("a.jsonl.gz")),
    "csv, gzip": Kind({"a.csv.gz": gzip.compress(TABLE, mtime=0)}, corpus("a.csv.gz")),
    "text, GBK": Kind(
        {"a.txt": CHINESE.encode("gbk")},
        corpus("a.txt"),
    ),
    "text, UTF-16": Kind({"a.txt": "one\nдва\n三\n".encode("utf-16")}, corpus("a.txt")),
    "excel": Kind({"a.xlsx": workbook([["text", "label"], ["one", "x"], ["two", "y"]])}, corpus("a.xlsx")),
    "csv": Kind({"a.csv": TABLE}, corpus("a.csv")),
    "tsv": Kind({"a.tsv": b"text\tlabel\none\ta\ntwo\tb\n"}, corpus("a.tsv")),
    "text": Kind({"a.txt": "one\nдва\n三\n".encode()}, corpus("a.txt")),
    "promptfoo": Kind(
        {"a.yaml": b"tests:\n  - vars: {q: 'who are you?', n: 1}\n    assert: [{type: equals, value: me}]\n"},
        corpus("a.yaml"),
    ),
    "parquet": Kind(
        {"a.parquet": parquet({"text": ["a", "b", "c"], "label": ["x", "y", "x"], "id": [1, 2, 3]})},
        corpus("a.parquet"),
    ),
    "parquet, nested": Kind(
        {"a.parquet": parquet({"inputs": [{"text": "a"}, {"text": "b"}], "gold": ["x", "y"]})}, corpus("a.parquet")
    ),
    "slu": Kind(
        {"d/seq.in": b"to oslo\nplay it\n", "d/seq.out": b"O B-city\nO O\n", "d/label": b"go\nmusic#x\n"}, corpus("d")
    ),
    "rte": Kind({"a.xml": RTE}, corpus("a.xml", "rte")),
    "rte, jsonl": Kind({"a.jsonl": RTE_JSONL}, corpus("a.jsonl", "rte")),
    "parte": Kind({"d/collated_data_and_preds.csv": PARTE}, corpus("d", "parte")),
    "readin, pairs": Kind(
        {"keyboard/test_clean.json": rows(*PAIRS), "keyboard/test_noisy_1.json": rows(*PAIRS)},
        corpus("keyboard", "readin"),
    ),
    "readin, segments": Kind(
        {"d/test_clean.json": rows(*SEGMENTS), "d/test_noisy_asr_1.json": rows(SEGMENTS[1])}, corpus("d", "readin")
    ),
    "readin, raw": Kind({"keyboard.tsv": READIN_TSV}, corpus("keyboard.tsv", "readin")),
    "readin, squad": Kind({"d/test_clean.json": SQUAD, "d/test_keyboard_1.json": SQUAD}, corpus("d", "readin")),
    "frmt": Kind(
        {f"d/lexical_bucket/pt_lexical_test_en_{tag}.tsv": text.encode() for tag, text in FRMT.items()},
        corpus("d", "frmt"),
    ),
    "squad": Kind({"a.json": SQUAD}, corpus("a.json", "squad")),
    "spider": Kind({"d/dev.json": SPIDER, "d/tables.json": TABLES}, corpus("d/dev.json", "spider")),
    "nlu_ed": Kind({"d/alarm.csv": NLU_ED}, corpus("d", "nlu_ed")),
    "indian_english": Kind({"d/pairs_derived.tsv": INDIAN}, corpus("d", "indian_english")),
    "hf": Kind(HF, corpus("d")),
    "conll": Kind({"a.conll": CONLL}, corpus("a.conll")),
    "conll, numbered": Kind({"a.conllu": CONLL_U}, corpus("a.conllu")),
    "conll, intents": Kind({"a.conll": XSID}, corpus("a.conll")),
    "jsonl, tokens": Kind({"a.jsonl": TOKENS}, corpus("a.jsonl")),
    "jsonl, entities": Kind({"a.jsonl": ENTITIES}, corpus("a.jsonl")),
    "jsonl, Label Studio": Kind({"a.jsonl": STUDIO}, corpus("a.jsonl")),
    "squad, version 2": Kind({"a.json": SQUAD_2}, corpus("a.json", "squad")),
}
