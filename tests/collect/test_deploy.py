"""What stands in `deploy/`: nginx and Caddy are started in front of the real server; the Docker files are checked."""

from __future__ import annotations

import json
import re
import shutil
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from benchmarks._traffic import (
    PROXIES,
    behind,
    flood_headers,
    free_port,
    large_uploads,
    program,
    restart_under_load,
    slow_loris,
    watched,
)
from unswayed.cli import collect as cli
from unswayed.collect.database import open_database
from unswayed.collect.items import make_study
from unswayed.collect.people import hashed, invite
from unswayed.collect.site import signed
from unswayed.collect.study import read_study

from .conftest import write_study

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def studies(tmp_path):
    """Two studies in a folder."""
    for name in ("typing", "speech"):
        kind = "choice" if name == "typing" else "read_aloud"
        file = write_study(tmp_path / "studies" / name, kind, [{"id": "i", "text": "one"}])
        make_study(read_study(file))[0].close()
    return tmp_path / "studies"


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize("proxy", list(PROXIES))
def test_behind_a_proxy(studies, tmp_path, proxy):
    if (found := program(proxy)) is None:
        pytest.skip(f"{proxy} is not installed")
    port, upstream = free_port(), free_port()
    command = PROXIES[proxy](tmp_path / "proxy", port, upstream)
    serve = [sys.executable, "-m", "unswayed", "collect", "serve", str(studies), "--base-path", "/c"]
    serve += ["--port", str(upstream), "--trusted-proxy", "127.0.0.1"]
    said = (tmp_path / "said").open("w")
    running = [
        subprocess.Popen(serve, stderr=said),
        subprocess.Popen([found, *command[1:]], stdout=said, stderr=said),
    ]
    trusted = ssl.create_default_context(cafile=str(tmp_path / "proxy" / "cert.pem"))
    study = read_study(studies / "speech" / "study.toml")
    try:
        with httpx.Client(verify=trusted, base_url=f"https://127.0.0.1:{port}", follow_redirects=True) as http:
            for _ in range(600):
                try:
                    if http.get("/c/typing/").status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                time.sleep(0.1)
            with open_database(study.place) as database:
                token = database.write(lambda tx: invite(tx, study, "anna"))
                ((secret,),) = database.read(lambda tx: tx.rows("SELECT value FROM facts WHERE name = 'secret'"))
            page = http.get(f"/c/speech/i/{token}")
            assert "We keep what you type." in page.text
            cookie = page.history[0].headers["set-cookie"]
            assert "Secure" in cookie
            assert "Path=/c/speech" in cookie
            csrf = signed(secret, hashed(token))
            http.post("/c/speech/consent", data={"csrf": csrf, "agree": "yes", "dialect": "x"})
            headers = {"x-csrf": csrf, "accept": "application/json"}
            big = http.post("/c/speech/audio?item=i", content=b"0" * (41 << 20), headers=headers)
            assert (big.status_code, json.loads(big.text)) == (413, {"error": "This is too large to be sent."})
            assert http.post("/c/speech/audio?item=i", content=b"0" * (46 << 20), headers=headers).status_code == 413
            strangers = [
                http.get(f"/c/typing/i/wrong{n}", headers={"x-forwarded-for": f"192.0.2.{n}"}).status_code
                for n in range(60)
            ]
            assert 429 in strangers, "what a caller says of its address is not believed"
    finally:
        for one in running:
            one.terminate()
            one.wait(30)
        said.close()
    log = tmp_path / "proxy" / "access"
    if log.exists():
        assert "/c/typing/" in log.read_text()
        assert token not in log.read_text()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize("proxy", ["", *PROXIES])
def test_traffic(tmp_path, proxy):
    """A small form of what `python -m benchmarks collect --all` measures."""
    if proxy and program(proxy) is None:
        pytest.skip(f"{proxy} is not installed")
    with behind(proxy, tmp_path / "typing", items=2000) as place:
        with watched(place) as grown:
            assert flood_headers(place.port, 5 << 20, place.context) >= 5 << 20
        assert grown[0] < 10
        slow = slow_loris(place, 60, 2)
        assert slow.megabytes < 10
        restarts = restart_under_load(place, people=4, restarts=1, pause=0.1)
        assert restarts.acknowledged >= 8
        assert restarts.lost == 0
        if proxy == "caddy":
            assert restarts.errors == 0, "it waits for the server"
    with behind(proxy, tmp_path / "speech", "read_aloud") as place:
        uploads = large_uploads(place, 3, 8)
        assert (uploads.kept, uploads.refused) == (3, 1)
        assert uploads.megabytes < 60, "of 24 MB that come, none stays in memory whole"


def options_of(command: list[str]) -> None:
    """Parses a command line of `unswayed collect`; raises where an option or a command is unknown."""
    group = cli.command
    context = group.make_context("collect", list(command), resilient_parsing=False)
    name, found, rest = group.resolve_command(context, [*context._protected_args, *context.args])
    found.make_context(name, rest, parent=context)


def test_the_docker_files():
    yaml = pytest.importorskip("yaml")
    lines = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text()).splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    for name, rest in steps:
        if name == "COPY":
            assert all((DEPLOY.parent / source).exists() for source in rest.split()[:-1]), rest
    found = dict(steps)
    assert found["USER"] == "people"
    assert json.loads(found["ENTRYPOINT"]) == ["unswayed", "collect"]
    options_of(json.loads(found["CMD"]))
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    assert set(services) == {"collect", "postgres", "caddy"}
    build = services["collect"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).exists()
    assert "ports" not in services["collect"], "only the proxy is reached from outside"
    assert "ports" not in services["postgres"]
    for service in services.values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source in compose["volumes"] or source == "./studies" or (DEPLOY / source).exists()
        assert set(service.get("depends_on", ())) <= set(services)
    named = set(re.findall(r"\{\$(\w+)", (DEPLOY / "Caddyfile").read_text()))
    assert named == set(services["caddy"]["environment"])
