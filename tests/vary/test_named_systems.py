"""Operators that ask a system which a parameter names: what they make is decided by that system as it is today."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unswayed.base.options import OperatorSpec
from unswayed.vary.engine import describe_operator


@pytest.mark.parametrize(
    ("operator", "parameter"), [("paraphrase/chat", "url"), ("meaning/chat", "url"), ("speech/roundtrip", "asr")]
)
@pytest.mark.parametrize("spec", ["answering:answer", "cmd:cat answering.py"])
def test_a_system_that_is_edited_makes_another_plan(
    operator: str, parameter: str, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    described = []
    for answer in ("one", "one", "another"):
        Path("answering.py").write_text(f"def answer(batch):\n    return [{answer!r} for _ in batch]\n")
        monkeypatch.delitem(sys.modules, "answering", raising=False)
        described.append(describe_operator(OperatorSpec(operator, {parameter: spec})))
    assert described[0] == described[1] != described[2]


def test_a_server_is_known_by_its_address() -> None:
    params = {"url": "http://127.0.0.1:9/v1", "model": "m"}
    assert "system_id" not in str(describe_operator(OperatorSpec("paraphrase/chat", params)))
