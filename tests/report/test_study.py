"""A study keeps its tables one by one: `only` makes some again, and the pages have all that belong together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from markupsafe import Markup

from unswayed.base import Estimate, UnknownName, UsageError
from unswayed.report import (
    Figure,
    Option,
    Picture,
    Printed,
    Section,
    SectionTable,
    Study,
    StudyContext,
    StudyTable,
    chosen_for,
)


class _Context(StudyContext):
    def words(self) -> Printed:
        count = Estimate(float(len(self.data.read_text().split())), None, None, 1, 0, "count")
        rows = [{"words": Figure("3 <b>"), "of": "text", "n": 1, "none": None}]
        section = Section("Words", ["Counted & shown."], [SectionTable("How many", rows)])
        return Printed({"count": count}, [section], ["There are words."])

    def letters(self) -> Printed:
        drawn = Picture("Letters", Markup("<svg><title>letters</title></svg>"))
        return Printed({"of": self.given["letters"]}, [Section("Letters", pictures=[drawn])])


class Counting(Study):
    """Counts."""

    title = "What is in a text"
    context = _Context
    tables = {  # noqa: RUF012
        "words": StudyTable(_Context.words, ("seed",)),
        "letters": StudyTable(_Context.letters, ("letters", "file"), quick=True),
    }
    options = (Option("to", "Folder.", "counting"), Option("seed", "Seed.", 0), Option("letters", "Letters.", "abc"),
               Option("file", "File."))  # fmt: skip


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("one two three")
    return tmp_path / "text.txt"


def kept() -> list[str]:
    return [name for name in json.loads(Path("counting/study.json").read_text()) if name != "findings"]


def test_only_makes_one_table_and_the_pages_keep_the_others(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = Counting().run(data)
    pages = {file.name: file.read_bytes() for file in Path("counting").glob("study.*")}
    assert len(pages) == 3
    for name in ("words", "letters"):
        made = Counting().run(data, [name])
        assert list(made.tables) == [name]
        assert {file.name: file.read_bytes() for file in Path("counting").glob("study.*")} == pages
    assert json.loads(pages["study.json"]) == json.loads(whole.text("json"))
    assert pages["study.md"].decode() == whole.text("md")
    assert b"3 &lt;b&gt;" in pages["study.html"]
    assert b"<svg><title>letters</title></svg>" in pages["study.html"]
    assert "leave" not in capsys.readouterr().err


def test_a_table_of_other_options_or_data_is_left_out_and_said(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Counting().run(data)
    Counting().run(data, ["letters"], {"seed": 7})
    assert kept() == ["letters"]
    assert "words.json was made with other data, options or another version" in capsys.readouterr().err
    Counting().run(data, ["words"], {"letters": "xyz", "seed": 7})
    assert kept() == ["words"]
    Counting().run(data, ["words"], {"seed": 7})
    assert kept() == ["words", "letters"], "nothing that was left out is lost"
    data.write_text("one")
    Counting().run(data, ["letters"])
    assert kept() == ["letters"]


def test_a_file_that_an_option_names_decides_too(data: Path) -> None:
    named = data.with_name("named.txt")
    named.write_text("1")
    Counting().run(data, given={"file": f"x={named}"})
    named.write_text("12")
    Counting().run(data, ["words"], {"file": f"x={named}"})
    assert kept() == ["words"]


def test_a_quick_table_alone_leaves_no_folder(data: Path) -> None:
    assert json.loads(Counting().run(data, ["letters"]).text("json")) == {"of": "abc"}
    assert not Path("counting").exists()
    Counting().run(data, ["words"])
    Counting().run(data, ["letters"])
    assert kept() == ["words", "letters"]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"basis": 3}', '{"basis": "x", "value": 1}'])
def test_a_table_that_cannot_be_read_is_left_out(data: Path, content: str) -> None:
    Counting().run(data)
    Path("counting/tables/words.json").write_text(content)
    Counting().run(data, ["letters"])
    assert kept() == ["letters"]


def test_the_text_of_what_was_made(data: Path) -> None:
    made = Counting().run(data)
    assert made.text("table").startswith("WHAT WAS FOUND\n\nThere are words.\n\nWORDS")
    assert [json.loads(line)["name"] for line in made.text("jsonl").splitlines()] == ["words", "letters", "findings"]
    with pytest.raises(UnknownName, match="Did you mean 'words'"):
        Counting().run(data, ["word"])


def test_a_table_of_a_program_that_has_changed_is_left_out(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("answer.py").write_text("print(1)")
    given = {"file": "cmd:python3 answer.py --deep"}
    Counting().run(data, given=given)
    Path("answer.py").write_text("print(100)")
    Counting().run(data, ["words"], given)
    assert kept() == ["words"]
    assert "leave letters out" in capsys.readouterr().err


class Echo(Study):
    """Prints what is given."""

    title = "What is given"
    tables = {"given": StudyTable(lambda context: Printed(dict(context.given)), quick=True)}  # noqa: RUF012
    options = (Option("level", "Level.", 0.95), Option("all", "All.", flag=True))


def test_zero_is_a_value_of_an_option(data: Path) -> None:
    found = [Echo().run(data, given={"level": level, "all": False}).value["given"] for level in (0, 0.5, None)]
    assert found == [{"level": level, "all": None} for level in (0, 0.5, 0.95)]


def test_numbers_by_model_and_data_set() -> None:
    given = "10,snips=4,jointbert=3,jointbert/snips=1"
    assert chosen_for(given, "bilstm/atis", "bilstm", "atis") == 10
    assert chosen_for(given, "bilstm/snips", "bilstm", "snips") == 4
    assert chosen_for(given, "jointbert/atis", "jointbert", "atis") == 3
    assert chosen_for(given, "jointbert/snips", "jointbert", "snips") == 1
    assert chosen_for(given, "minilm") == 10
    assert chosen_for("jointbert=3e-4", "bilstm") is None
    assert chosen_for(None, "bilstm") is None
    assert chosen_for("minilm=2", "bow", known=["bow", "minilm"]) is None
    with pytest.raises(UnknownName, match="named 'minlm'. Did you mean 'minilm'"):
        chosen_for("minlm=2", "minilm", known=["bow", "minilm"])
    with pytest.raises(UsageError, match="'many' is not a number"):
        chosen_for("many", "bilstm")
