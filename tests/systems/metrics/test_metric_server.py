"""A metric behind a real server on the loopback."""

from __future__ import annotations

import math

import pytest

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.systems import Metric, Scores, Segment, open_system


def test_items_go_out_and_scores_come_back(scripted) -> None:
    def lengths(body):
        return scripted.reply({"scores": [len(item["candidate"]) for item in body["items"]]})

    server = scripted(lengths)
    scores = Scores(open_system(server.url + "/score#reference+source", Metric))
    assert scores.score([Segment("a" * (i + 1), "r", "s", "t") for i in range(100)]) == [
        float(i + 1) for i in range(100)
    ]
    assert server.bodies[0]["items"][0] == {"candidate": "a", "reference": "r", "source": "s"}
    assert [len(body["items"]) for body in server.bodies] == [64, 36]
    scores.score([Segment("aa", "r", "s")])
    assert len(server.bodies) == 2  # nothing is asked twice


def test_what_is_no_score_is_missing_and_a_bad_server_is_told_of(scripted) -> None:
    server = scripted(scripted.reply({"scores": [None]}))
    assert math.isnan(Scores(open_system(server.url, Metric)).score([Segment("a", "b")])[0])
    for bad in ({"scores": [1, 2]}, {"scores": ["high"]}, {"outputs": []}, []):
        metric = open_system(scripted(scripted.reply(bad)).url, Metric)
        metric.retries = 0
        with pytest.raises(SystemBroken, match="gave no scores"):
            metric.scores([Segment("a", "b")])
    with pytest.raises(UsageError, match="not at 'gold'"):
        open_system("http://127.0.0.1/score#gold", Metric)
