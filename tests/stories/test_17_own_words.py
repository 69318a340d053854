"""Story 17, in their own words: dialect speakers say test sentences as at home, and mark the labels again; a second
person checks the meaning; out comes a suite."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crowd import Participant, served
from unswayed.storage.suite import Suite

SPEAKERS = {f"speaker{n}": town for n, town in enumerate(["Bedok", "Ipoh", "Klang"])}
TIMES = ("nine am", "six", "noon", "ten thirty", "half past two")
ROWS = [
    {"text": f"wake me up at {time} on friday", "intent": "alarm_set",
     "slots": ["O"] * 4 + ["B-time", *["I-time"] * time.count(" ")] + ["O", "B-date"]}
    for time in TIMES
]  # fmt: skip


def at_home(name: str, text: str, marks: list[tuple[str, str]]) -> dict[str, object]:
    """What a speaker makes of a sentence: the time comes first; one leaves the day out, one says something else."""
    time, day = (value for _, value in marks)
    if name == "speaker1" and time == "noon":
        return {"text": f"{time}  wake me can", "marks": [time, None]}
    if name == "speaker2" and time == "six":
        return {"text": f"on {day} don't wake me at {time}", "marks": [time, day]}
    return {"text": f"{day} {time} wake me up, {['lah', 'leh', 'hor'][int(name[-1])]}", "marks": [time, day]}


def test_from_sentences_to_a_suite_of_speakers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unswayed: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    unswayed("vary", "mine.jsonl", "--task", "slu", "--with", "keyboard/adjacent", "-o", "sentences")
    unswayed("collect", "new", "home.toml", "--kind", "reword", "--suite", "sentences")
    links = {name: unswayed("collect", "invite", "home.toml", "--name", name).split("\t")[1] for name in SPEAKERS}
    with served("home.toml") as url:
        for name, town in SPEAKERS.items():
            with Participant(url, "i/" + links[name].strip().rpartition("/")[2]) as person:
                person.begin(dialect=town)
                assert person.says("How would you say this at home?")
                while text := person.text:
                    legends = re.findall(r"<legend><b>(.*?)</b> \((.*?)\)", person.page.text)
                    marks = [(label, html.unescape(value)) for value, label in legends]
                    assert [label for label, _ in marks] == ["time", "date"]
                    assert person.answer(at_home(name, text, marks))["counted"]
    unswayed("collect", "export", "home.toml", "--as", "suite", "-o", "athome")
    assert Suite("athome").manifest.variants == len(ROWS) * len(SPEAKERS)

    # a second person checks the meaning
    unswayed("collect", "items", "same_meaning", "--suite", "athome", "-o", "pairs.jsonl")
    unswayed("collect", "new", "check.toml", "--kind", "same_meaning", "--items", "pairs.jsonl")
    Path("check.toml").write_text(Path("check.toml").read_text().replace("k = 3", "k = 1"))
    unswayed("collect", "new", "check.toml")
    link = unswayed("collect", "invite", "check.toml", "--name", "checker").strip().rpartition("/")[2]
    with served("check.toml") as url, Participant(url, f"i/{link}") as person:
        person.begin()
        while person.fact("item"):
            sections = person.page.text.split('data-one="')[1:]
            said = {}
            for section in sections:
                changed = "don&#39;t" in section.partition("<fieldset")[0]
                said[section.partition('"')[0]] = {"similarity": 10 if changed else 90, "grammatical": True}
            first, *more = said.items()
            person.more(first[1], dict(more))
    unswayed("collect", "export", "check.toml", "-o", "checked.jsonl")
    unswayed("collect", "export", "home.toml", "--as", "suite", "--judged", "checked.jsonl", "-o", "suite")

    kept = [(example, variant) for example, variants in Suite("suite").groups() for variant in variants]
    assert len(kept) == len(ROWS) * len(SPEAKERS) - 1, "the one of another meaning is gone"
    for example, variant in kept:
        time = next(time for time in TIMES if f" {time} " in example.inputs["text"])
        tokens, tags = variant.inputs["text"].split(" "), variant.gold["slots"]
        assert variant.gold["intent"] == "alarm_set"
        marked = {
            label: " ".join(t for t, tag in zip(tokens, tags, strict=True) if tag[2:] == label)
            for label in ("time", "date")
        }
        left_out = tokens[-1] == "can"
        assert marked == {"time": time, "date": "" if left_out else "friday"}
        assert variant.inputs["text"] == " ".join(variant.inputs["text"].split())
    Path("my_system.py").write_text(
        "def predict(batch):\n"
        "    return [{'intent': 'alarm_set' if b['text'].startswith('wake') else 'other',"
        " 'slots': ['O'] * len(b['text'].split(' '))} for b in batch]\n"
    )
    told = unswayed("run", "suite", "--system", "my_system:predict", "-o", "run")
    assert "3 people" in told
