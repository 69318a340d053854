"""Tables, JSON, JSON lines and Markdown, and JUnit XML."""

from __future__ import annotations

import json
import unicodedata
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import UnknownName
from unswayed.measure.comparison.outcome import Comparison, Difference, NotWorse
from unswayed.measure.gates import GateResult
from unswayed.measure.results import Results
from unswayed.report.junit import comparison_xml, junit_xml, write_junit
from unswayed.report.tables import render
from unswayed.report.terminal import columns_of

ROWS = [
    {"name": "播放音乐", "what": "Plays 音乐 🎵", "count": 1234, "share": 0.5},
    {"name": "b", "what": "red\x1b[31m\nand|more", "count": None, "share": -0.0001},
]


def test_a_table_is_aligned_by_columns_not_characters():
    assert render(ROWS, "table").split("\n") == [
        "name      what               count  share",
        "────────  ─────────────────  ─────  ─────",
        "播放音乐  Plays 音乐 🎵      1,234  0.500",
        "b         red␛[31m␊and|more      –  0.000",
    ]


@given(
    st.lists(st.fixed_dictionaries({"a": st.text(st.characters()), "b": st.integers()}), min_size=1),
    st.integers(24, 90),
)
def test_a_table_fits_its_terminal_and_controls_nothing(rows, width):
    for line in render(rows, "table", width).split("\n"):
        assert columns_of(line) <= width
        assert not [c for c in line if unicodedata.category(c) in ("Cc", "Cs")]


def test_results_as_a_table(results):
    wide, narrow = render(results, "table", 200), render(results, "table", 80)
    assert wide.startswith("More than chance, serious: accuracy falls by 13.0 points")
    assert "0.230 [0.210, 0.250]" in wide
    assert "0.810 [0.790, 0.830]" in narrow
    assert max(map(columns_of, narrow.split("\n"))) <= 80


def test_results_as_json_are_what_msgspec_gives(results):
    text = render(results, "json")
    assert msgspec.json.decode(text, type=Results) == results
    decoded = json.loads(text)
    assert decoded["clean"] == {
        "value": 0.94,
        "low": 0.92,
        "high": 0.96,
        "n": 400,
        "missing": 0,
        "signature": "accuracy|v:1|n:400|b:10000",
    }
    assert set(decoded["by"]) == {"operator", "family", "domain", "length"}


def test_results_as_json_lines(results):
    lines = [json.loads(line) for line in render(results, "jsonl").split("\n")]
    assert lines[0]["by"] == "all"
    assert lines[1]["name"] == "keyboard/adjacent"
    assert lines[1]["drop"]["value"] == 0.23
    assert lines[-1]["by"] == "score"


def test_markdown_escapes_what_would_be_markup():
    text = render([{"a|b": "x|y <b>&*c* `d` [e](f)"}], "md")
    assert text == "| a\\|b |\n| :--- |\n| x\\|y &lt;b&gt;&amp;\\*c\\* \\`d\\` \\[e\\](f) |"


def test_results_as_markdown_keep_their_figures(results):
    assert "| drop | 0.130 [0.110, 0.150] | 400 | 0 |" in render(results, "md")


def test_a_mapping_and_no_rows():
    assert render({"seed": 7}, "json") == '{\n  "seed": 7\n}'
    assert render({"seed": 7}, "jsonl") == '{"seed":7}'
    assert render({"seed": 7}, "table") == "name  value\n────  ─────\nseed      7"
    assert render([], "table") == render([], "md") == render([], "jsonl") == ""


def test_a_lone_surrogate_is_escaped():
    assert render([{"a": "\ud800"}], "jsonl") == '{"a": "\\ud800"}'
    assert json.loads(render([{"a": "\ud800"}], "json")) == [{"a": "\ud800"}]
    assert "⟨U+D800⟩" in render([{"a": "\ud800"}], "table")


def test_an_unknown_format_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'json'"):
        render([], "jsn")


@pytest.fixture
def comparison():
    def difference(measure, set_, a, b, p, **more):
        return Difference(
            measure=measure,
            set=set_,
            a=a,
            b=b,
            difference=b - a,
            low=b - a - 0.05,
            high=b - a + 0.05,
            p=p,
            p_corrected=p,
            test="randomisation",
            n=400,
            missing=0,
            sentence=f"{measure.capitalize()} moves by 10.0 points on {set_}, from 0 to 1.",
            signature="s",
            **more,
        )

    return Comparison(
        score="accuracy",
        task="classify",
        suite="snips",
        a="old\x1b",
        b="new",
        correction="holm",
        level=0.95,
        differences=[
            difference("average", "all", 0.7, 0.8, 0.0001, primary=True, shown=True),
            difference("average", "operator=x", 0.6, 0.61, 0.7),
            difference("flips", "operator=x", 0.2, 0.21, 0.7),
            difference("flips", "operator=y", 0.2, 0.4, 0.01, shown=True),
        ],
        primary="average",
    )


