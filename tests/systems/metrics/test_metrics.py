"""Metrics under test: sacreBLEU's numbers, YiSi-1 by hand, any function; nothing scored twice, NaN counted."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import DataError, SystemBroken, UnknownName, UsageError
from unswayed.base.task import task_named
from unswayed.score import scorers
from unswayed.storage.answers import AnswerStore
from unswayed.systems import Metric, Scores, Segment, open_system

FRMT = Path(__file__).parents[3] / "../shared/data/frmt/testdata"
PAIRS = [
    ("the cat sat on the mat", "the cat is on the mat"),
    ("O autocarro está atrasado.", "O ônibus está atrasado."),
    ("网路论坛软体", "互联网论坛软件 forum software"),
    ("ok", "ok"),
]
TEXT = st.text(alphabet="ab cd鼠标滑é.", max_size=20)


def scored(name: str, pairs: Sequence[tuple[str, str]]) -> list[float]:
    scores = Scores(open_system(name, Metric))
    scores.learn([reference for _, reference in pairs])
    return scores.score(Segment(candidate, reference) for candidate, reference in pairs)


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
    metric = open_system("yisi1:n=1,alpha=0.7", Metric)
    metric.learn(["x y", "x z"])
    weight = {unit: math.log(1 + 3 / (count + 1)) for unit, count in {"x": 2, "y": 1, "z": 1, "q": 0}.items()}
    recall = weight["x"] / (weight["x"] + weight["y"])
    precision = weight["x"] / (weight["x"] + weight["q"])
    (found,) = metric.scores([Segment("x q", "x y")])
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
        open_system(f"yisi1:vectors={file}", Metric)
    with pytest.raises(DataError, match="not a file of word vectors"):
        open_system(f"yisi1:vectors={tmp_path}/none.vec", Metric)


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
        self.asked: list[Segment] = []

    def scores(self, items: Sequence[Segment]) -> Sequence[float]:
        self.asked += items
        return [math.nan if item.candidate == "nan" else float(len(item.candidate)) for item in items]


def test_nothing_is_scored_twice(tmp_path: Path) -> None:
    metric = Counting()
    items = [Segment("a", "r"), Segment("a", "r", "another source", "pt"), Segment("nan", "r"), Segment("bb", "r")]
    with AnswerStore.writer(tmp_path / "scores") as store:
        found = Scores(metric, store).score(items)
    assert found[:2] == [1.0, 1.0]
    assert math.isnan(found[2])
    assert len(metric.asked) == 3  # it does not look at sources and tags
    again = Counting()
    with AnswerStore.writer(tmp_path / "scores") as store:
        assert Scores(again, store).score(items)[3] == 2.0
        checked = len(again.asked)
        assert checked == 3  # stored scores are checked once before they are used
        same = Scores(again, store)
        same.learn(["other references"])  # from which this metric learns nothing
        same.score(items)
    assert len(again.asked) == checked


def test_what_is_learnt_decides_scores() -> None:
    scores = Scores(open_system("yisi1", Metric))
    found = []
    for references in (["a b", "a c"], ["a b", "d b"]):
        scores.learn(references)
        found += scores.score([Segment("a x", "a b")])
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
    assert Scores(open_system("mine_metric:length", Metric)).score([Segment("abc", "r")]) == [3.0]
    assert Scores(open_system("mine_metric:tagged", Metric)).score(
        [Segment("a", tag="pt"), Segment("a", tag="zh")]
    ) == [1.0, 0.0]
    with pytest.raises(SystemBroken, match="returned 1 outputs for 2 inputs"):
        Scores(open_system("mine_metric:few", Metric)).score([Segment("a", "r"), Segment("b", "r")])
    with pytest.raises(SystemBroken, match="gave 'much' where a score was due"):
        Scores(open_system("mine_metric:words", Metric)).score([Segment("a", "r")])
    with pytest.raises(UsageError, match="needs a reference"):
        Scores(open_system("bleu", Metric)).score([Segment("a")])
    with pytest.raises(UnknownName, match="Did you mean 'chrf'"):
        open_system("chrff", Metric)
    with pytest.raises(UnknownName, match="parameter of yisi1"):
        open_system("yisi1:alhpa=0.5", Metric)
    with pytest.raises(UsageError, match="can't be made"):
        open_system("yisi1:alpha=2", Metric)
    with pytest.raises(UsageError, match="can't be made with n=two"):
        open_system("yisi1:n=two", Metric)


def test_any_system_is_a_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program, a class of a module, and a registered name in the general grammar."""
    (tmp_path / "program.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    score = len(asked['inputs']['candidate']) - len(asked['inputs']['reference'])\n"
        "    print(json.dumps({'id': asked['id'], 'output': score}), flush=True)\n"
    )
    metric = open_system(f"cmd:{sys.executable} {tmp_path / 'program.py'}", Metric)
    assert Scores(metric).score([Segment("abc", "a"), Segment("a", "a")]) == [2.0, 0.0]
    metric.close()
    assert isinstance(open_system("yisi1:alpha=0.5"), Metric)
    assert open_system("yisi1:alpha=0.5").identity != open_system("yisi1").identity


def test_an_edited_module_is_another_metric(tmp_path: Path) -> None:
    """A function and a class, in processes of their own, as edited modules are met."""
    source = (
        "from unswayed.systems import Metric\n"
        "def score(items):\n    return [{} for item in items]\n"
        "class Mine(Metric):\n    def scores(self, segments):\n        return score(segments)\n"
    )
    code = (
        "from unswayed.systems import Metric, open_system\n"
        "print(open_system('mm:score', Metric).identity, open_system('mm:Mine', Metric).identity, sep='|')\n"
    )
    seen = []
    for value in ("1.0", "2.0", "1.0"):
        (tmp_path / "mm.py").write_text(source.format(value))
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        seen.append(done.stdout.strip().split("|"))
    assert seen[0] == seen[2]
    assert seen[0][0] != seen[1][0]
    assert seen[0][1] != seen[1][1]


def test_a_metric_that_is_asked_as_another_system_says_what_it_is():
    with pytest.raises(UsageError, match="bleu is a metric"):
        open_system("bleu").predict([{"text": "a text"}])


def test_stored_scores_stay_those_of_the_same_metric() -> None:
    """Identities as they were when the first scores were stored; another one would have all be asked for again."""
    adapted = open_system(lambda batch: [1.0 for _ in batch], Metric, identity="mine 1")
    assert adapted.identity == "metric 78ee585d50d38cf67d4b54db7c98c992"
    assert (
        open_system("http://127.0.0.1:9/score#source+tag", Metric).identity == "metric 5b51e704199698d944c9dacf42ad25b3"
    )
