"""The label guard: words that training labels contradict are not used, names stay, and nothing else is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import unswayed

from unswayed.base.errors import UsageError
from unswayed.base.values import Example
from unswayed.data import ReadOptions, read_examples
from unswayed.run import make_suite
from unswayed.run.suite_checks import check_labels
from unswayed.storage.suite import Suite
from unswayed.vary.guard import LEAST, LabelGuard

SLU = Path(__file__).parents[2] / "../shared/data/slu"
needs_slu = pytest.mark.skipif(not SLU.is_dir(), reason="../shared/data is not here")


def said(text: str, intent: str, slots: str) -> dict[str, object]:
    return {"inputs": {"text": text}, "gold": {"intent": intent, "slots": slots.split()}}


TRAINING = [
    *[said(f"what plane flies to {city}", "aircraft", "O O O O B-city") for city in ("boston", "denver", "dallas")] * 3,
    *[said(f"show flights to {city} now", "flight", "O O O B-city B-time") for city in ("boston", "denver")] * 5,
    *[said(f"so play {title}", "music", f"O O B-title{' I-title' * title.count(' ')}")
      for title in ("now and then", "black night", "long road", "blue train", "cold rain", "so what", "old friend")],
]  # fmt: skip


def guard() -> LabelGuard:
    return LabelGuard.learn([Example(i, str(i), **row) for i, row in enumerate(TRAINING)], "slu")


def objection(before: str, after: str, tags: str, intent: str = "flight", rewords: bool = False) -> str | None:
    example = Example(0, "e", {"text": before}, {"intent": intent, "slots": ["O"] * len(before.split())})
    found = guard().objection(example, {"text": after}, {"intent": intent, "slots": tags.split()}, rewords)
    return found and found.word


@pytest.mark.parametrize(
    ("before", "after", "tags", "intent", "rewords", "word"),
    [
        ("show flights", "show plane", "O O", "flight", True, "plane"),  # 9 of 9 ask for an aircraft
        ("show flights", "show plane", "O O", "aircraft", True, None),
        ("show flights", "show flights plane", "O O O", "flight", False, None),  # a slip does not change what is asked
        ("show flights", "show flights now", "O O O", "flight", False, "now"),  # 10 of 11 are a time
        ("show flights", "show flights now", "O O B-time", "flight", False, None),
        ("show flights", "so show flights", "O O O", "flight", False, None),  # in one title, yet no word of titles
        ("show flights", "show journeys", "O O", "flight", True, None),  # never seen
        ("play black night", "play dark night", "O B-title I-title", "music", True, "dark"),  # a title stays
        ("play black night", "play blak night", "O B-title I-title", "music", False, None),  # but may be mistyped
        ("show denver", "show dallas", "O B-city", "flight", True, None),
        ("show denver", "show town", "O B-city", "flight", True, "town"),
        ("show new york", "show new dallas", "O B-city I-city", "flight", True, "dallas"),  # no such value
        ("show flights", "show planes", "O O", "flight", True, "planes"),  # as one of them
    ],
)
def test_what_it_objects_to(
    before: str, after: str, tags: str, intent: str, rewords: bool, word: str | None
) -> None:  # fmt: skip
    assert objection(before, after, tags, intent, rewords) == word


def test_a_word_seen_too_rarely_says_nothing() -> None:
    rows = [Example(i, str(i), {"text": "odd word"}, "a") for i in range(LEAST - 1)]
    rows += [Example(i, str(i), {"text": "else"}, "b") for i in range(LEAST, 90)]
    example = Example(0, "e", {"text": "else"}, "b")
    assert LabelGuard.learn(rows, "classify").objection(example, {"text": "odd"}, "b", True) is None
    rows.append(rows[0])
    assert LabelGuard.learn(rows, "classify").objection(example, {"text": "odd"}, "b", True) is not None


def test_training_data_without_labels() -> None:
    with pytest.raises(UsageError, match="learns from classes or tags, and the 1 training examples of the task text"):
        LabelGuard.learn([Example(0, "0", {"text": "a"})], "text")


def test_from_the_command_line(tmp_path: Path) -> None:
    """A guarded suite passes the check, the other does not; and both can be told apart by their plan."""
    write = lambda name, rows: (tmp_path / name).write_text("".join(json.dumps(r) + "\n" for r in rows))  # noqa: E731
    write("train.jsonl", TRAINING)
    write("test.jsonl", [said(f"show flights to {c}", "flight", "O O O B-city") for c in ("rome", "oslo", "bonn")])
    vary = ["vary", "test.jsonl", "--with", "spoken/filler_end", "--draws", "8", "--lang", "en"]
    unswayed(*vary, "-o", "plain", cwd=tmp_path)
    unswayed(*vary, "--guard", "train.jsonl", "-o", "guarded", cwd=tmp_path)
    plain, guarded = Suite(tmp_path / "plain"), Suite(tmp_path / "guarded")
    assert plain.manifest.plan != guarded.manifest.plan
    assert plain.manifest.variants == guarded.manifest.variants == 24  # it draws again instead of giving up
    assert any("now" in v.inputs["text"].split() for v in plain.variants())
    assert not any("now" in v.inputs["text"].split() for v in guarded.variants())
    failed = unswayed("suite", "check", "plain", "--guard", "train.jsonl", cwd=tmp_path, check=False)
    assert failed.returncode == 1
    assert "'now': it is time in 10 of" in failed.stderr
    passed = unswayed("suite", "check", "guarded", "--guard", "train.jsonl", "--format", "json", cwd=tmp_path)
    (row,) = json.loads(passed.stdout)
    assert (row["variants"], row["misfit"], row["lost"], row["contradicted"]) == (24, 0, 0, 0)


def test_workers_make_the_same(tmp_path: Path) -> None:
    from unswayed.run.plan import Engine

    rows = [Example(i, str(i), **row) for i, row in enumerate(TRAINING)]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(r) + "\n" for r in TRAINING))
    made = [
        make_suite(
            rows,
            ["spoken/filler_end", "spoken/synonym_any"],
            plan={"vary": {"guard": tmp_path / "train.jsonl"}, "engine": engine},
        )
        for engine in (Engine(), Engine(workers=2))
    ]
    assert made[0].manifest.content == made[1].manifest.content


def test_labels_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    from unswayed.storage.suite_jsonl import import_suite

    lines = [
        {"id": "1", "inputs": {"text": "to rome"}, "gold": {"intent": "f", "slots": ["O", "B-city"]}},
        {"example_id": "1", "source": "a", "inputs": {"text": "to old rome"},
         "gold": {"intent": "f", "slots": ["O", "B-city", "B-city"]}},
        {"example_id": "1", "source": "b", "inputs": {"text": "to oslo"},
         "gold": {"intent": "f", "slots": ["O", "B-city"]}},
    ]  # fmt: skip
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    a, b = check_labels(import_suite(tmp_path / "s.jsonl", tmp_path / "s", "slu", "en"))
    assert (a.lost, a.reworded, a.fails) == (1, 0, True)
    assert (b.lost, b.reworded, b.fails, b.contradicted) == (0, 1, False, None)


@needs_slu
def test_what_atis_and_snips_say() -> None:
    """The two words that made most of the false labels, and that the guard leaves nearly all utterances a variant."""
    atis = LabelGuard.learn(read_examples(SLU / "atis/train", ReadOptions(task="slu")), "slu")
    flight = Example(0, "1", {"text": "jet"}, {"intent": "atis_flight", "slots": ["O"]})
    found = atis.objection(flight, {"text": "plane"}, flight.gold, rewords=True)
    assert found is not None
    assert "training examples are" in found.reason
    assert atis._against_tag(["now"], 0, "O", False) is None
    snips = LabelGuard.learn(read_examples(SLU / "snips/train", ReadOptions(task="slu")), "slu")
    assert snips._against_tag(["now"], 0, "O", False) is not None
    assert snips._against_tag(["please"], 0, "O", False) is None
    suite = make_suite(
        SLU / "snips/test",
        "spoken/filler_end",
        task="slu",
        language="en",
        plan={"vary": {"guard": SLU / "snips/train"}},
    )
    assert suite.manifest.variants == suite.manifest.examples
    assert not any(check.fails for check in check_labels(suite, snips))
