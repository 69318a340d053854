"""The site over HTTP: what a person may do, what nobody may, and that no request makes it fail."""

from __future__ import annotations

import json
import random

import httpx
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.collect.export import answers_of
from unswayed.collect.items import make_study
from unswayed.collect.owner import close_session, is_open, open_session, set_password
from unswayed.collect.site import CSP, Limit, signed
from unswayed.collect.study import read_study

from .conftest import write_study


@pytest.fixture
def site(make, serve):
    def made(**given):
        return serve(*make(**given)[:2])

    return made


CLIENTS: list[httpx.Client] = []


def client(server):
    CLIENTS.append(httpx.Client(base_url=server.url, follow_redirects=True))
    return CLIENTS[-1]


@pytest.fixture(autouse=True)
def close_clients():
    yield
    while CLIENTS:
        CLIENTS.pop().close()


class Person:
    """A browser without scripts."""

    def __init__(self, server, token):
        self.server, self.token = server, token
        self.http = client(server)
        self.page = self.http.get(f"/i/{token}")
        from unswayed.collect.people import hashed

        self.csrf = signed(server.site.secret, hashed(token))

    def agree(self):
        self.page = self.http.post("/consent", data={"csrf": self.csrf, "agree": "yes"})
        if self.page.url.path.endswith("/questions"):
            self.page = self.http.post("/questions", data={"csrf": self.csrf, "ime": "x", "dialect": "y"})
        return self

    def item(self):
        text = self.http.get("/task").text
        return text.partition('data-item="')[2].partition('"')[0]

    def say(self, item, answer=None, csrf=None, **more):
        body = {"item": item, "answer": answer or {"choice": ["keyboard"]}, **more}
        return self.http.post("/answer", json=body, headers={"x-csrf": self.csrf if csrf is None else csrf})


def test_from_invitation_to_the_last_item(site):
    server = site()
    anna = Person(server, server.invite("anna"))
    assert "We keep what you type." in anna.page.text
    assert "me@example.org" in anna.page.text
    assert anna.say("i0").status_code == 403, "no answer before consent"
    anna.agree()
    for n in range(4):
        item = anna.item()
        reply = anna.say(item)
        assert reply.json() == {"counted": True, "flags": [], "fresh": True, "again": False}
        assert anna.say(item).json()["fresh"] is False
        assert anna.say(item, {"choice": ["speech"]}).status_code == 409
        assert f'<b id="own">{n}</b>' not in anna.http.get("/task").text
    assert "Nothing more for you now" in anna.http.get("/task").text
    assert "目前没有更多任务" in anna.http.get("/language/zh").text


def test_nobody_reaches_what_is_not_theirs(site):
    server = site()
    anna, ben = (Person(server, server.invite(name)).agree() for name in ("anna", "ben"))
    item = anna.item()
    assert ben.item() != item
    assert ben.say(item).status_code == 403, "another's item"
    assert ben.say(item, csrf=anna.csrf).status_code == 403, "another's form"
    assert anna.say(item, csrf="").status_code == 403, "no form"
    forged = anna.http.post("/answer", json={}, headers={"x-csrf": anna.csrf, "sec-fetch-site": "cross-site"})
    assert forged.status_code == 403
    assert httpx.get(server.url + "/task").status_code == 403
    assert httpx.get(server.url + "/i/wrong").status_code == 404
    assert httpx.get(server.url + "/admin/answer?person=anna&item=i0").status_code == 403
    assert httpx.post(server.url + "/admin/exclude", data={"person": "anna", "reason": "x"}).status_code == 403
    assert httpx.get(server.url + "/static/../app.py").status_code == 404
    refused = server.store.read(lambda tx: tx.rows("SELECT who, more FROM audit WHERE what = 'refused'"))
    assert ("ben", item) in refused


def test_people_do_not_see_where_an_item_comes_from(tmp_path, serve):
    item = {"id": "s1", "utterance": "wake me uhm", "slots": [], "intent": "wake"}
    file = write_study(tmp_path, "labels", [item])
    (tmp_path / "items.key.jsonl").write_text('{"id": "s1", "operator": "spoken/filler_end"}\n')
    study = read_study(file)
    with make_study(study)[0] as database:
        server = serve(study, database)
        anna = Person(server, server.invite("anna")).agree()
        page = anna.http.get("/task").text
        assert "wake me uhm" in page
        assert "filler" not in page
        assert anna.say("s1", {"slots": True, "intent": True}).status_code == 200
        (judgement,) = answers_of(study, database)
        assert judgement.origin == {"operator": "spoken/filler_end"}
        server.stop()


def test_tokens_and_passwords_are_not_stored(site):
    server = site()
    token = server.invite("anna")
    server.store.write(lambda tx: set_password(tx, "the password"))
    stored = str(server.store.read(lambda tx: [tx.rows("SELECT * FROM people"), tx.rows("SELECT * FROM facts")]))
    assert token not in stored
    assert "the password" not in stored


