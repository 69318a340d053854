"""One person, or somebody without a login, can fill neither memory nor disk; links and log-ins can't be turned."""

from __future__ import annotations

import contextlib
import re
import socket
import time

import httpx
import pytest

from benchmarks._traffic import flood_headers, resident_megabytes, started
from unswayed.base.errors import DataError, UsageError
from unswayed.collect import status, visits
from unswayed.collect.items import entries
from unswayed.collect.kinds import read_aloud
from unswayed.collect.kinds.read_aloud import audio_folder
from unswayed.collect.owner import open_session, set_password
from unswayed.collect.revisions import set_rules
from unswayed.collect.server import addresses
from unswayed.collect.site import Limit, Site
from unswayed.collect.study import read_study

from .conftest import tone, write_study
from .test_app import Person, client, close_clients, site
from .test_server import running

__all__ = ["close_clients", "running", "site"]
GET = b"GET / HTTP/1.1\r\nhost: x\r\n"


def reply_to(address, *parts):
    """What a server says to these bytes, until it closes the connection or has answered."""
    said = b""
    with socket.create_connection(address, 30) as connection:
        try:
            for part in parts:
                connection.sendall(part)
            while b"\r\n\r\n" not in said and (more := connection.recv(65536)):
                said += more
        except OSError:
            pass
    return said.partition(b"\r\n")[0].decode()


@pytest.fixture
def address(make, running):
    study, store, _ = make()
    return "127.0.0.1", int(running(Site(study, store)).rpartition(":")[2])


def test_headers_have_64_kilobytes(address):
    fine = b"".join(b"h%d: %s\r\n" % (n, b"x" * 50) for n in range(1000))
    assert len(fine) < 64 << 10
    assert "200" in reply_to(address, GET + fine + b"\r\n")
    assert "200" in reply_to(address, GET + b"long: " + b"x" * 60_000 + b"\r\n\r\n")
    assert "431" in reply_to(address, GET + b"long: " + b"x" * 66_000 + b"\r\n\r\n")
    assert "431" in reply_to(address, GET + fine + fine + b"\r\n")
    assert "431" in reply_to(address, b"GET /" + b"x" * 66_000 + b" HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize(
    "endless",
    [
        b"a: b\r\n" * 1000,
        b"x" * 10_000,
        b"\r\n0\r\n\r\n" + GET + b"\r\n" * 3,
    ],
)
@pytest.mark.parametrize(
    "begin", [GET, GET + b"a: ", b"POST /answer HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: "]
)
def test_headers_without_end_are_cut(address, begin, endless):
    """Also as the trailers of a body, and as requests that do not wait for the one before them."""
    sent = 0
    with socket.create_connection(address, 30) as connection:
        connection.sendall(begin)
        with contextlib.suppress(OSError):
            while sent < 40 << 20:
                sent += connection.send(endless)
    assert sent < 20 << 20, "of which most lies in the buffers of the two sockets"


def test_a_large_body_is_no_header(address):
    """In one piece or in many small ones, and with another request at its end."""
    head = b"POST /answer HTTP/1.1\r\nhost: x\r\ncookie: token=x\r\n"
    body = b"x" * 300_000
    assert "403" in reply_to(address, head + b"content-length: %d\r\n\r\n" % len(body) + body)
    chunks = b"1\r\nx\r\n" * 30_000 + b"0\r\n\r\n"
    assert "403" in reply_to(address, head + b"transfer-encoding: chunked\r\n\r\n" + chunks)


def test_a_hundred_megabytes_of_headers_cost_little(tmp_path):
    """From one connection after another, and from many that hold what they may."""
    with started(tmp_path) as (process, port):
        before = resident_megabytes(process.pid)
        assert flood_headers(port, 100 << 20) >= 100 << 20
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
        for connection in held:
            with contextlib.suppress(OSError):
                connection.sendall(GET + b"a:b\r\n" * 12_000)
        assert "200" in reply_to(("127.0.0.1", port), GET + b"\r\n"), "others are served"
        assert resident_megabytes(process.pid) - before < 10
        for connection in held:
            connection.close()


def test_takes_of_an_item_are_bounded(site, monkeypatch):
    monkeypatch.setattr(read_aloud, "MAX_TAKES", 3)
    server = site(kind="read_aloud", items=[{"id": "i", "text": "x"}])
    server.site.people = Limit(1e9, 1e9)
    anna = Person(server, server.invite("anna")).agree()
    item = anna.item()

    def upload(take):
        place = {"item": item, "take": take}
        return anna.http.post("/audio", params=place, content=tone(), headers={"x-csrf": anna.csrf}).status_code

    takes = [f"{n:032x}" for n in range(6)]
    assert [upload(take) for take in takes] == [200] * 6
    assert sorted(file.stem for file in audio_folder(server.study).iterdir()) == takes[3:], "the latest"
    assert server.store.read(lambda tx: tx.rows("SELECT bytes FROM people")) == [(3 * 32_044,)]
    assert upload(takes[5]) == 200
    assert server.store.read(lambda tx: tx.rows("SELECT bytes FROM people")) == [(3 * 32_044,)], "the same again"
    assert anna.say(item, {"audio": takes[4]}).status_code == 200
    ((size,),) = server.store.read(lambda tx: tx.rows("SELECT bytes FROM people"))
    assert 32_044 < size < 32_200, "the take that was chosen, and the answer"


