"""A noisy user is any simulated user whose turns alone are said differently; dialogues are counted by hand."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from samples.logs import DEEPEVAL, PROMPTFOO, VENV

import unswayed
from unswayed.base.errors import UsageError
from unswayed.run.texts import vary_texts

TEXT = "where is the parcel that I ordered on monday"
OPERATOR = "keyboard/adjacent"


class Object:
    """A user with state, who can be called as well."""

    def __init__(self) -> None:
        self.turns = 0

    def respond(self, history: list[Any]) -> str:
        self.turns += 1
        return TEXT

    def __call__(self, history: list[Any]) -> str:
        return self.respond(history)


async def later(history: list[Any]) -> str:
    await asyncio.sleep(0)
    return TEXT


@pytest.fixture
def typed() -> str:
    [text] = {unswayed.noisy(lambda: TEXT, OPERATOR, seed=5)() for _ in range(3)}
    assert text != TEXT
    return text


def test_functions_coroutines_and_objects_are_users(typed: str) -> None:
    wrapped = [unswayed.noisy(user, OPERATOR, seed=5) for user in (lambda history: TEXT, Object(), Object().respond)]
    assert [user([]) for user in wrapped] == [typed] * 3
    assert asyncio.run(unswayed.noisy(later, OPERATOR, seed=5)([])) == typed
    user = Object()
    noisy = unswayed.noisy(user, OPERATOR, seed=5)
    assert (noisy.respond([]), noisy([]), isinstance(noisy, Object)) == (typed, typed, True)
    assert (user.respond([]), user.turns, noisy.turns) == (TEXT, 1, 2)  # the clean one is as it was


def test_turns_may_be_texts_messages_objects_or_tuples(typed: str) -> None:
    class Turn:
        role, content = "user", TEXT

    def said(turn: Any) -> Any:
        return unswayed.noisy(lambda: turn, OPERATOR, seed=5)()

    assert said({"role": "user", "content": TEXT, "name": "a"}) == {"role": "user", "content": typed, "name": "a"}
    assert said(Turn()).content == typed
    assert Turn().content == TEXT
    assert said((TEXT, {"cost": 1})) == (typed, {"cost": 1})
    agent = {"role": "assistant", "content": TEXT}
    assert [said(other) for other in (None, 7, agent, "", "###STOP###")] == [None, 7, agent, "", "###STOP###"]
    assert said(f"{TEXT} ###STOP###").endswith(" ###STOP###")
    assert said(f"{TEXT} ###STOP###") != f"{TEXT} ###STOP###"
    system = {"role": "system", "content": TEXT}
    assert unswayed.noisy([system, {"role": "user", "content": TEXT}, agent], OPERATOR, seed=5) == [
        system, {"role": "user", "content": typed}, agent,
    ]  # fmt: skip


def test_another_draw_or_seed_is_other_noise() -> None:
    found = {unswayed.noisy(lambda: TEXT, OPERATOR, seed=seed, draw=draw)() for seed in (1, 2) for draw in (0, 1)}
    assert len(found) == 4
    assert all(len(text) == len(TEXT) for text in found)
    assert vary_texts([TEXT], OPERATOR, seed=1) != [TEXT]


def test_what_is_no_user_is_refused() -> None:
    class Odd:
        def utter(self) -> str:
            return TEXT

    assert unswayed.noisy(Odd(), OPERATOR, seed=5, method="utter").utter() != TEXT
    for wrong in (7, object(), Odd, Odd()):
        with pytest.raises(UsageError, match=r"must be a function|no method"):
            unswayed.noisy(wrong, OPERATOR)
    with pytest.raises(UsageError, match="no method 'speak'"):
        unswayed.noisy(Odd(), OPERATOR, method="speak")


SCRIPTS = [
    {"id": name, "user": [f"please {verb} my parcel number {n}", "thank you very much"],
     "calls": [{"name": verb, "arguments": {"number": n}}]}
    for n, (name, verb) in enumerate([("a", "track"), ("b", "cancel"), ("c", "track"), ("d", "cancel")])
]  # fmt: skip


def shop(user: Any, script: Any) -> list[dict[str, Any]]:
    """A loop of one's own, with a scripted agent that calls a tool if it knows the word."""
    messages: list[dict[str, Any]] = []
    while "###STOP###" not in (said := user.respond(messages)):
        messages.append({"role": "user", "content": said})
        calls = [
            {"function": {"name": verb, "arguments": {"number": int(said.split()[-1])}}}
            for verb in ("track", "cancel")
            if f" {verb} " in said
        ]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
    return messages


