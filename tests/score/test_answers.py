"""CMRC2018's scores by hand."""

from __future__ import annotations

import pytest

from unswayed.base.task import task_named
from unswayed.score import scorers

QA = task_named("qa")


def score(name, output, gold):
    return float(scorers.get(name)().stats([output], [gold], QA)[0, 0])


def gold(*texts):
    return {"answers": [{"text": text, "start": i} for i, text in enumerate(texts)]}


@pytest.mark.parametrize(
    ("output", "golds", "right"),
    [
        ("光荣和ω-force", ["光荣和ω-force"], 1),
        ("《光荣》和Ω-Force。", ["光荣和ω-force"], 1),  # capitals and listed marks do not count
        ("光荣 和", ["光荣和"], 0),  # spaces inside do
        (" 光荣和 ", ["光荣和"], 1),  # around the answer they don't
        ("光荣", ["别的", "光荣", "再一个"], 1),  # any of the answers
        ("光荣公司", ["光荣"], 0),
        ("3.5%", ["3.5%"], 1),
        ("35%", ["3.5%"], 0),  # the full stop and the per cent sign are not on the list
        ("等…", ["等"], 0),  # nor, in effect, is the ellipsis
        ("", ["光荣"], 0),
    ],
)
def test_cmrc_exact_match(output, golds, right):
    assert score("cmrc_exact_match", output, gold(*golds)) == right


@pytest.mark.parametrize(
    ("output", "golds", "f1"),
    [
        ("北京大学", ["北京大学"], 1.0),
        ("北京", ["北京大学"], 2 * 2 / (2 + 4)),
        ("在北京的大学", ["北京大学"], 2 * 2 / (6 + 4)),  # only the longest stretch counts
        ("上海", ["北京大学"], 0.0),
        ("上海", ["北京", "上海市"], 2 * 2 / (2 + 3)),  # the best of the answers
        ("Windows XP系统", ["windows xp"], 2 * 2 / (4 + 2)),  # a Latin word is one unit
        ("。", ["北京"], 0.0),
    ],
)
def test_cmrc_f1(output, golds, f1):
    assert score("cmrc_f1", output, gold(*golds)) == pytest.approx(f1)