def test_bytes_of_a_person_are_bounded(site, database):
    for kind in ("read_aloud", "choice"):
        server = site(
            kind=kind, assign="k = 1\nmegabytes_per_person = 0.05", database=database if kind == "choice" else ""
        )
        server.site.people = Limit(1e9, 1e9)
        anna, ben = (Person(server, server.invite(name)).agree() for name in ("anna", "ben"))
        replies = []
        for n in range(3):
            item = anna.item()
            if kind == "choice":
                replies.append(anna.say(item, log=[{"e": "x" * 20_000}]))
                continue
            place = {"item": item, "take": f"{n:032x}"}
            headers = {"x-csrf": anna.csrf, "accept": "application/json"}
            replies.append(anna.http.post("/audio", params=place, content=tone(), headers=headers))
            anna.say(item, {"audio": f"{n:032x}"})
        assert [reply.status_code for reply in replies] in ([200, 200, 422], [200, 422, 422])
        assert replies[-1].json()["error"].startswith("You have sent as much as this study takes")
        assert ben.say(ben.item(), {"choice": ["speech"]}).status_code == (200 if kind == "choice" else 422)


def test_the_owner_hears_of_a_full_disk_before_uploads_fail(site, monkeypatch):
    server = site(kind="read_aloud", items=[{"id": "i", "text": "x"}])
    session = server.store.write(open_session)

    def told():
        page = httpx.get(server.url + "/admin", cookies={"owner": session}).text
        return "nearly full" in page, "are left on this disk" in status.disk_warning(server.study)

    anna = Person(server, server.invite("anna")).agree()
    place = {"item": anna.item(), "take": "1" * 32}
    headers = {"x-csrf": anna.csrf, "accept": "application/json"}
    monkeypatch.setattr(status, "LOW_DISK", 0)
    assert told() == (False, False)
    monkeypatch.setattr(status, "LOW_DISK", 1 << 60)
    monkeypatch.setattr("unswayed.collect.admin.LOW_DISK", 1 << 60)
    assert told() == (True, True)
    assert anna.http.post("/audio", params=place, content=tone(), headers=headers).status_code == 200
    monkeypatch.setattr(visits, "FULL_DISK", 1 << 60)
    refused = anna.http.post("/audio", params=place, content=tone(), headers=headers)
    assert (refused.status_code, "no room" in refused.json()["error"]) == (507, True)
    assert status.FULL_DISK < status.LOW_DISK


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ('strata = ["s\\u0000"]', "character zero"),
        ('strata = ["s"]\nquota = {s = -5}', "quota of 's' must be 0 or more"),
        ("per_person = 0", "per_person must be 1 or more"),
        ("per_person = -3", "per_person must be 1 or more"),
        ("megabytes_per_person = nan", "megabytes_per_person"),
        ("lease_minutes = inf", "lease_minutes"),
    ],
)
def test_a_negative_quota_is_refused(tmp_path, rules, said):
    with pytest.raises(DataError, match=said):
        read_study(write_study(tmp_path, "choice", [{"id": "i", "text": "x"}], f"k = 1\n{rules}"))


def test_a_negative_quota_is_refused_in_the_console(make):
    study, store, _ = make(assign='k = 1\nstrata = ["s"]')
    for wrong in ({"quota": {"s": -5}}, {"per_person": 0}, {"per_person": 10**30}):
        with pytest.raises(UsageError, match="not changed"):
            store.write(lambda tx, wrong=wrong: set_rules(tx, study, **wrong))


@pytest.mark.parametrize("item", [{"id": "i\0"}, {"id": "i", "not_for": ["a\0"]}])
def test_a_zero_in_a_file_of_items_is_refused(tmp_path, item):
    with pytest.raises(DataError, match=r"items.jsonl:1: .*character zero"):
        entries(read_study(write_study(tmp_path, "choice", [{"text": "x", **item}])))


