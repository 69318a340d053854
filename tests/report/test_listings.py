"""`suite show` and `list operators` as people read them: changes marked, lines that fit, names whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import unswayed
from unswayed.base.task import tasks
from unswayed.report.listings import suite_view
from unswayed.report.operator_list import operators_view
from unswayed.report.terminal import change, columns_of, filled
from unswayed.vary import catalogue as vary_catalogue, operators
from unswayed.vary.catalogue import catalogue

ROWS = [
    {"text": "turn off the lights in the kitchen", "label": "lights"},
    {"text": "play some jazz by miles davis tomorrow", "label": "music"},
    {"text": "שלום עולם, what is \u202ethat?", "label": "other"},
]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> unswayed.Suite:
    names = ["@typing", "surface/case", "surface/spaces", "meaning/antonym"]
    return unswayed.make_suite(ROWS, names, language="en", to=tmp_path_factory.mktemp("shown") / "suite", draws=2)


def test_a_change_is_marked_in_its_line() -> None:
    assert change("play some jazz", "play sme jazz") == "play [-some-]{+sme+} jazz"
    assert change("a b", "a  b") == "a[-␣-]{+␣␣+}b"
    assert change("请问站", "请闻站") == "请[-问-]{+闻+}站"
    assert "\x1b" not in change("a\x1b[31mb c", "a\x1b[31mb d")


def test_colours_take_no_room() -> None:
    text = change("one two three four", "one two tree four", colour=True)
    assert "\x1b[32m" in text
    bare = [re.sub(r"\x1b\[\d+m", "", line) for line in filled(text, "  ", 24).split("\n")]
    assert all(len(line) <= 24 for line in bare)
    assert " ".join(line.strip() for line in bare) == change("one two three four", "one two tree four")


def test_the_view_has_variants_and_no_python(suite: unswayed.Suite) -> None:
    shown = suite_view(suite)
    assert "\nkeyboard/adjacent\n  Parameters: rate=0.0, words=1.0\n  " in shown
    assert all(len(line) <= 80 for line in shown.split("\n")[1:]), "the first has the folder's name"
    assert re.search(r"\[-\w+-\]\{\+\w+\+\}", shown)
    assert "→ the meaning changes" in shown
    assert "Left out of @typing:" in shown
    assert "{'" not in shown
    assert "['" not in shown
    assert "\u202e" not in shown
    for format in ("table", "md"):
        assert "{'" not in suite_view(suite, format)


def test_the_number_of_variants_can_be_set(suite: unswayed.Suite) -> None:
    few, many = (json.loads(suite_view(suite, "json", most))["shown"] for most in (1, 3))
    assert len({one["source"] for one in few}) == len(few) == len(suite.sources())
    assert len(many) > len(few)
    assert json.loads(suite_view(suite, "json", 0))["shown"] == []
    one = next(one for one in few if one["source"] == "surface/case")
    assert one["before"] != one["after"]
    assert "[-" in one["change"]["text"]


def test_of_variants_that_equal_their_example_others_are_shown(tmp_path: Path) -> None:
    rows = [f"please set the alarm for {hour} in the morning" for hour in ("six", "seven", "eight", "nine", "ten")]
    made = unswayed.make_suite(rows, "keyboard/typist", language="en", draws=4, to=tmp_path / "s")
    assert "(the same text)" not in suite_view(made)
    assert "unaltered" in suite_view(made)


def test_labels_that_moved_are_shown(tmp_path: Path) -> None:
    rows = [{"text": "play miles davis", "gold": {"intent": "play", "slots": ["O", "B-artist", "I-artist"]}}]
    made = unswayed.make_suite(rows, "spoken/filler_end", task="slu", gold="gold", language="en", to=tmp_path / "s")
    assert "gold: intent: play · artist: miles davis" in suite_view(made)


@pytest.mark.parametrize("language", ["de", "zh", "ar"])
def test_the_list_of_a_language_fits_80_columns_with_names_whole(language: str) -> None:
    entries = catalogue(language, "slu")
    shown = operators_view(entries, languages=False)
    assert all(columns_of(line) <= 80 for line in shown.split("\n"))
    for entry in entries:
        assert re.search(rf"^{entry.name}$", shown, re.M)
        assert operators.get(entry.name).aligned
    assert ("keyboard/pinyin" in shown) == (language == "zh")
    assert sum(entry.example is not None for entry in entries) >= len(entries) * 0.6


def test_examples_are_in_the_language() -> None:
    by_name = {entry.name: entry for entry in catalogue("de")}
    accents = by_name["surface/accents"].example
    assert accents is not None
    assert "ä" in accents.before
    assert "ae" in accents.after
    assert by_name["speech/roundtrip"].needs == "a recogniser"


def test_every_task_can_be_asked_for() -> None:
    names = {task: {entry.name for entry in catalogue(None, task)} for task in tasks.names()}
    assert "paraphrase/seq2seq" in names["classify"]
    assert "paraphrase/seq2seq" not in names["slu"]


def test_at_the_command_line() -> None:
    command = [sys.executable, "-m", "unswayed", "list"]
    done = subprocess.run(
        [*command, "operators", "--lang", "de", "--format", "json"], capture_output=True, text=True, check=True
    )
    listed = json.loads(done.stdout)
    assert {"name", "what", "languages", "parameters", "example", "presets"} <= listed[0].keys()
    assert "keyboard/misspell" not in {entry["name"] for entry in listed}
    wrong = subprocess.run([*command, "scorers", "--lang", "de"], capture_output=True, text=True)
    assert wrong.returncode == 4
    assert "for `unswayed list operators`" in wrong.stderr


def test_the_stored_catalogue_is_what_the_operators_say() -> None:
    stored = msgspec.json.decode((Path(vary_catalogue.__file__).parent / "catalogue.json").read_bytes())
    entries = {entry["name"]: entry for entry in stored["entries"]}
    own = [name for name in operators.names() if operators.is_own(name)]
    assert list(entries) == own
    for name in own:
        assert entries[name] == msgspec.to_builtins(vary_catalogue.entry_of(name)), "run `make docs`"
    assert stored["sources"] == vary_catalogue.sources_sum(), "run `make docs`"


def test_where_a_source_has_changed_the_operators_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(vary_catalogue, "entry_of", lambda name: asked.append(name) or stored[name])
    stored = {entry.name: entry for entry in catalogue()}
    assert not [name for name in asked if operators.is_own(name)]
    monkeypatch.setattr(vary_catalogue, "sources_sum", lambda: 1)
    assert [entry.name for entry in catalogue()] == operators.names() == asked[-len(stored) :]


def test_a_plain_list_imports_no_operator() -> None:
    script = (
        "import sys; from unswayed.cli.list import command; command.main(['operators'], standalone_mode=False);"
        "ours = [name for name in sys.modules if name.startswith('unswayed.vary.keyboard')];"
        "assert not ours and 'numpy' not in sys.modules, ours"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
