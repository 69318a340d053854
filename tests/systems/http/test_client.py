"""The client, against a server that does every wrong thing on purpose."""

from __future__ import annotations

import gc
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.systems.http.client import Client, HttpSettings, Malformed, Unanswered, retry_after
from unswayed.systems.http.connection import checked_url, key_for

Make = Callable[..., Any]
QUICK = HttpSettings(backoff=0.001)  # to try again; it waits for an answer as long as a busy machine may need
IMPATIENT = HttpSettings(backoff=0.001, read_timeout=1.2, total_timeout=2.4)  # where the answer never comes


@pytest.fixture
def open_client() -> Iterator[Callable[..., Client]]:
    """Makes clients that are closed after the test."""
    made: list[Client] = []

    def make(*given: Any, **more: Any) -> Client:
        made.append(Client(*given, **more))
        return made[-1]

    yield make
    for client in made:
        client.close()


def value(answer: Any) -> Any:
    if not isinstance(answer, dict) or "value" not in answer:
        raise Malformed("no value")
    return answer["value"]


@pytest.mark.parametrize(
    "trouble",
    [
        b"",
        None,
        b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"value\":",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"val\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{\"val\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n{\"value\":",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70000 + b"\r\n\r\n",
        ("<html><body>Bad gateway</body></html>", 200),
        ("<html><body>Bad gateway</body></html>", 502),
        ('{"value": 1', 200),
        ('"\\ud800"', 200),
        ('{"other": 1}', 200),
        ("[" * 5000, 200),
        ("", 204),
        ('{"error": {"message": "busy"}}', 500),
        ("{}", 429),
        ("{}", 408),
        ("{}", 599),
    ],
    ids=str,
)  # fmt: skip
def test_what_may_pass_is_tried_again(open_client: Make, scripted: Make, trouble: Any) -> None:
    bad = scripted.reply(trouble[0].encode(), trouble[1]) if isinstance(trouble, tuple) else trouble
    server = scripted(bad, bad, scripted.reply({"value": 7}))
    client = open_client(server.url, settings=IMPATIENT if bad is None else QUICK)
    assert client.post({"q": 1}, value) == 7
    assert server.bodies == [{"q": 1}] * 3
    used = client.used()
    assert (used["requests"], used["retries"]) == (3, 2)
    assert client.used() == {}
    server.replies = [bad]
    client.retries = 1
    with pytest.raises(Unanswered, match=r"\(asked 2 times\)$"):
        client.post({"q": 1}, value)


@pytest.mark.parametrize("status", [400, 403, 413, 422])
def test_what_can_not_pass_is_asked_once(open_client: Make, scripted: Make, status: int) -> None:
    server = scripted(scripted.reply({"error": {"message": "too long\n by far"}}, status))
    with pytest.raises(Unanswered, match=f"answered {status}: 'too long by far'"):
        open_client(server.url, settings=QUICK).post(1, value)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [401, 404, 405])
def test_what_concerns_all_requests_stops(open_client: Make, scripted: Make, status: int) -> None:
    server = scripted(scripted.reply({"error": "no"}, status))
    with pytest.raises(SystemBroken, match=f"{status}: 'no'"):
        open_client(server.url, settings=QUICK).post(1, value)
    assert len(server.bodies) == 1


