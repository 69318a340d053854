"""Metrics under test: sacreBLEU's numbers, YiSi-1 by hand, any function; nothing scored twice, NaN counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from unfazed.core.errors import DataError, SystemBroken, UnknownName, UsageError
from unfazed.core.task import task_named
from unfazed.score import scorers
from unfazed.score.metrics import Item, Metric, Scores, open_metric

FRMT = Path(__file__).parents[3] / "../shared/data/frmt/testdata"
PAIRS = [
    ("the cat sat on the mat", "the cat is on the mat"),
    ("O autocarro está atrasado.", "O ônibus está atrasado."),
    ("网路论坛软体", "互联网论坛软件 forum software"),
    ("ok", "ok"),
]
TEXT = st.text(alphabet="ab cd鼠标滑é.", max_size=20)


def scored(name: str, pairs: Sequence[tuple[str, str]]) -> list[float]:
    scores = Scores(open_metric(name))
    scores.learn([reference for _, reference in pairs])
    return scores.score(Item(candidate, reference) for candidate, reference in pairs)


def test_bleu_and_chrf_are_sacrebleus() -> None:
    tokenizers = ["13a", "13a", "zh", "13a"]
    expected = [sacrebleu.sentence_bleu(c, [r], tokenize=t).score for (c, r), t in zip(PAIRS, tokenizers, strict=True)]
    assert scored("bleu", PAIRS) == pytest.approx(expected, rel=1e-12)
    assert expected[-1] == pytest.approx(100)  # effective order: two letters can be right
    expected = [sacrebleu.sentence_chrf(c, [r]).score for c, r in PAIRS]
    assert scored("chrf", PAIRS) == pytest.approx(expected, rel=1e-12)


@pytest.mark.skipif(not FRMT.is_dir(), reason="../shared/data is not here")
@pytest.mark.parametrize("tag", ["pt-BR", "zh-CN"])
def test_frmts_own_values(tag: str) -> None:
    """FRMT's test data has outputs with the corpus BLEU and chrF that its authors expect."""
    texts = [
        [line.split("\t")[1] for line in (FRMT / name).read_text(encoding="utf-8").splitlines()]
        for name in (f"fake_{tag}_outputs.tsv", f"{tag[:2]}_random_dev_en_{tag}.tsv")
    ]
    *_, bleu, chrf = (FRMT / f"expected_{tag}_metrics.tsv").read_text(encoding="utf-8").splitlines()[2].split("\t")
    for name, expected in (("bleu", bleu), ("chrf", chrf)):
        scorer = scorers.get(name)()
        found = scorer.aggregate(scorer.stats(*texts, task_named("translate")).sum(axis=0))
        assert float(found) / 100 == pytest.approx(float(expected), abs=1e-12)


def test_yisi_by_hand() -> None:
    """Single units that are the same or have nothing in common: weighted precision and recall of words."""
    metric = open_metric("yisi1:n=1,alpha=0.7")
    metric.learn(["x y", "x z"])
    weight = {unit: math.log(1 + 3 / (count + 1)) for unit, count in {"x": 2, "y": 1, "z": 1, "q": 0}.items()}
    recall = weight["x"] / (weight["x"] + weight["y"])
    precision = weight["x"] / (weight["x"] + weight["q"])
    (found,) = metric.scores([Item("x q", "x y")])
    assert found == pytest.approx(precision * recall / (0.7 * precision + 0.3 * recall), abs=1e-5)


def test_yisi_with_vectors(tmp_path: Path) -> None:
    file = tmp_path / "words.vec"
    file.write_text("3 2\nbus 1 0\nônibus 0.8 0.6\ncat 0 1\n", encoding="utf-8")
    near, far, same, unknown = scored(
        f"yisi1:n=1,vectors={file}", [("bus", "ônibus"), ("bus", "cat"), ("bus", "bus"), ("dog", "bus")]
    )
    assert (near, far, same, unknown) == (pytest.approx(0.8, abs=1e-6), 0.0, 1.0, 0.0)
    file.write_text("bus 1 0\ncat 1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"words\.vec:2: this vector has 1 numbers, but the first has 2"):
        open_metric(f"yisi1:vectors={file}")
    with pytest.raises(DataError, match="no file of word vectors"):
        open_metric(f"yisi1:vectors={tmp_path}/none.vec")


@pytest.mark.parametrize("name", ["bleu", "chrf", "yisi1"])
@given(candidate=TEXT, reference=TEXT)
@settings(max_examples=40, deadline=None)
def test_a_metric_is_bounded_and_highest_for_the_reference(name: str, candidate: str, reference: str) -> None:
    other, same = scored(name, [(candidate, reference), (reference, reference)])
    assert -1e-6 <= other <= 100 + 1e-6
    if reference.strip():
        assert other <= same + 1e-6


class Counting(Metric):
    """Scores the length of a candidate, and remembers what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[Item] = []

    def scores(self, items: Sequence[Item]) -> Sequence[float]:
        self.asked += items
        return [math.nan if item.candidate == "nan" else float(len(item.candidate)) for item in items]


def test_nothing_is_scored_twice(tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"
    metric = Counting()
    items = [Item("a", "r"), Item("a", "r", "another source", "pt"), Item("nan", "r"), Item("bb", "r")]
    found = Scores(metric, file).score(items)
    assert found[:2] == [1.0, 1.0]
    assert math.isnan(found[2])
    assert len(metric.asked) == 3  # it does not look at sources and tags
    with file.open("ab") as cut:
        cut.write(b'["half a li')
    again = Counting()
    assert Scores(again, file).score(items)[3] == 2.0
    assert not again.asked
    same = Scores(again, file)
    same.learn(["other references"])  # from which this metric learns nothing
    same.score(items)
    assert not again.asked


def test_what_is_learnt_decides_scores() -> None:
    scores = Scores(open_metric("yisi1"))
    found = []
    for references in (["a b", "a c"], ["a b", "d b"]):
        scores.learn(references)
        found += scores.score([Item("a x", "a b")])
    assert found[0] < found[1]  # where a is rare, finding it counts more


def test_functions_are_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_metric.py").write_text(
        "def length(items):\n    return [len(i['candidate']) for i in items]\n"
        "def tagged(items):\n    return [i['tag'] == 'pt' for i in items]\n"
        "tagged.uses = ('tag',)\n"
        "def few(items):\n    return [1.0]\n"
        "def words(items):\n    return ['much' for _ in items]\n"
    )
    monkeypatch.chdir(tmp_path)
    assert Scores(open_metric("mine_metric:length")).score([Item("abc", "r")]) == [3.0]
    assert Scores(open_metric("mine_metric:tagged")).score([Item("a", tag="pt"), Item("a", tag="zh")]) == [1.0, 0.0]
    with pytest.raises(SystemBroken, match="gave 1 scores for 2 items"):
        Scores(open_metric("mine_metric:few")).score([Item("a", "r"), Item("b", "r")])
    with pytest.raises(SystemBroken, match="gave 'much' where a score was due"):
        Scores(open_metric("mine_metric:words")).score([Item("a", "r")])
    with pytest.raises(UsageError, match="needs a reference"):
        Scores(open_metric("bleu")).score([Item("a")])
    with pytest.raises(UnknownName, match="Did you mean 'chrf'"):
        open_metric("chrff")
    with pytest.raises(UnknownName, match="parameter of yisi1"):
        open_metric("yisi1:alhpa=0.5")
    with pytest.raises(UsageError, match="can't be made"):
        open_metric("yisi1:alpha=2")
