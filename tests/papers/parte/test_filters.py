"""Filters of paraphrases: what each step keeps, the counts, people's ratings, and the set that is built."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import commands
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import DataError, NothingEvaluated, UsageError
from unswayed.base.values import Example, Variant
from unswayed.papers.parte import filters
from unswayed.papers.parte.building import build_suite, candidates_of, entails_by, filter_suite
from unswayed.papers.parte.filters import Paraphrase, Rating, filtered
from unswayed.papers.parte.ratings import read_ratings
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.callable import CallableSystem
from unswayed.vary.words import jaccard, normal

PARTE = Path(__file__).parents[3] / "../shared/data/parte/collated_data_and_preds.csv"


@pytest.mark.skipif(not PARTE.is_file(), reason="../shared/data is not here")
def test_overlap_is_counted_as_the_authors_counted_it() -> None:
    rows = list(csv.DictReader(PARTE.read_text(encoding="utf-8").splitlines()))
    for side in ("premise", "hypothesis"):
        for row in rows:
            found = jaccard(row[f"original_pair_{side}"], row[f"paraphrased_pair_{side}"])
            assert found == pytest.approx(float(row[f"jaccard_{side[0]}"]))


@given(st.text(max_size=40), st.text(max_size=40))
@settings(deadline=None)
def test_overlap_is_symmetric_and_whole_only_for_the_same_words(a: str, b: str) -> None:
    assert jaccard(a, b) == jaccard(b, a)
    assert 0 <= jaccard(a, b) <= 1
    assert jaccard(a, a) == 1
    assert normal(a) == normal(f"  {a} ")


def test_texts_that_count_as_the_same() -> None:
    assert normal("Iran 's plan , now !") == normal("Iran's plan, NOW")
    assert normal("花呗！") == normal("花呗")
    assert normal("?!") != normal("!!")
    assert jaccard("怎么还款", "怎么还花呗") == 3 / 6


def candidate(text: str, original: str = "the old cat sat down", draw: int = 0, row: int = 0) -> Paraphrase:
    return Paraphrase(row, str(row), "premise", original, text, "x", draw)


def test_steps_and_their_counts() -> None:
    said = ["The old cat sat down!", "a tired animal rested", "a tired animal rested.", "the old cat sat up"]
    said += ["one cat took a seat", "dogs bark"]
    ratings = {
        ("the old cat sat down", "a tired animal rested"): Rating(80.0, True),
        ("the old cat sat down", "one cat took a seat"): Rating(95.0, True),
        ("the old cat sat down", "dogs bark"): Rating(99.0, False),
    }
    steps = [filters.different(), filters.overlap(0.6), filters.grammatical(ratings), filters.rated(ratings)]
    left, counts = filtered([candidate(text, draw=i) for i, text in enumerate(said)], [*steps, filters.best()])
    assert [(c.step, c.candidates, c.texts) for c in counts] == [
        ("generated", 6, 1),
        ("not identical", 4, 1),
        ("overlap ≤ 0.6", 3, 1),
        ("grammatical", 2, 1),
        ("rated > 75", 2, 1),
        ("best of each text", 1, 1),
    ]
    assert [(c.text, c.score) for c in left] == [("one cat took a seat", 95.0)]


def test_a_verifier_asks_both_ways_and_embeddings_score() -> None:
    longer = lambda batch: ["entailed" if len(b["premise"]) >= len(b["hypothesis"]) else "no" for b in batch]  # noqa: E731
    step = filters.entailed_both_ways(entails_by(CallableSystem(longer)))
    left, _ = filtered([candidate("abc", "xyz"), candidate("abcd", "xyz")], [step])
    assert [c.text for c in left] == ["abc"]
    similar = filters.similar(lambda pairs: [0.9, 0.5], 0.8)
    left, _ = filtered([candidate("abc"), candidate("abd")], [similar])
    assert [(c.text, c.score) for c in left] == [("abc", 90.0)]
    with pytest.raises(UsageError, match="has no answer"):
        filtered([candidate("abc")], [filters.entailed_both_ways(entails_by(_Broken()))])


class _Broken(CallableSystem):
    def __init__(self) -> None:
        super().__init__(lambda batch: [])

    def predict(self, batch):  # type: ignore[no-untyped-def]
        from unswayed.systems.system import Failed

        return [Failed("out of order")] * len(batch)


def a_suite(place: Path) -> Path:
    """Two pairs: the first has both texts varied at once, the second one text in two draws."""
    examples = [Example(i, f"e{i}", {"premise": f"big dog {i}", "hypothesis": f"dog {i}"}, "yes") for i in (0, 1)]
    said = [
        (0, 0, {"premise": "large hound 0", "hypothesis": "hound 0"}),
        (1, 0, {"premise": "big dog 1", "hypothesis": "a hound 1"}),
        (1, 1, {"premise": "big dog 1", "hypothesis": "one hound 1"}),
    ]
    variants = [Variant(r, f"e{r}", d, "x", "paraphrase", "same", inputs, "yes", "") for r, d, inputs in said]
    write_suite(place, Manifest(task="classify", language="en"), lambda: examples, lambda: variants)
    return place


def test_sets_are_built_by_side(tmp_path: Path) -> None:
    suite = Suite(a_suite(tmp_path / "s"))
    assert len(list(candidates_of(suite))) == 4
    built, sides = build_suite(suite, tmp_path / "built")
    assert sides == {"side/hypothesis": 2, "side/both": 1, "side/premise": 1}
    texts = [(v.source, v.inputs["premise"], v.inputs["hypothesis"], v.gold) for v in built.variants()]
    assert texts == [
        ("side/hypothesis", "big dog 0", "hound 0", "yes"),
        ("side/premise", "large hound 0", "dog 0", "yes"),
        ("side/both", "large hound 0", "hound 0", "yes"),
        ("side/hypothesis", "big dog 1", "a hound 1", "yes"),
    ]
    (tmp_path / "wrong.tsv").write_text("# labels that no longer hold\ne0\tboth\n\ne1\thypothesis\n")
    _, sides = build_suite(suite, tmp_path / "fewer", tmp_path / "wrong.tsv")
    assert sides == {"side/hypothesis": 1, "side/premise": 1}


@pytest.mark.parametrize("line", ["e9\tboth", "e0\tsomething", "e0"])
def test_a_wrong_exclusion_is_named(tmp_path: Path, line: str) -> None:
    suite = Suite(a_suite(tmp_path / "s"))
    (tmp_path / "wrong.tsv").write_text(f"e0\tboth\n{line}\n")
    with pytest.raises(DataError, match=r"wrong\.tsv:2: this must be an example's id, a tab"):
        build_suite(suite, tmp_path / "built", tmp_path / "wrong.tsv")


def test_nothing_left_is_said(tmp_path: Path) -> None:
    with pytest.raises(NothingEvaluated, match="No paraphrase is left"):
        filter_suite(Suite(a_suite(tmp_path / "s")), [filters.overlap(0.0)], tmp_path / "none")


def test_ratings_are_averaged(tmp_path: Path) -> None:
    rows = [
        {"original": "a", "paraphrase": "b", "similarity": 80, "grammatical": True},
        {"original": "a", "paraphrase": "b", "similarity": 60, "grammatical": False},
        {"original": "a", "paraphrase": "c", "similarity": 100},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read_ratings(tmp_path / "r.jsonl") == {("a", "b"): (70.0, False), ("a", "c"): (100.0, True)}
    record = {"person": "p", "kind": "same_meaning", "item": "i", "asked": {"a": "a", "b": "b"}}
    said = [
        record | {"answer": {"similarity": 90, "grammatical": True}},
        record | {"person": "q", "answer": {"similarity": 0, "grammatical": False}, "counted": False},
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, said)))
    assert read_ratings(tmp_path / "x.jsonl") == {("a", "b"): (90.0, True)}, "who is excluded does not count"
    (tmp_path / "x.jsonl").write_text(json.dumps(said[1]))
    with pytest.raises(DataError, match="no rating that counts"):
        read_ratings(tmp_path / "x.jsonl")
    (tmp_path / "r.csv").write_text("original,paraphrase,similarity,grammatical\na,b,80,1\n")
    assert read_ratings(tmp_path / "r.csv") == {("a", "b"): (80.0, True)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"original": "a", "paraphrase": "b", "similarity": 101}', ":1: similarity must be from 0 to 100, not 101"),
        ('{"original": "a", "paraphrase": "b"}', ":1: similarity must be a number, not None"),
        ('{"original": "a", "similarity": 1}', ":1: there is no 'paraphrase' in this row"),
        ('{"original": "a", "paraphrase": "b", "similarity": 1, "grammatical": "so so"}', ":1: grammatical must be"),
        ("{", ":1: this is not a JSON object"),
        ("", ": there is no rating in it"),
    ],
)
def test_a_bad_rating_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "r.jsonl").write_text(content)
    with pytest.raises(DataError, match="r.jsonl" + message):
        read_ratings(tmp_path / "r.jsonl")


def test_the_commands(tmp_path: Path) -> None:
    a_suite(tmp_path / "s")
    run = lambda *words: commands.unswayed("paraphrase", *words, cwd=tmp_path, check=True)  # noqa: E731
    done = run("filter", "s", "-o", "kept", "--format", "json")
    steps = json.loads(done.stdout)
    assert [(s["step"], s["candidates"]) for s in steps][:2] == [("generated", 4), ("not identical", 4)]
    assert steps[-1] == {"step": "best of each text", "candidates": 3, "hypothesis": 2, "premise": 1, "texts": 3}
    assert "4 pairs in built: 2 hypothesis" in run("build", "kept", "-o", "built").stderr


@pytest.mark.parametrize("answer", ["LABEL_0", 0.3, None])
def test_a_verifier_that_does_not_judge_entailment_is_an_error(answer: object) -> None:
    system = CallableSystem(lambda batch: [answer for _ in batch])
    with pytest.raises(UsageError, match="answers one of entailed"):
        filtered([candidate("abc")], [filters.entailed_both_ways(entails_by(system))])
