"""The owner's console over HTTP, and revisions of a study: what may change, and what would spoil answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import commands
import httpx
import pytest

from unswayed.base.errors import UsageError
from unswayed.collect.applied import applied, revision_number
from unswayed.collect.assign import person_of
from unswayed.collect.items import entries
from unswayed.collect.owner import open_session
from unswayed.collect.people import hashed
from unswayed.collect.records import item_records, people_records
from unswayed.collect.revisions import apply, changes
from unswayed.collect.site import PAGES
from unswayed.collect.study import read_study
from unswayed.collect.words import console_words

from .test_privacy import answered


class Owner:
    """The owner's browser, logged in."""

    def __init__(self, server, language="en"):
        self.server = server
        session = server.store.write(open_session)
        self.http = httpx.Client(
            base_url=server.url, follow_redirects=True, cookies={"owner": session, "language": language}
        )
        self.csrf = re.search(r'name="csrf" value="(\w+)"', self.get("settings").text)[1]

    def get(self, page, **query):
        return self.http.get(f"/admin/{page}", params=query)

    def do(self, action, **form):
        return self.http.post(f"/admin/{action}", data={"csrf": self.csrf, **form})


@pytest.fixture
def console(make, serve):
    owners = []

    def made(language="en", **given):
        study, store, _ = make(**given)
        owners.append(Owner(serve(study, store), language))
        return owners[-1]

    yield made
    for owner in owners:
        owner.http.close()


def test_every_page_in_english_and_chinese(console):
    for language in ("en", "zh"):
        owner = console(language, assign="k = 2")
        answered(owner.server.study, owner.server.store, "anna", 4)
        answered(owner.server.study, owner.server.store, "ben", 4)
        say = console_words(language)
        for name in ("people", "answers", "items", "settings", "audit"):
            reply = owner.get(name)
            assert reply.status_code == 200
            assert f"<h1>{say['page_' + name]}</h1>" in reply.text
        for page in ("person?person=anna", "item?item=i0", "answer?person=anna&item=i0"):
            assert owner.http.get(f"/admin/{page}").status_code == 200
        assert say["page_progress"] in owner.http.get("/admin").text


def test_the_consoles_languages_have_the_same_phrases():
    english, chinese = console_words("en"), console_words("zh")
    assert english.keys() == chinese.keys()
    pages = "".join(file.read_text() for file in (PAGES / "owner").glob("*.html"))
    used = set(re.findall(r"\bsay\.(\w+)", pages)) - {"get"}
    assert used <= english.keys()


def test_people_are_invited_and_get_new_links(console):
    owner = console()
    page = owner.do("invite", person="anna").text
    link = re.search(r'id="link">([^<]+)<', page)[1]
    assert httpx.get(link).status_code == 303
    again = re.search(r'id="link">([^<]+)<', owner.do("link", person="anna").text)[1]
    assert httpx.get(link).status_code == 404
    assert httpx.get(again).status_code == 303
    assert owner.do("invite", person="anna").status_code == 422
    assert again.rpartition("/")[2] not in owner.get("person", person="anna").text, "shown once"


def test_a_pause_and_its_end(console):
    owner = console()
    link = re.search(r'id="link">([^<]+)<', owner.do("invite", person="anna").text)[1]
    with httpx.Client(base_url=owner.server.url, follow_redirects=True) as http:
        page = http.get(link)
        csrf = re.search(r'name="csrf" value="(\w+)"', page.text)[1]
        http.post("/consent", data={"csrf": csrf, "agree": "yes"})
        assert 'data-item="' in http.get("/task").text
        assert "The study is paused" in owner.do("pause", paused="yes").text
        assert "The study is paused" in http.get("/task").text
        owner.do("pause", paused="no")
        assert 'data-item="' in http.get("/task").text


def test_quotas_hold_at_once(console):
    owner = console(assign='k = 2\nstrata = ["a", "b"]')
    owner.do("quotas", **{"per_person": "", "quota a": "7", "quota b": ""})
    owner.get("people")
    assert owner.server.site.study.assign.quota == {"a": 7}
    assert 'value="7"' in owner.get("settings").text
    owner.do("quotas", per_person="3")
    owner.get("people")
    assert (owner.server.site.study.assign.quota, owner.server.site.study.assign.per_person) == ({}, 3)
    assert owner.server.store.read(revision_number) == 3
    assert owner.do("quotas", per_person="many").status_code == 422