def test_pass_k_is_a_hand_count() -> None:
    """Of four trials, a script passes in as many as are listed: clean 4, 3, 4, 0, noisy 4, 1, 3, 0."""
    passes = {"a": (4, 4), "b": (3, 1), "c": (4, 3), "d": (0, 0)}
    count = {
        (name, side): cycle([True] * n[side] + [False] * (4 - n[side])) for name, n in passes.items() for side in (0, 1)
    }

    def play(user: Any, script: Any) -> dict[str, Any]:
        noisy = type(user).__name__ == "ScriptedUser" and user.respond() not in script["user"]
        return {"messages": [], "reached": next(count[script["id"], int(noisy)])}

    found = unswayed.compare_dialogues(play, SCRIPTS, operators=OPERATOR, trials=4, seed=1)
    clean, varied, difference = found.measures["pass^4"]
    assert (clean, varied) == (2 / 4, 1 / 4)
    assert found.measures["reached"][:2] == (11 / 16, 8 / 16)
    assert difference.value == pytest.approx(-0.25)
    assert difference.p == pytest.approx(1.0)  # one script of four
    assert found.changed == ["b", "c"]
    with_none = unswayed.compare_dialogues(play, SCRIPTS, operators=OPERATOR, trials=2)
    assert "pass^2" in with_none.measures


def test_calls_and_where_they_part() -> None:
    found = unswayed.compare_dialogues(shop, SCRIPTS * 4, operators=OPERATOR, trials=2, draws=3, seed=3)
    assert found.measures["reached"][0] == 1.0
    assert found.measures["same calls in order"][0] == 1.0  # the agent always does the same
    lost = 1 - found.measures["reached"][1]
    assert 0 < lost < 1
    assert found.measures["same calls in order"][1] == pytest.approx(1 - lost)
    assert set(found.parted["clean"]) == {0}
    assert found.parted["noisy"].keys() <= {0, 1}  # the first turn of the agent is the one with the call
    assert found.parted["noisy"][1] == round(lost * 16 * 3 * 2 * 2)
    assert found.sentences[0].startswith("With the noisy user the goal is reached in ")
    assert len(found) == len(list(found)) == 4


def test_the_loops_own_chance_is_told_from_the_noise() -> None:
    """An agent that wavers by itself parts as often from a clean dialogue as from a noisy one."""
    turn = cycle([True, False])

    def play(user: Any, script: Any) -> dict[str, Any]:
        call = {"function": {"name": "track" if next(turn) else "ask", "arguments": {}}}
        return {"messages": [{"role": "assistant", "tool_calls": [call]}], "reached": True}

    found = unswayed.compare_dialogues(play, SCRIPTS, operators=OPERATOR, trials=4)
    clean, varied, _ = found.measures["same calls in order"]
    assert clean == pytest.approx(2 / 6)
    assert varied == pytest.approx(1 / 2)
    assert "not shown to be more than the loop's own chance" in found.sentences[2]


def test_calls_in_another_order_are_the_same_calls() -> None:
    orders = cycle([("a", "b"), ("b", "a")])

    async def play(user: Any, script: Any) -> list[dict[str, Any]]:
        return [{"role": "assistant", "tool_calls": [{"name": name, "arguments": {}} for name in next(orders)]}]

    scripts = [{"user": [TEXT], "calls": [{"name": "b", "arguments": {}}, {"name": "a", "arguments": {}}]}]
    found = unswayed.compare_dialogues(play, scripts, operators=OPERATOR, trials=2)
    assert found.measures["reached"][:2] == (1.0, 1.0)
    assert found.measures["same calls in any order"][:2] == (1.0, 1.0)
    assert found.measures["same calls in order"][0] == 0.0