def test_every_answer_has_the_safe_headers(site):
    server = site()
    for path in ("/", "/task", "/nowhere", "/admin", "/static/task.js", "/i/x"):
        reply = httpx.get(server.url + path)
        assert reply.headers["content-security-policy"] == CSP
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "<script>" not in reply.text
    assert "unsafe" not in CSP


def test_limits(site):
    server = site()
    anna = Person(server, server.invite("anna")).agree()
    item = anna.item()
    huge = {"item": item, "answer": {"choice": ["x"]}, "log": [{"e": "x" * 1000}] * 3000}
    assert anna.http.post("/answer", json=huge, headers={"x-csrf": anna.csrf}).status_code == 413
    many = anna.say(item, log=[{}] * 50_001)
    assert many.status_code == 413
    server.site.people = Limit(0.001, 3)
    assert [anna.say("nothing").status_code for _ in range(5)] == [403, 403, 403, 429, 429]
    server.site.people = Limit(1000, 1000)
    assert anna.say(item).status_code == 200, "and it goes on"


def test_the_rate_limit_refills():
    limit = Limit(a_second=1, burst=2)
    assert [limit.allows("a", now) for now in (0, 0, 0, 0.5, 1.2, 1.3)] == [True, True, False, False, True, False]
    assert limit.allows("b", 0)


def test_the_owner_logs_in(site):
    server = site()
    server.store.write(lambda tx: set_password(tx, "right"))
    anna = Person(server, server.invite("anna")).agree()
    anna.say(anna.item())
    owner = client(server)
    assert owner.post("/admin/login", data={"password": "wrong"}).status_code == 403
    page = owner.post("/admin/login", data={"password": "right"})
    assert "anna" in page.text
    csrf = owner.get("/admin/settings").text.partition('name="csrf" value="')[2].partition('"')[0]
    assert owner.post("/admin/exclude", data={"person": "anna", "reason": "x", "csrf": "no"}).status_code == 403
    page = owner.post("/admin/exclude", data={"person": "anna", "reason": "guesses", "csrf": csrf})
    assert "guesses" in page.text
    assert "has ended" in anna.http.get("/task").text
    assert owner.get("/admin/answer", params={"person": "anna", "item": "nothing"}).status_code == 404
    assert {owner.post("/admin/login", data={"password": str(n)}).status_code for n in range(9)} == {403, 429}


def test_an_owners_session_ends(make):
    _, store, _ = make()
    session = store.write(lambda tx: open_session(tx, now=0))
    for now, open_ in ((3600, True), (13 * 3600, False)):
        assert store.read(lambda tx, now=now: is_open(tx, session, now)) is open_
    assert not store.read(lambda tx: is_open(tx, session[:-1], 3600))
    assert session not in str(store.read(lambda tx: tx.rows("SELECT * FROM sessions")))
    store.write(lambda tx: close_session(tx, session))
    assert not store.read(lambda tx: is_open(tx, session, 3600))
    other = store.write(lambda tx: open_session(tx, now=0))
    store.write(lambda tx: set_password(tx, "new"))
    assert not store.read(lambda tx: is_open(tx, other, 3600)), "a new password ends all sessions"


def test_logging_out_ends_the_session_everywhere(site):
    server = site()
    server.store.write(lambda tx: set_password(tx, "right"))
    owner = client(server)
    owner.post("/admin/login", data={"password": "right"})
    stolen = {"owner": owner.cookies["owner"]}
    assert "Progress" in httpx.get(server.url + "/admin", cookies=stolen, follow_redirects=True).text
    owner.post("/admin/logout")
    assert httpx.get(server.url + "/admin", cookies=stolen).status_code == 303
    assert httpx.get(server.url + "/admin/answer?person=a&item=b", cookies=stolen).status_code == 403


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", ["choice", "retype"])
def test_no_request_makes_it_fail(site, kind):
    server = site(kind=kind)
    server.site.people = server.site.strangers = Limit(1e9, 1e9)
    anna = Person(server, server.invite("anna")).agree()
    item = anna.item()
    log = st.lists(st.fixed_dictionaries({"e": st.sampled_from(["commit", "down"]), "t": JSON, "d": JSON}), max_size=3)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.fixed_dictionaries({"item": st.just(item) | JSON, "answer": JSON, "log": log | JSON}))
    def answers(body):
        reply = anna.http.post("/answer", content=json.dumps(body), headers={"x-csrf": anna.csrf})
        assert reply.status_code < 500, (body, reply.text)

    answers()
    rng = random.Random(7)
    places = "/ /i/ /task /answer /consent /admin /admin/login /language/ /static/ /admin/answer?person="
    for _ in range(80):
        noise = "".join(chr(rng.choice([rng.randrange(33, 127), rng.randrange(0x4E00, 0x4F00)])) for _ in range(8))
        path = rng.choice(places.split()) + noise.replace("\\", "").replace("#", "")
        method = rng.choice(["GET", "POST", "PUT", "HEAD"])
        content = bytes(rng.randrange(256) for _ in range(40))
        reply = anna.http.request(method, path, content=content, follow_redirects=False)
        assert reply.status_code < 500, (method, path, reply.text)
