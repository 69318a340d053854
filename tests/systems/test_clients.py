"""What a program has is a system as it is: clients of other libraries, on a server of one's own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.chat_server import chat_server

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".venv" / "clients" / "bin" / "python"  # openai, anthropic, litellm, langchain, …
KEY = "sk-of-the-client-123456"
IN_CHATS = ("openai", "openai, async", "azure", "anthropic", "anthropic, async", "litellm", "litellm, async",
            "litellm, module", "hugging face", "langchain, model")  # fmt: skip
IN_FUNCTIONS = ("langchain, messages", "langchain, function", "async def", "function of litellm")


def says(request: dict[str, Any], times: int) -> str:
    text = str(request["messages"][-1]["content"]).lower()
    return "<think>Is it a light?</think>\nLights." if "light" in text else "music"


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What the program beside this file found of each client; `keys` are those that the server got."""
    if not PYTHON.exists():
        if os.environ.get("CI"):
            pytest.fail("run `make .venv/.tools` first")
        pytest.skip("the clients are not installed")
    usual = {"PYTHONPATH": "", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONWARNINGS": "", "HF_HUB_OFFLINE": "0"}
    with chat_server(says) as server:
        command = [PYTHON, HERE / "clients_program.py", server.url]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **usual}, timeout=500)
        assert done.returncode == 0, done.stderr[-3000:]
        assert KEY not in done.stdout + done.stderr
        return {**json.loads(done.stdout.splitlines()[-1]), "keys": server.keys, "address": server.url}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*IN_CHATS, *IN_FUNCTIONS])
def test_each_client_answers_and_is_counted(found: dict[str, Any], name: str) -> None:
    client = found[name]
    assert client["clean"] == 1.0  # thoughts, capitals and marks aside
    assert client["asked"] == 12  # four texts and their variants, and four texts once more
    assert client["used"]["tokens out"] == 36
    assert client["used"]["cost"] == pytest.approx((client["used"]["tokens in"] + 2 * 36) / 1e6)
    assert client["again"]
    assert client["at once"] == (1 if name == "hugging face" else 8)  # whose makers do not say that it may be shared


@pytest.mark.slow
def test_a_client_is_the_same_system_as_its_url(found: dict[str, Any]) -> None:
    assert found["openai"]["identity"] == found["openai, async"]["identity"] == found["url"]
    identities = {found[name]["identity"] for name in IN_CHATS}
    assert len(identities) >= 6
    assert {
        found["address"] in i for i in (found["hugging face"]["identity"], found["langchain, model"]["identity"])
    } == {True}
    assert all(KEY not in identity for identity in identities)
    assert found["keys"] == {KEY, f"Bearer {KEY}"}


@pytest.mark.slow
def test_a_chain_of_texts_is_a_system(found: dict[str, Any]) -> None:
    # its parser gives the text as the model wrote it, and the label is "lights"
    assert found["langchain, chain"]["clean"] == 0.5


@pytest.mark.slow
def test_what_a_client_lacks_is_named(found: dict[str, Any]) -> None:
    assert "names a model" in found["no model"]
    assert "404" in found["wrong address"]