def test_items_are_added(console):
    owner = console()
    study, store = owner.server.study, owner.server.store
    answered(study, store, "anna", 4)
    assert owner.do("items", lines='{"id": "more", "text": "five"}\r\n').status_code == 200
    assert owner.do("items", lines='{"id": "more", "text": "five"}').status_code == 422
    assert owner.do("items", lines='{"id": "bad"}').status_code == 422
    assert owner.do("items", lines='{"id": "m2", "text": "six"}\n{"id": "m3", "text": "seven"}').status_code == 200
    answered(study, store, "ben", 1)
    assert store.read(lambda tx: tx.rows("SELECT item FROM work WHERE person = 'ben'")) == [("more",)], "one at a time"
    assert store.read(lambda tx: changes(tx, study, entries(study))) == [], "the study's file need not have them"


def test_the_password_is_changed(console):
    owner = console()
    store = owner.server.store
    from unswayed.collect.owner import set_password

    store.write(lambda tx: set_password(tx, "the old password"))
    owner = Owner(owner.server)
    other = Owner(owner.server)
    assert owner.do("password", password="wrong", new="a better password").status_code == 403
    assert owner.do("password", password="the old password", new="short").status_code == 403
    assert owner.do("password", password="the old password", new="a better password").status_code == 200
    assert owner.get("people").status_code == 200
    assert other.get("people").status_code == 403
    other.http.close()
    owner.http.close()


def test_a_lost_password_is_reset(console):
    owner = console()
    done = commands.unswayed("collect", "password", owner.server.study.file)
    assert owner.get("people").status_code == 403, "sessions end"
    page = owner.http.post("/admin/login", data={"password": done.stdout.strip()})
    assert "Progress" in page.text


def test_answers_are_filtered_and_downloaded(console):
    owner = console(assign="k = 2")
    study, store = owner.server.study, owner.server.store
    answered(study, store, "anna", 4)
    answered(study, store, "ben", 3, word="speech")
    late = "UPDATE work SET flags = ? WHERE item = 'i1' AND person = 'anna'"
    store.write(lambda tx: tx.run(late, "slow\nlate"))
    assert owner.get("answers").text.count("/admin/answer?") == 7
    assert owner.get("answers", person="ben").text.count("/admin/answer?") == 3
    assert owner.get("answers", flag="late").text.count("/admin/answer?") == 1
    assert owner.get("answers", flag="lat").text.count("/admin/answer?") == 0
    rows = [json.loads(line) for line in owner.get("answers.jsonl", person="ben").text.splitlines()]
    assert [row["answer"] for row in rows] == [{"choice": ["speech"]}] * 3
    assert "ben" not in {row["person"] for row in rows}


def test_people_and_items_are_compared(console):
    owner = console(assign="k = 3")
    study, store = owner.server.study, owner.server.store
    for name, word in (("anna", "keyboard"), ("ben", "keyboard"), ("cleo", "speech")):
        answered(study, store, name, 4, word=word)
    rows = {row["person"]: row for row in store.read(lambda tx: people_records(tx, study))}
    assert {name: row["agreement"] for name, row in rows.items()} == {"anna": 0.5, "ben": 0.5, "cleo": 0}
    items = store.read(lambda tx: item_records(tx, study))
    assert {row["agreement"] for row in items} == {0.333}
    assert owner.do("decide", item="i0", person="cleo", reason="she is right").status_code == 200
    assert owner.do("decide", item="i0", person="nobody").status_code == 422
    assert "she is right" in owner.get("item", item="i0").text
    assert "decided" in owner.get("audit").text


def edited(study, before, after):
    """The study with another text in its file."""
    text = Path(study.file).read_text()
    assert before in text
    Path(study.file).write_text(text.replace(before, after))
    return read_study(study.file)


def test_pay(make):
    study, store, _ = make(assign="k = 1")
    study = edited(study, "[assign]", '[pay]\nper_answer = 0.5\ncurrency = "EUR"\n[assign]')
    answered(study, store, "anna", 3)
    (row,) = store.read(lambda tx: people_records(tx, study))
    assert row["pay"] == 1.5


