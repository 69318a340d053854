"""What others published: who is hurt by real systems' answers, named only where a corrected test says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from unswayed.cli import unswayed

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "norsid").is_dir(), reason="the published answers are not beside the project"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What the command prints about all tables, and the folder it wrote."""
    to = tmp_path_factory.mktemp("findings") / "out"
    words = ["study", "findings", "--data", str(DATA), "-o", str(to), "--format", "json"]
    for table in ("sdqa", "norsid", "rocs", "judge", "parte"):
        words += ["--only", table]
    done = CliRunner().invoke(unswayed, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), to


def test_accents_of_english(found: tuple[dict[str, Any], Path]) -> None:
    english = found[0]["sdqa"]["english"]["systems"]
    gpt4, gpt35 = english["GPT-4"], english["GPT-3.5"]
    for system, clean, others in ((gpt4, 0.625, 0.582), (gpt35, 0.752, 0.696)):
        assert (system["f1"], system["others"]) == (pytest.approx(clean, abs=6e-4), pytest.approx(others, abs=6e-4))
    four = gpt4["varieties"]
    for variety, drop, low, high in (("kenya", 15.9, 12.5, 19.3), ("ind_s", 11.4, 8.0, 14.8)):
        shown = [100 * four[variety][name] for name in ("drop", "low", "high")]
        assert shown == pytest.approx([drop, low, high], abs=0.06)
    assert {v for v, own in four.items() if own["verdict"] == "worse"} == {"kenya", "ind_s", "nga", "aus", "phl"}
    assert {v for v, own in four.items() if own["verdict"] == "better"} == set()
    assert 100 * four["nzl"]["drop"] == pytest.approx(-3.6, abs=0.06)
    assert 100 * gpt35["varieties"]["ind_s"]["drop"] == pytest.approx(12.7, abs=0.06)
    assert 100 * gpt35["varieties"]["kenya"]["drop"] == pytest.approx(9.8, abs=0.06)
    # what the publisher prints as F1, and containment, are other measures
    assert [round(100 * four[v]["printed"], 1) for v in ("usa", "kenya")] == [32.5, 22.0]
    assert four["usa"]["contained"] == pytest.approx(0.686, abs=1e-3)
    assert found[0]["sdqa"]["arabic"]["cut"] is True


def test_norwegian_dialects(found: tuple[dict[str, Any], Path]) -> None:
    norsid = found[0]["norsid"]
    for system, slots, intents in (
        ("multilingual BERT", 0.6436, 0.8415),
        ("NB-BERT", 0.8222, None),
        ("HiTZ 1", None, 0.9629),
    ):
        whole = norsid[system]["all"]
        assert slots is None or whole["slots"] == pytest.approx(slots, abs=6e-5)
        assert intents is None or whole["intents"] == pytest.approx(intents, abs=6e-5)
    slots = norsid["HiTZ 1"]["slots"]
    assert [100 * slots[name] for name in ("drop", "low", "high")] == pytest.approx([6.4, 4.9, 7.8], abs=0.11)
    worst = slots["worst"]
    assert worst["person"] == "North 2 (Tromsø)"
    assert [100 * worst[name] for name in ("drop", "low", "high")] == pytest.approx([16.6, 13.8, 19.4], abs=0.06)


def test_raw_reddit(found: tuple[dict[str, Any], Path]) -> None:
    rocs = found[0]["rocs"]
    gpt4 = rocs["GPT-4"]
    for score, clean, raw in (("bleu", 46.6, 40.8), ("chrf", 66.7, 62.8)):
        assert [gpt4[score][name] for name in ("clean", "raw")] == pytest.approx([clean, raw], abs=0.06)
    assert [gpt4["chrf"][name] for name in ("drop", "low", "high")] == pytest.approx([3.9, 3.2, 4.7], abs=0.11)
    assert gpt4["plain chrf"]["drop"] == pytest.approx(2.4, abs=0.06)
    assert gpt4["empty"] == 19
    assert [name for name, one in rocs.items() if one["copies"]] == ["ONLINE-W"]


def test_the_judge_and_the_page(found: tuple[dict[str, Any], Path]) -> None:
    judge = found[0]["judge"]["o1-mini"]
    assert (judge["right"], judge["changed"]) == (pytest.approx(0.6571, abs=6e-5), pytest.approx(0.314, abs=6e-4))
    assert (judge["first"], judge["second"]) == (58, 18)
    assert judge["corrected"]["width"] == pytest.approx(0.166, abs=2e-3)
    page = (found[1] / "study.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 4
    assert page.count("What this does not show") >= 5
    assert "operator" not in page
