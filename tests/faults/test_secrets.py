"""A key that a command, an address or the environment holds is in nothing that is kept or printed."""

from __future__ import annotations

import sys
from pathlib import Path

import commands
import pytest

from unswayed.base import secrets
from unswayed.base.errors import UsageError
from unswayed.systems import Rewriter, open_system

KEY, OTHER = "sk-9fQ2xLw81-verysecret", "sk-quite-another-77"
# Fails on some items and says its own command line, as programs do.
PROGRAM = """import json, sys
for line in sys.stdin:
    r = json.loads(line)
    text = r["inputs"]["text"]
    if "number 3" in text:
        print(json.dumps({"id": r["id"], "error": "refused by the server: " + " ".join(sys.argv[1:])}), flush=True)
    else:
        print(json.dumps({"id": r["id"], "output": "ab"[len(text) % 2] + sys.argv[2]}), flush=True)
"""
REWRITER = """import json, sys
for line in sys.stdin:
    r = json.loads(line)
    n, text = int(r["inputs"]["n"]), r["inputs"]["text"]
    print(json.dumps({"id": r["id"], "output": [f"{text}, please {i}" for i in range(n)]}), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = "".join(f'{{"text": "number {i}", "label": "{"ab"[i % 2]}"}}\n' for i in range(12))
    (tmp_path / "mine.jsonl").write_text(rows)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "rewriter.py").write_text(REWRITER)
    return tmp_path


def holding(folder: Path, secret: str) -> list[str]:
    """The files that have the secret in them; the programs are the user's own."""
    return [str(file) for file in sorted(folder.rglob("*")) if file.is_file() and secret.encode() in file.read_bytes()]


@pytest.mark.parametrize("way", ["option", "environment", "named", "plan"])
def test_a_key_in_a_command_is_kept_nowhere(place: Path, way: str) -> None:
    option = "--api-key" if way == "option" else "--with"
    run = f"cmd:{sys.executable} program.py {option} KEY"
    told = {"option": [], "environment": [], "named": ["--secret", "KEY"], "plan": ["--plan", "plan.toml"]}[way]
    (place / "plan.toml").write_text('[run]\nsecret_env = ["MINE"]\n')
    commands.unswayed(
        "vary", "mine.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "-o", "suite", cwd=place, check=True
    )
    printed, records = [], []
    for key in (KEY, OTHER):
        words = [word.replace("KEY", key) for word in ("--system", run, *told)]
        env = {"environment": {"SERVICE_TOKEN": key}, "plan": {"MINE": key}}.get(way)
        done = commands.unswayed(
            "run", "suite", *words, "-o", "run", "--allow-missing", "1", "--no-sanity", "--junit", "junit.xml",
            "--format", "json", cwd=place, env=env,
        )  # fmt: skip
        assert done.returncode in (0, 1, 5), done.stderr
        printed.append(done)
        records.append((place / "run/run.json").read_bytes())
    assert records[0] == records[1], "another key is no other system: its answers are still good"
    commands.unswayed("report", "run", "-o", "report.html", cwd=place)
    for key in (KEY, OTHER):
        assert not holding(place, key)
        assert all(key not in done.stdout + done.stderr for done in printed)
    assert "***" in (place / "run/run.json").read_text()


def test_a_key_in_an_operators_command_is_not_in_the_suite(place: Path) -> None:
    plans = []
    for key in (KEY, OTHER):
        command = f"cmd:{sys.executable} rewriter.py --api-key {key}"
        done = commands.unswayed(
            "vary", "mine.jsonl", "--with", "paraphrase/chat", "--param", f"url={command}", "-o", "suite", cwd=place
        )
        assert done.returncode == 0, done.stderr
        assert key not in done.stdout + done.stderr
        assert not holding(place, key)
        plans.append((place / "suite/manifest.json").read_bytes())
    assert plans[0] == plans[1], "another key makes no other suite"
    assert b"***" in plans[0]


def test_a_broken_program_does_not_give_its_key_away(place: Path) -> None:
    (place / "program.py").write_text("import sys\nsys.exit('bad credentials: ' + ' '.join(sys.argv))\n")
    commands.unswayed(
        "vary", "mine.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "-o", "suite", cwd=place, check=True
    )
    command = f"cmd:{sys.executable} program.py --token={KEY}"
    done = commands.unswayed("run", "suite", "--system", command, "-o", "run", cwd=place)
    assert done.returncode == 3
    assert "bad credentials" in done.stderr
    assert KEY not in done.stderr + done.stdout
    assert not holding(place, KEY)


FUNCTION = """import os
def predict(batch):
    return [answer(item["text"]) for item in batch]
def answer(text):
    key = os.environ["SERVICE_KEY"]
    if "number 3" in text or "BROKEN" in os.environ:
        raise ConnectionError("401 from https://h/v1?k=" + key + " " + "x" * 1940 + key)
    return "ab"[len(text) % 2]
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_key_in_an_exception_of_the_users_code_is_kept_nowhere(place: Path, workers: str) -> None:
    (place / "function.py").write_text(FUNCTION)
    env = {"SERVICE_KEY": KEY}
    commands.unswayed("vary", "mine.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "-o", "suite", cwd=place,
                      check=True)  # fmt: skip
    words = ("run", "suite", "--system", "function:predict", "--workers", workers, "--no-sanity", "--debug")
    done = [commands.unswayed(*words, "-o", "run", "--junit", "junit.xml", cwd=place, env=env)]
    assert "items failed" in done[0].stderr
    for more in (("--format", "json"), ("--format", "md"), ("-o", "report.html", "--no-sanity")):
        done.append(commands.unswayed("report", "run", *more, cwd=place, env=env))
    done.append(commands.unswayed(*words, "-o", "broken", cwd=place, env={**env, "BROKEN": "1"}))
    assert "ConnectionError: 401 from" in done[-1].stderr
    assert not holding(place, KEY)
    for one in done:
        assert KEY[:12] not in one.stdout + one.stderr
    assert "401 from" in (place / "report.html").read_text()


def test_a_key_goes_over_http_to_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    template = {"model": "m"}
    for options in ({}, template):
        with pytest.raises(UsageError, match=r"others could read the key.*insecure="):
            open_system("http://192.0.2.1/v1", key_env="MY_KEY", **options)
        with pytest.raises(UsageError, match="others could read the key"):
            open_system(f"http://example.org/v1?api_key={KEY}", **options)
        open_system("http://192.0.2.1/v1", key_env="MY_KEY", insecure=True, **options).close()
        for here in ("http://127.0.0.1:9/v1", "http://127.8.8.8/v1", "http://[::1]/v1", "https://example.org/v1"):
            open_system(here, key_env="MY_KEY", **options).close()
    done = commands.unswayed("run", "nowhere", "--system", "http://192.0.2.1/v1", "--key-env", "MY_KEY", "-o", "run")
    assert done.returncode != 0


def test_a_key_in_an_address_is_no_part_of_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_told", [])
    for model in ({}, {"model": "m"}):
        one, other = (open_system(f"https://h/v1?a=1&key={key}", **model) for key in (KEY, OTHER))
        assert one.identity == other.identity
        assert KEY not in one.identity + one.name
        assert open_system("https://h/v1?a=2&key=x", **model).identity != one.identity
    with pytest.raises(UsageError, match="user or a password") as raised:
        open_system(f"https://me:{KEY}@h/v1")
    assert KEY not in str(raised.value)
    rewriter = open_system(f"cmd:{sys.executable} --api-key {KEY}", Rewriter)
    assert KEY not in rewriter.name + rewriter.identity