def test_what_may_change_is_shown_and_applied(make, database):
    study, store, _ = make(assign="k = 1", database=database)
    answered(study, store, "anna", 2)
    assert store.write(lambda tx: apply(tx, study)) == []
    items = (study.folder / "items.jsonl").read_text() + '{"id": "new", "text": "five"}\n'
    (study.folder / "items.jsonl").write_text(items)
    changed = edited(edited(study, "k = 1", "k = 2\nper_person = 9"), "We keep", "We always keep")
    found = store.write(lambda tx: apply(tx, changed))
    assert {change.what for change in found} == {"assign.k", "assign.per_person", "consent", "items"}
    assert store.read(lambda tx: applied(tx, study)).assign.k == 2
    free = dict(store.read(lambda tx: tx.rows("SELECT id, free FROM items")))
    assert sorted(free.values()) == [1, 1, 2, 2, 2]
    assert store.read(revision_number) == 2


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("[assign]", "[assign]\ndistinct = false", "begun"),
        ('question = "Which?"', 'question = "What?"', "as it was"),
        ('answers = ["keyboard", "speech", "none"]', 'answers = ["speech", "none"]', "2 answers would no longer"),
        ("k = 2", "k = 1", "an item has 2 answers"),
    ],
)
def test_what_would_spoil_answers_is_refused(make, before, after, why):
    study, store, _ = make(assign="k = 2\nshuffle = false")
    answered(study, store, "anna", 1)
    answered(study, store, "ben", 1)
    changed = edited(study, before, after)
    with pytest.raises(UsageError, match=why):
        store.write(lambda tx: apply(tx, changed))
    assert store.read(revision_number) == 1


def test_items_that_were_answered_stay(make):
    study, store, _ = make(assign="k = 1\nshuffle = false")
    answered(study, store, "anna", 1)
    lines = (study.folder / "items.jsonl").read_text().splitlines(keepends=True)
    (study.folder / "items.jsonl").write_text("".join(lines[:-1]))
    assert [change.what for change in store.write(lambda tx: apply(tx, study))] == ["items"]
    assert store.read(lambda tx: tx.rows("SELECT count(*) FROM items")) == [(3,)]
    (study.folder / "items.jsonl").write_text("".join(lines[1:-1]))
    with pytest.raises(UsageError, match="i0"):
        store.write(lambda tx: apply(tx, study))
    (study.folder / "items.jsonl").write_text(lines[0].replace("text 0", "other") + "".join(lines[1:-1]))
    with pytest.raises(UsageError, match="item i0"):
        store.write(lambda tx: apply(tx, study))


def test_a_gold_answer_is_corrected(make):
    gold = {"id": "g", "text": "x", "gold": {"choice": ["speech"]}}
    study, store, _ = make(items=[{"id": "i", "text": "y"}, gold], assign="k = 1\ngold_every = 1")
    answered(study, store, "anna", 2)
    right = "SELECT correct FROM work WHERE item = 'g'"
    assert store.read(lambda tx: tx.rows(right)) == [(0,)]
    changed = (study.folder / "items.jsonl").read_text().replace('["speech"]', '["keyboard"]')
    (study.folder / "items.jsonl").write_text(changed)
    assert [change.what for change in store.write(lambda tx: apply(tx, study))] == ["gold of g"]
    assert store.read(lambda tx: tx.rows(right)) == [(1,)]


def test_apply_at_the_command_line(make, tmp_path):
    study, store, _ = make()
    store.close()
    assert "Nothing changed" in commands.unswayed("collect", "apply", study.file).stderr
    edited(study, "A study", "Another study")
    shown = commands.unswayed("collect", "apply", study.file, "--dry-run")
    assert "title: A study → Another study" in shown.stdout
    done = commands.unswayed("collect", "apply", study.file)
    assert (done.returncode, "revision 2" in done.stderr) == (0, True)
    assert "Nothing changed" in commands.unswayed("collect", "apply", study.file).stderr


def test_a_running_server_takes_up_a_revision(console):
    owner = console()
    study = edited(owner.server.study, "A study", "Another study")
    owner.server.store.write(lambda tx: apply(tx, study))
    owner.server.site.look()
    assert "Another study" in httpx.get(owner.server.url).text


def test_nobody_else_reaches_the_console(console):
    owner = console()
    store = owner.server.store
    token = owner.server.invite("anna")
    assert store.read(lambda tx: person_of(tx, hashed(token))).id == "anna"
    for page in (
        "people",
        "person?person=anna",
        "answers",
        "answers.jsonl",
        "items",
        "item?item=i0",
        "settings",
        "audit",
    ):
        assert httpx.get(f"{owner.server.url}/admin/{page}").status_code == 403
    for action in ("invite", "link", "exclude", "include", "pause", "quotas", "items", "password", "decide"):
        assert httpx.post(f"{owner.server.url}/admin/{action}", data={"person": "anna"}).status_code == 403
        assert owner.http.post(f"/admin/{action}", data={"person": "anna", "csrf": "no"}).status_code == 403
