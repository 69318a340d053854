"""20 clean inputs are asked twice, unless the system is declared deterministic: what it changes by itself is told."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import unswayed as package
from tests.chat_server import chat_server
from unswayed.base.values import Estimate
from unswayed.measure import repeats
from unswayed.run.plan import Engine
from unswayed.stats import mean_interval
from unswayed.systems import System

VERBS, THINGS, ROOMS = ("turn", "switch", "play", "dim"), ("lamp", "radio", "music", "light", "tv"), ("hall", "bath")
ROWS = [{"text": f"{v} the {t} in the {r}", "label": v} for v in VERBS for t in THINGS for r in ROOMS]
CLEAN = {row["text"] for row in ROWS}


class Wavering(System):
    """Knows each command by its first letter, but gives another answer with the chance `waver`."""

    name, batch_size = "wavering", 8

    def __init__(self, waver: float, fails_after: int | None = None, seed: int = 1) -> None:
        self.waver, self.fails_after, self.rng = waver, fails_after, random.Random(seed)
        self.asked: list[str] = []
        self._identity = f"wavering {waver}"

    def predict(self, batch):
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise KeyboardInterrupt
        self.asked += [inputs["text"] for inputs in batch]
        return [self.answer(inputs["text"]) for inputs in batch]

    def answer(self, text: str) -> str:
        right = next((verb for verb in VERBS if verb[0] == text[0]), "turn")
        return self.rng.choice([v for v in VERBS if v != right]) if self.rng.random() < self.waver else right


@pytest.fixture(scope="module")
def suite():
    return package.make_suite(ROWS, "spoken/filler_end", language="en", draws=3, seed=7)


def twice(system: Wavering) -> int:
    return sum(count == 2 for text, count in Counter(system.asked).items() if text in CLEAN)


def test_what_a_system_changes_by_itself_is_part_of_the_verdict(suite) -> None:
    """It changes 17% whatever it is asked, and fillers change nothing: no claim without that word."""
    run = package.run_system(suite, system := Wavering(0.17))
    results = package.measure_run(run)
    assert (twice(system), run.manifest.asked_twice, run.session.asked) == (20, 20, len(system.asked))
    found = results.wavering
    assert found.asked == 20
    assert 2 <= found.changed <= 9
    assert results.flip_rate.value > 0.15
    assert found.flips.low < 0 < found.flips.high
    assert results.severity == "minor; moderate is not excluded"  # not serious, as the 15% alone would be
    said = str(results).splitlines()[0]
    assert f"But the system changes answers by itself: {found.changed} of 20 clean inputs (" in said
    assert "had another answer when they were asked twice" in said
    assert "which may be chance" in said
    assert 'Use plan={"run": {"repeats": 3}} to tell the two apart.' in said


def test_what_variants_change_beyond_it_is_still_found(suite) -> None:
    class Confused(Wavering):
        def answer(self, text: str) -> str:
            return super().answer(text if text in CLEAN else "dim it")

    results = package.measure_run(package.run_system(suite, Confused(0.05, seed=5)))
    assert results.wavering.changed
    assert results.wavering.flips.low > 0.10
    assert results.severity == "serious beyond chance"
    assert "may be chance" not in str(results).splitlines()[0]


def test_pages_and_tables_say_so(suite, unswayed, tmp_path) -> None:
    run = package.run_system(suite, Wavering(0.17)).save(tmp_path / "run")
    for words in (["measure", "run", run.path, "--format", format] for format in ("table", "md")):
        assert "changes answers by itself" in unswayed(*words)
    unswayed("report", run.path, "-o", tmp_path / "report.html")
    assert "changes answers by itself" in (tmp_path / "report.html").read_text()
    assert "Use --repeats 3 to tell" in (tmp_path / "report.html").read_text()


def test_one_that_repeats_itself_is_asked_and_nothing_is_said(suite) -> None:
    results = package.measure_run(package.run_system(suite, system := Wavering(0.0)))
    assert twice(system) == 20
    assert results.wavering.changed == 0
    assert "by itself" not in str(results)
    assert "beyond chance" not in results.severity


def test_one_that_is_declared_deterministic_or_repeated_is_not(suite) -> None:
    system = Wavering(0.0)
    system.deterministic = True
    run = package.run_system(suite, system)
    assert (twice(system), run.manifest.asked_twice, package.measure_run(run).wavering) == (0, 0, None)
    run = package.run_system(suite, system := Wavering(0.17), plan={"run": {"repeats": 1}})
    results = package.measure_run(run)
    assert twice(system) == len(ROWS)
    assert run.manifest.asked_twice == 0
    assert results.wavering is None
    assert "when the same text is asked again" in str(results)


def test_they_are_the_first_in_the_order_and_asked_once_more_only(suite, tmp_path) -> None:
    with pytest.raises(BaseException, match="Stopped"):
        package.run_system(suite, stopped := Wavering(0.17, fails_after=48), tmp_path / "run")
    run = package.run_system(suite, rest := Wavering(0.17), tmp_path / "run", plan={"run": {"asking": {"canary": 0}}})
    both = Counter(stopped.asked) + Counter(rest.asked)
    assert sum(count == 2 for text, count in both.items() if text in CLEAN) == 20
    again = [example.row for example, _, _ in run.repeated()]
    assert len(again) == 20
    assert package.measure_run(run).wavering.asked == 20
    run = package.run_system(suite, idle := Wavering(0.17), tmp_path / "run", plan={"run": {"asking": {"canary": 0}}})
    assert idle.asked == []
    assert package.measure_run(run).wavering.asked == 20
    some = package.run_system(suite, Wavering(0.17), plan={"run": {"limit": 25}})
    assert [example.row for example, _, _ in some.repeated()] == again
    few = package.run_system(suite, fewer := Wavering(0.17), plan={"run": {"limit": 5}})
    assert twice(fewer) == few.manifest.asked_twice == package.measure_run(few).wavering.asked == 5


def test_the_budget_holds_for_them_too(suite) -> None:
    rng = random.Random(1)

    def reply(request: dict[str, Any], times: int) -> str:
        return rng.choice(VERBS)

    with chat_server(reply) as server:
        options = {"model": "m", "price_in": 1e6, "price_out": 0}
        plan = {"run": {"options": options, "budget": 1500.0}, "measure": {"sanity": False}}
        run = package.run_system(suite, server.url, plan=plan)
        spent = server.tokens["prompt_tokens"]
    assert spent <= 1500
    assert run.sample.why == "budget"
    assert sum(count == 2 for count in server.asked.values()) == package.measure_run(run).wavering.asked > 5


def test_in_worker_processes(suite, at_work) -> None:
    (at_work / "wavers.py").write_text(
        "import os\n\ndef predict(batch): return [str(os.urandom(1)[0] % 3) for _ in batch]\n"
    )
    plan = {"engine": Engine(workers=2)}
    run = package.run_system(suite.save(at_work / "suite"), "wavers:predict", at_work / "run", plan=plan)
    assert run.manifest.asked_twice == 20
    assert package.measure_run(run).wavering.asked == 20


@pytest.mark.parametrize(("own", "effect", "shape"), [(0.17, 0.0, 1.0), (0.17, 0.2, 0.5), (0.4, 0.1, 2.0)])
def test_the_interval_holds_what_it_should(own, effect, shape, monkeypatch) -> None:
    """In at least 95% of simulated runs, where some inputs waver more than others; and it claims little by chance."""
    rng, n, draws, inside, claimed, seen = np.random.default_rng(3), 60, 3, 0, 0, 0
    every = np.full(n, float(draws))
    monkeypatch.setattr(repeats, "_varied", lambda table, scorer: (every, every, every, every))
    for _ in range(200):
        waver = rng.beta(shape * own, shape * (1 - own), n)
        share = rng.binomial(draws, waver + (1 - waver) * effect) / draws
        varied = Estimate(float(share.mean()), *mean_interval(share), n, 0, "measure=flips:3|set=all")
        again = (rng.random(20) < waver[:20]).astype(int).tolist()
        found = repeats.measure_wavering(again, varied, None, 0.95)
        seen += found.changed > 0
        inside += found.flips.low <= (1 - own) * effect <= found.flips.high
        claimed += found.flips.low > (1 - own) * effect
    assert inside >= 0.95 * 200
    assert claimed <= 0.025 * 200
    assert seen > 0.9 * 200
