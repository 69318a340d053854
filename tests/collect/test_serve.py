"""The commands as a person types them: a study written, made, served over TLS, joined while it is served, stopped."""

from __future__ import annotations

import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import commands
import httpx
import pytest

from unswayed.base.errors import UsageError
from unswayed.collect.server import serve


def unswayed(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return commands.unswayed("collect", *arguments, cwd=folder)


def test_a_study_from_nothing(tmp_path):
    assert unswayed("new", "s.toml", "--kind", "plausible", folder=tmp_path).returncode == 0
    text = (tmp_path / "s.toml").read_text()
    assert 'kind = "plausible"' in text
    missing = unswayed("new", "s.toml", folder=tmp_path)
    assert (missing.returncode, "items.jsonl" in missing.stderr) == (4, True)
    (tmp_path / "items.jsonl").write_text('{"a": "one", "b": "two"}\n')
    made = unswayed("new", "s.toml", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert len(made.stdout.strip()) == 16
    again = unswayed("new", "s.toml", folder=tmp_path)
    assert (again.returncode, "already exists" in again.stderr) == (4, True)
    wrong = unswayed("invite", "s.toml", "--name", "anna", "--stratum", "x", folder=tmp_path)
    assert (wrong.returncode, "no strata" in wrong.stderr) == (4, True)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_served_over_tls(make, tmp_path):
    study, store, _ = make()
    store.close()
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--certificate", str(certificate), "--key", str(key)]
    command = [sys.executable, "-m", "unswayed", "collect", "serve", study.file, *options]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        trusted = ssl.create_default_context(cafile=str(certificate))
        with httpx.Client(verify=trusted, follow_redirects=True) as http:
            for _ in range(600):
                try:
                    http.get(f"https://127.0.0.1:{port}/")
                    break
                except httpx.ConnectError:
                    time.sleep(0.1)
            invited = unswayed(
                "invite", study.file, "--name", "anna", "--url", f"https://127.0.0.1:{port}", folder=tmp_path
            )
            name, link = invited.stdout.strip().split("\t")
            assert name == "anna"
            page = http.get(link)
            assert "We keep what you type." in page.text
            assert "Secure" in page.history[0].headers["set-cookie"]
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(30) in (0, 2)
    status = unswayed("status", study.file, "--format", "json", folder=tmp_path)
    assert '"anna"' in status.stdout
    gone = unswayed("forget", study.file, "anna", folder=tmp_path)
    assert gone.returncode == 0
    assert b"anna" not in Path(study.place).read_bytes(), "what is deleted is overwritten"


def test_answers_do_not_travel_unprotected(make):
    study, _, _ = make()
    with pytest.raises(UsageError, match="certificate"):
        serve({"": study}, "0.0.0.0")
    with pytest.raises(UsageError, match="go together"):
        serve({"": study}, certificate="x")
