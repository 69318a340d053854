"""People as a sample, and a system's own disagreement: against formulas by hand and truths that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unswayed
from unswayed.base.errors import UsageError
from unswayed.base.values import Example, Variant
from unswayed.measure.people import Cells, components
from unswayed.measure.results import Results
from unswayed.storage.suite import Manifest, write_suite

pytestmark = pytest.mark.usefixtures("asked_once")


def suite_of(path: Path, right: np.ndarray, people: dict[str, str], family: str = "keyboard") -> unswayed.Suite:
    """Each column of `right` is a person, who made a variant of every example; NaN for none."""
    n, k = right.shape
    examples = [Example(i, f"e{i}", {"text": f"text {i}"}, "yes") for i in range(n)]
    variants = [
        Variant(i, f"e{i}", j, f"person/{j}", family, "same", {"text": f"text {i} by {j}"}, "yes", f"by p{j}")
        for i in range(n)
        for j in range(k)
        if not np.isnan(right[i, j])
    ]
    manifest = Manifest(task="classify", language="en", people=people)
    return write_suite(path, manifest, lambda: examples, lambda: variants)


def measured(path: Path, right: np.ndarray, people: dict[str, str]) -> Results:
    known = {f"text {i} by {j}": right[i, j] for i in range(len(right)) for j in range(right.shape[1])}

    def predict(batch: list[dict[str, str]]) -> list[str]:
        return ["yes" if known.get(item["text"], 1) else "no" for item in batch]

    run = unswayed.run_system(suite_of(path / "suite", right, people), predict, path / "run")
    return unswayed.measure_run(run, {"measure": {"scores": ["accuracy"], "sanity": False}})


def answers(n: int, people: int, spread: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    odds = rng.normal(1, 1.5, (n, 1)) + rng.normal(0, spread, (1, people))
    return (rng.random((n, people)) < 1 / (1 + np.exp(-odds))).astype(float)


def test_the_components_of_a_complete_table_are_those_of_the_analysis_of_variance() -> None:
    y = np.random.default_rng(1).normal(size=(12, 4)) + np.arange(4) + np.arange(12)[:, None] / 3
    i, j = np.indices(y.shape)
    found = components(Cells(i.ravel(), j.ravel(), np.zeros(48, int), y.ravel()))
    rows, columns, mean = y.mean(axis=1), y.mean(axis=0), y.mean()
    rest = ((y - rows[:, None] - columns + mean) ** 2).sum() / (11 * 3)
    people = 12 * ((columns - mean) ** 2).sum() / 3
    examples = 4 * ((rows - mean) ** 2).sum() / 11
    assert found is not None
    assert found.rest == pytest.approx(rest)
    assert found.people == pytest.approx((people - rest) / 12)
    assert found.examples == pytest.approx((examples - rest) / 4)
    assert found.of_people == pytest.approx(people / 48)  # the variance of a mean over four people
    assert found.people_df == pytest.approx(3)


def test_people_are_compared_within_their_family() -> None:
    """A family that is harder as a whole is no difference between people."""
    y = np.repeat([[0.0, 0.0, 5.0, 5.0]], 10, axis=0) + np.arange(10)[:, None]
    i, j = np.indices(y.shape)
    found = components(Cells(i.ravel(), j.ravel(), (j.ravel() > 1).astype(int), y.ravel()))
    assert found is not None
    assert found.people == pytest.approx(0, abs=1e-9)
    assert components(Cells(i.ravel(), j.ravel(), (j.ravel() > 2).astype(int), y.ravel())) is None  # one of them alone


def test_holes_need_not_be_balanced() -> None:
    rng = np.random.default_rng(3)
    totals = np.zeros(3)
    for _ in range(60):
        y = 2 * rng.normal(size=(60, 1)) + rng.normal(size=(1, 12)) + 0.5 * rng.normal(size=(60, 12))
        i, j = np.nonzero(rng.random(y.shape) < 0.3)
        found = components(Cells(i, j, np.zeros(len(i), int), y[i, j]))
        assert found is not None
        totals += found.examples, found.people, found.rest
    assert totals / 60 == pytest.approx([4, 1, 0.25], rel=0.2)


@pytest.mark.parametrize("people", [{"*": "source"}, {"*": "note"}, {"person/0": "draw", "*": "source"}])
def test_both_intervals_of_a_run(tmp_path: Path, people: dict[str, str]) -> None:
    right = answers(60, 3, 1.0, seed=5)
    results = measured(tmp_path, right, people)
    block = results.people
    assert block is not None
    assert (block.who, block.n) == ("people", 3)
    average = block.measures["average"]
    assert average.these.value == pytest.approx(right.mean())
    assert list(average.by.values()) == pytest.approx(right.mean(axis=0))
    assert average.like_these is not None
    assert average.like_these.low < average.these.low <= average.these.high < average.like_these.high
    assert (average.these.over, average.like_these.over) == ("these people", "people like these")
    assert average.these.signature != average.like_these.signature
    assert block.measures["flips"].variance.people == pytest.approx(average.variance.people)
    assert "for people like these" in repr(results)
    assert (
        unswayed.measure_run(tmp_path / "run", {"measure": {"scores": ["accuracy"], "sanity": False}}).people == block
    )  # from the stored file


def test_few_people(tmp_path: Path) -> None:
    one = measured(tmp_path / "1", answers(40, 1, 1.0, seed=5), {"*": "source"}).people
    assert one is not None
    assert one.measures["average"].like_these is None
    assert "One person" in one.sentences()[0]
    two = measured(tmp_path / "2", answers(40, 2, 0.2, seed=5), {"*": "source"}).people
    assert two is not None
    like = two.measures["average"].like_these
    assert like is not None
    assert like.high - like.low > 0.3
    assert "two people show little" in two.sentences()[0]


def test_draws_that_are_nobody(tmp_path: Path) -> None:
    block = measured(tmp_path, answers(50, 3, 0.0, seed=2), {}).people
    assert block is not None
    assert block.who == "draws"
    assert block.sentences() == block.rows() == []
    assert block.measures["average"].like_these is None


@pytest.mark.parametrize(("people", "examples"), [(3, 100), (10, 100)])
def test_the_interval_for_people_like_these_covers(people: int, examples: int) -> None:
    from unswayed.stats import mean_interval

    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float(weights @ (1 / (1 + np.exp(-1 - np.sqrt(1.5**2 + 1) * nodes))) / weights.sum())
    covered = these = 0
    for seed in range(200):
        y = answers(examples, people, 1.0, seed)
        i, j = np.indices(y.shape)
        found = components(Cells(i.ravel(), j.ravel(), np.zeros(y.size, int), y.ravel()))
        assert found is not None
        low, high = found.interval(0.95, (0.0, 1.0), True)
        covered += low <= truth <= high
        low, high = mean_interval(y.mean(axis=1))
        these += low <= truth <= high
    assert covered >= 0.91 * 200
    assert these < 0.85 * 200  # people as a fixed set


# a system's own disagreement


def texts(path: Path, n: int = 30) -> unswayed.Suite:
    """Three variants of each example."""
    return suite_of(path, np.ones((n, 3)), {})


class Wavering:
    """Ignores the text, and gives another answer in a share of its answers."""

    def __init__(self, share: float, seed: int = 0) -> None:
        self.share, self.asked, self.rng = share, 0, np.random.default_rng(seed)

    def __call__(self, batch: list[dict[str, str]]) -> list[str]:
        self.asked += len(batch)
        return ["no" if self.rng.random() < self.share else "yes" for _ in batch]


def system(function: object) -> unswayed.System:
    from unswayed.systems.callable import CallableSystem

    return CallableSystem(function, name="wavering", identity="wavering")  # type: ignore[arg-type]


def test_a_random_answerer_has_no_flips_beyond_its_own(tmp_path: Path) -> None:
    suite = texts(tmp_path / "suite")
    covered = {"flips": 0, "consistency": 0, "drop": 0}
    times = 20
    for seed in range(times):
        run = unswayed.run_system(
            suite, system(Wavering(0.1, seed)), tmp_path / f"run{seed}", plan={"run": {"repeats": 3}}
        )
        found = unswayed.measure_run(
            run, {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False}}
        ).repeats
        assert found is not None
        for name in covered:
            low, high = getattr(found, name).low, getattr(found, name).high
            covered[name] += low <= 0 <= high
    assert min(covered.values()) >= 0.8 * times


def test_each_repeat_is_asked_once_and_kept(tmp_path: Path) -> None:
    suite, function = texts(tmp_path / "suite", 20), Wavering(0.3)
    run = unswayed.run_system(suite, system(function), tmp_path / "run")
    assert function.asked == 80
    assert unswayed.measure_run(run).repeats is None
    run = unswayed.run_system(
        suite, system(function), tmp_path / "run", plan={"run": {"asking": unswayed.Asking(canary=0), "repeats": 2}}
    )
    assert function.asked == 80 + 40
    first = unswayed.measure_run(run).repeats
    run = unswayed.run_system(
        suite, system(function), tmp_path / "run", plan={"run": {"asking": unswayed.Asking(canary=0), "repeats": 3}}
    )
    assert function.asked == 80 + 60
    more = unswayed.measure_run(run).repeats
    assert first is not None
    assert more is not None
    assert (first.repeats, more.repeats) == (2, 3)
    clean = [output.value for _, output, _ in run.items()]
    again = [[output.value for _, output in repeats] for _, _, repeats in run.repeated()]
    changed = [sum(answer != before for answer in row) / 3 for before, row in zip(clean, again, strict=True)]
    assert more.disagreement.value == pytest.approx(np.mean(changed))
    flips = [np.mean([o.value != clean.value for _, o in varied]) for _, clean, varied in run.items()]
    assert more.flips.value == pytest.approx(np.mean(flips) - np.mean(changed))
    kept = [all(o.value == clean.value for _, o in varied) for _, clean, varied in run.items()]
    assert more.consistency.value == pytest.approx(np.mean(kept) - np.mean([share == 0 for share in changed]))
    scores = np.array([[c == "yes", *(a == "yes" for a in row)] for c, row in zip(clean, again, strict=True)])
    assert more.clean_sd == pytest.approx(np.sqrt(scores.var(axis=1, ddof=1).sum()) / 20)


def test_fewer_repeats_than_variants() -> None:
    """Consistency is compared for as many variants as there are repeats, over all choices of them."""
    from unswayed.measure.repeats import _none_changed

    found = _none_changed(np.array([4.0, 4.0, 2.0]), np.array([0.0, 1.0, 1.0]), np.array([2.0, 2.0, 2.0]))
    assert found.tolist() == [1.0, 0.5, 0.0]


def test_a_steady_system(tmp_path: Path) -> None:
    results = unswayed.check(
        lambda batch: ["yes" for _ in batch], texts(tmp_path / "suite"), plan={"run": {"repeats": 2}}
    )
    assert results.repeats is not None
    assert results.repeats.sentences(results.flip_rate) == [
        "The system gave the same answers when it ran again on the same texts."
    ]
    assert "same answers when it ran again" in repr(results)


def test_repeats_that_make_no_sense(tmp_path: Path) -> None:
    suite = texts(tmp_path / "suite")

    def predict(batch: list[dict[str, str]]) -> list[str]:
        return ["yes" for _ in batch]

    with pytest.raises(UsageError, match="must be a whole number of 0 or more"):
        unswayed.run_system(suite, predict, tmp_path / "run", plan={"run": {"repeats": -1}})
    predict.unswayed_deterministic = True  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"declared deterministic.*Leave out plan=\{\"run\": \{\"repeats\""):
        unswayed.run_system(suite, predict, tmp_path / "run", plan={"run": {"repeats": 2}})