def test_a_zero_in_an_id_is_a_bad_request(site, database):
    server = site(database=database)
    session = server.store.write(open_session)
    anna = Person(server, server.invite("anna")).agree()
    owner = httpx.Client(base_url=server.url, cookies={"owner": session})
    with owner:
        for place in (
            "/admin/person?person=%00", "/admin/answer?person=a%00&item=i0", "/admin/item?item=%00", "/admin/audio/%00",
            "/admin/answers?flag=%00", "/i/%00", "/language/%00", "/admin/answers.jsonl?person=a%00",
        ):  # fmt: skip
            assert owner.get(place).status_code == 400, place
        csrf = re.search(r'name="csrf" value="(\w+)"', owner.get("/admin/settings").text)[1]
        for form in ({"person": "a\0"}, {"person": "a", "a\0": "b"}):
            assert owner.post("/admin/invite", data={"csrf": csrf, **form}).status_code == 400
    assert anna.say("i0\0").status_code == 400
    assert anna.say("i0", more={"i1\0": {"choice": ["keyboard"]}}).status_code == 400
    body = {"item": "i0\0", "attempt": 1, "begins": 0, "events": []}
    assert anna.http.post("/draft", json=body, headers={"x-csrf": anna.csrf}).status_code == 400
    assert anna.http.post("/skip", data={"csrf": anna.csrf, "item": "i\0", "reason": "other"}).status_code == 400


def test_links_come_from_configured_addresses(make, running):
    study, store, _ = make()
    session = store.write(open_session)
    urls = ["https://study.example.org", "http://127.0.0.1:9"]

    def links(hosts, **how):
        url = running(Site(study, store, base="/c/typing", **how))
        with httpx.Client(base_url=url, cookies={"owner": session}) as http:
            csrf = re.search(r'name="csrf" value="(\w+)"', http.get("/c/typing/admin/settings").text)[1]
            for host in hosts:
                form = {"csrf": csrf, "person": f"{host}{time.time()}"}
                page = http.post("/c/typing/admin/invite", data=form, headers={"host": host}).text
                yield re.search(r'id="link">([^<]+)/i/', page)[1]
                for place in ("/c/typing", "/c/typing/admin/", "/c/typing/task/"):
                    moved = http.get(place, headers={"host": host})
                    assert "evil" not in moved.headers.get("location", "")

    hosts = ["evil.example", "127.0.0.1:9", "study.example.org"]
    assert list(links(hosts, urls=urls)) == [f"{url}/c/typing" for url in (urls[0], urls[1], urls[0])]
    assert list(links(["evil.example"])) == ["/c/typing"], "without an address, a path"
    assert addresses(["https://study.example.org/"]) == ["https://study.example.org"]
    for wrong in ("study.example.org", "javascript:x", "https://a/b", "https://a@b"):
        with pytest.raises(UsageError, match="url"):
            addresses([wrong])


def test_failed_log_ins_slow_the_guesser_alone(site):
    """All come from one address, as behind a proxy that names nobody."""
    server = site()
    server.store.write(lambda tx: set_password(tx, "right"))
    server.site.logins = Limit(1e-6, 3)  # nothing refills while the test runs

    def tries(http, *passwords):
        return [http.post("/admin/login", data={"password": given}).status_code for given in passwords]

    owner, other, guesser, script = (client(server) for _ in range(4))
    owner.get("/admin/login")
    assert tries(owner, "right") == [200]
    guesser.get("/admin/login")
    assert tries(guesser, *"abcde") == [403, 403, 403, 429, 429]
    assert tries(script, *"abcde") == [403, 403, 403, 429, 429], "without a page first"
    assert tries(guesser, "right") == [429]
    other.get("/admin/login")
    assert tries(other, "wrong", "right") == [403, 200], "a new browser at the same address"
    server.site.browsers = Limit(1e-6, 0)
    owner.post("/admin/logout")
    assert tries(owner, "wrong", "right") == [403, 200], "who has logged in before is known"
    late = client(server)
    late.get("/admin/login")
    assert tries(late, "right") == [429], "an address gets so many names, and then shares one"
    forged = httpx.Client(base_url=server.url, cookies={"browser": "99999999999.x." + "0" * 64})
    with forged:
        assert tries(forged, "right") == [429]


def test_names_that_turn_the_line_are_spelled_out(site, capsys):
    name = "anna\u202egpj"
    server = site()
    anna = Person(server, server.invite(name)).agree()
    anna.say(anna.item())
    session = server.store.write(open_session)
    with httpx.Client(base_url=server.url, cookies={"owner": session}, follow_redirects=True) as owner:
        for place in (
            "",
            "/people",
            "/answers",
            "/audit",
            "/item?item=i0",
            "/item?item=i1",
            "/item?item=i2",
            "/item?item=i3",
        ):
            page = owner.get(f"/admin{place}").text
            seen = re.sub(r"<[^>]*>", "", page)
            assert "\u202e" not in seen, place
            if place in ("", "/people", "/answers", "/audit"):
                assert "anna⟨U+202E⟩gpj" in seen, place
        page = owner.get("/admin/person", params={"person": name}).text
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        assert form["person"] == name, "the form has the name itself"
        assert owner.post("/admin/exclude", data={**form, "reason": "x"}).status_code == 200
        assert server.store.read(lambda tx: tx.rows("SELECT excluded FROM people")) == [("x",)]
