"""Files as people have them: JSON arrays, gzip, workbooks, other encodings, other names of columns, other languages."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest
from faults.valid import workbook

from unswayed import make_suite
from unswayed.base import language
from unswayed.base.errors import DataError, UnknownName, UsageError, WrongLanguage
from unswayed.data import ReadOptions, open_source, read_examples

ROWS = [{"text": "play some jazz", "label": "music"}, {"text": "will it rain tomorrow", "label": "weather"}]
GERMAN = ["Spiele bitte etwas Musik von Bach", "Stell den Wecker auf sieben Uhr", "Wird es morgen früh regnen?",
          "Mach das Licht in der Küche aus", "Wie heiß wird es heute?", "Zeig mir die größten Städte"]  # fmt: skip
ENGLISH = ["play some music by Bach", "set the alarm for seven", "will it rain tomorrow morning?",
           "turn off the light in the kitchen", "how hot will it be today?", "show me the largest cities"]  # fmt: skip
JAPANESE = ["明日の天気を教えてください", "台所の電気を消してください", "東京の人口は何人ですか",
            "音楽をかけてください", "来週の予定を見せて"]  # fmt: skip
TEXTS = {
    "gbk": ("GB18030", ["我想查一下花呗的额度", "怎么提前还款给银行", "今天北京的天气怎么样", "请帮我关掉客厅的灯"]),
    "big5": ("Big5", ["請問明天的天氣如何", "我想查詢銀行的帳戶餘額", "把客廳的燈關掉好嗎", "這座橋有多長"]),
    "shift_jis": ("Shift_JIS", JAPANESE),
    "euc-kr": ("EUC-KR", ["내일 날씨가 어떻습니까", "부엌의 불을 꺼 주세요", "음악을 틀어 주세요"]),
    "cp1252": ("Windows-1252", GERMAN),
    "cp1251": ("Windows-1251", ["Какая завтра будет погода?", "Выключи свет на кухне", "Включи музыку погромче"]),
    "utf-16": ("UTF-16", GERMAN),
    "utf-16-le": ("UTF-16LE", GERMAN),
}


def texts(path: Path, **options: object) -> list[str]:
    return [example.inputs["text"] for example in read_examples(path, ReadOptions(**options))]  # type: ignore[arg-type]


@pytest.fixture
def needs_identifier() -> None:
    if not language.identifier_installed():
        pytest.skip("needs unswayed[lang]")


class TestJson:
    @pytest.mark.parametrize(
        "content",
        [
            json.dumps(ROWS),
            json.dumps(ROWS, indent=2),
            "\ufeff" + json.dumps(ROWS),
            json.dumps({"data": ROWS}),
            json.dumps({"version": "1.0", "rows": ROWS}, indent=1),
        ],
    )
    def test_a_list_of_rows(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "a.json").write_text(content, encoding="utf-8")
        examples = list(read_examples(tmp_path / "a.json"))
        assert [(e.inputs["text"], e.gold) for e in examples] == [(r["text"], r["label"]) for r in ROWS]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("[]", "a.json: is empty"),
            ('[{"text": "a"}, 3]', "a.json:2: row 2 must be an object {…}, not 3"),
            ('[{"text": "a"},\n{"text": "b"', "a.json:2: this is not valid JSON: Expecting ',' delimiter at column"),
            ('[{"text": "a", "label": NaN}]', "a.json: this is not valid JSON: it holds NaN"),
            ('[{"text": "\\ud83d"}]', "half a character, \\ud83d"),
            ('[{"text": "a", "label": "x"}, {"text": "b"}]', "a.json:2: there is no field 'label'"),
            ('{"data": [{"text": "a"}], "data": 3}', "the rows must be in a list, under one of data, rows"),
            (json.dumps({"train": ROWS, "test": ROWS}), "a.json: it holds several lists of rows: train, test. Save"),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path: Path, content: str, message: str) -> None:
        (tmp_path / "a.json").write_text(content, encoding="utf-8")
        with pytest.raises(DataError) as error:
            list(read_examples(tmp_path / "a.json"))
        assert message in str(error.value)


class TestGzip:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.jsonl.gz", "".join(json.dumps(row) + "\n" for row in ROWS)),
            ("a.json.gz", json.dumps(ROWS)),
            ("a.csv.gz", "text,label\nplay some jazz,music\nwill it rain tomorrow,weather\n"),
            ("a.txt.gz", "play some jazz\nwill it rain tomorrow\n"),
        ],
    )
    def test_it_is_unpacked(self, tmp_path: Path, name: str, content: str) -> None:
        (tmp_path / name).write_bytes(gzip.compress(content.encode()))
        assert texts(tmp_path / name) == [row["text"] for row in ROWS]

    def test_what_is_cut_off_or_a_bomb_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode())
        for content in (whole[:-9], whole[:30] + b"\0\0\0\0" + whole[34:], b"no gzip"):
            (tmp_path / "a.jsonl.gz").write_bytes(content)
            with pytest.raises(DataError, match=r"a.jsonl.gz: the gzip file is damaged or cut off"):
                texts(tmp_path / "a.jsonl.gz")
        monkeypatch.setattr("unswayed.data._reader.UNPACKED_BYTES", 1 << 16)
        (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"\n" * (1 << 21)))
        with pytest.raises(DataError, match="b.txt.gz: unpacked, the file is more than 200 times as large"):
            texts(tmp_path / "b.txt.gz")


class TestEncodings:
    @pytest.mark.parametrize("encoding", TEXTS)
    def test_it_is_found_and_named(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str) -> None:
        name, lines = TEXTS[encoding]
        if encoding == "cp1252" and not language.identifier_installed():
            pytest.skip("needs unswayed[lang]")
        path = tmp_path / "a.csv"
        path.write_bytes("".join(["id,text\n", *(f"{i},{line}\n" for i, line in enumerate(lines))]).encode(encoding))
        assert texts(path) == lines
        assert texts(path) == lines
        assert capsys.readouterr().err.count(f"{path}: read as {name}, not UTF-8.") == 1  # once, however often

    @pytest.mark.usefixtures("needs_identifier")
    @pytest.mark.parametrize(
        ("encoding", "lines"),
        [
            ("gbk", ["请播放巴赫的音乐", "明天北京的天气怎么样", "把闹钟调到七点", "关掉厨房的灯"]),
            ("cp1252", ["Não encontro a estação", "Que horas são em Lisboa?", "A música começa às três"]),
            ("cp1252", ["Perché non funziona più?", "Il caffè è freddo", "Domani sarà una bella giornata"]),
            ("cp1250", ["Kérem, kapcsolja le a lámpát", "Hány óra van most?", "Szép időnk lesz holnap délután"]),
            ("cp1250", ["Włącz światło w kuchni", "Jaka będzie jutro pogoda?", "Zadzwoń do mojej siostry"]),
            ("cp1254", ["Işığı kapat lütfen", "Yarın hava nasıl olacak?", "Şarkıyı değiştir"]),
        ],
    )
    def test_the_language_tells_where_several_fit(self, tmp_path: Path, encoding: str, lines: list[str]) -> None:
        (tmp_path / "a.csv").write_bytes(
            "".join(["text,label\n", *(f'"{line}",a\n' for line in lines)]).encode(encoding)
        )
        assert texts(tmp_path / "a.csv") == lines

    def test_an_unsure_one_is_asked_for(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes("ok\nn\xe9e\n".encode("cp1252"))
        with pytest.raises(DataError, match=r"a.txt:2: byte 2 .* is not UTF-8. The file may be .*Windows-1252.*enc"):
            texts(path)
        assert texts(path, encoding="latin-1") == texts(path, encoding="Windows-1252") == ["ok", "née"]
        with pytest.raises(DataError, match=r"a.txt:\d: this row is not in "):
            texts(path, encoding="ascii")
        with pytest.raises(UnknownName, match="no encoding named 'latin-one'"):
            texts(path, encoding="latin-one")

    def test_it_is_part_of_a_plan(self, tmp_path: Path, unswayed: Callable[..., str]) -> None:
        (tmp_path / "a.txt").write_bytes("na\xefve caf\xe9 owners talk\n".encode("cp1252"))
        said = ["--lang", "en", "--with", "keyboard/adjacent", "--encoding", "cp1252", "-o", "-"]
        assert "caf" in unswayed("vary", tmp_path / "a.txt", *said)
        plan = f'[data]\npath = "{tmp_path}/a.txt"\nlanguage = "English"\nencoding = "cp1252"'
        (tmp_path / "plan.toml").write_text(plan)
        assert unswayed("vary", "--plan", tmp_path / "plan.toml", "--with", "keyboard/adjacent", "-o", "-")
        assert (
            make_suite(
                tmp_path / "a.txt", "keyboard/adjacent", language="en", plan={"data": {"encoding": "cp1252"}}
            ).manifest.examples
            == 1
        )


class TestExcel:
    @pytest.fixture(autouse=True)
    def _library(self) -> None:
        pytest.importorskip("python_calamine", reason="needs unswayed[excel]")

    def test_cells_become_texts_and_formulas_their_values(self, tmp_path: Path) -> None:
        path = tmp_path / "a.xlsx"
        path.write_bytes(workbook([["text", "stars"], ["a joy 😀", 5], ["", ""], ["שלום", ("2+1", 3)]]))
        assert [(e.inputs["text"], e.gold) for e in read_examples(path)] == [("a joy 😀", "5"), ("שלום", "3")]

    def test_one_of_several_sheets(self, tmp_path: Path) -> None:
        path = tmp_path / "a.xlsx"
        path.write_bytes(workbook([["text"], ["one"]], [["text"], ["two"]], [[""]], names=("First", "Second", "Empty")))
        with pytest.raises(UsageError, match="has the sheets First, Second. Choose one with sheet="):
            texts(path)
        assert texts(path, sheet="Second") == ["two"]
        with pytest.raises(UnknownName, match="no sheet named 'Secnd'. Did you mean 'Second'"):
            texts(path, sheet="Secnd")

    def test_bad_workbooks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "a.xlsx"
        path.write_bytes(b"")
        with pytest.raises(DataError, match="a.xlsx: this is not a whole workbook"):
            texts(path)
        path.write_bytes(workbook([[""]]))
        with pytest.raises(DataError, match="a.xlsx: is empty"):
            texts(path)
        path.write_bytes(workbook([["text", "text"], ["a", "b"]]))
        with pytest.raises(DataError, match="a.xlsx:1: the header has the column 'text' twice"):
            texts(path)
        monkeypatch.setattr("unswayed.data.excel.UNPACKED_BYTES", 1 << 10)
        path.write_bytes(workbook([["text"], ["a" * (1 << 23)]]))
        with pytest.raises(DataError, match="unpacked, the workbook is more than 200 times as large"):
            texts(path)


class TestGuesses:
    def line(self, tmp_path: Path, header: str, row: str, **options: object) -> str:
        (tmp_path / "a.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
        return open_source(tmp_path / "a.csv", ReadOptions(**options), "en").read_as  # type: ignore[arg-type]

    def test_what_was_taken_and_left_is_said(self, tmp_path: Path) -> None:
        said = self.line(tmp_path, "review,stars,day", "a joy,5,Monday")
        assert said == (
            "Read as: classify, 1 label, 1 row; text = review, gold = stars; language en; not read: day. "
            "To change it, use input= or gold=."
        )
        said = self.line(tmp_path, "review,mood", "a joy,good")
        assert "text = review, no gold; language en; not read: mood." in said

    def test_a_column_that_looks_like_gold_and_is_not_read_is_named(self, tmp_path: Path) -> None:
        said = self.line(tmp_path, "review,true_label", "a joy,good")
        assert said.endswith("'true_label' looks like a right answer: to score with it, name it with gold=.")

    def test_names_in_capitals_are_known(self, tmp_path: Path) -> None:
        assert "text = Text, gold = Label; language en." in self.line(tmp_path, "ID,Text,Label", "1,a joy,good")
        (example,) = read_examples(tmp_path / "a.csv")
        assert (example.id, example.inputs, example.gold) == ("1", {"Text": "a joy"}, "good")

    def test_a_text_with_a_capital_is_no_slice(self) -> None:
        texts = ["wake me up at seven please", "will it rain tomorrow in Paris"] * 10
        df = pandas.DataFrame({"Message": texts, "Label": ["alarm", "weather"] * 10, "region": ["north", "south"] * 10})
        suite = make_suite(df, "keyboard/adjacent", language="en")
        example = next(iter(suite.examples()))
        assert (list(example.inputs), example.gold, list(example.groups)) == (["Message"], "alarm", ["region"])

    def test_of_names_that_nobody_knows_the_longest_text_is_taken(self, tmp_path: Path) -> None:
        said = self.line(tmp_path, "Thema,Nachricht,Datum", "Licht,Mach bitte das Licht aus,2024-01-01")
        assert said.endswith("text = Nachricht, no gold; language en; not read: Thema, Datum. "
                             "To change it, use input= or gold=.")  # fmt: skip
        assert "text = 内容" in self.line(tmp_path, "类别,内容", "音乐,请播放巴赫的音乐")
        for row in ("ein paar Worte hier,noch ein paar Worte", "Licht,aus"):
            with pytest.raises(DataError, match="a.csv:2: it is not clear which field holds the text; the fields are"):
                self.line(tmp_path, "eins,zwei", row)

    def test_a_table_without_a_header_loses_no_row(self, tmp_path: Path) -> None:
        with pytest.raises(
            DataError, match="a.csv:2: the row above should hold the names of the columns, but it has '"
        ):
            self.line(tmp_path, "Spiele bitte etwas Musik von Bach,musik", "Mach bitte das Licht aus,licht")

    def test_the_line_is_there_for_what_is_plain_or_chosen(self, tmp_path: Path) -> None:
        said = self.line(tmp_path, "text,label", "a joy,good")
        assert said == "Read as: classify, 1 label, 1 row; text = text, gold = label; language en."
        said = self.line(tmp_path, "review,stars,day", "a joy,5,Monday", input=("review",), gold="day")
        assert "text = review, gold = day; language en; not read: stars." in said

    def test_in_memory_as_well(self, capsys: pytest.CaptureFixture[str]) -> None:
        make_suite([{"review": "play some jazz", "stars": 5, "day": "Monday"}], "keyboard/adjacent", language="en")
        assert capsys.readouterr().err.startswith("Read as: classify, 1 label, 1 row; text = review, gold = stars")


@pytest.mark.usefixtures("needs_identifier")
class TestLanguages:
    def test_a_german_table_is_german(self, tmp_path: Path, unswayed: Callable[..., str]) -> None:
        file = tmp_path / "deutsch.csv"
        file.write_text("text,label\n" + "".join(f'"{text}",a\n' for text in GERMAN), encoding="utf-8")
        out = unswayed("vary", file, "--with", "keyboard/adjacent", "-o", "-")
        assert len(out.splitlines()) == len(GERMAN)
        assert make_suite(file, "keyboard/adjacent").manifest.language == "de"
        with pytest.raises(WrongLanguage, match=r"varies en, .* 'de' \(German, .* such as .*keyboard/adj"):
            make_suite(file, "spoken/filler_end")

    def test_russian_with_its_language_named(self, tmp_path: Path, unswayed: Callable[..., str]) -> None:
        (tmp_path / "texts.txt").write_text("Какая завтра погода?\nВыключи свет\n", encoding="utf-8")
        out = unswayed("vary", tmp_path / "texts.txt", "--lang", "ru", "--with", "keyboard/adjacent", "-o", "-")
        assert len(out.splitlines()) == 2

    @pytest.mark.parametrize("said", [None, "mul", "German+en"])
    def test_each_row_of_a_mixed_file_is_varied_in_its_own(self, tmp_path: Path, said: str | None) -> None:
        rows = [{"text": text, "label": "x"} for pair in zip(GERMAN, ENGLISH, strict=True) for text in (*pair, "42")]
        suite = make_suite(rows, ["spoken/filler_end", "keyboard/adjacent"], to=tmp_path / "s", language=said)
        assert suite.manifest.language == "de+en"
        assert suite.manifest.languages == {"de": 6, "en": 6, "und": 6}
        languages = {example.id: example.groups["language"] for example in suite.examples()}
        sources = {(variant.source, languages[variant.example_id]) for variant in suite}
        assert sources == {("spoken/filler_end", "en"), ("keyboard/adjacent", "de"), ("keyboard/adjacent", "en")}

    def test_what_is_left_out_of_a_mixed_file_is_said(self, tmp_path: Path) -> None:
        from click.testing import CliRunner

        from unswayed.cli import unswayed

        with (tmp_path / "m.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["text"], *([text] for text in GERMAN + ENGLISH)])
        for to in ("-", str(tmp_path / "s")):
            done = CliRunner().invoke(
                unswayed, ["vary", str(tmp_path / "m.csv"), "--with", "spoken/filler_end", "-o", to]
            )
            assert "spoken/filler_end: 6 of 12 examples left out (6 in de; it varies en)" in done.stderr
            assert "rows are in German and English, and each is varied in its own" in done.stderr

    def test_an_operator_for_neither_is_refused(self) -> None:
        with pytest.raises(WrongLanguage, match=r"varies zh, but .* is 'de\+en' \(German and English, id"):
            make_suite(GERMAN + ENGLISH, "keyboard/pinyin")

    def test_later_rows_in_another_language_stop_the_work(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("\n".join(ENGLISH * 40 + GERMAN * 20), encoding="utf-8")
        with pytest.raises(DataError, match=r"first rows are in en, but \d+% .* in de. Set language= to en\+de"):
            make_suite(tmp_path / "a.txt", "keyboard/adjacent")
        assert make_suite(tmp_path / "a.txt", "keyboard/adjacent", language="en+de").manifest.languages["de"] == 120
