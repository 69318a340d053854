"""Story 8, judging paraphrases: candidates, filters, three people, the best kept, and the share of answers changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from unswayed.storage.judgements import read_judgements
from unswayed.storage.suite import Suite
from unswayed.systems.opening import open_system

RTE = Path(__file__).parents[3] / "shared/data/rte"
PAIRS = 160  # of RTE 3's test set, so that three people are done in seconds
PEOPLE = {"anna": 0, "ben": 4, "chiara": -3}  # what each adds to a rating

pytestmark = pytest.mark.skipif(not RTE.is_dir(), reason="RTE's files are not here (../shared/data/rte)")


def first_pairs(file: Path, count: int) -> str:
    parts = file.read_text(encoding="utf-8").split("</pair>")
    return "</pair>".join(parts[:count]) + "</pair>\n</entailment-corpus>\n"


def opinion(name: str, texts: list[str]) -> dict[str, object]:
    """People who mind lost words, each a little more or less; a few texts sound wrong to all of them."""
    original, paraphrase = (set(text.lower().split()) for text in texts)
    shared = len(original & paraphrase) / max(len(original), 1)
    similarity = max(0, min(100, round(50 + 50 * shared) + PEOPLE[name]))
    return {"similarity": similarity, "grammatical": len(texts[1]) % 7 > 0}


def test_from_candidates_to_the_share_of_predictions_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unswayed: Callable[..., str], answer_online: Callable[..., None]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rte3.xml").write_text(first_pairs(RTE / "rte3_test.xml", PAIRS), encoding="utf-8")
    unswayed("train", "nli", RTE / "rte3_dev.xml", "-o", "model")

    # candidates, and filters with counts
    unswayed("vary", "rte3.xml", "--with", "paraphrase/rules", "--draws", 5, "-o", "candidates")
    steps = json.loads(unswayed("paraphrase", "filter", "candidates", "--all", "-o", "filtered", "--format", "json"))
    assert [step["step"] for step in steps] == ["generated", "not identical", "overlap ≤ 0.75"]
    counts = [step["candidates"] for step in steps]
    assert counts[0] > counts[1] > counts[2] > 10

    # three people rate each pair
    unswayed("collect", "items", "same_meaning", "--suite", "filtered", "-o", "items.jsonl")
    unswayed("collect", "new", "study.toml", "--kind", "same_meaning", "--items", "items.jsonl")
    unswayed("collect", "new", "study.toml")
    answer_online("study.toml", dict.fromkeys(PEOPLE, ""), opinion)
    status = json.loads(unswayed("collect", "status", "study.toml", "--format", "json"))
    assert status["progress"][0]["items complete"] == status["progress"][0]["items"] == counts[2]
    alpha = {row["question"]: row for row in status["agreement"]}
    assert alpha["grammatical"]["alpha"] == 1.0
    assert 0.5 < alpha["similarity"]["alpha"] < 1
    unswayed("collect", "export", "study.toml", "-o", "ratings.jsonl")
    judgements = read_judgements("ratings.jsonl", "same_meaning")
    assert set(Counter(j.item for j in judgements).values()) == {len(PEOPLE)}

    # the best of each text are kept, by their mean rating
    steps = json.loads(
        unswayed("paraphrase", "filter", "filtered", "--ratings", "ratings.jsonl", "-o", "kept", "--format", "json")
    )
    kept = {step["step"]: step["candidates"] for step in steps}
    assert counts[2] >= kept["grammatical"] >= kept["rated > 75"] > kept["best of each text"] > 0
    means: dict[tuple[str, str], list[float]] = {}
    for j in judgements:
        means.setdefault((j.asked["a"], j.asked["b"]), []).append(j.answer["similarity"])
    for example, variants in Suite("kept").groups():
        for variant in variants:
            (field,) = (f for f, text in variant.inputs.items() if text != example.inputs[f])
            own = means[example.inputs[field], variant.inputs[field]]
            assert f"rated {sum(own) / len(own):.0f}" in variant.note

    # the new test set, and the share of predictions changed, by side
    unswayed("paraphrase", "build", "kept", "-o", "pairs")
    told = unswayed("study", "parte", "--data", "pairs", "--system", "model", "-o", "out", "--format", "json")
    (found,) = json.loads(told).values()
    changed = changed_by_side(Suite("pairs"))
    assert found["changed"]["value"] == pytest.approx(sum(map(sum, changed.values())) / sum(map(len, changed.values())))
    for side, flips in changed.items():
        share = found["by"]["side"][side]
        assert share["n"] == len(flips)
        assert share["value"] == pytest.approx(sum(flips) / len(flips))
        assert share["low"] <= share["value"] <= share["high"]


def changed_by_side(suite: Suite) -> dict[str, list[bool]]:
    """Counted by hand: for each side, whether each pair's prediction differs from the original pair's."""
    system = open_system("model")
    changed: dict[str, list[bool]] = {}
    for example, variants in suite.groups():
        if variants:
            before, *after = system.predict([example.inputs, *(v.inputs for v in variants)])
            for variant, output in zip(variants, after, strict=True):
                changed.setdefault(variant.source.partition("/")[2], []).append(output != before)
    return changed
