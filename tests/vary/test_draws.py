"""Draws that differ where few texts can come out, and combinations of operators."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from commands import unswayed

from unswayed import check, make_suite, vary_text
from unswayed.base.edits import Edit
from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Variant
from unswayed.vary import operators
from unswayed.vary.engine import Variation, Varier, make_operator, vary
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.presets import with_params, with_parts

TEXTS = [
    "What are you doing tomorrow evening with your brother?",
    "She is working every day at the station, and they are late.",
    "He has two dogs and he wants to go home.",
    "Is there a cheap restaurant near the big station?",
    "I have been waiting for the bus for a long time.",
    "book a table for two people near the beautiful lake tonight",
]
EXAMPLES = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(TEXTS * 5)]
BOTH = "dialect/african_american+keyboard/typist"


class Few(Operator):
    """One of three words at the end: one comes seldom, and for a text with *only* there is one."""

    distinct = True

    def change(self, text: Text, rng: Stream) -> Change:
        word = "a" if "only" in text.text else rng.weighted(["a", "b", "c"], [6, 3, 1])
        return Change((Edit(len(text.text), len(text.text), f" {word}"),), word)


def made(operator: Operator, texts: list[str], draws: int, **more: bool) -> list[list[str]]:
    """By text what its draws give."""
    operator.name, operator.family = "test/few", "test"
    variation = Variation(operators=(), task="text", language="en", draws=draws, **more)
    examples = [Example(i, str(i), {"text": text}) for i, text in enumerate(texts)]
    found = defaultdict[int, list[str]](list)
    for variant in Varier(variation, [operator]).block(examples)[0]:
        found[variant.row].append(variant.inputs["text"])
    return list(found.values())


def test_each_draw_gives_another_text_while_there_is_one() -> None:
    texts = [f"text {i}" for i in range(200)]
    three = made(Few(), texts, 3)
    assert sum(len(set(of)) == 3 for of in three) > 190
    assert all(len(set(of)) >= 2 for of in three)
    assert [len(set(of)) for of in made(Few(), ["only one"], 5)] == [1]
    assert len(made(Few(), ["only one"], 5)[0]) == 5, "the draws are there, and their answers are asked for once"
    by_chance = made(Few(), texts, 3, distinct=False)
    assert sum(len(set(of)) == 3 for of in by_chance) < 100


def test_a_draw_depends_on_those_below_it_and_not_on_how_many_follow() -> None:
    texts = [f"text {i}" for i in range(50)]
    many = made(Few(), texts, 4)
    for draws in (1, 2, 3):
        assert made(Few(), texts, draws) == [of[:draws] for of in many]
    assert made(Few(), texts[::-1], 1) != made(Few(), texts, 1)
    alone = [made(Few(), [text], 3)[0] for text in texts[:1]]
    assert alone[0] == many[0][:3]


@pytest.mark.parametrize("name", ["dialect/indian_english", "spoken/synonym_any", "paraphrase/rules", "surface/case"])
def test_where_a_second_text_exists_a_second_draw_has_it(name: str) -> None:
    def texts(draws: int, distinct: bool) -> dict[int, set[str]]:
        found = defaultdict[int, set[str]](set)
        spec = (OperatorSpec(name),)
        variation = Variation(operators=spec, task="text", language="en", draws=draws, distinct=distinct)
        for variant in vary(EXAMPLES[: len(TEXTS)], variation):
            found[variant.row].add(variant.inputs["text"])
        return found

    possible, three = texts(100, False), texts(3, True)
    assert possible.keys() == three.keys()
    assert {row: min(3, len(of)) for row, of in possible.items()} == {row: len(of) for row, of in three.items()}


@pytest.mark.parametrize("name", ["keyboard/typist", "speech/english", "keyboard/adjacent", "spoken/disfluency"])
def test_people_and_recognisers_stay_independent(name: str) -> None:
    assert not operators.get(name).distinct


def test_the_suite_says_how_many_texts_differ_and_each_is_asked_once() -> None:
    asked: list[str] = []

    def predict(batch: list[dict[str, str]]) -> list[str]:
        asked.extend(item["text"] for item in batch)
        return ["a"] * len(batch)

    predict.unswayed_deterministic = True  # type: ignore[attr-defined]  # or its clean inputs are asked twice
    rows = [{"text": text, "label": "a"} for text in TEXTS]
    found = check(predict, rows, "dialect/indian_english", language="en", draws=3)
    suite = found.results.run.suite if hasattr(found, "results") else found.run.suite
    different, many = suite.manifest.distinct["dialect/indian_english"]
    assert many == suite.manifest.variants
    assert different == len({(v.row, v.inputs["text"]) for v in suite}) < many
    assert len(asked) == len(set(asked)), "nobody pays three times"


def test_random_sets_draw_as_before() -> None:
    names = ("spoken/filler_end", "spoken/synonym_any")
    suites = [
        make_suite([{"text": text} for text in TEXTS], names, language="en", draws=4,
                   plan={"vary": {"set": "random"}}) for _ in range(2)
    ]  # fmt: skip
    assert list(suites[0]) == list(suites[1])
    specs = tuple(map(OperatorSpec, names))
    independent = Variation(operators=specs, task="text", language="en", draws=4, distinct=False)
    alone = {(v.row, v.draw, v.source): v.inputs for v in vary(suites[0].examples(), independent)}
    assert all(alone[v.row, v.draw, v.source] == v.inputs for v in suites[0])


# Combinations


def variants_by(names: tuple[str, ...], **more: str) -> dict[str, dict[tuple[int, int], Variant]]:
    found: dict[str, dict[tuple[int, int], Variant]] = {name: {} for name in names}
    specs = tuple(OperatorSpec(name, {**more} if "typist" in name else {}) for name in names)
    for v in vary(EXAMPLES, Variation(operators=specs, task="text", language="en", draws=3)):
        found[v.source][v.row, v.draw] = v
    return found


def test_a_combination_applies_its_parts_in_order_to_the_same_draws() -> None:
    found = variants_by(("dialect/african_american", "keyboard/typist", BOTH), mode="uncorrected")
    both, dialect = found[BOTH], found["dialect/african_american"]
    assert both.keys() == dialect.keys()
    twice = 0
    for place, variant in both.items():
        notes = variant.note.split("; ")
        assert notes[0] == dialect[place].note, "the same draw as alone"
        assert variant.family == "dialect+keyboard"
        twice += variant.inputs != dialect[place].inputs
    assert twice > len(both) / 2
    again = make_operator(OperatorSpec(BOTH))
    assert [part.name for part in again.made] == BOTH.split("+")  # type: ignore[attr-defined]


def test_labels_move_through_both() -> None:
    words = [
        "is",
        "there",
        "a",
        "cheap",
        "flight",
        "from",
        "new",
        "york",
        "to",
        "san",
        "jose",
        "on",
        "sunday",
        "morning",
    ]
    tags = ["O"] * 6 + ["B-from", "I-from", "O", "B-to", "I-to", "O", "B-day", "B-time"]
    rows = [{"tokens": words, "tags": tags}]
    suite = make_suite(rows, "dialect/singapore+spoken/filler_end", task="tag", language="en", draws=3)
    both = [v for v in suite if "+" in v.source]
    assert len(both) == 3
    for variant in both:
        said = variant.inputs["text"].split(" ")
        assert len(said) == len(variant.gold["tags"])  # type: ignore[index,call-overload]
        named = dict(zip(said, variant.gold["tags"], strict=True))  # type: ignore[index,call-overload]
        assert (named["york"], named["jose"], named["sunday"]) == ("I-from", "I-to", "B-day")


def test_the_parts_stand_alone_beside_the_combination() -> None:
    specs = with_params([BOTH], {"mode": "uncorrected"})
    assert [spec.name for spec in with_parts(specs)] == [*BOTH.split("+"), BOTH]
    assert {spec.name: spec.params for spec in with_parts(specs)}["keyboard/typist"] == {"mode": "uncorrected"}
    specs = with_params([BOTH], {"keyboard/typist:mode": "uncorrected"})
    assert {spec.name: spec.params for spec in with_parts(specs)}["keyboard/typist"] == {"mode": "uncorrected"}
    with pytest.raises(UsageError, match="other parameters alone"):
        with_parts([*specs, OperatorSpec("keyboard/typist")])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("@typing+keyboard/typist", "stands for several operators"),
        ("dialect/singapore+", "is not a combination"),
        ("keyboard/typist+keyboard/typist", "names an operator twice"),
        ("meaning/antonym+keyboard/typist", "changes the meaning"),
        ("prompt/format+keyboard/typist", "varies the prompt"),
        ("dialect/portuguese+dialect/taiwan", "no language is known to all"),
    ],
)
def test_what_cannot_be_combined_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        vary_text("She is working at the station.", name, language="en")


def test_a_wrong_name_in_a_combination_gets_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'dialect/singapore'"):
        vary_text("She is working.", "dialect/singapor+keyboard/typist", language="en")


def test_the_command_of_the_issue(tmp_path: Path) -> None:
    rows = [{"text": text, "label": "ab"[i % 2]} for i, text in enumerate(TEXTS)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    command = ["vary", "q.jsonl", "--with", BOTH, "--draws", "3", "-o", "s/"]
    done = unswayed(*command, "--lang", "en", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "dialect/african_american: " in done.stderr + done.stdout
    assert "different texts in" in done.stderr + done.stdout
    manifest = json.loads((tmp_path / "s/manifest.json").read_text("utf-8"))
    assert [operator["name"] for operator in manifest["operators"]] == [*BOTH.split("+"), BOTH]
    assert [part["name"] for part in manifest["operators"][2]["parts"]] == BOTH.split("+")
    (tmp_path / "sys_.py").write_text("def predict(batch):\n    return ['ab'[len(b['text']) % 2] for b in batch]\n")
    ran = unswayed("run", "s/", "--system", "sys_:predict", "-o", "r/", "--workers", "2", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert f"under {BOTH} is" in ran.stdout
    page = unswayed("report", "r/", "-o", "r.html", cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert "more than the sum of their parts?" in (tmp_path / "r.html").read_text("utf-8")
    workers = unswayed("vary", "q.jsonl", "--with", BOTH, "--draws", "3", "--lang", "en", "--workers", "2", "-o", "t/",
                       cwd=tmp_path)  # fmt: skip
    assert workers.returncode == 0, workers.stderr
    same = [(tmp_path / name / "variants.parquet").read_bytes() for name in ("s", "t")]
    assert all(a == b for a, b in pairwise(same))
    more = unswayed("augment", "q.jsonl", "--with", BOTH, "--lang", "en", "--workers", "2", "-o", "more.jsonl",
                    cwd=tmp_path)  # fmt: skip
    assert more.returncode == 0, more.stderr