def test_an_empty_account_stops(open_client: Make, scripted: Make) -> None:
    server = scripted(scripted.reply({"error": {"message": "no credit", "code": "insufficient_quota"}}, 429))
    with pytest.raises(SystemBroken, match="no credit"):
        open_client(server.url, settings=QUICK).post(1, value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(open_client: Make, scripted: Make, status: int) -> None:
    elsewhere = scripted(scripted.reply({"value": 1}))
    server = scripted(scripted.reply(b"", status, Location=elsewhere.url + "/x?key=sesame"))
    with pytest.raises(SystemBroken, match="redirects to 'http://127.0.0.1:.*/x'") as told:
        open_client(server.url, "sesame", QUICK).post(1, value)
    assert elsewhere.heads == []
    assert "sesame" not in str(told.value)


def test_the_servers_wish_to_wait_is_granted(open_client: Make, scripted: Make) -> None:
    server = scripted(scripted.reply({}, 429, Retry_After="0.4"), scripted.reply({"value": 1}))
    began = time.monotonic()
    assert open_client(server.url, settings=QUICK).post(1, value) == 1
    assert time.monotonic() - began >= 0.4
    server = scripted(scripted.reply({}, 503, Retry_After="86400"))
    with pytest.raises(Unanswered, match="86,400 s, which is too long"):
        open_client(server.url, settings=QUICK).post(1, value)
    assert len(server.bodies) == 1


def test_dates_and_seconds() -> None:
    now = datetime.now(UTC)

    def said(wait: str, date: datetime | None = None) -> float:
        message = Message()
        message["Retry-After"] = wait
        if date:
            message["Date"] = format_datetime(date)
        return retry_after(message)

    assert said("7") == 7
    assert said(" 1.5 ") == 1.5
    assert 28 < said(format_datetime(now + timedelta(seconds=30))) <= 30
    assert said(format_datetime(now - timedelta(seconds=30))) == 0
    assert said(format_datetime(now), now - timedelta(hours=2)) == 7200, "by the server's own clock"
    for wrong in ("", "soon", "-3", "nan", "inf", "Fri, 99 Foo 2026", "1e999"):
        assert said(wrong) == 0
    assert retry_after(Message()) == 0


@given(st.text(), st.text())
@example("Mon, 01 Jan 2026 00:00:00 +99999999999999", "")
@example("Mon, 01 Jan 0001 00:00:00 +2359", "Fri, 31 Dec 9999 23:59:59 -2359")
def test_no_header_breaks_it(wait: str, date: str) -> None:
    message = Message()
    message.add_header("Retry-After", wait)
    message.add_header("Date", date)
    assert retry_after(message) >= 0


def test_a_server_that_drips_is_left_in_the_end(open_client: Make, scripted: Make) -> None:
    """Each byte comes in time, all of them never would."""
    server = scripted(None)
    over = threading.Event()

    def drip(connection: Any, _: object) -> None:
        while not over.wait(0.05):
            connection.sendall(b"H")

    server.finish_request = drip
    began = time.monotonic()
    with pytest.raises(Unanswered, match="no answer in time"):
        open_client(server.url, settings=IMPATIENT, retries=0).post(1, value)
    over.set()
    assert time.monotonic() - began < 20


def test_an_answer_without_end_is_not_read(open_client: Make, scripted: Make) -> None:
    settings = HttpSettings(backoff=0, largest=1000)
    for said in (scripted.reply(b"x" * 1001), b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 5000):
        with pytest.raises(Unanswered, match="bytes"):
            open_client(scripted(said).url, settings=settings, retries=0).post(1, value)
    whole = b'{"value": "' + b"x" * 987 + b'"}'
    assert open_client(scripted(scripted.reply(whole)).url, settings=settings).post(1, value) == "x" * 987


def test_connections_are_kept(open_client: Make, scripted: Make) -> None:
    server = scripted(scripted.reply({"value": 1}))
    client = open_client(server.url)
    for _ in range(5):
        client.post(1, value)
    assert server.connections == 1
    closing = scripted(scripted.reply({"value": 1}, Connection="close"))
    client = open_client(closing.url)
    assert [client.post(1, value) for _ in range(3)] == [1, 1, 1]
    assert client.used() == {"requests": 3, "retries": 0}, "no retry was needed"


def test_connections_end_with_the_client(scripted: Make) -> None:
    client = Client(scripted(scripted.reply({"value": 1})).url)
    client.post(1, value)
    del client
    gc.collect()  # a socket left open would be a warning, which is an error here


def test_nobody_there_is_told_soon(open_client: Make) -> None:
    with pytest.raises(SystemBroken, match=r"127.0.0.1:1 can't be reached: Connection refused\. Is the address"):
        open_client("http://127.0.0.1:1", settings=HttpSettings(backoff=0.001)).post(1, value)


def test_closing_ends_what_is_under_way(open_client: Make, scripted: Make) -> None:
    client = open_client(scripted(None).url)
    waiting = open_client(scripted(scripted.reply({}, 429, Retry_After="60")).url)
    ended = []

    def ask(of: Client) -> None:
        try:
            of.post(1, value)
        except UsageError as error:
            ended.append(str(error))

    threads = [threading.Thread(target=ask, args=(of,)) for of in (client, waiting)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    client.close()
    waiting.close()
    for thread in threads:
        thread.join(20)
    assert len(ended) == 2
    assert all("was closed" in error for error in ended)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ftp://host/x", "begins with http"),
        ("file:///etc/passwd", "begins with http"),
        ("http://", "begins with http"),
        ("http://user:sesame@host/", "put a key in the environment"),
        ("http://host:port/", "not a URL"),
        ("http://host:99999/", "not a URL"),
        ("http://ho st/", "space or a control"),
        ("http://host/\r\nX: y", "space or a control"),
        ("http://[::1", "not a URL"),
    ],
)
def test_other_urls_are_refused(url: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as error:
        checked_url(url)
    assert "sesame" not in str(error.value)


def test_urls_are_made_fit() -> None:
    assert checked_url("http://[::1]:80/a?b=c#d").geturl() == "http://[::1]:80/a?b=c"
    assert checked_url("https://bücher.example/ü").geturl() == "https://xn--bcher-kva.example/%C3%BC"


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame\n")
    monkeypatch.setenv("MINE", "open")
    monkeypatch.setenv("BAD", "two words")
    monkeypatch.delenv("NONE", raising=False)
    local, far, safe = map(checked_url, ("http://127.0.0.1/", "http://host/", "https://host/"))
    assert [key_for(url, None, True) for url in (local, far, safe)] == ["sesame", None, "sesame"]
    assert key_for(safe, None, False) is None
    with pytest.raises(UsageError, match="others could read the key"):
        key_for(far, "MINE", False)
    assert key_for(far, "MINE", False, insecure=True) == "open"
    for name in ("NONE", "BAD"):
        with pytest.raises(UsageError, match=name) as error:
            key_for(safe, name, True)
        assert "two words" not in str(error.value)


def test_the_key_is_sent_and_never_told(open_client: Make, scripted: Make) -> None:
    server = scripted(
        scripted.reply({"error": {"message": "bad key open/sesame"}}, 400),
        scripted.reply(b'{"value": "open\\/sesame!"}'),
        scripted.reply(b"", 302, Location="/open/sesame"),
    )
    client = open_client(server.url, "open/sesame", QUICK)
    with pytest.raises(Unanswered) as told:
        client.post(1, value)
    assert "bad key ***" in str(told.value)
    assert client.post(1, value) == "***!"
    with pytest.raises(SystemBroken, match=r"redirects to '/\*\*\*'"):
        client.post(1, value)
    assert all("Authorization: Bearer open/sesame\r\n" in head for head in server.heads)


def test_an_answer_in_chunks_is_read(open_client: Make, scripted: Make) -> None:
    chunks = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"value"\r\n4\r\n: 7}\r\n0\r\n\r\n'
    assert open_client(scripted(chunks).url).post(1, value) == 7


