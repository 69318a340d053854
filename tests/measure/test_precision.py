"""The precision of a run: what it could have detected, held against simulated runs, and rules to end it early."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import numpy as np
import pytest

import unswayed
from unswayed.base.errors import NothingEvaluated, UnknownName, UsageError
from unswayed.base.values import Estimate
from unswayed.measure.people import Sampled, Sources
from unswayed.measure.precision import Design, _least_mean, _least_share, stop_rules
from unswayed.stats import mean_interval

Z = 0.8416212


def sampled(y: np.ndarray) -> Sampled:
    n, m = y.shape
    within = float(((y - y.mean(axis=1, keepdims=True)) ** 2).sum()) / (n * (m - 1))
    between = float(y.mean(axis=1).var(ddof=1))
    sources = Sources(max(between - within / m, 0.0), within, None, None)
    return Sampled(Estimate(float(y.mean()), 0, 0, n, 0, ""), None, sources, m)


def flips(rng: np.random.Generator, n: int, m: int, share: float) -> np.ndarray:
    return (rng.random((n, m)) < rng.beta(share * 2.3, (1 - share) * 2.3, (n, 1))).astype(float)


@pytest.mark.parametrize(("n", "m", "limit"), [(400, 2, 0.02), (300, 3, 0.1)])
def test_the_detectable_share_of_flips_is_detected_in_four_of_five_runs(n: int, m: int, limit: float) -> None:
    rng = np.random.default_rng(n)
    design, like = Design(n, m, 0), limit + 0.06
    least = float(np.mean([_least_share(sampled(flips(rng, n, m, like)), design, Z, 0.975, limit) for _ in range(9)]))
    found = [(mean_interval(flips(rng, n, m, least).mean(axis=1))[0] or 0) > limit for _ in range(200)]
    assert 0.72 <= np.mean(found) <= 0.88


def test_the_detectable_drop_is_detected_in_four_of_five_runs() -> None:
    rng, n, m = np.random.default_rng(2), 300, 3

    def drops(least: float) -> np.ndarray:
        return least + rng.normal(0, 0.2, (n, 1)) + rng.normal(0, 0.3, (n, m))

    least = _least_mean(sampled(drops(0.1)), Design(n, m, 0), 1.0, False, Z, 0.975)
    found = [(mean_interval(drops(least).mean(axis=1), (-1, 1), 0.95, "difference")[0] or 0) > 0 for _ in range(300)]
    assert 0.73 <= np.mean(found) <= 0.87
    se = np.sqrt((0.2**2 + 0.3**2 / 3) / n)
    assert least == pytest.approx((1.968 + Z) * se, rel=0.1)


def test_clusters_are_what_power_counts(fake_run) -> None:
    """Thirty paragraphs of three examples that are answered alike are worth thirty examples."""

    def power(times: int, cluster: str | None) -> list[tuple[float, float]]:
        rows = [("x", "x", [("p", d, "same", "y" if i % 5 < d else "x") for d in (0, 1, 2)], {"paragraph": str(i)})
                for i in range(30)]  # fmt: skip
        found = unswayed.measure_run(
            fake_run([row for row in rows for _ in range(times)]), {"measure": {"cluster": cluster}}
        ).power()
        assert {one.over for one in found.detectable} == {f"{cluster} (clusters)" if cluster else "examples like these"}
        return [(one.now, one.twice_the_examples) for one in found.detectable]

    for one, three in zip(power(1, None), power(3, "paragraph"), strict=True):
        assert three == pytest.approx(one, rel=0.02)
    assert power(3, None)[0] < power(3, "paragraph")[0]


def made(tmp_path: Path, n: int = 210) -> Path:
    """A run of a system that samples, with clusters, as anybody would make it."""
    rows = [{"text": f"please play song number {i}", "label": "ab"[i % 2], "paragraph": f"p{i // 6}"} for i in range(n)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "clf.py").write_text(
        "import random\nrng = random.Random(4)\n\n\ndef predict(batch):\n"
        "    right = ['ab'[int(''.join(filter(str.isdigit, x['text'])) or 0) % 2] for x in batch]\n"
        "    return [rng.choice('ab') if rng.random() < 0.2 else r for r in right]\n"
        "\n\ndef sure(batch):\n    return ['a' for _ in batch]\n\n\nsure.unswayed_deterministic = True\n"
    )
    vary = ("vary", "data.jsonl", "--gold", "label", "--group", "paragraph", "--with", "keyboard/adjacent")
    done = commands.unswayed(*vary, "--draws", "2", "--seed", "1", "-o", "suite/", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_repeats_limit_and_cluster_from_data_to_the_last_number(tmp_path: Path) -> None:
    here = made(tmp_path)
    ask = ("run", "suite/", "--system", "clf:predict", "-o", "run/", "--limit", "200", "--repeats", "3")
    ask += ("--cluster", "paragraph")
    done = commands.unswayed(*ask, "--format", "json", cwd=here)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 0 <= 200 * (1 + 2 + 3) - found["asked"] < 20  # a slip may be made twice, and is asked once
    again = found["repeats"]
    assert (again["repeats"], again["disagreement"]["n"]) == (3, 200)
    assert 0.1 < again["disagreement"]["value"] < 0.3
    assert again["flips"]["value"] == pytest.approx(found["flips"]["value"] - again["disagreement"]["value"])
    assert again["flips"]["low"] <= 0 <= again["flips"]["high"]
    assert found["cluster"] == "paragraph"
    text = commands.unswayed(*ask, cwd=here)
    assert "of answers change when the same text is asked again" in " ".join(text.stdout.split())
    assert "beyond chance" in text.stdout
    done = commands.unswayed("report", "run/", "-o", "page.html", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "own disagreement" in (here / "page.html").read_text("utf-8")

    ask = ("measure", "power", "--from", "run/", "--cluster", "paragraph")
    done = commands.unswayed(*ask, "--format", "json", cwd=here)
    assert done.returncode == 0, done.stderr
    power = json.loads(done.stdout)
    assert power["detectable"][0]["over"] == "paragraph (clusters)"
    assert power["design"]["clusters"] <= 35
    assert power["who"] == "draws"
    assert {one["measure"] for one in power["detectable"]} == {"drop", "flips", "difference"}
    for one in power["detectable"]:
        assert 0 < one["twice_the_examples"] < one["now"]
        assert one["twice_the_draws"] <= one["now"]
    text = commands.unswayed("measure", "power", "--from", "run/", cwd=here)
    assert "twice the examples" in text.stdout

    done = commands.unswayed("run", "suite/", "--system", "clf:sure", "-o", "r2/", "--repeats", "3", cwd=here)
    assert done.returncode == 4
    assert "declared deterministic" in done.stderr
    assert "--repeats" in done.stderr


def test_what_can_not_be_said() -> None:
    from unswayed.measure.precision import power_of

    class Nothing:
        people = None

    with pytest.raises(NothingEvaluated, match="two variants"):
        power_of(Nothing())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="between 0 and 1"):
        power_of(Nothing(), power=1.2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "measure", "within"),
    [("drop±0.02", "drop", 0.02), ("drop+-.02", "drop", 0.02), (" flips +/- 0.1 ", "flips", 0.1)],
)
def test_rules(text: str, measure: str, within: float) -> None:
    assert stop_rules([text])[0][:2] == (measure, within)


@pytest.mark.parametrize(
    "text", ["drop", "drop=0.02", "drop±", "drop±wide", "drop±0", "drop±-1", "drop±nan", "±0.02", ""]
)
def test_rules_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"takes a measure and a width, such as drop±0\.02"):
        stop_rules([text])


def test_a_measure_that_there_is_none_of() -> None:
    with pytest.raises(UnknownName, match="no measure to stop on named 'drops'. Did you mean 'drop'"):
        stop_rules(["drops±0.02"])


def data(n: int) -> list[dict[str, str]]:
    names = ["odd" if i % 2 else "even" for i in range(n)]
    return [{"text": f"number {i} is {name}", "label": name} for i, name in enumerate(names)]


def predict(batch: list[dict[str, str]]) -> list[str]:
    return ["odd" if "odd" in inputs["text"] else "even" for inputs in batch]


def test_a_run_ends_early_and_says_so(tmp_path: Path) -> None:
    early = {"run": {"stop_when": "drop±0.1"}, "measure": {"within": 0.05}}
    found = unswayed.check(predict, data(1500), "spoken/filler_end", to=tmp_path / "run", plan=early)
    assert found.within is not None
    assert found.within.whole.high == found.drop.high, "whenever the run stops"
    n = found.drop.n
    assert 32 <= n < 300
    assert found.drop.low is not None
    assert found.drop.high is not None
    assert 0 < (found.drop.high - found.drop.low) / 2 <= 0.1
    assert f"on {n} of 1,500 examples, a random sample: the run ended early, when drop±0.1 was reached." in repr(found)
    assert found.asked < 1000
    again = unswayed.check(
        predict, data(1500), "spoken/filler_end", to=tmp_path / "run", plan={"run": {"stop_when": "drop±0.1"}}
    )
    assert (again.asked, again.reused) == (0, pytest.approx(found.asked, abs=0))
    narrower = unswayed.check(
        predict, data(1500), "spoken/filler_end", to=tmp_path / "run", plan={"run": {"stop_when": ["drop±0.04"]}}
    )
    assert n < narrower.drop.n < 1500
    fixed = unswayed.measure_run(tmp_path / "run")
    assert fixed.drop == narrower.drop  # opened later, it is the same number
    whole = unswayed.check(predict, data(1500), "spoken/filler_end", to=tmp_path / "run")
    assert whole.drop.n == 1500
    assert "sample" not in whole.validity


def test_what_is_not_reached_is_said(tmp_path: Path) -> None:
    plan = unswayed.Plan(run=unswayed.SystemPlan(stop_when=("drop±0.001", "flips±0.5")))
    suite = unswayed.make_suite(data(60), "spoken/filler_end")
    verdict = unswayed.carry_out(plan, tmp_path / "run", system=predict, suite=suite)
    assert verdict.results.drop.n == 60
    assert verdict.exit_code == 0
    assert [w for w in verdict.warnings if "was not reached" in w] == [
        f"drop±0.001 was not reached: the interval of drop is ±{verdict.results.drop.high:.3g}."
    ]


def test_scores_of_whole_sets_are_refused() -> None:
    with pytest.raises(UsageError, match="needs a mean over examples, and macro_f1 is a score of the whole set"):
        unswayed.check(
            predict, data(60), "spoken/filler_end", scores="macro_f1", plan={"run": {"stop_when": "drop±0.02"}}
        )


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data(600)))
    (tmp_path / "clf.py").write_text(
        "def predict(batch): return ['odd' if 'odd' in inputs['text'] else 'even' for inputs in batch]\n"
    )
    commands.unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "-o", "suite/", cwd=tmp_path, check=True)
    run = ("run", "suite/", "--system", "clf:predict", "-o", "run/", "--format", "json", "--stop-when")
    done = json.loads(commands.unswayed(*run, "drop±0.02", cwd=tmp_path, check=True).stdout)
    assert done["validity"]["sample"]["why"] == "enough"
    assert done["validity"]["sample"]["examples"] == done["drop"]["n"] < 600
    bad = commands.unswayed(*run, "dorp±0.02", cwd=tmp_path)
    assert bad.returncode == 4
    assert "Did you mean 'drop'?" in bad.stderr
