"""The benchmark of NANO, with few sentences and steps: three metrics a seed, compared at the end and at equal tau."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
pytest.importorskip("transformers", reason="needs unswayed[hf]")
if not (ROOT / "../shared/data/mlqe_pe").is_dir():
    pytest.skip("../shared/data is not here", allow_module_level=True)


@pytest.fixture
def nano(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    sys.modules.pop("benchmarks.nano", None)
    from benchmarks import nano

    return nano


def test_three_metrics_are_trained_and_compared(nano: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, rated = nano.segments, nano.real_ratings()
    monkeypatch.setattr(nano, "segments", lambda split: [r for r in whole(split) if int(r["id"].split()[-1]) % 40 == 0])
    monkeypatch.setattr(nano, "real_ratings", lambda: rated[:80])
    monkeypatch.setattr(nano, "TRAIN", 60)
    monkeypatch.setattr(nano, "SEEDS", (0, 1))
    for phase in ("BASE", "PRETRAIN", "FINETUNE"):
        quick = {"rounds": 2, "steps": 2, "batch_size": 4, "hold": 0.3}
        monkeypatch.setattr(nano, phase, {**getattr(nano, phase), **quick})
    rows = {row.name: row for row in nano.long_rows()}
    assert set(rows) == {
        "zh: told", "zh: told, linear", "kendall: nano", "kendall: placebo", "kendall: none",
        "zh: success against placebo", "zh: success against none",
        "pt: success against placebo", "pt: success against none",
    }  # fmt: skip
    for row in rows.values():
        assert row.ours is not None
        assert -1 <= row.ours <= 100
    assert "at equal Kendall" in rows["zh: success against none"].note


def test_the_placebo_keeps_sentences_and_shares_of_dialects(nano: Any) -> None:
    rows = [{"id": str(i), "tag": ("zh-CN", "zh-TW", "pt-BR")[i % 3], "text": str(i)} for i in range(60)]
    made = nano.shuffled(rows, 0)
    own = [row for row in rows if row["tag"] != "pt-BR"]
    assert [row["text"] for row in made] == [row["text"] for row in own]
    assert sorted(row["tag"] for row in made) == sorted(row["tag"] for row in own)
    assert [row["tag"] for row in made] != [row["tag"] for row in own]


def test_the_nearest_round_has_the_nearest_kendall(nano: Any) -> None:
    curve = [{"dev": 0.1, "kendall": 0.05}, {"dev": 0.3, "kendall": 0.2}, {"dev": 0.2, "kendall": 0.3}]
    assert nano.at_end(curve) is curve[1]
    assert nano.nearest(curve, 0.27) is curve[2]
    assert nano.nearest(curve, 0.0) is curve[0]
    worse = [{"dev": 0.1, "kendall": 0.04}, {"dev": 0.2, "kendall": 0.06}]
    assert nano.at_equal(curve, worse) == (curve[0], worse[1])
    assert nano.at_equal(worse, curve) == (worse[1], curve[0])