def test_the_environments_proxy_is_used(open_client: Make, scripted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = scripted(scripted.reply({"value": 1}))
    monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pa%20ss@"))
    monkeypatch.setenv("no_proxy", "near.invalid")
    assert open_client("http://far.invalid:8080/x").post(1, value) == 1
    assert proxy.heads[0].startswith("POST http://far.invalid:8080/x HTTP/1.1\r\nHost: far.invalid:8080\r\n")
    assert "Proxy-Authorization: Basic bWU6cGEgc3M=\r\n" in proxy.heads[0]
    with pytest.raises(Unanswered, match="can't be reached"):
        open_client("http://near.invalid/", retries=0).post(1, value)
    assert open_client(scripted(scripted.reply({"value": 2})).url).post(1, value) == 2, "loopback is never proxied"
    assert len(proxy.heads) == 1


def test_a_tunnel_that_is_refused_is_told(open_client: Make, scripted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = scripted(scripted.reply(b"", 403))
    monkeypatch.setenv("https_proxy", proxy.url)
    with pytest.raises(Unanswered, match="403"):
        open_client("https://far.invalid/x", "sesame", retries=0).post(1, value)
    assert proxy.heads[0].startswith("CONNECT far.invalid:443 HTTP/1.")
    assert "sesame" not in proxy.heads[0]
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(UsageError, match="must be http://"):
        open_client("https://far.invalid/x").post(1, value)


@pytest.mark.parametrize(
    "wrong", [{"read_timeout": 0}, {"total_timeout": float("nan")}, {"largest": 0}, {"backoff": -1}]
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        HttpSettings(**wrong)


def test_certificates_are_checked(
    open_client: Make, scripted: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a certificate of its own, first unknown, then trusted as the environment says."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = scripted(scripted.reply({"value": 1}))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = server.url.replace("http:", "https:")
    with pytest.raises(SystemBroken, match="can't be reached.*certificate verify failed"):
        open_client(url, "sesame", QUICK).post(1, value)
    assert server.heads == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    client = open_client(url, "sesame")
    assert [client.post(1, value) for _ in range(3)] == [1, 1, 1]
    assert client.used() == {"requests": 3, "retries": 0}
    assert "Authorization: Bearer sesame" in server.heads[0]
