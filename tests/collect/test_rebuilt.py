"""READIN rebuilt by scripted people, keyboard and speech: what is complete is exported, each version one person's."""

from __future__ import annotations

import io
import json
import random
import sys
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from tests.crowd import Participant, served
from unswayed.storage.suite import Suite

READIN = Path(__file__).parents[3] / "shared/data/readin/afqmc_keyboard"
FIELDS = ("sentence1", "sentence2")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not READIN.is_dir(), reason="READIN's files are not here (../shared/data/readin)"),
]


def rows(name, count):
    lines = (READIN / name).read_text(encoding="utf-8").splitlines()
    return [{k: v.strip() for k, v in json.loads(line).items()} for line in lines[:count]]


def made_study(unswayed, kind, count, assign):
    """A study of the first pairs of AFQMC's test set; returns the clean pairs."""
    clean = rows("test_clean.json", count)
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in clean))
    unswayed("vary", "pairs.jsonl", "--with", "keyboard/pinyin", "-o", "suite")
    unswayed("collect", "new", "draft.toml", "--kind", kind, "--suite", "suite")
    plan = Path("draft.toml").read_text(encoding="utf-8").replace("k = 3", f"k = 3\n{assign}")
    plan = plan.replace("lease_minutes = 30", "lease_minutes = 0.05")
    Path("study.toml").write_text(plan, encoding="utf-8")
    unswayed("collect", "new", "study.toml")
    return clean


def invited(unswayed, people, url):
    """Each person's link."""
    links = {}
    for name, stratum in people.items():
        told = unswayed("collect", "invite", "study.toml", "--name", name, "--stratum", stratum, "--url", url)
        links[name] = told.split()[-1]
    return links


def wanted(unswayed):
    return json.loads(unswayed("collect", "status", "study.toml", "--format", "json"))["progress"][0]["still wanted"]


def whole(unswayed, count):
    """The exported suite, once it is sure that it has all that the status says, each version by one person."""
    progress = json.loads(unswayed("collect", "status", "study.toml", "--format", "json"))["progress"][0]
    assert (progress["versions"], progress["items complete"]) == (3 * count, 2 * count)
    assert progress["still wanted"] == 0
    suite = Suite("people")
    assert suite.manifest.variants == 3 * count
    assert all(len({v.draw for v in variants}) == 3 for _, variants in suite.groups())
    return suite


def test_keyboard(tmp_path, monkeypatch, unswayed):
    """Nine people with three input methods retype pairs in turns, as READIN's three did; some leave in the middle."""
    monkeypatch.chdir(tmp_path)
    count, methods = 12, ("a", "b", "c")
    clean = made_study(unswayed, "retype", count, 'strata = ["a", "b", "c"]')
    noisy = {m: rows(f"test_noisy_{n}.json", count) for n, m in enumerate(methods, 1)}
    texts = {(m, pair[f]): made[f] for m in methods for pair, made in zip(clean, noisy[m], strict=True) for f in FIELDS}
    people = {f"{m}{n}": m for m in methods for n in range(3)}
    turns = random.Random(3)
    refused = set()
    with served("study.toml") as url:
        links = invited(unswayed, people, url)
        crowd = {name: Participant(url, link) for name, link in links.items()}
        for person in crowd.values():
            person.begin(ime="x")
        while crowd:
            name = turns.choice(sorted(crowd))
            person = crowd[name]
            person.page = person.get(f"{url}/task")
            if not person.text:
                person.http.close()
                del crowd[name]
                continue
            said = person.type(texts[people[name], person.text])
            if said["again"]:
                refused.add((people[name], person.text))
                person.submit("skip", item=person.fact("item"), reason="other")
    assert len(refused) <= 2, "what people typed is taken for an attempt at the text"
    unswayed("collect", "export", "study.toml", "--as", "suite", "-o", "people")
    suite = whole(unswayed, count) if not refused else Suite("people")
    for example, variants in suite.groups():
        for variant in variants:
            method = variant.source.partition("/")[2]
            assert variant.inputs == {f: texts[method, example.inputs[f]] for f in FIELDS}


def spoken(number):
    """A recording whose length says which text it is of."""
    out, rate = io.BytesIO(), 8000
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        tone = 8000 * np.sin(2 * np.pi * 440 * np.arange(int(rate * (0.6 + number / 100))) / rate)
        file.writeframes(tone.astype("<i2").tobytes())
    return out.getvalue()


RECOGNISER = """
import json, sys, wave

texts = json.load(open("heard.json"))
with wave.open(sys.argv[1]) as file:
    seconds = file.getnframes() / file.getframerate()
print(texts[round((seconds - 0.6) * 100)])
"""


def test_speech_on_pairs(tmp_path, monkeypatch, unswayed):
    """Ten people of five dialect groups read pairs aloud; a recogniser writes down what READIN's people entered."""
    monkeypatch.chdir(tmp_path)
    count = 12
    groups = ("north", "south", "east", "west", "centre")
    clean = made_study(unswayed, "read_aloud", count, f"strata = {json.dumps(groups)}")
    heard = rows("test_noisy_1.json", count)
    order = [pair[f] for pair in clean for f in FIELDS]
    Path("heard.json").write_text(json.dumps([made[f] for made in heard for f in FIELDS]))
    Path("hear.py").write_text(RECOGNISER)
    people = {f"p{n}": groups[n % 5] for n in range(10)}
    with served("study.toml") as url:
        for name, link in invited(unswayed, people, url).items():
            with Participant(url, link) as person:
                person.begin(dialect="x")
                for _ in range(8):  # not all of what there is, and an odd number of pairs
                    if person.text:
                        take = f"{random.Random(name + person.text).getrandbits(128):032x}"
                        assert person.record(take, spoken(order.index(person.text)))["counted"]
        more = invited(unswayed, {f"more {name}": group for name, group in people.items()}, url)
        end = time.monotonic() + 120
        while wanted(unswayed) and time.monotonic() < end:  # once the leases of those who left have expired
            for link in more.values():
                with Participant(url, link) as person:
                    person.begin(dialect="x")
                    while person.text:
                        take = f"{random.Random(link + person.text).getrandbits(128):032x}"
                        assert person.record(take, spoken(order.index(person.text)))["counted"]
    unswayed("collect", "transcribe", "study.toml", "--recogniser", f"command:{sys.executable} hear.py")
    unswayed("collect", "export", "study.toml", "--as", "suite", "-o", "people")
    for example, variants in whole(unswayed, count).groups():
        assert len({v.source for v in variants}) == 3, "three dialect groups"
        made = heard[example.row]
        assert all(v.inputs == {f: made[f] for f in FIELDS} for v in variants)
