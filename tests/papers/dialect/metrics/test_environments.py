"""COMET and BLEURT, the real packages in environments of their own, on tiny models that they make themselves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from unswayed.base import file_hash
from unswayed.base.errors import SystemBroken, UnknownName, UsageError
from unswayed.papers.dialect.metrics.environment import install, python
from unswayed.systems import Metric, Scores, Segment, open_system

ITEMS = [Segment("the cat sat", "a cat sat", "le chat"), Segment("a dog", "the mat", "x")]


@pytest.fixture(scope="module", params=["comet", "bleurt"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    name: str = request.param
    os.environ["PIP_NO_COMPILE"] = "1"  # most of the packages' modules are never imported
    try:
        install(name)
    except UsageError as error:
        pytest.skip(f"the environment of {name} can't be made here: {error}")
    to = tmp_path_factory.mktemp(name)
    script = Path(__file__).with_name(f"make_{name}.py")
    done = subprocess.run([python(name), "-P", script, to], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return name, to


def opened(name: str, model: Path, more: str = "") -> Metric:
    trusted = {"trust_weights": file_hash(model)} if name == "comet" else {}
    return open_system(f"{name}:model={model}{more}", Metric, **trusted)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_scores_are_the_packages_own(made: tuple[str, Path]) -> None:
    name, to = made
    expected = json.loads((to / "expected.json").read_text())
    model = to / "regression_metric" / "checkpoints" / "model.ckpt" if name == "comet" else to
    metric = opened(name, model)
    scores = Scores(metric)
    assert scores.score(ITEMS) == pytest.approx(expected, abs=1e-5)
    assert scores.score([Segment("", "the mat", "x")])[0] == scores.score([Segment("", "the mat", "x")])[0]
    metric.close()
    if name == "comet":
        free = opened(name, to / "referenceless_regression_metric/checkpoints/model.ckpt", ",reference=no")
        one, other = Scores(free).score([Segment("the cat sat", source="le chat"), Segment("a dog", source="x")])
        assert one != other
        free.close()


@pytest.mark.slow
def test_a_model_that_can_not_be_loaded_is_told_of(made: tuple[str, Path], tmp_path: Path) -> None:
    name, _ = made
    (tmp_path / "config.json").write_text('{"model_type": "bleurt"}')
    (tmp_path / "model.ckpt").write_bytes(b"nothing")
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    metric = opened(name, tmp_path / "model.ckpt" if name == "comet" else tmp_path)
    with pytest.raises(SystemBroken, match=f"{name}.* (broke off|failed)"):
        metric.scores(ITEMS)


def test_without_its_environment_the_line_that_makes_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSWAYED_CACHE", str(tmp_path))
    (tmp_path / "model.ckpt").touch()
    with pytest.raises(UsageError, match="unswayed metrics install comet"):
        opened("comet", tmp_path / "model.ckpt").scores(ITEMS)
    with pytest.raises(UnknownName, match="'comet'"):
        install("commet")
