"""The server: several studies under one address, many people behind one, proxies, connections that never ask."""

from __future__ import annotations

import socket
import threading
import time

import httpx
import pytest
import uvicorn

from unswayed.base.errors import DataError, UsageError
from unswayed.collect import server
from unswayed.collect.app import make_app
from unswayed.collect.people import invite
from unswayed.collect.server import Patient, networks, studies_at
from unswayed.collect.site import Site

from .conftest import write_study


@pytest.fixture
def running():
    """Serves sites with uvicorn as `unswayed collect serve` does."""
    servers = []

    def made(*sites, **config):
        listening = socket.create_server(("127.0.0.1", 0))
        config = {"log_level": "critical", "lifespan": "off", "http": Patient, **config}
        one = uvicorn.Server(uvicorn.Config(make_app(*sites), **config))
        thread = threading.Thread(target=one.run, args=([listening],), daemon=True)
        thread.start()
        while not one.started:
            time.sleep(0.01)
        servers.append((one, thread, listening))
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield made
    for one, thread, listening in servers:
        one.should_exit = True
        thread.join()
        listening.close()


def test_two_studies_under_one_address(make, running):
    (one, first, _), (other, second, _) = make(), make(lang="zh")
    url = running(Site(one, first, base="/c/one"), Site(other, second, base="/c/other"))
    token = first.write(lambda tx: invite(tx, one, "anna"))
    with httpx.Client(base_url=url, follow_redirects=True) as http:
        page = http.get(f"/c/one/i/{token}")
        assert (page.status_code, str(page.url)) == (200, f"{url}/c/one/consent")
        assert token not in str(page.url) + page.text
        cookie = page.history[0].headers["set-cookie"]
        assert "Path=/c/one;" in cookie
        assert 'href="/c/one/static/style.css"' in page.text
        assert http.get("/c/one/static/style.css").status_code == 200
        assert http.get("/c/other/task").status_code == 403, "the cookie is not for the other study"
        assert http.get("/c/other").status_code == 200
        assert "本页面仅供受邀者使用" in http.get("/c/other/").text
        assert http.get("/c/nothing/").status_code == 404
        assert http.get("/").status_code == 404
        assert http.get("/").headers["x-content-type-options"] == "nosniff"


def test_the_studies_of_a_folder(tmp_path):
    write_study(tmp_path / "all" / "typing", "choice", [])
    (tmp_path / "all" / "speech.toml").write_text((tmp_path / "all" / "typing" / "study.toml").read_text())
    found = studies_at(tmp_path / "all", "/c")
    assert sorted(found) == ["/c/speech", "/c/typing"]
    assert list(studies_at(tmp_path / "all" / "speech.toml", "/c/")) == ["/c"]
    assert list(studies_at(tmp_path / "all" / "speech.toml")) == [""]
    (tmp_path / "all" / "no path.toml").write_text("")
    with pytest.raises(DataError, match="can't be a path"):
        studies_at(tmp_path / "all")
    (tmp_path / "all" / "empty").mkdir()
    with pytest.raises(DataError, match="no study"):
        studies_at(tmp_path / "all" / "empty")
    with pytest.raises(UsageError, match="base.path"):
        studies_at(tmp_path / "all", "c")


def test_sixty_people_behind_one_address(make, running):
    study, store, _ = make(items=[{"id": f"i{n}", "text": "x"} for n in range(60)])
    tokens = store.write(lambda tx: [invite(tx, study, f"p{n}") for n in range(60)])
    site = Site(study, store)
    url = running(site)
    with httpx.Client(base_url=url) as http:
        replies = [http.get(f"/i/{token}").status_code for token in tokens]
        assert replies == [303] * 60
        strangers = [http.get(f"/i/wrong{n}").status_code for n in range(60)]
        assert set(strangers) == {404, 429}, "who guesses is held back"
        assert http.get(f"/i/{tokens[0]}").status_code == 303, "and nobody else with them"


def test_a_trusted_proxy_says_who_calls(make, running):
    study, store, _ = make()
    for trusted, expected in ((networks(["127.0.0.0/8"]), 30), (networks(["10.0.0.0/8"]), 429)):
        site = Site(study, store)
        url = running(site, proxy_headers=True, forwarded_allow_ips=trusted)
        with httpx.Client(base_url=url) as http:
            replies = [
                http.get(f"/i/wrong{n}", headers={"x-forwarded-for": f"192.0.2.{n}"}).status_code for n in range(60)
            ]
        assert (429 in replies) == (expected == 429)
    with pytest.raises(UsageError, match="trusted.proxy"):
        networks(["lab"])


def test_connections_that_never_ask_are_dropped(make, running, monkeypatch):
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.5)
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.5)
    study, store, _ = make()
    url = running(Site(study, store))
    address = ("127.0.0.1", int(url.rpartition(":")[2]))
    post = b"POST /answer HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc"
    begun = [b"", b"GET / HTTP/1.1\r\nhost:", post, b"GET /static/style.css HTTP/1.1\r\nhost: x\r\n\r\nG"]
    held = []
    for n in range(40):
        connection = socket.create_connection(address)
        connection.sendall(begun[n % 4])
        connection.settimeout(30)
        held.append(connection)
    for connection in held:
        try:
            while connection.recv(65536):
                pass
        except ConnectionResetError:
            pass
        connection.close()
    assert httpx.get(url).status_code == 200
