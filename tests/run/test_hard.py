"""Hard sets keep the variant on which the selector does worst, say who it was, and go on after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.edits import slots_of
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.values import Example
from unswayed.measure.measuring import measure_run
from unswayed.report.listings import suite_view
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.run.plan import NATURE, VaryPlan, read_plan
from unswayed.storage.suite import Suite
from unswayed.systems import Intent, System

THREE = ["keyboard/adjacent", "spoken/filler_begin", "spoken/filler_end"]
SLU = [
    Example(
        i,
        f"e{i}",
        {"text": f"play song{i} by miles davis"},
        {"intent": "play", "slots": ["O", "B-s", "O", "B-a", "I-a"]},
    )
    for i in range(60)
]


def wrong_tags(text: str) -> int:
    """How many tags the selector below gets wrong: any number that differs from text to text will do."""
    return sum(map(ord, text)) % 3


def selector(batch: list[dict[str, str]]) -> list[Any]:
    """Knows the right tags of every variant of SLU, and errs as `wrong_tags` and the number of its letters say."""
    outputs = []
    for item in batch:
        tokens = item["text"].split(" ")
        at = next(i for i, token in enumerate(tokens[1:], 1) if any(c.isdigit() for c in token))
        tags = ["O"] * len(tokens)
        tags[at], tags[at + 2], tags[at + 3] = "B-s", "B-a", "I-a"
        for i in range(wrong_tags(item["text"])):
            tags[-1 - i] = "B-wrong"
        outputs.append({"intent": "stop" if len(item["text"]) % 2 else "play", "slots": tags})
    return outputs


def badness(text: str) -> tuple[bool, int, bool]:
    tags, intent = wrong_tags(text), len(text) % 2 == 1
    return bool(tags or intent), tags, intent


def test_each_pick_is_the_worst_of_its_candidates(tmp_path: Path) -> None:
    candidates = make_suite(SLU, THREE, draws=2, to=tmp_path / "each")
    hard = make_suite(SLU, THREE, draws=2, selector=selector, to=tmp_path / "hard", plan={"vary": {"set": "hard"}})
    worst: dict[tuple[int, int], list[Any]] = {}
    for variant in candidates.variants():
        worst.setdefault((variant.row, variant.draw), []).append((badness(variant.inputs["text"]), variant))
    picks = list(hard.variants())
    assert [(v.row, v.draw) for v in picks] == [(row, draw) for row in range(60) for draw in range(2)]
    for pick in picks:
        rivals = worst[pick.row, pick.draw]
        assert pick in [variant for bad, variant in rivals if bad == max(b for b, _ in rivals)]
    assert len({badness(v.inputs["text"]) for v in candidates.variants()}) > 3, "the selector tells candidates apart"
    assert not (tmp_path / ".hard.selecting").exists()


def test_equals_are_drawn_by_lot_in_any_order_of_operators(tmp_path: Path) -> None:
    always: Any = lambda batch: ["a" for _ in batch]  # noqa: E731
    data = [Example(i, f"e{i}", {"text": f"some text {i}"}, "a") for i in range(600)]
    hard = make_suite(data, THREE, selector=always, to=tmp_path / "hard", plan={"vary": {"set": "hard"}})
    assert all(160 < count < 240 for count in hard.sources().values()), "600 draws among three: within 3.5 sigma"
    again = make_suite(data, THREE[::-1], selector=always, to=tmp_path / "again", plan={"vary": {"set": "hard"}})
    assert list(again.variants()) == list(hard.variants())
    assert (
        make_suite(
            data, THREE, selector=always, seed=1, to=tmp_path / "other", plan={"vary": {"set": "hard"}}
        ).sources()
        != hard.sources()
    )


class _Lossy(System):
    """Right about everything, but the less sure the longer the text; texts of one length are a tie."""

    name = "lossy"
    _identity = "lossy"

    def predict(self, batch: Any) -> Any:
        return ["a" for _ in batch]

    def losses(self, batch: Any, golds: Any) -> list[float]:
        assert golds == ["a"] * len(batch)
        return [len(item["text"]) / 1000 for item in batch]


def test_the_selectors_loss_decides_where_all_answers_are_right(tmp_path: Path, capsys: Any) -> None:
    data = [Example(i, f"e{i}", {"text": f"some text {i}"}, "a") for i in range(100, 160)]
    candidates = make_suite(data, THREE, to=tmp_path / "each")
    hard = make_suite(data, THREE, selector=_Lossy(), to=tmp_path / "hard", plan={"vary": {"set": "hard"}})
    longest: dict[int, list[int]] = {}
    for variant in candidates.variants():
        longest.setdefault(variant.row, []).append(len(variant.inputs["text"]))
    assert all(len(pick.inputs["text"]) == max(longest[pick.row]) for pick in hard.variants())
    ties = sum(lengths.count(max(lengths)) > 1 for lengths in longest.values())
    assert 0 < ties == hard.manifest.ties < 60
    assert f"hard: {ties} of 60 choices were ties" in capsys.readouterr().err
    assert f"{ties} of 60 choices were ties" in suite_view(hard)


def test_the_embedded_classifier_has_a_loss_for_right_answers_too() -> None:
    other = {"intent": "buy", "slots": ["O", "B-s", "O"]}
    learnt = [*SLU, *(Example(i, f"o{i}", {"text": f"buy song{i} now"}, other) for i in range(60, 90))]
    model = Intent.train(learnt, "slu")
    inputs, golds = [e.inputs for e in SLU], [e.gold for e in SLU]
    right = model.losses(inputs, golds)
    wrong = model.losses(inputs, [{**gold, "slots": ["B-s", "O", "O", "B-a", "I-a"]} for gold in golds])
    unknown = model.losses(inputs[:1], [{"intent": "stop", "slots": ["O"] * 5}])
    assert right is not None
    assert wrong is not None
    assert all(a < 0 < b for a, b in zip(right, wrong, strict=True))
    assert unknown is not None
    assert unknown[0] >= 100
    assert len({round(loss, 6) for loss in right}) > 1


def test_without_gold_a_changed_answer_is_worse(tmp_path: Path) -> None:
    ends: Any = lambda batch: [item["text"].split(" ")[0] for item in batch]  # noqa: E731
    data = [Example(i, f"e{i}", {"text": f"some text {i}"}) for i in range(20)]
    hard = make_suite(data, THREE[1:], selector=ends, to=tmp_path / "hard", plan={"vary": {"set": "hard"}})
    assert hard.manifest.task == "text"
    assert hard.sources() == {"spoken/filler_begin": 20}


def test_the_selector_is_part_of_the_suite_and_of_signatures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "two.py").write_text(
        "def a(batch):\n    return ['x'] * len(batch)\n\n\ndef b(batch):\n    return ['x'] * len(batch)\n"
    )
    monkeypatch.chdir(tmp_path)
    data = [{"text": f"some text {i}", "label": "x"} for i in range(5)]
    by = {
        name: make_suite(data, THREE, selector=f"two:{name}", to=tmp_path / name, plan={"vary": {"set": "hard"}})
        for name in "ab"
    }
    assert list(by["a"].variants()) == list(by["b"].variants())
    assert by["a"].id != by["b"].id
    assert by["a"].manifest.plan != by["b"].manifest.plan
    assert by["a"].manifest.set["selector"] == "two:a"
    results = measure_run(run_system(by["a"], "two:b", tmp_path / "run"))
    assert f"suite={by['a'].id} (hard for two:a)|" in results.average.signature


def test_a_selector_that_does_not_answer_makes_no_suite(tmp_path: Path) -> None:
    def picky(batch: list[dict[str, str]]) -> list[str]:
        if any(item["text"].startswith("well") for item in batch):
            raise ValueError("no")
        return ["a" for _ in batch]

    data = [{"text": f"some text {i}", "label": "a"} for i in range(40)]
    with pytest.raises(SystemBroken, match=r"no answer to a candidate \(spoken/filler_begin.*ValueError: no"):
        make_suite(data, THREE, selector=picky, to=tmp_path / "hard", plan={"vary": {"set": "hard"}})
    assert not (tmp_path / "hard").exists()


def test_wrong_use_is_told(tmp_path: Path) -> None:
    data = [{"text": "a b", "label": "x"}]
    with pytest.raises(UsageError, match="set selector="):
        make_suite(data, THREE, to=tmp_path / "s", plan={"vary": {"set": "hard"}})
    with pytest.raises(UsageError, match="set plan=.* to hard"):
        make_suite(data, THREE, selector=selector, to=tmp_path / "s")


def test_plans_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[vary]\nset = "hard"\nselector = "model/"\noptions = { k = 1 }\n')
    plan = read_plan(tmp_path / "p.toml").vary
    assert (plan.set, plan.selector, plan.options) == ("hard", "model/", {"k": 1})
    assert tuple(spec.name for spec in plan.specs()) == NATURE
    assert VaryPlan().specs() == ()


def test_the_average_of_a_random_set_is_the_mean_of_its_repetitions(tmp_path: Path) -> None:
    suite = make_suite(SLU, THREE, draws=10, to=tmp_path / "random", plan={"vary": {"set": "random"}})
    results = measure_run(run_system(suite, selector, tmp_path / "run"), {"measure": {"bootstrap": 200}})
    end_to_end = []
    for draw in range(10):
        variants = [v for v in suite.variants() if v.draw == draw]
        assert [v.row for v in variants] == list(range(60))
        end_to_end.append(1 - sum(badness(v.inputs["text"])[0] for v in variants) / 60)
    assert results.average.value == pytest.approx(sum(end_to_end) / 10)
    assert results.average.low < results.average.value < results.average.high
    by_draw = [_slot_f1(suite, draw) for draw in range(10)]
    assert results.scores["slot_f1"]["average"].value == pytest.approx(sum(by_draw) / 10)


def _slot_f1(suite: Suite, draw: int) -> float:
    counts: Counter[str] = Counter()
    for v in suite.variants():
        if v.draw == draw:
            said, true = (set(slots_of(value["slots"])) for value in (selector([v.inputs])[0], v.gold))
            counts += Counter(right=len(said & true), said=len(said), true=len(true))
    return 2 * counts["right"] / (counts["said"] + counts["true"])


SLOW = """
import time
def predict(batch):
    time.sleep(0.2)
    with open("asked.log", "a") as log:
        log.write("".join(item["text"] + "\\n" for item in batch))
    return [str(len(item["text"]) % 2) for item in batch]
