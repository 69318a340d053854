"""A metric behind a real server on the loopback."""

from __future__ import annotations

import math

import pytest

from unfazed.core.errors import SystemBroken, UsageError
from unfazed.score.metrics import Item, Scores, open_metric


def test_items_go_out_and_scores_come_back(scripted) -> None:
    def lengths(body):
        return scripted.reply({"scores": [len(item["candidate"]) for item in body["items"]]})

    server = scripted(lengths)
    scores = Scores(open_metric(server.url + "/score#reference+source"))
    assert scores.score([Item("a" * (i + 1), "r", "s", "t") for i in range(100)]) == [float(i + 1) for i in range(100)]
    assert server.bodies[0]["items"][0] == {"candidate": "a", "reference": "r", "source": "s"}
    assert [len(body["items"]) for body in server.bodies] == [64, 36]
    scores.score([Item("aa", "r", "s")])
    assert len(server.bodies) == 2  # nothing is asked twice


def test_what_is_no_score_is_missing_and_a_bad_server_is_told_of(scripted) -> None:
    server = scripted(scripted.reply({"scores": [None]}))
    assert math.isnan(Scores(open_metric(server.url)).score([Item("a", "b")])[0])
    for bad in ({"scores": [1, 2]}, {"scores": ["high"]}, {"outputs": []}, []):
        metric = open_metric(scripted(scripted.reply(bad)).url)
        metric._client.retries = 0  # type: ignore[attr-defined]
        with pytest.raises(SystemBroken, match="gave no scores"):
            metric.scores([Item("a", "b")])
    with pytest.raises(UsageError, match="'gold' is none of them"):
        open_metric("http://127.0.0.1/score#gold")
