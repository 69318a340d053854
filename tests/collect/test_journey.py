"""What comes before and after the tasks: arrival, consent by version, questions, qualification, completion, skips."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.crowd import Participant, typing
from unswayed.base.errors import DataError
from unswayed.collect.export import answers_of
from unswayed.collect.items import make_study
from unswayed.collect.people import hashed, invite
from unswayed.collect.revisions import apply
from unswayed.collect.status import progress, record
from unswayed.collect.study import read_study

from .conftest import write_study

GOLD = {"choice": ["speech"]}


@pytest.fixture
def site(tmp_path, serve):
    stores = []

    def made(more="", items=None, assign="k = 1\nshuffle = false", files=None, kind="choice", top="", database=""):
        items = items or [{"id": f"i{n}", "text": f"text {n}"} for n in range(4)]
        file = write_study(tmp_path, kind, items, assign, database)
        file.write_text(file.read_text().replace("[items]", f"{top}\n[items]") + more, "utf-8")
        for name, rows in (files or {}).items():
            (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        study = read_study(file)
        store, _, _ = make_study(study)
        stores.append(store)
        return serve(study, store)

    yield made
    for store in stores:
        store.close()


OPEN = '[arrive]\nopen = true\nparameters = ["workerId", "assignmentId"]\n'


def test_arrival_by_a_platforms_name(site):
    server = site(OPEN + 'frames = ["https://www.mturk.com"]\n[completion]\nreturn = "https://x.org/?a={assignmentId}"')
    page = httpx.get(f"{server.url}/join?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&workerId=W1")
    assert "This is a preview" in page.text
    assert "We keep what you type." in page.text
    assert "frame-ancestors https://www.mturk.com;" in page.headers["content-security-policy"] + ";"
    assert httpx.get(f"{server.url}/join").status_code == 400
    assert httpx.get(f"{server.url}/join?workerId=<b>").status_code == 400
    reply = httpx.get(f"{server.url}/join?workerId=W1&assignmentId=A1")
    assert "samesite=none" in reply.headers["set-cookie"].lower()
    assert "secure" in reply.headers["set-cookie"].lower()
    assert "W1" not in reply.headers["location"]
    again = httpx.get(f"{server.url}/join?workerId=W1&assignmentId=A2")
    assert again.cookies["token"] == reply.cookies["token"], "the same person on another device"
    people = server.store.read(lambda tx: tx.rows("SELECT id, token FROM people"))
    assert people == [("W1", hashed(reply.cookies["token"]))]
    server.store.write(lambda tx: invite(tx, server.study, "W2"))
    assert httpx.get(f"{server.url}/join?workerId=W2").status_code == 403, "the owner's link for W2 is another"


def test_nobody_joins_a_study_that_is_not_open(site):
    server = site()
    assert httpx.get(f"{server.url}/join?workerId=W1").status_code == 404
    assert server.store.read(lambda tx: tx.rows("SELECT 1 FROM people")) == []


def test_guests_without_a_platform(site):
    server = site("[arrive]\nopen = true")
    tokens = {httpx.get(f"{server.url}/join").cookies["token"] for _ in range(2)}
    assert len(tokens) == 2


def test_another_consent_is_asked_again_and_each_text_is_kept(site):
    server = site(top='instructions = "Do it."')
    token = server.invite("anna")
    with Participant(server.url, f"i/{token}") as anna:
        anna.begin()
        assert anna.answer({"choice": ["keyboard"]})["counted"]
    file = server.study.folder / "study.toml"
    changed = 'consent = {en = "We keep more.", de = "Wir speichern mehr."}'
    file.write_text(file.read_text().replace('consent = "We keep what you type."', changed))
    server.store.write(lambda tx: apply(tx, read_study(file)))
    server.site.look()
    with Participant(server.url, f"i/{token}") as anna:
        assert anna.at == "consent"
        anna.page = anna.get(f"{server.url}/language/de")
        assert anna.says("Wir speichern mehr.")
        csrf = {"x-csrf": anna.csrf}
        body = {"item": "i1", "answer": {"choice": ["none"]}}
        assert anna.http.post(f"{server.url}/answer", json=body, headers=csrf).status_code == 403
        anna.submit("consent", agree="yes")
        assert anna.at == "task", "questions and instructions are not asked again"
    kept = server.store.read(lambda tx: tx.rows("SELECT language, text FROM consents ORDER BY at"))
    assert kept == [("en", "We keep what you type."), ("de", "Wir speichern mehr.")]


def test_age_decides_the_stratum(site):
    ranges = "ranges = {young = [18, 39], old = [60, 99]}"
    more = f'[[questions]]\nname = "age"\ntext = "How old are you?"\nnumber = [18, 99]\n{ranges}'
    server = site(f"{OPEN}{more}", assign='k = 2\nstrata = ["young", "old"]\nby = "age"')
    for age, name in ((20, "a"), (70, "b"), (50, "c")):
        with Participant(server.url, f"join?workerId={name}") as person:
            person.begin(age=str(age))
            assert person.says("You can't take part") == (age == 50)
    strata = server.store.read(lambda tx: dict(tx.rows("SELECT id, stratum FROM people")))
    assert strata == {"a": "young", "b": "old", "c": ""}


def test_training_tells_and_qualification_decides(site):
    training = [{"id": "t0", "text": "t", "gold": GOLD, "feedback": "Listen."}]
    test = [{"id": f"q{n}", "text": f"q{n}", "gold": GOLD} for n in range(2)]
    more = (
        '[training]\npath = "t.jsonl"\n[qualification]\npath = "q.jsonl"\nleast = 0.5\n'
        '[completion]\nunqualified_code = "NO"\nreturn = "https://x.org/{code}"'
    )
    server = site(more, files={"t.jsonl": training, "q.jsonl": test})
    ends = {}
    for name, answers in (("good", ["speech", "none"]), ("bad", ["none", "none"])):
        with Participant(server.url, f"i/{server.invite(name)}") as person:
            person.begin()
            person.answer({"choice": ["none"]})
            assert person.says("That is not what we expected")
            assert person.says("Listen.")
            person.page = person.get(f"{server.url}/task")
            assert person.says("Listen."), "until it has been read"
            person.submit("feedback", item="t0")
            for said in answers:
                person.answer({"choice": [said]})
            ends[name] = person.page
            while person.fact("item"):
                person.answer({"choice": ["keyboard"]})
    assert 'data-item="i0"' in ends["good"].text
    assert "The test was not passed" in ends["bad"].text
    assert 'href="https://x.org/NO"' in ends["bad"].text
    rows = answers_of(server.study, server.store, names=True)
    assert {r.why_not for r in rows if r.person == "bad"} == {"training", "qualification"}
    assert sum(r.counted for r in rows) == 4
    assert server.store.read(lambda tx: tx.rows("SELECT answered FROM people WHERE id = 'good'")) == [(4,)]


def test_each_person_has_a_code_of_their_own(site):
    server = site("[completion]\n")
    codes = set()
    for name in "ab":
        with Participant(server.url, f"i/{server.invite(name)}") as person:
            person.begin()
            for _ in range(2):
                person.answer({"choice": ["none"]})
            while person.fact("item"):
                person.submit("skip", item=person.fact("item"), reason="unclear", comment="too odd")
            codes.add(person.page.text.partition('id="code">')[2].partition("<")[0])
    assert len(codes) == 2
    assert all(len(code) == 10 for code in codes)
    told = server.store.read(lambda tx: record(tx, server.study))
    assert {row["code"] for row in told} == codes, "the owner can check them"
    found = server.store.read(progress)
    assert (found["answers"], found["skipped"], found["still wanted"]) == (4, 2, 0), "b did what a skipped"


def test_what_was_skipped_is_nobodys_answer(site):
    server = site(items=[{"id": "i", "text": "x"}])
    with Participant(server.url, f"i/{server.invite('a')}") as a:
        a.begin()
        page = a.page
        a.submit("skip", item="i", reason="no such reason")
        assert a.fact("item") == "i"
        a.submit("skip", item="i", reason="harmful")
        assert not a.fact("item")
        a.page = page
        headers = {"x-csrf": a.fact("csrf")}
        body = {"item": "i", "answer": {"choice": ["none"]}}
        assert a.http.post(f"{server.url}/answer", json=body, headers=headers).status_code == 403


def test_a_draft_only_grows(site):
    server = site(items=[{"id": "i", "text": "turn it on"}], kind="retype")
    with Participant(server.url, f"i/{server.invite('a')}") as a:
        a.begin(ime="x")
        log, headers = typing("turn it on"), {"x-csrf": a.fact("csrf")}

        def send(begins, events, attempt=1):
            body = {"item": "i", "attempt": attempt, "begins": begins, "events": events}
            return a.http.post(f"{server.url}/draft", json=body, headers=headers)

        assert send(0, log[:4]).json() == {"kept": 4}
        assert send(2, log[2:8]).json() == {"kept": 8}, "a part again and more"
        assert send(0, log[:4]).json() == {"kept": 8}
        assert send(9, log[9:]).json() == {"kept": 8}, "a part is missing between"
        assert send(0, typing("never")).status_code == 409, "another window, or another text"
        assert send(8, log[8:], attempt=2).status_code == 409
        assert json.loads(a.get(f"{server.url}/task").text.partition('data-draft="')[2].partition('"')[0]
                          .replace("&#34;", '"').replace("&amp;#34;", '"')) == log[:8]  # fmt: skip
        said = a.answer({"text": "turn it on"}, typing("turn it on", seconds=2))
        assert said["flags"][0] == "log differs from text", "it does not go on from what was typed"
        a.page = a.get(f"{server.url}/task")
        assert a.type("turn it on")["counted"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[[questions]]\nname = "a"\ntext = "?"\n[[questions]]\nname = "a"\ntext = "?"', "same name"),
        ('[arrive]\nframes = ["evil; script-src *"]', "arrive.frames"),
        ('[completion]\nreturn = "javascript:alert(1)"', "completion.return"),
        ('[qualification]\npath = "q"\nleast = 2', "qualification.least"),
        ('[training]\npath = "none.jsonl"', "none.jsonl"),
    ],
)
def test_what_is_wrong_in_a_study_is_named(site, more, message):
    with pytest.raises(DataError, match=message):
        site(more)


def test_training_needs_right_answers(site):
    with pytest.raises(DataError, match="needs `gold`"):
        site('[training]\npath = "t.jsonl"', files={"t.jsonl": [{"id": "t", "text": "x"}]})


@pytest.mark.parametrize("place", ["answer", "draft", "skip", "feedback", "questions", "join"])
def test_nothing_that_is_sent_makes_it_fail(site, place, database):
    server = site(OPEN, kind="retype", database=database)
    with Participant(server.url, "join?workerId=W1&assignmentId=%00%F0%9F%98%80") as a:
        a.begin(ime="\0x")
        headers, item = {"x-csrf": a.fact("csrf")}, a.fact("item")
        odd = ["\0", "x" * 5000, "i0\0", item]
        for one in odd:
            for attempt in (-1, 0, 1, 2, 10**30):
                bodies = {
                    "answer": {"item": one, "answer": {"text": "a\0"}, "attempt": attempt, "comment": "c\0"},
                    "draft": {"item": one, "attempt": attempt, "begins": 0, "events": [{"e": "commit", "d": "\0"}]},
                }
                if place in bodies:
                    reply = a.http.post(f"{server.url}/{place}", json=bodies[place], headers=headers)
                elif place == "join":
                    reply = a.http.get(f"{server.url}/join", params={"workerId": one, "assignmentId": one})
                else:
                    data = {"csrf": a.csrf, "item": one, "reason": "other", "comment": "\0", "ime": one}
                    reply = a.http.post(f"{server.url}/{place}", data=data)
                assert reply.status_code < 500, (one, attempt, reply.text)