def test_a_comparison_in_words_and_numbers(comparison):
    assert render(comparison, "table").split("\n") == [
        "Better by 10.0 points on all on average, from 0 to 1.",
        "Of 3 other differences, 1 is more than chance.",
        "A is old␛, B is new; accuracy. Average is tested by itself; p-values of all other differences (3) are "
        "corrected together (holm).",
        "Differences that may be chance are left out here: 1. Formats json and jsonl have them.",
        "",
        "set         measure      A      B                  B - A       p    n",
        "──────────  ───────  ─────  ─────  ─────────────────────  ──────  ───",
        "all         average  0.700  0.800   0.100 [0.050, 0.150]  <0.001  400",
        "operator=x  average  0.600  0.610  0.010 [-0.040, 0.060]   0.700  400",
        "operator=y  flips    0.200  0.400   0.200 [0.150, 0.250]   0.010  400",
    ]
    assert "| all | average | 0.700 | 0.800 | 0.100 [0.050, 0.150] | <0.001 | 400 |" in render(comparison, "md")
    assert msgspec.json.decode(render(comparison, "json"), type=Comparison) == comparison
    assert len(render(comparison, "jsonl").split("\n")) == 4


def test_several_runs_have_a_column_for_the_run(comparison):
    other = msgspec.structs.replace(comparison, b="third", differences=comparison.differences[:1])
    both = msgspec.structs.replace(comparison, others=[other])
    lines = render(both, "table").split("\n")
    assert any(line.startswith("A is old␛, B is new, C is third; accuracy.") for line in lines)
    assert "C: Better by 10.0 points on all on average, from 0 to 1." in lines
    assert lines[-1].split() == ["C", "all", "average", "0.700", "0.800", "0.100", "[0.050,", "0.150]", "<0.001", "400"]
    assert msgspec.json.decode(render(both, "jsonl").split("\n")[-1])["run"] == "C"
    assert msgspec.json.decode(render(both, "json"), type=Comparison) == both


def test_junit_of_a_comparison(comparison):
    gate = NotWorse(name="worst", measure="worst", set="all", margin=0.02, difference=-0.1, low=-0.2, high=-0.05,
                    bound=-0.2, status="worse", passed=False, sentence="worst: B is worse.")  # fmt: skip
    held = msgspec.structs.replace(gate, name="drop", status="passed", passed=True)
    other = msgspec.structs.replace(comparison, gates=[held], sanity=["C: one answer to all."])
    both = msgspec.structs.replace(comparison, gates=[gate, held], others=[other])
    suite = ElementTree.fromstring(comparison_xml(both))[0]
    names = [case.get("name") for case in suite.findall("testcase")]
    assert names == ["B worst", "B drop", "sanity", "C drop"]
    assert suite.find("testcase[@name='B worst']/failure").get("message") == "worst: B is worse."
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    plain = ElementTree.fromstring(comparison_xml(comparison))[0]
    assert [case.get("name") for case in plain.findall("testcase")] == ["average"]


def test_junit_has_a_case_a_gate(results):
    gates = [
        GateResult("worst", 0.65, 0.6, True, "Gate passed: worst is 0.650; the lower limit is 0.6."),
        GateResult("drop", 0.15, 0.1, False, "Gate failed: drop is 0.150; the upper limit is 0.1."),
    ]
    root = ElementTree.fromstring(junit_xml(results, gates, 12.5))
    suite = root[0]
    assert root.tag == "testsuites"
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "time")} == {
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "time": "12.500",
    }
    passed, failed = suite.findall("testcase")
    assert passed.find("failure") is None
    assert failed.find("failure").get("message") == gates[1].sentence
    assert all(case.get("classname") and case.get("time") for case in (passed, failed))


def test_junit_without_gates_has_a_case_an_operator(tmp_path, make_results, make_block, make_estimate):
    measured = make_block(0.9, 0.8, 0.7, 0.1)
    empty = msgspec.structs.replace(measured, average=make_estimate(None))
    write_junit(tmp_path / "out.xml", make_results(sets={"operator": {"a": measured, "b": empty}}))
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "1")
    assert suite.find("testcase[@name='b']/error") is not None
    assert "drop 0.100" in suite.findtext("testcase[@name='a']/system-out")


@given(st.text(st.characters(), max_size=40))
def test_junit_is_well_formed_for_any_text(text):
    gate = GateResult(text, None, 0.5, False, text)
    root = ElementTree.fromstring(junit_xml(_named(text), [gate]))
    assert root.find("testsuite/testcase/failure") is not None


def _named(text: str) -> Results:
    from unswayed.base.values import Estimate

    one = Estimate(0.5, 0.4, 0.6, 9, 0, text)
    measures = dict.fromkeys(("clean", "average", "worst", "drop", "flip_rate", "consistency", "noticed"), one)
    return Results(score=text, task=text, suite=text, system=text, sets={}, grid={}, scores={}, validity={}, **measures)
