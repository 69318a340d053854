"""Secrets are found by name, and masked; everything else stays as it is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from unswayed.base import secrets
from unswayed.base.errors import UsageError
from unswayed.base.secrets import hide, masked, masked_command, masked_data, masked_spec, masked_url

KEY = "sk-9fQ2xLw81"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_told", [])


@pytest.mark.parametrize(
    "spec",
    [
        f"cmd:node a.js --api-key {KEY} --top 3",
        f"cmd:node a.js --api-key={KEY}",
        f"cmd:node a.js --apikey {KEY}",
        f"cmd:node a.js --openai-api-key '{KEY}'",
        f"cmd:python a.py --token={KEY}",
        f"cmd:python a.py -token {KEY}",
        f"cmd:python a.py --password {KEY}",
        f"cmd:python a.py --client_secret {KEY}",
        f"cmd:python a.py --key {KEY}",
        f"cmd:env OPENAI_API_KEY={KEY} python a.py",
        f"cmd:python a.py --set api_key={KEY}",
        f"cmd:curl -H 'Authorization: Bearer {KEY}' https://h/x",
        f'cmd:curl --header="X-Api-Key: {KEY}" https://h/x',
        f"cmd:curl -u me:{KEY} https://h/x",
        f"cmd:curl https://me:{KEY}@h/x",
        f"cmd:curl 'https://h/x?a=1&key={KEY}&b=2'",
        f"cmd:curl https://h/x?access_token={KEY}",
        f"cmd:sh -c \"curl -H 'Authorization: Bearer {KEY}' https://h/x\"",
        f"cmd:sh -c 'exec node a.js --api-key {KEY}'",
        f"command:whisper --api-key {KEY}",
        f"https://h/v1?api-key={KEY}",
        f"https://h/score?sig={KEY}#source",
    ],
)
def test_a_secret_is_masked_by_the_name_of_its_option(spec: str) -> None:
    shown = masked_spec(spec)
    assert KEY not in shown
    assert "***" in shown
    assert shown == masked_spec(spec.replace(KEY, "sk-another88key")), "another key is no other system"
    assert masked(f"it failed on {KEY}!") == "it failed on ***!", "wherever it stands"


@pytest.mark.parametrize(
    "spec",
    [
        "cmd:node my_system.js",
        "cmd:node a.js --max-tokens 5 --pad-token '<pad>' --eos-token </s> --key label --sort-key name",
        "cmd:python a.py --model 'my model' --keys a,b --tokenizer bert --author me --secretary x --monkey=coco",
        "cmd:python a.py --key-env OPENAI_API_KEY --token-file /run/secrets/token",
        "http://127.0.0.1:8000/v1#model",
        "https://h/x?a=1&b=2&page=3",
        "module:function",
    ],
)
def test_what_is_no_secret_stays_as_it_is(spec: str) -> None:
    assert masked_spec(spec) == spec


def test_values_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", KEY)
    monkeypatch.setenv("EDITOR", "editor-9x81")
    assert masked_command(["run", f"--with={KEY}", "x", f"a{KEY}b", "editor-9x81"]) == [
        "run", "--with=***", "x", "a***b", "editor-9x81",
    ]  # fmt: skip


def test_the_environments_secrets_are_masked_wherever_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "id.pem").touch()
    told = {"OPENAI_API_KEY": KEY, "DB_PASSWORD": "correcthorse", "A_TOKEN": "k&9/x y", "B_SECRET_2": 'q"uote\\7'}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
        assert masked(f"401: {value}.") == "401: ***."
        assert KEY not in str(UsageError(f"refused: {value}"))
        in_json = secrets.without_known_bytes(msgspec.json.encode({"error": f"by {value}"}))
        assert in_json == b'{"error":"by ***"}'
    assert masked("GET /?q=k%269%2Fx%20y") == "GET /?q=***", "as an address has it"
    ordinary = {"SORT_KEY": "created", "PRIMARY_KEY": "1", "X_TOKEN": "music", "PAD_TOKEN": "<|padding|>",
                "SSH_KEY": str(tmp_path / "id.pem"), "KEYBOARD": "qwerty-12", "N_TOKENS_MAX": "40961234"}  # fmt: skip
    for name, value in ordinary.items():
        monkeypatch.setenv(name, value)
        assert masked(f"so {value}.") == f"so {value}.", name


def test_plain_words_are_masked_only_where_they_were_found() -> None:
    assert masked_spec("cmd:a --password music") == "cmd:a --password ***"
    assert masked("play music") == "play music"
    hide(["music"], named=True)
    assert masked("play music") == "play ***", "named by the user"


def test_options_and_parameters() -> None:
    given = {"body": {"api_key": KEY, "n": 3}, "url": f"cmd:a --token {KEY}", "max_tokens": 5, "names": ["a"]}
    kept = masked_data(given)
    assert KEY not in str(kept)
    assert kept["body"]["n"] == 3
    same = {"top_k": 50, "url": "http://h/v1", "token": ""}
    assert masked_data(same) is same


def test_an_escaped_secret_in_json_is_masked_too() -> None:
    hide(['se"cret\\9'])
    assert secrets.without_known_bytes(b'{"a": "se\\"cret\\\\9"}') == b'{"a": "***"}'


def test_addresses() -> None:
    assert masked_url(f"https://h/v1?deployment=a&code=1&key={KEY}") == "https://h/v1?deployment=a&code=1&key=***"


def test_a_text_that_looks_like_a_command() -> None:
    assert masked("it was started with --api-key hunter2 and died") == "it was started with --api-key *** and died"
    assert masked("sent Authorization: Bearer abc") == "sent Authorization: Bearer ***"
    assert masked("the key is in the environment; tokens in 5") == "the key is in the environment; tokens in 5"
