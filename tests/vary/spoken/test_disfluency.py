"""`spoken/disfluency`: repairs are found as they were made, labels stay true, wrong phrases come from the data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import unswayed

from unswayed.base.edits import slots_of
from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Variant
from unswayed.lab.calibration.profiles import fit_disfluency
from unswayed.vary.disfluencies import KINDS, PhrasePool, disfluencies, find_repair, phrases, rough_repair
from unswayed.vary.engine import Variation, vary
from unswayed.vary.english import tagged
from unswayed.vary.spoken.disfluency import Disfluency

NAME = "spoken/disfluency"
PLACES = ("Boston", "Denver", "Warsaw", "Fresno", "Lisbon", "Vienna", "Oslo", "Quebec")
TEXTS = [f"{opening} the {thing} in {place}?" for place in PLACES for opening, thing in (
    ("When did people build", "bridge"), ("Who opened", "old library"), ("Why was", "parliament moved"),
    ("What is the name of", "largest church"), ("How many tourists visit", "museums"),
)]  # fmt: skip


def made(examples: list[Example], task: str = "text", **more: object) -> list[Variant]:
    params = {k: more.pop(k) for k in ("kinds", "profile") if k in more}
    spec = OperatorSpec(NAME, params)  # type: ignore[arg-type]
    pool = {NAME: tuple(examples)} if more.pop("pooled", True) else {}
    return list(vary(examples, Variation(operators=(spec,), task=task, language="en", pools=pool, **more)))  # type: ignore[arg-type]


def texts_of(texts: list[str]) -> list[Example]:
    return [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("fluent", "said", "kind", "wrong", "cue"),
    [
        ("When did the war end?", "How did no wait when did the war end?", "opening", "How did", "no wait"),
        ("Who led the army of France?", "Who led the army of Spain or rather France?", "phrase", "Spain", "or rather"),
        ("Who led the army?", "Who led the fleet no I mean the army?", "phrase", "the fleet", "no I mean"),
        ("Who is he?", "Where do people go no Who is he?", "restart", "Where do people go", "no"),
        ("Who did Ann meet in May?", "Who did Bob meet in May, sorry, Ann?", "late", "Bob", "sorry"),
        ("Who is he?", "Who is um he?", "hesitation", "", "um"),
    ],
)
def test_a_repair_is_found_in_what_was_said(fluent: str, said: str, kind: str, wrong: str, cue: str) -> None:
    words = tagged(said)
    found = find_repair(tagged(fluent), words)
    assert found is not None
    assert found.kind == kind
    assert [w.lower for w in words[found.at : found.at + found.wrong]] == wrong.lower().split()
    assert [w.lower for w in words[found.cue : found.end]] == cue.lower().split()


def test_what_was_changed_otherwise_is_no_plain_repair() -> None:
    fluent, said = (
        tagged("How would societies support travelers?"),
        "How would societies reject them no how would they support them?",
    )
    assert find_repair(fluent, tagged(said)) is None
    rough = rough_repair(fluent, tagged(said))
    assert rough is not None
    assert rough.kind == "restart"
    assert rough_repair(fluent, tagged("Which societies helped travelers?")) is None


def test_phrases_are_told_by_kind() -> None:
    found = [(p.kind, p.said) for p in phrases("Who led the old fleet of the Duke of York in 1665?")]
    assert ("name", "Duke of York") in found
    assert ("number", "1665") in found
    assert ("noun", "old fleet") in found


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "hesitation"])
def test_what_it_makes_is_what_was_asked_for(kind: str) -> None:
    variants = made(texts_of(TEXTS), kinds=kind, draws=3)
    assert len(variants) > 60
    found = [find_repair(tagged(TEXTS[v.row]), tagged(v.inputs["text"])) for v in variants]
    kinds = Counter(repair.kind if repair else "" for repair in found)
    assert kinds[kind] > 0.5 * len(variants), kinds


def test_fitted_rates_come_back() -> None:
    """What is fitted to simulated people is what they were simulated with."""
    variants = made(texts_of(TEXTS), draws=30)
    refitted = fit_disfluency([TEXTS[v.row] for v in variants], [v.inputs["text"] for v in variants])
    shipped = disfluencies()
    for kind in ("opening", "phrase", "late"):
        assert refitted.kinds[kind] == pytest.approx(shipped.kinds[kind], abs=0.08)
    assert refitted.cues["phrase"]["no"] / sum(refitted.cues["phrase"].values()) == pytest.approx(
        shipped.cues["phrase"]["no"] / sum(shipped.cues["phrase"].values()), abs=0.06
    )


def test_wrong_phrases_come_from_the_paragraph() -> None:
    inputs = {"question": "Who sailed to Lisbon?", "context": "Anna sailed to Lisbon, not to Vienna or Oslo."}
    gold = {"context": [[0, 4]]}
    example = Example(0, "q", inputs, {"answers": ["Anna"], "spans": gold})
    variants = made([example], "qa", kinds="phrase", draws=30, pooled=False, fields=("question",))
    said = " ".join(v.inputs["question"] for v in variants)
    assert "Vienna" in said
    assert "Oslo" in said
    assert all(v.inputs["context"] == inputs["context"] and v.gold == example.gold for v in variants)


def test_the_wrong_words_carry_no_label() -> None:
    words = ["show", "flights", "from", "boston", "to", "denver", "on", "monday"]
    tags = ["O", "O", "O", "B-from", "O", "B-to", "O", "B-day"]
    others = ["list flights from oslo to vienna", "fares to lisbon on friday please"]
    gold = [
        {"intent": "flight", "slots": tags},
        *({"intent": "flight", "slots": ["O"] * len(o.split())} for o in others),
    ]
    examples = [
        Example(i, f"e{i}", {"text": t}, g)
        for i, (t, g) in enumerate(zip([" ".join(words), *others], gold, strict=True))
    ]
    for variant in made(examples, "slu", draws=60):
        if variant.row == 0:
            new = variant.gold["slots"]  # type: ignore[call-overload, index]
            said = variant.inputs["text"].split()
            assert [" ".join(said[a:b]) for _, a, b in slots_of(new)] == ["boston", "denver", "monday"]
            assert [kind for kind, _, _ in slots_of(new)] == ["from", "to", "day"]


def test_the_order_of_the_rows_decides_nothing() -> None:
    examples = texts_of(TEXTS)
    forward = {(v.example_id, v.draw): v.inputs for v in made(examples, draws=2)}
    assert {(v.example_id, v.draw): v.inputs for v in made(examples[::-1], draws=2)} == forward


def test_near_texts_share_rare_words() -> None:
    pool = PhrasePool(TEXTS)
    assert all("Oslo" in text for text in pool.near("Who lives in Oslo?"))
    assert pool.near("Nothing here") == []


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(UnknownName, match="kind of disfluency"):
        Disfluency(kinds="stutter")
    with pytest.raises(UsageError, match="50 texts with a repair. 0 of 2 have one"):
        fit_disfluency(["a b", "c d"], ["a b", "c d"])


def test_from_a_file_to_variants(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    command = ("vary", "texts.txt", "--lang", "en", "--with", NAME, "-o", "-")
    rows = [json.loads(line) for line in unswayed(*command, cwd=tmp_path).stdout.splitlines()]
    assert len(rows) == len(TEXTS)
    assert rows == [json.loads(line) for line in unswayed(*command, "--workers", "2", cwd=tmp_path).stdout.splitlines()]
    shared = [any(place in row["inputs"]["text"] for place in PLACES) for row in rows]
    assert all(shared)


def test_from_what_people_said_to_variants_like_theirs(tmp_path: Path) -> None:
    """People who only restate phrases, and only with *I mean*, are simulated as such."""
    variants = made(texts_of(TEXTS), kinds="phrase", draws=3)
    people = [v for v in variants if " I mean " in v.inputs["text"]] * 20
    (tmp_path / "fluent.txt").write_text("".join(TEXTS[v.row] + "\n" for v in people))
    (tmp_path / "said.txt").write_text("".join(v.inputs["text"] + "\n" for v in people))
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    fit = ("calibrate", "disfluency", "--clean", "fluent.txt", "--real", "said.txt", "-o", "rates.json")
    assert "Rates in rates.json" in unswayed(*fit, cwd=tmp_path).stderr
    command = ("vary", "texts.txt", "--lang", "en", "--with", NAME, "--param", "profile=rates.json", "-o", "-")
    rows = [json.loads(line)["inputs"]["text"] for line in unswayed(*command, cwd=tmp_path).stdout.splitlines()]
    assert sum("I mean" in text for text in rows) > 0.9 * len(TEXTS)
