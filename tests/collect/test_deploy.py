"""What stands in `deploy/`: nginx and Caddy are started in front of the real server; the Docker files are checked."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from unswayed.cli import collect as cli
from unswayed.collect.database import open_database
from unswayed.collect.items import make_study
from unswayed.collect.people import hashed, invite
from unswayed.collect.site import signed
from unswayed.collect.study import read_study

from .conftest import write_study

DEPLOY = Path(__file__).parents[2] / "deploy"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def certificate(folder: Path) -> tuple[Path, Path]:
    folder.mkdir(exist_ok=True)
    chain, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", chain],
        check=True, capture_output=True,
    )  # fmt: skip
    return chain, key


def nginx(folder: Path, port: int, upstream: int) -> list[str]:
    chain, key = certificate(folder)
    site = (DEPLOY / "nginx.conf").read_text()
    site = site.replace("listen 443", f"listen 127.0.0.1:{port}").replace("127.0.0.1:8931", f"127.0.0.1:{upstream}")
    site = re.sub(r"ssl_certificate .*;", f"ssl_certificate {chain};", site)
    site = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", site)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nuser root;\npid {folder}/pid;\nerror_log {folder}/errors;\nworker_processes 1;\nevents {{}}\n"
        f"http {{\naccess_log {folder}/access;\n{paths}{site}\n}}\n"
    )
    if sys.platform != "linux" or not is_root():
        text = (folder / "nginx.conf").read_text().replace("user root;\n", "")
        (folder / "nginx.conf").write_text(text)
    return ["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")]


def caddy(folder: Path, port: int, upstream: int) -> list[str]:
    chain, key = certificate(folder)
    site = (DEPLOY / "Caddyfile").read_text()
    site = site.replace("{$SITE:localhost} {", f"https://127.0.0.1:{port} {{\n\ttls {chain} {key}")
    site = site.replace("{$UPSTREAM:127.0.0.1:8931}", f"127.0.0.1:{upstream}")
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def is_root() -> bool:
    import os

    return os.geteuid() == 0


@pytest.fixture
def studies(tmp_path):
    """Two studies in a folder."""
    for name in ("typing", "speech"):
        kind = "choice" if name == "typing" else "read_aloud"
        file = write_study(tmp_path / "studies" / name, kind, [{"id": "i", "text": "one"}])
        make_study(read_study(file))[0].close()
    return tmp_path / "studies"


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_behind_a_proxy(studies, tmp_path, proxy):
    if not (program := shutil.which(proxy.__name__) or shutil.which(f"/usr/sbin/{proxy.__name__}")):
        pytest.skip(f"{proxy.__name__} is not installed")
    port, upstream = free_port(), free_port()
    command = proxy(tmp_path / "proxy", port, upstream)
    serve = [sys.executable, "-m", "unswayed", "collect", "serve", str(studies), "--base-path", "/c"]
    serve += ["--port", str(upstream), "--trusted-proxy", "127.0.0.1"]
    said = (tmp_path / "said").open("w")
    running = [
        subprocess.Popen(serve, stderr=said),
        subprocess.Popen([program, *command[1:]], stdout=said, stderr=said),
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