def test_what_a_loop_must_return_is_said() -> None:
    for wrong, scripts, why in (
        ("no", SCRIPTS, "play must return a list of messages"),
        ([], [{"user": [TEXT]}], "Nothing says whether a goal is reached"),
        ([], [{"id": 1}], "A script needs 'user'"),
        ([], [], "at least one script"),
    ):
        with pytest.raises(UsageError, match=why):
            unswayed.compare_dialogues(lambda user, script, said=wrong: said, scripts)


_SIMULATED = """
import asyncio, warnings
warnings.filterwarnings("ignore")
from deepeval.dataset import ConversationalGolden
from deepeval.models import DeepEvalBaseLLM
from deepeval.simulator import ConversationSimulator
from deepeval.test_case import Turn
import unswayed

TEXT = "where is the parcel that I ordered on monday"

class Scripted(DeepEvalBaseLLM):
    def load_model(self): return self
    def get_model_name(self): return "scripted"
    def generate(self, prompt, schema=None):
        if schema is None: return TEXT
        fields = {name: (TEXT if field.annotation is str else False) for name, field in schema.model_fields.items()}
        return schema(**fields)
    async def a_generate(self, prompt, schema=None): return self.generate(prompt, schema)

heard = []
def agent(input, turns=None, thread_id=None):
    heard.append(input)
    return Turn(role="assistant", content="let me see")

for mode in (False, True):
    heard.clear()
    clean = ConversationSimulator(model_callback=agent, simulator_model=Scripted(), async_mode=mode)
    user = unswayed.noisy(clean, "keyboard/adjacent", seed=5, language="en")
    golden = ConversationalGolden(scenario="A parcel is late.", expected_outcome="It is found.")
    [case] = user.simulate([golden], max_user_simulations=2)
    said = [turn.content for turn in case.turns if turn.role == "user"]
    assert said and said == heard and TEXT not in said, (said, heard)
    heard.clear()
    [case] = clean.simulate([golden], max_user_simulations=1)
    assert heard == [TEXT], heard
print("told", said[0])
"""


@pytest.mark.slow
def test_deepevals_simulated_user_from_its_package(tmp_path: Path, typed: str) -> None:
    if not DEEPEVAL.exists():
        pytest.skip("DeepEval is not installed; `make test` installs it")
    environment = {**os.environ, "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "HOME": str(tmp_path)}
    done = subprocess.run(
        [str(DEEPEVAL), "-c", _SIMULATED], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert f"told {typed}" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


_AGENT = """
import json
import unswayed

def call_api(prompt, options, context):
    heard = unswayed.noisy(json.loads(prompt), "keyboard/adjacent", seed=5)
    return {"output": "I heard: " + heard[-1]["content"]}
"""


@pytest.mark.slow
def test_promptfoos_simulated_user_is_noisy_to_the_agent(tmp_path: Path, typed: str) -> None:
    """Its user speaks from promptfoo's server, which is replaced here, within promptfoo's own loop in Node."""
    if not PROMPTFOO.exists():
        pytest.skip("promptfoo is not installed; `make test` installs it from npm")

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"result": TEXT, "tokenUsage": {"total": 1, "prompt": 1, "completion": 0}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    config = {
        "prompts": ["You work in a shop."],
        "providers": ["file://agent.py"],
        "defaultTest": {"provider": {"id": "promptfoo:simulated-user", "config": {"maxTurns": 2}}},
        "tests": [{"vars": {"instructions": "Ask for your parcel."}}],
    }
    (tmp_path / "agent.py").write_text(_AGENT)
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        own = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "HOME": str(tmp_path)}
        own |= {"PROMPTFOO_REMOTE_GENERATION_URL": f"http://127.0.0.1:{server.server_port}/", "no_proxy": "*"}
        own |= {"PROMPTFOO_PYTHON": sys.executable, "PATH": f"{VENV / 'bin'}:{os.environ['PATH']}"}
        own |= {"PROMPTFOO_CONFIG_DIR": str(tmp_path / "own")}
        command = [str(PROMPTFOO), "eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-cache", "--no-table"]
        done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=300)
        server.shutdown()
    assert (tmp_path / "out.json").exists(), done.stdout + done.stderr
    [result] = json.loads((tmp_path / "out.json").read_text())["results"]["results"]
    assert result["response"]["output"].count(f"I heard: {typed}") == 2, result