"""


@pytest.mark.slow
def test_a_killed_selection_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "mine.jsonl").write_text("".join(f'{{"text": "request {i}", "label": "1"}}\n' for i in range(200)))
    words = ["vary", "mine.jsonl", "--set", "hard", "--selector", "slow:predict", "--batch-size", "4", "-o", "hard"]
    command = [sys.executable, "-m", "unswayed", *words, *(part for name in THREE for part in ("--with", name))]
    log = tmp_path / "asked.log"
    log.touch()
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    while process.poll() is None and log.stat().st_size < 8_000:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = log.read_text().splitlines()
    assert (tmp_path / ".hard.selecting").exists()
    assert not (tmp_path / "hard").exists()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    asked = Counter(log.read_text().splitlines())
    again = sum(count - 1 for count in asked.values())
    assert again < len(before) / 2, "only answers that the kill caught on their way to the disk are asked again"
    assert not (tmp_path / ".hard.selecting").exists()
    (tmp_path / "whole").mkdir()
    for name in ("slow.py", "mine.jsonl"):
        (tmp_path / "whole" / name).write_text((tmp_path / name).read_text())
    subprocess.run(command, cwd=tmp_path / "whole", check=True, capture_output=True)
    for name in ("manifest.json", "examples.parquet", "variants.parquet"):
        assert (tmp_path / "hard" / name).read_bytes() == (tmp_path / "whole/hard" / name).read_bytes()
